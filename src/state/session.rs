//! Which cluster, as whom, which namespaces, and how the connection is. Owns the wish list of sources and its numbering;
//! must not hold what was read.

use std::{collections::BTreeMap, sync::Arc};

use super::{
    effect::Effect,
    msg::Connected,
    subscriptions::{Looking, wanted},
};
use crate::model::{
    Problem, ProblemKind, Time, World,
    context::ContextInfo,
    feed::Feed,
    world::{ReadState, Source},
};

/// How far the connection is.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Phase {
    /// Asked for; no answer yet.
    #[default]
    Connecting,
    /// In use.
    Connected,
    /// Can't be used.
    Failed(Problem),
    /// No connection, and none wanted: what was recorded at this time.
    Recorded(Time),
}

/// The connection.
#[derive(Debug, Clone, Default)]
pub struct Session {
    /// What the kubeconfig offers.
    pub offered: Vec<ContextInfo>,
    /// The context in use, or wished for.
    pub current: ContextInfo,
    /// How far it is.
    pub phase: Phase,
    /// Namespaces looked at.
    pub namespaces: Vec<String>,
    /// Namespaces known to exist, to choose from.
    pub known: Vec<String>,
    /// The whole cluster is looked at.
    pub all: bool,
    /// Where the namespaces came from, in words.
    pub source: String,
    /// The terminal has the focus.
    pub focused: bool,
    /// Namespaces of planes opened lately, the last first.
    pub recent: Vec<Arc<str>>,
    /// Sources followed, with the generation each was first asked for.
    pub wanted: BTreeMap<Source, u64>,
    order: Vec<Source>,
    generation: u64,
}

/// The connection in one word, for the header.
#[derive(Debug, Clone, PartialEq)]
pub enum Live {
    /// No answer yet, or first lists are coming.
    Loading,
    /// All that can be read is fresh.
    Live,
    /// Some sources are lost: since when the oldest rows may be wrong, and why.
    Lost(Option<Time>, Problem),
    /// No connection at all.
    Failed(Problem),
    /// A recording: as it was then.
    Recorded(Time),
}

impl Session {
    /// No connection yet, on a terminal that has the focus.
    pub fn new() -> Session {
        Session { focused: true, ..Session::default() }
    }

    /// The context's name, as key of the store.
    pub fn key(&self) -> Arc<str> {
        Arc::from(self.current.name.as_str())
    }

    /// Takes over a context that answered.
    pub fn connected(&mut self, c: Connected) {
        if c.info.name != self.current.name {
            self.wanted.clear();
            self.order.clear();
        }
        self.current = c.info;
        self.phase = Phase::Connected;
        self.known = c.namespaces.clone();
        (self.namespaces, self.all, self.source) = (c.namespaces, c.all, c.source);
    }

    /// Shows a recording instead of a cluster; nothing is followed.
    pub fn recorded(&mut self, info: ContextInfo, at: Time) {
        (self.current, self.phase, self.all) = (info, Phase::Recorded(at), true);
        self.source = "recording".to_string();
    }

    /// Another context was asked for: nothing of the old one is expected any more.
    pub fn move_to(&mut self, context: ContextInfo) {
        self.wanted.clear();
        self.order.clear();
        self.recent.clear();
        (self.namespaces, self.known, self.all) = (Vec::new(), Vec::new(), false);
        (self.current, self.phase) = (context, Phase::Connecting);
    }

    /// Looks at other namespaces of the same context.
    pub fn choose(&mut self, namespaces: Vec<String>, all: bool) {
        for ns in &namespaces {
            if !self.known.contains(ns) {
                self.known.push(ns.clone());
            }
        }
        self.known.sort();
        (self.namespaces, self.all, self.source) = (namespaces, all, "chosen".to_string());
    }

    /// The wish list for what is on screen; nothing when it is the one already asked for.
    pub fn subscribe(&mut self, open: Option<&str>) -> Option<Effect> {
        if self.phase != Phase::Connected {
            return None;
        }
        let list = wanted(&Looking { namespaces: &self.namespaces, all: self.all, open });
        if list == self.order {
            return None;
        }
        self.generation += 1;
        let mut next = BTreeMap::new();
        for source in &list {
            let since = self.wanted.get(source).copied().unwrap_or(self.generation);
            next.insert(source.clone(), since);
        }
        (self.wanted, self.order) = (next, list.clone());
        Some(Effect::Subscribe { generation: self.generation, wanted: list })
    }

    /// Whether a feed belongs to what is followed now. A watch that was asked for earlier and never stopped counts.
    pub fn expects(&self, feed: &Feed) -> bool {
        *feed.context == *self.current.name && self.wanted.get(&feed.source).is_some_and(|since| feed.generation >= *since)
    }

    /// How the connection is.
    pub fn live(&self, world: Option<&World>) -> Live {
        match &self.phase {
            Phase::Failed(p) => return Live::Failed(p.clone()),
            Phase::Connecting => return Live::Loading,
            Phase::Recorded(at) => return Live::Recorded(*at),
            Phase::Connected => {}
        }
        let reads: Vec<_> = world.into_iter().flat_map(World::reads).collect();
        let lost = reads.iter().filter(|(_, _, r)| matches!(r.state, ReadState::Stale | ReadState::Unreadable));
        if let Some((_, _, r)) = lost.min_by_key(|(_, _, r)| r.at) {
            let unknown = Problem::new(ProblemKind::Unreachable, "connection lost");
            return Live::Lost(r.at, r.problem.clone().unwrap_or(unknown));
        }
        let answered = reads.iter().any(|(_, _, r)| r.state != ReadState::NotRead);
        if answered { Live::Live } else { Live::Loading }
    }

    /// True when a retry could help: something is refused, lost or failed.
    pub fn has_trouble(&self, world: Option<&World>) -> bool {
        let fine = |s: ReadState| matches!(s, ReadState::Complete | ReadState::NotRead);
        matches!(self.phase, Phase::Failed(_)) || world.into_iter().flat_map(World::reads).any(|(_, _, r)| !fine(r.state))
    }
}
