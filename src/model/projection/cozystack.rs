//! The platform's own kinds: applications, tenant namespaces, options, workload monitors, packages. Owns reading them leniently; must not judge.

use std::{
    hash::{Hash, Hasher},
    ops::Deref,
    sync::Arc,
};

use serde_json::{Map, Value};

use super::{Body, Condition, array, at, conditions, find, text};
use crate::model::{Object, intern::Pool};

/// Pools by name, as they stand. The application, its release and the cluster's release carry the same, so they are held once.
#[derive(Debug, Clone, Default)]
pub struct Groups(Map<String, Value>);

impl Deref for Groups {
    type Target = Map<String, Value>;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl Groups {
    fn text(&self) -> String {
        serde_json::to_string(&self.0).unwrap_or_default()
    }
}

/// Maps are equal in any order of their keys, but the order is the owner's own and must not be another's.
impl PartialEq for Groups {
    fn eq(&self, other: &Groups) -> bool {
        self.0 == other.0 && self.text() == other.text()
    }
}
impl Eq for Groups {}

impl Hash for Groups {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.text().hash(state);
    }
}

static GROUPS: Pool<Groups> = Pool::new();

/// The one copy of these pools.
pub(super) fn groups(map: &Map<String, Value>) -> Arc<Groups> {
    let own = Groups(map.clone());
    GROUPS.one(&own, || Arc::new(own.clone()))
}

/// An application of the aggregated API: ComputePlane, KubernetesNodes, Tenant, TenantModule.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct App {
    /// `spec.nodeGroups`: the pools by name, each as it stands (open schema). `None` where the key is absent.
    pub node_groups: Option<Arc<Groups>>,
    /// `spec.computeplane` of a Tenant.
    pub computeplane: Option<bool>,
    /// `spec.etcd` of a Tenant.
    pub etcd: Option<bool>,
    /// `status.version`: the last attempted chart revision.
    pub version: Arc<str>,
    /// `status.conditions`. They carry no generation: staleness can't be seen here.
    pub conditions: Box<[Condition]>,
}

impl App {
    /// Projects the served object.
    pub fn project(v: &Value) -> Self {
        let status = v.get("status").unwrap_or(&Value::Null);
        let flag = |key: &str| at(v, &["spec", key]).and_then(Value::as_bool);
        App {
            node_groups: at(v, &["spec", "nodeGroups"]).and_then(Value::as_object).map(groups),
            computeplane: flag("computeplane"),
            etcd: flag("etcd"),
            version: text(status, "version"),
            conditions: conditions(status, &["conditions"]),
        }
    }

    /// A copy of the pools, to be changed; empty where there are none.
    pub fn groups(&self) -> Map<String, Value> {
        self.node_groups.as_ref().map(|g| g.0.clone()).unwrap_or_default()
    }

    /// The application in an object, if it is one.
    pub fn of(object: &Object) -> Option<&App> {
        match &object.body {
            Body::App(a) => Some(a),
            _ => None,
        }
    }

    /// The condition of one type.
    pub fn condition(&self, kind: &str) -> Option<&Condition> {
        find(&self.conditions, kind)
    }
}

/// TenantNamespace and Namespace: what matters is their labels (in the metadata).
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TenantNamespace {
    /// `status.phase`: `Active`, `Terminating`; empty where absent.
    pub phase: Arc<str>,
}

impl TenantNamespace {
    /// Projects the served object.
    pub fn project(v: &Value) -> Self {
        TenantNamespace { phase: at(v, &["status"]).map(|s| text(s, "phase")).unwrap_or_default() }
    }
}

/// One choice of an option list.
#[derive(Debug, Clone, Default, PartialEq)]
#[allow(missing_docs)] // the platform's names
pub struct Choice {
    pub value: Arc<str>,
    pub label: Arc<str>,
    pub description: Arc<str>,
    pub default: bool,
}

/// An option list (`core.cozystack.io` Option).
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Options {
    /// Choices in the server's order.
    pub items: Vec<Choice>,
}

impl Options {
    /// Projects the served object.
    pub fn project(v: &Value) -> Self {
        let list = |v: &Value| {
            array(v, "items")
                .map(|i| Choice {
                    value: text(i, "value"),
                    label: text(i, "label"),
                    description: text(i, "description"),
                    default: i.get("default").and_then(Value::as_bool).unwrap_or(false),
                })
                .filter(|c| !c.value.is_empty())
                .collect::<Vec<_>>()
        };
        let own = list(v);
        Options { items: if own.is_empty() { ["spec", "status"].iter().filter_map(|k| v.get(k)).flat_map(list).collect() } else { own } }
    }

    /// The options in an object, if it holds some.
    pub fn of(object: &Object) -> Option<&Options> {
        match &object.body {
            Body::Options(o) => Some(o),
            _ => None,
        }
    }
}

