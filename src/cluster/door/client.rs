//! From a resolved context to filled `kube::Config`s, one for short calls and one for watches. Owns trust, certificates and timeouts;
//! must not build clients: the guard's layer goes around them elsewhere.
//!
//! `Config::infer` is never used: it obeys debug variables that change identity or server, and brings retries of writes (stack.md 0.1, 2.2).
//! kube is never handed an exec plugin. Only `oidc` stays with kube; its renewals go to the issuer, not through the guard.

use std::path::Path;
use std::time::Duration;

use kube::config::{AuthInfo, AuthProviderConfig};

use super::entries::{Provider, User};
use super::files::MAX_FILE;
use super::login::{self, Ask, Login, LoginFailure};
use super::resolve::ResolvedContext;
use super::secret::{self, Secret};
use crate::model::context::ContextInfo;
use crate::model::{Problem, ProblemKind, Time, text};

/// Seconds until a connection must stand.
const CONNECT: Duration = Duration::from_secs(10);
/// Longest silence of a short call, unless a flag says otherwise.
const READ: Duration = Duration::from_secs(30);

/// What clients are built from. Holds credentials: its `Debug` shows only what the header shows.
#[derive(Clone)]
pub struct Clients {
    /// For get, list, reviews and writes: silence is an error after the request timeout.
    pub short: kube::Config,
    /// For watches: they may be silent.
    pub watch: kube::Config,
    /// What the header shows.
    pub info: ContextInfo,
    /// When the login ends, if the plugin said so: [`ResolvedContext::clients`] a minute before gives a new one.
    pub expires: Option<Time>,
    /// Number of the login, to be given to [`ResolvedContext::refresh`] after a 401.
    pub generation: u64,
}

impl std::fmt::Debug for Clients {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Clients { info, expires, generation, .. } = self;
        f.debug_struct("Clients").field("info", info).field("expires", expires).field("generation", generation).finish_non_exhaustive()
    }
}

/// A login, ready for kube.
#[derive(Default)]
struct Identity {
    auth: AuthInfo,
    notes: Vec<String>,
    expires: Option<Time>,
    generation: u64,
}

impl ResolvedContext {
    /// Logs in, with the login held from before where it is still good, and fills the configs.
    ///
    /// # Errors
    /// `NotLoggedIn` without any usable login, `Unauthorized` where the plugin failed, `BadInput` naming file and field.
    pub async fn clients(&self, login: Login) -> Result<Clients, LoginFailure> {
        self.clients_at(Ask { login, seen: 0, now: Time::now() }).await
    }

    /// Logs in again after the server refused the login of generation `seen` (401). Of many callers with one number, one runs the plugin.
    ///
    /// # Errors
    /// As [`ResolvedContext::clients`].
    pub async fn refresh(&self, seen: u64, login: Login) -> Result<Clients, LoginFailure> {
        self.clients_at(Ask { login, seen, now: Time::now() }).await
    }

    /// As the two above, with the clock given.
    pub(super) async fn clients_at(&self, ask: Ask) -> Result<Clients, LoginFailure> {
        let mut base = kube::Config::new(self.uri.clone());
        self.trust(&mut base).await?;
        let id = self.identity(ask).await?;
        base.auth_info = id.auth;
        base.default_retry = false;
        base.connect_timeout = Some(CONNECT);
        base.disable_compression = self.cluster.disable_compression;
        base.proxy_url = self.proxy.as_ref().map(|p| p.uri.clone());
        if let Some(ns) = &self.info.namespace {
            base.default_namespace.clone_from(ns);
        }
        let mut info = self.info.clone();
        info.notes.extend(id.notes);
        let mut watch = base.clone();
        watch.read_timeout = None;
        let mut short = base;
        short.read_timeout = self.options.request_timeout.or(Some(READ)).filter(|d| !d.is_zero());
        short.reset_reader_on_write = true;
        Ok(Clients { short, watch, info, expires: id.expires, generation: id.generation })
    }

