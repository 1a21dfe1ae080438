//! Cluster API core kinds, v1beta1 and v1beta2. Owns reading them leniently; must not judge.
//! Where conditions and counters stand is decided by `apiVersion`, never by what fields look like (`status.md` 1.6).

use std::sync::Arc;

use serde_json::Value;

use super::{Body, Condition, at, conditions, find, text};
use crate::model::Object;

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
of!(Cluster, MachineDeployment, MachineSet, Machine, MachineHealthCheck);

/// The cluster that an object of Cluster API belongs to: its spec's word, else its label. A MachineDeployment need not carry the label.
pub fn cluster_name(object: &Object) -> Option<&str> {
    let named = match &object.body {
        Body::MachineDeployment(d) => &d.cluster,
        Body::MachineSet(s) => &s.cluster,
        Body::Machine(m) => &m.cluster,
        Body::MachineHealthCheck(h) => &h.cluster,
        _ => "",
    };
    if named.is_empty() { object.meta.labels.get("cluster.x-k8s.io/cluster-name").map(|v| &**v) } else { Some(named) }
}

fn is_new(api_version: &str) -> bool {
    !api_version.ends_with("/v1beta1")
}

/// Conditions of both styles.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Styles {
    /// Old style, with severities.
    pub old: Vec<Condition>,
    /// New style.
    pub new: Vec<Condition>,
}

impl Styles {
    fn project(api_version: &str, v: &Value) -> Styles {
        let strip = |mut list: Vec<Condition>| {
            // Old reasons may name the Machine that they were copied from (`status.md` 8.22).
            for c in &mut list {
                if let Some((reason, _)) = c.reason.split_once(" @ ") {
                    c.reason = reason.into();
                }
            }
            list
        };
        let (old, new): (&[&str], &[&str]) = if is_new(api_version) {
            (&["status", "deprecated", "v1beta1", "conditions"], &["status", "conditions"])
        } else {
            (&["status", "conditions"], &["status", "v1beta2", "conditions"])
        };
        Styles { old: strip(conditions(v, old)), new: strip(conditions(v, new)) }
    }

    /// The condition of a type, in the new style if it is there, else in the old.
    pub fn any(&self, kind: &str) -> Option<&Condition> {
        find(&self.new, kind).or_else(|| find(&self.old, kind))
    }

    /// All conditions of a type.
    pub fn both<'a>(&'a self, kind: &'a str) -> impl Iterator<Item = &'a Condition> {
        self.new.iter().chain(&self.old).filter(move |c| &*c.kind == kind)
    }
}

fn number(v: &Value, path: &[&str]) -> Option<i64> {
    at(v, path).and_then(Value::as_i64)
}

fn flag(v: &Value, path: &[&str]) -> Option<bool> {
    at(v, path).and_then(Value::as_bool)
}

/// Replica counters. Absent means 0 in v1beta1 (patches skip zeros) and unknown in v1beta2.
#[derive(Debug, Clone, Default, PartialEq)]
#[allow(missing_docs)] // the Kubernetes names
pub struct Counts {
    pub replicas: Option<i64>,
    pub ready: Option<i64>,
    pub available: Option<i64>,
    pub updated: Option<i64>,
}

impl Counts {
    fn project(api_version: &str, v: &Value) -> Counts {
        let status = v.get("status").unwrap_or(&Value::Null);
        let new = is_new(api_version);
        let get = |k: &str| status.get(k).and_then(Value::as_i64).or(if new { None } else { Some(0) });
        Counts {
            replicas: get("replicas"),
            ready: get("readyReplicas"),
            available: get("availableReplicas"),
            updated: get(if new { "upToDateReplicas" } else { "updatedReplicas" }),
        }
    }
}

/// Cluster.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Cluster {
    /// `spec.paused`: the whole tree.
    pub paused: bool,
    /// `status.phase`.
    pub phase: Arc<str>,
    /// Infrastructure provisioned; latched.
    pub infrastructure: bool,
    /// Control plane was initialised once; latched.
    pub initialized: bool,
    /// `spec.controlPlaneEndpoint` as `host:port`; empty before it is known.
    pub endpoint: String,
    /// Conditions.
    pub conditions: Styles,
    /// `status.observedGeneration`.
    pub observed_generation: Option<i64>,
}

impl Cluster {
    /// Projects the served object.
    pub fn project(api_version: &str, v: &Value) -> Self {
        let host = at(v, &["spec", "controlPlaneEndpoint", "host"]).and_then(Value::as_str).unwrap_or_default();
        let port = number(v, &["spec", "controlPlaneEndpoint", "port"]).unwrap_or(0);
        let status = v.get("status").unwrap_or(&Value::Null);
        Cluster {
            paused: flag(v, &["spec", "paused"]).unwrap_or(false),
            phase: text(status, "phase"),
            infrastructure: flag(status, &["infrastructureReady"])
                .or_else(|| flag(status, &["initialization", "infrastructureProvisioned"]))
                .unwrap_or(false),
            initialized: flag(status, &["controlPlaneReady"])
                .or_else(|| flag(status, &["initialization", "controlPlaneInitialized"]))
                .unwrap_or(false),
            endpoint: if host.is_empty() { String::new() } else { format!("{host}:{port}") },
            conditions: Styles::project(api_version, v),
            observed_generation: number(status, &["observedGeneration"]),
        }
    }
}

