//! The entries of one kubeconfig: clusters, users, contexts, each read on its own so that a broken one hides no good one.
//! Owns the fields' names and types; must not open files or join entries.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::node::{Fields, Flaw, Node};
use super::secret::Secret;
use crate::model::{Problem, text};

/// Where to find the server and how to trust it.
#[derive(Clone, Default)]
pub(super) struct Cluster {
    pub(super) server: Option<String>,
    pub(super) tls_server_name: Option<String>,
    pub(super) insecure: bool,
    pub(super) ca_file: Option<PathBuf>,
    pub(super) ca_data: Option<String>,
    pub(super) proxy_url: Option<Secret>,
    pub(super) disable_compression: bool,
    /// The extension `client.authentication.k8s.io/exec`, passed on to a plugin that asks for cluster info.
    pub(super) exec_config: Option<serde_json::Value>,
}

/// Who to be, and how to prove it.
#[derive(Clone, Default)]
pub(super) struct User {
    pub(super) cert_file: Option<PathBuf>,
    pub(super) cert_data: Option<String>,
    pub(super) key_file: Option<PathBuf>,
    pub(super) key_data: Option<Secret>,
    pub(super) token: Option<Secret>,
    pub(super) token_file: Option<PathBuf>,
    pub(super) basic: bool,
    pub(super) provider: Option<Provider>,
    pub(super) exec: Option<Exec>,
    pub(super) acting: Acting,
}

/// Impersonation.
#[derive(Clone, Default)]
pub(super) struct Acting {
    pub(super) user: Option<String>,
    pub(super) uid: Option<String>,
    pub(super) groups: Vec<String>,
    pub(super) extra: BTreeMap<String, Vec<String>>,
}

/// A built-in login of old: only `oidc` can still be used.
#[derive(Clone)]
pub(super) struct Provider {
    pub(super) name: String,
    pub(super) config: BTreeMap<String, Secret>,
}

/// Whether a plugin may or must have the terminal.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Terminal {
    Never,
    IfAvailable,
    Always,
}

/// A login plugin.
#[derive(Clone)]
pub(super) struct Exec {
    pub(super) api_version: String,
    pub(super) command: String,
    pub(super) args: Vec<String>,
    pub(super) env: Vec<(String, Secret)>,
    pub(super) install_hint: Option<String>,
    pub(super) cluster_info: bool,
    pub(super) terminal: Terminal,
    /// The kubeconfig's folder: relative commands start there.
    pub(super) folder: PathBuf,
}

/// A cluster, a user and a namespace, by name.
#[derive(Clone, Default)]
pub(super) struct Context {
    pub(super) cluster: Option<String>,
    pub(super) user: Option<String>,
    pub(super) namespace: Option<String>,
}

/// One entry with its name and file; broken ones keep their problem.
#[derive(Clone)]
pub(super) struct Named<T> {
    pub(super) name: String,
    pub(super) file: PathBuf,
    pub(super) value: Result<T, Problem>,
}

/// What one file, or several merged, hold.
#[derive(Clone, Default)]
pub(super) struct Config {
    pub(super) current: Option<String>,
    pub(super) clusters: Vec<Named<Cluster>>,
    pub(super) users: Vec<Named<User>>,
    pub(super) contexts: Vec<Named<Context>>,
    /// Oddities, one line each.
    pub(super) notes: Vec<String>,
}

/// Reads a file's tree. `Err` where the tree as a whole is no kubeconfig.
pub(super) fn read(root: &Node, file: &Path) -> Result<Config, Problem> {
    let fields = Fields::of(Some(root), "").map_err(|f| Flaw::new("the file", f.found, "a kubeconfig (a mapping)").problem(file))?;
    check_header(&fields).map_err(|f| f.problem(file))?;
    let mut out = Config { current: fields.text("current-context").map_err(|f| f.problem(file))?, ..Config::default() };
    let mut notes: Vec<String> =
        fields.repeated().into_iter().map(|k| format!("{}: {k} stands there twice; the last one counts", file.display())).collect();
    let folder = file.parent().unwrap_or(Path::new("")).to_path_buf();
    out.clusters = section(&fields, ("clusters", "cluster"), file, &mut notes, |f| cluster(f, &folder));
    out.users = section(&fields, ("users", "user"), file, &mut notes, |f| user(f, &folder));
    out.contexts = section(&fields, ("contexts", "context"), file, &mut notes, context);
    out.notes = notes.iter().map(|n| text::line(n)).collect();
    Ok(out)
}

/// `kind` and `apiVersion` may be absent; if they are there, they must be a kubeconfig's.
fn check_header(fields: &Fields<'_>) -> Result<(), Flaw> {
    for (key, allowed) in [("kind", "Config"), ("apiVersion", "v1")] {
        if let Some(found) = fields.text(key)?
            && found != allowed
        {
            return Err(Flaw::new(key, format!("{found:?}"), format!("{allowed}: this is no kubeconfig")));
        }
    }
    Ok(())
}

