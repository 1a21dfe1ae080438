//! Second-best evidence for the control plane: its provider, the Cluster, the monitor, pods and events. Everything here is marked inferred and says
//! what would confirm it. Owns the wording of pod trouble too; must not overrule a TenantControlPlane that is seen.

use std::sync::Arc;

use super::{CLUSTER, Case, Judgement, State, boot, verdict, with};
use crate::{
    health::{
        build::{self, Build, span},
        events,
        layers::patience::patience,
        messages,
        view::View,
    },
    model::{
        Kind, Object,
        projection::core::{Event, Pod},
        text,
        verdict::{Evidence, Who},
    },
};

const CONFIRM: &str = "to confirm: TenantControlPlane computeplane-cluster";
/// Events older than this say nothing about now.
const RECENT: jiff::SignedDuration = jiff::SignedDuration::from_hours(1);

/// Pods of the control plane, by Kamaji's label.
pub fn pods<'a>(view: &View<'a>) -> Vec<(&'a Arc<Object>, &'a Pod)> {
    let ours = |o: &Object| o.meta.labels.get("kamaji.clastix.io/name").is_some_and(|v| &**v == CLUSTER);
    view.list(Kind::Pod).filter(|o| ours(o) && o.meta.deleted.get().is_none()).filter_map(|o| Some((o, Pod::of(o)?))).collect()
}

/// Why a pod isn't ready, in a few words; `None` for one that is, or that tells nothing.
fn pod_reason(p: &Pod) -> Option<String> {
    if p.ready() {
        return None;
    }
    if let Some(c) = p.condition("PodScheduled").filter(|c| &*c.status == "False") {
        return Some(format!("{}: {}", c.reason, messages::decisive(&c.message)));
    }
    let stuck = p.containers.iter().find(|c| !c.ready && !c.reason.is_empty() && &*c.reason != "Completed");
    if let Some(c) = stuck {
        let often = if c.restarts > 0 { format!(", {} restarts", c.restarts) } else { String::new() };
        let message = if c.message.is_empty() { String::new() } else { format!(": {}", messages::decisive(&c.message)) };
        return Some(format!("container {} {}{often}{message}", c.name, c.reason));
    }
    (!p.reason.is_empty()).then(|| p.reason.to_string())
}

/// The first reason that a pod gives, else a recent quota event.
pub fn reason(view: &View<'_>) -> Option<String> {
    let first = pods(view).into_iter().find_map(|(o, p)| Some(format!("pod {}: {}", o.meta.name, pod_reason(p)?)));
    first.or_else(|| quota_event(view).map(|e| format!("{} ({})", messages::decisive(&e.message), ago(view, e))))
}

/// Pods that aren't ready and the newest quota event, as evidence.
pub fn trouble(view: &View<'_>) -> Vec<Evidence> {
    let fact = |(o, p): (&Arc<Object>, &Pod)| Some(build::fact(o, "status", pod_reason(p)?, o.meta.created.get()));
    let mut out: Vec<Evidence> = pods(view).into_iter().filter_map(fact).take(3).collect();
    out.extend(quota_event(view).map(|e| events::evidence(view, e)));
    out
}

fn ago(view: &View<'_>, e: &Event) -> String {
    e.last.map_or("seen some time ago".to_string(), |t| format!("seen {} ago", span(view.age(t))))
}

/// The newest recent event about the control plane's ReplicaSets or pods whose text is `exceeded quota`.
fn quota_event<'a>(view: &View<'a>) -> Option<&'a Event> {
    let about = |e: &Event| {
        matches!(&*e.involved_kind, "ReplicaSet" | "Deployment" | "Pod" | "StatefulSet")
            && e.involved_name.starts_with(CLUSTER)
            && messages::classify(&e.message).is_some_and(|r| r.class == "QuotaBlocked")
    };
    let recent = |e: &Event| e.last.is_some_and(|t| view.age(t) <= RECENT);
    view.list(Kind::Event).filter_map(|o| Event::of(o)).filter(|e| about(e) && recent(e)).max_by_key(|e| e.last)
}

/// The provider speaks where the TenantControlPlane can't be read. Its reasons are no severity; the status it quotes is Kamaji's.
pub fn by_provider(c: &Case<'_>) -> Option<Judgement> {
    let (o, p) = c.provider?;
    let is_ready = p.condition("KamajiControlPlaneIsReady");
    let evidence = |v: Judgement| {
        let v = with(v, p.first_open().or(is_ready).map(|s| build::condition(o, s)));
        v.evidence(build::fact(o, "status.ready", p.ready.to_string(), is_ready.and_then(|s| s.since.get())))
    };
    if p.ready {
        // A provider can go on saying so after its control plane is gone (cp-provider-kamaji#71): no ground to call it Ready.
        let cause = format!("its provider says ready ({}, {}); the TenantControlPlane itself isn't seen", p.version, c.counts());
        let v = verdict(State::Unknown, cause).since(is_ready.and_then(|s| s.since.get()));
        return Some(evidence(v).inferred().next(Who::Platform, CONFIRM));
    }
    if !p.initialized {
        let wait = patience(
            c.view,
            boot::boot_began(o.meta.created.get(), Some(p)).or(p.first_open().and_then(|s| s.since.get())),
            c.view.deadlines.control_plane_boot,
        );
        let text = p.first_open().filter(|s| !s.message.is_empty()).map(|s| format!("; {}", messages::decisive(&s.message)));
        let since = o.meta.created.get().or(p.first_open().and_then(|s| s.since.get()));
        return Some(evidence(boot::first_boot_verdict(&c.counts(), &wait, &text.unwrap_or_default())).since(since));
    }
    let message = is_ready.map_or("", |s| &*s.message);
    let said = message.split(" in ").nth(1).and_then(|m| m.split(" status").next()).unwrap_or("");
    let state = match said {
        "Unknown" => State::ControlPlaneDegraded,
        "Sleeping" => State::ControlPlaneSleeping,
        "WriteLimited" => State::ControlPlaneWriteLimited,
        "Migrating" | "CertificateAuthorityRotating" | "Upgrading" => State::ControlPlaneUpgrading,
        _ => State::ControlPlaneNotReady,
    };
    let failure = if p.failure.is_empty() { messages::decisive(message) } else { messages::decisive(&p.failure) };
    let v = verdict(state, format!("{}: {failure}", c.counts())).since(is_ready.and_then(|s| s.since.get()));
    Some(evidence(v).inferred().next(Who::Platform, CONFIRM))
}

