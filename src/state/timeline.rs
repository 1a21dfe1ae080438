//! What changed in a plane: verdicts since the console looks, and what histories, conditions, births and events tell of before. Pure: facts in,
//! entries out, newest first. Must not judge.

use std::sync::Arc;

use super::table::{Cell, Column, Row, column};
use crate::model::{
    Kind, Object, Time, World,
    projection::{self, Body, Condition},
    verdict::{Plane, Severity},
    world::ReadState,
};

/// How one came to know of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Told {
    /// The console saw it happen.
    Seen,
    /// A condition turned.
    Condition,
    /// A release was installed or upgraded.
    Release,
    /// An object came or is going.
    Object,
    /// An event: it happened, it may not hold any more.
    Event,
}

impl Told {
    fn word(self) -> &'static str {
        match self {
            Told::Seen => "seen",
            Told::Condition => "condition",
            Told::Release => "release",
            Told::Object => "object",
            Told::Event => "event",
        }
    }
}

/// One change.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// When.
    pub time: Time,
    /// How known.
    pub told: Told,
    /// What it is about, e.g. `Machine md0-x1`.
    pub about: String,
    /// What changed.
    pub text: String,
    /// How bad it is now, where a verdict says so.
    pub severity: Option<Severity>,
}

/// Columns of the timeline.
pub const COLUMNS: &[Column] = &[column("AGE", 4, 5, 0), column("HOW", 9, 10, 3), column("WHAT", 12, 40, 1), column("CHANGE", 22, 0, 0)];

/// What differs between two verdicts of one plane. While sources are still being read for the first time nothing counts as a change.
pub fn between(old: &Plane, new: &Plane, now: Time) -> Vec<Entry> {
    if old.coverage.hidden.iter().any(|h| h.reason == ReadState::NotRead) {
        return Vec::new();
    }
    let seen = |about: String, text: String, severity| Entry { time: now, told: Told::Seen, about, text, severity };
    let mut out = Vec::new();
    if old.state != new.state {
        let text = format!("{} → {}: {}", old.state.words(), new.state.words(), new.cause);
        out.push(seen("plane".to_string(), text, Some(new.severity)));
    }
    for layer in &new.layers {
        let before = old.layers.iter().find(|l| l.layer == layer.layer && l.pool == layer.pool);
        if let Some(before) = before.filter(|b| b.state != layer.state) {
            let pool = layer.pool.as_deref().map(|p| format!(" {p}")).unwrap_or_default();
            let text = format!("{} → {}", before.state.words(), layer.state.words());
            out.push(seen(format!("{}{pool}", super::words::layer(layer.layer)), text, Some(layer.severity)));
        }
    }
    for pool in &new.pools {
        match old.pools.iter().find(|p| p.name == pool.name) {
            None => out.push(seen(format!("pool {}", pool.name), "added".to_string(), None)),
            Some(before) => {
                let counts = [("nodes wanted", before.desired, pool.desired), ("nodes ready", before.ready, pool.ready)];
                for (what, was, is) in counts.into_iter().filter(|(_, was, is)| was != is) {
                    let text = format!("{what} {} → {}", super::words::count(was), super::words::count(is));
                    out.push(seen(format!("pool {}", pool.name), text, None));
                }
            }
        }
    }
    let gone = old.pools.iter().filter(|p| new.pools.iter().all(|n| n.name != p.name));
    out.extend(gone.map(|p| seen(format!("pool {}", p.name), "removed".to_string(), None)));
    out
}

/// What the objects of a namespace tell of the time before.
pub fn before(world: &World, namespace: &str) -> Vec<Entry> {
    let mut out = Vec::new();
    for kind in [
        Kind::ComputePlane,
        Kind::HelmRelease,
        Kind::Cluster,
        Kind::KamajiControlPlane,
        Kind::TenantControlPlane,
        Kind::MachineDeployment,
        Kind::Machine,
    ] {
        for object in world.list(kind, namespace) {
            births(object, &mut out);
            for c in conditions(object) {
                condition(object, c, &mut out);
            }
            if let Body::Release(r) = &object.body {
                for revision in &r.history {
                    releases(object, revision, &mut out);
                }
            }
        }
    }
    for object in world.list(Kind::Event, namespace) {
        let Body::Event(e) = &object.body else { continue };
        let about = format!("{} {}", e.involved_kind, e.involved_name);
        let entry = |time| Entry { time, told: Told::Event, about, text: format!("{}: {}", e.reason, e.message), severity: None };
        out.extend(e.last.map(entry));
    }
    out
}

fn about(object: &Object) -> String {
    format!("{} {}", object.kind.info().name, object.meta.name)
}

fn births(object: &Object, out: &mut Vec<Entry>) {
    let mut add = |time: Option<Time>, text: &str| {
        out.extend(time.map(|time| Entry { time, told: Told::Object, about: about(object), text: text.to_string(), severity: None }));
    };
    add(object.meta.created.get(), "created");
    add(object.meta.deleted.get(), "deletion asked for");
}

fn conditions(object: &Object) -> &[Condition] {
    match &object.body {
        Body::App(x) => &x.conditions,
        Body::Release(x) => &x.conditions,
        Body::KamajiControlPlane(x) => &x.conditions,
        Body::Cluster(x) => newest(&x.conditions),
        Body::MachineDeployment(x) => newest(&x.conditions),
        Body::Machine(x) => newest(&x.conditions),
        _ => &[],
    }
}

/// One style is enough: both tell the same.
fn newest(styles: &projection::capi::Conditions) -> &[Condition] {
    if styles.new.is_empty() { &styles.old } else { &styles.new }
}

fn condition(object: &Object, c: &Condition, out: &mut Vec<Entry>) {
    if let Some(time) = c.since.get() {
        let reason = if c.reason.is_empty() { String::new() } else { format!(" ({})", c.reason) };
        let text = format!("{} became {}{reason}", c.kind, c.status);
        out.push(Entry { time, told: Told::Condition, about: about(object), text, severity: None });
    }
}

fn releases(object: &Object, r: &projection::release::Revision, out: &mut Vec<Entry>) {
    if let Some(time) = r.last_deployed.get().or(r.first_deployed.get()) {
        let text = format!("revision {} {}", r.version, r.status);
        out.push(Entry { time, told: Told::Release, about: about(object), text, severity: None });
    }
}

/// The rows of a timeline, from what was seen and what is told.
pub fn rows(seen: &[Entry], told: Vec<Entry>) -> Vec<Arc<Row>> {
    let all = seen.iter().cloned().chain(told);
    let rows = all.map(|e| {
        let key = format!("{}|{}|{}|{}", e.time, e.told.word(), e.about, e.text);
        let cells = vec![Cell::Age(Some(e.time)), Cell::text(e.told.word()), Cell::text(&e.about), Cell::text(&e.text)];
        let kind = e.about.split(' ').next().unwrap_or_default().to_string();
        Arc::new(Row::new(key, cells, e.severity, vec![("kind", kind), ("state", e.told.word().to_string())]))
    });
    rows.collect()
}
