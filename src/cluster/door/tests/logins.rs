//! Logging in: kinds of credentials, plugins, their limits, and what must never be printed.

use std::time::Duration;

use super::super::login::Ask;
use super::super::secret;
use super::*;
use crate::model::{ProblemKind as K, Time};

const HOST: &str = "server: 'https://a.b:6443'";

fn now() -> Time {
    "2026-12-01T00:00:00Z".parse().unwrap()
}

fn ask(login: Login, seen: u64) -> Ask {
    Ask { login, seen, now: now() }
}

async fn clients(cluster: &str, user: &str) -> Result<Clients, LoginFailure> {
    clients_in(&TempDir::new().unwrap(), cluster, user).await
}

async fn clients_in(dir: &TempDir, cluster: &str, user: &str) -> Result<Clients, LoginFailure> {
    for (name, text) in [("cert", CERT), ("key", KEY), ("tok", "abc\n"), ("tok-exact", "abc"), ("void", "\n")] {
        std::fs::write(dir.path().join(name), text).unwrap();
    }
    resolved(dir, cluster, user)?.clients_at(ask(Login::Quiet, 0)).await
}

#[tokio::test]
async fn configs_are_filled_by_hand() {
    let c = clients(
        &format!("{HOST}, tls-server-name: z, certificate-authority: cert, disable-compression: true"),
        "token: t, as: bob, as-groups: [g], as-uid: '7', as-user-extra: {k: [v]}",
    )
    .await
    .unwrap();
    for config in [&c.short, &c.watch] {
        assert!(!config.default_retry && config.disable_compression && !config.accept_invalid_certs);
        assert_eq!(config.tls_server_name.as_deref(), Some("z"));
        assert_eq!(config.root_cert, Some(vec![vec![0, 1, 2, 3]]));
        let auth = &config.auth_info;
        assert_eq!((auth.impersonate.as_deref(), auth.impersonate_uid.as_deref()), (Some("bob"), Some("7")));
        assert_eq!(auth.impersonate_groups, Some(vec!["g".to_string()]));
        assert_eq!(auth.impersonate_user_extra.as_ref().unwrap()["k"], ["v"]);
        assert!(auth.exec.is_none() && auth.auth_provider.is_none());
    }
    assert_eq!((c.short.read_timeout, c.short.reset_reader_on_write), (Some(Duration::from_secs(30)), true));
    assert_eq!((c.watch.read_timeout, c.watch.reset_reader_on_write), (None, false));
    assert_eq!(c.info.impersonate.as_deref(), Some("bob"));
}

#[tokio::test]
async fn flags_win_over_the_kubeconfig() {
    let dir = TempDir::new().unwrap();
    let mut o = with_file(&dir, one(HOST, "token: t, as: bob"));
    o.as_user = Some("eve".into());
    o.as_groups = vec!["ops".into()];
    o.namespace = Some("tenant-x".into());
    o.request_timeout = Some(Duration::ZERO);
    o.read_only = true;
    let ctx = Door::load(&o).unwrap().context(None).unwrap();
    let c = ctx.clients_at(ask(Login::Quiet, 0)).await.unwrap();
    assert_eq!(c.short.auth_info.impersonate.as_deref(), Some("eve"));
    assert_eq!(c.short.default_namespace, "tenant-x");
    assert_eq!(c.short.read_timeout, None);
    assert!(c.info.read_only);
}

/// A user entry, and either a note (may be empty) or the problem it must be.
type Row<'a> = (&'a str, Result<&'a str, (K, &'a str)>);

