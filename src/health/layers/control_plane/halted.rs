//! Control planes about which nothing that a status says holds: an empty shell, a deletion, a pause, a status about an older spec. Must not judge running ones.

use super::{CLUSTER, Case, Judgement, State, broken, inferred, verdict, with};
use crate::{
    health::{
        build::{self, Build, span},
        layers::{cluster, patience::patience},
    },
    model::{
        Kind, Object,
        projection::{capi, core::Deployment},
        verdict::Who,
    },
};

/// Kamaji's own pause.
const KAMAJI_PAUSED: &str = "kamaji.clastix.io/paused";

/// Beside the beacon the missing control plane is only the missing etcd (trap 22).
pub fn shell(c: &Case<'_>) -> Option<Judgement> {
    if c.cluster.is_some() || c.tenant.is_some() {
        return None;
    }
    let etcd = cluster::awaiting_etcd(c.view)?;
    let v = verdict(State::Unknown, "no control plane yet: the cluster release holds an empty shell without etcd");
    Some(with(v, etcd.evidence.into_iter().take(1)))
}

/// Row 3 and 3b for the objects of this layer.
pub fn deleting(c: &Case<'_>) -> Option<Judgement> {
    let objects = [c.cluster.map(|x| x.0), c.provider.map(|x| x.0), c.tenant.map(|x| x.0)];
    let going: Vec<&Object> = objects.into_iter().flatten().filter(|o| o.meta.deleted.get().is_some()).collect();
    let first = going.first()?;
    let since = going.iter().filter_map(|o| o.meta.deleted.get()).min();
    let wait = patience(c.view, since, c.view.deadlines.deletion);
    let step = c.cluster.and_then(|(_, b)| b.conditions.recent("Deleting")).filter(|d| &*d.status == "True");
    let why = step.map(|d| if d.message.is_empty() { d.reason.to_string() } else { d.message.replace('\n', " ") });
    let state = if wait.over { State::DeletingStuck } else { State::Deleting };
    let what = format!("{} {} is being deleted{}", first.kind.info().name, first.meta.name, wait.suffix());
    let v = verdict(state, why.map_or(what.clone(), |w| format!("{what}: {w}"))).since(since).deadline(wait.until);
    let v = with(v, going.iter().map(|o| build::fact(o, "metadata.finalizers", o.meta.finalizers.join(", "), o.meta.deleted.get())));
    let v = with(v, c.cluster.zip(step).map(|((o, _), d)| build::condition(o, d)));
    Some(if wait.over {
        v.next(
            Who::Platform,
            "make the cluster's API and its datastore reachable first; clearing finalizers is the last resort and leaves things behind",
        )
    } else {
        v.next(Who::Anyone, "wait; what still holds it stands in the finalizers")
    })
}

/// Row 5: a pause of the whole tree or of one object of this layer.
pub fn paused(c: &Case<'_>) -> Option<Judgement> {
    let annotated = |o: &Object, key: &str| o.meta.annotations.contains_key(key);
    let (object, path, what) = if let Some((o, _)) = c.cluster.filter(|(_, b)| b.paused) {
        (o, "spec.paused".to_string(), "true: nothing of this cluster is reconciled")
    } else if let Some((o, _)) = c.cluster.filter(|(o, _)| annotated(o, capi::PAUSED)) {
        (o, format!("metadata.annotations[{}]", capi::PAUSED), "set: only the Cluster object itself is paused")
    } else if let Some((o, _)) = c.provider.filter(|(o, _)| annotated(o, capi::PAUSED)) {
        (o, format!("metadata.annotations[{}]", capi::PAUSED), "set: the control plane provider is paused")
    } else if let Some((o, _)) = c.tenant.filter(|(o, _)| annotated(o, KAMAJI_PAUSED)) {
        (o, format!("metadata.annotations[{KAMAJI_PAUSED}]"), "set: Kamaji is paused")
    } else {
        return None;
    };
    let since = c.cluster.and_then(|(_, b)| b.conditions.recent("Paused")).filter(|p| &*p.status == "True").and_then(|p| p.since.get());
    let cause = format!("{} {} is paused by {path}; its counters and conditions are old", object.kind.info().name, object.meta.name);
    let v = verdict(State::Paused, cause).since(since).evidence(build::fact(object, &path, what, since));
    Some(v.next(
        Who::Platform,
        "remove the pause if nobody needs it; look at the wanted replicas first: the autoscaler goes on scaling down paused pools, and those machines go at once",
    ))
}

