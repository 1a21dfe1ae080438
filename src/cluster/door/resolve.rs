//! One context with its cluster and user joined, checked as kubectl checks it. Owns the server's address, whose errors name fields;
//! must not run plugins or read certificates.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use http::Uri;

use super::entries::{Acting, Cluster, Config, Context, Named, User};
use super::node::Flaw;
use super::proxy::{self, Proxy};
use super::{Options, login};
use crate::model::context::ContextInfo;
use crate::model::{Problem, ProblemKind, text};

/// A context that can be opened. Holds credentials: its `Debug` shows only what the header shows.
#[derive(Clone)]
pub struct ResolvedContext {
    pub(super) info: ContextInfo,
    pub(super) uri: Uri,
    pub(super) cluster: Cluster,
    pub(super) cluster_place: (PathBuf, String),
    pub(super) user: User,
    pub(super) user_place: (PathBuf, String),
    pub(super) proxy: Option<Proxy>,
    pub(super) options: Options,
    pub(super) slot: Arc<login::Slot>,
}

impl std::fmt::Debug for ResolvedContext {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ResolvedContext").field("info", &self.info).finish_non_exhaustive()
    }
}

impl ResolvedContext {
    /// What the header shows.
    pub fn info(&self) -> &ContextInfo {
        &self.info
    }

    /// A flaw of the cluster entry, in full.
    pub(super) fn cluster_flaw(&self, field: &str, found: &str, allowed: &str) -> Problem {
        let (file, name) = &self.cluster_place;
        Flaw::new(format!("clusters[{name}].cluster.{field}"), found, allowed).problem(file)
    }

    /// A flaw of the user entry, in full.
    pub(super) fn user_flaw(&self, field: &str, found: &str, allowed: &str) -> Problem {
        let (file, name) = &self.user_place;
        Flaw::new(format!("users[{name}].user.{field}"), found, allowed).problem(file)
    }
}

/// What [`resolve`] joins.
pub(super) struct Parts<'a> {
    pub(super) options: &'a Options,
    pub(super) config: &'a Config,
    pub(super) name: &'a str,
    pub(super) file: &'a Path,
    pub(super) context: &'a Context,
}

impl Parts<'_> {
    fn flaw(&self, field: &str, found: String, allowed: &str) -> Problem {
        Flaw::new(format!("contexts[{}].context.{field}", self.name), found, allowed).problem(self.file)
    }

    fn cluster(&self) -> Result<&Named<Cluster>, Problem> {
        let all = || self.config.clusters.iter().map(|c| c.name.as_str()).take(20).collect::<Vec<_>>().join(", ");
        let Some(name) = &self.context.cluster else { return Err(self.flaw("cluster", "nothing".into(), &format!("one of: {}", all()))) };
        self.config
            .clusters
            .iter()
            .find(|c| c.name == *name)
            .ok_or_else(|| self.flaw("cluster", format!("{name:?}, which is not defined"), &format!("one of: {}", all())))
    }

    /// A missing user would be anonymous, which the server answers with 403: named here for what it is.
    fn user(&self) -> Result<&Named<User>, Problem> {
        let not = |what: String| {
            Problem::new(ProblemKind::NotLoggedIn, text::line(&format!("not logged in: context {:?} {what}", self.name)))
                .detail(text::line(&format!("{}: contexts[{}].context.user", self.file.display(), self.name)))
                .hint("requests would be anonymous; add the user to the kubeconfig, or get a new kubeconfig")
        };
        let Some(name) = &self.context.user else { return Err(not("names no user".into())) };
        self.config.users.iter().find(|u| u.name == *name).ok_or_else(|| not(format!("names user {name:?}, which is not defined")))
    }
}

