//! From a world to what the rollout follower looks at: one look at one plane. Owns the reading; following is the node groups' own logic. Pure.

use std::collections::BTreeMap;

use crate::{
    health::layers::{CLUSTER, MODULE, POOL_RELEASE},
    model::{
        Kind, Object, Time, World,
        projection::{Condition, capi::MachineDeployment, cozystack::App, find, release::Release},
        world::ReadState,
    },
    nodegroups::{
        Groups,
        forecast::{Change, PoolForecast},
        rollout::{Baseline, DeploymentSeen, Edit, Observation, PoolEdit, PoolSeen, ReadySeen, ReleaseSeen},
        template::{self, Layout},
    },
};

const MIN: &str = "cluster.x-k8s.io/cluster-api-autoscaler-node-group-min-size";
const MAX: &str = "cluster.x-k8s.io/cluster-api-autoscaler-node-group-max-size";

/// One look at a plane; `groups` as the API shows them, where they were read apart from the watch.
pub fn observe(world: &World, namespace: &str, layout: Layout, now: Time) -> Observation {
    let complete = |k: Kind| world.read_in(k, namespace).state == ReadState::Complete;
    let app = world.get(Kind::ComputePlane, namespace, MODULE);
    let groups = app.and_then(|o| App::of(o)).map(App::groups);
    let mut pools: BTreeMap<String, PoolSeen> = BTreeMap::new();
    for o in world.list(Kind::MachineDeployment, namespace) {
        if let (Some(name), Some(d)) = (pool_of(&o.meta.name), MachineDeployment::of(o)) {
            pools.entry(name.to_string()).or_default().deployment = Some(deployment(o, d));
        }
    }
    match layout {
        Layout::Split => {
            for o in world.list(Kind::HelmRelease, namespace) {
                if let Some(name) = o.meta.name.strip_prefix(POOL_RELEASE) {
                    pools.entry(name.to_string()).or_default().release = release(o);
                }
            }
        }
        // Before the split the cluster release renders every pool.
        Layout::Presplit => {
            let cluster = world.get(Kind::HelmRelease, namespace, CLUSTER).and_then(|o| release(o));
            pools.values_mut().for_each(|p| p.release.clone_from(&cluster));
        }
    }
    Observation {
        at: Some(now),
        groups,
        deleting: app.is_some_and(|o| o.meta.deleted.get().is_some()),
        module: world.get(Kind::HelmRelease, namespace, MODULE).and_then(|o| release(o)).or_else(|| app.and_then(|o| application(o))),
        pools,
        deployments_complete: complete(Kind::MachineDeployment),
        releases_complete: complete(Kind::HelmRelease),
    }
}

/// The edit to follow: what was written, what it does, and how the world stood just before.
pub fn edit(before: &Observation, old: Groups, desired: Groups, forecast: &[PoolForecast], at: Time) -> Edit {
    let baseline = |r: &ReleaseSeen| Baseline { generation: r.generation, ready_since: r.ready.as_ref().and_then(|c| c.since) };
    let touched = forecast.iter().filter(|p| p.change != Change::None);
    let pools = touched.map(|p| {
        let seen = before.pools.get(&p.name);
        let deployment = seen.and_then(|s| s.deployment.as_ref());
        let group = desired.get(&p.name);
        let bound = |key: &str, default: i64| group.and_then(|g| g.get(key)).and_then(serde_json::Value::as_i64).unwrap_or(default);
        let edit = PoolEdit {
            change: p.change,
            release: seen.and_then(|s| s.release.as_ref()).map(baseline),
            template: deployment.and_then(|d| d.template.clone()),
            deployment: deployment.and_then(|d| d.generation),
            bounds: (bound("minReplicas", template::DEFAULT_MIN), bound("maxReplicas", template::DEFAULT_MAX)),
        };
        (p.name.clone(), edit)
    });
    Edit { pools: pools.collect(), before: old, desired, at, module: before.module.as_ref().map(baseline) }
}

/// The pool that a MachineDeployment serves; deployments of other clusters serve none of ours.
fn pool_of(name: &str) -> Option<&str> {
    name.strip_prefix(CLUSTER).and_then(|rest| rest.strip_prefix('-'))
}

fn ready(conditions: &[Condition]) -> Option<ReadySeen> {
    let c = find(conditions, "Ready")?;
    Some(ReadySeen {
        status: c.status.to_string(),
        reason: c.reason.to_string(),
        message: c.message.to_string(),
        since: c.since.get(),
        observed: c.observed_generation.get(),
    })
}

fn release(o: &Object) -> Option<ReleaseSeen> {
    let r = Release::of(o)?;
    Some(ReleaseSeen {
        generation: o.meta.generation.get(),
        attempted: r.attempted_generation.get(),
        suspended: r.suspend,
        ready: ready(&r.conditions),
    })
}

/// The module as its application shows it: without generations.
fn application(o: &Object) -> Option<ReleaseSeen> {
    Some(ReleaseSeen { generation: None, attempted: None, suspended: false, ready: ready(&App::of(o)?.conditions) })
}

fn deployment(o: &Object, d: &MachineDeployment) -> DeploymentSeen {
    let count = |n: Option<i64>| u32::try_from(n.unwrap_or(0)).unwrap_or(0);
    let bound = |key: &str| o.meta.annotations.get(key).and_then(|v| v.parse::<i64>().ok());
    DeploymentSeen {
        generation: o.meta.generation.get(),
        observed: d.observed_generation,
        template: Some(d.template.to_string()).filter(|t| !t.is_empty()),
        bounds: bound(MIN).zip(bound(MAX)),
        desired: count(d.replicas),
        replicas: count(d.counters.replicas),
        updated: count(d.counters.updated),
        ready: count(d.counters.ready),
    }
}
