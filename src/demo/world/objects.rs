//! Small objects around a plane: namespaces, monitors, workloads, pods, events, quota and what the cluster scope holds.
//! Owns these documents; each function makes one.

use serde_json::{Map, Value, json};

use super::template::{File, Fill, objects};
use crate::{
    demo::store::{short, uid},
    model::Time,
};

/// The object an event is about.
pub(super) struct About<'a> {
    pub ns: &'a str,
    pub api: &'a str,
    pub kind: &'a str,
    pub name: &'a str,
}

/// An event: (type, reason, message), who says it, and when.
pub(super) fn event(about: &About, said: (&str, &str, &str), by: &str, at: Time) -> Value {
    let tail = uid(said.1, about.name, &format!("{}{}", said.2, at.as_second())).replace('-', "");
    let id = format!("{}.{:.16}", about.name, tail);
    json!({"apiVersion": "v1", "kind": "Event",
        "metadata": {"name": id, "namespace": about.ns, "creationTimestamp": short(at)},
        "involvedObject": {"kind": about.kind, "namespace": about.ns, "name": about.name, "apiVersion": about.api,
            "uid": uid(about.kind, about.ns, about.name)},
        "reason": said.1, "message": said.2, "source": {"component": by}, "firstTimestamp": short(at),
        "lastTimestamp": short(at), "count": 1, "type": said.0, "eventTime": null, "reportingComponent": by,
        "reportingInstance": ""})
}

/// A tenant namespace; `etcd` names the namespace that provides the DataStore, empty for none.
pub(super) fn namespace(name: &str, etcd: &str, born: Time) -> Value {
    let mut labels = Map::new();
    labels.insert("kubernetes.io/metadata.name".into(), json!(name));
    labels.insert("namespace.cozystack.io/etcd".into(), json!(etcd));
    let host = format!("{}.example.org", name.trim_start_matches("tenant-"));
    labels.insert("namespace.cozystack.io/host".into(), json!(host));
    for key in ["gateway", "ingress", "monitoring", "seaweedfs"] {
        labels.insert(format!("namespace.cozystack.io/{key}"), json!(if etcd.is_empty() { "" } else { "tenant-root" }));
    }
    for above in crate::demo::rbac::ancestors(name).iter().map(String::as_str).chain([name]) {
        labels.insert(format!("tenant.cozystack.io/{above}"), json!(""));
    }
    json!({"apiVersion": "v1", "kind": "Namespace",
        "metadata": {"name": name, "creationTimestamp": short(born), "labels": labels},
        "spec": {"finalizers": ["kubernetes"]}, "status": {"phase": "Active"}})
}

/// A monitor: of the control plane (`pool` empty, belongs to the ComputePlane) or of a pool (belongs to KubernetesNodes).
pub(super) fn monitor(ns: &str, pool: &str, min: i64, seen: (i64, i64), born: Time) -> Value {
    let (observed, available) = seen;
    let control = pool.is_empty();
    let name = if control { "computeplane-cluster".to_string() } else { format!("computeplane-cluster-{pool}") };
    let (app, of) = if control { ("ComputePlane", "computeplane".to_string()) } else { ("KubernetesNodes", name.clone()) };
    let release = if control { "computeplane-cluster".to_string() } else { super::release::pool_release_name(pool) };
    let selector = if control {
        json!({"kamaji.clastix.io/name": "computeplane-cluster", "kamaji.clastix.io/component": "deployment"})
    } else {
        json!({"cluster.x-k8s.io/cluster-name": "computeplane-cluster", "cluster.x-k8s.io/deployment-name": name,
            "cluster.x-k8s.io/role": "worker"})
    };
    let mut spec = json!({"kind": "kubernetes", "type": if control { "control-plane" } else { "worker" },
        "minReplicas": min, "selector": selector, "version": "0.0.0"});
    if let (true, Some(s)) = (control, spec.as_object_mut()) {
        s.insert("replicas".into(), json!(2));
    }
    json!({"apiVersion": "cozystack.io/v1alpha1", "kind": "WorkloadMonitor",
        "metadata": {"name": name, "namespace": ns, "creationTimestamp": short(born), "generation": 1,
            "annotations": {"meta.helm.sh/release-name": release, "meta.helm.sh/release-namespace": ns},
            "labels": {"app.kubernetes.io/managed-by": "Helm", "apps.cozystack.io/application.group": "apps.cozystack.io",
                "apps.cozystack.io/application.kind": app, "apps.cozystack.io/application.name": of}},
        "spec": spec,
        "status": {"operational": available >= min, "availableReplicas": available, "observedReplicas": observed}})
}

/// The pod of a worker's VM.
pub(super) fn launcher(ns: &str, pool: &str, machine: &str, running: bool, born: Time) -> Value {
    let labels = json!({"kubevirt.io": "virt-launcher", "vm.kubevirt.io/name": machine,
        "cluster.x-k8s.io/cluster-name": "computeplane-cluster", "cluster.x-k8s.io/role": "worker",
        "cluster.x-k8s.io/deployment-name": format!("computeplane-cluster-{pool}")});
    let tail = uid("Pod", ns, machine);
    pod(ns, &format!("virt-launcher-{machine}-{:.5}", tail), labels, running, born)
}

