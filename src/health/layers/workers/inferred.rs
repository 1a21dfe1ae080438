//! Second-best evidence for a pool of which no MachineDeployment is seen: monitor, pods, events; and what its absence means where it is a fact.
//! Everything here is marked inferred and says what would confirm it.

use super::{CLUSTER, Case, Judgement, State, events, verdict, with};
use crate::{
    health::{
        build::{self, Build},
        events as told,
        layers::patience::patience,
        messages, release,
    },
    model::{
        Kind,
        projection::{core::Event, release::Release},
        verdict::Who,
    },
};

const CONFIRM: &str = "to confirm: the MachineDeployment and Machines of the pool";

/// True where the pool's own objects are seen: then nothing is inferred.
fn seen(c: &Case<'_>) -> bool {
    c.pool.deployment.is_some() || c.pool.machines() > 0
}

/// The row that an event about a worker's object stands for.
fn row(e: &Event) -> Option<(State, Who, &'static str)> {
    let class = messages::classify(&e.message).map(|r| r.class);
    let pod = matches!(&*e.involved_kind, "Pod" | "VirtualMachineInstance" | "VirtualMachine");
    Some(match (&*e.reason, &*e.involved_kind) {
        _ if class == Some("QuotaBlocked") => {
            (State::QuotaBlocked, Who::ParentTenant, "raise the quota that the text names, or shrink the pool")
        }
        ("RemediationRestricted", _) => (State::RemediationBlocked, Who::Platform, "find what makes so many machines unhealthy"),
        ("FailedCreate", "MachineSet" | "MachineDeployment") => (State::WorkersBlocked, Who::Platform, "mend what the text names"),
        ("FailedCreate" | "FailedCreatePod", _) if pod => (State::WorkerCreateRefused, Who::Platform, "mend what the text names"),
        ("FailedScheduling" | "Unschedulable", _) if e.message.contains("unbound immediate PersistentVolumeClaims") => return None,
        ("FailedScheduling" | "Unschedulable", _) => {
            (State::WorkersUnschedulable, Who::Tenant, "a smaller instance type or fewer machines")
        }
        ("ProvisioningFailed" | "ImportFailed" | "Error", "DataVolume" | "PersistentVolumeClaim" | "Pod") if class.is_some() || !pod => {
            (State::WorkerDiskNotReady, Who::Platform, "look at the image import and the storage class's provisioner")
        }
        _ => return None,
    })
}

/// Events of the pool's objects, unless its VMs are all up by now.
pub fn by_events(c: &Case<'_>) -> Option<Judgement> {
    let up =
        c.pool.monitor.is_some_and(|(_, m)| m.available.is_some_and(|a| a > 0 && a >= m.observed.unwrap_or(0).max(m.min.unwrap_or(0))));
    if seen(c) || up {
        return None;
    }
    let warnings = events::warnings(c);
    let (e, (state, who, step)) = warnings.iter().find_map(|e| Some((*e, row(e)?)))?;
    let class = messages::classify(&e.message).map(|r| r.class);
    let v = verdict(state, events::sentence(c.view, e)).since(e.first).class(class).inferred().evidence(told::evidence(c.view, e));
    Some(v.next(who, step).next(Who::Platform, "an event proves that it happened, not that it still holds: the Machines of the pool tell"))
}

/// The monitor counts VM pods, not Nodes, and with a minimum of 0 it is always content: its numbers tell more than its verdict.
pub fn by_monitor(c: &Case<'_>) -> Option<Judgement> {
    let (o, m) = c.pool.monitor.filter(|_| !seen(c))?;
    let (available, observed) = (m.available?, m.observed.unwrap_or(0));
    let (min, max) = c.pool.bounds();
    let min = m.min.or(min).unwrap_or(0);
    let fact = build::fact(o, "status.availableReplicas", format!("{available} available, {observed} observed, minimum {min}"), None);
    let bounds = format!("({min}-{})", max.map_or("?".to_string(), |m| m.to_string()));
    let wait = patience(c.view, o.meta.created.get(), c.view.deadlines.scale_up);
    let young = o.meta.created.get().is_some() && !wait.over;
    let v = if observed <= 0 && min <= 0 {
        verdict(State::ScaledToZero, format!("0/0 {bounds}, as its monitor shows"))
            .next(Who::Anyone, "nothing: the first pending pod wakes it")
    } else if available < min && young {
        verdict(State::WorkersScalingUp, format!("{available} VMs up {bounds}{}", wait.suffix()))
            .deadline(wait.until)
            .next(Who::Anyone, "wait")
    } else if observed < min {
        verdict(State::WorkersMissing, format!("{observed} VMs are there where at least {min} should be"))
            .next(Who::Platform, "look at the autoscaler and the Cluster API controllers")
    } else if available < min {
        verdict(State::WorkersDegraded, format!("{available} of {observed} VMs up, at least {min} should be"))
            .next(Who::Platform, "look at the VMs that aren't up")
    } else if available < observed {
        verdict(State::WorkersScalingUp, format!("{available} of {observed} VMs up {bounds}")).next(Who::Anyone, "wait")
    } else {
        let text = format!("{available} VMs run {bounds}; whether their Nodes joined can't be seen from here");
        return Some(with(verdict(State::Unknown, text).inferred(), [fact]).next(Who::Platform, CONFIRM));
    };
    Some(v.inferred().evidence(fact).next(Who::Platform, CONFIRM))
}

