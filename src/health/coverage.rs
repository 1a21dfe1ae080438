//! Which sources each layer rests on, which of them could be read, and whether a healthy verdict may be believed.
//! Owns the table of sources; must not judge.

use super::{layers::tenant, view::View};
use crate::model::{
    Kind,
    verdict::{Coverage, Hidden, Layer, LayerVerdict, State},
    world::{Read, ReadState},
};

/// The sources of each layer: those without which it can't be called healthy come first, those that only add detail after.
#[rustfmt::skip]
const SOURCES: &[(Layer, &[Kind], &[Kind])] = &[
    (Layer::Tenant, &[Kind::Tenant, Kind::HelmRelease], &[Kind::TenantNamespace, Kind::Package]),
    (Layer::Module, &[Kind::ComputePlane, Kind::HelmRelease], &[Kind::TenantModule]),
    (Layer::Cluster, &[Kind::HelmRelease], &[Kind::ConfigMap, Kind::Event]),
    (Layer::Pools, &[Kind::MachineDeployment, Kind::KubernetesNodes], &[Kind::HelmRelease]),
    (Layer::ControlPlane, &[Kind::TenantControlPlane], &[Kind::KamajiControlPlane, Kind::Cluster, Kind::DataStore, Kind::WorkloadMonitor, Kind::Pod]),
    (Layer::Workers, &[Kind::MachineDeployment], &[Kind::MachineSet, Kind::Machine, Kind::MachineHealthCheck, Kind::KubevirtMachine, Kind::VirtualMachine,
        Kind::DataVolume, Kind::WorkloadMonitor, Kind::Pod, Kind::ResourceQuota]),
    (Layer::Addons, &[Kind::HelmRelease], &[]),
];

/// How well a kind is known for a layer: the tenant's kinds stand in the parent namespace.
fn read(view: &View<'_>, layer: Layer, kind: Kind) -> Read {
    match (layer, kind) {
        (_, Kind::Package | Kind::TenantNamespace | Kind::DataStore) => view.world.read_in(kind, ""),
        (Layer::Tenant, _) => {
            let parents = tenant::parents(view.namespace).map(|(parent, _)| view.world.read_in(kind, parent));
            parents.min_by_key(|r| r.state).unwrap_or_default()
        }
        _ => view.read(kind),
    }
}

/// Complete, or lost so recently that what is shown still stands for now.
fn usable(view: &View<'_>, read: &Read) -> bool {
    match read.state {
        ReadState::Complete => true,
        ReadState::Stale => read.at.is_some_and(|t| view.age(t) <= view.deadlines.routine_check),
        _ => false,
    }
}

/// True when one of the layer's deciding kinds can be believed: then its objects, and the absence of objects, are facts.
pub fn lit(view: &View<'_>, layer: Layer) -> bool {
    let deciding = SOURCES.iter().filter(|s| s.0 == layer).flat_map(|s| s.1);
    deciding.into_iter().any(|k| usable(view, &read(view, layer, *k)))
}

/// What could be read, and why not the rest: one entry a layer and resource.
pub fn of(view: &View<'_>, layers: &[LayerVerdict]) -> Coverage {
    let dark = |s: State| matches!(s, State::Unknown | State::NoPermission);
    let visible = layers.iter().filter(|v| !dark(v.state) || lit(view, v.layer)).map(|v| v.layer).collect();
    let mut hidden = Vec::new();
    for (layer, deciding, more) in SOURCES {
        for kind in deciding.iter().chain(*more) {
            let state = read(view, *layer, *kind).state;
            if state != ReadState::Complete {
                hidden.push(Hidden { layer: *layer, resource: kind.resource(), reason: state });
            }
        }
    }
    Coverage { visible, hidden }
}
