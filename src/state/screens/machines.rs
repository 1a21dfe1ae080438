//! Pools, machines and events of one plane as rows. Reads projections, must not judge.

use std::sync::Arc;

use crate::{
    model::{
        Kind, Object, Time, World,
        projection::{Body, Condition, capi},
        text,
        verdict::{Plane, Severity},
    },
    state::{
        table::{Cell, Column, Row, column},
        words,
    },
};

/// Columns of the pools.
pub const POOL_COLUMNS: &[Column] = &[
    column("POOL", 6, 24, 0),
    column("STATE", 10, 28, 0),
    column("READY", 5, 9, 1),
    column("LIMITS", 6, 12, 2),
    column("MACHINES", 8, 9, 4),
    column("INSTANCE TYPE", 13, 20, 3),
    column("WHY", 14, 0, 1),
];

/// The pools of a plane.
pub fn pools(plane: &Plane) -> Vec<Arc<Row>> {
    let rows = plane.pools.iter().map(|p| {
        let verdict = plane.layers.iter().filter(|l| l.pool.as_deref() == Some(p.name.as_str())).min_by_key(|l| l.severity);
        let severity = p.state.severity();
        let cells = vec![
            Cell::text(&p.name),
            Cell::State(severity, p.state.words()),
            Cell::Number(p.ready.unwrap_or(-1), format!("{}/{}", words::count(p.ready), words::count(p.desired))),
            Cell::Number(p.min.unwrap_or(-1), format!("{}-{}", words::count(p.min), words::count(p.max))),
            Cell::Number(p.machines.unwrap_or(-1), words::count(p.machines)),
            Cell::text(p.instance_type.as_deref().unwrap_or(words::UNKNOWN)),
            Cell::Cause(verdict.map(|v| text::line(&v.cause)).unwrap_or_default(), verdict.and_then(|v| v.since)),
        ];
        let terms =
            vec![("pool", text::line(&p.name)), ("state", p.state.name().to_string()), ("sev", words::severity(severity).to_string())];
        Arc::new(Row::new(p.name.clone(), cells, Some(severity), terms))
    });
    rows.collect()
}

/// Columns of the machines.
pub const MACHINE_COLUMNS: &[Column] = &[
    column("MACHINE", 12, 60, 0),
    column("POOL", 5, 24, 2),
    column("STATE", 8, 20, 0),
    column("NODE", 6, 40, 4),
    Column { right: true, ..column("AGE", 4, 5, 3) },
    column("WHY", 14, 0, 1),
];

/// The label that tells a machine's MachineDeployment.
const DEPLOYMENT: &str = "cluster.x-k8s.io/deployment-name";
/// What a pool's MachineDeployment is called before the pool's name.
const PREFIX: &str = "computeplane-cluster-";

/// The machines in a plane's namespace.
pub fn machines(world: &World, namespace: &str) -> Vec<Arc<Row>> {
    world.list(Kind::Machine, namespace).map(|m| Arc::new(machine(m))).collect()
}

fn machine(m: &Object) -> Row {
    let deployment = m.meta.labels.get(DEPLOYMENT).map(|d| &**d).unwrap_or_default();
    let pool = text::line(deployment.strip_prefix(PREFIX).unwrap_or(deployment));
    let body = capi::Machine::of(m);
    let phase = body.map(|b| text::line(&b.phase)).filter(|p| !p.is_empty()).unwrap_or(words::UNKNOWN.to_string());
    let state = if m.meta.deleted.get().is_some() { "Deleting".to_string() } else { phase };
    let severity = match (state.as_str(), body.is_some_and(capi::Machine::node_ready)) {
        ("Failed", _) => Severity::Failing,
        ("Running", true) => Severity::Ready,
        ("Running", false) => Severity::Degraded,
        ("Pending" | "Provisioning" | "Provisioned" | "Deleting" | "Deleted", _) => Severity::Progressing,
        _ => Severity::Unknown,
    };
    let node = body.and_then(|b| b.node.as_deref()).map(text::line).filter(|n| !n.is_empty()).unwrap_or(words::UNKNOWN.to_string());
    let (why, since) = body.map(why).unwrap_or_default();
    let cells = vec![
        Cell::text(&m.meta.name),
        Cell::Text(pool.clone()),
        Cell::State(severity, state.clone()),
        Cell::Text(node),
        Cell::Age(m.meta.created.get()),
        Cell::Cause(why, since.filter(|_| severity != Severity::Ready)),
    ];
    let terms = vec![("pool", pool), ("state", state), ("sev", words::severity(severity).to_string())];
    Row::new(identity(m), cells, Some(severity), terms)
}