/// WorkloadMonitor.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Monitor {
    /// `spec.kind`.
    pub kind: Arc<str>,
    /// `spec.type`: `control-plane`, `worker`, ….
    pub type_: Arc<str>,
    /// `spec.minReplicas`: with 0 the monitor is always operational.
    pub min: Option<i64>,
    /// `spec.replicas`.
    pub replicas: Option<i64>,
    /// `status.operational`; `None` = never evaluated.
    pub operational: Option<bool>,
    /// `status.availableReplicas`: Ready pods.
    pub available: Option<i64>,
    /// `status.observedReplicas`: matching pods.
    pub observed: Option<i64>,
}

impl Monitor {
    /// Projects the served object.
    pub fn project(v: &Value) -> Self {
        let spec = v.get("spec").unwrap_or(&Value::Null);
        let status = v.get("status").unwrap_or(&Value::Null);
        let int = |v: &Value, key: &str| v.get(key).and_then(Value::as_i64);
        Monitor {
            kind: text(spec, "kind"),
            type_: text(spec, "type"),
            min: int(spec, "minReplicas"),
            replicas: int(spec, "replicas"),
            operational: status.get("operational").and_then(Value::as_bool),
            available: int(status, "availableReplicas"),
            observed: int(status, "observedReplicas"),
        }
    }

    /// The monitor in an object, if it is one.
    pub fn of(object: &Object) -> Option<&Monitor> {
        match &object.body {
            Body::Monitor(m) => Some(m),
            _ => None,
        }
    }
}

/// Workload.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Workload {
    /// `status.kind`.
    pub kind: Arc<str>,
    /// `status.type`.
    pub type_: Arc<str>,
    /// `status.operational`.
    pub operational: Option<bool>,
}

impl Workload {
    /// Projects the served object.
    pub fn project(v: &Value) -> Self {
        let status = v.get("status").unwrap_or(&Value::Null);
        Workload {
            kind: text(status, "kind"),
            type_: text(status, "type"),
            operational: status.get("operational").and_then(Value::as_bool),
        }
    }

    /// The workload in an object, if it is one.
    pub fn of(object: &Object) -> Option<&Workload> {
        match &object.body {
            Body::Workload(w) => Some(w),
            _ => None,
        }
    }
}

/// Kinds of which conditions and a few failure fields matter: Package, PackageSource, ExternalArtifact, TalosConfig, KubevirtCluster.
/// `status.talosConfig` of a TalosConfig carries a credential: it is never read.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Conditioned {
    /// `status.conditions`.
    pub conditions: Box<[Condition]>,
    /// `status.ready`.
    pub ready: Option<bool>,
    /// `status.dependencies.<name>.ready` of a Package.
    pub dependencies: Vec<(Arc<str>, bool)>,
    /// `status.failureReason`; empty where absent.
    pub failure_reason: Arc<str>,
    /// `status.failureMessage`; empty where absent.
    pub failure_message: Arc<str>,
    /// A TalosConfig has written its bootstrap data: `status.dataSecretName` or `status.initialization.dataSecretCreated`.
    pub data_secret: bool,
    /// An ExternalArtifact has an artifact.
    pub artifact: bool,
}

impl Conditioned {
    /// Projects the served object.
    pub fn project(v: &Value) -> Self {
        let status = v.get("status").unwrap_or(&Value::Null);
        let ready = |d: &Value| d.get("ready").and_then(Value::as_bool).unwrap_or(false);
        Conditioned {
            conditions: conditions(status, &["conditions"]),
            ready: status.get("ready").and_then(Value::as_bool),
            dependencies: status
                .get("dependencies")
                .and_then(Value::as_object)
                .into_iter()
                .flatten()
                .map(|(name, d)| (Arc::from(name.as_str()), ready(d)))
                .collect(),
            failure_reason: text(status, "failureReason"),
            failure_message: text(status, "failureMessage"),
            data_secret: status.get("dataSecretName").and_then(Value::as_str).is_some_and(|s| !s.is_empty())
                || at(status, &["initialization", "dataSecretCreated"]).and_then(Value::as_bool) == Some(true),
            artifact: status.get("artifact").is_some_and(Value::is_object),
        }
    }

    /// The projection in an object, if it is of this family.
    pub fn of(object: &Object) -> Option<&Conditioned> {
        match &object.body {
            Body::Conditioned(c) => Some(c),
            _ => None,
        }
    }

    /// The condition of one type.
    pub fn condition(&self, kind: &str) -> Option<&Condition> {
        find(&self.conditions, kind)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_monitor_that_was_never_evaluated_says_nothing() {
        let m = Monitor::project(&json!({"spec": {"type": "worker", "minReplicas": 0}}));
        assert_eq!((m.operational, m.available, m.min, &*m.type_), (None, None, Some(0), "worker"));
    }

    #[test]
    fn options_are_read_from_wherever_the_server_puts_them() {
        let item = json!({"value": "u1.medium", "default": true});
        for v in [json!({"items": [item]}), json!({"spec": {"items": [item]}}), json!({"status": {"items": [item]}})] {
            assert_eq!(Options::project(&v).items.len(), 1, "{v}");
        }
    }

    #[test]
    fn the_talos_credential_is_not_kept() {
        let c = Conditioned::project(&json!({"status": {"talosConfig": "SECRET", "dataSecretName": "x"}}));
        assert!(c.data_secret && !format!("{c:?}").contains("SECRET"));
    }
}
