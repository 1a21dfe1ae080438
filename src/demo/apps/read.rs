//! How a HelmRelease is shown as a ComputePlane: metadata, spec with defaults and coercions, status.
//! Owns the showing; stores nothing.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use crate::demo::store::Stored;

/// User labels and annotations are kept on the HelmRelease under this prefix, the platform's own without it.
pub(crate) const PREFIX: &str = "apps.cozystack.io-";

/// The ComputePlane behind a release.
pub(crate) fn plane(release: &Value, monitors: &[Arc<Stored>]) -> Value {
    let mut meta = Map::new();
    for key in ["name", "namespace", "uid", "resourceVersion", "creationTimestamp", "deletionTimestamp"] {
        if let Some(v) = release.pointer(&format!("/metadata/{key}")) {
            meta.insert(key.into(), v.clone());
        }
    }
    for key in ["labels", "annotations"] {
        let all = release.pointer(&format!("/metadata/{key}")).and_then(Value::as_object);
        let own: Map<String, Value> =
            all.into_iter().flatten().filter_map(|(k, v)| Some((k.strip_prefix(PREFIX)?.to_string(), v.clone()))).collect();
        if !own.is_empty() {
            meta.insert(key.into(), sorted(&Value::Object(own)));
        }
    }
    let mut status = status(release);
    let about = |m: &&Arc<Stored>| {
        let same = |key: &str, path: &str| m.label(key).as_deref() == release.pointer(path).and_then(Value::as_str);
        m.namespace == release.pointer("/metadata/namespace").and_then(Value::as_str).unwrap_or("")
            && same("apps.cozystack.io/application.name", "/metadata/name")
            && m.label("apps.cozystack.io/application.kind").as_deref() == Some("ComputePlane")
    };
    let monitors: Vec<Value> = monitors.iter().filter(about).map(|m| m.value()).collect();
    if let (Some(c), Some(all)) = (workloads(release, &monitors), status.get_mut("conditions").and_then(Value::as_array_mut)) {
        all.push(c);
    }
    json!({"kind": "ComputePlane", "apiVersion": "apps.cozystack.io/v1alpha1", "metadata": meta,
        "spec": spec(release.pointer("/spec/values")), "status": status})
}

/// Version and the conditions that are handed on: Ready and Released, without observedGeneration.
pub(crate) fn status(release: &Value) -> Value {
    let conditions = release.pointer("/status/conditions").and_then(Value::as_array);
    let shown: Vec<Value> = conditions
        .into_iter()
        .flatten()
        .filter(|c| matches!(c.get("type").and_then(Value::as_str), Some("Ready" | "Released")))
        .map(|c| {
            let keys = ["type", "status", "lastTransitionTime", "reason", "message"];
            let pairs = keys.iter().filter_map(|k| Some((k.to_string(), c.get(*k)?.clone())));
            Value::Object(pairs.collect())
        })
        .collect();
    let mut out = Map::new();
    if let Some(v) = release.pointer("/status/lastAttemptedRevision") {
        out.insert("version".into(), v.clone());
    }
    if !shown.is_empty() {
        out.insert("conditions".into(), json!(shown));
    }
    Value::Object(out)
}

/// The synthesized condition; absent when no monitor carries the application's labels.
fn workloads(release: &Value, monitors: &[Value]) -> Option<Value> {
    if monitors.is_empty() {
        return None;
    }
    let operational = |m: &Value| m.pointer("/status/operational").and_then(Value::as_bool);
    let (status, reason, message) = if monitors.iter().any(|m| operational(m) == Some(false)) {
        ("False", "WorkloadMonitorCheck", "One or more workloads are not operational")
    } else if monitors.iter().any(|m| operational(m).is_none()) {
        ("Unknown", "Pending", "One or more workloads have not been reconciled yet")
    } else {
        ("True", "WorkloadMonitorCheck", "All workloads are operational")
    };
    // Doesn't move on a flip (`platform.md` 4.1).
    let since = release.pointer("/metadata/creationTimestamp").cloned().unwrap_or_default();
    Some(json!({"type": "WorkloadsReady", "status": status, "lastTransitionTime": since, "reason": reason, "message": message}))
}

/// Values with the schema's defaults, wrong shapes replaced as the server shows them, keys sorted.
pub(crate) fn spec(values: Option<&Value>) -> Value {
    let mut out = values.and_then(Value::as_object).cloned().unwrap_or_default();
    let groups = out.get("nodeGroups").and_then(Value::as_object);
    let groups: Map<String, Value> = groups.into_iter().flatten().map(|(k, g)| (k.clone(), group(g))).collect();
    out.insert("nodeGroups".into(), Value::Object(groups));
    sorted(&Value::Object(out))
}

fn group(stored: &Value) -> Value {
    let mut g = stored.as_object().cloned().unwrap_or_default();
    for (key, default) in
        [("diskSize", json!("20Gi")), ("instanceType", json!("u1.medium")), ("maxReplicas", json!(10)), ("minReplicas", json!(0))]
    {
        if g.get(key).is_none_or(Value::is_null) {
            g.insert(key.into(), default);
        }
    }
    for key in ["roles", "gpus"] {
        if g.get(key).is_some_and(|v| !v.is_array()) {
            g.insert(key.into(), json!([]));
        }
    }
    for key in ["kubelet", "resources"] {
        if g.get(key).is_some_and(|v| !v.is_object()) {
            g.insert(key.into(), json!({}));
        }
    }
    if let Some(kubelet) = g.get_mut("kubelet").and_then(Value::as_object_mut) {
        for (key, default) in [("evictionHardMemory", "7%"), ("evictionSoftMemory", "10%")] {
            if kubelet.get(key).is_none_or(Value::is_null) {
                kubelet.insert(key.into(), json!(default));
            }
        }
    }
    Value::Object(g)
}

/// Keys in order, as a Go map is written.
pub(crate) fn sorted(value: &Value) -> Value {
    match value {
        Value::Object(o) => {
            let mut pairs: Vec<_> = o.iter().collect();
            pairs.sort_by(|a, b| a.0.cmp(b.0));
            Value::Object(pairs.into_iter().map(|(k, v)| (k.clone(), sorted(v))).collect())
        }
        Value::Array(a) => Value::Array(a.iter().map(sorted).collect()),
        other => other.clone(),
    }
}