/// What a machine itself says holds it up: its failure, else the first condition that isn't fulfilled, as the controllers wrote it.
fn why(m: &capi::Machine) -> (String, Option<Time>) {
    let failure = if m.failure_message.is_empty() { &m.failure_reason } else { &m.failure_message };
    if !failure.is_empty() {
        return (text::line(failure), None);
    }
    let list = if m.conditions.new.is_empty() { &m.conditions.old } else { &m.conditions.new };
    // Ready and Available only sum up the others; the reasons stand there.
    let sums = ["Ready", "Available"];
    let wanting = list.iter().filter(|c| &*c.status == "False" && WANTED.contains(&&*c.kind));
    let first = wanting.min_by_key(|c| sums.contains(&&*c.kind));
    let said = |c: &Condition| if c.message.is_empty() { format!("{}: {}", c.kind, c.reason) } else { c.message.to_string() };
    first.map(|c| (text::line(&said(c)), c.since.get())).unwrap_or_default()
}

/// Conditions of a machine that are good when true; others (`Deleting`, `Paused`) are good when false.
const WANTED: &[&str] =
    &["BootstrapConfigReady", "BootstrapReady", "InfrastructureReady", "NodeReady", "NodeHealthy", "Ready", "Available"];

/// What selection holds on to: the UID, or the name where the API gives none.
pub fn identity(o: &Object) -> String {
    if o.meta.uid.is_empty() { format!("{}/{}", o.kind.info().name, o.meta.name) } else { o.meta.uid.to_string() }
}

/// Columns of the events.
pub const EVENT_COLUMNS: &[Column] = &[
    column("SEEN", 4, 5, 0),
    column("TYPE", 7, 8, 3),
    column("OBJECT", 12, 44, 1),
    column("REASON", 8, 26, 2),
    Column { right: true, ..column("TIMES", 5, 6, 4) },
    column("MESSAGE", 24, 0, 0),
];

/// The events in a plane's namespace: one row for what repeats, with its newest time. They tell that something happened, not that it still holds.
pub fn events(world: &World, namespace: &str) -> Vec<Arc<Row>> {
    let mut merged: std::collections::BTreeMap<String, (Arc<Row>, i64)> = std::collections::BTreeMap::new();
    let mut all: Vec<&Arc<Object>> = world.list(Kind::Event, namespace).collect();
    all.sort_by_key(|o| if let Body::Event(e) = &o.body { e.last } else { None });
    for object in all {
        let Body::Event(e) = &object.body else { continue };
        let key = format!("{}/{}/{}/{}", e.involved_kind, e.involved_name, e.reason, e.message);
        let count = merged.get(&key).map_or(0, |(_, n)| *n).saturating_add(e.count.max(1));
        let severity = (&*e.type_ == "Warning").then_some(Severity::Degraded);
        let cells = vec![
            Cell::Age(e.last.or(object.meta.created.get())),
            Cell::text(&e.type_),
            Cell::text(&format!("{} {}", e.involved_kind, e.involved_name)),
            Cell::text(&e.reason),
            Cell::Number(count, count.to_string()),
            Cell::text(&e.message),
        ];
        let terms = vec![("kind", text::line(&e.involved_kind)), ("state", text::line(&e.reason)), ("sev", text::line(&e.type_))];
        merged.insert(key.clone(), (Arc::new(Row::new(key, cells, severity, terms)), count));
    }
    merged.into_values().map(|(row, _)| row).collect()
}