/// VM pods alone: that they run says nothing of Nodes.
pub fn by_pods(c: &Case<'_>) -> Option<Judgement> {
    if seen(c) {
        return None;
    }
    let pods: Vec<_> = c.pool.units.iter().filter_map(|u| u.pod).filter(|(o, _)| o.meta.deleted.get().is_none()).collect();
    let (o, _) = pods.first()?;
    let ready = pods.iter().filter(|(_, p)| p.ready()).count();
    let fact = build::fact(o, "status.conditions[Ready]", format!("{ready} of {} pods", pods.len()), o.meta.created.get());
    if ready == pods.len() {
        let v = verdict(State::Unknown, format!("{ready} VMs run; whether their Nodes joined can't be seen from here"));
        return Some(v.inferred().evidence(fact).next(Who::Platform, CONFIRM));
    }
    let oldest = pods.iter().filter(|(_, p)| !p.ready()).filter_map(|(o, _)| o.meta.created.get()).min();
    let wait = patience(c.view, oldest, c.view.deadlines.machine_provider_id);
    let state = if wait.over { State::WorkersDegraded } else { State::WorkersScalingUp };
    let v = verdict(state, format!("{ready} of {} VMs run{}", pods.len(), wait.suffix())).since(oldest).deadline(wait.until).inferred();
    Some(v.evidence(fact).next(Who::Anyone, "look at the pods that aren't ready").next(Who::Platform, CONFIRM))
}

/// A declared pool whose MachineDeployment is absent for a fact: row 25 where the releases say that all is done, else only not made yet.
pub fn not_made(c: &Case<'_>) -> Option<Judgement> {
    let name = c.pool.name.as_ref().filter(|_| c.pool.declared.is_some() && !seen(c))?;
    if !c.view.complete(Kind::MachineDeployment) {
        return None;
    }
    let absence = build::absence("MachineDeployment", c.view.namespace, &format!("{CLUSTER}-{name}"));
    let own = format!("{}{name}", super::super::POOL_RELEASE);
    let releases = [super::super::MODULE, CLUSTER, &own];
    let settled = |o: &crate::model::Object| {
        let applied = Release::of(o).and_then(|r| r.deployed()).and_then(|r| r.last_deployed.get());
        release::healthy(o) && applied.is_none_or(|t| c.view.age(t) > c.view.deadlines.routine_check)
    };
    let done = releases.iter().filter_map(|n| c.view.get(Kind::HelmRelease, n)).all(|o| settled(o));
    // A release that lists MachineDeployments did render them: then this one's absence has another cause.
    let listed = |o: &crate::model::Object| Release::of(o).is_some_and(|r| r.owns_kind("MachineDeployment"));
    let release = c.view.get(Kind::HelmRelease, CLUSTER);
    let rendered = releases.iter().filter_map(|n| c.view.get(Kind::HelmRelease, n)).any(|o| listed(o));
    if !done || rendered || release.is_none() || c.cluster.is_none() {
        return Some(verdict(State::Unknown, "it has no MachineDeployment yet").evidence(absence));
    }
    let v =
        verdict(State::PoolsNotRendered, "it is declared and the releases read Ready, but it has no MachineDeployment").evidence(absence);
    Some(v.next(
        Who::Platform,
        "the charts of cluster and pools don't fit each other: upgrade or roll back the platform; don't recreate the pool",
    ))
}