#[tokio::test]
async fn each_kind_of_login_is_taken_or_named() {
    let b64 = |s: &str| secret::encode(s.as_bytes());
    let pair = format!("client-certificate-data: '{}', client-key-data: '{}'", b64(CERT), b64(KEY));
    let sealed = format!("client-certificate: cert, client-key-data: '{}'", b64("-----BEGIN ENCRYPTED PRIVATE KEY-----"));
    let table: [Row<'_>; 21] = [
        ("token: t", Ok("")),
        ("tokenFile: tok", Ok("")),
        ("tokenFile: tok-exact", Ok("")),
        ("tokenFile: gone, token: t", Ok("tokenFile can't be used")),
        ("token: t, username: x, password: y", Ok("username and password are ignored")),
        (&pair, Ok("")),
        ("client-certificate: cert, client-key: key", Ok("")),
        ("auth-provider: {name: oidc, config: {id-token: a}}", Ok("ends with its id-token")),
        ("auth-provider: {name: oidc, config: {id-token: a, refresh-token: r, client-secret: s}}", Ok("not written back")),
        ("token: \"a b\"", Err((K::BadInput, "user.token: found characters"))),
        ("tokenFile: gone", Err((K::BadInput, "user.tokenFile: found"))),
        ("tokenFile: void", Err((K::BadInput, "a file without a token"))),
        ("client-certificate: cert", Err((K::BadInput, "client-key: found nothing"))),
        ("client-key: key", Err((K::BadInput, "client-certificate: found nothing"))),
        ("client-certificate: key, client-key: key", Err((K::BadInput, "client-certificate: found no PEM"))),
        ("client-certificate: cert, client-key: cert", Err((K::BadInput, "client-key: found no PEM"))),
        ("client-certificate: cert, client-key-data: '%%'", Err((K::BadInput, "client-key-data: found text that is not base64"))),
        (&sealed, Err((K::BadInput, "passphrase"))),
        ("username: x, password: y", Err((K::NotLoggedIn, "username and password"))),
        ("", Err((K::NotLoggedIn, "not logged in"))),
        ("auth-provider: {name: gcp}", Err((K::NotLoggedIn, "gcp"))),
    ];
    for (user, want) in table {
        match (clients(HOST, user).await, want) {
            (Ok(c), Ok(note)) => assert!(note.is_empty() || c.info.notes.iter().any(|n| n.contains(note)), "{user}: {:?}", c.info.notes),
            (Err(f), Err((kind, word))) => {
                let p = f.problem();
                assert!(p.kind == kind && p.summary.contains(word) && !p.to_string().contains("permission"), "{user}: {p}");
            }
            (got, _) => panic!("{user}: {got:?}"),
        }
    }
}

#[tokio::test]
async fn kube_builds_a_client_from_what_it_is_handed() {
    // kube panics on a token that no header can hold; what passes the door must never do that.
    let dir = TempDir::new().unwrap();
    for (user, by_file) in [("token: 't '", false), ("tokenFile: tok", false), ("tokenFile: tok-exact", true), ("token: t, as: bob", false)]
    {
        let c = clients_in(&dir, "server: 'http://127.0.0.1:8001'", user).await.unwrap();
        let auth = &c.short.auth_info;
        assert_eq!((auth.token_file.is_some(), auth.token.is_some()), (by_file, !by_file), "{user}");
        assert!(kube::client::ClientBuilder::try_from(c.short).is_ok() && kube::client::ClientBuilder::try_from(c.watch).is_ok(), "{user}");
    }
}

#[tokio::test]
async fn trust_and_plain_http() {
    let c = clients("server: 'http://127.0.0.1:8001'", "").await.unwrap();
    assert!(c.info.notes.iter().any(|n| n.contains("plain http")), "{:?}", c.info.notes);
    let data = secret::encode(b"nothing here");
    for (cluster, word) in [
        (format!("{HOST}, certificate-authority: cert, insecure-skip-tls-verify: true"), "beside a certificate authority"),
        (format!("{HOST}, certificate-authority: gone"), "certificate-authority: found"),
        (format!("{HOST}, certificate-authority-data: '{data}'"), "certificate-authority-data: found no PEM"),
        (format!("{HOST}, certificate-authority-data: '!'"), "not base64"),
    ] {
        let p = Problem::from(clients(&cluster, "token: t").await.unwrap_err());
        assert!(p.kind == K::BadInput && p.summary.contains(word), "{p}");
    }
}

