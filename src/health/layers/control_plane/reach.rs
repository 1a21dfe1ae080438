//! A control plane that runs and can't be reached, or whose provider doesn't take it: row 24 and the provider's own steps. Must not judge what is down.

use jiff::SignedDuration;

use super::{Case, Judgement, State, boot, verdict, with};
use crate::{
    health::{
        build::{self, Build},
        layers::{addons, patience::patience},
        messages,
    },
    model::{
        Kind, Object, Time,
        projection::{Condition, capi::Machine, core::Service, cozystack::Conditioned, release::Release},
        verdict::{Evidence, Who},
    },
};

/// How long a probe may fail after the control plane got ready: it fails from the first boot on (`status.md` 8.23).
const PROBE_GRACE: SignedDuration = SignedDuration::from_mins(5);

/// The Cluster's connection probe, if it is known to fail.
pub fn failed_probe<'a>(c: &Case<'a>) -> Option<(&'a Object, &'a Condition)> {
    let (o, b) = c.cluster?;
    b.conditions.recent("RemoteConnectionProbe").filter(|p| &*p.status == "False").map(|p| (o, p))
}

/// True when the control plane is ready by the word of the best source seen, and since when.
fn up(c: &Case<'_>) -> Option<Option<Time>> {
    let provider = c.provider.and_then(|(_, p)| p.condition("KamajiControlPlaneIsReady")).filter(|x| &*x.status == "True");
    let cluster = c.cluster.map(|(_, b)| &b.conditions);
    let available = cluster.and_then(|x| x.recent("ControlPlaneAvailable")).or(cluster.and_then(|x| x.old("ControlPlaneReady")));
    let since = provider.or(available.filter(|x| &*x.status == "True")).and_then(|x| x.since.get());
    match (c.tenant, c.provider, c.cluster) {
        (Some((_, t)), ..) => (&*t.status == "Ready").then_some(since),
        (None, Some((_, p)), _) => p.ready.then_some(since),
        (None, None, Some((_, b))) => (b.control_plane_ready && available.is_none_or(|x| &*x.status == "True")).then_some(since),
        _ => None,
    }
}

/// Row 24. What is known of Nodes is then old, not bad.
pub fn unreachable(c: &Case<'_>) -> Option<Judgement> {
    let ready_since = up(c)?;
    let probe = failed_probe(c);
    if let Some((o, p)) = probe {
        let since = if lost(p) { p.since.get() } else { ready_since.max(p.since.get()) };
        let wait = patience(c.view, since, PROBE_GRACE);
        if lost(p) || wait.over || since.is_none() {
            let v = unreachable_verdict(&messages::decisive(&p.message), p.since.get()).evidence(build::condition(o, p));
            return Some(with(v, machines_down(c).into_iter().take(2)));
        }
        if c.view.list(Kind::Machine).any(|o| super::super::cluster_name(o) == Some(super::CLUSTER)) {
            // Cluster API took it as ready and makes workers: their progress tells more than a probe that is still to come.
            return None;
        }
        let cause = format!("just ready; the first connection to the cluster's API is still to come{}", wait.suffix());
        let v = verdict(State::Progressing, cause).since(since).deadline(wait.until).evidence(build::condition(o, p));
        return Some(v.next(Who::Anyone, "wait"));
    }
    let probe_fine = c.cluster.and_then(|(_, b)| b.conditions.recent("RemoteConnectionProbe")).is_some_and(|p| &*p.status == "True");
    let machines = machines_down(c);
    let addons = if probe_fine { Vec::new() } else { addons_down(c) };
    let first = machines.first().or(addons.first())?;
    let v = unreachable_verdict(&first.value.clone(), first.time);
    Some(with(v, machines.into_iter().chain(addons).take(4)))
}

fn lost(probe: &Condition) -> bool {
    probe.message.contains("last succeeded")
}

fn unreachable_verdict(text: &str, since: Option<Time>) -> Judgement {
    let cause = format!("the control plane runs, but the cluster's API can't be reached: {text}; what is known of nodes is old, not bad");
    let v = verdict(State::EndpointUnreachable, cause).since(since).class(Some("EndpointUnreachable"));
    v.next(Who::Platform, "check the control plane's Service, its ingress or load balancer, and the network in between")
}