    async fn trust(&self, config: &mut kube::Config) -> Result<(), Problem> {
        let c = &self.cluster;
        let pem = self.ca_pem().await?;
        if c.insecure && pem.is_some() {
            let allowed = "either insecure-skip-tls-verify or a certificate authority, as for kubectl";
            return Err(self.cluster_flaw("insecure-skip-tls-verify", "true beside a certificate authority", allowed));
        }
        config.accept_invalid_certs = c.insecure;
        config.tls_server_name.clone_from(&c.tls_server_name);
        if let Some(pem) = pem {
            let certs = secret::pem_blocks(&pem, "CERTIFICATE");
            if certs.is_empty() {
                let field = if c.ca_data.is_some() { "certificate-authority-data" } else { "certificate-authority" };
                return Err(self.cluster_flaw(field, "no PEM certificate", "one or more PEM certificates"));
            }
            config.root_cert = Some(certs);
            // kube reads a file again each minute: a rotated authority is followed.
            config.root_cert_file = c.ca_file.clone().filter(|_| c.ca_data.is_none());
        }
        Ok(())
    }

    /// The certificate authority's PEM text, from data or file.
    pub(super) async fn ca_pem(&self) -> Result<Option<Vec<u8>>, Problem> {
        let c = &self.cluster;
        match (&c.ca_data, &c.ca_file) {
            (Some(data), _) => {
                let flaw = || self.cluster_flaw("certificate-authority-data", "text that is not base64", "a PEM text in base64");
                secret::decode(data).map(Some).ok_or_else(flaw)
            }
            (None, Some(file)) => {
                let flaw = |why: String| self.cluster_flaw("certificate-authority", &why, "a file that can be read");
                read(file).await.map(Some).map_err(flaw)
            }
            (None, None) => Ok(None),
        }
    }

    /// Order of kubectl: certificate beside anything; a token before a plugin.
    async fn identity(&self, ask: Ask) -> Result<Identity, LoginFailure> {
        let u = &self.user;
        let mut id = Identity::default();
        let has_cert = self.certificate(&mut id.auth).await?;
        if u.token.is_some() || u.token_file.is_some() {
            self.token(&mut id).await?;
        } else if let Some(plugin) = &u.exec {
            let (credential, generation) = login::credential(self, plugin, ask).await?;
            id.generation = generation;
            id.expires = credential.expires;
            id.auth.token = credential.token.map(|t| t.expose().to_string().into());
            if let Some((cert, key)) = credential.cert {
                id.auth.client_certificate_data = Some(secret::encode(cert.expose().as_bytes()));
                id.auth.client_key_data = Some(secret::encode(key.expose().as_bytes()).into());
            }
        } else if let Some(provider) = &u.provider {
            id.auth.auth_provider = Some(self.oidc(provider)?);
        } else if !has_cert {
            self.anonymous(&mut id)?;
        }
        self.act(&mut id.auth);
        Ok(id)
    }

    /// No login at all: refused, except for a plain http server such as `kubectl proxy`, where that is the usual case.
    fn anonymous(&self, id: &mut Identity) -> Result<(), Problem> {
        if self.uri.scheme_str() == Some("http") {
            if !self.info.notes.iter().any(|n| n.starts_with("no user is named")) {
                id.notes.push("no login is given; whoever serves this plain http address decides who you are".into());
            }
            return Ok(());
        }
        let found = if self.user.basic { "only username and password, which Kubernetes no longer accepts" } else { "no login" };
        Err(self.not_logged_in(found, "a token, a client certificate or a login plugin (exec)"))
    }

    fn not_logged_in(&self, found: &str, allowed: &str) -> Problem {
        let (file, name) = &self.user_place;
        Problem::new(ProblemKind::NotLoggedIn, text::line(&format!("not logged in: user {name:?} has {found}")))
            .detail(text::line(&format!("{}: users[{name}].user", file.display())))
            .hint(format!("requests would be anonymous; allowed: {allowed}"))
    }

    /// Client certificate and key, from data or files, both or none.
    async fn certificate(&self, auth: &mut AuthInfo) -> Result<bool, Problem> {
        let User { cert_data, cert_file, key_data, key_file, .. } = &self.user;
        let cert = self.pem("client-certificate", cert_data.as_deref(), cert_file.as_deref()).await?;
        let key = self.pem("client-key", key_data.as_ref().map(Secret::expose), key_file.as_deref()).await?;
        let (cert, key) = match (cert, key) {
            (None, None) => return Ok(false),
            (Some(_), None) => {
                return Err(self.user_flaw("client-key", "nothing beside a client certificate", "client-key or client-key-data"));
            }
            (None, Some(_)) => {
                return Err(self.user_flaw(
                    "client-certificate",
                    "nothing beside a client key",
                    "client-certificate or client-certificate-data",
                ));
            }
            (Some(c), Some(k)) => (c, k),
        };
        if secret::pem_blocks(&cert, "CERTIFICATE").is_empty() {
            return Err(self.user_flaw("client-certificate", "no PEM certificate", "a PEM certificate"));
        }
        let text = String::from_utf8_lossy(&key);
        if text.contains("ENCRYPTED") {
            return Err(self.user_flaw("client-key", "a key behind a passphrase", "a PEM key without passphrase"));
        }
        if !["PRIVATE KEY", "RSA PRIVATE KEY", "EC PRIVATE KEY"].iter().any(|l| text.contains(&format!("-----BEGIN {l}-----"))) {
            return Err(self.user_flaw("client-key", "no PEM private key", "a PEM private key"));
        }
        auth.client_certificate_data = Some(secret::encode(&cert));
        auth.client_key_data = Some(secret::encode(&key).into());
        Ok(true)
    }

