//! HelmRelease: the fields that verdicts about a release use. Owns reading them leniently; must not judge, and keeps no values but the few named here.

use std::{ops::Deref, sync::Arc};

use jiff::SignedDuration;
use serde_json::Value;

use super::{Body, Condition, array, at, conditions, cozystack, find, stamp, text, time};
use crate::model::{
    Generation, Meta, Object, Stamp, Time,
    intern::{self, Pool, intern},
};

/// One entry of `status.history`.
#[derive(Debug, Clone, Default, PartialEq)]
#[allow(missing_docs)] // the Flux names
pub struct Revision {
    pub version: i64,
    pub status: Arc<str>,
    pub action: Arc<str>,
    pub first_deployed: Stamp,
    pub last_deployed: Stamp,
}

/// What a release is told to do. It names nothing of its own plane, so thousands of releases share one.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Orders {
    /// `spec.suspend`.
    pub suspend: bool,
    /// `spec.interval`; 5 minutes where absent.
    pub interval: SignedDuration,
    /// Longest time one action may take: the largest of `spec.timeout`, `spec.install.timeout`, `spec.upgrade.timeout`; Flux's 5 minutes where absent.
    pub timeout: SignedDuration,
    /// `spec.install.remediation.retries`.
    pub install_retries: Option<i64>,
    /// `spec.upgrade.remediation.retries`.
    pub upgrade_retries: Option<i64>,
    /// `RetryOnFailure` of either action: never terminal.
    pub retry_on_failure: bool,
    /// `spec.dependsOn` as (namespace, name); the namespace is empty where the release's own is meant.
    pub depends_on: Arc<[(Arc<str>, Arc<str>)]>,
    /// `spec.chartRef` or `spec.chart.spec.sourceRef` as (kind, namespace, name).
    pub source: Option<(Arc<str>, Arc<str>, Arc<str>)>,
    /// `spec.kubeConfig.secretRef.name`: only the reference, which names the plane that the release targets.
    pub kubeconfig: Option<Arc<str>>,
    /// `spec.releaseName`; empty where absent.
    pub release_name: Arc<str>,
    /// `spec.targetNamespace`; empty where absent.
    pub target_namespace: Arc<str>,
    /// `spec.storageNamespace`, else `status.storageNamespace`; empty where absent or the release's own.
    pub storage_namespace: Arc<str>,
    /// `spec.values.computeplane`, as a tenant release carries it.
    pub computeplane: Option<bool>,
    /// `spec.values.etcd`, as a tenant release carries it.
    pub etcd: Option<bool>,
}

static ORDERS: Pool<Orders> = Pool::new();

/// HelmRelease (`helm.toolkit.fluxcd.io/v2`, also v2beta2). Its orders are read as its own fields.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Release {
    orders: Arc<Orders>,
    /// Who set `spec.suspend` and when, from `metadata.managedFields`; the last writer.
    pub suspended_by: Option<Box<(Arc<str>, Option<Time>)>>,
    /// `spec.values.nodeGroups`.
    pub node_groups: Option<Arc<cozystack::Groups>>,
    /// `status.conditions`.
    pub conditions: Box<[Condition]>,
    /// `status.observedGeneration`; -1 is the CRD's default for "never".
    pub observed_generation: Option<i64>,
    /// `status.lastAttemptedGeneration`.
    pub attempted_generation: Generation,
    /// `status.failures`.
    pub failures: i64,
    /// `status.installFailures`.
    pub install_failures: i64,
    /// `status.lastHandledReconcileAt`.
    pub handled_at: Arc<str>,
    /// `status.history`, newest version first (the server's own order isn't: `status.md` 8.4).
    pub history: Box<[Revision]>,
    /// `status.inventory.entries[].id`, without the namespace where it is the release's own (`_<name>_<group>_<kind>`).
    pub inventory: Arc<[Arc<str>]>,
}

impl Deref for Release {
    type Target = Orders;

    fn deref(&self) -> &Orders {
        &self.orders
    }
}

