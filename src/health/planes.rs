//! Which namespaces hold a plane (contract, "What is a plane"). Owns the discovery; must not judge.

use std::{collections::BTreeSet, sync::Arc};

use super::layers::tenant;
use crate::model::{Kind, Object, World, projection::release::Release};

/// The platform's own namespaces hold things called after the module, and no planes.
fn is_system(namespace: &str) -> bool {
    namespace.starts_with("cozy-") || namespace.starts_with("kube-") || namespace.starts_with("flux-")
}

/// True when something names a plane in this namespace.
pub fn is_plane(world: &World, namespace: &str) -> bool {
    if world.list(Kind::ComputePlane, namespace).next().is_some() {
        return true;
    }
    (!is_system(namespace) && world.names_plane(namespace)) || spoken_for(world, namespace)
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
