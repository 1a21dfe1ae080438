//! Connecting, renewing and single reads in the background; each ends in exactly one [`Done`]. Owns the current link; must not touch the screen.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use tokio::{sync::mpsc, time::Instant};

use super::connect::{Connector, Link};
use crate::{
    cluster::{
        door::{Login, LoginFailure},
        session::Session,
        trail::AuditTrail,
        write::{Outcome, READ_BACK},
    },
    model::{ObjectRef, Problem, ProblemKind, Time, access::Question},
    state::{Connected, Msg, Wrote},
};

/// What background work ends in.
pub enum Done {
    /// A message for state.
    Msg(Msg),
    /// A context is connected.
    Linked(Box<Link>, Box<Connected>),
    /// The login wants the terminal.
    NeedsTerminal {
        /// Context asked for.
        context: Option<String>,
        /// Namespaces asked for.
        namespaces: Vec<String>,
        /// Why the quiet login failed.
        problem: Problem,
    },
    /// The login was renewed; watches may go on.
    Renewed,
}

/// A login is renewed this long before it ends.
const EARLY: Duration = Duration::from_secs(60);

/// The current link and the way to new ones.
pub struct Links {
    connector: Arc<Connector>,
    done: mpsc::UnboundedSender<Done>,
    all: bool,
    session: Option<Session>,
    link: Arc<Mutex<Option<Link>>>,
    expires: Option<Time>,
    asked: (Option<String>, Vec<String>),
}

impl Links {
    /// No link yet.
    pub fn new(connector: Arc<Connector>, done: mpsc::UnboundedSender<Done>, all: bool) -> Links {
        Links { connector, done, all, session: None, link: Arc::default(), expires: None, asked: (None, Vec::new()) }
    }

    /// The trail that every request of this console is in.
    pub fn trail(&self) -> &AuditTrail {
        self.connector.trail()
    }

    /// The session in use.
    pub fn session(&self) -> Option<Session> {
        self.session.clone()
    }

    /// A link came about.
    pub fn linked(&mut self, link: Link) {
        self.expires = link.expires;
        self.session = Some(link.session.clone());
        *self.link.lock().unwrap_or_else(PoisonError::into_inner) = Some(link);
    }

    /// When the login has to be renewed.
    pub fn renew_at(&self) -> Option<Instant> {
        let left = Duration::try_from(self.expires?.duration_since(Time::now())).ok()?;
        Some(Instant::now() + left.saturating_sub(EARLY))
    }

    /// Opens a context in the background.
    pub fn open(&mut self, context: Option<String>, namespaces: Vec<String>, login: Login) {
        self.asked = (context.clone(), namespaces.clone());
        self.session = None;
        let (connector, done, all) = (Arc::clone(&self.connector), self.done.clone(), self.all);
        tokio::spawn(async move {
            let _ = done.send(open(&connector, context, namespaces, (login, all)).await);
        });
    }

    /// Tries the last context again.
    pub fn again(&mut self) {
        let (context, namespaces) = self.asked.clone();
        self.open(context, namespaces, Login::Quiet);
    }

    /// Opens a context with the terminal at the plugin's disposal.
    pub async fn open_now(&mut self, context: Option<String>, namespaces: Vec<String>) -> Done {
        open(&self.connector, context, namespaces, (Login::Interactive, self.all)).await
    }

    /// Renews the login in the background; rows and watches stay.
    pub fn renew(&mut self, login: Login) {
        // One renewal at a time: the link is out of its place meanwhile.
        let Some(mut link) = self.link.lock().unwrap_or_else(PoisonError::into_inner).take() else { return };
        self.expires = None;
        let (connector, done, place, asked) = (Arc::clone(&self.connector), self.done.clone(), Arc::clone(&self.link), self.asked.clone());
        tokio::spawn(async move {
            let outcome = match connector.renew(&mut link, login).await {
                Ok(()) => Done::Renewed,
                Err(LoginFailure::NeedsTerminal(problem)) => Done::NeedsTerminal { context: asked.0, namespaces: asked.1, problem },
                Err(LoginFailure::Failed(problem)) => Done::Msg(Msg::Notice(format!("the login could not be renewed: {problem}"))),
            };
            *place.lock().unwrap_or_else(PoisonError::into_inner) = Some(link);
            let _ = done.send(outcome);
        });
    }

