//! HelmRelease: the fields that verdicts about a release use. Owns reading them leniently; must not judge, and keeps no values but the few named here.

use std::sync::Arc;

use jiff::SignedDuration;
use serde_json::{Map, Value};

use super::{Body, Condition, array, at, conditions, find, text, time};
use crate::model::{Meta, Object, Time};

/// One entry of `status.history`.
#[derive(Debug, Clone, Default, PartialEq)]
#[allow(missing_docs)] // the Flux names
pub struct Revision {
    pub version: i64,
    pub status: Arc<str>,
    pub action: Arc<str>,
    pub chart_version: Arc<str>,
    pub app_version: Arc<str>,
    pub name: Arc<str>,
    pub namespace: Arc<str>,
    pub first_deployed: Option<Time>,
    pub last_deployed: Option<Time>,
}

/// HelmRelease (`helm.toolkit.fluxcd.io/v2`, also v2beta2).
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Release {
    /// `spec.suspend`.
    pub suspend: bool,
    /// Who set `spec.suspend` and when, from `metadata.managedFields`; the last writer.
    pub suspended_by: Option<(Arc<str>, Option<Time>)>,
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
    pub depends_on: Vec<(Arc<str>, Arc<str>)>,
    /// `spec.chartRef` or `spec.chart.spec.sourceRef` as (kind, namespace, name).
    pub source: Option<(Arc<str>, Arc<str>, Arc<str>)>,
    /// `spec.kubeConfig.secretRef.name`: only the reference, which names the plane that the release targets.
    pub kubeconfig: Option<Arc<str>>,
    /// `spec.releaseName`; empty where absent.
    pub release_name: Arc<str>,
    /// `spec.targetNamespace`; empty where absent.
    pub target_namespace: Arc<str>,
    /// `spec.storageNamespace`, else `status.storageNamespace`; empty where absent.
    pub storage_namespace: Arc<str>,
    /// `spec.values.computeplane`, as a tenant release carries it.
    pub computeplane: Option<bool>,
    /// `spec.values.etcd`, as a tenant release carries it.
    pub etcd: Option<bool>,
    /// `spec.values.nodeGroups`.
    pub node_groups: Option<Map<String, Value>>,
    /// `status.conditions`.
    pub conditions: Vec<Condition>,
    /// `status.observedGeneration`; -1 is the CRD's default for "never".
    pub observed_generation: Option<i64>,
    /// `status.lastAttemptedGeneration`.
    pub attempted_generation: Option<i64>,
    /// `status.lastAttemptedReleaseAction`.
    pub last_action: Arc<str>,
    /// `status.lastAttemptedRevision`.
    pub last_revision: Arc<str>,
    /// `status.failures`.
    pub failures: i64,
    /// `status.installFailures`.
    pub install_failures: i64,
    /// `status.upgradeFailures`.
    pub upgrade_failures: i64,
    /// `status.lastHandledReconcileAt`.
    pub handled_at: Arc<str>,
    /// `status.history`, newest version first (the server's own order isn't: `status.md` 8.4).
    pub history: Vec<Revision>,
    /// `status.inventory.entries[].id`; `None` where there is no inventory.
    pub inventory: Option<Vec<Arc<str>>>,
}

impl Release {
    /// Projects the served object.
    pub fn project(v: &Value) -> Self {
        let null = Value::Null;
        let spec = v.get("spec").unwrap_or(&null);
        let status = v.get("status").unwrap_or(&null);
        let flag = |key: &str| at(spec, &["values", key]).and_then(truthy);
        let int = |key: &str| status.get(key).and_then(Value::as_i64);
        let retries = |action: &str| at(spec, &[action, "remediation", "retries"]).and_then(Value::as_i64);
        let storage = text(spec, "storageNamespace");
        Release {
            suspend: spec.get("suspend").and_then(Value::as_bool).unwrap_or(false),
            suspended_by: suspended_by(v),
            interval: spec.get("interval").and_then(duration).unwrap_or(SignedDuration::from_mins(5)),
            timeout: timeout(spec),
            install_retries: retries("install"),
            upgrade_retries: retries("upgrade"),
            retry_on_failure: ["install", "upgrade"]
                .iter()
                .any(|a| at(spec, &[a, "strategy", "name"]).and_then(Value::as_str) == Some("RetryOnFailure")),
            depends_on: array(spec, "dependsOn").map(|d| (text(d, "namespace"), text(d, "name"))).filter(|d| !d.1.is_empty()).collect(),
            source: at(spec, &["chartRef"])
                .or_else(|| at(spec, &["chart", "spec", "sourceRef"]))
                .map(|r| (text(r, "kind"), text(r, "namespace"), text(r, "name"))),
            kubeconfig: at(spec, &["kubeConfig", "secretRef", "name"]).and_then(Value::as_str).map(Arc::from),
            release_name: text(spec, "releaseName"),
            target_namespace: text(spec, "targetNamespace"),
            storage_namespace: if storage.is_empty() { text(status, "storageNamespace") } else { storage },
            computeplane: flag("computeplane"),
            etcd: flag("etcd"),
            node_groups: at(spec, &["values", "nodeGroups"]).and_then(Value::as_object).cloned(),
            conditions: conditions(status, &["conditions"]),
            observed_generation: int("observedGeneration"),
            attempted_generation: int("lastAttemptedGeneration"),
            last_action: text(status, "lastAttemptedReleaseAction"),
            last_revision: text(status, "lastAttemptedRevision"),
            failures: int("failures").unwrap_or(0),
            install_failures: int("installFailures").unwrap_or(0),
            upgrade_failures: int("upgradeFailures").unwrap_or(0),
            handled_at: text(status, "lastHandledReconcileAt"),
            history: history(status),
            inventory: at(status, &["inventory", "entries"])
                .and_then(Value::as_array)
                .map(|e| e.iter().map(|i| text(i, "id")).filter(|i| !i.is_empty()).collect()),
        }
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
        self.inventory.iter().flatten().any(|id| id.rsplit('_').next() == Some(kind))
    }
}

fn suspended_by(v: &Value) -> Option<(Arc<str>, Option<Time>)> {
    let fields = at(v, &["metadata"])?;
    array(fields, "managedFields")
        .filter(|m| at(m, &["fieldsV1", "f:spec", "f:suspend"]).is_some())
        .map(|m| (text(m, "manager"), time(m, "time")))
        .max_by_key(|m| m.1)
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

fn history(status: &Value) -> Vec<Revision> {
    let mut all: Vec<Revision> = array(status, "history")
        .map(|h| Revision {
            version: h.get("version").and_then(Value::as_i64).unwrap_or(0),
            status: text(h, "status"),
            action: text(h, "action"),
            chart_version: text(h, "chartVersion"),
            app_version: text(h, "appVersion"),
            name: text(h, "name"),
            namespace: text(h, "namespace"),
            first_deployed: time(h, "firstDeployed"),
            last_deployed: time(h, "lastDeployed"),
        })
        .collect();
    all.sort_by_key(|r| std::cmp::Reverse(r.version));
    all
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
        assert_eq!(r, Release { interval: SignedDuration::from_mins(5), timeout: SignedDuration::from_mins(5), ..Release::default() });
    }
}
