//! Finding and opening kubeconfig files, as kubectl does: the flag's file, the list of `KUBECONFIG`, the default, the pod's own account.
//! Owns encodings, limits and first-wins merging; must not judge contexts.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use serde::Deserialize as _;

use super::Options;
use super::entries::{self, Cluster, Config, Context, Named, User};
use super::node::Node;
use crate::model::{Problem, ProblemKind, text};

/// Largest kubeconfig read, in bytes.
pub(super) const MAX_FILE: u64 = 4 << 20;

/// Where a pod finds its own account.
const ACCOUNT: &str = "/var/run/secrets/kubernetes.io/serviceaccount";

/// What was found, and which files could not be used.
pub(super) struct Loaded {
    pub(super) config: Config,
    /// Files that exist and can't be used, first one first; their contents might have mattered.
    pub(super) broken: Vec<Problem>,
}

/// Reads all files that count.
///
/// # Errors
/// `BadInput` where nothing usable is left.
pub(super) fn load(o: &Options) -> Result<Loaded, Problem> {
    if let Some(path) = &o.kubeconfig {
        let config =
            read(path)?.ok_or_else(|| bad(format!("{}: there is no such file", path.display())).hint("--kubeconfig names one file"))?;
        return Ok(Loaded { config, broken: vec![] });
    }
    let list = paths(o);
    let mut out = Loaded { config: Config::default(), broken: vec![] };
    let mut missing = vec![];
    for path in &list {
        match read(path) {
            Ok(Some(config)) => merge(&mut out.config, config),
            Ok(None) => missing.push(path.display().to_string()),
            Err(problem) => out.broken.push(problem),
        }
    }
    for m in missing.iter().filter(|_| missing.len() < list.len()) {
        out.config.notes.push(text::line(&format!("KUBECONFIG: {m} does not exist; skipped")));
    }
    if out.config.contexts.is_empty() && out.config.clusters.is_empty() {
        if let Some(problem) = out.broken.first() {
            return Err(problem.clone());
        }
        if let Some(own) = in_cluster(o) {
            return Ok(Loaded { config: own, broken: vec![] });
        }
        if missing.len() == list.len() {
            return Err(nothing(&list));
        }
    }
    Ok(out)
}

fn bad(summary: String) -> Problem {
    Problem::new(ProblemKind::BadInput, text::line(&summary))
}

fn nothing(list: &[PathBuf]) -> Problem {
    let looked = list.iter().map(|p| p.display().to_string()).collect::<Vec<_>>().join(", ");
    bad("there is no kubeconfig".into())
        .detail(text::line(&if looked.is_empty() { String::new() } else { format!("looked for {looked}") }))
        .hint("name one with --kubeconfig or KUBECONFIG, or try --demo")
}

/// The list of `KUBECONFIG` without empty and repeated entries, else the file in the home folder.
fn paths(o: &Options) -> Vec<PathBuf> {
    let mut list: Vec<PathBuf> = vec![];
    for p in o.kubeconfig_env.iter().flat_map(std::env::split_paths).filter(|p| !p.as_os_str().is_empty()) {
        if !list.contains(&p) {
            list.push(p);
        }
    }
    if list.is_empty() {
        list.extend(o.home.iter().map(|h| h.join(".kube/config")));
    }
    list
}

/// One file; `None` where it doesn't exist.
fn read(path: &Path) -> Result<Option<Config>, Problem> {
    let named = |what: String| bad(format!("{}: {what}", path.display()));
    let meta = match std::fs::metadata(path) {
        Ok(m) => m,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(e) => return Err(named(format!("can't be read: {e}"))),
    };
    if meta.is_dir() {
        return Err(named("is a folder".into()).hint("allowed: a kubeconfig file"));
    }
    let mut bytes = Vec::new();
    let opened = std::fs::File::open(path).and_then(|f| f.take(MAX_FILE + 1).read_to_end(&mut bytes));
    opened.map_err(|e| named(format!("can't be read: {e}")))?;
    if bytes.len() as u64 > MAX_FILE {
        return Err(named("is larger than 4 MiB".into()).hint("allowed: a kubeconfig file of at most 4 MiB"));
    }
    parse(&bytes, path).map(Some)
}

/// A file's bytes as a configuration. Never panics, whatever the bytes.
pub(super) fn parse(bytes: &[u8], path: &Path) -> Result<Config, Problem> {
    let text = decode(bytes).ok_or_else(|| {
        bad(format!("{}: is not text", path.display())).hint("allowed: YAML or JSON in UTF-8, or UTF-16 with a byte order mark")
    })?;
    let (node, more) = tree(&text).map_err(|e| {
        // A parser's own words may quote a scalar, which may be a token; only the place is repeated.
        let place = e.location().map_or(String::new(), |l| format!(", line {} column {}", l.line(), l.column()));
        bad(format!("{}: is not YAML{place}", path.display())).hint("allowed: a kubeconfig in YAML or JSON")
    })?;
    let mut config = entries::read(&node, path)?;
    if more {
        config.notes.push(text::line(&format!("{}: only the first YAML document counts", path.display())));
    }
    Ok(config)
}

