//! From flags to a connected session: the kubeconfig's door or the embedded platform, both behind the same guard. Owns the choice; above this
//! nothing knows which of them answers.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use crate::{
    cluster::{
        door::{Clients, Door, Login, LoginFailure, Options, ResolvedContext},
        guard::Mode,
        layer::Guard,
        session::{Session, TIME_LIMIT},
        trail::AuditTrail,
    },
    demo,
    model::{Problem, ProblemKind, Time, context::ContextInfo},
};

/// Where sessions come from.
pub struct Connector {
    origin: Origin,
    trail: AuditTrail,
    read_only: bool,
    read_only_contexts: Vec<String>,
    limit: Duration,
    alive: AtomicBool,
}

enum Origin {
    Door(Box<Door>),
    Demo(demo::Platform, String),
    Recorded(Box<ContextInfo>),
}

/// A session and what is needed to renew its login.
pub struct Link {
    /// The session.
    pub session: Session,
    login: Option<(ResolvedContext, u64)>,
    /// When the login ends, if it does by itself.
    pub expires: Option<Time>,
}

impl Drop for Connector {
    /// Requests still under way are part of the record too.
    fn drop(&mut self) {
        self.trail.close();
    }
}

/// The mode and its witnesses.
#[derive(Clone, Default)]
pub struct Safety {
    /// Where requests are recorded.
    pub trail: AuditTrail,
    /// The lock for every context.
    pub read_only: bool,
    /// The lock for these.
    pub read_only_contexts: Vec<String>,
}

impl Connector {
    /// Through the kubeconfig.
    ///
    /// # Errors
    /// `BadInput` when no kubeconfig can be used.
    pub fn kubeconfig(options: &Options, safety: Safety) -> Result<Connector, Problem> {
        let limit = options.request_timeout.unwrap_or(TIME_LIMIT);
        let limit = if limit.is_zero() { Duration::MAX } else { limit };
        Ok(Self::new(Origin::Door(Box::new(Door::load(options)?)), safety, limit))
    }

    /// Through the embedded platform; no kubeconfig is read.
    ///
    /// # Errors
    /// `BadInput` for a scenario that doesn't exist.
    pub fn demo(scenario: &str, safety: Safety) -> Result<Connector, Problem> {
        let chosen: demo::Scenario = scenario.parse().map_err(|e: String| Problem::new(ProblemKind::BadInput, format!("--demo: {e}")))?;
        let platform = demo::Platform::new(chosen, Arc::new(Time::now), chosen.identity());
        Ok(Self::new(Origin::Demo(platform, scenario.to_string()), safety, TIME_LIMIT))
    }

    /// To nothing: a recording is looked at.
    pub fn recorded(info: ContextInfo) -> Connector {
        Self::new(Origin::Recorded(Box::new(info)), Safety { read_only: true, ..Safety::default() }, TIME_LIMIT)
    }

    fn new(origin: Origin, safety: Safety, limit: Duration) -> Connector {
        let Safety { trail, read_only, read_only_contexts } = safety;
        Connector { origin, trail, read_only, read_only_contexts, limit, alive: AtomicBool::new(false) }
    }

    /// The contexts on offer.
    pub fn contexts(&self) -> Vec<ContextInfo> {
        match &self.origin {
            Origin::Door(door) => door.contexts(),
            Origin::Demo(_, scenario) => vec![self.demo_info(scenario)],
            Origin::Recorded(info) => vec![(**info).clone()],
        }
    }

    /// Oddities of the kubeconfig files.
    pub fn notes(&self) -> Vec<String> {
        match &self.origin {
            Origin::Door(door) => door.notes(),
            Origin::Demo(..) | Origin::Recorded(_) => Vec::new(),
        }
    }

    /// The trail that every session of this connector writes to.
    pub fn trail(&self) -> &AuditTrail {
        &self.trail
    }

    /// Connects a context; `None` for the current one.
    ///
    /// # Errors
    /// What the kubeconfig lacks, or why the login failed (and whether a terminal would help).
    pub async fn open(&self, context: Option<&str>, login: Login) -> Result<Link, LoginFailure> {
        match &self.origin {
            Origin::Recorded(_) => Err(Problem::new(ProblemKind::Refused, "a recording has no cluster behind it").into()),
            Origin::Demo(platform, scenario) => {
                let info = self.demo_info(scenario);
                // The embedded world reconciles while somebody is connected to it.
                if !self.alive.swap(true, Ordering::Relaxed) {
                    tokio::spawn(demo::world::live(platform.clone()));
                }
                let session = Session::over(platform.clone(), &self.guard(&info.name), info);
                Ok(Link { session, login: None, expires: None })
            }
            Origin::Door(door) => {
                let resolved = door.context(context)?;
                let clients = resolved.clients(login).await?;
                let generation = clients.generation;
                let expires = clients.expires;
                let session = self.session(clients)?;
                Ok(Link { session, login: Some((resolved, generation)), expires })
            }
        }
    }

    /// Logs in again after a 401 and hands the new login to the running session: watches and rows stay.
    ///
    /// # Errors
    /// As [`Self::open`].
    pub async fn renew(&self, link: &mut Link, login: Login) -> Result<(), LoginFailure> {
        let Some((resolved, seen)) = &mut link.login else { return Ok(()) };
        let clients = resolved.refresh(*seen, login).await?;
        *seen = clients.generation;
        link.expires = clients.expires;
        link.session.renew(&self.session(clients)?);
        Ok(())
    }

    fn session(&self, clients: Clients) -> Result<Session, Problem> {
        let mut info = clients.info;
        let guard = self.guard(&info.name);
        info.read_only = self.locked(&info.name);
        Session::connect(clients.short, clients.watch, &guard, info, self.limit)
    }

    fn locked(&self, context: &str) -> bool {
        self.read_only || self.read_only_contexts.iter().any(|c| c == context)
    }

    fn guard(&self, context: &str) -> Guard {
        let mode = if self.locked(context) { Mode::ReadOnly } else { Mode::ReadWrite };
        Guard::new(mode, self.trail.clone())
    }

    fn demo_info(&self, scenario: &str) -> ContextInfo {
        ContextInfo {
            name: format!("demo:{scenario}"),
            server: "embedded".into(),
            user: "sre".into(),
            read_only: self.locked("demo"),
            ..ContextInfo::default()
        }
    }
}
