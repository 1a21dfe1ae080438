//! Rows 8, 28b, 32–35 and 40, and the lines of pools: counters, machines and bounds compared.

use super::*;

#[test]
fn counters_alone() {
    for (replicas, status, state) in [
        (1, "replicas: 1, readyReplicas: 1, updatedReplicas: 1", S::Ready),
        (1, "replicas: 1, updatedReplicas: 1, conditions: [{type: Available, status: 'True'}]", S::WorkersDegraded),
        (2, "replicas: 0", S::WorkersMissing),
        (0, "replicas: 0", S::WorkersMissing),
        (1, "replicas: 2, readyReplicas: 2, updatedReplicas: 2", S::WorkersScalingDown),
        (1, "replicas: 2, readyReplicas: 1, updatedReplicas: 1", S::WorkersRollingOut),
        (
            2,
            "replicas: 1, v1beta2: {conditions: [{type: ScalingUp, status: 'True', lastTransitionTime: '2026-09-01T11:57:00Z'}]}",
            S::WorkersScalingUp,
        ),
    ] {
        let v = of(&[md("web", replicas, status)], false);
        assert_eq!(v.state, state, "{status}: {}", v.cause);
        assert!(!v.evidence.is_empty());
    }
}

#[test]
fn unknown_counters_are_no_zero_in_the_new_version() {
    let new = md("web", 1, "replicas: 1").replace("v1beta1", "v1beta2");
    let v = of(std::slice::from_ref(&new), false);
    assert_ne!(v.state, S::Ready);
    assert_eq!(views(&[new], false)[0].ready, None);
    assert_eq!(views(&[md("web", 1, "replicas: 1")], false)[0].ready, Some(0));
}

#[test]
fn a_list_without_machines_beside_counters_is_no_source() {
    let v = of(&[md("web", 1, "replicas: 1, readyReplicas: 1, updatedReplicas: 1")], true);
    assert_eq!(v.state, S::Ready, "{}", v.cause);
}

#[test]
fn a_healthy_word_over_a_machine_that_never_joined() {
    let status = "replicas: 2, readyReplicas: 1, updatedReplicas: 2, availableReplicas: 1, phase: Running, conditions: [{type: Ready, status: 'True'}, {type: Available, status: 'True'}]";
    let never = machine("web", "b", "2026-09-01T08:00:00Z", "providerID: x", "phase: Provisioned");
    assert_eq!(of(&[md("web", 2, status), joined("web", "a", "True"), never], false).state, S::WorkersNotJoined);
}

#[test]
fn unhealthy_nodes_stand_above_progress() {
    let young = machine("web", "c", "2026-09-01T11:59:00Z", "", "phase: Pending");
    let v = of(&[md("web", 3, "replicas: 3"), joined("web", "a", "True"), joined("web", "b", "False"), young.clone()], false);
    assert_eq!(v.state, S::WorkersDegraded);
    assert!(v.cause.contains("node b for 2m"), "{}", v.cause);
    assert_eq!(of(&[md("web", 2, "replicas: 2"), joined("web", "a", "True"), young], false).state, S::WorkersScalingUp, "near miss");
}

#[test]
fn a_lost_connection_says_nothing_of_a_node() {
    let lost = machine(
        "web",
        "a",
        OLD,
        "providerID: x",
        "phase: Running, nodeRef: {name: a}, conditions: [{type: NodeHealthy, status: Unknown, reason: REASON}]",
    )
    .replace("v1beta1", "v1beta2");
    let state = |reason: &str| of(&[md("web", 1, "replicas: 1"), lost.replace("REASON", reason)], false).state;
    assert_eq!(state("ConnectionDown"), S::Ready);
    assert_eq!(state("NodeNotHealthy"), S::WorkersDegraded);
}

