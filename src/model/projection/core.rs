//! Core Kubernetes kinds: ConfigMap, Pod, Service, Event, ResourceQuota, Job, Deployment. Owns reading them leniently; must not judge.

use std::{collections::BTreeMap, sync::Arc};

use serde_json::Value;

use super::{Body, Condition, array, at, conditions, find, text, time};
use crate::model::{Object, Time};

macro_rules! of {
    ($($name:ident => $variant:ident),+) => {
        $(impl $name {
            /// The projection in an object, if it is of this kind.
            pub fn of(object: &Object) -> Option<&$name> {
                match &object.body {
                    Body::$variant(x) => Some(x),
                    _ => None,
                }
            }
        })+
    };
}
of!(ConfigMap => ConfigMap, Pod => Pod, Service => Service, Event => Event, Quota => Quota, Job => Job, Deployment => Deployment);

/// The keys of a ConfigMap that verdicts read; nothing else of its data is kept.
const CONFIG_KEYS: [&str; 3] = ["status", "message", "unadopted"];

/// ConfigMap: only the platform's own beacon keys.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ConfigMap {
    /// `data`, limited to `status`, `message`, `unadopted`.
    pub data: BTreeMap<Arc<str>, Arc<str>>,
}

impl ConfigMap {
    /// Projects the served object.
    pub fn project(v: &Value) -> Self {
        let value = |key: &str| Some((Arc::from(key), Arc::from(at(v, &["data", key])?.as_str()?)));
        ConfigMap { data: CONFIG_KEYS.iter().filter_map(|k| value(k)).collect() }
    }
}

/// A container that isn't simply running.
#[derive(Debug, Clone, Default, PartialEq)]
#[allow(missing_docs)] // the Kubernetes names
pub struct Container {
    pub name: Arc<str>,
    pub ready: bool,
    pub restarts: i64,
    /// Reason of `state.waiting`, else of `state.terminated`, else of `lastState.terminated`.
    pub reason: Arc<str>,
    pub message: Arc<str>,
    pub waiting: bool,
    pub init: bool,
}

/// Pod.
#[derive(Debug, Clone, Default, PartialEq)]
#[allow(missing_docs)] // the Kubernetes names
pub struct Pod {
    pub phase: Arc<str>,
    pub reason: Arc<str>,
    pub message: Arc<str>,
    pub node: Arc<str>,
    pub conditions: Box<[Condition]>,
    pub containers: Vec<Container>,
}

impl Pod {
    /// Projects the served object.
    pub fn project(v: &Value) -> Self {
        let status = v.get("status").unwrap_or(&Value::Null);
        let of = |key: &'static str| array(status, key).map(move |c| container(c, key == "initContainerStatuses"));
        Pod {
            phase: text(status, "phase"),
            reason: text(status, "reason"),
            message: text(status, "message"),
            node: at(v, &["spec"]).map(|s| text(s, "nodeName")).unwrap_or_default(),
            conditions: conditions(status, &["conditions"]),
            containers: of("initContainerStatuses").chain(of("containerStatuses")).collect(),
        }
    }

    /// The condition of one type.
    pub fn condition(&self, kind: &str) -> Option<&Condition> {
        find(&self.conditions, kind)
    }

    /// True when the Pod reports Ready.
    pub fn ready(&self) -> bool {
        self.condition("Ready").is_some_and(|c| &*c.status == "True")
    }
}

fn container(c: &Value, init: bool) -> Container {
    let found = [&["state", "waiting"][..], &["state", "terminated"], &["lastState", "terminated"]]
        .into_iter()
        .find_map(|p| at(c, p).filter(|s| s.is_object()));
    Container {
        name: text(c, "name"),
        ready: c.get("ready").and_then(Value::as_bool).unwrap_or(false),
        restarts: c.get("restartCount").and_then(Value::as_i64).unwrap_or(0),
        reason: found.map(|s| text(s, "reason")).unwrap_or_default(),
        message: found.map(|s| text(s, "message")).unwrap_or_default(),
        waiting: at(c, &["state", "waiting"]).is_some_and(Value::is_object),
        init,
    }
}