#[tokio::test]
async fn proxies_come_from_the_kubeconfig_then_the_environment() {
    let dir = TempDir::new().unwrap();
    let proxied = |cluster: &str, vars: &[(&str, &str)]| {
        let mut o = with_file(&dir, one(cluster, "token: t"));
        o.env = vars.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect();
        Door::load(&o).unwrap().context(None).unwrap()
    };
    let own = format!("{HOST}, proxy-url: 'socks5://u:{PLANTED}@own:1'");
    for (cluster, vars, want) in [
        (own.as_str(), &[("HTTPS_PROXY", "http://env:2"), ("NO_PROXY", "*")][..], Some("own")),
        (HOST, &[("HTTPS_PROXY", "http://env:2"), ("NO_PROXY", "c.d,")], Some("env")),
        (HOST, &[("HTTPS_PROXY", "http://env:2"), ("NO_PROXY", ".b,")], None),
        ("server: 'https://localhost:6443'", &[("HTTPS_PROXY", "http://env:2")], None),
    ] {
        let c = proxied(cluster, vars).clients_at(ask(Login::Quiet, 0)).await.unwrap();
        assert_eq!(c.watch.proxy_url.as_ref().and_then(|u| u.host()), want, "{cluster} {vars:?}");
        assert_eq!(c.info.notes.iter().any(|n| n.contains("through the proxy")), want.is_some());
        assert!(!format!("{c:?} {:?}", c.info).contains(PLANTED));
    }
}

/// A plugin made of a shell script, which appends a line to `runs` each time, and its context.
fn plugin(dir: &TempDir, script: &str, more: &str) -> ResolvedContext {
    let path = dir.path().join("plugin.sh");
    std::fs::write(&path, format!("echo run >> '{}'\n{script}\n", dir.path().join("runs").display())).unwrap();
    let exec = format!(
        "exec: {{apiVersion: client.authentication.k8s.io/v1beta1, command: /bin/sh, args: ['{}'], installHint: 'get it', {more}}}",
        path.display()
    );
    let mut o = with_file(dir, one(HOST, &exec));
    o.login_timeout = Some(Duration::from_secs(20));
    Door::load(&o).unwrap().context(None).unwrap()
}

fn runs(dir: &TempDir) -> usize {
    std::fs::read_to_string(dir.path().join("runs")).map_or(0, |s| s.lines().count())
}

fn says(status: &str) -> String {
    format!("echo '{{\"apiVersion\":\"client.authentication.k8s.io/v1beta1\",\"kind\":\"ExecCredential\",\"status\":{status}}}'")
}

