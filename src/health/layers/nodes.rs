//! Whether the plane has Nodes, since when, and whether a control plane could take them. Owns this one question for the addons; must not judge workers.

use super::{CLUSTER, cluster_name};
use crate::{
    health::view::View,
    model::{
        Kind, Time,
        projection::{
            capi::{Machine, MachineDeployment},
            cozystack::Monitor,
            kamaji::TenantControlPlane,
        },
    },
};

/// What is known about Nodes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Nodes {
    /// Something tells of workers at all; false when no source speaks.
    pub known: bool,
    /// Since when the longest ready of the present Nodes has been ready; `None` without a ready Node.
    pub ready_since: Option<Time>,
    /// The control plane is known not to serve.
    pub control_plane_down: bool,
    /// The control plane is known to serve.
    pub control_plane_up: bool,
}

/// What is known about Nodes, from Machines, else from the counters of pools and monitors.
pub fn nodes(view: &View<'_>) -> Nodes {
    let machines = view.list(Kind::Machine).filter(|o| cluster_name(o) == Some(CLUSTER));
    let (mut known, mut ready_since) = (false, None::<Time>);
    for (o, m) in machines.filter_map(|o| Some((o, Machine::of(o)?))) {
        known = true;
        if m.node_ready() && o.meta.deleted.get().is_none() {
            let said = m.conditions.any("NodeReady").or_else(|| m.conditions.any("NodeHealthy"));
            let since = said.and_then(|c| c.since.get()).or(o.meta.created.get()).unwrap_or(Time::UNIX_EPOCH);
            ready_since = Some(ready_since.map_or(since, |r| r.min(since)));
        }
    }
    if !known {
        (known, ready_since) = by_counters(view);
    }
    let (down, up) = control_plane(view);
    Nodes { known, ready_since, control_plane_down: down, control_plane_up: up }
}

/// Without Machines: pools at zero are known to have no Node; ready replicas are Nodes of unknown age.
fn by_counters(view: &View<'_>) -> (bool, Option<Time>) {
    let pools: Vec<&MachineDeployment> =
        view.list(Kind::MachineDeployment).filter_map(|o| MachineDeployment::of(o)).filter(|d| &*d.cluster_name == CLUSTER).collect();
    if !pools.is_empty() {
        let ready = pools.iter().any(|d| d.counters.ready.unwrap_or(0) > 0);
        return (true, ready.then_some(Time::UNIX_EPOCH));
    }
    let monitors = view.list(Kind::WorkloadMonitor).filter_map(|m| Monitor::of(m)).filter(|m| &*m.type_ == "worker");
    // A Ready virt-launcher Pod is a running VM, not a Node (trap 13): monitors can only tell that there is none.
    let observed: Vec<i64> = monitors.filter_map(|m| m.observed).collect();
    (!observed.is_empty() && observed.iter().all(|o| *o == 0), None)
}

/// (known to be down, known to be up).
fn control_plane(view: &View<'_>) -> (bool, bool) {
    if let Some(t) = view.get(Kind::TenantControlPlane, CLUSTER).and_then(|o| TenantControlPlane::of(o)) {
        let up = matches!(&*t.status, "Ready" | "Upgrading" | "Unknown");
        return (!up, up);
    }
    let available = view.get(Kind::WorkloadMonitor, CLUSTER).and_then(|m| Monitor::of(m)).and_then(|m| m.available);
    (available == Some(0) || view.get(Kind::KamajiControlPlane, CLUSTER).is_some(), available.is_some_and(|a| a > 0))
}
