//! What a tenant can tell who sees no Cluster API, and that no JSON makes the layer panic.

use proptest::prelude::*;

use super::*;

const REFUSED: &str = "---\n{apiVersion: v1, kind: Status, status: Failure, reason: Forbidden, code: 403, details: {group: cluster.x-k8s.io, kind: machinedeployments}}\n";

fn monitor(pool: &str, min: i64, available: i64, observed: i64) -> String {
    doc(
        "cozystack.io/v1alpha1",
        "WorkloadMonitor",
        &format!("computeplane-cluster-{pool}"),
        &format!("creationTimestamp: '{OLD}'"),
        &format!(
            "spec: {{type: worker, minReplicas: {min}}}, status: {{operational: true, availableReplicas: {available}, observedReplicas: {observed}}}"
        ),
    )
}

fn event(kind: &str, name: &str, reason: &str, message: &str) -> String {
    doc(
        "v1",
        "Event",
        &format!("{name}.{}", reason.to_lowercase()),
        "",
        &format!(
            "type: Warning, reason: {reason}, lastTimestamp: '2026-09-01T11:55:00Z', involvedObject: {{kind: {kind}, name: {name}}}, message: '{message}'"
        ),
    )
}

fn pod(id: &str, created: &str, conditions: &str) -> String {
    doc(
        "v1",
        "Pod",
        &format!("virt-launcher-computeplane-cluster-web-{id}"),
        &format!(
            "creationTimestamp: '{created}', labels: {{cluster.x-k8s.io/cluster-name: computeplane-cluster, cluster.x-k8s.io/role: worker, cluster.x-k8s.io/deployment-name: computeplane-cluster-web, vm.kubevirt.io/name: computeplane-cluster-web-{id}}}"
        ),
        &format!("status: {{phase: Pending, conditions: [{conditions}]}}"),
    )
}

fn tenant(docs: &[String]) -> LayerVerdict {
    let mut all = vec![REFUSED.to_string()];
    all.extend(docs.iter().cloned());
    of(&all, false)
}

#[test]
fn monitors_count_vms_and_not_nodes() {
    for (m, state) in [
        (monitor("web", 0, 0, 0), S::ScaledToZero),
        (monitor("web", 1, 2, 2), S::Unknown),
        (monitor("web", 0, 2, 2), S::Unknown),
        (monitor("web", 2, 1, 2), S::WorkersDegraded),
        (monitor("web", 2, 1, 1), S::WorkersMissing),
        (monitor("web", 0, 1, 2), S::WorkersScalingUp),
        (monitor("web", 2, 1, 2).replace(OLD, "2026-09-01T11:50:00Z"), S::WorkersScalingUp),
    ] {
        let v = tenant(std::slice::from_ref(&m));
        assert_eq!((v.state, v.inferred), (state, true), "{m}: {}", v.cause);
        assert!(v.next.iter().any(|n| n.text.starts_with("to confirm")), "{state}");
    }
    assert_eq!(tenant(&[]).state, S::NoPermission);
    assert_eq!(of(&[], false).state, S::Unknown);
}

#[test]
fn pods_tell_the_scheduler_text() {
    let no = |text: &str| format!("{{type: PodScheduled, status: 'False', reason: Unschedulable, message: '{text}'}}");
    let v = tenant(&[pod("x1-a", "2026-09-01T11:58:00Z", &no("0/3 nodes are available: 3 Insufficient memory."))]);
    assert_eq!((v.state, v.inferred, v.pool.as_deref()), (S::WorkersUnschedulable, true, Some("web")));
    let volume = no("pod has unbound immediate PersistentVolumeClaims");
    assert_eq!(tenant(&[pod("x1-a", "2026-09-01T11:58:00Z", &volume)]).state, S::WorkersScalingUp, "near miss");
    assert_eq!(tenant(&[pod("x1-a", "2026-09-01T11:30:00Z", &volume)]).state, S::WorkerDiskNotReady);
    let ready = "{type: Ready, status: 'True'}";
    let v = tenant(&[pod("x1-a", OLD, ready)]);
    assert_eq!(v.state, S::Unknown, "a running VM is no Node");
    assert_eq!(views(&[pod("x1-a", OLD, ready)], false)[0].machines, Some(1));
}

#[test]
fn events_speak_for_objects_that_may_not_be_read() {
    let known = monitor("web", 1, 0, 1);
    for (e, state) in [
        (
            event(
                "VirtualMachineInstance",
                "computeplane-cluster-web-x1-a",
                "FailedCreate",
                "pods is forbidden: exceeded quota: q, used: x",
            ),
            S::QuotaBlocked,
        ),
        (
            event(
                "Pod",
                "virt-launcher-computeplane-cluster-web-x1-a-abc",
                "FailedScheduling",
                "0/3 nodes are available: 3 Insufficient cpu.",
            ),
            S::WorkersUnschedulable,
        ),
        (
            event(
                "MachineHealthCheck",
                "computeplane-cluster-web",
                "RemediationRestricted",
                "Remediation restricted due to exceeded number of unhealthy machines",
            ),
            S::RemediationBlocked,
        ),
        (event("MachineSet", "computeplane-cluster-web-x1", "FailedCreate", "failed to clone: not found"), S::WorkersBlocked),
        (
            event("PersistentVolumeClaim", "computeplane-cluster-web-x1-a-disk-system", "ProvisioningFailed", "storageclass not found"),
            S::WorkerDiskNotReady,
        ),
    ] {
        let v = tenant(&[known.clone(), e.clone()]);
        assert_eq!((v.state, v.inferred, v.pool.as_deref()), (state, true, Some("web")), "{}", v.cause);
        assert!(v.cause.contains("seen 5m ago"), "{}", v.cause);
        let up = tenant(&[monitor("web", 1, 1, 1), e]);
        assert_eq!(up.state, S::Unknown, "near miss: all VMs are up by now: {}", up.cause);
    }
}

