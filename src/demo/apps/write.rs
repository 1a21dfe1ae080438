//! Writes to a ComputePlane. They ignore dryRun and resourceVersion, rebuild the HelmRelease's metadata and spec, and answer
//! 500 for what the HelmRelease's own API refuses. All of it is the real server's behaviour (`platform.md` 4, 4.1).

use serde_json::{Map, Value, json};

use super::{get, read, releases};
use crate::demo::{
    answer::{Answer, Refusal},
    catalog::Resource,
    faults::Fault,
    patch as formats,
    platform::Request,
};

/// Keys every object may have at the top.
const TOP: &[&str] = &["apiVersion", "kind", "metadata", "spec", "status", "appVersion"];

/// POST.
pub(super) fn create(r: &Request) -> Result<Answer, Refusal> {
    let body = r.json_body()?;
    strict(r, &body)?;
    let name = body.pointer("/metadata/name").and_then(Value::as_str).unwrap_or("");
    check_name(name)?;
    reserved(&body)?;
    policy(r, "create", name)?;
    let mut release = release(&body, None);
    if let Some(m) = release.get_mut("metadata").and_then(Value::as_object_mut) {
        m.insert("namespace".into(), json!(r.asked.namespace));
    }
    let made = r.shared.store().create(releases()?, release, r.now);
    let made = made.map_err(|e| Refusal::wrapped(format!("failed to create HelmRelease: {}", e.message)))?;
    r.shared.changed();
    Ok(Answer::json(201, &read::plane(&made.value(), &[])))
}

/// PUT.
pub(super) fn put(r: &Request, resource: &'static Resource) -> Result<Answer, Refusal> {
    let body = r.json_body()?;
    strict(r, &body)?;
    reserved(&body)?;
    get(r, resource)?;
    store(r, &body)
}

/// PATCH: applied to the defaulted reading of the cache, then stored whole.
pub(super) fn patch(r: &Request, resource: &'static Resource) -> Result<Answer, Refusal> {
    let shown = get(r, resource)?;
    let kind = r.content_type().split(';').next().unwrap_or("").trim().to_string();
    if kind == "application/strategic-merge-patch+json" {
        return Err(Refusal::wrapped("unable to find api field in struct JSON for the json field \"nodeGroups\""));
    }
    let patched = formats::apply(&shown, &kind, &r.body)?;
    if kind == "application/apply-patch+yaml" && !r.query.is("force") {
        unowned(&shown, &patched)?;
    }
    reserved(&patched)?;
    store(r, &patched)
}

/// Every apply meets `before-first-apply`, since managedFields aren't kept.
fn unowned(shown: &Value, patched: &Value) -> Result<(), Refusal> {
    let mut fields = Vec::new();
    differences(shown.get("spec"), patched.get("spec"), ".spec", &mut fields);
    let Some(first) = fields.first() else { return Ok(()) };
    let by = "conflict with \"before-first-apply\" using apps.cozystack.io/v1alpha1";
    let causes: Vec<Value> = fields.iter().map(|f| json!({"reason": "FieldManagerConflict", "message": by, "field": f})).collect();
    let text = match fields.len() {
        1 => format!("Apply failed with 1 conflict: {by}: {first}"),
        n => format!(
            "Apply failed with {n} conflicts: conflicts with \"before-first-apply\" using apps.cozystack.io/v1alpha1:\n- {}",
            fields.join("\n- ")
        ),
    };
    Err(Refusal::new(409, "Conflict", text).with(json!({"causes": causes})))
}

fn differences(a: Option<&Value>, b: Option<&Value>, path: &str, out: &mut Vec<String>) {
    match (a, b) {
        (Some(Value::Object(a)), Some(Value::Object(b))) => {
            for (k, v) in b {
                differences(a.get(k), Some(v), &format!("{path}.{k}"), out);
            }
        }
        (Some(a), Some(b)) if a != b => out.push(path.to_string()),
        _ => {}
    }
}

/// DELETE: options are ignored, success is said at once.
pub(super) fn delete(r: &Request, resource: &'static Resource) -> Result<Answer, Refusal> {
    get(r, resource)?;
    let gone = r.shared.store().delete(releases()?, &r.asked.namespace, &r.asked.name, r.now);
    gone.map_err(|e| Refusal::wrapped(format!("failed to delete HelmRelease: {}", e.message)))?;
    r.shared.changed();
    Ok(Answer::json(
        200,
        &json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success",
            "details": {"name": r.asked.name, "kind": "ComputePlane"}, "code": 200}),
    ))
}

fn store(r: &Request, body: &Value) -> Result<Answer, Refusal> {
    policy(r, "update", &r.asked.name)?;
    let mut objects = r.shared.store();
    let old = objects.get(releases()?, &r.asked.namespace, &r.asked.name);
    let old = old.ok_or_else(|| {
        Refusal::wrapped(format!("failed to update HelmRelease: helmreleases.helm.toolkit.fluxcd.io \"{}\" not found", r.asked.name))
    })?;
    let mut release = release(body, Some(&old.value()));
    if let Some(m) = release.get_mut("metadata").and_then(Value::as_object_mut) {
        m.insert("name".into(), json!(r.asked.name));
        m.insert("namespace".into(), json!(r.asked.namespace));
        if let Some(uid) = body.pointer("/metadata/uid") {
            m.insert("uid".into(), uid.clone());
        }
    }
    let stored = objects.update(releases()?, release, r.now);
    let stored = stored.map_err(|e| Refusal::wrapped(format!("failed to update HelmRelease: {}", e.message)))?;
    let monitors = objects.list(super::monitors()?, Some(&r.asked.namespace));
    drop(objects);
    r.shared.changed();
    Ok(Answer::json(200, &read::plane(&stored.value(), &monitors)))
}

