//! Control planes that were Ready once: rows 20–23 and 40. The TenantControlPlane's own word, corrected by its Deployment and monitor. Must not judge first boots.

use super::{CLUSTER, Case, Judgement, State, inferred, verdict, with};
use crate::{
    health::{
        build::{self, Build, span},
        layers::patience::patience,
    },
    model::{
        Kind, Object, Time,
        projection::{
            core::Deployment,
            find,
            kamaji::{DataStore, TenantControlPlane},
        },
        verdict::{Evidence, Who},
    },
};

/// The status of a TenantControlPlane, as a fact.
fn fact(o: &Object, t: &TenantControlPlane, since: Option<Time>) -> Evidence {
    build::fact(o, "status.kubernetesResources.version.status", &*t.status, since)
}

/// Since when the control plane is as it is: the provider's flip, else the Deployment's.
fn flipped(c: &Case<'_>, ready: bool) -> Option<Time> {
    let wanted = if ready { "True" } else { "False" };
    let provider = c.provider.and_then(|(_, p)| p.condition("KamajiControlPlaneIsReady"));
    let rollout = c.tenant.and_then(|(_, t)| find(&t.deployment.as_ref()?.conditions, "Available"));
    [provider, rollout].into_iter().flatten().find(|x| &*x.status == wanted).and_then(|x| x.since.get())
}

/// The Deployment behind the control plane, where it contradicts a status that reads healthy.
fn deployment_down(c: &Case<'_>) -> Option<(String, Evidence)> {
    match c.view.get(Kind::Deployment, CLUSTER).and_then(|o| Some((o, Deployment::of(o)?))) {
        Some((o, d)) if d.replicas == Some(0) => {
            let text = "its Deployment is scaled to zero outside Kamaji".to_string();
            Some((text, build::fact(o, "spec.replicas", "0", None)))
        }
        Some((o, d)) if d.ready == 0 => {
            Some(("its Deployment has no ready replica".to_string(), build::fact(o, "status.readyReplicas", "0", None)))
        }
        Some(_) => None,
        None => {
            // Absence counts only where the siblings that the same release makes are seen.
            let siblings = c.view.list(Kind::Deployment).any(|o| o.meta.name.starts_with("computeplane-cluster-"));
            let gone = siblings && c.view.complete(Kind::Deployment);
            gone.then(|| ("its Deployment is gone".to_string(), build::absence("Deployment", c.view.namespace, CLUSTER)))
        }
    }
}

/// Row 20: it was there and is down. Sleeping is another row, and so is a limit on writes.
pub fn not_ready(c: &Case<'_>) -> Option<Judgement> {
    let (o, t) = c.tenant?;
    let since = flipped(c, false);
    let deployment = deployment_down(c);
    let monitor = c.monitor().filter(|(_, m)| m.available == Some(0) && m.replicas != Some(0));
    let (what, evidence) = match &*t.status {
        "NotReady" => match deployment {
            Some((text, e)) => (text, vec![fact(o, t, since), e]),
            None => ("no replica is ready".to_string(), vec![fact(o, t, since)]),
        },
        "Ready" | "Upgrading" | "Unknown" => {
            let (text, e) = deployment.or_else(|| {
                let (o, _) = monitor?;
                Some(("no replica is available".to_string(), build::fact(o, "status.availableReplicas", "0", None)))
            })?;
            (format!("{text}, though the TenantControlPlane reads {}", t.status), vec![e, fact(o, t, None)])
        }
        _ => return None,
    };
    let reason = inferred::reason(c.view).map(|r| format!("; {r}")).unwrap_or_default();
    let version = if t.version.is_empty() { String::new() } else { format!(" (was {})", t.version) };
    let v =
        verdict(State::ControlPlaneNotReady, format!("the control plane is down{version}: {what}, {}{reason}", c.counts())).since(since);
    let v = with(with(with(v, evidence), c.open_step()), inferred::trouble(c.view));
    let v =
        v.next(Who::Platform, "look at the reasons of the control plane's pods, at the quota, and at the datastore and its certificates");
    Some(v.next(Who::Anyone, "nothing in the cluster can be changed until it is back; workloads on its nodes go on"))
}

/// Row 21: part of it is down; `Unknown` is Kamaji's word for that, not for "no data".
pub fn degraded(c: &Case<'_>) -> Option<Judgement> {
    let (o, t) = c.tenant?;
    if &*t.status == "Unknown" {
        let reason = inferred::reason(c.view).map(|r| format!("; {r}")).unwrap_or_default();
        let since = flipped(c, false);
        let v =
            verdict(State::ControlPlaneDegraded, format!("{}: part of the control plane is down or being replaced{reason}", c.counts()));
        let v = with(v.since(since).evidence(fact(o, t, since)), inferred::trouble(c.view));
        return Some(v.next(Who::Platform, "look at the replica that isn't ready"));
    }
    let (m, monitor) = c.monitor()?;
    let (available, wanted) = (monitor.available?, monitor.replicas?);
    if &*t.status != "Ready" || available <= 0 || available >= wanted {
        return None;
    }
    let v = verdict(State::ControlPlaneDegraded, format!("{available}/{wanted} available, as its monitor counts"));
    let v = v.evidence(build::fact(m, "status.availableReplicas", format!("{available} of {wanted}"), None)).evidence(fact(o, t, None));
    Some(with(v, inferred::trouble(c.view)).next(Who::Platform, "look at the replica that isn't ready"))
}

