//! Whether the plane has Nodes, since when, and whether a control plane could take them. Owns this one question for the addons; must not judge workers.

use super::CLUSTER;
use crate::{
    health::view::View,
    model::{Kind, Time, projection::cozystack::Monitor},
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
    let workers = view.list(Kind::WorkloadMonitor).filter_map(|m| Monitor::of(m)).filter(|m| &*m.type_ == "worker");
    let observed: i64 = workers.filter_map(|m| m.observed).sum();
    let down = view.get(Kind::WorkloadMonitor, CLUSTER).and_then(|m| Monitor::of(m)).is_some_and(|m| m.available == Some(0));
    Nodes { known: observed > 0, ready_since: None, control_plane_down: down }
}
