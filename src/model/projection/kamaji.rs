//! Kamaji: TenantControlPlane, DataStore, KamajiControlPlane of both versions. Owns reading them leniently; must not judge.

use std::sync::Arc;

use serde_json::Value;

use super::{Body, Condition, array, at, conditions, find, text, time};
use crate::model::{Object, Time, intern::intern};

macro_rules! of {
    ($($name:ident),+) => {
        $(impl $name {
            /// The projection in an object, if it is of this kind.
            pub fn of(object: &Object) -> Option<&$name> {
                match &object.body {
                    Body::$name(x) => Some(x),
                    _ => None,
                }
            }
        })+
    };
}
of!(TenantControlPlane, DataStore, KamajiControlPlane);

/// What a TenantControlPlane copies of its Deployment's status.
#[derive(Debug, Clone, Default, PartialEq)]
#[allow(missing_docs)] // the Kubernetes names
pub struct Rollout {
    pub replicas: i64,
    pub ready: i64,
    pub updated: i64,
    pub unavailable: i64,
    /// `status.kubernetesResources.deployment.lastUpdate`.
    pub last_update: Option<Time>,
    pub conditions: Box<[Condition]>,
}

/// TenantControlPlane. It has neither conditions nor events.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TenantControlPlane {
    /// `spec.kubernetes.version`: what is wanted.
    pub wanted: Arc<str>,
    /// `spec.controlPlane.deployment.replicas`.
    pub replicas: Option<i64>,
    /// `spec.dataStore`.
    pub data_store: Arc<str>,
    /// Names of the limits of `spec.writePermissions` that are on.
    pub write_limits: Vec<String>,
    /// The status holds something: Kamaji has worked on it.
    pub processed: bool,
    /// `status.kubernetesResources.version.version`: what was Ready last; empty before the first success.
    pub version: Arc<str>,
    /// `status.kubernetesResources.version.status`; an open enum.
    pub status: Arc<str>,
    /// `status.kubernetesResources.deployment`; `None` before it was made.
    pub deployment: Option<Rollout>,
    /// `status.controlPlaneEndpoint`.
    pub endpoint: Arc<str>,
    /// `status.observedGeneration`.
    pub observed_generation: Option<i64>,
}

impl TenantControlPlane {
    /// Projects the served object.
    pub fn project(v: &Value) -> Self {
        let null = Value::Null;
        let (spec, status) = (v.get("spec").unwrap_or(&null), v.get("status").unwrap_or(&null));
        let version = at(status, &["kubernetesResources", "version"]).unwrap_or(&null);
        let limits = spec.get("writePermissions").and_then(Value::as_object);
        TenantControlPlane {
            wanted: at(spec, &["kubernetes"]).map(|k| text(k, "version")).unwrap_or_default(),
            replicas: at(spec, &["controlPlane", "deployment", "replicas"]).and_then(Value::as_i64),
            data_store: text(spec, "dataStore"),
            write_limits: limits.into_iter().flatten().filter(|(_, on)| **on == Value::Bool(true)).map(|(k, _)| k.clone()).collect(),
            processed: status.as_object().is_some_and(|s| !s.is_empty()),
            version: text(version, "version"),
            status: text(version, "status"),
            deployment: at(status, &["kubernetesResources", "deployment"])
                .filter(|d| d.as_object().is_some_and(|d| !d.is_empty()))
                .map(rollout),
            endpoint: text(status, "controlPlaneEndpoint"),
            observed_generation: status.get("observedGeneration").and_then(Value::as_i64),
        }
    }
}

fn rollout(d: &Value) -> Rollout {
    let int = |key: &str| d.get(key).and_then(Value::as_i64).unwrap_or(0);
    Rollout {
        replicas: int("replicas"),
        ready: int("readyReplicas"),
        updated: int("updatedReplicas"),
        unavailable: int("unavailableReplicas"),
        last_update: time(d, "lastUpdate"),
        conditions: conditions(d, &["conditions"]),
    }
}

/// DataStore.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct DataStore {
    /// `status.ready`: only that its TLS settings are valid; true with etcd dead (`status.md` 8.18).
    pub ready: Option<bool>,
    /// `status.usedBy`.
    pub used_by: Vec<Arc<str>>,
    /// `status.conditions`.
    pub conditions: Box<[Condition]>,
}