/// MachineDeployment.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct MachineDeployment {
    /// `spec.clusterName`.
    pub cluster: Arc<str>,
    /// `spec.replicas`; what the autoscaler wants now.
    pub wanted: Option<i64>,
    /// Name of the machine template.
    pub template: Arc<str>,
    /// `spec.template.spec.version`.
    pub version: Arc<str>,
    /// `status.phase`.
    pub phase: Arc<str>,
    /// Counters.
    pub counts: Counts,
    /// Conditions.
    pub conditions: Styles,
    /// `status.observedGeneration`.
    pub observed_generation: Option<i64>,
}

impl MachineDeployment {
    /// Projects the served object.
    pub fn project(api_version: &str, v: &Value) -> Self {
        let spec = v.get("spec").unwrap_or(&Value::Null);
        let inner = at(spec, &["template", "spec"]).unwrap_or(&Value::Null);
        let status = v.get("status").unwrap_or(&Value::Null);
        MachineDeployment {
            cluster: text(spec, "clusterName"),
            wanted: number(spec, &["replicas"]),
            template: inner.get("infrastructureRef").map(|r| text(r, "name")).unwrap_or_default(),
            version: text(inner, "version"),
            phase: text(status, "phase"),
            counts: Counts::project(api_version, v),
            conditions: Styles::project(api_version, v),
            observed_generation: number(status, &["observedGeneration"]),
        }
    }
}

/// MachineSet.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct MachineSet {
    /// `spec.clusterName`.
    pub cluster: Arc<str>,
    /// `spec.replicas`.
    pub wanted: Option<i64>,
    /// Name of the machine template.
    pub template: Arc<str>,
    /// Counters.
    pub counts: Counts,
    /// Conditions.
    pub conditions: Styles,
}

impl MachineSet {
    /// Projects the served object.
    pub fn project(api_version: &str, v: &Value) -> Self {
        let spec = v.get("spec").unwrap_or(&Value::Null);
        MachineSet {
            cluster: text(spec, "clusterName"),
            wanted: number(spec, &["replicas"]),
            template: at(spec, &["template", "spec", "infrastructureRef"]).map(|r| text(r, "name")).unwrap_or_default(),
            counts: Counts::project(api_version, v),
            conditions: Styles::project(api_version, v),
        }
    }
}

/// Machine.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Machine {
    /// `spec.clusterName`.
    pub cluster: Arc<str>,
    /// `spec.providerID`; empty until the VM exists.
    pub provider_id: Arc<str>,
    /// `status.phase`.
    pub phase: Arc<str>,
    /// `status.nodeRef.name`; empty until the Node joined.
    pub node: Arc<str>,
    /// `status.failureMessage` (old) or `failureReason`.
    pub failure: Arc<str>,
    /// Conditions.
    pub conditions: Styles,
}

impl Machine {
    /// Projects the served object.
    pub fn project(api_version: &str, v: &Value) -> Self {
        let spec = v.get("spec").unwrap_or(&Value::Null);
        let status = v.get("status").unwrap_or(&Value::Null);
        let old = if is_new(api_version) { at(status, &["deprecated", "v1beta1"]).unwrap_or(&Value::Null) } else { status };
        let failure = Some(text(old, "failureMessage")).filter(|m| !m.is_empty()).unwrap_or_else(|| text(old, "failureReason"));
        Machine {
            cluster: text(spec, "clusterName"),
            provider_id: text(spec, "providerID"),
            phase: text(status, "phase"),
            node: status.get("nodeRef").map(|r| text(r, "name")).unwrap_or_default(),
            failure,
            conditions: Styles::project(api_version, v),
        }
    }

    /// True when the Node is known to be healthy: by `NodeHealthy`, never by the old `Ready` (`status.md` 8.24).
    pub fn node_ready(&self) -> bool {
        let said = self.conditions.any("NodeReady").or_else(|| self.conditions.any("NodeHealthy"));
        !self.node.is_empty() && said.is_none_or(|c| &*c.status == "True")
    }
}

/// MachineHealthCheck.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct MachineHealthCheck {
    /// `spec.clusterName`.
    pub cluster: Arc<str>,
    /// `spec.maxUnhealthy` (or the v1beta2 spelling) as text.
    pub max_unhealthy: String,
    /// `status.expectedMachines`.
    pub expected: Option<i64>,
    /// `status.currentHealthy`.
    pub healthy: Option<i64>,
    /// Value of the deployment-name label it selects; empty where it selects otherwise.
    pub deployment: Arc<str>,
    /// Conditions.
    pub conditions: Styles,
}

impl MachineHealthCheck {
    /// Projects the served object.
    pub fn project(api_version: &str, v: &Value) -> Self {
        let spec = v.get("spec").unwrap_or(&Value::Null);
        let limit = spec.get("maxUnhealthy").or_else(|| at(spec, &["remediation", "triggerIf", "unhealthyLessThanOrEqualTo"]));
        MachineHealthCheck {
            cluster: text(spec, "clusterName"),
            max_unhealthy: match limit {
                Some(Value::String(s)) => s.clone(),
                Some(Value::Number(n)) => n.to_string(),
                _ => String::new(),
            },
            expected: number(v, &["status", "expectedMachines"]),
            healthy: number(v, &["status", "currentHealthy"]),
            deployment: at(spec, &["selector", "matchLabels"]).map(|l| text(l, "cluster.x-k8s.io/deployment-name")).unwrap_or_default(),
            conditions: Styles::project(api_version, v),
        }
    }
}
