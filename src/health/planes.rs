//! Which namespaces hold a plane (contract, "What is a plane"). Owns the discovery; must not judge.

use std::{collections::BTreeSet, sync::Arc};

use super::layers::tenant;
use crate::model::{
    Kind, Object, World,
    projection::{core::Event, release::Release},
};

/// Prefixes that name something of a plane.
const PREFIXES: [&str; 3] = ["computeplane", "kubernetes-nodes-computeplane-cluster-", "kubernetes-computeplane-cluster"];

fn named(name: &str) -> bool {
    PREFIXES.iter().any(|p| name.starts_with(p))
}

/// True for an object or Event that is named, labelled or `clusterName`d as something of a plane.
pub fn names_plane(object: &Object) -> bool {
    if object.kind == Kind::Event {
        return Event::of(object).is_some_and(|e| named(&e.involved_name)) || named(&object.meta.name);
    }
    named(&object.meta.name)
        || object.meta.labels.iter().any(|(k, v)| named(v) || &**k == "internal.cozystack.io/computeplane")
        || super::layers::cluster_name(object).is_some_and(named)
}

/// The platform's own namespaces hold things called after the module, and no planes.
fn is_system(namespace: &str) -> bool {
    namespace.starts_with("cozy-") || namespace.starts_with("kube-") || namespace.starts_with("flux-")
}

/// True when something names a plane in this namespace.
pub fn is_plane(world: &World, namespace: &str) -> bool {
    if world.list(Kind::ComputePlane, namespace).next().is_some() {
        return true;
    }
    let kinds = crate::model::kind::KINDS.iter().filter(|k| k.namespaced && k.kind != Kind::OptionList);
    let own = !is_system(namespace) && kinds.flat_map(|k| world.list(k.kind, namespace)).any(|o| names_plane(o));
    own || spoken_for(world, namespace)
}

/// A Tenant's release in the parent namespace whose values or message name the module.
fn spoken_for(world: &World, namespace: &str) -> bool {
    let mut releases =
        tenant::parents(namespace).filter_map(|(parent, name)| world.get(Kind::HelmRelease, parent, &format!("tenant-{name}")));
    releases.any(speaks)
}

fn speaks(o: &Arc<Object>) -> bool {
    Release::of(o).is_some_and(|r| r.computeplane == Some(true) || r.conditions.iter().any(|c| c.message.contains("computeplane")))
}

/// The namespaces of all planes, in order.
pub fn planes(world: &World) -> BTreeSet<Arc<str>> {
    let mut out: BTreeSet<Arc<str>> = world.namespaces().filter(|ns| is_plane(world, ns)).cloned().collect();
    for parent in world.namespaces() {
        let children = world.list(Kind::HelmRelease, parent).filter(|o| o.meta.name.starts_with("tenant-") && speaks(o));
        out.extend(children.filter_map(|o| tenant::child_of(parent, &o.meta.name)).map(Arc::from));
    }
    out
}
