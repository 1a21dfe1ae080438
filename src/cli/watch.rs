//! `watch`: one line for each change of a verdict, until ended. Owns the lines and when to end; feeds and verdicts are the screens' own.

use std::{collections::BTreeMap, time::Duration};

use serde::Serialize;
use tokio::time::Instant;

use super::{
    exit::Exit,
    gather::{Online, Seen},
    output::{Format, Out},
};
use crate::{
    health::{self, deadlines::Deadlines},
    model::{
        Problem, ProblemKind, Time, World,
        verdict::{Plane, Severity, State},
    },
};

/// Formats offered; the first is the default.
pub const FORMATS: &[Format] = &[Format::Table, Format::Json, Format::Jsonl];

/// What `--until` waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Until {
    /// A state by name.
    State(State),
    /// Any state of a severity.
    Severity(Severity),
}

impl Until {
    /// Reads a state's or a severity's name. `Ready` is the state, `ready` the severity (which a pool at rest also has).
    ///
    /// # Errors
    /// `BadInput` with the nearest known name.
    pub fn read(s: &str) -> Result<Until, Problem> {
        if let Ok(severity) = serde_json::from_value::<Severity>(serde_json::Value::String(s.to_string())) {
            return Ok(Until::Severity(severity));
        }
        s.parse().map(Until::State).map_err(|_| {
            let near = crate::config::suggestion(s, State::ALL.iter().map(|x| x.name()));
            Problem::new(
                ProblemKind::BadInput,
                format!("--until: found {:?}; allowed: a state or a severity{near}", crate::model::text::line(s)),
            )
        })
    }

    fn reached(self, plane: &Plane) -> bool {
        match self {
            Until::State(s) => plane.state == s,
            Until::Severity(s) => plane.severity == s,
        }
    }
}

/// One change.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[allow(missing_docs)]
pub struct Change {
    pub kind: &'static str,
    pub time: Time,
    pub namespace: String,
    pub name: String,
    pub from: Option<State>,
    /// `None`: the plane is gone.
    pub to: Option<State>,
    pub severity: Option<Severity>,
    pub cause: String,
}

/// Follows verdicts.
pub struct Watcher<'a> {
    /// Only this namespace, if one was asked for.
    pub only: Option<String>,
    /// When to end well.
    pub until: Option<Until>,
    /// When to give up.
    pub timeout: Option<Duration>,
    /// Patience of the verdicts.
    pub deadlines: &'a Deadlines,
    /// How to print.
    pub format: Format,
}

impl Watcher<'_> {
    /// Prints what is and every change, until the wish is fulfilled, the time is over, or nobody reads any more.
    pub async fn run(&self, out: &mut Out, mut seen: Seen) -> Exit {
        let mut known: BTreeMap<String, Plane> = BTreeMap::new();
        let end = self.timeout.map(|t| Instant::now() + t);
        self.round(out, &seen.world, seen.now, &mut known);
        let Some(mut online) = seen.online.take() else {
            // A dump doesn't change: what it says is the whole answer.
            return if self.until.is_none() || self.fulfilled(&known) { Exit::Ok } else { Exit::Bad };
        };
        loop {
            if self.fulfilled(&known) || out.closed() {
                return Exit::Ok;
            }
            if !self.wait(&mut online, &mut seen, &known, end).await {
                return if self.until.is_none() { Exit::Ok } else { Exit::Bad };
            }
            let now = Time::now();
            self.round(out, &seen.world, now, &mut known);
        }
    }

    /// Waits for feeds or for the next deadline of a verdict; false when the time is over.
    async fn wait(&self, online: &mut Online, seen: &mut Seen, known: &BTreeMap<String, Plane>, end: Option<Instant>) -> bool {
        let due =
            known.values().filter_map(|p| p.deadline).min().map(|d| Duration::try_from(d.duration_since(Time::now())).unwrap_or_default());
        // Without a deadline the world can only change by a feed; a day is as good as for ever.
        let pause = due.map_or(Duration::from_secs(86_400), |d| d + Duration::from_secs(1));
        let wake = Instant::now() + pause;
        let until = end.map_or(wake, |e| e.min(wake));
        match tokio::time::timeout_at(until, online.feeds.recv()).await {
            Ok(Some(feed)) => {
                seen.world.fold(&feed.source, feed.event, Time::now());
                // A burst is one change: what has arrived is folded before anything is judged.
                while let Ok(feed) = online.feeds.try_recv() {
                    seen.world.fold(&feed.source, feed.event, Time::now());
                }
                true
            }
            Ok(None) => false,
            Err(_) => end.is_none_or(|e| Instant::now() < e),
        }
    }

    fn fulfilled(&self, known: &BTreeMap<String, Plane>) -> bool {
        self.until.is_some_and(|u| !known.is_empty() && known.values().all(|p| u.reached(p)))
    }

    fn round(&self, out: &mut Out, world: &World, now: Time, known: &mut BTreeMap<String, Plane>) {
        let mut fresh = BTreeMap::new();
        for ns in health::planes(world).iter().filter(|ns| self.only.as_deref().is_none_or(|o| o == &***ns)) {
            if let Some(p) = health::judge(world, ns, now, self.deadlines) {
                fresh.insert(ns.to_string(), p);
            }
        }
        for (ns, new) in &fresh {
            let old = known.get(ns);
            if old.is_none_or(|o| (o.state, o.layer, &o.pool, &o.cause) != (new.state, new.layer, &new.pool, &new.cause)) {
                self.tell(
                    out,
                    Change {
                        kind: "Change",
                        time: now,
                        namespace: ns.clone(),
                        name: new.name.clone(),
                        from: old.map(|o| o.state),
                        to: Some(new.state),
                        severity: Some(new.severity),
                        cause: new.cause.clone(),
                    },
                );
            }
        }
        for (ns, old) in known.iter().filter(|(ns, _)| !fresh.contains_key(*ns)) {
            self.tell(
                out,
                Change {
                    kind: "Change",
                    time: now,
                    namespace: ns.clone(),
                    name: old.name.clone(),
                    from: Some(old.state),
                    to: None,
                    severity: None,
                    cause: "gone".into(),
                },
            );
        }
        *known = fresh;
    }

    fn tell(&self, out: &mut Out, change: Change) {
        if matches!(self.format, Format::Json | Format::Jsonl) {
            return out.document(Format::Jsonl, &change);
        }
        let arrow = match (change.from, change.to) {
            (Some(a), Some(b)) if a == b => b.words(),
            (Some(a), Some(b)) => format!("{} -> {}", a.words(), b.words()),
            (None, Some(b)) => b.words(),
            (a, None) => format!("{} -> gone", a.map(State::words).unwrap_or_default()),
        };
        out.line(&format!("{} {}/{} {arrow}: {}", change.time.strftime("%Y-%m-%dT%H:%M:%SZ"), change.namespace, change.name, change.cause));
    }
}