#[tokio::test]
async fn a_plugin_runs_once_for_all_and_again_when_it_must() {
    let dir = TempDir::new().unwrap();
    let ctx = plugin(&dir, &says(r#"{"token":"tok","expirationTimestamp":"2026-12-01T01:00:00Z"}"#), "");
    let all = futures::future::join_all((0..8).map(|_| ctx.clients_at(ask(Login::Quiet, 0)))).await;
    let first = all.into_iter().map(Result::unwrap).next().unwrap();
    assert_eq!((runs(&dir), first.generation), (1, 1));
    assert_eq!(first.expires, Some("2026-12-01T01:00:00Z".parse().unwrap()));
    assert!(first.short.auth_info.token.is_some() && first.short.auth_info.exec.is_none());
    let again = futures::future::join_all((0..8).map(|_| ctx.clients_at(ask(Login::Quiet, first.generation)))).await;
    assert!(again.into_iter().all(|c| c.unwrap().generation == 2));
    assert_eq!(runs(&dir), 2);
    let late = Ask { now: "2026-12-01T00:59:30Z".parse().unwrap(), ..ask(Login::Quiet, 0) };
    assert_eq!(ctx.clients_at(late).await.unwrap().generation, 3);
}

#[tokio::test]
async fn a_failed_run_is_shared_by_those_that_waited() {
    let dir = TempDir::new().unwrap();
    let ctx = plugin(&dir, &format!("echo \"no session eyJ{PLANTED}\" >&2; exit 3"), "");
    let all = futures::future::join_all((0..8).map(|_| ctx.clients_at(ask(Login::Quiet, 0)))).await;
    assert_eq!(runs(&dir), 1);
    for failure in all.into_iter().map(Result::unwrap_err) {
        assert!(failure.needs_terminal());
        let p = failure.problem();
        assert!(p.kind == K::Unauthorized && p.summary.contains("code 3") && p.detail.contains("no session"), "{p}");
        assert!(!format!("{failure:?} {failure}").contains(PLANTED));
    }
    let _ = ctx.clients_at(ask(Login::Quiet, 0)).await.unwrap_err();
    assert_eq!(runs(&dir), 2);
}

#[tokio::test]
async fn what_a_plugin_gives_is_checked() {
    let cert = format!(r#"{{"clientCertificateData":{},"clientKeyData":{}}}"#, serde_json::json!(CERT), serde_json::json!(KEY));
    let cert = says(&cert).replace("\\n", "\\\\n").replace("echo", "printf");
    let table = [
        (says(r#"{"token":"tok"}"#), None),
        ("printf 'kind: ExecCredential\\napiVersion: client.authentication.k8s.io/v1beta1\\nstatus:\\n  token: tok\\n'".to_string(), None),
        (cert, None),
        ("true".into(), Some("printed nothing")),
        ("echo hello".into(), Some("no ExecCredential")),
        (says("null"), Some("no status")),
        (says("{}"), Some("neither a token nor")),
        (says(r#"{"token":"a b"}"#), Some("no token may hold")),
        (says(r#"{"clientKeyData":"k"}"#), Some("key without certificate")),
        (says(r#"{"token":"t","expirationTimestamp":"soon"}"#), Some("RFC 3339")),
        (says(r#"{"token":"t"}"#).replace("v1beta1", "v1"), Some("apiVersion")),
    ];
    for (script, wrong) in table {
        let dir = TempDir::new().unwrap();
        match (plugin(&dir, &script, "").clients_at(ask(Login::Quiet, 0)).await, wrong) {
            (Ok(c), None) => assert!(c.short.auth_info.token.is_some() || c.short.auth_info.client_key_data.is_some()),
            (Err(LoginFailure::Failed(p)), Some(word)) => assert!(p.detail.contains(word), "{script}: {p}"),
            (got, _) => panic!("{script}: {got:?}"),
        }
    }
}

#[tokio::test]
async fn a_plugin_that_hangs_is_ended_and_may_be_tried_with_the_terminal() {
    let dir = TempDir::new().unwrap();
    let mut ctx = plugin(&dir, "sleep 600", "");
    ctx.options.login_timeout = Some(Duration::from_millis(200));
    let failure = ctx.clients_at(ask(Login::Quiet, 0)).await.unwrap_err();
    assert!(failure.needs_terminal() && failure.problem().summary.contains("did not finish"), "{failure}");
}

#[tokio::test]
async fn a_browser_that_keeps_the_pipe_open_does_not_hold_the_login() {
    let dir = TempDir::new().unwrap();
    let ctx = plugin(&dir, &format!("(sleep 15) & {}", says(r#"{"token":"tok"}"#)), "");
    assert!(ctx.clients_at(ask(Login::Quiet, 0)).await.is_ok());
}

#[tokio::test]
async fn the_terminal_is_asked_for_only_as_configured() {
    let dir = TempDir::new().unwrap();
    let always = plugin(&dir, "exit 1", "interactiveMode: Always");
    assert!(always.clients_at(ask(Login::Quiet, 0)).await.unwrap_err().needs_terminal());
    assert_eq!(runs(&dir), 0);
    let never = plugin(&dir, "exit 1", "interactiveMode: Never");
    assert!(!never.clients_at(ask(Login::Quiet, 0)).await.unwrap_err().needs_terminal());
    let stdin = plugin(&dir, &format!("if read x; then exit 9; fi; {}", says(r#"{"token":"tok"}"#)), "");
    assert!(stdin.clients_at(ask(Login::Quiet, 0)).await.is_ok());
}

#[tokio::test]
async fn a_plugin_gets_its_environment_and_is_found_beside_the_kubeconfig() {
    let dir = TempDir::new().unwrap();
    std::fs::create_dir(dir.path().join("bin")).unwrap();
    std::os::unix::fs::symlink("/bin/sh", dir.path().join("bin/plugin")).unwrap();
    let script = format!("printf '%s' \"$KUBERNETES_EXEC_INFO\" > info; test \"$MORE\" = x || exit 4; {}", says(r#"{"token":"tok"}"#));
    std::fs::write(dir.path().join("s.sh"), script.replace("> info", &format!("> '{}'", dir.path().join("info").display()))).unwrap();
    let exec = format!(
        "exec: {{apiVersion: client.authentication.k8s.io/v1beta1, command: ./bin/plugin, args: ['{}'], provideClusterInfo: true, env: [{{name: MORE, value: x}}]}}",
        dir.path().join("s.sh").display()
    );
    std::fs::write(dir.path().join("cert"), CERT).unwrap();
    let extension = "extensions: [{name: client.authentication.k8s.io/exec, extension: {audience: me}}]";
    let ctx = resolved(&dir, &format!("{HOST}, certificate-authority: cert, {extension}"), &exec).unwrap();
    ctx.clients_at(ask(Login::Quiet, 0)).await.unwrap();
    let info: serde_json::Value = serde_json::from_slice(&std::fs::read(dir.path().join("info")).unwrap()).unwrap();
    assert_eq!((&info["kind"], &info["spec"]["interactive"]), (&"ExecCredential".into(), &false.into()));
    assert_eq!(info["spec"]["cluster"]["server"], "https://a.b:6443");
    assert_eq!(info["spec"]["cluster"]["config"]["audience"], "me");
    assert_eq!(info["spec"]["cluster"]["certificate-authority-data"], secret::encode(CERT.as_bytes()));
}

#[tokio::test]
async fn a_plugin_that_is_not_installed_says_how_to_get_it() {
    let f =
        clients(HOST, "exec: {apiVersion: client.authentication.k8s.io/v1, command: no-such-plugin-here, installHint: get it at example}")
            .await
            .unwrap_err();
    assert!(
        !f.needs_terminal() && f.problem().summary.contains("no-such-plugin-here") && f.problem().hint.contains("get it at example"),
        "{f}"
    );
}

#[tokio::test]
async fn planted_credentials_are_seen_nowhere() {
    let dir = TempDir::new().unwrap();
    let users = [
        format!("token: {PLANTED}, as: bob"),
        format!("username: x, password: {PLANTED}"),
        format!("client-key-data: '{PLANTED}'"),
        format!("token: '{PLANTED} x'"),
        format!("auth-provider: {{name: oidc, config: {{id-token: {PLANTED}, refresh-token: {PLANTED}}}}}"),
        format!("exec: {{apiVersion: client.authentication.k8s.io/v1, command: none-such, env: [{{name: A, value: {PLANTED}}}]}}"),
        format!("token: [{PLANTED}]"),
        format!("token: {{a: {PLANTED}}}"),
        format!("token: {PLANTED}, broken: ["),
    ];
    for user in users {
        let mut seen = String::new();
        match Door::load(&with_file(&dir, one(HOST, &user))) {
            Err(p) => seen = format!("{p} {p:?}"),
            Ok(door) => {
                seen += &format!("{door:?} {:?} {:?}", door.notes(), door.contexts());
                match door.context(None) {
                    Err(p) => seen += &format!("{p} {p:?}"),
                    Ok(ctx) => {
                        seen += &format!("{ctx:?}");
                        match ctx.clients_at(ask(Login::Quiet, 0)).await {
                            Ok(c) => seen += &format!("{c:?} {:?}", c.short.auth_info.token),
                            Err(f) => seen += &format!("{f} {f:?}"),
                        }
                    }
                }
            }
        }
        assert!(!seen.is_empty() && !seen.contains(PLANTED), "{seen}");
    }
    assert_eq!(secret::hide_tokens("at https://x/?code=eyJabc (ok)"), "at https://x/?code=[hidden] (ok)");
}
