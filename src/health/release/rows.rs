//! The arms of the release table. Each answers for one row of `status.md` 2.2 and says nothing when its signals aren't all there.

use super::{Case, Freshness, Judgement, chain, fresh};
use crate::{
    health::{
        build::{self, Build, span},
        messages::{self, CHILD_NOT_READY},
    },
    model::{
        Kind,
        projection::release::Release,
        verdict::{State, Who},
    },
};

/// Freshness rule 2.
pub fn never_reconciled(c: &Case<'_>) -> Option<Judgement> {
    if fresh(c) != Freshness::Never || c.ready.is_some() {
        return None;
    }
    let limit = c.release.interval * 2;
    let age = c.age(c.object.meta.created.get());
    let evidence = if c.aggregated {
        build::fact(c.object, "status.conditions", "none", None)
    } else {
        build::fact(c.object, "status.observedGeneration", c.release.observed_generation.map_or("none".into(), |g| g.to_string()), None)
    };
    let v = if age > limit {
        build::verdict(
            c.layer,
            State::StuckReconciling,
            format!("{} was never reconciled in {}: its controller or shard is down", c.name(), span(age)),
        )
        .next(Who::Platform, "check the helm-controller of the release's shard (label sharding.fluxcd.io/key)")
    } else {
        build::verdict(c.layer, State::Progressing, format!("{} not reconciled yet ({} of {})", c.name(), span(age), span(limit)))
            .deadline(c.object.meta.created.get().and_then(|t| t.checked_add(limit).ok()))
            .next(Who::Anyone, "wait")
    };
    Some(v.since(c.object.meta.created.get()).evidence(evidence))
}

/// Row 8, freshness rules 3 and 5.
pub fn stale(c: &Case<'_>) -> Option<Judgement> {
    let Freshness::Stale(spec, judged) = fresh(c) else { return None };
    let attempt = if c.release.attempted_generation.get() == Some(spec) { "; an attempt has started" } else { "" };
    let v =
        build::verdict(c.layer, State::StaleStatus, format!("{}: spec generation {spec}, judged generation {judged}{attempt}", c.name()))
            .evidence(build::fact(c.object, "metadata.generation", spec.to_string(), None))
            .next(Who::Anyone, format!("wait one interval ({})", span(c.release.interval)))
            .next(Who::Platform, "then check the controller or its shard's backlog, or request a reconcile");
    Some(c.with_ready(v))
}

/// Row 6, as the release's text says it.
pub fn package_missing(c: &Case<'_>) -> Option<Judgement> {
    by_class(c, State::PackageMissing)
}

/// Row 7.
pub fn source_not_ready(c: &Case<'_>) -> Option<Judgement> {
    let failure = c.failure?;
    let named = matches!(&*failure.reason, "SourceNotReady" | "ArtifactFailed");
    if !named && c.row.and_then(|r| r.state) != Some(State::SourceNotReady) {
        return None;
    }
    let limit = c.release.interval * 2;
    let since = c.ready.and_then(|r| r.since.get());
    let absent = failure.message.contains("could not get Source object");
    let age = c.age(since.or(c.object.meta.created.get()));
    if !absent && since.is_some() && age <= limit {
        let v = build::verdict(
            c.layer,
            State::Progressing,
            format!("waits for its chart ({} of {}): {}", span(age), span(limit), c.sentence()),
        )
        .since(since)
        .class(Some("SourceNotReady"))
        .deadline(since.and_then(|t| t.checked_add(limit).ok()));
        return Some(c.with_ready(v));
    }
    let mut v = build::verdict(c.layer, State::SourceNotReady, c.sentence()).since(since).class(Some("SourceNotReady"));
    if let Some((kind, ns, name)) = &c.release.source {
        v = v.evidence(build::fact(c.object, "spec.chartRef", format!("{kind}/{ns}/{name}"), None));
    }
    Some(c.with_ready(v).next(Who::Platform, source_hint(c)))
}