/// Joins and checks.
///
/// # Errors
/// `BadInput` or `NotLoggedIn`, naming file and field.
pub(super) fn resolve(parts: &Parts<'_>, slot: impl FnOnce((String, String)) -> Arc<login::Slot>) -> Result<ResolvedContext, Problem> {
    let named = parts.cluster()?;
    let cluster = named.value.clone()?;
    let mut notes = Vec::new();
    let uri = server(&cluster)
        .map_err(|(found, allowed)| Flaw::new(format!("clusters[{}].cluster.server", named.name), found, allowed).problem(&named.file))?;
    let (user, user_place) = user(parts, &uri, &mut notes)?;
    let proxy = choose_proxy(parts, named, &cluster, &uri)?;
    let acting = acting(parts.options, &user)
        .map_err(|(found, allowed)| Flaw::new(format!("users[{}].user.as", user_place.1), found, allowed).problem(&user_place.0))?;
    cluster_notes(&cluster, &uri, proxy.as_ref(), &mut notes);
    user_notes(&user, &mut notes);
    let option = |s: &Option<String>| s.clone().filter(|s| !s.is_empty());
    let info = ContextInfo {
        name: text::line(parts.name),
        server: place(&uri),
        user: text::line(&user_place.1),
        namespace: option(&parts.options.namespace).or_else(|| parts.context.namespace.clone()),
        impersonate: acting.user.as_deref().map(text::line),
        read_only: parts.options.read_only,
        notes: parts.config.notes.iter().filter(|n| concerns(n, &named.name)).cloned().chain(notes).collect(),
    };
    let slot = slot((named.name.clone(), user_place.1.clone()));
    Ok(ResolvedContext {
        info,
        uri,
        cluster,
        cluster_place: (named.file.clone(), named.name.clone()),
        user: User { acting, ..user },
        user_place,
        proxy,
        options: parts.options.clone(),
        slot,
    })
}

/// A note about another cluster's server is no news for this context.
fn concerns(note: &str, cluster: &str) -> bool {
    !note.contains(" has another server in ") || note.starts_with(&format!("cluster {cluster} "))
}

/// The user entry; none is needed for a plain http server, since `kubectl proxy` is used so.
fn user(parts: &Parts<'_>, uri: &Uri, notes: &mut Vec<String>) -> Result<(User, (PathBuf, String)), Problem> {
    if parts.context.user.is_none() && uri.scheme_str() == Some("http") {
        notes.push("no user is named; whoever serves this plain http address decides who you are".into());
        return Ok((User::default(), (parts.file.to_path_buf(), String::new())));
    }
    let named = parts.user()?;
    Ok((named.value.clone()?, (named.file.clone(), named.name.clone())))
}

fn choose_proxy(parts: &Parts<'_>, named: &Named<Cluster>, cluster: &Cluster, uri: &Uri) -> Result<Option<Proxy>, Problem> {
    if let Some(url) = &cluster.proxy_url {
        return proxy::explicit(url.expose()).map(Some).map_err(|allowed| {
            Flaw::new(format!("clusters[{}].cluster.proxy-url", named.name), "an address that can't be used", allowed).problem(&named.file)
        });
    }
    proxy::from_env(&parts.options.env, uri).map_err(|(variable, allowed)| {
        Problem::new(ProblemKind::BadInput, format!("{variable}: found an address that can't be used")).hint(format!("allowed: {allowed}"))
    })
}

/// Flags replace what the kubeconfig says, field by field, as kubectl's do.
fn acting(o: &Options, user: &User) -> Result<Acting, (String, String)> {
    let mut a = user.acting.clone();
    if o.as_user.as_ref().is_some_and(|u| !u.is_empty()) {
        a.user.clone_from(&o.as_user);
    }
    if !o.as_groups.is_empty() {
        a.groups.clone_from(&o.as_groups);
    }
    if a.user.is_none() && (!a.groups.is_empty() || a.uid.is_some() || !a.extra.is_empty()) {
        return Err(("nothing, although groups, uid or extra are given".into(), "a user to act as (--as)".into()));
    }
    Ok(a)
}