/// The first document, and whether there are more.
fn tree(text: &str) -> Result<(Node, bool), serde_yaml::Error> {
    let mut documents = serde_yaml::Deserializer::from_str(text);
    let node = match documents.next() {
        Some(d) => Node::deserialize(d)?,
        None => Node::Null,
    };
    Ok((node, documents.next().is_some()))
}

/// UTF-8 with or without a byte order mark, or UTF-16 with one (what PowerShell's `>` writes).
fn decode(bytes: &[u8]) -> Option<String> {
    let wide = |rest: &[u8], join: fn([u8; 2]) -> u16| {
        let units = rest.chunks_exact(2).filter_map(|c| <[u8; 2]>::try_from(c).ok()).map(join);
        char::decode_utf16(units).collect::<Result<String, _>>().ok()
    };
    match bytes {
        [0xff, 0xfe, rest @ ..] => wide(rest, u16::from_le_bytes),
        [0xfe, 0xff, rest @ ..] => wide(rest, u16::from_be_bytes),
        [0xef, 0xbb, 0xbf, rest @ ..] => String::from_utf8(rest.to_vec()).ok(),
        _ => String::from_utf8(bytes.to_vec()).ok(),
    }
}

/// Adds a later file: what is there already stays.
fn merge(into: &mut Config, later: Config) {
    if into.current.is_none() {
        into.current = later.current;
    }
    into.notes.extend(later.notes);
    let differing = |a: &Cluster, b: &Cluster| a.server != b.server;
    for c in &later.clusters {
        if let Some(first) = into.clusters.iter().find(|x| x.name == c.name)
            && let (Ok(a), Ok(b)) = (&first.value, &c.value)
            && differing(a, b)
        {
            let note = format!("cluster {} has another server in {}; the one in {} counts", c.name, c.file.display(), first.file.display());
            into.notes.push(text::line(&note));
        }
    }
    add(&mut into.clusters, later.clusters);
    add(&mut into.users, later.users);
    add(&mut into.contexts, later.contexts);
}

fn add<T>(into: &mut Vec<Named<T>>, later: Vec<Named<T>>) {
    for entry in later {
        if !into.iter().any(|e| e.name == entry.name) {
            into.push(entry);
        }
    }
}

/// The pod's own account, where the program runs in one.
fn in_cluster(o: &Options) -> Option<Config> {
    let folder = o.service_account.clone().unwrap_or_else(|| ACCOUNT.into());
    let var = |name: &str| o.env.get(name).filter(|v| !v.is_empty());
    let (host, port) = (var("KUBERNETES_SERVICE_HOST")?, var("KUBERNETES_SERVICE_PORT")?);
    let token = folder.join("token");
    std::fs::metadata(&token).ok()?;
    let host = if host.contains(':') { format!("[{host}]") } else { host.clone() };
    let cluster = Cluster { server: Some(format!("https://{host}:{port}")), ca_file: Some(folder.join("ca.crt")), ..Cluster::default() };
    let user = User { token_file: Some(token.clone()), ..User::default() };
    let namespace = std::fs::read_to_string(folder.join("namespace")).ok().map(|s| s.trim().to_string()).filter(|s| !s.is_empty());
    let name = "in-cluster".to_string();
    let context = Context { cluster: Some(name.clone()), user: Some(name.clone()), namespace };
    Some(Config {
        current: Some(name.clone()),
        clusters: vec![Named { name: name.clone(), file: folder.clone(), value: Ok(cluster) }],
        users: vec![Named { name: name.clone(), file: folder.clone(), value: Ok(user) }],
        contexts: vec![Named { name, file: folder, value: Ok(context) }],
        notes: vec!["there is no kubeconfig; using this pod's own account".into()],
    })
}

/// Environment variables that the door reads; the caller fills [`Options::env`] with these.
pub const VARIABLES: [&str; 10] = [
    "HTTPS_PROXY",
    "https_proxy",
    "HTTP_PROXY",
    "http_proxy",
    "ALL_PROXY",
    "all_proxy",
    "NO_PROXY",
    "no_proxy",
    "KUBERNETES_SERVICE_HOST",
    "KUBERNETES_SERVICE_PORT",
];

/// The variables of [`VARIABLES`] out of a process environment.
pub fn pick_variables(all: impl IntoIterator<Item = (String, String)>) -> BTreeMap<String, String> {
    all.into_iter().filter(|(k, _)| VARIABLES.contains(&k.as_str())).collect()
}
