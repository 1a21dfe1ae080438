//! A real kube-apiserver with an embedded etcd for tests: finds or builds the binary, starts it, seeds kinds and roles, stops and restarts it.
//! Must not hold assertions.

use std::{
    fs,
    io::Write as _,
    net::TcpListener,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::OnceLock,
    time::{Duration, Instant},
};

use kube::{Client, Config};
use planedeck::model::kind::KINDS;
use serde_json::{Value, json};

/// Says where a ready binary lies; without it `target/` is used, built with Go if need be.
const BINARY: &str = "PLANEDECK_TEST_APISERVER";
/// Set by `.ci/run`: a skipped real-server test is then a failure.
const REQUIRED: &str = "PLANEDECK_REQUIRE_APISERVER";

/// A running server.
pub struct ApiServer {
    dir: tempfile::TempDir,
    binary: PathBuf,
    ports: [u16; 3],
    child: Option<Child>,
}

fn binary() -> Result<PathBuf, String> {
    static ONCE: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    ONCE.get_or_init(|| {
        if let Some(path) = std::env::var_os(BINARY).filter(|p| !p.is_empty()) {
            let path = PathBuf::from(path);
            return if path.is_file() { Ok(path) } else { Err(format!("{BINARY}={} is no file", path.display())) };
        }
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let path = root.join("target/planedeck-test-apiserver");
        if path.is_file() {
            return Ok(path);
        }
        let built = Command::new("bash").arg(root.join("tests/apiserver/build")).arg(&path).stdin(Stdio::null()).output();
        match built {
            Ok(o) if o.status.success() => Ok(path),
            Ok(o) => Err(format!("tests/apiserver/build failed: {}", String::from_utf8_lossy(&o.stderr))),
            Err(e) => Err(format!("tests/apiserver/build can't run: {e}")),
        }
    })
    .clone()
}

fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

impl ApiServer {
    /// Starts a server, or says loudly why not; `None` means "skip", unless skipping is forbidden.
    pub fn start() -> Option<ApiServer> {
        let binary = match binary() {
            Ok(b) => b,
            Err(why) => {
                assert!(std::env::var_os(REQUIRED).is_none(), "the real API server is required here: {why}");
                eprintln!("\n*** SKIPPED: no real API server: {why} ***\n");
                return None;
            }
        };
        let dir = tempfile::tempdir().unwrap();
        let key = Command::new("openssl").args(["genrsa", "-out"]).arg(dir.path().join("sa.key")).arg("2048").output();
        assert!(key.is_ok_and(|o| o.status.success()), "openssl can't make the service account key");
        fs::write(dir.path().join("tokens.csv"), tokens()).unwrap();
        fs::write(
            dir.path().join("audit.yaml"),
            "apiVersion: audit.k8s.io/v1\nkind: Policy\nomitStages: [RequestReceived]\nrules:\n- level: Metadata\n",
        )
        .unwrap();
        let mut server = ApiServer { dir, binary, ports: [free_port(), free_port(), free_port()], child: None };
        server.run();
        Some(server)
    }

    /// The server's own audit log: the independent witness.
    pub fn audit_log(&self) -> Vec<Value> {
        let text = fs::read_to_string(self.dir.path().join("audit.log")).unwrap_or_default();
        text.lines().filter_map(|l| serde_json::from_str(l).ok()).collect()
    }

    /// `https://127.0.0.1:PORT`.
    pub fn url(&self) -> String {
        format!("https://127.0.0.1:{}", self.ports[2])
    }

    /// (Re)starts the process on the same data and ports and waits until it is ready.
    pub fn run(&mut self) {
        let at = |name: &str| self.dir.path().join(name).display().to_string();
        let log = fs::OpenOptions::new().create(true).append(true).open(at("server.log")).unwrap();
        let child = Command::new(&self.binary)
            .args([at("data"), self.ports[0].to_string(), self.ports[1].to_string()])
            .args([
                format!("--secure-port={}", self.ports[2]),
                "--bind-address=127.0.0.1".into(),
                "--advertise-address=127.0.0.1".into(),
                format!("--cert-dir={}", at("certs")),
                format!("--service-account-key-file={}", at("sa.key")),
                format!("--service-account-signing-key-file={}", at("sa.key")),
                "--service-account-issuer=https://planedeck.test".into(),
                format!("--token-auth-file={}", at("tokens.csv")),
                "--authorization-mode=RBAC".into(),
                "--service-cluster-ip-range=10.0.0.0/24".into(),
                "--disable-admission-plugins=ServiceAccount".into(),
                format!("--audit-policy-file={}", at("audit.yaml")),
                format!("--audit-log-path={}", at("audit.log")),
                "--v=0".into(),
            ])
            .stdin(Stdio::null())
            .stdout(log.try_clone().unwrap())
            .stderr(log)
            .spawn()
            .unwrap();
        self.child = Some(child);
        let deadline = Instant::now() + Duration::from_secs(90);
        let rt = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let ready = rt.block_on(async {
            loop {
                let request = http::Request::get("/readyz").body(Vec::new()).unwrap();
                if self.client("admin").request_text(request).await.is_ok_and(|t| t == "ok") {
                    return true;
                }
                if Instant::now() > deadline {
                    return false;
                }
                // Not a guess at a duration: the poll of a state, bounded by the deadline.
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        });
        assert!(ready, "the API server isn't ready: {}", fs::read_to_string(at("server.log")).unwrap_or_default());
    }

    /// Kills the process, as a crash would.
    pub fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }

