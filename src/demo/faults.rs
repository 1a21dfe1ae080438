//! Faults that tests switch on and off while the platform runs. Owns the rule list; the platform asks it at each request
//! and each watch step.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::sync::watch;

/// One thing that goes wrong.
#[derive(Debug, Clone, PartialEq)]
pub enum Fault {
    /// The connection is refused.
    Refuse,
    /// 401, as with an expired token.
    Unauthorized,
    /// 403, whatever the roles say.
    Forbidden,
    /// 429 with `Retry-After` in seconds.
    TooMany(u32),
    /// 500 with this message.
    Internal(String),
    /// 502 as a page of HTML from a proxy.
    BadGateway,
    /// 503 as plain text, as when the aggregated API is down.
    Unavailable,
    /// The answer starts this much later.
    Delay(Duration),
    /// The body breaks off after so many bytes.
    Truncate(usize),
    /// A watch ends as soon as it was opened.
    EndAtOnce,
    /// The body comes in pieces of so many bytes with a pause before each.
    Slow(usize, Duration),
    /// The request is taken and never answered.
    HalfOpen,
    /// The API group isn't there: 404 in plain text, and absent from discovery.
    Absent,
    /// Discovery of the group fails; the rest of discovery works.
    BrokenDiscovery,
    /// A write to `apps.cozystack.io` is refused by a policy on the HelmRelease: 500 with the text inside.
    Denied(String),
    /// A write to `apps.cozystack.io` loses against the server's own retries: 500 with the conflict text, nothing written.
    Conflict,
}

/// Which requests a fault hits; an empty `Match` hits all.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Match {
    /// Verb as in RBAC (`get`, `list`, `watch`, `patch`, …).
    pub verb: Option<&'static str>,
    /// API group; `Some("")` is the core group.
    pub group: Option<&'static str>,
    /// Plural resource name.
    pub resource: Option<&'static str>,
    /// Namespace.
    pub namespace: Option<String>,
}

impl Match {
    /// Requests of one resource.
    pub fn resource(group: &'static str, resource: &'static str) -> Match {
        Match { group: Some(group), resource: Some(resource), ..Match::default() }
    }
    /// Requests of one group.
    pub fn group(group: &'static str) -> Match {
        Match { group: Some(group), ..Match::default() }
    }
    /// The same with only one verb.
    pub fn verb(self, verb: &'static str) -> Match {
        Match { verb: Some(verb), ..self }
    }

    pub(crate) fn hits(&self, asked: &super::rbac::Asked) -> bool {
        self.verb.is_none_or(|v| v == asked.verb)
            && self.group.is_none_or(|g| g == asked.group)
            && self.resource.is_none_or(|r| r == asked.resource)
            && self.namespace.as_ref().is_none_or(|n| *n == asked.namespace)
    }
}

#[derive(Debug)]
struct Active {
    id: u64,
    when: Match,
    fault: Fault,
    /// Remaining hits; `None` without end.
    left: Option<u32>,
}

#[derive(Debug, Default)]
struct State {
    next: u64,
    active: Vec<Active>,
    cuts: u64,
    muted: bool,
    lag: Duration,
    frozen: Option<u64>,
}

/// Handle to the faults of one platform. Clones share it.
#[derive(Debug, Clone)]
pub struct Faults {
    state: Arc<Mutex<State>>,
    wake: watch::Sender<u64>,
}

impl Faults {
    pub(crate) fn new(wake: watch::Sender<u64>) -> Faults {
        Faults { state: Arc::default(), wake }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn woken(&self) {
        self.wake.send_modify(|n| *n = n.wrapping_add(1));
    }

    /// Switches a fault on until it is removed. Returns its number.
    pub fn add(&self, when: Match, fault: Fault) -> u64 {
        self.push(when, fault, None)
    }

    /// Switches a fault on for the next `times` requests it hits.
    pub fn times(&self, when: Match, fault: Fault, times: u32) -> u64 {
        self.push(when, fault, Some(times))
    }

    fn push(&self, when: Match, fault: Fault, left: Option<u32>) -> u64 {
        let mut s = self.state();
        s.next += 1;
        let id = s.next;
        s.active.push(Active { id, when, fault, left });
        id
    }

    /// Switches one fault off.
    pub fn remove(&self, id: u64) {
        self.state().active.retain(|a| a.id != id);
    }

    /// Switches everything off and lets muted watches go on.
    pub fn clear(&self) {
        {
            let mut s = self.state();
            s.active.clear();
            s.muted = false;
            s.lag = Duration::ZERO;
            s.frozen = None;
        }
        self.woken();
    }

    /// Ends every open watch with a clean end of stream.
    pub fn cut_watches(&self) {
        self.state().cuts += 1;
        self.woken();
    }

    /// While set, open watches stay open and lose every event.
    pub fn mute_watches(&self, muted: bool) {
        self.state().muted = muted;
        self.woken();
    }

    /// Reads of the aggregated API are this much behind, by the platform's clock.
    pub fn cache_lag(&self, lag: Duration) {
        self.state().lag = lag;
    }

    /// Freezes what the aggregated API reads at a log position; [`super::Platform::freeze_cache`] uses it.
    pub(crate) fn freeze(&self, position: Option<u64>) {
        self.state().frozen = position;
    }

    pub(crate) fn cache(&self) -> (Duration, Option<u64>) {
        let s = self.state();
        (s.lag, s.frozen)
    }

    pub(crate) fn cuts(&self) -> u64 {
        self.state().cuts
    }

    pub(crate) fn muted(&self) -> bool {
        self.state().muted
    }

    /// The faults that hit this request, and takes one from their count.
    pub(crate) fn strike(&self, asked: &super::rbac::Asked) -> Vec<Fault> {
        let mut s = self.state();
        let mut out = Vec::new();
        for a in s.active.iter_mut().filter(|a| a.when.hits(asked)) {
            if let Some(n) = &mut a.left {
                if *n == 0 {
                    continue;
                }
                *n -= 1;
            }
            out.push(a.fault.clone());
        }
        s.active.retain(|a| a.left != Some(0));
        out
    }

    /// True if a fault of this sort is on for a group, without taking from its count.
    pub(crate) fn on_group(&self, group: &str, fault: &Fault) -> bool {
        let s = self.state();
        s.active.iter().any(|a| a.fault == *fault && a.when.group == Some(group) && a.when.resource.is_none())
    }
}
