//! What a read document is: a ComputePlane, a list of them, values, or a bare map of groups. Must not judge the values.

use serde_json::{Map, Value};

use super::{
    super::{finding::show, schema::kind_of},
    Body, Name, Values, problem,
};

fn unreadable(text: String) -> Body {
    Body::Unreadable(vec![problem("Y-SHAPE", text, None)])
}

/// The documents in one value: lists become one for each item.
pub fn bodies(value: Value) -> Vec<Body> {
    match value {
        Value::Object(map) => object(map),
        Value::Array(items) if !items.is_empty() => items.into_iter().flat_map(bodies).collect(),
        // Written out: the map of groups itself is null.
        Value::Null => vec![values(Name::Unknown, "", Some(Value::Null), Vec::new())],
        other => vec![unreadable(format!(
            "the document is {} ({}); wanted is a ComputePlane, a map of node groups, or values with nodeGroups",
            if other.is_array() { "an empty list" } else { kind_of(&other) },
            show(&other)
        ))],
    }
}

fn values(name: Name, root: &'static str, node_groups: Option<Value>, other_keys: Vec<String>) -> Body {
    Body::Values(Values { name, node_groups, other_keys, root })
}

fn is_named(map: &Map<String, Value>, key: &str) -> bool {
    map.get(key).is_some_and(|v| !v.is_object())
}

/// True for a map that looks like one group: some of its fields are a group's.
fn is_group(value: &Value) -> bool {
    let fields = ["minReplicas", "maxReplicas", "instanceType", "diskSize", "roles"];
    value.as_object().is_some_and(|o| fields.iter().filter(|f| o.get(**f).is_some_and(|v| !v.is_object())).count() >= 2)
}

fn object(mut map: Map<String, Value>) -> Vec<Body> {
    let spec_like = map.get("spec").is_some_and(|s| s.get("nodeGroups").is_some()) && !map.contains_key("nodeGroups");
    if is_named(&map, "kind") || is_named(&map, "apiVersion") || spec_like {
        return manifest(map);
    }
    match map.remove("nodeGroups") {
        Some(groups) if !is_group(&groups) => {
            let keys = map.keys().cloned().collect();
            vec![values(Name::Unknown, "", Some(groups), keys)]
        }
        Some(group) => {
            map.insert("nodeGroups".into(), group);
            vec![values(Name::Unknown, "", Some(Value::Object(map)), Vec::new())]
        }
        None => vec![values(Name::Unknown, "", Some(Value::Object(map)), Vec::new())],
    }
}

fn manifest(mut map: Map<String, Value>) -> Vec<Body> {
    let text = |key: &str| map.get(key).and_then(Value::as_str).unwrap_or_default().to_string();
    let (kind, version) = (text("kind"), text("apiVersion"));
    if kind.ends_with("List")
        && let Some(Value::Array(items)) = map.get("items")
    {
        if items.is_empty() {
            return vec![unreadable(format!("the {kind} is empty"))];
        }
        return items.iter().cloned().flat_map(bodies).collect();
    }
    if kind != "ComputePlane" && (map.contains_key("kind") || map.contains_key("apiVersion")) {
        let found = map.get("kind").map(show).unwrap_or_else(|| "missing".into());
        return vec![unreadable(format!("kind is {found}, wanted is ComputePlane"))];
    }
    if !version.is_empty() && !version.starts_with("apps.cozystack.io/") {
        return vec![unreadable(format!("apiVersion is {version}, wanted is apps.cozystack.io/v1alpha1"))];
    }
    let name = match map.get("metadata").and_then(|m| m.get("name")) {
        Some(name) => Name::Is(name.clone()),
        None if kind.is_empty() => Name::Unknown,
        None => Name::Missing,
    };
    match map.remove("spec") {
        None | Some(Value::Null) => vec![values(name, "spec", None, Vec::new())],
        Some(Value::Object(mut spec)) => {
            let groups = spec.remove("nodeGroups");
            vec![values(name, "spec", groups, spec.keys().cloned().collect())]
        }
        Some(other) => vec![unreadable(format!("spec is {}, wanted is a map", kind_of(&other)))],
    }
}
