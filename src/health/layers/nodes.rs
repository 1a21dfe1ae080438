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
    /// Since when the oldest of the present Nodes is ready.
    pub ready_since: Option<Time>,
    /// The control plane is known not to serve.
    pub control_plane_down: bool,
}

/// What is known about Nodes, from Machines, else from pools and monitors.
pub fn nodes(view: &View<'_>) -> Nodes {
    let ours = |o: &crate::model::Object| cluster_name(o).is_none_or(|c| c == CLUSTER);
    let machines: Vec<&Machine> = view.list(Kind::Machine).filter(|o| ours(o)).filter_map(|o| Machine::of(o)).collect();
    let ready = |m: &&Machine| {
        let x = m.conditions.either("NodeHealthy", "NodeHealthy").filter(|x| m.node.is_some() && &*x.status == "True")?;
        Some(x.since)
    };
    let healthy: Vec<Option<Time>> = machines.iter().filter_map(ready).collect();
    let pools: Vec<&MachineDeployment> =
        view.list(Kind::MachineDeployment).filter(|o| ours(o)).filter_map(|o| MachineDeployment::of(o)).collect();
    let counted = |d: &&MachineDeployment| {
        let up = d.conditions.either("Available", "Available").filter(|x| d.counters.ready.unwrap_or(0) > 0 && &*x.status == "True")?;
        up.since
    };
    let workers = view.list(Kind::WorkloadMonitor).filter_map(|m| Monitor::of(m)).filter(|m| &*m.type_ == "worker");
    let observed: i64 = workers.filter_map(|m| m.observed).fold(0, i64::saturating_add);
    let by_machines = healthy.iter().flatten().min().copied();
    let by_pools = if machines.is_empty() { pools.iter().filter_map(counted).min() } else { None };
    // A Node that is there since nobody knows when is old enough for every patience.
    let ageless = (!healthy.is_empty() && by_machines.is_none()).then_some(Time::UNIX_EPOCH);
    Nodes {
        known: !machines.is_empty() || !pools.is_empty() || observed > 0,
        ready_since: by_machines.or(ageless).or(by_pools),
        control_plane_down: control_plane_down(view),
    }
}

fn control_plane_down(view: &View<'_>) -> bool {
    if let Some(t) = view.get(Kind::TenantControlPlane, CLUSTER).and_then(|o| TenantControlPlane::of(o)) {
        return matches!(&*t.status, "" | "NotReady" | "Provisioning" | "Sleeping");
    }
    view.get(Kind::WorkloadMonitor, CLUSTER).and_then(|m| Monitor::of(m)).is_some_and(|m| m.available == Some(0))
}