/// A pod of the control plane.
pub(super) fn control_plane_pod(ns: &str, number: usize, born: Time) -> Value {
    let labels = json!({"kamaji.clastix.io/name": "computeplane-cluster", "kamaji.clastix.io/component": "deployment"});
    let tail = uid("Pod", ns, &format!("cp{number}"));
    pod(ns, &format!("computeplane-cluster-7d9f5c8b6-{:.5}", tail), labels, true, born)
}

fn pod(ns: &str, name: &str, labels: Value, ready: bool, born: Time) -> Value {
    let state = if ready { json!({"running": {"startedAt": short(born)}}) } else { json!({"waiting": {"reason": "ContainerCreating"}}) };
    let status = if ready { "True" } else { "False" };
    json!({"apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": name, "namespace": ns, "creationTimestamp": short(born), "labels": labels},
        "spec": {"nodeName": "srv1", "containers": [{"name": "compute", "image": "registry.example.org/launcher:v1"}]},
        "status": {"phase": if ready { "Running" } else { "Pending" }, "podIP": "10.244.0.9", "startTime": short(born),
            "conditions": [{"type": "Ready", "status": status, "lastTransitionTime": short(born)},
                {"type": "PodScheduled", "status": "True", "lastTransitionTime": short(born)}],
            "containerStatuses": [{"name": "compute", "ready": ready, "restartCount": 0, "state": state}]}})
}

/// The Workload the platform makes of a pod.
pub(super) fn workload(pod: &Value, monitor: &str) -> Value {
    let text = |p: &str| pod.pointer(p).and_then(Value::as_str).unwrap_or("");
    let ready = text("/status/phase") == "Running";
    json!({"apiVersion": "cozystack.io/v1alpha1", "kind": "Workload",
        "metadata": {"name": format!("pod-{}", text("/metadata/name")), "namespace": text("/metadata/namespace"),
            "creationTimestamp": text("/metadata/creationTimestamp"), "labels": {"workloads.cozystack.io/monitor": monitor}},
        "status": {"kind": "kubernetes", "type": if monitor == "computeplane-cluster" { "control-plane" } else { "worker" },
            "resources": {"cpu": "1", "memory": "4Gi"}, "operational": ready}})
}

/// The quota of a tenant.
pub(super) fn quota(ns: &str, used_cpu: &str, used_memory: &str, born: Time) -> Value {
    let hard = json!({"limits.cpu": "128", "limits.memory": "512Gi", "requests.cpu": "64", "requests.memory": "256Gi",
        "requests.storage": "2Ti"});
    json!({"apiVersion": "v1", "kind": "ResourceQuota",
        "metadata": {"name": "tenant-quota", "namespace": ns, "creationTimestamp": short(born)},
        "spec": {"hard": hard}, "status": {"hard": hard, "used": {"limits.cpu": used_cpu, "limits.memory": used_memory,
            "requests.cpu": used_cpu, "requests.memory": used_memory, "requests.storage": "80Gi"}}})
}

/// The Role that gives away the plane's credential (`platform.md` 6). The Secret itself isn't here.
pub(super) fn credential_role(ns: &str, born: Time) -> Value {
    let read = json!(["get", "list", "watch"]);
    let rule = |group: &str, resource: &str, names: Value| json!({"verbs": read, "apiGroups": [group], "resources": [resource], "resourceNames": names});
    json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role",
        "metadata": {"name": "computeplane-cluster-dashboard-resources", "namespace": ns, "creationTimestamp": short(born)},
        "rules": [rule("networking.k8s.io", "ingresses", json!(["computeplane-cluster"])),
            rule("", "secrets", json!(["computeplane-cluster-admin-kubeconfig"])),
            rule("", "services", json!(["computeplane-cluster"])),
            rule("cozystack.io", "workloadmonitors", json!(["computeplane-cluster", "computeplane-cluster-md0"]))]})
}

/// What the cluster scope holds.
pub(super) fn cluster(born: Time, now: Time) -> Vec<Value> {
    let meta = |name: &str| json!({"name": name, "creationTimestamp": short(born)});
    let ready = |message: &str| {
        json!([{"type": "Ready", "status": "True", "reason": "Succeeded", "message": message, "observedGeneration": 1,
            "lastTransitionTime": short(born)}])
    };
    let mut out = objects(File::Definition, &Fill { names: &[], born, now });
    for (name, default) in [("replicated", "true"), ("local", "false")] {
        let mut m = meta(name);
        if let Some(m) = m.as_object_mut() {
            m.insert("annotations".into(), json!({"storageclass.kubernetes.io/is-default-class": default}));
        }
        out.push(json!({"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": m,
            "provisioner": "linstor.csi.linbit.com", "volumeBindingMode": "Immediate", "allowVolumeExpansion": true}));
    }
    out.push(json!({"apiVersion": "kamaji.clastix.io/v1alpha1", "kind": "DataStore", "metadata": meta("tenant-root"),
        "spec": {"driver": "etcd", "endpoints": ["etcd-0.tenant-root:2379"]},
        "status": {"ready": true, "usedBy": [], "observedGeneration": 1}}));
    for name in ["cozystack.computeplane-application", "cozystack.kubernetes-application"] {
        out.push(json!({"apiVersion": "cozystack.io/v1alpha1", "kind": "Package", "metadata": meta(name),
            "spec": {"variant": "kubevirt"}, "status": {"conditions": ready("reconciliation succeeded")}}));
        out.push(json!({"apiVersion": "cozystack.io/v1alpha1", "kind": "PackageSource", "metadata": meta(name),
            "spec": {}, "status": {"conditions": ready("ok")}}));
    }
    out
}
