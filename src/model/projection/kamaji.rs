//! Kamaji and its Cluster API provider: TenantControlPlane, DataStore, KamajiControlPlane. Owns reading them leniently; must not judge.
//! A TenantControlPlane has no conditions; a KamajiControlPlane's reasons are no severities (`status.md` 1.4, 1.5).

use std::sync::Arc;

use serde_json::Value;

use super::{Body, Condition, array, at, conditions, find, text};
use crate::model::Object;

/// `status.kubernetesResources.deployment`, where Kamaji has made one.
#[derive(Debug, Clone, Default, PartialEq)]
#[allow(missing_docs)] // the Kubernetes names
pub struct Pods {
    pub replicas: i64,
    pub ready: i64,
    pub unavailable: i64,
}

/// TenantControlPlane (`kamaji.clastix.io/v1alpha1`).
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TenantControlPlane {
    /// `status.kubernetesResources.version.status`; empty while Kamaji has not touched it.
    pub state: Arc<str>,
    /// `status.kubernetesResources.version.version`: what was last ready; empty before the first success.
    pub version: Arc<str>,
    /// `spec.kubernetes.version`.
    pub wanted_version: Arc<str>,
    /// `spec.controlPlane.deployment.replicas`.
    pub wanted: Option<i64>,
    /// The Deployment's counts; `None` when none was made.
    pub pods: Option<Pods>,
    /// `status.controlPlaneEndpoint`.
    pub endpoint: Arc<str>,
    /// `status.storage.dataStoreName`, else `spec.dataStore`.
    pub data_store: Arc<str>,
    /// `spec.writePermissions`, the limitations that are on.
    pub limits: Vec<Arc<str>>,
    /// `status.observedGeneration`.
    pub observed_generation: Option<i64>,
    /// No status at all: not even Kamaji's first look (`status.md` 8.17).
    pub untouched: bool,
}

impl TenantControlPlane {
    /// Projects the served object.
    pub fn project(v: &Value) -> Self {
        let resources = at(v, &["status", "kubernetesResources"]).unwrap_or(&Value::Null);
        let version = resources.get("version").unwrap_or(&Value::Null);
        let deployment = resources.get("deployment").filter(|d| d.as_object().is_some_and(|o| !o.is_empty()));
        let count = |d: &Value, k: &str| d.get(k).and_then(Value::as_i64).unwrap_or(0);
        let spec = v.get("spec").unwrap_or(&Value::Null);
        let storage = at(v, &["status", "storage"]).map(|s| text(s, "dataStoreName")).filter(|s| !s.is_empty());
        let limits = spec.get("writePermissions").and_then(Value::as_object).into_iter().flatten();
        TenantControlPlane {
            state: text(version, "status"),
            version: text(version, "version"),
            wanted_version: spec.get("kubernetes").map(|k| text(k, "version")).unwrap_or_default(),
            wanted: at(spec, &["controlPlane", "deployment", "replicas"]).and_then(Value::as_i64),
            pods: deployment.map(|d| Pods {
                replicas: count(d, "replicas"),
                ready: count(d, "readyReplicas"),
                unavailable: count(d, "unavailableReplicas"),
            }),
            endpoint: v.get("status").map(|s| text(s, "controlPlaneEndpoint")).unwrap_or_default(),
            data_store: storage.unwrap_or_else(|| text(spec, "dataStore")),
            limits: limits.filter(|(_, on)| on.as_bool() == Some(true)).map(|(k, _)| Arc::from(k.as_str())).collect(),
            observed_generation: at(v, &["status", "observedGeneration"]).and_then(Value::as_i64),
            untouched: v.get("status").and_then(Value::as_object).is_none_or(serde_json::Map::is_empty),
        }
    }

    /// The projection in an object, if it is of this kind.
    pub fn of(object: &Object) -> Option<&TenantControlPlane> {
        match &object.body {
            Body::TenantControlPlane(x) => Some(x),
            _ => None,
        }
    }
}