impl Orders {
    fn project(v: &Value, own: &str) -> Orders {
        let null = Value::Null;
        let spec = v.get("spec").unwrap_or(&null);
        let flag = |key: &str| at(spec, &["values", key]).and_then(truthy);
        let retries = |action: &str| at(spec, &[action, "remediation", "retries"]).and_then(Value::as_i64);
        // What names the release's own namespace would be another text in every plane.
        let elsewhere = |ns: Arc<str>| if *ns == *own { Arc::default() } else { ns };
        let storage = text(spec, "storageNamespace");
        let stored = || v.get("status").map(|s| text(s, "storageNamespace")).unwrap_or_default();
        Orders {
            suspend: spec.get("suspend").and_then(Value::as_bool).unwrap_or(false),
            interval: spec.get("interval").and_then(duration).unwrap_or(SignedDuration::from_mins(5)),
            timeout: timeout(spec),
            install_retries: retries("install"),
            upgrade_retries: retries("upgrade"),
            retry_on_failure: ["install", "upgrade"]
                .iter()
                .any(|a| at(spec, &[a, "strategy", "name"]).and_then(Value::as_str) == Some("RetryOnFailure")),
            depends_on: intern::pairs(
                array(spec, "dependsOn").map(|d| (elsewhere(text(d, "namespace")), text(d, "name"))).filter(|d| !d.1.is_empty()),
            ),
            source: at(spec, &["chartRef"])
                .or_else(|| at(spec, &["chart", "spec", "sourceRef"]))
                .map(|r| (text(r, "kind"), text(r, "namespace"), text(r, "name"))),
            kubeconfig: at(spec, &["kubeConfig", "secretRef", "name"]).and_then(Value::as_str).map(intern),
            release_name: text(spec, "releaseName"),
            target_namespace: text(spec, "targetNamespace"),
            storage_namespace: elsewhere(if storage.is_empty() { stored() } else { storage }),
            computeplane: flag("computeplane"),
            etcd: flag("etcd"),
        }
    }
}

impl Release {
    /// Projects the served object.
    pub fn project(v: &Value) -> Self {
        let null = Value::Null;
        let spec = v.get("spec").unwrap_or(&null);
        let status = v.get("status").unwrap_or(&null);
        let int = |key: &str| status.get(key).and_then(Value::as_i64);
        let own = at(v, &["metadata", "namespace"]).and_then(Value::as_str).unwrap_or_default();
        let orders = Orders::project(v, own);
        let relative = |id: &str| id.strip_prefix(own).filter(|rest| rest.starts_with('_')).map(str::to_string);
        let entries = at(status, &["inventory"]).into_iter().flat_map(|i| array(i, "entries"));
        let ids: Vec<String> = entries.filter_map(|e| e.get("id")?.as_str()).map(|id| relative(id).unwrap_or(id.to_string())).collect();
        Release {
            orders: ORDERS.one(&orders, || Arc::new(orders.clone())),
            suspended_by: suspended_by(v),
            node_groups: at(spec, &["values", "nodeGroups"]).and_then(Value::as_object).map(cozystack::groups),
            conditions: conditions(status, &["conditions"]),
            observed_generation: int("observedGeneration"),
            attempted_generation: Generation::from(int("lastAttemptedGeneration")),
            failures: int("failures").unwrap_or(0),
            install_failures: int("installFailures").unwrap_or(0),
            handled_at: text(status, "lastHandledReconcileAt"),
            history: history(status),
            inventory: intern::list(ids.iter().map(String::as_str).filter(|i| !i.is_empty())),
        }
    }

    /// A release of which only the conditions are known, as an application shows them; its times are the platform's usual ones.
    pub fn copied(conditions: Box<[Condition]>) -> Release {
        let minutes = SignedDuration::from_mins;
        let orders = Orders { interval: minutes(5), timeout: minutes(10), ..Orders::default() };
        Release { orders: ORDERS.one(&orders, || Arc::new(orders.clone())), conditions, ..Release::default() }
    }

    /// The release in an object, if it is one.
    pub fn of(object: &Object) -> Option<&Release> {
        match &object.body {
            Body::Release(r) => Some(r),
            _ => None,
        }
    }

    /// The condition of one type.
    pub fn condition(&self, kind: &str) -> Option<&Condition> {
        find(&self.conditions, kind)
    }

    /// The newest revision that is deployed: what runs whatever the last attempt did.
    pub fn deployed(&self) -> Option<&Revision> {
        self.history.iter().find(|r| &*r.status == "deployed")
    }

    /// The record under which Helm stores the release of an object: (storage namespace, release name, kubeconfig Secret of the cluster that holds it).
    /// Two objects with one record fight over it.
    pub fn record(&self, meta: &Meta) -> (Arc<str>, String, Option<Arc<str>>) {
        let storage = if self.storage_namespace.is_empty() { meta.namespace.clone() } else { self.storage_namespace.clone() };
        let name = match (self.release_name.is_empty(), self.target_namespace.is_empty()) {
            (false, _) => self.release_name.to_string(),
            (true, false) => format!("{}-{}", self.target_namespace, meta.name),
            (true, true) => meta.name.to_string(),
        };
        (storage, name, self.kubeconfig.clone())
    }