/// Service.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Service {
    /// `spec.type`.
    pub type_: Arc<str>,
    /// `spec.clusterIP`.
    pub cluster_ip: Arc<str>,
    /// Addresses of `status.loadBalancer.ingress`.
    pub addresses: Vec<Arc<str>>,
    /// `spec.selector`.
    pub selector: BTreeMap<Arc<str>, Arc<str>>,
    /// `spec.ports[].port`.
    pub ports: Vec<i64>,
}

impl Service {
    /// Projects the served object.
    pub fn project(v: &Value) -> Self {
        let spec = v.get("spec").unwrap_or(&Value::Null);
        let balancer = at(v, &["status", "loadBalancer"]).unwrap_or(&Value::Null);
        let address = |i: &Value| {
            let (ip, host) = (text(i, "ip"), text(i, "hostname"));
            if ip.is_empty() { host } else { ip }
        };
        Service {
            type_: text(spec, "type"),
            cluster_ip: text(spec, "clusterIP"),
            addresses: array(balancer, "ingress").map(address).filter(|a| !a.is_empty()).collect(),
            selector: strings(spec, "selector"),
            ports: array(spec, "ports").filter_map(|p| p.get("port").and_then(Value::as_i64)).collect(),
        }
    }
}

/// Event (core or `events.k8s.io` shape).
#[derive(Debug, Clone, Default, PartialEq)]
#[allow(missing_docs)] // the Kubernetes names
pub struct Event {
    pub involved_kind: Arc<str>,
    pub involved_namespace: Arc<str>,
    pub involved_name: Arc<str>,
    pub involved_uid: Arc<str>,
    pub reason: Arc<str>,
    /// Text without the log lines that Helm appends.
    pub message: Arc<str>,
    pub type_: Arc<str>,
    pub component: Arc<str>,
    pub count: i64,
    pub first: Option<Time>,
    /// Newest of all its times.
    pub last: Option<Time>,
}

impl Event {
    /// Projects the served object.
    pub fn project(v: &Value) -> Self {
        let null = Value::Null;
        let involved = v.get("involvedObject").or_else(|| v.get("regarding")).unwrap_or(&null);
        let series = v.get("series").unwrap_or(&null);
        let message = Some(text(v, "message")).filter(|m| !m.is_empty()).unwrap_or_else(|| text(v, "note"));
        let created = at(v, &["metadata"]).and_then(|m| time(m, "creationTimestamp"));
        let times = ["lastTimestamp", "deprecatedLastTimestamp", "eventTime"];
        let last = times.iter().filter_map(|k| time(v, k)).chain(time(series, "lastObservedTime")).max();
        let counts = [v.get("count"), v.get("deprecatedCount"), series.get("count")];
        Event {
            involved_kind: text(involved, "kind"),
            involved_namespace: text(involved, "namespace"),
            involved_name: text(involved, "name"),
            involved_uid: text(involved, "uid"),
            reason: text(v, "reason"),
            message: match message.split_once("Last Helm logs:") {
                Some((head, _)) => head.trim_end().into(),
                None => message,
            },
            type_: text(v, "type"),
            component: at(v, &["source"])
                .map(|s| text(s, "component"))
                .filter(|c| !c.is_empty())
                .unwrap_or_else(|| text(v, "reportingComponent")),
            count: counts.into_iter().flatten().filter_map(Value::as_i64).max().unwrap_or(1),
            first: time(v, "firstTimestamp").or_else(|| time(v, "eventTime")).or(created),
            last: last.or_else(|| time(v, "firstTimestamp")).or(created),
        }
    }
}

/// ResourceQuota.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Quota {
    /// `status.hard`, else `spec.hard`, as quantities.
    pub hard: BTreeMap<Arc<str>, Arc<str>>,
    /// `status.used`.
    pub used: BTreeMap<Arc<str>, Arc<str>>,
}

impl Quota {
    /// Projects the served object.
    pub fn project(v: &Value) -> Self {
        let null = Value::Null;
        let (spec, status) = (v.get("spec").unwrap_or(&null), v.get("status").unwrap_or(&null));
        let hard = strings(status, "hard");
        Quota { hard: if hard.is_empty() { strings(spec, "hard") } else { hard }, used: strings(status, "used") }
    }
}