/// DataStore (`kamaji.clastix.io/v1alpha1`, cluster-scoped).
#[derive(Debug, Clone, Default, PartialEq)]
pub struct DataStore {
    /// `status.ready`: only says that its TLS settings are valid (`status.md` 8.18).
    pub ready: Option<bool>,
    /// `status.usedBy`.
    pub used_by: Vec<Arc<str>>,
}

impl DataStore {
    /// Projects the served object.
    pub fn project(v: &Value) -> Self {
        let status = v.get("status").unwrap_or(&Value::Null);
        DataStore {
            ready: status.get("ready").and_then(Value::as_bool),
            used_by: array(status, "usedBy").filter_map(Value::as_str).map(Arc::from).collect(),
        }
    }

    /// The projection in an object, if it is of this kind.
    pub fn of(object: &Object) -> Option<&DataStore> {
        match &object.body {
            Body::DataStore(x) => Some(x),
            _ => None,
        }
    }
}

/// KamajiControlPlane (`controlplane.cluster.x-k8s.io`, v1alpha1 and v1alpha2).
#[derive(Debug, Clone, Default, PartialEq)]
pub struct KamajiControlPlane {
    /// `status.ready`.
    pub ready: Option<bool>,
    /// `status.initialized`, or `status.initialization.controlPlaneInitialized`.
    pub initialized: Option<bool>,
    /// `status.version`; empty before the first success.
    pub version: Arc<str>,
    /// `spec.version`.
    pub wanted_version: Arc<str>,
    /// `spec.replicas`.
    pub wanted: Option<i64>,
    /// `status.readyReplicas`.
    pub ready_replicas: Option<i64>,
    /// `status.failureMessage`.
    pub failure: Arc<str>,
    /// `spec.dataStoreName`.
    pub data_store: Arc<str>,
    /// `status.conditions`, both styles.
    pub conditions: Vec<Condition>,
}

/// Condition types in the order in which the provider writes them; older spellings beside the newer.
const STEPS: &[&[&str]] = &[
    &["TenantControlPlaneCreated"],
    &["TenantControlPlaneAddressReady", "TenantcontrolPlaneAddressReady"],
    &["ControlPlaneEndpointPatched"],
    &["InfrastructureClusterPatched"],
    &["KamajiControlPlaneIsInitialized"],
    &["KubeadmResourcesCreated"],
    &["KamajiControlPlaneIsReady"],
];

impl KamajiControlPlane {
    /// Projects the served object.
    pub fn project(v: &Value) -> Self {
        let spec = v.get("spec").unwrap_or(&Value::Null);
        let status = v.get("status").unwrap_or(&Value::Null);
        let flag = |path: &[&str]| at(status, path).and_then(Value::as_bool);
        KamajiControlPlane {
            ready: flag(&["ready"]),
            initialized: flag(&["initialized"]).or_else(|| flag(&["initialization", "controlPlaneInitialized"])),
            version: text(status, "version"),
            wanted_version: text(spec, "version"),
            wanted: spec.get("replicas").and_then(Value::as_i64),
            ready_replicas: status.get("readyReplicas").and_then(Value::as_i64),
            failure: text(status, "failureMessage"),
            data_store: text(spec, "dataStoreName"),
            conditions: conditions(status, &["conditions"]),
        }
    }

    /// The projection in an object, if it is of this kind.
    pub fn of(object: &Object) -> Option<&KamajiControlPlane> {
        match &object.body {
            Body::KamajiControlPlane(x) => Some(x),
            _ => None,
        }
    }

    /// The first step that isn't True, in the provider's order: later ones are stale or absent (`status.md` 1.5).
    pub fn first_open_step(&self) -> Option<&Condition> {
        STEPS.iter().filter_map(|names| names.iter().find_map(|n| find(&self.conditions, n))).find(|c| &*c.status != "True")
    }
}
