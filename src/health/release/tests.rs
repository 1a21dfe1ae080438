//! Each row of the release table fires on its signals and stays silent when one is missing.

use serde_json::{Value, json};

use super::*;
use crate::{
    health::deadlines::Deadlines,
    model::{Kind, Scope, World, world::Read},
};

const NS: &str = "tenant-acme";

fn now() -> Time {
    "2026-09-01T12:00:00Z".parse().unwrap()
}

/// A release with the given status, one generation old and judged.
fn release(name: &str, spec: Value, status: Value) -> Value {
    json!({"apiVersion": "helm.toolkit.fluxcd.io/v2", "kind": "HelmRelease",
        "metadata": {"name": name, "namespace": NS, "generation": 1, "creationTimestamp": "2026-09-01T09:00:00Z"},
        "spec": spec, "status": status})
}

fn ready(status: &str, reason: &str, message: &str, since: &str) -> Value {
    json!([{"type": "Ready", "status": status, "reason": reason, "message": message, "observedGeneration": 1,
        "lastTransitionTime": format!("2026-09-01T{since}:00Z")}])
}

fn judged(objects: &[Value]) -> Judgement {
    let mut world = World::default();
    world.set_read(Kind::HelmRelease, Scope::All, Read { state: crate::model::world::ReadState::Complete, at: Some(now()), problem: None });
    for o in objects {
        world.apply(Object::from_value(o).unwrap());
    }
    let first = world.get(Kind::HelmRelease, NS, objects[0]["metadata"]["name"].as_str().unwrap()).unwrap().clone();
    let deadlines = Deadlines::default();
    judge(&View { world: &world, namespace: NS, now: now(), deadlines: &deadlines }, Layer::Cluster, &first)
}

fn failing(message: &str) -> State {
    judged(&[release("computeplane-cluster", json!({}), json!({"conditions": ready("False", "InstallFailed", message, "11:00")}))]).state
}

#[test]
fn texts_choose_the_row() {
    assert_eq!(failing("execution error at (a/b.yaml:1:2): x"), State::RenderRejected);
    assert_eq!(failing("values don't meet the specifications of the schema(s)"), State::RenderRejected);
    assert_eq!(failing("something went wrong"), State::Retrying, "near miss: no class");
    assert_eq!(failing("is already managed by release \"x\""), State::NameConflict);
    assert_eq!(failing("pre-upgrade hooks failed: BackoffLimitExceeded"), State::RemoteHookFailed);
    assert_eq!(failing("pods is forbidden: exceeded quota: q"), State::QuotaBlocked);
    assert_eq!(failing("pods is forbidden: User \"u\" cannot create resource"), State::Retrying, "near miss: rights, not quota");
    assert_eq!(failing("another operation (install/upgrade/rollback) is in progress"), State::LockedPending);
}

#[test]
fn sources_get_two_intervals() {
    let at = |since: &str| {
        let c = ready("False", "SourceNotReady", "ExternalArtifact 'a/b' is not ready: does not have an artifact", since);
        judged(&[release("computeplane-cluster", json!({"interval": "5m"}), json!({"conditions": c}))]).state
    };
    assert_eq!(at("11:49"), State::SourceNotReady);
    assert_eq!(at("11:51"), State::Progressing, "near miss");
    let absent = ready("False", "ArtifactFailed", "could not get Source object: x not found", "11:59");
    assert_eq!(judged(&[release("computeplane-cluster", json!({}), json!({"conditions": absent}))]).state, State::SourceNotReady);
}

#[test]
fn a_lock_needs_history_and_time() {
    let with = |history: &str, since: &str| {
        let status = json!({"history": [{"version": 2, "status": history, "lastDeployed": format!("2026-09-01T{since}:00Z")}],
            "conditions": ready("Unknown", "Progressing", "Running 'upgrade' action with timeout of 10m0s", since)});
        judged(&[release("computeplane-cluster", json!({"timeout": "10m"}), status)]).state
    };
    assert_eq!(with("pending-upgrade", "11:45"), State::LockedPending);
    assert_eq!(with("pending-upgrade", "11:55"), State::Progressing, "near miss: young");
    assert_eq!(with("deployed", "11:55"), State::Progressing, "near miss: an action runs");
    assert_eq!(with("deployed", "11:30"), State::StuckReconciling);
}

#[test]
fn routine_checks_do_not_flicker() {
    let with = |message: &str, since: &str| {
        let status =
            json!({"history": [{"version": 2, "status": "deployed"}], "conditions": ready("Unknown", "Progressing", message, since)});
        judged(&[release("computeplane-cluster", json!({}), status)]).state
    };
    assert_eq!(with("Fulfilling prerequisites", "11:59"), State::Ready);
    assert_eq!(with("Fulfilling prerequisites", "11:57"), State::Progressing, "near miss: longer than 2 minutes");
    assert_eq!(with("Running 'upgrade' action with timeout of 5m0s", "11:59"), State::Progressing, "near miss: an action");
}

