//! The fields of a pool as rows of a form: what is written, what counts where nothing is, what the platform ignores. Owns the way between a
//! value and its text; must not judge values.

use serde_json::Value;

use crate::nodegroups::{
    path::FieldPath,
    template::{DEFAULT_DISK, FORWARDED},
};

/// How a field is edited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A whole number.
    Integer,
    /// A Kubernetes quantity or a percentage; its unit is kept by steps.
    Quantity,
    /// Text.
    Text,
    /// An instance type, chosen from a list.
    InstanceType,
    /// A list of names, separated by commas.
    Names,
    /// A list of GPUs by name, separated by commas.
    Gpus,
    /// JSON that the form doesn't know: shown, kept byte for byte.
    Opaque,
}

/// Where the shown value comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// It is written in the draft.
    Written,
    /// Nothing is written; this default counts. Never sent.
    Default,
    /// Nothing is written and nothing known counts.
    Unset,
    /// Written, not in the module's schema, handed on unchecked.
    Unchecked,
    /// Written, stored and ignored by this platform.
    Ignored,
}

/// One row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// Keys below the pool.
    pub keys: Vec<String>,
    /// How it is edited.
    pub kind: Kind,
    /// The value as text.
    pub text: String,
    /// Where it comes from.
    pub standing: Standing,
}

impl Row {
    /// The name: `resources.cpu`.
    pub fn label(&self) -> String {
        if self.keys.is_empty() { "(the whole pool)".to_string() } else { self.keys.join(".") }
    }

    /// The place in a map.
    pub fn path(&self, pool: &str) -> FieldPath {
        self.keys.iter().fold(FieldPath::new([pool]), |p, k| p.child(k))
    }
}

/// Fields of the module's schema in the form's order, with the default that counts (`assets/computeplane-schema.json`).
const FIELDS: &[(&[&str], Kind, &str)] = &[
    (&["minReplicas"], Kind::Integer, "0"),
    (&["maxReplicas"], Kind::Integer, "10"),
    (&["instanceType"], Kind::InstanceType, "u1.medium"),
    (&["diskSize"], Kind::Quantity, DEFAULT_DISK),
    (&["storageClass"], Kind::Text, "replicated"),
    (&["roles"], Kind::Names, ""),
    (&["resources", "cpu"], Kind::Quantity, ""),
    (&["resources", "memory"], Kind::Quantity, ""),
    (&["gpus"], Kind::Gpus, ""),
    (&["kubelet", "kubeReservedCpu"], Kind::Quantity, ""),
    (&["kubelet", "kubeReservedMemory"], Kind::Quantity, ""),
    (&["kubelet", "systemReservedCpu"], Kind::Quantity, ""),
    (&["kubelet", "systemReservedMemory"], Kind::Quantity, ""),
    (&["kubelet", "evictionHardMemory"], Kind::Quantity, "7%"),
    (&["kubelet", "evictionSoftMemory"], Kind::Quantity, "10%"),
];

/// The rows of a pool: the schema's fields, then everything else that stands there.
pub fn rows(group: &Value) -> Vec<Row> {
    let Some(map) = group.as_object() else {
        return vec![Row { keys: Vec::new(), kind: Kind::Opaque, text: group.to_string(), standing: Standing::Written }];
    };
    let mut out = Vec::new();
    for (keys, kind, default) in FIELDS {
        // A struct that is no object has no leaves: it is shown whole below.
        let parent = keys.first().filter(|_| keys.len() > 1).and_then(|k| map.get(*k));
        if parent.is_some_and(|p| !p.is_object()) {
            continue;
        }
        let value = keys.iter().try_fold(group, |v, k| v.get(*k));
        let (kind, text, standing) = match value {
            Some(v) if fits(*kind, v) => (*kind, text(*kind, v), Standing::Written),
            Some(v) => (Kind::Opaque, v.to_string(), Standing::Written),
            None if default.is_empty() => (*kind, String::new(), Standing::Unset),
            None => (*kind, (*default).to_string(), Standing::Default),
        };
        out.push(Row { keys: keys.iter().map(ToString::to_string).collect(), kind, text, standing });
    }
    let known = |keys: &[&str]| FIELDS.iter().any(|(k, ..)| *k == keys);
    for (key, value) in map.iter().filter(|(k, _)| !known(&[k.as_str()])) {
        let standing = if FORWARDED.contains(&key.as_str()) { Standing::Unchecked } else { Standing::Ignored };
        match value {
            Value::Object(inner) if key == "resources" || key == "kubelet" => {
                for (leaf, v) in inner.iter().filter(|(l, _)| !known(&[key.as_str(), l.as_str()])) {
                    out.push(Row {
                        keys: vec![key.clone(), leaf.clone()],
                        kind: Kind::Opaque,
                        text: v.to_string(),
                        standing: Standing::Ignored,
                    });
                }
            }
            v => out.push(Row { keys: vec![key.clone()], kind: Kind::Opaque, text: v.to_string(), standing }),
        }
    }
    out
}

/// Only what a text can say without loss is edited as text; anything else is shown as JSON.
fn fits(kind: Kind, value: &Value) -> bool {
    let name = |v: &Value, gpu: bool| {
        let v = if gpu { v.get("name") } else { Some(v) };
        v.and_then(Value::as_str).is_some_and(|s| !s.contains(',') && s.trim() == s && !s.is_empty())
    };
    match kind {
        Kind::Names => value.as_array().is_some_and(|a| a.iter().all(|v| name(v, false))),
        Kind::Gpus => value.as_array().is_some_and(|a| a.iter().all(|v| name(v, true))),
        _ => value.is_string() || value.is_number(),
    }
}