#[test]
fn stale_counters_by_either_generation() {
    let fresh = md("web", 1, "replicas: 1, v1beta2: {conditions: [{type: Available, status: 'True', observedGeneration: 1}]}");
    assert_eq!(of(&[fresh.clone(), joined("web", "a", "True")], false).state, S::Ready);
    let whole = fresh.replace("generation: 1, creation", "generation: 2, creation");
    assert_eq!(of(&[whole.clone(), joined("web", "a", "True")], false).state, S::StaleStatus);
    let part = whole.replace("{observedGeneration: 1, replicas", "{observedGeneration: 2, replicas");
    assert_eq!(of(&[part, joined("web", "a", "True")], false).state, S::StaleStatus, "capi#13738");
}

#[test]
fn below_the_minimum_but_just_applied() {
    let low = md("web", 0, "replicas: 0");
    let release = |t: &str| {
        doc(
            "helm.toolkit.fluxcd.io/v2",
            "HelmRelease",
            "computeplane-cluster",
            "",
            &format!("status: {{history: [{{version: 1, status: deployed, lastDeployed: '{t}'}}]}}"),
        )
    };
    assert_eq!(of(&[low.clone(), release("2026-09-01T11:00:00Z")], false).state, S::WorkersMissing);
    assert_eq!(of(&[low, release("2026-09-01T11:59:30Z")], false).state, S::WorkersScalingUp, "near miss");
}

fn zero(more: &str) -> String {
    md(
        "web",
        0,
        &format!("replicas: 0, conditions: [{{type: MachineSetReady, status: 'True', lastTransitionTime: '2026-09-01T11:00:00Z'}}]{more}"),
    )
    .replace("min-size: '1'", "min-size: '0'")
}

#[test]
fn zero_rests_until_something_waits_for_it() {
    let v = of(&[zero("")], false);
    assert_eq!((v.state, v.severity), (S::ScaledToZero, Severity::Ready));
    assert!(v.cause.contains("0/0 (0-3)"), "{}", v.cause);
    let cilium = |reason: &str| {
        doc(
            "helm.toolkit.fluxcd.io/v2",
            "HelmRelease",
            "computeplane-cluster-cilium",
            "",
            &format!("status: {{conditions: [{{type: Ready, status: 'False', reason: {reason}}}]}}"),
        )
    };
    assert_eq!(of(&[zero(""), cilium("InstallFailed")], false).state, S::ScaleUpNotHappening);
    assert_eq!(of(&[zero(""), cilium("DependencyNotReady")], false).state, S::ScaledToZero, "near miss");
    assert_eq!(
        of(&[zero("").replace("11:00:00", "11:50:00"), cilium("InstallFailed")], false).state,
        S::ScaledToZero,
        "near miss: not for long"
    );
    let other = md("gpu", 1, "replicas: 1, readyReplicas: 1, updatedReplicas: 1");
    assert_eq!(of(&[zero(""), cilium("InstallFailed"), other], false).state, S::Ready, "near miss: a node is there");
}

#[test]
fn a_full_quota_stops_only_who_wants_more() {
    let quota = |used: &str| {
        doc(
            "v1",
            "ResourceQuota",
            "tenant-quota",
            "",
            &format!(
                "status: {{hard: {{limits.memory: 8Gi, services.loadbalancers: '0'}}, used: {{limits.memory: {used}, services.loadbalancers: '0'}}}}"
            ),
        )
    };
    let wants =
        md("web", 2, "replicas: 1, v1beta2: {conditions: [{type: ScalingUp, status: 'True', lastTransitionTime: '2026-09-01T11:50:00Z'}]}");
    let v = of(&[wants.clone(), quota("8192Mi")], false);
    assert_eq!((v.state, v.inferred), (S::QuotaBlocked, true));
    assert!(v.cause.contains("limits.memory 8192Mi of 8Gi"), "{}", v.cause);
    assert_eq!(of(&[wants.clone(), quota("4Gi")], false).state, S::WorkersScalingUp, "near miss: room");
    assert_eq!(of(&[md("web", 1, "replicas: 1, readyReplicas: 1"), quota("8Gi")], false).state, S::Ready, "near miss: content");
    let event = "---\n{apiVersion: v1, kind: Event, metadata: {name: e, namespace: tenant-acme}, type: Warning, reason: FailedCreate, lastTimestamp: '2026-09-01T11:55:00Z', involvedObject: {kind: VirtualMachineInstance, name: computeplane-cluster-web-x1-a}, message: 'pods is forbidden: exceeded quota: tenant-quota, requested: limits.memory=4Gi, used: limits.memory=6Gi, limited: limits.memory=8Gi'}\n";
    let v = of(&[wants, event.to_string()], false);
    assert_eq!((v.state, v.class.as_deref(), v.pool.as_deref()), (S::QuotaBlocked, Some("QuotaBlocked"), Some("web")));
}

