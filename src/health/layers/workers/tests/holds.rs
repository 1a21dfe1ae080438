//! Rows 3b, 5 and 26–31: what holds workers up, each with the near miss that must not fire.

use super::*;

#[test]
fn unschedulable_unless_it_waits_for_its_disk() {
    let text = "0/3 nodes are available: 3 Insufficient memory.";
    let m = machine("web", "a", "2026-09-01T11:58:00Z", "", "phase: Provisioning");
    let v = of(&[m.clone(), infra("web", "a", "Unschedulable", text)], false);
    assert_eq!((v.state, v.pool.as_deref()), (S::WorkersUnschedulable, Some("web")));
    assert!(v.next.iter().any(|n| n.field.as_deref() == Some("nodeGroups.web.instanceType")));
    let vm = infra("web", "a", "VMNotReady", "VM is not ready: ErrorUnschedulable");
    assert_eq!(of(&[m.clone(), vm], false).state, S::WorkersUnschedulable);
    let volume = infra("web", "a", "Unschedulable", "0/3 nodes are available: pod has unbound immediate PersistentVolumeClaims.");
    assert_eq!(of(&[m.clone(), volume.clone(), md("web", 1, "replicas: 1")], false).state, S::WorkersScalingUp, "near miss: young");
    let old = m.replace("11:58:00", "11:30:00");
    assert_eq!(of(&[old.clone(), volume, md("web", 1, "replicas: 1")], false).state, S::WorkerDiskNotReady, "near miss: old");
    let disk = doc(
        "cdi.kubevirt.io/v1beta1",
        "DataVolume",
        "computeplane-cluster-web-x1-a-disk-system",
        "",
        "status: {phase: ImportInProgress, progress: 12.5%}",
    );
    let v = of(&[old, infra("web", "a", "Unschedulable", text), disk], false);
    assert_eq!(v.state, S::WorkerDiskNotReady);
    assert!(v.cause.contains("ImportInProgress 12.5%"), "{}", v.cause);
}

#[test]
fn the_machine_mirrors_its_provider() {
    for (reason, message, state) in [
        ("Unschedulable", "0/3 nodes are available: 3 Insufficient cpu.", S::WorkersUnschedulable),
        ("DVFailed", "DataVolume x failed", S::WorkerDiskNotReady),
        ("DVImagePullFailed", "DataVolume x import is not running: ImagePullBackOff", S::WorkerDiskNotReady),
        ("VMCreateFailed", "admission webhook \"v\" denied the request", S::WorkerCreateRefused),
    ] {
        let status = format!(
            "phase: Provisioning, conditions: [{{type: InfrastructureReady, status: 'False', reason: {reason}, message: '{message}'}}]"
        );
        assert_eq!(of(&[machine("web", "a", "2026-09-01T11:58:00Z", "", &status)], false).state, state, "{reason}");
        let new = machine("web", "a", "2026-09-01T11:58:00Z", "", &status).replace("v1beta1", "v1beta2");
        assert_eq!(of(&[new], false).state, state, "{reason} in v1beta2");
    }
}

#[test]
fn f31_disk_and_its_near_miss() {
    let v = of(&[infra("web", "a", "DVNotReady", "DataVolume x is not ready; Phase: ImportScheduled")], false);
    assert_eq!(v.state, S::WorkerDiskNotReady);
    let ok = infra("web", "a", "DVNotReady", "m").replace("status: 'False'", "status: 'True'");
    assert_ne!(of(&[ok], false).state, S::WorkerDiskNotReady);
}

#[test]
fn refusals_carry_their_class() {
    for (text, class, field) in [
        ("exceeded quota: q, requested: limits.memory=8Gi", "QuotaBlocked", "maxReplicas"),
        ("HostDevice nvidia.com/AD102 is not permitted in permittedHostDevices configuration", "NotPermitted", "gpus"),
    ] {
        let v = of(&[infra("gpu", "a", "VMCreateFailed", text)], false);
        assert_eq!((v.state, v.class.as_deref()), (S::WorkerCreateRefused, Some(class)), "{}", v.cause);
        assert_eq!(v.next[0].field.as_deref(), Some(format!("nodeGroups.gpu.{field}").as_str()));
    }
    let vm = doc(
        "kubevirt.io/v1",
        "VirtualMachine",
        "computeplane-cluster-gpu-x1-a",
        &labels("gpu"),
        "status: {printableStatus: Stopped, conditions: [{type: Failure, status: 'True', reason: FailedCreate, message: 'exceeded quota: q'}]}",
    );
    let v = of(std::slice::from_ref(&vm), false);
    assert_eq!((v.state, v.inferred, v.pool.as_deref()), (S::WorkerCreateRefused, true, Some("gpu")));
    assert_ne!(of(&[vm.replace("status: 'True'", "status: 'False'")], false).state, S::WorkerCreateRefused, "near miss");
}

