//! The table of settings: name, what is allowed, how it is taken. A new setting is one row.

use jiff::SignedDuration;
use serde_yaml::Value;

use super::Settings;

/// One setting.
pub(super) struct Field {
    /// Key in the file.
    pub name: &'static str,
    /// What may stand there, for messages.
    pub allowed: &'static str,
    /// Takes the value, or says what was found instead.
    pub set: fn(&Value, &mut Settings) -> Result<(), String>,
}

const BOOL: &str = "true or false";
const NAMES: &str = "a name or a list of names";

#[rustfmt::skip]
pub(super) const FIELDS: &[Field] = &[
    Field { name: "context", allowed: "a context name", set: |v, s| string(v).map(|x| s.context = Some(x)) },
    Field { name: "namespaces", allowed: NAMES, set: |v, s| strings(v).map(|x| s.namespaces = x) },
    Field { name: "allNamespaces", allowed: BOOL, set: |v, s| boolean(v).map(|x| s.all_namespaces = x) },
    Field { name: "readOnly", allowed: BOOL, set: read_only },
    Field { name: "readOnlyContexts", allowed: NAMES, set: |v, s| strings(v).map(|x| s.read_only_contexts = x) },
    Field { name: "auditLog", allowed: "a file path", set: |v, s| string(v).map(|x| s.audit_log = Some(x.into())) },
    Field { name: "requestTimeout", allowed: "a duration such as 10s", set: |v, s| duration_of(v).map(|x| s.request_timeout = Some(x)) },
    Field { name: "ascii", allowed: BOOL, set: |v, s| boolean(v).map(|x| s.ascii = x) },
    Field { name: "color", allowed: "auto, always or never", set: color },
    Field { name: "theme", allowed: "a theme name", set: |v, s| string(v).map(|x| s.theme = Some(x)) },
    Field { name: "mouse", allowed: BOOL, set: |v, s| boolean(v).map(|x| s.mouse = x) },
    Field { name: "bell", allowed: BOOL, set: |v, s| boolean(v).map(|x| s.bell = x) },
    Field { name: "keys", allowed: "a map of action to a key or a list of keys", set: keys },
    Field { name: "deadlines", allowed: "a map of deadline to a duration such as 20m", set: deadlines },
];

/// The kind of a YAML value, in words.
pub(super) fn kind_of(v: &Value) -> &'static str {
    match v {
        Value::Null => "nothing",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "text",
        Value::Sequence(_) => "a list",
        Value::Mapping(_) => "a map",
        Value::Tagged(_) => "a tagged value",
    }
}

fn found(v: &Value) -> String {
    match v {
        Value::String(s) => format!("found {:?}", crate::model::text::line(s)),
        Value::Number(n) => format!("found {n}"),
        other => format!("found {}", kind_of(other)),
    }
}

fn boolean(v: &Value) -> Result<bool, String> {
    v.as_bool().ok_or_else(|| found(v))
}

fn string(v: &Value) -> Result<String, String> {
    v.as_str().filter(|s| !s.is_empty()).map(str::to_string).ok_or_else(|| found(v))
}

fn strings(v: &Value) -> Result<Vec<String>, String> {
    match v {
        Value::Sequence(items) => items.iter().map(string).collect(),
        other => string(other).map(|s| vec![s]),
    }
}

fn duration_of(v: &Value) -> Result<SignedDuration, String> {
    match v {
        Value::Number(n) => super::duration(&n.to_string()),
        other => super::duration(&string(other)?),
    }
}

/// A lock that can't be read is a closed lock.
fn read_only(v: &Value, s: &mut Settings) -> Result<(), String> {
    let parsed = boolean(v);
    s.read_only = *parsed.as_ref().unwrap_or(&true);
    parsed.map(|_| ()).map_err(|e| format!("{e}, taken as true"))
}

fn color(v: &Value, s: &mut Settings) -> Result<(), String> {
    s.color = Some(serde_yaml::from_value(v.clone()).map_err(|_| found(v))?);
    Ok(())
}

fn keys(v: &Value, s: &mut Settings) -> Result<(), String> {
    let map = v.as_mapping().ok_or_else(|| found(v))?;
    s.keys = map.iter().map(|(k, chords)| Ok((string(k)?, strings(chords)?))).collect::<Result<_, String>>()?;
    Ok(())
}

fn deadlines(v: &Value, s: &mut Settings) -> Result<(), String> {
    let map = v.as_mapping().ok_or_else(|| found(v))?;
    for (k, value) in map {
        let name = string(k)?;
        let d = &mut s.deadlines;
        let slot = match name.as_str() {
            "controlPlaneBoot" => &mut d.control_plane_boot,
            "machineProviderId" => &mut d.machine_provider_id,
            "machineNode" => &mut d.machine_node,
            "scaleUp" => &mut d.scale_up,
            "deletion" => &mut d.deletion,
            "dataStore" => &mut d.data_store,
            "addons" => &mut d.addons,
            "routineCheck" => &mut d.routine_check,
            other => {
                let known =
                    ["controlPlaneBoot", "machineProviderId", "machineNode", "scaleUp", "deletion", "dataStore", "addons", "routineCheck"];
                return Err(format!("{other}: no such deadline{}", super::suggestion(other, known.into_iter())));
            }
        };
        *slot = duration_of(value).map_err(|e| format!("{name}: {e}"))?;
    }
    Ok(())
}
