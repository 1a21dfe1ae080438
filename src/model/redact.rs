//! What of an object may stand in a recording: a list of kept fields per kind, never a list of dropped ones.
//! Owns the lists and the masking of credentials inside free text; must not write files.

use std::sync::LazyLock;

use regex::Regex;
use serde_json::{Map, Value};

use super::Kind;

/// Metadata that stays, for every kind.
const META: &[&str] = &[
    "name",
    "namespace",
    "uid",
    "generation",
    "resourceVersion",
    "creationTimestamp",
    "deletionTimestamp",
    "finalizers",
    "ownerReferences",
];

/// Label and annotation keys stay when they start with one of these: the platform's and its controllers' own words. Never kubectl's: its
/// annotation repeats a whole object, values and all.
const KEYS: &[&str] = &[
    "cluster.x-k8s.io/",
    "machineset.cluster.x-k8s.io/",
    "capacity.cluster-autoscaler.kubernetes.io/",
    "kamaji.clastix.io/",
    "meta.helm.sh/",
    "helm.sh/",
    "helm.toolkit.fluxcd.io/",
    "reconcile.fluxcd.io/",
    "sharding.fluxcd.io/",
    "internal.cozystack.io/",
    "cozystack.io/",
    "apps.cozystack.io/",
    "namespace.cozystack.io/",
    "workloads.cozystack.io/",
    "flux-plunger.cozystack.io/",
    "app.kubernetes.io/",
    "kubevirt.io/",
    "vm.kubevirt.io/",
    "capk.cluster.x-k8s.io/",
    "machine.cluster.x-k8s.io/",
];

/// Kept paths below the object, by kind. A path keeps the whole value under it; `*` stands for any key or any item.
#[rustfmt::skip]
fn kept(kind: Kind) -> &'static [&'static str] {
    match kind {
        Kind::ComputePlane | Kind::KubernetesNodes => &["spec.nodeGroups", "appVersion", "status.version", "status.conditions", "status.namespace"],
        Kind::Tenant => &["spec.computeplane", "spec.etcd", "status.version", "status.conditions"],
        Kind::TenantModule => &["appVersion", "status.version", "status.conditions"],
        Kind::TenantNamespace | Kind::Namespace => &["status.phase"],
        Kind::OptionList => &["spec.items", "items"],
        Kind::HelmRelease => &["spec.suspend", "spec.interval", "spec.timeout", "spec.dependsOn", "spec.releaseName", "spec.storageNamespace", "spec.targetNamespace", "spec.chartRef",
            "spec.chart.spec.chart", "spec.chart.spec.sourceRef", "spec.kubeConfig.secretRef.name", "spec.install", "spec.upgrade", "spec.values.nodeGroups", "spec.values.computeplane",
            "spec.values.etcd", "spec.values.clusterReleaseName", "status"],
        Kind::WorkloadMonitor => &["spec.kind", "spec.type", "spec.minReplicas", "spec.replicas", "spec.selector", "status"],
        Kind::Workload => &["status.kind", "status.type", "status.operational"],
        Kind::Package | Kind::PackageSource | Kind::ExternalArtifact | Kind::KubevirtCluster => &["spec.variant", "spec.sourceRef.kind", "spec.sourceRef.name", "status.conditions", "status.dependencies", "status.ready"],
        Kind::TenantControlPlane => &["spec.kubernetes.version", "spec.controlPlane.deployment.replicas", "spec.dataStore", "spec.writePermissions", "status.kubernetesResources.version",
            "status.kubernetesResources.deployment", "status.controlPlaneEndpoint", "status.storage.driver", "status.storage.dataStoreName", "status.observedGeneration"],
        Kind::DataStore => &["spec.driver", "status.ready", "status.usedBy", "status.conditions", "status.observedGeneration"],
        Kind::KamajiControlPlane => &["spec.version", "spec.replicas", "spec.dataStoreName", "status"],
        Kind::Cluster => &["spec.paused", "spec.controlPlaneEndpoint", "spec.controlPlaneRef", "spec.infrastructureRef", "status"],
        Kind::MachineDeployment => &["spec.clusterName", "spec.replicas", "spec.paused", "spec.strategy", "spec.rollout", "spec.selector", "spec.template.spec.version",
            "spec.template.spec.infrastructureRef", "spec.template.spec.bootstrap.configRef", "status"],
        Kind::MachineSet => &["spec.clusterName", "spec.replicas", "spec.selector", "spec.template.spec.version", "spec.template.spec.infrastructureRef", "status"],
        Kind::Machine => &["spec.clusterName", "spec.providerID", "spec.version", "spec.infrastructureRef", "spec.bootstrap.configRef", "status"],
        Kind::MachineHealthCheck => &["spec.clusterName", "spec.maxUnhealthy", "spec.nodeStartupTimeout", "spec.selector", "spec.remediation", "spec.checks", "status"],
        Kind::KubevirtMachine => &["spec.providerID", "status"],
        // status.talosConfig is a credential: only these.
        Kind::TalosConfig => &["status.ready", "status.failureReason", "status.failureMessage", "status.conditions", "status.initialization", "status.deprecated.v1beta.conditions", "status.deprecated.v1beta1.conditions"],
        Kind::VirtualMachine | Kind::VirtualMachineInstance => &["spec.running", "spec.runStrategy", "spec.instancetype.name", "status.printableStatus", "status.phase", "status.ready", "status.created", "status.conditions", "status.nodeName"],
        Kind::DataVolume => &["status.phase", "status.progress", "status.conditions"],
        Kind::ConfigMap => &["data.status", "data.message"],
        Kind::Pod => &["spec.nodeName", "status.phase", "status.reason", "status.message", "status.conditions", "status.containerStatuses.*.name", "status.containerStatuses.*.ready",
            "status.containerStatuses.*.restartCount", "status.containerStatuses.*.state", "status.initContainerStatuses.*.name", "status.initContainerStatuses.*.ready", "status.initContainerStatuses.*.state", "status.startTime"],
        Kind::Service => &["spec.type", "spec.clusterIP", "spec.loadBalancerIP", "spec.ports", "status.loadBalancer"],
        Kind::Event => &["type", "reason", "message", "involvedObject", "firstTimestamp", "lastTimestamp", "eventTime", "count", "series", "reportingComponent", "source"],
        Kind::ResourceQuota => &["spec.hard", "status"],
        Kind::PersistentVolumeClaim => &["spec.storageClassName", "spec.resources", "status.phase", "status.conditions"],
        Kind::Job => &["spec.backoffLimit", "status"],
        Kind::Deployment => &["spec.replicas", "status"],
        Kind::StorageClass => &["provisioner", "reclaimPolicy", "allowVolumeExpansion"],
        Kind::ApplicationDefinition => &["spec.application.kind"],
        Kind::Role => &["rules"],
    }
}