    /// A PEM text from `FIELD-data` or the file `FIELD`; the data counts where both are given.
    async fn pem(&self, field: &str, data: Option<&str>, file: Option<&Path>) -> Result<Option<Vec<u8>>, Problem> {
        match (data, file) {
            (Some(data), _) => {
                let flaw = || self.user_flaw(&format!("{field}-data"), "text that is not base64", "a PEM text in base64");
                secret::decode(data).map(Some).ok_or_else(flaw)
            }
            (None, Some(file)) => read(file).await.map(Some).map_err(|why| self.user_flaw(field, &why, "a file that can be read")),
            (None, None) => Ok(None),
        }
    }

    /// The token file wins while it can be read, as for kubectl; the token is what remains.
    async fn token(&self, id: &mut Identity) -> Result<(), Problem> {
        let fixed = match &self.user.token {
            Some(raw) => Some(
                secret::token(raw.expose())
                    .ok_or_else(|| self.user_flaw("token", "characters that no token may hold", "a bearer token"))?,
            ),
            None => None,
        };
        let Some(file) = &self.user.token_file else {
            id.auth.token = fixed.map(|t| t.expose().to_string().into());
            return Ok(());
        };
        let raw = match (read(file).await, &fixed) {
            (Ok(bytes), _) => String::from_utf8_lossy(&bytes).into_owned(),
            (Err(why), Some(token)) => {
                id.notes.push(text::line(&format!("tokenFile can't be used ({why}); the token counts")));
                id.auth.token = Some(token.expose().to_string().into());
                return Ok(());
            }
            (Err(why), None) => return Err(self.user_flaw("tokenFile", &why, "a file that can be read")),
        };
        let flaw = || self.user_flaw("tokenFile", "a file without a token", "a file that holds a bearer token");
        let token = secret::token(&raw).ok_or_else(flaw)?;
        match file.to_str() {
            // kube reads the file again each minute, but takes it as it is: a last line break would spoil every request.
            Some(path) if token.expose() == raw => id.auth.token_file = Some(path.to_string()),
            _ => id.auth.token = Some(token.expose().to_string().into()),
        }
        Ok(())
    }

    fn oidc(&self, p: &Provider) -> Result<AuthProviderConfig, Problem> {
        const INSTEAD: &str = "a login plugin (exec) such as kubelogin";
        if p.name != "oidc" {
            return Err(self.not_logged_in(&format!("the auth-provider {:?}, which no longer exists", p.name), INSTEAD));
        }
        if p.config.get("id-token").is_none_or(|t| t.expose().is_empty()) {
            return Err(self.not_logged_in("the auth-provider oidc without an id-token", INSTEAD));
        }
        let config = p.config.iter().map(|(k, v)| (k.clone(), v.expose().to_string())).filter(|(_, v)| !v.is_empty()).collect();
        Ok(AuthProviderConfig { name: p.name.clone(), config, ..AuthProviderConfig::default() })
    }

    fn act(&self, auth: &mut AuthInfo) {
        let a = &self.user.acting;
        auth.impersonate.clone_from(&a.user);
        auth.impersonate_uid.clone_from(&a.uid);
        auth.impersonate_groups = (!a.groups.is_empty()).then(|| a.groups.clone());
        auth.impersonate_user_extra = (!a.extra.is_empty()).then(|| a.extra.clone().into_iter().collect());
    }
}

/// A small file. The error is one line without the file's contents.
async fn read(path: &Path) -> Result<Vec<u8>, String> {
    let named = |e: std::io::Error| text::line(&format!("{}: {e}", path.display()));
    if tokio::fs::metadata(path).await.map_err(named)?.len() > MAX_FILE {
        return Err(text::line(&format!("{}: larger than 4 MiB", path.display())));
    }
    tokio::fs::read(path).await.map_err(named)
}