    /// A client with one of the [`tokens`].
    pub fn client(&self, token: &str) -> Client {
        let mut config = Config::new(self.url().parse().unwrap());
        config.accept_invalid_certs = true;
        config.default_retry = false;
        config.auth_info.token = Some(format!("{token}-token").into());
        Client::try_from(config).unwrap()
    }

    /// Writes a kubeconfig for one of the [`tokens`] and returns its path.
    pub fn kubeconfig(&self, token: &str, namespace: &str) -> PathBuf {
        let path = self.dir.path().join(format!("kubeconfig-{token}-{namespace}"));
        let ns = if namespace.is_empty() { String::new() } else { format!(", namespace: {namespace}") };
        let mut f = fs::File::create(&path).unwrap();
        write!(
            f,
            "apiVersion: v1\nkind: Config\ncurrent-context: test\nclusters:\n- name: real\n  cluster: {{server: '{}', insecure-skip-tls-verify: true}}\nusers:\n- name: {token}\n  user: {{token: {token}-token}}\ncontexts:\n- name: test\n  context: {{cluster: real, user: {token}{ns}}}\n",
            self.url()
        )
        .unwrap();
        path
    }

    /// Runs async work against the server.
    pub fn block_on<T>(&self, work: impl Future<Output = T>) -> T {
        tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(work)
    }

    /// Sends JSON and returns the answer's JSON.
    pub async fn send(client: &Client, method: &str, path: &str, body: &Value) -> Result<Value, kube::Error> {
        let content = if method == "PATCH" { "application/merge-patch+json" } else { "application/json" };
        let request = http::Request::builder().method(method).uri(path).header("content-type", content);
        client.request::<Value>(request.body(serde_json::to_vec(body).unwrap()).unwrap()).await
    }

    /// Creates our own minimal definitions of every kind that isn't built in, and waits until all are served.
    pub async fn seed_kinds(&self) {
        let admin = self.client("admin");
        for info in KINDS.iter().filter(|k| k.group.contains('.') && !k.group.ends_with("k8s.io") || k.group.contains("x-k8s.io")) {
            let versions: Vec<Value> = info.versions.iter().enumerate().map(|(i, v)| version(v, i == 0)).collect();
            let body = json!({
                "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
                "metadata": {"name": format!("{}.{}", info.plural, info.group), "annotations": {"api-approved.kubernetes.io": "unapproved, test"}},
                "spec": {"group": info.group, "scope": if info.namespaced { "Namespaced" } else { "Cluster" },
                    "names": {"plural": info.plural, "singular": info.name.to_lowercase(), "kind": info.name}, "versions": versions}
            });
            Self::send(&admin, "POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", &body).await.unwrap();
        }
        for info in KINDS.iter().filter(|k| k.group.contains('.') && !k.group.ends_with("k8s.io") || k.group.contains("x-k8s.io")) {
            let path = format!("/apis/{}/{}/{}", info.group, info.versions[0], info.plural);
            let deadline = Instant::now() + Duration::from_secs(30);
            while Self::send(&admin, "GET", &path, &Value::Null).await.is_err() {
                assert!(Instant::now() < deadline, "{path} isn't served");
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        }
    }

    /// Creates an object (any kind of the table, or a core one) and returns it.
    pub async fn create(&self, object: &Value) -> Value {
        Self::send(&self.client("admin"), "POST", &collection(object), object).await.unwrap()
    }

    /// Merge-patches an object that was given to [`Self::create`].
    pub async fn merge(&self, object: &Value, patch: &Value) -> Value {
        Self::send(
            &self.client("admin"),
            "PATCH",
            &format!("{}/{}", collection(object), object["metadata"]["name"].as_str().unwrap()),
            patch,
        )
        .await
        .unwrap()
    }

    /// Deletes an object.
    pub async fn delete(&self, object: &Value) {
        let path = format!("{}/{}", collection(object), object["metadata"]["name"].as_str().unwrap());
        Self::send(&self.client("admin"), "DELETE", &path, &json!({})).await.unwrap();
    }
}

impl Drop for ApiServer {
    fn drop(&mut self) {
        self.kill();
    }
}

fn version(name: &str, storage: bool) -> Value {
    json!({"name": name, "served": true, "storage": storage, "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}}})
}

/// The URL of an object's collection.
pub fn collection(object: &Value) -> String {
    let api = object["apiVersion"].as_str().unwrap();
    let base = if api.contains('/') { format!("/apis/{api}") } else { format!("/api/{api}") };
    let kind = object["kind"].as_str().unwrap();
    let plural = KINDS.iter().find(|k| k.name == kind).map_or_else(|| format!("{}s", kind.to_lowercase()), |k| k.plural.to_string());
    match object["metadata"]["namespace"].as_str() {
        Some(ns) => format!("{base}/namespaces/{ns}/{plural}"),
        None => format!("{base}/{plural}"),
    }
}

/// Token file: token, user, uid, groups. The tenant groups are the platform's.
fn tokens() -> String {
    let mut out = String::from("admin-token,admin,0,\"system:masters\"\n");
    for level in ["view", "use", "admin", "super-admin"] {
        out.push_str(&format!("tenant-{level}-token,{level}@acme,{level},\"tenant-acme-{level}\"\n"));
    }
    out.push_str(
        "sa-token,system:serviceaccount:tenant-acme:tenant-acme,sa,\"system:serviceaccounts,system:serviceaccounts:tenant-acme\"\n",
    );
    out.push_str("nobody-token,nobody,nobody,\n");
    out
}