/// What a pause masks is told beneath it.
pub fn over(mut paused: Judgement, below: Judgement) -> Judgement {
    if broken(&below) {
        paused.cause = format!("{}; beneath: {}: {}", paused.cause, below.state.words().to_lowercase(), below.cause);
        paused.evidence.extend(below.evidence);
    }
    paused
}

/// Row 8 for the TenantControlPlane: its status is about an older spec, even if it reads Ready (`status.md` 8.20). A second source that says
/// "down" isn't old, and is believed.
pub fn stale(c: &Case<'_>) -> Option<Judgement> {
    let (o, t) = c.tenant?;
    let (generation, judged) = (o.meta.generation.get()?, t.observed_generation?);
    if judged >= generation {
        return None;
    }
    let lag = build::fact(o, "metadata.generation", format!("{generation}, status.observedGeneration {judged}"), None);
    let deployment = c.view.get(Kind::Deployment, CLUSTER).and_then(|d| Some((d, Deployment::of(d)?)));
    let down = c.monitor().filter(|(_, m)| m.available == Some(0)).map(|(o, _)| build::fact(o, "status.availableReplicas", "0", None));
    let down = down.or_else(|| {
        deployment.filter(|(_, d)| d.ready == 0 && d.replicas != Some(0)).map(|(o, _)| build::fact(o, "status.readyReplicas", "0", None))
    });
    if let Some(e) = down {
        let v = verdict(State::ControlPlaneNotReady, "no replica of the control plane is ready, and Kamaji hasn't judged the present spec")
            .evidence(e)
            .evidence(lag);
        let v = with(v, inferred::trouble(c.view));
        return Some(v.next(Who::Platform, "look at the control plane's pods, then at the Kamaji controller"));
    }
    let recorded = if t.version.is_empty() { "none".to_string() } else { t.version.to_string() };
    let versions =
        if t.wanted.is_empty() || t.wanted == t.version { String::new() } else { format!("; {recorded} → {} hasn't begun", t.wanted) };
    let v = verdict(
        State::StaleStatus,
        format!("Kamaji has judged generation {judged} of {generation}: what it reports ({}) is about the older spec{versions}", t.status),
    )
    .evidence(lag);
    let probe = super::reach::failed_probe(c);
    let v = with(v, probe.map(|(o, p)| build::condition(o, p)));
    let v = if probe.is_some() {
        v.next(Who::Platform, "the cluster's API can't be reached, which holds Kamaji up: mend that first")
    } else {
        v.next(Who::Anyone, "wait a few minutes")
    };
    Some(v.next(Who::Platform, "if it lasts, look at the Kamaji controller"))
}

/// Row 8 for the Cluster: no trouble of its own, but nobody has judged its spec.
pub fn stale_cluster(c: &Case<'_>) -> Option<Judgement> {
    let (o, b) = c.cluster?;
    let (generation, judged) = (o.meta.generation.get()?, b.observed_generation?);
    if judged >= generation {
        return None;
    }
    let v = verdict(State::StaleStatus, format!("Cluster API has judged generation {judged} of {generation} of the Cluster"));
    let v = v.evidence(build::fact(o, "metadata.generation", format!("{generation}, status.observedGeneration {judged}"), None));
    Some(v.next(Who::Anyone, "wait a minute").next(Who::Platform, "if it lasts, look at the Cluster API controller"))
}

/// How long something has been so, for a sentence: ` for 4m`, or nothing.
pub fn lasting(c: &Case<'_>, since: Option<crate::model::Time>) -> String {
    since.map_or(String::new(), |t| format!(" for {}", span(c.view.age(t))))
}