/// A value as the form shows it.
pub fn text(kind: Kind, value: &Value) -> String {
    let plain = |v: &Value| v.as_str().map_or_else(|| v.to_string(), str::to_string);
    match (kind, value) {
        (Kind::Names, Value::Array(a)) => a.iter().map(plain).collect::<Vec<_>>().join(", "),
        (Kind::Gpus, Value::Array(a)) => a.iter().filter_map(|g| g.get("name")).map(plain).collect::<Vec<_>>().join(", "),
        _ => plain(value),
    }
}

/// What is meant by a text; `None` takes the field out. A text that wasn't changed keeps its value whatever its type.
pub fn value(kind: Kind, typed: &str, old: Option<&Value>) -> Option<Value> {
    if let Some(old) = old.filter(|v| fits(kind, v) && text(kind, v) == typed) {
        return Some(old.clone());
    }
    let number = || typed.trim().parse::<i64>().ok().map(Value::from);
    let names = || typed.split(',').map(str::trim).filter(|s| !s.is_empty());
    match kind {
        Kind::Opaque => old.cloned(),
        _ if typed.trim().is_empty() => None,
        Kind::Integer => Some(number().unwrap_or_else(|| Value::from(typed))),
        Kind::Quantity => Some(number().filter(|_| old.is_some_and(Value::is_number)).unwrap_or_else(|| Value::from(typed))),
        Kind::Text | Kind::InstanceType => Some(Value::from(typed)),
        Kind::Names => Some(names().map(Value::from).collect()),
        Kind::Gpus => {
            let had = |n: &str| old?.as_array()?.iter().find(|g| g.get("name").and_then(Value::as_str) == Some(n)).cloned();
            Some(names().map(|n| had(n).unwrap_or_else(|| serde_json::json!({ "name": n }))).collect())
        }
    }
}

/// One step up or down: the leading number changes, its unit and decimals stay. `None` where there is no number, or it would go below zero.
pub fn step(shown: &str, up: bool) -> Option<String> {
    let end = shown.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(shown.len());
    let (number, unit) = (shown.get(..end)?, shown.get(end..)?);
    let (whole, decimals) = number.split_once('.').unwrap_or((number, ""));
    let scaled: u64 = format!("{whole}{decimals}").parse().ok()?;
    let next = if up { scaled.checked_add(1)? } else { scaled.checked_sub(1)? };
    if decimals.is_empty() {
        return Some(format!("{next}{unit}"));
    }
    let digits = format!("{next:0>width$}", width = decimals.len() + 1);
    let cut = digits.len() - decimals.len();
    Some(format!("{}.{}{unit}", digits.get(..cut)?, digits.get(cut..)?))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn steps_keep_the_unit() {
        let up = |s: &str| step(s, true);
        assert_eq!(up("20Gi").as_deref(), Some("21Gi"));
        assert_eq!(up("7%").as_deref(), Some("8%"));
        assert_eq!(up("0.9").as_deref(), Some("1.0"));
        assert_eq!(step("100m", false).as_deref(), Some("99m"));
        assert_eq!(step("0", false), None, "never below zero");
        assert_eq!(up("abc"), None);
        assert_eq!(up(""), None);
        assert_eq!(up("18446744073709551615"), None);
    }

    #[test]
    fn unchanged_text_keeps_the_value_and_lists_keep_their_items() {
        assert_eq!(value(Kind::Integer, "3", Some(&json!("3"))), Some(json!("3")));
        assert_eq!(value(Kind::Integer, "4", Some(&json!("3"))), Some(json!(4)));
        assert_eq!(value(Kind::Quantity, "30", Some(&json!(20))), Some(json!(30)));
        assert_eq!(value(Kind::Quantity, "30", Some(&json!("20Gi"))), Some(json!("30")));
        assert_eq!(value(Kind::Text, "", Some(&json!("x"))), None);
        let gpus = json!([{"name": "a", "more": 1}]);
        assert_eq!(value(Kind::Gpus, "b, a", Some(&gpus)), Some(json!([{"name": "b"}, {"name": "a", "more": 1}])));
        assert_eq!(value(Kind::Opaque, "anything", Some(&gpus)), Some(gpus));
    }

    #[test]
    fn what_the_form_does_not_know_is_shown_and_marked() {
        let rows = rows(&json!({"minReplicas": 1, "roles": ["a", 3], "foo": {"b": 1}, "maxUnhealthy": "10%", "kubelet": {"odd": 1}}));
        let standing = |label: &str| rows.iter().find(|r| r.label() == label).map(|r| (r.kind, r.standing));
        assert_eq!(standing("foo"), Some((Kind::Opaque, Standing::Ignored)));
        assert_eq!(standing("maxUnhealthy"), Some((Kind::Opaque, Standing::Unchecked)));
        assert_eq!(standing("kubelet.odd"), Some((Kind::Opaque, Standing::Ignored)));
        assert_eq!(standing("roles"), Some((Kind::Opaque, Standing::Written)), "a list with a number can't be typed as names");
        assert_eq!(standing("diskSize"), Some((Kind::Quantity, Standing::Default)));
        assert_eq!(super::rows(&json!(null)).len(), 1);
    }
}
