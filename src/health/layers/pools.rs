//! L3: are the pools rendered, by the right release, into the right cluster? Rows 10, 25, 26, 38 and the release rows for pool releases, in every layout of `status.md` 0.3.
//! Must not judge machines.

use std::{collections::BTreeSet, sync::Arc};

use super::{CLUSTER, Judgement, POOL_RELEASE, cluster, cluster_name, module};
use crate::{
    health::{
        build::{self, Build},
        release,
        view::View,
    },
    model::{
        Kind, Object,
        projection::{
            cozystack::{App, Monitor},
            release::Release,
        },
        verdict::{Layer, State, Who},
        world::ReadState,
    },
};

/// The pool that charts make when none is declared.
const DEFAULT_POOL: &str = "md0";
/// What charts of layout D call the cluster.
const FOREIGN: &str = "kubernetes-computeplane-cluster";

/// The verdict of the layer, then one a pool.
pub fn judge(view: &View<'_>) -> Vec<Judgement> {
    let mut pools = each(view);
    let all = whole(view, &pools);
    pools.insert(0, all);
    pools
}

/// The pool that a MachineDeployment, its monitor or its application stands for.
pub fn pool_of(name: &str) -> Option<&str> {
    let rest = [POOL_RELEASE, "kubernetes-computeplane-cluster-", "computeplane-cluster-"].iter().find_map(|p| name.strip_prefix(p));
    rest.filter(|r| !r.is_empty())
}

/// The pools that somebody declared: the ComputePlane's, else the releases' values. `None` where no spec is seen.
pub fn declared<'a>(view: &View<'a>) -> Option<BTreeSet<&'a str>> {
    let app = module::application(view).and_then(|o| App::of(o));
    let release = |name: &str| view.get(Kind::HelmRelease, name).and_then(|o| Release::of(o));
    let groups = app.map(|a| a.node_groups.as_ref()).or_else(|| release(super::MODULE).map(|r| r.node_groups.as_ref()));
    let groups = groups.or_else(|| release(CLUSTER).map(|r| r.node_groups.as_ref()))?;
    Some(match groups {
        Some(g) if !g.is_empty() => g.keys().map(String::as_str).collect(),
        _ => BTreeSet::from([DEFAULT_POOL]),
    })
}

/// MachineDeployments of this plane, of whatever naming.
fn deployments<'a>(view: &View<'a>) -> impl Iterator<Item = &'a Arc<Object>> + use<'a> {
    view.list(Kind::MachineDeployment)
        .filter(|o| pool_of(&o.meta.name).is_some() || cluster_name(o).is_some_and(|c| c == CLUSTER || c == FOREIGN))
}

fn each(view: &View<'_>) -> Vec<Judgement> {
    let mut out = Vec::new();
    for o in view.list(Kind::HelmRelease).filter(|o| o.meta.name.starts_with(POOL_RELEASE)) {
        let pool = pool_of(&o.meta.name).map(str::to_string);
        out.push(release::judge(view, Layer::Pools, o).pool(pool));
    }
    if out.is_empty() {
        for o in view.list(Kind::KubernetesNodes).filter(|o| pool_of(&o.meta.name).is_some()) {
            out.push(release::judge_app(view, Layer::Pools, o).pool(pool_of(&o.meta.name).map(str::to_string)));
        }
    }
    for o in deployments(view) {
        if let Some(v) = conflict(view, o).or_else(|| wrong_cluster(view, o)).or_else(|| orphaned(view, o)) {
            // What is wrong with the object outranks a release that reads Ready over it.
            match out.iter_mut().find(|p| p.pool == v.pool) {
                Some(p) if p.severity >= v.severity => *p = v,
                Some(_) => {}
                None => out.push(v),
            }
        }
    }
    out
}

fn pool_name(o: &Object) -> Option<String> {
    pool_of(&o.meta.name).map(str::to_string)
}

/// Row 10 by annotation: the object was taken silently, both releases read Ready (`status.md` 8.11).
fn conflict(view: &View<'_>, o: &Object) -> Option<Judgement> {
    let owner = o.meta.annotations.get("meta.helm.sh/release-name")?;
    let pool = pool_of(&o.meta.name)?;
    let expected = format!("{POOL_RELEASE}{pool}");
    let release = view.get(Kind::HelmRelease, &expected).filter(|r| r.meta.deleted.get().is_none())?;
    if **owner == *expected {
        return None;
    }
    let v = build::verdict(
        Layer::Pools,
        State::NameConflict,
        format!("MachineDeployment {} belongs to release {owner}, but {expected} claims it", o.meta.name),
    )
    .class(Some("NameConflict"))
    .pool(pool_name(o))
    .evidence(build::fact(o, "metadata.annotations[meta.helm.sh/release-name]", &**owner, None))
    .evidence(build::fact(release, "metadata.name", &*expected, None));
    Some(v.next(Who::Platform, "finish the adoption or rename the pool; don't delete the MachineDeployment, that would kill its workers"))
}

/// Row 26. Beside the beacon a missing Cluster is only the missing etcd (trap 22).
fn wrong_cluster(view: &View<'_>, o: &Object) -> Option<Judgement> {
    let named = cluster_name(o)?;
    if named == CLUSTER || view.get(Kind::Cluster, named).is_some() || cluster::awaiting_etcd(view).is_some() {
        return None;
    }
    let unknown = view.read(Kind::Cluster).state == ReadState::Forbidden && named != FOREIGN;
    if unknown {
        return None;
    }
    let v = build::verdict(
        Layer::Pools,
        State::WrongCluster,
        format!("MachineDeployment {} names cluster {named}, which doesn't exist", o.meta.name),
    )
    .pool(pool_name(o))
    .since(o.meta.created.get())
    .evidence(build::fact(o, "spec.clusterName", named, None))
    .evidence(build::absence("Cluster", view.namespace, named));
    Some(
        v.next(Who::Platform, "bring the chart version in line (the pool chart must carry clusterReleaseName); no edit of the plane helps"),
    )
}