fn source_hint(c: &Case<'_>) -> &'static str {
    if crate::health::layers::is_addon(c.object) {
        "check the ExternalArtifact and its PackageSource; addon charts come from package cozystack.kubernetes-application"
    } else {
        "check the ExternalArtifact, its PackageSource and the package that ships the chart"
    }
}

/// Row 9.
pub fn render_rejected(c: &Case<'_>) -> Option<Judgement> {
    by_class(c, State::RenderRejected)
}

/// Row 10, as the release's text says it.
pub fn name_conflict(c: &Case<'_>) -> Option<Judgement> {
    by_class(c, State::NameConflict)
}

/// Row 28b, where the quota refused the release itself.
pub fn quota_blocked(c: &Case<'_>) -> Option<Judgement> {
    by_class(c, State::QuotaBlocked)
}

/// Row 17b.
pub fn hook_failed(c: &Case<'_>) -> Option<Judgement> {
    by_class(c, State::RemoteHookFailed).map(|mut v| {
        let place = if c.release.kubeconfig.is_some() { "in the workload cluster" } else { "in the management cluster" };
        let job = messages::waits(c.text()).into_iter().find(|w| w.kind == "Job");
        let hook = job.map_or("the hook Job".to_string(), |j| format!("Job {}/{}", j.namespace, j.name));
        v.next = vec![];
        v.next(Who::Platform, format!("read the log of {hook} {place}"))
    })
}

fn by_class(c: &Case<'_>, state: State) -> Option<Judgement> {
    (c.row.and_then(|r| r.state) == Some(state)).then(|| failed(c, state))
}

/// Row 12.
pub fn dependency_wait(c: &Case<'_>) -> Option<Judgement> {
    let failure = c.failure?;
    let by_text = c.row.and_then(|r| r.state) == Some(State::DependencyWait);
    if &*failure.reason != "DependencyNotReady" && !by_text {
        return None;
    }
    let since = c.ready.and_then(|r| r.since.get());
    let grace = c.view.deadlines.routine_check;
    if c.release.deployed().is_some() && c.age(since) < grace && since.is_some() {
        return Some(routine(c));
    }
    let missing = failure.message.contains("not found");
    let (cause, class) = match chain::root(c.view, c.object) {
        chain::Root::Broken(root) => {
            let why = Release::of(root).and_then(|r| r.condition("Ready")).filter(|r| &*r.status != "True");
            let why = why.map_or(String::new(), |r| format!(": {}", messages::wording(&r.message)));
            (format!("waits for {}{why}", root.meta.name), "DependencyWait")
        }
        chain::Root::Missing(ns, name) => (format!("dependency {ns}/{name} doesn't exist"), "DependencyMissing"),
        chain::Root::Lagging(root) => (
            format!("waits for {}, which reads Ready but lags in status.observedGeneration (helm-controller#946)", root.meta.name),
            "DependencyWait",
        ),
        _ if missing => (c.sentence(), "DependencyMissing"),
        _ => (c.sentence(), "DependencyWait"),
    };
    let v = build::verdict(c.layer, State::DependencyWait, cause).since(since).class(Some(class));
    let v = match class {
        "DependencyMissing" => {
            v.next(Who::Platform, "the dependency doesn't exist and won't come by itself: enable the package or addon that creates it")
        }
        _ => v.next(Who::Anyone, "look at the release that everything waits for"),
    };
    Some(c.with_ready(v))
}

/// Row 13.
pub fn locked_pending(c: &Case<'_>) -> Option<Judgement> {
    let pending = c.history_head().is_some_and(|s| s.starts_with("pending"));
    let text = c.row.and_then(|r| r.state) == Some(State::LockedPending);
    let not_ready = c.ready.is_none_or(|r| &*r.status != "True");
    let since = c.release.history.first().and_then(|h| h.last_deployed.get()).or(c.ready.and_then(|r| r.since.get()));
    if !(text || pending && not_ready && c.age(since) > c.release.timeout) {
        return None;
    }
    let head = c.release.history.first().map_or("unknown".to_string(), |h| format!("v{} {}", h.version, h.status));
    let v = build::verdict(c.layer, State::LockedPending, format!("{} is locked: history says {head}, no action runs", c.name()))
        .since(since)
        .class(Some("LockedPending"))
        .next(Who::Platform, "controllers of the 1.x series unlock by themselves (Released False PendingRelease); otherwise force or reset the release, or restart the controller");
    Some(c.with_ready(v))
}

/// Row 14.
pub fn stalled(c: &Case<'_>) -> Option<Judgement> {
    let stalled = c.release.condition("Stalled").filter(|s| &*s.status == "True")?;
    let why = if c.text().is_empty() { String::new() } else { format!(": {}", reason_of(c)) };
    let mut v = build::verdict(c.layer, State::Stalled, format!("{}{why}", or_reason(&stalled.message, &stalled.reason)))
        .since(stalled.since.get().or(c.failing_since()))
        .class(c.class())
        .evidence(build::condition(c.object, stalled));
    v = c.with_ready(v);
    if let Some(row) = c.row {
        v = v.next(c.who(row.who), row.hint);
    }
    Some(
        v.next(Who::Platform, "after the cause is mended, reset the release (annotation reconcile.fluxcd.io/resetAt equal to requestedAt)"),
    )
}

/// Row 15: a module that deletes and recreates what never becomes ready.
pub fn install_loop(c: &Case<'_>) -> Option<Judgement> {
    c.failure?;
    let remediated = c.release.condition("Remediated").is_some_and(|r| &*r.status == "True" && &*r.reason == "UninstallSucceeded");
    let endless = c.release.install_retries.is_none_or(|r| r < 0) && !c.release.retry_on_failure;
    let waits = matches!(c.class(), Some(CHILD_NOT_READY | "WaitTimeout" | "EndpointUnreachable"));
    if !(waits && endless && (remediated || c.release.install_failures >= 2)) || c.release.deployed().is_some() {
        return None;
    }
    let children = messages::waits(c.text());
    let born = |w: &messages::Waited| {
        let child = c.view.world.get(Kind::HelmRelease, &w.namespace, &w.name).filter(|_| w.kind == "HelmRelease")?;
        child.meta.created.get().zip(c.object.meta.created.get()).map(|(a, b)| a.duration_since(b) > c.release.timeout)
    };
    let young = children.iter().find_map(born);
    if young == Some(false) || young.is_none() && c.release.install_failures < 2 {
        return None;
    }
    let v = build::verdict(
        c.layer,
        State::InstallLoop,
        format!("installed and removed {} times: {}", c.release.install_failures.max(c.release.failures), reason_of(c)),
    )
    .since(c.failing_since())
    .class(c.class());
    let v = c.with_ready(v);
    let what = children.first().map_or("what the message names".to_string(), |w| format!("{} {}/{}", w.kind, w.namespace, w.name));
    Some(v.next(Who::Anyone, format!("look at {what}: the loop ends when it becomes ready in time")))
}

/// Row 16.
pub fn retrying(c: &Case<'_>) -> Option<Judgement> {
    c.failure?;
    Some(failed(c, State::Retrying))
}

/// Row 17.
pub fn stuck_reconciling(c: &Case<'_>) -> Option<Judgement> {
    let ready = c.ready.filter(|r| &*r.status == "Unknown" || &*r.reason == "HealthCheckCanceled")?;
    let limit = c.release.timeout + c.release.interval;
    let age = c.age(ready.since.get().or(c.object.meta.created.get()));
    if age <= limit {
        return None;
    }
    let head = c.release.history.first().map_or(String::new(), |h| format!(", though history says v{} {}", h.version, h.status));
    let v = build::verdict(
        c.layer,
        State::StuckReconciling,
        format!("{}: in progress for {} (normal up to {}){head}", c.name(), span(age), span(limit)),
    )
    .since(ready.since.get())
    .next(Who::Platform, "request a reconcile; if nothing moves, restart the helm-controller of its shard (helm-controller#1409)");
    Some(c.with_ready(v))
}

/// Row 39.
pub fn progressing(c: &Case<'_>) -> Option<Judgement> {
    let ready = c.ready.filter(|r| &*r.status == "Unknown" || &*r.reason == "HealthCheckCanceled")?;
    let limit = c.release.timeout + c.release.interval;
    let age = c.age(ready.since.get().or(c.object.meta.created.get()));
    if c.release.deployed().is_some() && !ready.message.contains("action") && age < c.view.deadlines.routine_check {
        return Some(routine(c));
    }
    let what = if ready.message.is_empty() { ready.reason.to_string() } else { messages::decisive(&ready.message) };
    let v = build::verdict(c.layer, State::Progressing, format!("{what} ({} of {})", span(age), span(limit)))
        .since(ready.since.get())
        .deadline(ready.since.get().and_then(|t| t.checked_add(limit).ok()))
        .next(Who::Anyone, "wait");
    Some(c.with_ready(v))
}

/// Row 40, and the routine re-check of freshness rule 8.
pub fn ready(c: &Case<'_>) -> Option<Judgement> {
    let ready = c.ready.filter(|r| &*r.status == "True")?;
    let cause = match (c.release.history.first(), c.aggregated) {
        (Some(h), _) => format!("revision {} {}", h.version, ready.reason),
        (None, true) => format!("{} (as reported by Flux)", ready.reason),
        (None, false) => ready.reason.to_string(),
    };
    Some(c.with_ready(build::verdict(c.layer, State::Ready, cause).since(ready.since.get())))
}

fn routine(c: &Case<'_>) -> Judgement {
    let revision = c.release.deployed().map_or(0, |d| d.version);
    let since = c.ready.and_then(|r| r.since.get());
    let until = since.and_then(|t| t.checked_add(c.view.deadlines.routine_check).ok());
    c.with_ready(build::verdict(c.layer, State::Ready, format!("revision {revision} deployed; routine check running"))).deadline(until)
}

/// A failed action: the decisive sentence, what keeps running, what to change and who can.
fn failed(c: &Case<'_>, state: State) -> Judgement {
    let mut cause = reason_of(c);
    if let Some(d) = c.release.deployed() {
        cause = format!("{cause}; {}", keeps(c, d.version));
    } else if state == State::Retrying && c.release.failures > 1 {
        cause = format!("{cause} (failed {} times)", c.release.failures);
    }
    let pointer = messages::pointer(&c.sentence());
    let mut v = build::verdict(c.layer, state, cause).since(c.failing_since()).class(c.class()).pool(pointer.pool.clone());
    v = c.with_ready(v);
    if c.release.failures > 0 {
        v = v.evidence(build::fact(c.object, "status.failures", c.release.failures.to_string(), None));
    }
    let head = c.release.history.first().map(|h| h.version);
    if let Some(d) = c.release.deployed().filter(|d| head != Some(d.version)) {
        v = v.evidence(build::fact(c.object, "status.history", format!("v{} deployed", d.version), d.last_deployed.get()));
    }
    next_steps(c, v, pointer.field)
}

fn keeps(c: &Case<'_>, revision: i64) -> String {
    let ready = c.ready.map_or("", |r| &*r.reason);
    let what = if crate::health::layers::is_chain(&c.object.meta.name) { "the running cluster keeps" } else { "it keeps" };
    match ready {
        "RollbackSucceeded" => match rolled_back_to(c) {
            Some(old) => format!("rolled back, {what} revision {old} (as revision {revision})"),
            None => format!("rolled back, {what} revision {revision}"),
        },
        "RollbackFailed" => format!("the rollback failed too; revision {revision} was the last good one"),
        _ => format!("{what} revision {revision}"),
    }
}

/// A rollback stores the old revision anew; its message names the one that was restored.
fn rolled_back_to(c: &Case<'_>) -> Option<i64> {
    let (_, rest) = c.ready?.message.split_once("to previous release ")?;
    rest.split(' ').next()?.rsplit(".v").next()?.parse().ok()
}

fn next_steps(c: &Case<'_>, v: Judgement, field: Option<String>) -> Judgement {
    let Some(row) = c.row else {
        return v.next(Who::Platform, "the text has no known class: read it in the evidence; the controller goes on trying");
    };
    match (&field, row.class) {
        (Some(f), "RenderRejected" | "InvalidName" | "NotPermitted" | "InvalidObject") => {
            let step = hint_for(c.text(), f);
            v.fix(c.who(Who::Tenant), step, field)
        }
        (None, "RenderRejected") if c.text().contains("Talos") || c.text().contains("parent cluster") => {
            v.next(Who::Platform, "choose a pair of Kubernetes and Talos versions that fit each other")
        }
        (None, "RenderRejected") if c.text().contains("MUST BE") => {
            v.next(c.who(Who::Tenant), "the application must be called computeplane")
        }
        (_, CHILD_NOT_READY) => messages::waits(c.text())
            .into_iter()
            .take(3)
            .fold(v, |v, w| v.next(Who::Anyone, format!("look at {} {}/{} ({})", w.kind, w.namespace, w.name, w.status))),
        _ => v.next(c.who(row.who), row.hint),
    }
}

fn hint_for(text: &str, field: &str) -> String {
    if text.contains("instanceType") && text.contains("not found") {
        format!("set {field} to an offered type (options instancetype)")
    } else if text.contains("must carry roles") {
        "give one pool the role ingress-nginx and maxReplicas of at least 1".to_string()
    } else if text.contains("missing propert") {
        format!("set {field}")
    } else {
        format!("correct {field} as the message says")
    }
}

/// The failure in words; the reason alone where there is no text.
fn reason_of(c: &Case<'_>) -> String {
    or_reason(&messages::wording(c.text()), c.failure.map_or("", |f| &f.reason))
}

fn or_reason(text: &str, reason: &str) -> String {
    if text.is_empty() { reason.to_string() } else { text.to_string() }
}