/// Machines that had a Node and lost the connection. One without a Node reads the same from its first minute on.
fn machines_down(c: &Case<'_>) -> Vec<Evidence> {
    let ours = c.view.list(Kind::Machine).filter(|o| super::super::cluster_name(o) == Some(super::CLUSTER));
    let down = |o: &Object| {
        let m = Machine::of(o).filter(|m| m.node.is_some())?;
        let x = m.conditions.recent("NodeHealthy").filter(|x| &*x.reason == "ConnectionDown")?;
        Some(build::condition(o, x))
    };
    ours.filter_map(|o| down(o)).collect()
}

/// Addon releases that can't find out their own state over the network.
fn addons_down(c: &Case<'_>) -> Vec<Evidence> {
    let down = |o: &Object| {
        let x = Release::of(o)?.condition("Ready").filter(|x| &*x.status == "False" && &*x.reason == "StateError")?;
        let class = messages::classify(&x.message).map(|r| r.class);
        (class == Some("EndpointUnreachable")).then(|| build::condition(o, x))
    };
    addons::releases(c.view).filter_map(down).collect()
}

/// The TenantControlPlane is Ready and its provider is stuck on an earlier step (cp-provider-kamaji#212): Cluster API holds everything back.
/// `KamajiControlPlaneIsReady` itself follows the TenantControlPlane and isn't asked.
pub fn provider_stuck(c: &Case<'_>) -> Option<Judgement> {
    let (t, _) = c.tenant.filter(|(_, t)| &*t.status == "Ready")?;
    let (o, p) = c.provider?;
    let step = p.first_open().filter(|s| &*s.kind != "KamajiControlPlaneIsReady")?;
    let stale = step.observed_generation.get().zip(o.meta.generation.get()).is_some_and(|(judged, now)| judged < now);
    if stale || step.since.get().is_some_and(|s| c.view.age(s) <= boot::STEP_GRACE) && p.ready {
        return None;
    }
    let text = messages::decisive(&step.message);
    let limit = c.view.deadlines.control_plane_boot;
    let wait = patience(c.view, boot::boot_began(o.meta.created.get(), Some(p)).max(step.since.get()), limit);
    let cause = format!("the TenantControlPlane is Ready, but its provider is at step {}{}: {text}", step.kind, wait.suffix());
    let v = if p.initialized || wait.over {
        let state = if p.initialized { State::ControlPlaneDegraded } else { State::ControlPlaneNotReady };
        verdict(state, cause).next(Who::Platform, "look at the Kamaji control plane provider: its version must fit Cluster API's")
    } else {
        verdict(State::ControlPlaneProvisioning, cause).deadline(wait.until).next(Who::Anyone, "wait")
    };
    let ready = build::fact(t, "status.kubernetesResources.version.status", "Ready", None);
    Some(v.since(step.since.get()).evidence(build::condition(o, step)).evidence(ready))
}

/// A control plane whose load balancer never got an address (capk#172): nothing can reach it, and its boot can't end.
pub fn without_address(c: &Case<'_>) -> Option<Judgement> {
    if c.tenant.is_some_and(|(_, t)| !t.version.is_empty() && &*t.status != "Ready") {
        return None;
    }
    let old = |since: Option<Time>| since.is_none_or(|t| c.view.age(t) > PROBE_GRACE);
    let service = c.view.get(Kind::Service, super::CLUSTER).and_then(|o| Some((o, Service::of(o)?)));
    let pending = service.filter(|(o, s)| &*s.type_ == "LoadBalancer" && s.addresses.is_empty() && old(o.meta.created.get()));
    let infra = c.view.get(Kind::KubevirtCluster, super::CLUSTER).and_then(|o| Some((o, Conditioned::of(o)?)));
    // Most planes carry no conditions there at all, which is normal (trap 17).
    let balancer = infra.and_then(|(o, b)| {
        let x = b.conditions.iter().find(|x| x.kind.contains("LoadBalancer") && &*x.status == "False" && old(x.since.get()))?;
        Some((o, x))
    });
    let (text, since, evidence) = match (balancer, pending) {
        (Some((o, x)), _) => {
            (messages::decisive(if x.message.is_empty() { &x.reason } else { &x.message }), x.since.get(), build::condition(o, x))
        }
        (None, Some((o, _))) => {
            let fact = build::fact(o, "status.loadBalancer", "no address", o.meta.created.get());
            ("its load balancer has no address".to_string(), o.meta.created.get(), fact)
        }
        (None, None) => return None,
    };
    let v = verdict(State::EndpointUnreachable, format!("nothing can reach the control plane: {text}")).since(since);
    let v = v.class(Some("EndpointUnreachable")).evidence(evidence);
    Some(v.next(Who::Platform, "look at the load balancer of Service computeplane-cluster: its address pool and controller"))
}
