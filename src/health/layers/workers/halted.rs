//! Pools about which no counter holds: beside the beacon, in a cluster that doesn't exist, going away, paused, judged for an older spec. Must not judge the rest.

use super::{CLUSTER, Case, Judgement, State, facts::FOREIGN, scale, verdict, with};
use crate::{
    health::{
        build::{self, Build},
        layers::{cluster_name, patience::patience},
    },
    model::{
        Kind, Object,
        projection::{Condition, capi},
        verdict::Who,
        world::ReadState,
    },
};

/// Trap 22: pool releases aren't gated on etcd, so pools can stand beside the beacon.
pub fn shell(c: &Case<'_>) -> Option<Judgement> {
    c.shell.then(|| verdict(State::Unknown, "waits for its cluster, of which only the shell without etcd exists"))
}

/// Row 26: the pool's Cluster doesn't exist.
pub fn wrong_cluster(c: &Case<'_>) -> Option<Judgement> {
    let (o, _) = c.pool.deployment?;
    let named = cluster_name(o).filter(|n| *n != CLUSTER && c.view.get(Kind::Cluster, n).is_none())?;
    if named != FOREIGN && c.view.read(Kind::Cluster).state != ReadState::Complete {
        return None;
    }
    let v = verdict(State::WrongCluster, format!("it belongs to cluster {named}, which doesn't exist"))
        .since(o.meta.created.get())
        .evidence(build::fact(o, "spec.clusterName", named, None))
        .evidence(build::absence("Cluster", c.view.namespace, named));
    Some(
        v.next(
            Who::Platform,
            "bring the chart versions in line (the pool chart must carry clusterReleaseName); no edit of the plane helps",
        ),
    )
}

/// The condition that tells how a deletion gets on.
fn step(x: &capi::Conditions) -> Option<&Condition> {
    let new = x.recent("Deleting").filter(|d| &*d.status == "True" && !(d.reason.is_empty() && d.message.is_empty()));
    let old = ["DrainingSucceeded", "VolumeDetachSucceeded"].iter().filter_map(|k| x.old(k)).find(|d| &*d.status == "False");
    new.or(old)
}

/// Row 3b for one Machine, and a pool that is going away. A Machine that leaves in time is scaling, not this.
pub fn deleting(c: &Case<'_>) -> Option<Judgement> {
    let leaving = c.pool.units.iter().filter_map(|u| u.machine).filter(|(o, _)| o.meta.deleted.get().is_some());
    let oldest = leaving.min_by_key(|(o, _)| o.meta.deleted.get());
    if let Some((o, m)) = oldest.filter(|(o, _)| patience(c.view, o.meta.deleted.get(), c.view.deadlines.deletion).over) {
        return Some(stuck(c, o, step(&m.conditions)));
    }
    let (o, d) = c.pool.deployment.filter(|(o, _)| o.meta.deleted.get().is_some())?;
    let wait = patience(c.view, o.meta.deleted.get(), c.view.deadlines.deletion);
    if wait.over {
        return Some(stuck(c, o, step(&d.conditions)));
    }
    let v =
        verdict(State::Deleting, format!("the pool is being deleted{}", wait.suffix())).since(o.meta.deleted.get()).deadline(wait.until);
    let v = v.evidence(build::fact(o, "metadata.deletionTimestamp", "set", o.meta.deleted.get()));
    Some(v.next(Who::Anyone, "wait"))
}

fn stuck(c: &Case<'_>, o: &Object, step: Option<&Condition>) -> Judgement {
    let wait = patience(c.view, o.meta.deleted.get(), c.view.deadlines.deletion);
    let why = step.map(|s| if s.message.is_empty() { s.reason.to_string() } else { s.message.replace('\n', " ") });
    let why = why.map_or(String::new(), |w| format!(": {w}"));
    let cause = format!("{} {} can't be deleted{}{why}", o.kind.info().name, o.meta.name, wait.suffix());
    let v = verdict(State::DeletingStuck, cause).since(o.meta.deleted.get());
    let v = v.evidence(build::fact(o, "metadata.finalizers", o.meta.finalizers.join(", "), o.meta.deleted.get()));
    let v = with(v, step.map(|s| build::condition(o, s)));
    let text = step.map_or(String::new(), |s| format!("{} {}", s.reason, s.message));
    if text.contains("Drain") || text.contains("PodDisruptionBudget") || text.contains("evict") {
        let v = v.class(Some("DrainBlocked"));
        return v.next(Who::Tenant, "in the cluster: relax the PodDisruptionBudget that the text names, or move its pods away");
    }
    if text.contains("Volume") {
        return v.next(Who::Platform, "see why the volume isn't detached: the CSI driver in the cluster, and the VM");
    }
    v.next(Who::Platform, "make the cluster's API reachable; clearing finalizers is the last resort and leaves things behind")
}

/// Row 5: the whole tree, or one object of the pool.
pub fn paused(c: &Case<'_>) -> Option<Judgement> {
    let annotated = |o: &&Object| o.meta.annotations.contains_key(capi::PAUSED);
    let path = format!("metadata.annotations[{}]", capi::PAUSED);
    let machines = c.pool.units.iter().filter_map(|u| u.machine).map(|x| x.0);
    let single = c.pool.deployment.map(|x| x.0).into_iter().chain(c.pool.sets.iter().map(|x| x.0)).chain(machines).find(annotated);
    let (object, path) = if let Some((o, _)) = c.cluster.filter(|(_, b)| b.paused) {
        (o, "spec.paused".to_string())
    } else if let Some(o) = single {
        (o, path)
    } else {
        (c.pool.deployment.filter(|(_, d)| d.paused)?.0, "spec.paused".to_string())
    };
    let since =
        c.pool.deployment.and_then(|(_, d)| d.conditions.recent("Paused")).filter(|p| &*p.status == "True").and_then(|p| p.since.get());
    let v = verdict(State::Paused, format!("{} {} is paused: counters are old", object.kind.info().name, object.meta.name));
    let v = v.since(since).evidence(build::fact(object, &path, "set", since));
    let v = with(v, scale::fact(c));
    Some(v.next(
        Who::Platform,
        "remove the pause if nobody needs it; the autoscaler goes on scaling down paused pools: what it took away goes at once then",
    ))
}

/// Row 8: counters and conditions of the MachineDeployment are about an older spec, by its own word or by a condition's (capi#13738).
pub fn stale(c: &Case<'_>) -> Option<Judgement> {
    let (o, d) = c.pool.deployment?;
    let generation = o.meta.generation.get()?;
    let whole = d.observed_generation.filter(|g| *g < generation);
    let part = || {
        let deciding = ["Available", "MachinesReady", "ScalingUp", "ScalingDown"].iter().filter_map(|k| d.conditions.recent(k));
        deciding.filter_map(|x| x.observed_generation.get()).min().filter(|g| *g < generation)
    };
    let judged = whole.or_else(part)?;
    let v = verdict(
        State::StaleStatus,
        format!("Cluster API has judged generation {judged} of {generation}: its counters are about the older spec"),
    );
    let v = v.evidence(build::fact(o, "metadata.generation", format!("{generation}, judged {judged}"), None));
    Some(v.next(Who::Anyone, "wait a minute").next(Who::Platform, "if it lasts, look at the Cluster API controllers"))
}