/// Row 22: it changes version, datastore or certificates.
pub fn upgrading(c: &Case<'_>) -> Option<Judgement> {
    let (o, t) = c.tenant?;
    let what = match &*t.status {
        "Upgrading" => format!("{} → {}", t.version, t.wanted),
        "Migrating" => "its datastore is being migrated".to_string(),
        "CertificateAuthorityRotating" => "its certificate authority is being rotated".to_string(),
        _ => return None,
    };
    let progressing = t.deployment.as_ref().and_then(|d| find(&d.conditions, "Progressing")).and_then(|p| p.since.get());
    let since = flipped(c, false).or(progressing);
    let wait = patience(c.view, since, c.view.deadlines.scale_up);
    let late = if wait.over { ", longer than usual" } else { "" };
    let v = verdict(State::ControlPlaneUpgrading, format!("{what}: {}{}{late}", c.counts(), wait.suffix()));
    let v = v.since(since).deadline(wait.until).evidence(fact(o, t, since));
    let v = with(v, (!t.wanted.is_empty()).then(|| build::fact(o, "spec.kubernetes.version", &*t.wanted, None)));
    let v = with(v, inferred::trouble(c.view)).next(Who::Anyone, "wait; new machines are held meanwhile");
    Some(if wait.over { v.next(Who::Platform, "look at Kamaji's Job or rollout: it should have ended by now") } else { v })
}

/// Row 23: scaled to zero on purpose.
pub fn asleep(c: &Case<'_>) -> Option<Judgement> {
    let (o, t) = c.tenant.filter(|(_, t)| &*t.status == "Sleeping")?;
    let v = verdict(State::ControlPlaneSleeping, "the control plane is scaled to zero: nothing can join, and addons can't proceed");
    let v = v.evidence(fact(o, t, None)).evidence(build::fact(o, "spec.controlPlane.deployment.replicas", "0", None));
    Some(v.next(Who::Platform, "if that isn't meant, set the replicas back"))
}

/// Row 23: its API is read-only.
pub fn write_limited(c: &Case<'_>) -> Option<Judgement> {
    let (o, t) = c.tenant.filter(|(_, t)| &*t.status == "WriteLimited")?;
    let limits = if t.write_limits.is_empty() { "spec.writePermissions".to_string() } else { t.write_limits.join(", ") };
    let v =
        verdict(State::ControlPlaneWriteLimited, format!("the cluster's API refuses writes ({limits}); joins and addons can't proceed"));
    let v = v.evidence(fact(o, t, None)).evidence(build::fact(o, "spec.writePermissions", limits, None));
    Some(v.next(Who::Platform, "lift the write limitation if it isn't meant"))
}

/// A DataStore that goes away under a running control plane: degraded before anything breaks (`status.md` 7).
pub fn data_store_leaving(c: &Case<'_>) -> Option<Judgement> {
    let (_, t) = c.tenant.filter(|(_, t)| !t.version.is_empty())?;
    let store = c.view.world.get(Kind::DataStore, "", &t.data_store)?;
    let body = DataStore::of(store)?;
    let (what, path, since) = match (store.meta.deleted.get(), body.ready) {
        (Some(t), _) => ("is being deleted", "metadata.deletionTimestamp", Some(t)),
        (None, Some(false)) => (
            "isn't usable any more",
            "status.ready",
            find(&body.conditions, "kamaji.clastix.io/DataStoreValidation").and_then(|x| x.since.get()),
        ),
        _ => return None,
    };
    let v = verdict(State::ControlPlaneDegraded, format!("{}, but its DataStore {} {what}", c.counts(), store.meta.name));
    let v = v.since(since).evidence(build::fact(store, path, what, since));
    Some(v.next(Who::Platform, "stop that before the control plane loses its data: look at the etcd of the tenant that provides it"))
}

/// Row 40 for this layer.
pub fn ready(c: &Case<'_>) -> Option<Judgement> {
    let (o, t) = c.tenant.filter(|(_, t)| &*t.status == "Ready")?;
    let since = flipped(c, true);
    let version = if t.version.is_empty() { "version unknown" } else { &*t.version };
    let v = verdict(State::Ready, format!("{version}, {}", c.counts())).since(since).evidence(fact(o, t, since));
    Some(with(v, super::reach::failed_probe(c).map(|(o, p)| build::condition(o, p))))
}

/// A status that nobody has told us about is shown as it is, and never taken for Ready.
pub fn odd(c: &Case<'_>) -> Option<Judgement> {
    let (o, t) = c.tenant?;
    let word = if t.status.is_empty() { "nothing" } else { &*t.status };
    let age = o.meta.created.get().map_or(String::new(), |t| format!(", {} old", span(c.view.age(t))));
    let v = verdict(State::Unknown, format!("the TenantControlPlane reports {word} ({}{age})", c.counts()));
    Some(v.evidence(fact(o, t, None)).next(Who::Platform, "look at the TenantControlPlane: this console doesn't know that state"))
}