#[test]
fn io_errors_pause_a_vm_though_it_reads_running() {
    let vmi = |reason: &str| {
        doc(
            "kubevirt.io/v1",
            "VirtualMachineInstance",
            "computeplane-cluster-web-x1-a",
            &labels("web"),
            &format!("status: {{phase: Running, conditions: [{{type: Paused, status: 'True', reason: {reason}}}]}}"),
        )
    };
    assert_eq!(
        of(&[md("web", 1, "replicas: 1, readyReplicas: 1"), joined("web", "a", "True"), vmi("PausedIOError")], false).state,
        S::WorkerPausedIO
    );
    assert_eq!(
        of(&[md("web", 1, "replicas: 1, readyReplicas: 1"), joined("web", "a", "True"), vmi("PausedByUser")], false).state,
        S::Ready,
        "near miss"
    );
}

#[test]
fn not_joined_by_age_or_by_failure() {
    let up = |created: &str, since: &str| {
        machine(
            "web",
            "a",
            created,
            "providerID: 'kubevirt://a'",
            &format!(
                "phase: Provisioned, conditions: [{{type: InfrastructureReady, status: 'True', lastTransitionTime: '{since}'}}, {{type: NodeHealthy, status: 'False', reason: NodeProvisioning}}]"
            ),
        )
    };
    let all = |m: String| vec![md("web", 1, "replicas: 1, phase: Running"), m];
    let v = of(&all(up("2026-09-01T11:00:00Z", "2026-09-01T11:30:00Z")), false);
    assert_eq!(v.state, S::WorkersNotJoined);
    assert!(v.cause.contains("kubevirt://a") && v.cause.contains("30m of 20m"), "{}", v.cause);
    let young = of(&all(up("2026-09-01T11:00:00Z", "2026-09-01T11:45:00Z")), false);
    assert_eq!((young.state, young.deadline), (S::WorkersScalingUp, "2026-09-01T12:05:00Z".parse().ok()), "near miss: its VM is young");
    let failed =
        machine("web", "a", "2026-09-01T11:59:00Z", "", "phase: Failed, failureReason: CreateError, failureMessage: 'no such template'");
    assert_eq!(of(&all(failed), false).state, S::WorkersNotJoined);
    let drained = infra("web", "a", "VMNotReady", "m")
        .replace("ready: false", "ready: true, failureReason: UpdateError")
        .replace("'False'", "'True'");
    assert_eq!(of(&[md("web", 1, "replicas: 1"), joined("web", "a", "True"), drained], false).state, S::Ready, "a planned drain");
}

#[test]
fn the_pools_own_startup_time_counts() {
    let check = |timeout: &str| {
        doc(
            "cluster.x-k8s.io/v1beta1",
            "MachineHealthCheck",
            "computeplane-cluster-web",
            "",
            &format!("spec: {{clusterName: computeplane-cluster, nodeStartupTimeout: {timeout}}}"),
        )
    };
    let m = machine("web", "a", "2026-09-01T11:30:00Z", "providerID: x", "phase: Provisioned");
    assert_eq!(of(&[m.clone(), check("20m0s"), md("web", 1, "replicas: 1")], false).state, S::WorkersNotJoined);
    assert_eq!(of(&[m.clone(), check("60m0s"), md("web", 1, "replicas: 1")], false).state, S::WorkersScalingUp);
    assert_eq!(of(&[m, check("0s"), md("web", 1, "replicas: 1")], false).state, S::WorkersNotJoined, "off is no time at all");
}

fn check(text: &str) -> String {
    doc(
        "cluster.x-k8s.io/v1beta1",
        "MachineHealthCheck",
        "computeplane-cluster-web",
        "",
        &format!(
            "spec: {{clusterName: computeplane-cluster, maxUnhealthy: 50%}}, status: {{expectedMachines: 3, currentHealthy: 1, conditions: [{{type: RemediationAllowed, status: 'False', reason: TooManyUnhealthy, message: '{text}'}}]}}"
        ),
    )
}