impl DataStore {
    /// Projects the served object.
    pub fn project(v: &Value) -> Self {
        let status = v.get("status").unwrap_or(&Value::Null);
        DataStore {
            ready: status.get("ready").and_then(Value::as_bool),
            used_by: array(status, "usedBy").filter_map(Value::as_str).map(Arc::from).collect(),
            conditions: conditions(status, &["conditions"]),
        }
    }
}

/// The steps of a KamajiControlPlane in the order in which its controller takes them.
pub const STEPS: [&str; 7] = [
    "TenantControlPlaneCreated",
    "TenantControlPlaneAddressReady",
    "ControlPlaneEndpointPatched",
    "InfrastructureClusterPatched",
    "KamajiControlPlaneIsInitialized",
    "KubeadmResourcesCreated",
    "KamajiControlPlaneIsReady",
];

/// KamajiControlPlane, v1alpha1 and v1alpha2.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct KamajiControlPlane {
    /// `spec.version`: what is wanted.
    pub wanted: Arc<str>,
    /// `spec.replicas`.
    pub replicas: Option<i64>,
    /// `spec.dataStoreName`.
    pub data_store: Arc<str>,
    /// Was Ready once.
    pub initialized: bool,
    /// `status.ready`: true while the TenantControlPlane is Ready or Upgrading.
    pub ready: bool,
    /// `status.version`; empty before the first success.
    pub version: Arc<str>,
    /// `status.readyReplicas`.
    pub ready_replicas: Option<i64>,
    /// `status.failureMessage`, else `status.failureReason`; empty where absent.
    pub failure: Arc<str>,
    /// `status.conditions`, older spellings made new.
    pub conditions: Box<[Condition]>,
}

impl KamajiControlPlane {
    /// Projects the served object.
    pub fn project(v: &Value) -> Self {
        let null = Value::Null;
        let (spec, status) = (v.get("spec").unwrap_or(&null), v.get("status").unwrap_or(&null));
        let flag = |path: &[&str]| at(status, path).and_then(Value::as_bool) == Some(true);
        let message = text(status, "failureMessage");
        KamajiControlPlane {
            wanted: text(spec, "version"),
            replicas: spec.get("replicas").and_then(Value::as_i64),
            data_store: text(spec, "dataStoreName"),
            initialized: flag(&["initialized"]) || flag(&["initialization", "controlPlaneInitialized"]),
            ready: flag(&["ready"]),
            version: text(status, "version"),
            ready_replicas: status.get("readyReplicas").and_then(Value::as_i64),
            failure: if message.is_empty() { text(status, "failureReason") } else { message },
            conditions: conditions(status, &["conditions"]).into_iter().map(respelled).collect(),
        }
    }

    /// The condition of one type.
    pub fn condition(&self, kind: &str) -> Option<&Condition> {
        find(&self.conditions, kind)
    }

    /// The first step that isn't done: later ones are stale or absent.
    pub fn first_open(&self) -> Option<&Condition> {
        STEPS.iter().filter_map(|s| self.condition(s)).find(|c| &*c.status != "True")
    }
}

/// Providers before 0.16 write `TenantcontrolPlane…`; case alone tells the spellings apart.
fn respelled(c: Condition) -> Condition {
    match STEPS.iter().find(|s| s.eq_ignore_ascii_case(&c.kind)).filter(|s| ***s != *c.kind) {
        Some(step) => c.headed(|w| w.kind = intern(step)),
        None => c,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_empty_status_is_not_processed() {
        assert!(!TenantControlPlane::project(&json!({"status": {}})).processed);
        assert!(!TenantControlPlane::project(&json!({})).processed);
        let t = TenantControlPlane::project(&json!({"spec": {"writePermissions": {"blockCreation": true, "blockUpdate": false}},
            "status": {"kubernetesResources": {"version": {"status": "Ready", "version": "v1"}, "deployment": {}}}}));
        assert!(t.processed && t.deployment.is_none());
        assert_eq!(t.write_limits, ["blockCreation"]);
    }

    #[test]
    fn both_versions_of_the_provider() {
        let old = KamajiControlPlane::project(&json!({"status": {"initialized": true, "conditions": [
            {"type": "TenantControlPlaneCreated", "status": "True"}, {"type": "KamajiControlPlaneIsReady", "status": "False"},
            {"type": "TenantcontrolPlaneAddressReady", "status": "False", "message": "m"}]}}));
        assert_eq!(&*old.first_open().unwrap().message, "m");
        let new = KamajiControlPlane::project(&json!({"status": {"initialization": {"controlPlaneInitialized": true}}}));
        assert!(old.initialized && new.initialized && new.first_open().is_none());
    }
}