#[test]
fn the_worst_pool_heads_and_names_the_others() {
    let docs = [
        md("web", 1, "replicas: 1, readyReplicas: 1, updatedReplicas: 1"),
        md("gpu", 2, "replicas: 0"),
        md("ml", 1, "replicas: 1, updatedReplicas: 1"),
    ];
    let v = of(&docs, false);
    assert_eq!((v.state, v.pool.as_deref()), (S::WorkersMissing, Some("gpu")));
    assert!(v.cause.starts_with("pool gpu: ") && v.cause.ends_with("also ml workers degraded"), "{}", v.cause);
}

#[test]
fn lines_of_pools() {
    let app = "---\n{apiVersion: apps.cozystack.io/v1alpha1, kind: ComputePlane, metadata: {name: computeplane, namespace: tenant-acme}, spec: {nodeGroups: GROUPS}}\n";
    let line = |groups: &str, docs: &[String]| {
        let mut all = vec![app.replace("GROUPS", groups)];
        all.extend(docs.iter().cloned());
        views(&all, false).into_iter().map(|p| (p.name, p.min, p.max, p.desired, p.instance_type)).collect::<Vec<_>>()
    };
    let s = |x: &str| Some(x.to_string());
    for empty in ["{}", "null", "{old: null}"] {
        assert_eq!(line(empty, &[]), [("md0".to_string(), Some(0), Some(10), None, s("u1.medium"))], "{empty}");
    }
    assert_eq!(line("{a: {minReplicas: 2, instanceType: u1.large}}", &[]), [("a".to_string(), Some(2), Some(10), None, s("u1.large"))]);
    // The annotations say what the autoscaler keeps to.
    assert_eq!(line("{a: {minReplicas: 2, resources: {cpu: 1}}}", &[md("a", 2, "")]), [("a".to_string(), Some(1), Some(3), Some(2), None)]);
}

#[test]
fn a_declared_pool_without_a_machine_deployment() {
    let app = "---\n{apiVersion: apps.cozystack.io/v1alpha1, kind: ComputePlane, metadata: {name: computeplane, namespace: tenant-acme}, spec: {nodeGroups: {web: {}}}}\n".to_string();
    let release = "---\n{apiVersion: helm.toolkit.fluxcd.io/v2, kind: HelmRelease, metadata: {name: computeplane-cluster, namespace: tenant-acme, generation: 1}, status: {observedGeneration: 1, lastAttemptedGeneration: 1, conditions: [{type: Ready, status: 'True', reason: InstallSucceeded, observedGeneration: 1}]}}\n".to_string();
    let cluster = doc("cluster.x-k8s.io/v1beta1", "Cluster", "computeplane-cluster", "", "status: {}");
    let v = of(&[app.clone(), release.clone(), cluster.clone()], true);
    assert_eq!((v.state, v.pool.as_deref()), (S::PoolsNotRendered, Some("web")));
    assert_eq!(of(&[app.clone(), release.clone()], true).state, S::Unknown, "near miss: there is no Cluster");
    assert_eq!(of(&[app, release.replace("'True'", "'False'"), cluster], true).state, S::Unknown, "near miss: not applied");
}