#[test]
fn remediation_blocked_only_over_unhealthy_machines() {
    let text = "Remediation is not allowed, the number of not started or unhealthy machines exceeds maxUnhealthy (total: 3, unhealthy: 2, maxUnhealthy: 50%)";
    let pool = |healthy: &str| {
        vec![md("web", 3, "replicas: 3"), joined("web", "a", healthy), joined("web", "b", healthy), joined("web", "c", "True"), check(text)]
    };
    let v = of(&pool("False"), false);
    assert_eq!(v.state, S::RemediationBlocked);
    assert!(v.cause.contains("total: 3, unhealthy: 2"), "{}", v.cause);
    assert_eq!(of(&pool("True"), false).state, S::Ready, "near miss: they have healed");
    assert_eq!(of(&[check(&text.replace("unhealthy: 2", "unhealthy: 0"))], false).state, S::Unknown, "near miss: they only start");
    // Never joined and condemned by the check: that nothing replaces them is the verdict.
    let never = |id: &str| {
        machine(
            "web",
            id,
            "2026-09-01T11:00:00Z",
            "providerID: x",
            "phase: Provisioned, conditions: [{type: HealthCheckSucceeded, status: 'False', reason: NodeStartupTimeout}]",
        )
    };
    let v = of(&[md("web", 3, "replicas: 3"), never("a"), never("b"), check(text)], false);
    assert_eq!(v.state, S::RemediationBlocked);
    assert!(v.cause.contains("2 never became Nodes"), "{}", v.cause);
}

fn set(status: &str) -> String {
    doc(
        "cluster.x-k8s.io/v1beta1",
        "MachineSet",
        "computeplane-cluster-web-x1",
        &format!("generation: 1, {}", labels("web")),
        &format!("spec: {{clusterName: computeplane-cluster, replicas: 2}}, status: {{{status}}}"),
    )
}

#[test]
fn blocked_while_it_wants_more() {
    let old = "conditions: [{type: MachinesCreated, status: 'False', reason: PreflightCheckFailed, message: 'KamajiControlPlane a/b is upgrading (\"ControlPlaneIsStable\" preflight check failed)'}]";
    assert_eq!(of(&[set(old)], false).state, S::WorkersBlocked);
    assert_ne!(of(&[set(&format!("replicas: 2, {old}"))], false).state, S::WorkersBlocked, "near miss: all are there");
    let new = "v1beta2: {conditions: [{type: ScalingUp, status: 'True', reason: ScalingUp, observedGeneration: GEN, message: \"Scaling up from 0 to 2 replicas is blocked because:\\n* KubevirtMachineTemplate does not exist\"}]}";
    let v = of(&[set(&new.replace("GEN", "1"))], false);
    assert_eq!(v.state, S::WorkersBlocked);
    assert!(v.cause.contains("is blocked because KubevirtMachineTemplate does not exist"), "{}", v.cause);
    assert_ne!(of(&[set(&new.replace("GEN", "0"))], false).state, S::WorkersBlocked, "near miss: about an older spec");
    let event = "---\n{apiVersion: v1, kind: Event, metadata: {name: e, namespace: tenant-acme}, type: Warning, reason: FailedCreate, lastTimestamp: '2026-09-01T11:55:00Z', involvedObject: {kind: MachineSet, name: computeplane-cluster-web-x1}, message: 'failed to clone infrastructure machine: not found'}\n";
    let v = of(&[md("web", 2, "replicas: 1"), event.to_string()], false);
    assert_eq!(v.state, S::WorkersBlocked);
    assert!(v.cause.contains("seen 5m ago"), "{}", v.cause);
}

#[test]
fn one_machine_that_cannot_go() {
    let drain = |t: &str| {
        machine("web", "a", OLD, "providerID: x", "phase: Deleting, nodeRef: {name: a}, v1beta2: {conditions: [{type: Deleting, status: 'True', reason: DrainingNode, message: 'Drain not completed yet: cannot evict pod as it would violate the PodDisruptionBudget'}]}")
            .replace("generation: 1,", &format!("generation: 1, deletionTimestamp: '{t}', finalizers: [machine.cluster.x-k8s.io],"))
    };
    let v = of(&[md("web", 1, "replicas: 2"), joined("web", "b", "True"), drain("2026-09-01T11:40:00Z")], false);
    assert_eq!((v.state, v.class.as_deref(), v.next[0].who), (S::DeletingStuck, Some("DrainBlocked"), crate::model::verdict::Who::Tenant));
    let v = of(&[md("web", 1, "replicas: 2"), joined("web", "b", "True"), drain("2026-09-01T11:55:00Z")], false);
    assert_eq!(v.state, S::WorkersScalingDown, "near miss: {}", v.cause);
}