/// Row 38: a pool that the spec no longer names.
fn orphaned(view: &View<'_>, o: &Object) -> Option<Judgement> {
    let pool = pool_of(&o.meta.name)?;
    let declared = declared(view)?;
    if declared.contains(pool) || o.meta.deleted.get().is_some() {
        return None;
    }
    let kept = o.meta.annotations.get("helm.sh/resource-policy").is_some_and(|v| &**v == "keep");
    if !kept && declared.contains(DEFAULT_POOL) && declared.len() == 1 && release_or_app_is_silent(view) {
        // No pool is written anywhere: the default pool is only a guess, no ground to call this one forgotten.
        return None;
    }
    let owner = o.meta.annotations.get("meta.helm.sh/release-name");
    let owned = owner.is_some_and(|n| view.get(Kind::HelmRelease, n).is_some_and(|r| !release::healthy(r)));
    if owned && !kept {
        // Its release is still to be applied: the removal may only be on its way.
        return None;
    }
    let mut v = build::verdict(
        Layer::Pools,
        State::Orphaned,
        format!("pool {pool} is no longer declared, but MachineDeployment {} is still here", o.meta.name),
    )
    .pool(pool_name(o))
    .evidence(build::fact(o, "metadata.name", &*o.meta.name, o.meta.created.get()));
    if kept {
        v = v.evidence(build::fact(o, "metadata.annotations[helm.sh/resource-policy]", "keep", None));
    }
    Some(v.next(Who::Platform, "drain the pool, then remove what is left"))
}

/// True where no spec that is seen writes a single pool.
fn release_or_app_is_silent(view: &View<'_>) -> bool {
    let app = module::application(view).and_then(|o| App::of(o)).and_then(|a| a.node_groups.as_ref());
    let releases = [super::MODULE, CLUSTER].into_iter().filter_map(|n| view.get(Kind::HelmRelease, n)).filter_map(|o| Release::of(o));
    app.is_none_or(|g| g.is_empty()) && releases.filter_map(|r| r.node_groups.as_ref()).all(|g| g.is_empty())
}

fn whole(view: &View<'_>, pools: &[Judgement]) -> Judgement {
    if let Some(worst) = pools.iter().min_by_key(|p| p.severity).filter(|p| p.state != State::Ready) {
        return worst.clone();
    }
    let made = deployments(view).count();
    if made == 0 && pools.is_empty() {
        return none_made(view);
    }
    let ok = |text: String| build::verdict(Layer::Pools, State::Ready, text);
    if !pools.is_empty() {
        let v = ok(format!("{} pool releases ready", pools.len()));
        return match not_rendered(view, made) {
            Some(bad) => bad,
            None => v.since(pools.iter().filter_map(|p| p.since).max()),
        };
    }
    ok(format!("{made} pools, made by the cluster release"))
}

/// Row 25: releases say done, pools are declared, and none exists (layout C).
fn not_rendered(view: &View<'_>, made: usize) -> Option<Judgement> {
    if made > 0 || !view.complete(Kind::MachineDeployment) || cluster::awaiting_etcd(view).is_some() {
        return None;
    }
    // A release that lists MachineDeployments did render them; layout C lists none.
    let rendered = |o: &Object| Release::of(o).is_some_and(|r| r.owns_kind("MachineDeployment"));
    let release = view.get(Kind::HelmRelease, CLUSTER).filter(|o| release::healthy(o) && !rendered(o))?;
    let declared = declared(view)?;
    let list = declared.iter().copied().collect::<Vec<_>>().join(", ");
    let v = build::verdict(
        Layer::Pools,
        State::PoolsNotRendered,
        format!("pools {list} are declared and the releases read Ready, but no MachineDeployment exists"),
    )
    .evidence(build::absence("MachineDeployment", view.namespace, "computeplane-cluster-*"))
    .evidence(build::fact(release, "status.conditions[Ready]", "True", None));
    Some(v.next(
        Who::Platform,
        "the charts of cluster and pools don't fit each other: upgrade or roll back the platform; don't recreate the pools",
    ))
}

fn none_made(view: &View<'_>) -> Judgement {
    if cluster::awaiting_etcd(view).is_some() {
        return build::verdict(Layer::Pools, State::Unknown, "no pools yet: the cluster release holds an empty shell");
    }
    if let Some(v) = not_rendered(view, 0) {
        // Without a Cluster the whole plane is missing, not only its pools (row 18 is the control plane's).
        if view.get(Kind::Cluster, CLUSTER).is_some() {
            return v;
        }
        return build::verdict(Layer::Pools, State::Unknown, "no MachineDeployment, as there is no Cluster");
    }
    let monitors: Vec<_> = view.list(Kind::WorkloadMonitor).filter(|m| Monitor::of(m).is_some_and(|b| &*b.type_ == "worker")).collect();
    if let Some(m) = monitors.first() {
        let v = build::verdict(Layer::Pools, State::Ready, format!("{} pools, as their monitors show", monitors.len())).inferred();
        return v.evidence(build::fact(m, "spec.type", "worker", m.meta.created.get()));
    }
    let reads = [Kind::MachineDeployment, Kind::HelmRelease].map(|k| (k, view.read(k).state));
    if reads.iter().all(|r| r.1 == ReadState::Complete) {
        return build::verdict(Layer::Pools, State::Unknown, "no pool here");
    }
    module::unread(Layer::Pools, &reads)
}
