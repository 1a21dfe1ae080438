//! Judges any HelmRelease: rows 3, 4, 6–10, 12–17b, 28b, 39 and 40 of `status.md` 2.2, each one arm, top to bottom.
//! Used by the layers tenant, module, cluster, pools and addons; must not know what a release stands for.

mod chain;
mod halted;
mod rows;
#[cfg(test)]
mod tests;

pub use chain::{Root, healthy, root};

use super::{
    build,
    freshness::{self, Freshness},
    layers::Judgement,
    messages::{self, Row},
    view::View,
};
use crate::model::{
    Meta, Object, Time,
    projection::{Condition, cozystack::App, release::Release},
    verdict::{Layer, State, Who},
};

/// What the arms look at: one release with its message read once.
pub struct Case<'a> {
    view: &'a View<'a>,
    layer: Layer,
    object: &'a Object,
    release: &'a Release,
    ready: Option<&'a Condition>,
    /// The condition that tells of the failure, while there is one.
    failure: Option<&'a Condition>,
    row: Option<&'static Row>,
    /// Deletion is a remediation of the parent, not anybody's wish.
    remediation: bool,
    /// Freshness can't be seen (aggregated API).
    aggregated: bool,
}

type Arm = fn(&Case<'_>) -> Option<Judgement>;

/// The rows, first match wins. Freshness stands before any condition is believed.
const ARMS: &[Arm] = &[
    halted::deleting_unowned,
    halted::deleting_stuck,
    halted::deleting,
    halted::suspended,
    rows::never_reconciled,
    rows::stale,
    rows::package_missing,
    rows::source_not_ready,
    rows::render_rejected,
    rows::name_conflict,
    rows::dependency_wait,
    rows::locked_pending,
    rows::stalled,
    rows::quota_blocked,
    rows::hook_failed,
    rows::install_loop,
    rows::retrying,
    rows::stuck_reconciling,
    rows::progressing,
    rows::ready,
];

/// The verdict on one HelmRelease.
pub fn judge(view: &View<'_>, layer: Layer, object: &Object) -> Judgement {
    match Release::of(object) {
        Some(release) => judge_as(view, layer, object, release, false),
        None => build::verdict(layer, State::Unknown, format!("{} can't be read as a HelmRelease", object.meta.name)),
    }
}

/// The verdict on an application, whose Ready and Released are copies of its HelmRelease's. Staleness can't be seen here.
pub fn judge_app(view: &View<'_>, layer: Layer, object: &Object) -> Judgement {
    let Some(app) = App::of(object) else {
        return build::verdict(layer, State::Unknown, format!("{} can't be read as an application", object.meta.name));
    };
    let release = Release::copied(app.conditions.clone());
    judge_as(view, layer, object, &release, true)
}

fn judge_as(view: &View<'_>, layer: Layer, object: &Object, release: &Release, aggregated: bool) -> Judgement {
    let ready = release.condition("Ready");
    let failure = failure(&object.meta, release, ready);
    let case = Case {
        view,
        layer,
        object,
        release,
        ready,
        failure,
        row: failure.and_then(|f| messages::classify(&f.message).or_else(|| messages::of_reason(&f.reason))),
        remediation: object.meta.deleted.get().is_some() && chain::under_remediation(view, object),
        aggregated,
    };
    ARMS.iter().find_map(|arm| arm(&case)).unwrap_or_else(|| case.odd())
}

/// The condition that explains why the release isn't fine: Ready itself, or Released where Ready only tells of the remediation or of the next attempt.
fn failure<'a>(meta: &Meta, release: &'a Release, ready: Option<&'a Condition>) -> Option<&'a Condition> {
    let ready = ready?;
    let released = release.condition("Released").filter(|r| {
        &*r.status == "False"
            && r.observed_generation.get().zip(meta.generation.get()).is_none_or(|(o, g)| o >= g || meta.deleted.get().is_some())
    });
    match &*ready.status {
        "False" if &*ready.reason == "HealthCheckCanceled" => None,
        "False" => {
            let remedy = matches!(
                &*ready.reason,
                "RollbackSucceeded" | "RollbackFailed" | "UninstallSucceeded" | "RetryAfterInterval" | "TestFailed" | "UninstallFailed"
            );
            Some(released.filter(|r| remedy && !r.message.is_empty()).unwrap_or(ready))
        }
        // A next attempt is running; the failure of the last one stands until it ends (recorded/06).
        "Unknown" => released.filter(|r| &*r.reason != "HealthCheckCanceled"),
        _ => None,
    }
}

impl<'a> Case<'a> {
    fn name(&self) -> String {
        format!("{} {}", self.object.kind.info().name, self.object.meta.name)
    }

    /// Since when it fails: the failure's own age, never the last attempt's (`status.md` 8.8, 8.16).
    fn failing_since(&self) -> Option<Time> {
        let released = self.release.condition("Released").filter(|r| &*r.status == "False");
        let ready = self.ready.and_then(|r| r.since.get());
        match released.and_then(|r| r.since.get()) {
            // A Released from before the present spec's failure kind (e.g. a ValuesError) doesn't date it.
            Some(t) if self.failure.is_some() => Some(ready.map_or(t, |r| r.min(t))),
            _ => ready,
        }
    }

    fn text(&self) -> &'a str {
        self.failure.map_or("", |f| &f.message)
    }

    fn sentence(&self) -> String {
        messages::decisive(self.text())
    }

    fn class(&self) -> Option<&'static str> {
        self.row.map(|r| r.class)
    }

    fn history_head(&self) -> Option<&str> {
        self.release.history.first().map(|h| &*h.status)
    }

    fn who(&self, who: Who) -> Who {
        if self.layer == Layer::Tenant && who == Who::Tenant { Who::ParentTenant } else { who }
    }

    fn age(&self, t: Option<Time>) -> jiff::SignedDuration {
        t.map_or(jiff::SignedDuration::ZERO, |t| self.view.age(t))
    }

    /// Conditions in a form that no row knows: shown as they are, never taken for Ready.
    fn odd(&self) -> Judgement {
        let said = self.ready.map_or_else(|| "no Ready condition".to_string(), |r| format!("Ready {}/{}", r.status, r.reason));
        self.with_ready(build::verdict(self.layer, State::Unknown, format!("{}: {said}", self.name())))
    }

    /// Adds the conditions and the newest revision as evidence.
    fn with_ready(&self, mut v: Judgement) -> Judgement {
        if let Some(r) = self.ready {
            v.evidence.push(build::condition(self.object, r));
        }
        if let Some(f) = self.failure.filter(|f| self.ready.is_none_or(|r| !std::ptr::eq(*f, r))) {
            v.evidence.push(build::condition(self.object, f));
        }
        let requested = self.object.meta.annotations.get("reconcile.fluxcd.io/requestedAt");
        if let Some(r) = requested.filter(|r| !self.release.suspend && !self.aggregated && **r != self.release.handled_at) {
            v.evidence.push(build::fact(
                self.object,
                "metadata.annotations[reconcile.fluxcd.io/requestedAt]",
                format!("{r}: a manual reconcile is queued"),
                None,
            ));
        }
        if let Some(h) = self.release.history.first() {
            v.evidence.push(build::fact(
                self.object,
                "status.history[0]",
                format!("v{} {} {}", h.version, h.status, h.action).trim_end(),
                h.last_deployed.get(),
            ));
        }
        v
    }
}

/// The freshness of a case, for the arms.
fn fresh(case: &Case<'_>) -> Freshness {
    if case.remediation { Freshness::Current } else { freshness::of(&case.object.meta, case.release, case.ready) }
}