    /// True when the inventory lists an object of `kind` (as its `id` ends in `_<kind>`).
    pub fn owns_kind(&self, kind: &str) -> bool {
        self.inventory.iter().any(|id| id.rsplit('_').next() == Some(kind))
    }
}

fn suspended_by(v: &Value) -> Option<Box<(Arc<str>, Option<Time>)>> {
    let fields = at(v, &["metadata"])?;
    array(fields, "managedFields")
        .filter(|m| at(m, &["fieldsV1", "f:spec", "f:suspend"]).is_some())
        .map(|m| (text(m, "manager"), time(m, "time")))
        .max_by_key(|m| m.1)
        .map(Box::new)
}

/// Booleans as templates see them: real ones, and the strings that people write instead.
fn truthy(v: &Value) -> Option<bool> {
    match v {
        Value::Bool(b) => Some(*b),
        Value::String(s) => Some(!s.is_empty() && s != "false"),
        _ => None,
    }
}

fn timeout(spec: &Value) -> SignedDuration {
    let own = spec.get("timeout").and_then(duration).unwrap_or(SignedDuration::from_mins(5));
    ["install", "upgrade"].iter().filter_map(|a| at(spec, &[a, "timeout"]).and_then(duration)).fold(own, SignedDuration::max)
}

fn history(status: &Value) -> Box<[Revision]> {
    let mut all: Vec<Revision> = array(status, "history")
        .map(|h| Revision {
            version: h.get("version").and_then(Value::as_i64).unwrap_or(0),
            status: text(h, "status"),
            action: text(h, "action"),
            first_deployed: stamp(h, "firstDeployed"),
            last_deployed: stamp(h, "lastDeployed"),
        })
        .collect();
    all.sort_by_key(|r| std::cmp::Reverse(r.version));
    all.into_boxed_slice()
}

/// A Go duration such as `1h30m0s` or `250ms`; `None` for anything else, and for more than a hundred years.
pub fn duration(v: &Value) -> Option<SignedDuration> {
    let mut rest = v.as_str()?;
    let mut seconds = 0f64;
    if rest.is_empty() {
        return None;
    }
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !(c.is_ascii_digit() || c == '.'))?;
        let (number, tail) = rest.split_at(digits);
        let end = tail.find(|c: char| c.is_ascii_digit() || c == '.').unwrap_or(tail.len());
        let (unit, tail) = tail.split_at(end);
        let scale = match unit {
            "h" => 3600.0,
            "m" => 60.0,
            "s" => 1.0,
            "ms" => 1e-3,
            "us" | "µs" => 1e-6,
            "ns" => 1e-9,
            _ => return None,
        };
        seconds += number.parse::<f64>().ok()? * scale;
        rest = tail;
    }
    (seconds < 3.2e9).then(|| SignedDuration::from_millis((seconds * 1000.0) as i64))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn durations_are_gos() {
        assert_eq!(duration(&json!("1h30m0s")), Some(SignedDuration::from_mins(90)));
        assert_eq!(duration(&json!("250ms")), Some(SignedDuration::from_millis(250)));
        for bad in [json!(""), json!("5"), json!("m"), json!("5x"), json!(5), json!("9999999999999999h"), json!("1.2.3s")] {
            assert_eq!(duration(&bad), None, "{bad}");
        }
    }

    #[test]
    fn history_is_sorted_by_version() {
        let r = Release::project(&json!({"status": {"history": [
            {"version": 7, "status": "failed"}, {"version": 2, "status": "superseded"}, {"version": 6, "status": "deployed"}]}}));
        assert_eq!(r.history.iter().map(|h| h.version).collect::<Vec<_>>(), [7, 6, 2]);
        assert_eq!(r.deployed().map(|d| d.version), Some(6));
    }

    #[test]
    fn odd_types_count_as_absent() {
        let r = Release::project(&json!({"spec": {"suspend": "yes", "values": 3, "dependsOn": {}}, "status": []}));
        let minutes = SignedDuration::from_mins;
        let orders = Orders { interval: minutes(5), timeout: minutes(5), ..Orders::default() };
        assert_eq!(r, Release { orders: Arc::new(orders), ..Release::default() });
    }
}
