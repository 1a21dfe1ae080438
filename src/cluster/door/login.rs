//! When to run a login plugin: once for all that wait, again after 401 or near expiry, with the terminal only when asked.
//! Owns the outcome's classes; must not know the plugin protocol or build clients.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use super::entries::{Exec, Terminal};
use super::exec::{self, Credential, Fault};
use super::resolve::ResolvedContext;
use super::secret;
use crate::model::{Problem, ProblemKind, Time, text};

/// How a login may behave.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Login {
    /// The screens are up: no standard input, nothing printed, at most 30 s.
    Quiet,
    /// The caller has given the terminal back to the shell: the plugin may ask, at most 5 min.
    Interactive,
}

/// Why there is no login.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LoginFailure {
    /// It may work with the terminal: suspend the screens and try [`Login::Interactive`].
    NeedsTerminal(Problem),
    /// It won't work by asking.
    Failed(Problem),
}

impl LoginFailure {
    /// What to show.
    pub fn problem(&self) -> &Problem {
        match self {
            LoginFailure::NeedsTerminal(p) | LoginFailure::Failed(p) => p,
        }
    }

    /// Whether a login with the terminal is worth offering.
    pub fn needs_terminal(&self) -> bool {
        matches!(self, LoginFailure::NeedsTerminal(_))
    }
}

impl From<Problem> for LoginFailure {
    fn from(p: Problem) -> Self {
        LoginFailure::Failed(p)
    }
}

impl From<LoginFailure> for Problem {
    fn from(f: LoginFailure) -> Self {
        match f {
            LoginFailure::NeedsTerminal(p) | LoginFailure::Failed(p) => p,
        }
    }
}

impl std::fmt::Display for LoginFailure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.problem().fmt(f)
    }
}

impl std::error::Error for LoginFailure {}

/// The login shared by all that use one cluster and user.
#[derive(Default)]
pub(super) struct Slot {
    state: tokio::sync::Mutex<State>,
    runs: AtomicU64,
}

#[derive(Default)]
struct State {
    generation: u64,
    held: Option<Held>,
    failure: Option<(Login, LoginFailure)>,
}

struct Held {
    credential: Credential,
    since: Time,
}

impl Held {
    /// Good for another minute, or for a fifth of a short life: a token of 5 s must not mean a run at each request.
    fn is_fresh(&self, now: Time) -> bool {
        let Some(expires) = self.credential.expires else { return true };
        let life = expires.duration_since(self.since).as_secs().max(0);
        expires.duration_since(now).as_secs() > (life / 5).min(60)
    }
}

/// What a caller needs.
#[derive(Clone, Copy)]
pub(super) struct Ask {
    pub(super) login: Login,
    /// Logins up to this generation were refused by the server; 0 for none.
    pub(super) seen: u64,
    pub(super) now: Time,
}

/// The plugin's credential and its generation: the held one if it will do, else by one run for all that wait.
pub(super) async fn credential(ctx: &ResolvedContext, plugin: &Exec, ask: Ask) -> Result<(Credential, u64), LoginFailure> {
    let slot = &ctx.slot;
    let before = slot.runs.load(Ordering::SeqCst);
    let mut state = slot.state.lock().await;
    if let Some(held) = state.held.as_ref().filter(|h| state.generation > ask.seen && h.is_fresh(ask.now)) {
        return Ok((held.credential.clone(), state.generation));
    }
    // Whoever waited for a run that failed gets its failure; running it again at once would fail again, N times over.
    let waited = slot.runs.load(Ordering::SeqCst) != before;
    if let Some((_, failure)) = state.failure.as_ref().filter(|(mode, _)| waited && *mode >= ask.login) {
        return Err(failure.clone());
    }
    let result = attempt(ctx, plugin, ask.login).await;
    slot.runs.fetch_add(1, Ordering::SeqCst);
    match result {
        Ok(credential) => {
            state.generation = state.generation.max(ask.seen) + 1;
            state.held = Some(Held { credential: credential.clone(), since: ask.now });
            state.failure = None;
            Ok((credential, state.generation))
        }
        Err(failure) => {
            state.failure = Some((ask.login, failure.clone()));
            Err(failure)
        }
    }
}

async fn attempt(ctx: &ResolvedContext, plugin: &Exec, login: Login) -> Result<Credential, LoginFailure> {
    let quiet_limit = ctx.options.login_timeout.unwrap_or(Duration::from_secs(30));
    let (interactive, limit) = match (plugin.terminal, login) {
        (Terminal::Always, Login::Quiet) => {
            let summary = format!("the login plugin {} needs the terminal", name(plugin));
            return Err(LoginFailure::NeedsTerminal(
                Problem::new(ProblemKind::Unauthorized, summary).hint("log in with the screens suspended"),
            ));
        }
        (_, Login::Quiet) => (false, quiet_limit),
        (Terminal::Never, Login::Interactive) => (false, Duration::from_secs(300)),
        (_, Login::Interactive) => (true, Duration::from_secs(300)),
    };
    let cluster = if plugin.cluster_info { Some(cluster_info(ctx).await?) } else { None };
    exec::run(plugin, cluster, interactive, limit).await.map_err(|fault| failure(plugin, login, fault))
}

/// The plugin's name without its folder: enough to know which one.
fn name(plugin: &Exec) -> String {
    text::line(plugin.command.rsplit('/').next().unwrap_or(&plugin.command))
}

fn failure(plugin: &Exec, login: Login, fault: Fault) -> LoginFailure {
    let name = name(plugin);
    let may_ask = login == Login::Quiet && plugin.terminal != Terminal::Never;
    let problem = |summary: String, detail: String| Problem::new(ProblemKind::Unauthorized, summary).detail(detail);
    let hinted = |p: Problem| {
        if may_ask { LoginFailure::NeedsTerminal(p.hint("log in with the screens suspended")) } else { LoginFailure::Failed(p) }
    };
    match fault {
        Fault::NotStarted(why) => {
            let hint = plugin.install_hint.as_deref().map(|h| secret::hide_tokens(&text::block(h.trim())));
            let p = problem(format!("the login plugin {name} can't be started"), why);
            LoginFailure::Failed(p.hint(hint.unwrap_or_else(|| "install it, or put its folder into PATH".into())))
        }
        Fault::TimedOut(s) => hinted(problem(format!("the login plugin {name} did not finish within {s} s"), String::new())),
        Fault::Failed(how, said) => hinted(problem(format!("the login plugin {name} {how}"), said)),
        Fault::BadOutput(why) => LoginFailure::Failed(problem(format!("the login plugin {name} gave no login"), why)),
    }
}

/// `spec.cluster` of `KUBERNETES_EXEC_INFO`.
async fn cluster_info(ctx: &ResolvedContext) -> Result<serde_json::Value, Problem> {
    let c = &ctx.cluster;
    let mut info = serde_json::Map::new();
    info.insert("server".into(), ctx.uri.to_string().trim_end_matches('/').into());
    let mut put = |key: &str, value: Option<serde_json::Value>| value.map(|v| info.insert(key.into(), v));
    put("tls-server-name", c.tls_server_name.clone().map(Into::into));
    put("insecure-skip-tls-verify", c.insecure.then_some(true.into()));
    put("certificate-authority-data", ctx.ca_pem().await?.map(|pem| secret::encode(&pem).into()));
    put("proxy-url", c.proxy_url.as_ref().map(|p| p.expose().into()));
    put("disable-compression", c.disable_compression.then_some(true.into()));
    put("config", c.exec_config.clone());
    Ok(info.into())
}