#[test]
fn the_longest_pool_name_owns_an_event() {
    let e = event("VirtualMachineInstance", "computeplane-cluster-web-gpu-x1-a", "FailedCreate", "exceeded quota: q");
    let v = tenant(&[monitor("web", 1, 0, 1), monitor("web-gpu", 1, 0, 1), e]);
    assert_eq!((v.state, v.pool.as_deref()), (S::QuotaBlocked, Some("web-gpu")));
}

#[test]
fn virtual_machines_tell_an_admin() {
    let vm = |status: &str| {
        doc(
            "kubevirt.io/v1",
            "VirtualMachine",
            "computeplane-cluster-web-x1-a",
            &format!("creationTimestamp: '2026-09-01T11:30:00Z', {}", labels("web")),
            &format!("status: {{printableStatus: {status}}}"),
        )
    };
    for (status, state) in [
        ("ErrorUnschedulable", S::WorkersUnschedulable),
        ("DataVolumeError", S::WorkerDiskNotReady),
        ("Provisioning", S::WorkerDiskNotReady),
    ] {
        let v = tenant(&[vm(status)]);
        assert_eq!((v.state, v.inferred), (state, true), "{status}: {}", v.cause);
    }
    assert_ne!(tenant(&[vm("Running")]).severity, Severity::Ready);
}

fn json() -> impl Strategy<Value = serde_json::Value> {
    use serde_json::Value;
    let keys = prop::sample::select(vec![
        "spec",
        "status",
        "conditions",
        "type",
        "reason",
        "message",
        "replicas",
        "readyReplicas",
        "kubernetesResources",
        "version",
        "deployment",
        "clusterName",
        "v1beta2",
        "deprecated",
        "v1beta1",
        "initialization",
        "nodeRef",
        "infrastructureRef",
        "bootstrap",
        "checks",
        "remediation",
        "printableStatus",
        "phase",
        "observedGeneration",
        "lastTransitionTime",
        "hard",
        "used",
        "limits.memory",
    ]);
    let words = prop::sample::select(vec![
        "True",
        "False",
        "NodeHealthy",
        "VMProvisioned",
        "RemediationAllowed",
        "TooManyUnhealthy",
        "unhealthy: 99999999999999999999",
        "1e999",
        "2026-09-01T11:00:00Z",
        "9999-12-31T23:59:59Z",
    ]);
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<i64>().prop_map(Value::from),
        any::<bool>().prop_map(Value::from),
        words.prop_map(Value::from)
    ];
    leaf.prop_recursive(5, 48, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((keys.clone(), inner), 0..6)
                .prop_map(|kv| Value::Object(kv.into_iter().map(|(k, v)| (k.to_string(), v)).collect())),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn no_json_makes_the_layers_panic(bodies in prop::collection::vec(json(), 14)) {
        let kinds = [Kind::Cluster, Kind::MachineDeployment, Kind::MachineSet, Kind::Machine, Kind::MachineHealthCheck, Kind::TenantControlPlane, Kind::DataStore,
            Kind::KamajiControlPlane, Kind::KubevirtMachine, Kind::VirtualMachine, Kind::VirtualMachineInstance, Kind::DataVolume, Kind::ResourceQuota, Kind::WorkloadMonitor];
        let mut world = World::default();
        for (kind, mut body) in kinds.into_iter().zip(bodies) {
            for version in kind.info().versions {
                if !body.is_object() {
                    body = serde_json::json!({});
                }
                let group = kind.info().group;
                body["apiVersion"] = if group.is_empty() { (*version).into() } else { format!("{group}/{version}").into() };
                body["kind"] = kind.info().name.into();
                let name = if kind == Kind::DataStore { "tenant-root" } else { "computeplane-cluster" };
                let namespace = if kind.info().namespaced { NS } else { "" };
                body["metadata"] = serde_json::json!({"name": name, "namespace": namespace, "generation": 2, "creationTimestamp": "2026-09-01T11:00:00Z"});
                world.apply(crate::model::Object::from_value(&body).unwrap());
                judged_at(&world, NS, now());
                let deadlines = Deadlines::default();
                let view = View { world: &world, namespace: NS, now: now(), deadlines: &deadlines };
                crate::health::layers::control_plane::judge(&view);
                crate::health::layers::control_plane::summary(&view);
                pool_views(&view);
            }
        }
    }
}
