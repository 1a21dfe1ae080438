//! What an edit of node groups may know from a world: layout, machines, quotas, offer. Owns the collecting for screens and command line alike;
//! rules and forecast judge. Pure.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    health::layers::{CLUSTER, POOL_RELEASE},
    model::{
        Kind, Object, World,
        projection::{Body, core::Quota, release::Release},
        quantity::{NANOS, Quantity},
        verdict::PoolView,
    },
    nodegroups::{
        Groups,
        finding::Profile,
        forecast::{QuotaFact, Size},
        instance_types::{Offer, stock},
        validate::Context,
    },
};

/// Pools in their own releases, or owned by the cluster release (`status.md` 0.3); `None` where nothing tells.
pub fn seen_layout(world: &World, namespace: &str) -> Option<Profile> {
    if world.list(Kind::HelmRelease, namespace).any(|o| o.meta.name.starts_with(POOL_RELEASE))
        || world.list(Kind::KubernetesNodes, namespace).next().is_some()
    {
        return Some(Profile::Split);
    }
    let owner = |o: &Object| o.meta.annotations.get("meta.helm.sh/release-name").map(|v| v.to_string());
    let mut owners = world.list(Kind::MachineDeployment, namespace).filter_map(|o| owner(o));
    owners.any(|o| o == CLUSTER).then_some(Profile::Presplit)
}

/// Size of a stock instance type.
pub fn size(name: &str) -> Option<Size> {
    let stock = stock(name)?;
    let memory = Quantity::parse(stock.memory).ok()?.nanos();
    Some(Size { cpu: i128::from(stock.vcpu) * NANOS, memory })
}

/// Machines that exist now, by pool.
pub fn machines(views: &[PoolView]) -> BTreeMap<String, u32> {
    views.iter().filter_map(|p| Some((p.name.clone(), u32::try_from(p.machines?).ok()?))).collect()
}

/// Quotas of a namespace, each line with its limit and use.
pub fn quotas(world: &World, namespace: &str) -> Vec<QuotaFact> {
    let nanos = |s: &str| Quantity::parse(s).ok().map(|q| q.nanos());
    let of = |o: &Object| -> Vec<QuotaFact> {
        let Some(q) = Quota::of(o) else { return Vec::new() };
        let line = |(resource, hard): (&std::sync::Arc<str>, &std::sync::Arc<str>)| {
            let used = q.used.get(resource).and_then(|u| nanos(u));
            Some(QuotaFact { quota: o.meta.name.to_string(), resource: resource.to_string(), hard: nanos(hard)?, used })
        };
        q.hard.iter().filter_map(line).collect()
    };
    world.list(Kind::ResourceQuota, namespace).flat_map(|o| of(o)).collect()
}

/// The instance types that the platform offers here, if it told.
pub fn offer(world: &World, namespace: &str) -> Offer {
    let names: BTreeSet<String> = choices(world, namespace, "instancetype").collect();
    if names.is_empty() { Offer::Bundled } else { Offer::Live(names) }
}

/// The GPU names that the platform offers here, if it told.
pub fn gpus(world: &World, namespace: &str) -> Option<BTreeSet<String>> {
    world.get(Kind::OptionList, namespace, "gpu")?;
    Some(choices(world, namespace, "gpu").collect())
}

fn choices<'a>(world: &'a World, namespace: &str, source: &str) -> impl Iterator<Item = String> + use<'a> {
    let items = world.get(Kind::OptionList, namespace, source).and_then(|o| match &o.body {
        Body::Options(options) => Some(&options.items),
        _ => None,
    });
    items.into_iter().flatten().map(|c| c.value.to_string())
}

/// The map as stored in the module's release, where that can be read: reading the application shows defaults that aren't stored.
pub fn stored(world: &World, namespace: &str) -> Option<Groups> {
    world
        .get(Kind::HelmRelease, namespace, crate::health::layers::MODULE)
        .and_then(|o| Release::of(o))
        .and_then(|r| r.node_groups.as_ref().map(|g| (***g).clone()))
}

/// What the rules may know.
pub fn context(profile: Profile, world: Option<(&World, &str)>, previous: Option<Groups>) -> Context {
    let (offer, gpus) = world.map(|(w, ns)| (offer(w, ns), gpus(w, ns))).unwrap_or_default();
    Context { profile, offer, storage: None, gpus, quota: None, previous }
}