    /// Asks what this identity may do, in the background.
    pub fn access(&self, request: u64, namespaces: Vec<String>) {
        let (session, done) = (self.session.clone(), self.done.clone());
        tokio::spawn(async move {
            let result = match session {
                Some(session) => Ok(Box::new(session.access(&namespaces).await)),
                None => Err(not_connected()),
            };
            let _ = done.send(Done::Msg(Msg::AccessRead { request, result }));
        });
    }

    /// Reads one object in the background.
    pub fn fetch(&self, request: u64, object: ObjectRef) {
        let done = self.done.clone();
        let Some(session) = self.session.clone() else {
            let problem = Problem::new(ProblemKind::NotFound, "no cluster is connected, and a recording keeps no whole objects");
            let _ = done.send(Done::Msg(Msg::Fetched { request, result: Err(problem) }));
            return;
        };
        tokio::spawn(async move {
            let result = session.fetch(&object).await.map(Box::new);
            let _ = done.send(Done::Msg(Msg::Fetched { request, result }));
        });
    }

    /// Asks in the background whether a plane may be patched. Without an answer nothing is said: the write itself will tell.
    pub fn ask_write(&self, object: ObjectRef) {
        let (Some(session), done) = (self.session.clone(), self.done.clone()) else { return };
        tokio::spawn(async move {
            let info = object.kind.info();
            let question = Question { verb: "patch", group: info.group, resource: info.plural, name: &object.name };
            if let Ok((allowed, reason)) = session.may(Some(&object.namespace), question).await {
                let _ = done.send(Done::Msg(Msg::MayWrite { object, allowed, reason }));
            }
        });
    }

    /// Sends one patch in the background and reads back. Once: what comes of it is told, whatever it is.
    pub fn write(&self, request: u64, object: ObjectRef, patch: serde_json::Value) {
        let done = self.done.clone();
        let Some(session) = self.session.clone() else {
            let _ = done.send(Done::Msg(Msg::Wrote { request, outcome: Wrote::Refused(not_connected()) }));
            return;
        };
        tokio::spawn(async move {
            let outcome = match session.write(&object, &patch, &READ_BACK).await {
                Outcome::Written(reads) => Wrote::Written(reads),
                Outcome::Conflict(now, p) => Wrote::Conflict(now, p),
                Outcome::Refused(p) => Wrote::Refused(p),
                Outcome::Unknown(now, p) => Wrote::Unknown(now, p),
            };
            let _ = done.send(Done::Msg(Msg::Wrote { request, outcome }));
        });
    }
}

fn not_connected() -> Problem {
    Problem::new(ProblemKind::Unreachable, "no cluster is connected")
}

async fn open(connector: &Connector, context: Option<String>, namespaces: Vec<String>, (login, all): (Login, bool)) -> Done {
    match connector.open(context.as_deref(), login).await {
        Ok(link) => {
            let all = all && namespaces.is_empty();
            let found = if all { Default::default() } else { link.session.namespaces(&namespaces).await };
            let source = if all { "all namespaces".to_string() } else { found.source };
            let connected = Connected { info: link.session.info().clone(), namespaces: found.names, source, all };
            // A cluster that can't be reached is told now, with its own text, not as an empty list.
            if let Err(problem) = link.session.discovered().await {
                return Done::Msg(Msg::ConnectFailed { context: connected.info.name, problem });
            }
            Done::Linked(Box::new(link), Box::new(connected))
        }
        Err(LoginFailure::NeedsTerminal(problem)) if login == Login::Quiet => Done::NeedsTerminal { context, namespaces, problem },
        Err(e) => Done::Msg(Msg::ConnectFailed { context: context.unwrap_or_default(), problem: e.into() }),
    }
}