/// The server's address, with the scheme that kubectl would assume where there is none.
fn server(c: &Cluster) -> Result<Uri, (String, &'static str)> {
    const ALLOWED: &str = "an address such as https://HOST:PORT";
    let raw = c.server.as_deref().ok_or(("nothing".to_string(), ALLOWED))?.trim();
    let tls = c.insecure || c.ca_file.is_some() || c.ca_data.is_some();
    let full = match raw.split_once("://") {
        Some((scheme, rest)) => format!("{}://{}", scheme.to_ascii_lowercase(), rest.trim_end_matches('/')),
        None => format!("{}://{raw}", if tls { "https" } else { "http" }),
    };
    let no = |found: &str| (found.to_string(), ALLOWED);
    let uri: Uri = full.parse().map_err(|_| no("text that is no address"))?;
    if !matches!(uri.scheme_str(), Some("https" | "http")) {
        return Err(no("an address of another scheme"));
    }
    let authority = uri.authority().ok_or_else(|| no("an address without host"))?;
    if authority.as_str().contains('@') {
        return Err(no("an address with a user or password in it"));
    }
    if authority.host().is_empty() {
        return Err(no("an address without host"));
    }
    // `Uri` accepts a port that is no number up to 65535.
    if authority.port_u16().is_none() && authority.as_str().trim_start_matches(authority.host()).len() > 1 {
        return Err(no("a port that is no number up to 65535"));
    }
    if uri.query().is_some() {
        return Err(no("an address with a query"));
    }
    Ok(uri)
}

/// Host, port and base path: what tells two clusters apart.
fn place(uri: &Uri) -> String {
    let port = uri.port_u16().unwrap_or(if uri.scheme_str() == Some("http") { 80 } else { 443 });
    text::line(&format!("{}:{port}{}", uri.host().unwrap_or("?"), uri.path().trim_end_matches('/')))
}

fn cluster_notes(c: &Cluster, uri: &Uri, proxy: Option<&Proxy>, notes: &mut Vec<String>) {
    if uri.scheme_str() == Some("http") {
        notes.push("the server is plain http: nothing is encrypted, not even the login".into());
    }
    if c.insecure {
        notes.push("insecure-skip-tls-verify: the server's certificate is not checked".into());
    }
    if c.ca_file.is_some() && c.ca_data.is_some() {
        notes.push("certificate-authority and certificate-authority-data are both given; the data counts".into());
    }
    if let Some(p) = proxy {
        notes.push(text::line(&format!("through the proxy {} ({})", p.place(), p.from)));
        if p.from.eq_ignore_ascii_case("ALL_PROXY") {
            notes.push("kubectl does not read ALL_PROXY".into());
        }
    }
}

fn user_notes(u: &User, notes: &mut Vec<String>) {
    if u.basic {
        notes.push("username and password are ignored: Kubernetes has no such login any more".into());
    }
    if u.token.is_some() && u.token_file.is_some() {
        notes.push("token and tokenFile are both given; the file counts as long as it can be read".into());
    }
    if u.exec.is_some() && (u.token.is_some() || u.token_file.is_some()) {
        notes.push("a token and a login plugin are both given; the token counts".into());
    }
    let Some(p) = u.provider.as_ref().filter(|p| p.name == "oidc") else { return };
    let has = |key: &str| p.config.get(key).is_some_and(|v| !v.expose().is_empty());
    if !has("refresh-token") || !has("client-secret") {
        notes.push("oidc: without refresh-token and client-secret this login ends with its id-token; prefer the kubelogin plugin".into());
    } else {
        notes.push("oidc: a renewed refresh token is not written back to the kubeconfig; prefer the kubelogin plugin".into());
    }
    if has("idp-certificate-authority") || has("idp-certificate-authority-data") {
        notes.push("oidc: idp-certificate-authority is ignored; the system's certificates count".into());
    }
}