/// One of the three lists. Entries without a usable name are noted and skipped; of two with one name the first counts.
fn section<T>(
    root: &Fields<'_>,
    (list, inner): (&str, &str),
    file: &Path,
    notes: &mut Vec<String>,
    parse: impl Fn(&Fields<'_>) -> Result<T, Flaw>,
) -> Vec<Named<T>> {
    let items = root.list(list).unwrap_or_else(|flaw| {
        notes.push(flaw.problem(file).to_string());
        &[]
    });
    let mut out: Vec<Named<T>> = Vec::new();
    for (i, item) in items.iter().enumerate().filter(|(_, n)| !matches!(n, Node::Null)) {
        let path = format!("{list}[{i}]");
        let entry = Fields::of(Some(item), &path).and_then(|f| {
            let name = f.text("name")?.ok_or_else(|| Flaw::new(f.at("name"), "nothing", "text"))?;
            Ok((name, f))
        });
        let (name, entry) = match entry {
            Ok(found) => found,
            Err(flaw) => {
                notes.push(flaw.problem(file).to_string());
                continue;
            }
        };
        if out.iter().any(|e| e.name == name) {
            notes.push(format!("{}: {list}: {name} is defined twice; the first one counts", file.display()));
            continue;
        }
        let value = entry.fields(inner).and_then(|f| {
            notes.extend(
                f.repeated().into_iter().map(|k| format!("{}: {}.{k} stands there twice; the last one counts", file.display(), f.path)),
            );
            parse(&f)
        });
        out.push(Named { name, file: file.to_path_buf(), value: value.map_err(|f| f.problem(file)) });
    }
    out
}

fn cluster(f: &Fields<'_>, folder: &Path) -> Result<Cluster, Flaw> {
    let mut exec_config = None;
    for (i, n) in f.list("extensions")?.iter().enumerate() {
        let ext = Fields::of(Some(n), &format!("{}[{i}]", f.at("extensions")))?;
        if ext.text("name")?.as_deref() == Some("client.authentication.k8s.io/exec") {
            exec_config = ext.get("extension").map(Node::json);
        }
    }
    Ok(Cluster {
        server: f.text("server")?,
        tls_server_name: f.text("tls-server-name")?,
        insecure: f.flag("insecure-skip-tls-verify")?,
        ca_file: path(f, "certificate-authority", folder)?,
        ca_data: f.text("certificate-authority-data")?,
        proxy_url: f.text("proxy-url")?.map(Secret::new),
        disable_compression: f.flag("disable-compression")?,
        exec_config,
    })
}

fn user(f: &Fields<'_>, folder: &Path) -> Result<User, Flaw> {
    let extra = f.fields("as-user-extra")?;
    let extra = extra.keys().map(|k| Ok((k.to_string(), extra.texts(k)?))).collect::<Result<_, Flaw>>()?;
    Ok(User {
        cert_file: path(f, "client-certificate", folder)?,
        cert_data: f.text("client-certificate-data")?,
        key_file: path(f, "client-key", folder)?,
        key_data: f.text("client-key-data")?.map(Secret::new),
        token: f.text("token")?.map(Secret::new),
        token_file: path(f, "tokenFile", folder)?,
        basic: f.has("username") || f.has("password"),
        provider: if f.has("auth-provider") { Some(provider(&f.fields("auth-provider")?)?) } else { None },
        exec: if f.has("exec") { Some(exec(&f.fields("exec")?, folder)?) } else { None },
        acting: Acting { user: f.text("as")?, uid: f.text("as-uid")?, groups: f.texts("as-groups")?, extra },
    })
}

fn provider(f: &Fields<'_>) -> Result<Provider, Flaw> {
    let config = f.fields("config")?;
    let values =
        config.keys().map(|k| Ok((k.to_string(), Secret::new(config.text(k)?.unwrap_or_default())))).collect::<Result<_, Flaw>>()?;
    Ok(Provider { name: f.text("name")?.unwrap_or_default(), config: values })
}

fn exec(f: &Fields<'_>, folder: &Path) -> Result<Exec, Flaw> {
    const VERSIONS: &str = "client.authentication.k8s.io/v1 or client.authentication.k8s.io/v1beta1";
    let api_version = f.text("apiVersion")?.ok_or_else(|| Flaw::new(f.at("apiVersion"), "nothing", VERSIONS))?;
    if !matches!(api_version.as_str(), "client.authentication.k8s.io/v1" | "client.authentication.k8s.io/v1beta1") {
        return Err(Flaw::new(f.at("apiVersion"), format!("{api_version:?}"), VERSIONS));
    }
    let mode = f.text("interactiveMode")?;
    let terminal = match mode.as_deref() {
        None | Some("IfAvailable") => Terminal::IfAvailable,
        Some("Never") => Terminal::Never,
        Some("Always") => Terminal::Always,
        Some(other) => return Err(Flaw::new(f.at("interactiveMode"), format!("{other:?}"), "Never, IfAvailable or Always")),
    };
    let mut env = Vec::new();
    for (i, n) in f.list("env")?.iter().enumerate() {
        let at = format!("{}[{i}]", f.at("env"));
        let pair = Fields::of(Some(n), &at)?;
        let name = pair.text("name")?.ok_or_else(|| Flaw::new(pair.at("name"), "nothing", "text"))?;
        if name.contains(['=', '\0']) {
            return Err(Flaw::new(pair.at("name"), "a name with = or a null character", "a variable's name"));
        }
        env.push((name, Secret::new(pair.text("value")?.unwrap_or_default())));
    }
    Ok(Exec {
        api_version,
        command: f.text("command")?.ok_or_else(|| Flaw::new(f.at("command"), "nothing", "the plugin's file name"))?,
        args: f.texts("args")?,
        env,
        install_hint: f.text("installHint")?,
        cluster_info: f.flag("provideClusterInfo")?,
        terminal,
        folder: folder.to_path_buf(),
    })
}

fn context(f: &Fields<'_>) -> Result<Context, Flaw> {
    Ok(Context { cluster: f.text("cluster")?, user: f.text("user")?, namespace: f.text("namespace")? })
}

/// A file named in the kubeconfig: relative to the kubeconfig's own folder.
fn path(f: &Fields<'_>, key: &str, folder: &Path) -> Result<Option<PathBuf>, Flaw> {
    Ok(f.text(key)?.map(|p| folder.join(p)))
}
