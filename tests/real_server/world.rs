//! What the real server holds: the recorded healthy plane in `tenant-acme`, and roles. Must not hold assertions about the product.

use std::path::Path;

use serde::Deserialize as _;
use serde_json::{Value, json};

use crate::support::apiserver::ApiServer;

/// Where the plane lives.
pub const NS: &str = "tenant-acme";

/// The recorded healthy plane, in our namespace and with nothing that a server sets; the ComputePlane first.
pub fn healthy() -> Vec<Value> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/recorded/40-healthy-three-workers.yaml");
    let text = std::fs::read_to_string(path).unwrap().replace("tenant-vega", NS);
    let loaded = serde_yaml::Deserializer::from_str(&text).map(|d| Value::deserialize(d).unwrap());
    let mut out = vec![
        json!({"apiVersion": "apps.cozystack.io/v1alpha1", "kind": "ComputePlane", "metadata": {"name": "computeplane", "namespace": NS},
        "spec": {"nodeGroups": {"web": {"minReplicas": 3, "maxReplicas": 6, "instanceType": "u1.medium", "diskSize": "20Gi", "roles": ["ingress-nginx"]},
            "gpu": {"minReplicas": 0, "maxReplicas": 2, "instanceType": "u1.xlarge", "diskSize": "20Gi", "roles": []}}},
        "status": {"conditions": [{"type": "Ready", "status": "True", "reason": "InstallSucceeded", "message": "ok", "lastTransitionTime": "2026-11-30T21:24:51Z"}]}}),
    ];
    for mut object in loaded {
        if object["metadata"]["namespace"] != NS {
            continue;
        }
        let meta = object["metadata"].as_object_mut().unwrap();
        for set_by_server in ["resourceVersion", "uid", "creationTimestamp", "generation", "ownerReferences", "finalizers"] {
            meta.remove(set_by_server);
        }
        out.push(object);
    }
    out
}

/// A namespace.
pub async fn namespace(server: &ApiServer, name: &str) {
    server.create(&json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})).await;
}

/// Definitions, the namespace and the healthy plane.
pub async fn seed(server: &ApiServer) {
    server.seed_kinds().await;
    namespace(server, NS).await;
    for object in healthy() {
        if planedeck::model::kind::KINDS.iter().any(|k| Some(k.name) == object["kind"].as_str() && k.group.contains('.')) {
            server.create(&object).await;
        }
    }
}

/// The release named so.
pub fn release(name: &str) -> Value {
    json!({"apiVersion": "helm.toolkit.fluxcd.io/v2", "kind": "HelmRelease", "metadata": {"name": name, "namespace": NS}})
}

/// A role of [`NS`] that reads everything the console follows there, and its binding to a user.
pub fn reader(user: &str) -> [Value; 2] {
    [
        json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role", "metadata": {"name": "reader", "namespace": NS},
            "rules": [{"apiGroups": ["apps.cozystack.io", "helm.toolkit.fluxcd.io", "cluster.x-k8s.io", "controlplane.cluster.x-k8s.io"],
                "resources": ["*"], "verbs": ["get", "list", "watch"]}]}),
        json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding", "metadata": {"name": "reader", "namespace": NS},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "reader"},
            "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": user}]}),
    ]
}