#[test]
fn unlimited_retries_alone_are_no_loop() {
    let child = |created: &str| json!({"apiVersion": "helm.toolkit.fluxcd.io/v2", "kind": "HelmRelease", "metadata": {"name": "computeplane-cluster", "namespace": NS, "creationTimestamp": created}});
    let text = "Helm install failed: timeout waiting for: [HelmRelease/tenant-acme/computeplane-cluster status: 'InProgress']";
    let module = |failures: i64| {
        release(
            "computeplane",
            json!({"timeout": "10m", "install": {"remediation": {"retries": -1}}}),
            json!({"installFailures": failures, "failures": failures, "conditions": ready("False", "InstallFailed", text, "11:00")}),
        )
    };
    assert_eq!(judged(&[module(3), child("2026-09-01T11:50:00Z")]).state, State::InstallLoop);
    assert_eq!(judged(&[module(3), child("2026-09-01T09:00:10Z")]).state, State::Retrying, "near miss: the child is as old as its parent");
    assert_eq!(judged(&[module(1), child("2026-09-01T11:50:00Z")]).state, State::Retrying, "near miss: one failure");
}

#[test]
fn the_root_of_a_chain_is_named() {
    let waits = |name: &str, on: &str| {
        release(
            name,
            json!({"dependsOn": [{"name": on}]}),
            json!({"conditions": ready("False", "DependencyNotReady", &format!("dependency 'tenant-acme/{on}' is not ready"), "11:00")}),
        )
    };
    let cilium = release(
        "cilium",
        json!({}),
        json!({"conditions": ready("False", "InstallFailed", "Helm install failed: x: connection refused", "11:00")}),
    );
    let v = judged(&[waits("metrics", "coredns"), waits("coredns", "cilium"), cilium]);
    assert_eq!(v.state, State::DependencyWait);
    assert!(v.cause.starts_with("waits for cilium: "), "{}", v.cause);
    let looped = judged(&[waits("a", "b"), waits("b", "a")]);
    assert_eq!(looped.state, State::DependencyWait, "a ring ends");
    let missing = judged(&[waits("a", "b")]);
    assert_eq!(missing.class.as_deref(), Some("DependencyMissing"));
    let mut lagging = release(
        "b",
        json!({}),
        json!({"observedGeneration": 0, "lastAttemptedGeneration": 1, "conditions": ready("True", "UpgradeSucceeded", "", "11:00")}),
    );
    assert!(judged(&[waits("a", "b"), lagging.clone()]).cause.contains("#946"));
    lagging["status"]["observedGeneration"] = json!(1);
    assert!(!judged(&[waits("a", "b"), lagging]).cause.contains("#946"), "near miss");
}

#[test]
fn a_cancelled_wait_is_no_failure() {
    let c = ready("False", "HealthCheckCanceled", "newer revision", "11:59");
    assert_eq!(judged(&[release("computeplane-cluster", json!({}), json!({"conditions": c}))]).state, State::Progressing);
}

#[test]
fn unknown_words_are_shown_and_never_ready() {
    let c = ready("Perhaps", "NewReason", "new text", "11:59");
    let v = judged(&[release("computeplane-cluster", json!({}), json!({"conditions": c}))]);
    assert_eq!(v.state, State::Unknown);
    assert!(v.cause.contains("Perhaps/NewReason"), "{}", v.cause);
}

#[test]
fn the_cause_of_older_controllers_stands_in_released() {
    let mut c = ready("False", "RetryAfterInterval", "Will retry after 3m0s", "11:59");
    c.as_array_mut().unwrap().push(json!({"type": "Released", "status": "False", "reason": "InstallFailed", "observedGeneration": 1,
        "message": "Helm install failed: x: field is immutable", "lastTransitionTime": "2026-09-01T10:00:00Z"}));
    let v = judged(&[release("computeplane-cluster", json!({}), json!({"conditions": c}))]);
    assert_eq!(v.class.as_deref(), Some("ImmutableField"));
    assert_eq!(v.since, "2026-09-01T10:00:00Z".parse().ok());
}

#[test]
fn deletion_has_a_deadline() {
    let with = |at: &str| {
        let mut o = release("computeplane-cluster", json!({}), json!({"conditions": ready("True", "InstallSucceeded", "", "10:00")}));
        o["metadata"]["deletionTimestamp"] = json!(format!("2026-09-01T{at}:00Z"));
        judged(&[o]).state
    };
    assert_eq!(with("11:55"), State::Deleting);
    assert_eq!(with("11:49"), State::DeletingStuck);
}