/// Fields that never stay, wherever a kept subtree holds them.
const DROPPED_INSIDE: &[&str] = &["managedFields", "talosConfig", "kubeconfig", "token", "password", "data64", "caBundle"];

/// The object with nothing but kept fields, free text masked.
pub fn object(kind: Kind, value: &Value) -> Value {
    let mut out = Map::new();
    for key in ["apiVersion", "kind"] {
        if let Some(v) = value.get(key) {
            out.insert(key.into(), v.clone());
        }
    }
    if let Some(meta) = value.get("metadata").and_then(Value::as_object) {
        let mut kept: Map<String, Value> =
            meta.iter().filter(|(k, _)| META.contains(&k.as_str())).map(|(k, v)| (k.clone(), v.clone())).collect();
        for pairs in ["labels", "annotations"] {
            if let Some(map) = meta.get(pairs).and_then(Value::as_object) {
                kept.insert(
                    pairs.into(),
                    Value::Object(map.iter().filter(|(k, _)| key_stays(k)).map(|(k, v)| (k.clone(), clean(v))).collect()),
                );
            }
        }
        out.insert("metadata".into(), Value::Object(kept));
    }
    let mut result = Value::Object(out);
    for path in kept(kind) {
        let parts: Vec<&str> = path.split('.').collect();
        keep(value, &mut result, &parts);
    }
    result
}

/// Whether a label or annotation of this key may be kept.
pub fn key_stays(key: &str) -> bool {
    KEYS.iter().any(|k| key.starts_with(k))
}