#[test]
fn pauses_of_every_level() {
    let healthy = || vec![md("web", 1, "replicas: 1"), joined("web", "a", "True")];
    assert_eq!(of(&healthy(), false).state, S::Ready);
    for i in 0..2 {
        let mut docs = healthy();
        docs[i] = if i == 0 {
            docs[i].replace("annotations: {", "annotations: {cluster.x-k8s.io/paused: '', ")
        } else {
            docs[i].replace("generation: 1,", "generation: 1, annotations: {cluster.x-k8s.io/paused: 'true'},")
        };
        assert_eq!(of(&docs, false).state, S::Paused, "{i}");
    }
    let mut docs = healthy();
    docs[0] = docs[0].replace("replicas: 1}", "replicas: 1, paused: true}");
    assert_eq!(of(&docs, false).state, S::Paused);
}

#[test]
fn a_foreign_cluster_and_the_beacon() {
    let foreign = md("web", 0, "").replace("clusterName: computeplane-cluster", "clusterName: kubernetes-computeplane-cluster");
    let foreign = foreign.replace("name: computeplane-cluster-web", "name: kubernetes-computeplane-cluster-web");
    let v = of(std::slice::from_ref(&foreign), true);
    assert_eq!((v.state, v.pool.as_deref()), (S::WrongCluster, Some("web")));
    let beacon = "---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: computeplane-cluster-awaiting-etcd, namespace: tenant-acme}, data: {status: awaiting-etcd}}\n";
    assert_eq!(of(&[foreign.clone(), beacon.to_string()], true).state, S::Unknown, "near miss: trap 22");
    let there = doc("cluster.x-k8s.io/v1beta1", "Cluster", "kubernetes-computeplane-cluster", "", "status: {}");
    assert_ne!(of(&[foreign, there], true).state, S::WrongCluster, "near miss: it exists");
}

#[test]
fn a_disk_seen_alone_still_tells() {
    let disk = |phase: &str, created: &str| {
        doc(
            "cdi.kubevirt.io/v1beta1",
            "DataVolume",
            "computeplane-cluster-web-x1-a-disk-system",
            &format!("creationTimestamp: '{created}'"),
            &format!("status: {{phase: {phase}}}"),
        )
    };
    let alone = |d: String| of(&[d, md("web", 1, "replicas: 1")], false).state;
    assert_eq!(alone(disk("ImportScheduled", "2026-09-01T11:30:00Z")), S::WorkerDiskNotReady);
    assert_eq!(alone(disk("Failed", "2026-09-01T11:59:00Z")), S::WorkerDiskNotReady);
    assert_ne!(alone(disk("Succeeded", "2026-09-01T11:30:00Z")), S::WorkerDiskNotReady, "near miss");
    assert_ne!(alone(disk("ImportScheduled", "2026-09-01T11:55:00Z")), S::WorkerDiskNotReady, "near miss: young");
}

#[test]
fn a_check_by_ssh_speaks_only_where_no_machine_does() {
    let km = infra("web", "a", "BootstrapFailed", "VM not bootstrapped yet").replace(
        "ready: false, conditions: [{type: VMProvisioned",
        "ready: false, conditions: [{type: VMProvisioned, status: 'True'}, {type: BootstrapExecSucceeded",
    );
    let old = km.replace("11:40:00", "11:30:00");
    assert_eq!(of(std::slice::from_ref(&old), false).state, S::WorkersNotJoined);
    assert_ne!(of(&[km.replace("11:40:00", "11:55:00")], false).state, S::WorkersNotJoined, "near miss: young");
    assert_eq!(of(&[old, md("web", 1, "replicas: 1"), joined("web", "a", "True")], false).state, S::Ready, "near miss: its Node is there");
}

#[test]
fn a_second_pod_of_a_migration_holds_nothing_up() {
    let pod = |name: &str, status: &str| {
        doc(
            "v1",
            "Pod",
            name,
            "labels: {cluster.x-k8s.io/cluster-name: computeplane-cluster, cluster.x-k8s.io/deployment-name: computeplane-cluster-web, vm.kubevirt.io/name: computeplane-cluster-web-x1-a}",
            &format!("status: {{conditions: [{status}]}}"),
        )
    };
    let target = pod("virt-launcher-b", "{type: PodScheduled, status: 'False', reason: Unschedulable, message: '0/3 nodes are available'}");
    let source = pod("virt-launcher-a", "{type: Ready, status: 'True'}");
    assert_eq!(of(&[md("web", 1, "replicas: 1"), joined("web", "a", "True"), source, target.clone()], false).state, S::Ready);
    assert_eq!(of(&[target], false).state, S::WorkersUnschedulable, "near miss");
}