/// Job.
#[derive(Debug, Clone, Default, PartialEq)]
#[allow(missing_docs)] // the Kubernetes names
pub struct Job {
    pub active: i64,
    pub succeeded: i64,
    pub failed: i64,
    pub started: Option<Time>,
    pub conditions: Box<[Condition]>,
    /// `helm.sh/hook` annotation; empty for ordinary Jobs.
    pub hook: Arc<str>,
}

impl Job {
    /// Projects the served object.
    pub fn project(v: &Value) -> Self {
        let status = v.get("status").unwrap_or(&Value::Null);
        let int = |key: &str| status.get(key).and_then(Value::as_i64).unwrap_or(0);
        Job {
            active: int("active"),
            succeeded: int("succeeded"),
            failed: int("failed"),
            started: time(status, "startTime"),
            conditions: conditions(status, &["conditions"]),
            hook: at(v, &["metadata", "annotations"]).map(|a| text(a, "helm.sh/hook")).unwrap_or_default(),
        }
    }

    /// True when the Job gave up.
    pub fn has_failed(&self) -> bool {
        find(&self.conditions, "Failed").is_some_and(|c| &*c.status == "True")
    }
}

/// Deployment.
#[derive(Debug, Clone, Default, PartialEq)]
#[allow(missing_docs)] // the Kubernetes names
pub struct Deployment {
    pub replicas: Option<i64>,
    pub ready: i64,
    pub available: i64,
    pub updated: i64,
    pub unavailable: i64,
    pub observed_generation: Option<i64>,
    pub conditions: Box<[Condition]>,
}

impl Deployment {
    /// Projects the served object.
    pub fn project(v: &Value) -> Self {
        let status = v.get("status").unwrap_or(&Value::Null);
        let int = |key: &str| status.get(key).and_then(Value::as_i64).unwrap_or(0);
        Deployment {
            replicas: at(v, &["spec", "replicas"]).and_then(Value::as_i64),
            ready: int("readyReplicas"),
            available: int("availableReplicas"),
            updated: int("updatedReplicas"),
            unavailable: int("unavailableReplicas"),
            observed_generation: status.get("observedGeneration").and_then(Value::as_i64),
            conditions: conditions(status, &["conditions"]),
        }
    }
}

/// The string (or number, as text) entries of the map under `key`.
fn strings(v: &Value, key: &str) -> BTreeMap<Arc<str>, Arc<str>> {
    let value = |v: &Value| match v {
        Value::String(s) => Some(Arc::from(s.as_str())),
        Value::Number(n) => Some(Arc::from(n.to_string())),
        _ => None,
    };
    v.get(key).and_then(Value::as_object).into_iter().flatten().filter_map(|(k, v)| Some((Arc::from(k.as_str()), value(v)?))).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn events_of_both_shapes() {
        let core = Event::project(
            &json!({"involvedObject": {"kind": "HelmRelease", "name": "a"}, "message": "x failed\n\nLast Helm logs:\n\nnoise",
            "lastTimestamp": "2026-09-01T11:55:00Z", "eventTime": null, "count": 3}),
        );
        assert_eq!((&*core.message, core.count, &*core.involved_name), ("x failed", 3, "a"));
        let new = Event::project(&json!({"regarding": {"kind": "Machine", "name": "b"}, "note": "n", "eventTime": "2026-09-01T11:00:00Z",
            "series": {"count": 9, "lastObservedTime": "2026-09-01T12:00:00Z"}}));
        assert_eq!((&*new.message, new.count, new.last), ("n", 9, "2026-09-01T12:00:00Z".parse().ok()));
    }

    #[test]
    fn only_beacon_keys_of_a_config_map_are_kept() {
        let c = ConfigMap::project(&json!({"data": {"status": "awaiting-etcd", "password": "p"}}));
        assert_eq!(c.data.len(), 1);
    }

    #[test]
    fn a_waiting_container_tells_why() {
        let p = Pod::project(&json!({"status": {"phase": "Pending", "containerStatuses": [
            {"name": "api", "ready": false, "restartCount": 4, "state": {"waiting": {"reason": "CrashLoopBackOff"}}, "lastState": {"terminated": {"reason": "Error"}}}]}}));
        assert_eq!((&*p.containers[0].reason, p.containers[0].restarts, p.ready()), ("CrashLoopBackOff", 4, false));
    }
}