/// Copies the value at `path` from `from` into `to`, making the maps and lists on the way.
fn keep(from: &Value, to: &mut Value, path: &[&str]) {
    let Some((head, rest)) = path.split_first() else {
        *to = clean(from);
        return;
    };
    match (from, *head) {
        (Value::Array(items), "*") => {
            if !to.is_array() {
                *to = Value::Array(vec![Value::Object(Map::new()); items.len()]);
            }
            let slots = to.as_array_mut().into_iter().flatten();
            items.iter().zip(slots).for_each(|(item, slot)| keep(item, slot, rest));
        }
        (Value::Object(map), key) => {
            let Some(found) = map.get(key) else { return };
            if to.is_null() {
                *to = Value::Object(Map::new());
            }
            if let Some(target) = to.as_object_mut() {
                let mut slot = target.remove(key).unwrap_or_default();
                keep(found, &mut slot, rest);
                // A path that leads nowhere must not leave an empty shell behind.
                if !slot.is_null() {
                    target.insert(key.to_string(), slot);
                }
            }
        }
        _ => {}
    }
}

fn clean(v: &Value) -> Value {
    match v {
        Value::String(s) => Value::String(mask(s)),
        Value::Array(a) => Value::Array(a.iter().map(clean).collect()),
        Value::Object(o) => {
            Value::Object(o.iter().filter(|(k, _)| !DROPPED_INSIDE.contains(&k.as_str())).map(|(k, x)| (k.clone(), clean(x))).collect())
        }
        other => other.clone(),
    }
}

static CREDENTIALS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let patterns = [
        r"eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(\.[A-Za-z0-9_-]*)?",
        r"-----BEGIN [A-Z ]+-----[\s\S]*?(-----END [A-Z ]+-----|$)",
        r"(?i)\b(bearer|basic) [A-Za-z0-9+/._~=-]{8,}",
        r#"(?i)\b(password|passwd|token|secret|api[_-]?key|client[_-]?key[_-]?data)["']?\s*[:=]\s*["']?[^\s"',;]{4,}"#,
        r"://[^/\s:@]+:[^/\s@]+@",
    ];
    Regex::new(&patterns.join("|")).ok()
});

/// Free text with everything that looks like a credential replaced by `[masked]`.
pub fn mask(s: &str) -> String {
    CREDENTIALS.as_ref().map_or_else(|| "[masked]".to_string(), |r| r.replace_all(s, "[masked]").into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_listed_fields_stay() {
        let hr = json!({"apiVersion": "helm.toolkit.fluxcd.io/v2", "kind": "HelmRelease",
            "metadata": {"name": "a", "namespace": "t", "managedFields": [1], "annotations": {"kubectl.kubernetes.io/last-applied-configuration": "x", "meta.helm.sh/release-name": "r", "my/own": "s"}},
            "spec": {"suspend": true, "values": {"nodeGroups": {"web": {"minReplicas": 1}}, "secretThing": "hunter2"}, "valuesFrom": [{"kind": "Secret"}]},
            "status": {"conditions": [{"type": "Ready", "message": "login failed: password=hunter22"}]}});
        let got = object(Kind::HelmRelease, &hr);
        assert_eq!(got["spec"], json!({"suspend": true, "values": {"nodeGroups": {"web": {"minReplicas": 1}}}}));
        assert_eq!(got["metadata"]["annotations"], json!({"meta.helm.sh/release-name": "r"}));
        assert!(!got.to_string().contains("hunter"), "{got}");
    }

    #[test]
    fn list_items_keep_their_places() {
        let pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": {"containers": [{"env": [{"value": "s"}]}]},
            "status": {"containerStatuses": [{"name": "a", "ready": true, "imageID": "x"}, {"name": "b", "ready": false}]}});
        let got = object(Kind::Pod, &pod);
        assert_eq!(got["status"]["containerStatuses"], json!([{"name": "a", "ready": true}, {"name": "b", "ready": false}]));
        assert!(got.get("spec").is_none());
    }

    #[test]
    fn a_talos_client_config_never_stays() {
        let t = json!({"apiVersion": "bootstrap.cluster.x-k8s.io/v1alpha3", "kind": "TalosConfig", "metadata": {"name": "t"}, "status": {"ready": true, "talosConfig": "ca: key"}});
        assert!(!object(Kind::TalosConfig, &t).to_string().contains("key"));
    }

    #[test]
    fn credentials_in_text_are_masked() {
        for s in [
            "Bearer abcdefghijkl",
            "token: abcdef",
            "eyJhbGciOiJ.eyJzdWIiOiJ.sig",
            "https://user:pass@host/",
            "-----BEGIN KEY-----\nabc\n-----END KEY-----",
        ] {
            assert!(mask(s).contains("[masked]"), "{s} -> {}", mask(s));
        }
        assert_eq!(mask("Helm install failed: timeout waiting for: [x]"), "Helm install failed: timeout waiting for: [x]");
    }
}