/// The HelmRelease a body becomes: everything rebuilt, finalizers and foreign labels and annotations gone.
fn release(body: &Value, old: Option<&Value>) -> Value {
    let name = body.pointer("/metadata/name").and_then(Value::as_str).unwrap_or("");
    let mut labels = Map::new();
    labels.insert("apps.cozystack.io/application.group".into(), json!("apps.cozystack.io"));
    labels.insert("apps.cozystack.io/application.kind".into(), json!("ComputePlane"));
    labels.insert("apps.cozystack.io/application.name".into(), json!(name));
    labels.insert("internal.cozystack.io/tenantmodule".into(), json!("true"));
    let shard = old.and_then(|o| o.pointer("/metadata/labels/sharding.fluxcd.io~1key")).cloned();
    labels.insert("sharding.fluxcd.io/key".into(), shard.unwrap_or(json!("tenants")));
    let mut meta = json!({"name": name});
    for (key, mut own) in [("labels", labels), ("annotations", Map::new())] {
        let given = body.pointer(&format!("/metadata/{key}")).and_then(Value::as_object);
        own.extend(given.into_iter().flatten().map(|(k, v)| (format!("{}{k}", read::PREFIX), v.clone())));
        if let (Some(m), false) = (meta.as_object_mut(), own.is_empty()) {
            m.insert(key.into(), Value::Object(own));
        }
    }
    let strategy = json!({"strategy": {"name": "RetryOnFailure", "retryInterval": "30s"}, "timeout": "10m0s"});
    let chart = json!({"kind": "ExternalArtifact", "name": "cozystack-computeplane-application-kubevirt-computeplane",
        "namespace": "cozy-system"});
    let mut spec = json!({"chartRef": chart, "install": strategy, "interval": "5m0s", "maxHistory": 5, "upgrade": strategy,
        "valuesFrom": [{"kind": "Secret", "name": "cozystack-values"}]});
    if let (Some(s), Some(values)) = (spec.as_object_mut(), body.get("spec")) {
        s.insert("values".into(), values.clone());
    }
    json!({"metadata": meta, "spec": spec})
}

/// Refusals by policy and lost retries come as faults.
fn policy(r: &Request, verb: &str, name: &str) -> Result<(), Refusal> {
    let on = "helmreleases.helm.toolkit.fluxcd.io";
    for fault in &r.faults {
        match fault {
            Fault::Denied(text) => {
                return Err(Refusal::wrapped(format!("failed to {verb} HelmRelease: {on} \"{name}\" is forbidden: {text}")));
            }
            Fault::Conflict => {
                let text = "the object has been modified; please apply your changes to the latest version and try again";
                return Err(Refusal::wrapped(format!(
                    "failed to {verb} HelmRelease: Operation cannot be fulfilled on {on} \"{name}\": {text}"
                )));
            }
            _ => {}
        }
    }
    Ok(())
}

/// `fieldValidation=Strict` sees the top level only, and names the first registered kind.
fn strict(r: &Request, body: &Value) -> Result<(), Refusal> {
    if r.query.get("fieldValidation") != Some("Strict") {
        return Ok(());
    }
    let unknown: Vec<String> = body
        .as_object()
        .into_iter()
        .flatten()
        .filter(|(k, _)| !TOP.contains(&k.as_str()))
        .map(|(k, _)| format!("unknown field \"{k}\""))
        .collect();
    if unknown.is_empty() {
        return Ok(());
    }
    let list = unknown.join(", ");
    let text = format!("ComputePlane in version \"v1alpha1\" cannot be handled as a BootBox: strict decoding error: {list}");
    Err(Refusal::new(400, "BadRequest", text))
}

/// Keys of the spec that start with `_` are the platform's.
fn reserved(body: &Value) -> Result<(), Refusal> {
    let keys = body.get("spec").and_then(Value::as_object);
    match keys.into_iter().flatten().find(|(k, _)| k.starts_with('_')) {
        Some((k, _)) => {
            let text = format!("values key {k:?} is reserved (keys starting with '_' are not allowed)");
            Err(Refusal::new(400, "BadRequest", text))
        }
        None => Ok(()),
    }
}

/// The name must be a DNS-1035 label. Checked at create only.
fn check_name(name: &str) -> Result<(), Refusal> {
    let inner = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    let ok = name.len() <= 63
        && name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.ends_with(|c: char| c.is_ascii_lowercase() || c.is_ascii_digit())
        && name.chars().all(inner);
    if ok {
        return Ok(());
    }
    let rule = "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, \
                and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is \
                '[a-z]([-a-z0-9]*[a-z0-9])?')";
    let what = format!("Invalid value: {name:?}: {rule}");
    let cause = json!({"reason": "FieldValueInvalid", "message": what, "field": "metadata.name"});
    let details = json!({"name": name, "group": "apps.cozystack.io", "kind": "ComputePlane", "causes": [cause]});
    let text = format!("ComputePlane.apps.cozystack.io {name:?} is invalid: metadata.name: {what}");
    Err(Refusal::new(422, "Invalid", text).with(details))
}