/// The Cluster speaks where neither Kamaji object can be read. Its flags are latched: only its conditions tell of now.
pub fn by_cluster(c: &Case<'_>) -> Option<Judgement> {
    let (o, b) = c.cluster?;
    let now = b.conditions.recent("ControlPlaneAvailable").or(b.conditions.old("ControlPlaneReady"))?;
    let initialized = b.conditions.either("ControlPlaneInitialized", "ControlPlaneInitialized").is_some_and(|x| &*x.status == "True");
    let v = if &*now.status == "True" {
        verdict(State::Unknown, "the Cluster says that its control plane is ready; the TenantControlPlane itself isn't seen")
    } else if initialized || b.control_plane_ready {
        verdict(
            State::ControlPlaneNotReady,
            format!("the Cluster says that its control plane isn't ready: {}", word(&now.message, &now.reason)),
        )
        .next(Who::Platform, "look at the TenantControlPlane and its pods")
    } else {
        let wait = patience(c.view, o.meta.created.get().or(now.since.get()), c.view.deadlines.control_plane_boot);
        boot::first_boot_verdict("not initialised", &wait, "")
    };
    Some(v.since(now.since.get()).inferred().evidence(build::condition(o, now)).next(Who::Platform, CONFIRM))
}

fn word<'a>(message: &'a str, reason: &'a str) -> &'a str {
    if message.is_empty() { reason } else { message }
}

/// The monitor: at least 1 of 2 counts as operational, so its numbers tell more than its verdict (trap in `status.md` 1.3).
pub fn by_monitor(c: &Case<'_>) -> Option<Judgement> {
    let (o, m) = c.monitor()?;
    let available = m.available?;
    let wanted = m.replicas.or(m.min).unwrap_or(1).max(1);
    let counts = format!("{available}/{wanted} available");
    let reason = reason(c.view).map(|r| format!("; {r}")).unwrap_or_default();
    let fact = build::fact(o, "status.availableReplicas", format!("{available} of {wanted}"), None);
    let v = if available <= 0 {
        let wait = patience(c.view, o.meta.created.get(), c.view.deadlines.control_plane_boot);
        if o.meta.created.get().is_some() && !wait.over {
            boot::first_boot_verdict(&counts, &wait, &reason)
        } else {
            let v = verdict(State::ControlPlaneNotReady, format!("no replica of the control plane is available{reason}"));
            v.next(Who::Tenant, "look at the reasons of the control plane's pods and at the quota")
        }
    } else if available < wanted {
        let v = verdict(State::ControlPlaneDegraded, format!("{counts}: part of the control plane is down{reason}"));
        v.next(Who::Tenant, "look at the replica that isn't ready")
    } else {
        verdict(State::Ready, counts)
    };
    Some(with(v.inferred().evidence(fact), trouble(c.view)).next(Who::Platform, CONFIRM))
}

/// Pods alone: how many there should be isn't known.
pub fn by_pods(c: &Case<'_>) -> Option<Judgement> {
    let pods = pods(c.view);
    let oldest = pods.iter().filter_map(|p| p.0.meta.created.get()).min();
    let first = pods.first()?.0;
    let ready = pods.iter().filter(|p| p.1.ready()).count();
    let counts = format!("{ready}/{} pods ready", pods.len());
    let reason = reason(c.view).map(|r| format!("; {r}")).unwrap_or_default();
    let v = if ready == pods.len() {
        verdict(State::Ready, counts)
    } else if ready > 0 {
        verdict(State::ControlPlaneDegraded, format!("{counts}{reason}")).next(Who::Tenant, "look at the pod that isn't ready")
    } else {
        let wait = patience(c.view, oldest, c.view.deadlines.control_plane_boot);
        if oldest.is_some() && !wait.over {
            boot::first_boot_verdict(&counts, &wait, &reason)
        } else {
            let v = verdict(State::ControlPlaneNotReady, format!("{counts}{reason}"));
            v.next(Who::Tenant, "look at the reasons of the control plane's pods and at the quota")
        }
    };
    let v = with(v.inferred(), trouble(c.view));
    let v = if v.evidence.is_empty() { v.evidence(build::fact(first, "status.conditions[Ready]", "True", oldest)) } else { v };
    Some(v.next(Who::Platform, CONFIRM))
}

/// Only an event speaks (row 28b as a tenant sees it). It proves that it happened, not that it still holds.
pub fn by_events(c: &Case<'_>) -> Option<Judgement> {
    let e = quota_event(c.view)?;
    let cause = format!("the control plane's pods were refused: {} ({})", messages::decisive(&e.message), ago(c.view, e));
    let v = verdict(State::QuotaBlocked, text::line(&cause)).since(e.first).class(Some("QuotaBlocked")).inferred();
    let v = v.evidence(events::evidence(c.view, e));
    let v = v.next(Who::ParentTenant, "raise the quota that the text names, or free some of it");
    Some(v.next(
        Who::Platform,
        "an event proves that it happened, not that it still holds: the ResourceQuota and the TenantControlPlane tell",
    ))
}
