//! The arms for releases that go away or were halted: rows 3, 3a, 3b and 4. Must not read failures of actions.

use jiff::SignedDuration;

use super::{Case, Judgement};
use crate::{
    health::{
        build::{self, Build, span},
        messages,
    },
    model::{
        Kind, Object,
        projection::core::Job,
        verdict::{State, Who},
    },
};

/// Automatic repair by the platform sets `spec.suspend` with this field manager (row 4), and never for longer than this.
const PLUNGER: (&str, SignedDuration) = ("flux-client-side-apply", SignedDuration::from_mins(2));

/// Row 3a: the finalizer of a suspended release is dropped without uninstalling.
pub fn deleting_unowned(c: &Case<'_>) -> Option<Judgement> {
    let deleted = c.object.meta.deleted.get().filter(|_| c.release.suspend)?;
    let cause = format!("{} is suspended while being deleted: its finalizer will be dropped without uninstalling", c.name());
    let v = build::verdict(c.layer, State::DeletingUnowned, cause)
        .since(Some(deleted))
        .evidence(build::fact(c.object, "metadata.deletionTimestamp", deleted.to_string(), Some(deleted)))
        .evidence(build::fact(c.object, "spec.suspend", "true", None))
        .next(Who::Platform, "unsuspend the release at once, before its finalizer goes; otherwise cluster, control plane and VMs stay behind, owned by nobody");
    Some(v)
}

/// Row 3b.
pub fn deleting_stuck(c: &Case<'_>) -> Option<Judgement> {
    let deleted = c.object.meta.deleted.get().filter(|_| !c.remediation)?;
    let limit = c.view.deadlines.deletion;
    let uninstall = c.release.conditions.iter().find(|x| &*x.status == "False" && &*x.reason == "UninstallFailed");
    let job = failed_cleanup(c);
    let age = c.view.age(deleted);
    let finalizers = c.object.meta.finalizers.iter().map(|f| f.to_string()).collect::<Vec<_>>().join(", ");
    let cause = match (uninstall, job) {
        (Some(u), _) => format!("uninstall failed: {}", messages::decisive(&u.message)),
        (None, Some(job)) => format!("cleanup Job {} failed", job.meta.name),
        (None, None) if age > limit => {
            format!("{} deleting for {} (normal up to {}); finalizers: {finalizers}", c.name(), span(age), span(limit))
        }
        _ => return None,
    };
    let mut v = build::verdict(c.layer, State::DeletingStuck, cause)
        .since(Some(deleted))
        .evidence(build::fact(c.object, "metadata.deletionTimestamp", deleted.to_string(), Some(deleted)))
        .evidence(build::fact(c.object, "metadata.finalizers", finalizers, None));
    if let Some(u) = uninstall {
        v = v.evidence(build::condition(c.object, u)).class(messages::classify(&u.message).map(|r| r.class));
    }
    if let Some(job) = job {
        v = v.evidence(build::fact(job, "status.conditions[Failed]", "True", None));
    }
    Some(v.next(
        Who::Platform,
        "make the workload API and the datastore reachable first; clearing finalizers is the last resort and loses the cleanup",
    ))
}

/// Row 3.
pub fn deleting(c: &Case<'_>) -> Option<Judgement> {
    let deleted = c.object.meta.deleted.get().filter(|_| !c.remediation)?;
    let limit = c.view.deadlines.deletion;
    let step = remaining(c).map_or(String::new(), |s| format!(", waits for {s}"));
    let v = build::verdict(
        c.layer,
        State::Deleting,
        format!("{} is being deleted ({} of {}){step}", c.name(), span(c.view.age(deleted)), span(limit)),
    )
    .since(Some(deleted))
    .deadline(deleted.checked_add(limit).ok())
    .evidence(build::fact(c.object, "metadata.deletionTimestamp", deleted.to_string(), Some(deleted)))
    .evidence(build::fact(c.object, "metadata.finalizers", c.object.meta.finalizers.join(", "), None))
    .next(Who::Anyone, "wait for the remaining finalizers");
    Some(v)
}

/// A delete hook of this release that gave up.
fn failed_cleanup<'a>(c: &Case<'a>) -> Option<&'a std::sync::Arc<Object>> {
    c.view.list(Kind::Job).find(|j| {
        Job::of(j).is_some_and(|b| b.has_failed() && (b.hook.contains("-delete") || j.meta.name.contains("-cleanup")))
            && j.meta.name.starts_with(&*c.object.meta.name)
    })
}

/// The first of what still stands: delete hook, addons, control plane, disks, Services.
fn remaining(c: &Case<'_>) -> Option<String> {
    if !matches!(&*c.object.meta.name, "computeplane" | "computeplane-cluster") {
        return None;
    }
    let hook = c
        .view
        .list(Kind::Job)
        .find(|j| Job::of(j).is_some_and(|b| b.hook.contains("-delete") && b.succeeded == 0) || j.meta.name.ends_with("-cleanup"));
    if let Some(job) = hook {
        return Some(format!("delete hook Job {}", job.meta.name));
    }
    let addons = c.view.list(Kind::HelmRelease).filter(|o| crate::health::layers::is_addon(o)).count();
    if addons > 0 {
        return Some(format!("{addons} addon releases"));
    }
    let next = [Kind::KamajiControlPlane, Kind::TenantControlPlane, Kind::DataVolume];
    next.into_iter().find_map(|k| c.view.list(k).next().map(|o| format!("{} {}", k.info().name, o.meta.name)))
}

/// Row 4.
pub fn suspended(c: &Case<'_>) -> Option<Judgement> {
    if !c.release.suspend {
        return None;
    }
    let by = c.release.suspended_by.as_ref();
    let at = by.and_then(|b| b.1);
    if by.is_some_and(|b| &*b.0 == PLUNGER.0) && at.is_some_and(|t| c.view.age(t) < PLUNGER.1) {
        let v = build::verdict(
            c.layer,
            State::Progressing,
            format!("{} is suspended for an automatic repair ({} of 2m)", c.name(), span(c.age(at))),
        );
        return Some(
            v.since(at)
                .evidence(build::fact(c.object, "spec.suspend", "true", at))
                .deadline(at.and_then(|t| t.checked_add(PLUNGER.1).ok())),
        );
    }
    let frozen = c.ready.map_or_else(
        || "it never reported".to_string(),
        |r| {
            let when = r.since.get().map_or(String::new(), |t| format!(" since {t}"));
            format!("status frozen{when}, last said {} {}", r.status, r.reason)
        },
    );
    let v = build::verdict(c.layer, State::Suspended, format!("{} suspended; {frozen}", c.name()))
        .since(at)
        .evidence(build::fact(c.object, "spec.suspend", "true", at))
        .next(Who::Platform, format!("resume HelmRelease {} when the reason for the suspension is gone", c.object.meta.name));
    Some(c.with_ready(v))
}
