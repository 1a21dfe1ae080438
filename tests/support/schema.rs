//! The part of JSON Schema (draft 2020-12) that `assets/schema` uses. Unknown keywords panic, so that no schema can say what isn't checked;
//! properties that a schema doesn't name are reported too, so that no document can say what isn't described.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

use serde_json::Value;

/// Everything that is wrong with a document, one line each; empty when it keeps to the schema.
pub fn errors(schema: &Value, document: &Value) -> Vec<String> {
    let mut out = Vec::new();
    check(schema, schema, document, "", &mut out);
    out
}

fn check(root: &Value, schema: &Value, value: &Value, at: &str, out: &mut Vec<String>) {
    for (keyword, rule) in schema.as_object().expect("a schema is an object") {
        match keyword.as_str() {
            "$ref" => {
                let path = rule.as_str().unwrap().trim_start_matches('#');
                check(root, root.pointer(path).unwrap_or_else(|| panic!("{at}: no {path}")), value, at, out);
            }
            "anyOf" => any_of(root, rule, value, at, out),
            "items" => {
                for (n, v) in value.as_array().into_iter().flatten().enumerate() {
                    check(root, rule, v, &format!("{at}/{n}"), out);
                }
            }
            "properties" => {
                for (key, v) in value.as_object().into_iter().flatten() {
                    match rule.get(key) {
                        Some(known) => check(root, known, v, &format!("{at}/{key}"), out),
                        // Kubernetes objects are whatever the cluster holds.
                        None if rule.get("metadata").is_some() || at.ends_with("/metadata") => {}
                        None => out.push(format!("{at}: {key} is not in the schema")),
                    }
                }
            }
            "$schema" | "$id" | "title" | "description" | "$defs" => {}
            _ => leaf(keyword, rule, value, at, out),
        }
    }
}

/// Rules about the value alone.
fn leaf(keyword: &str, rule: &Value, value: &Value, at: &str, out: &mut Vec<String>) {
    let count = |v: &Value| v.as_array().map(Vec::len).unwrap_or_default() as u64;
    let fine = match keyword {
        "type" => rule.as_array().map_or_else(|| is(rule, value), |l| l.iter().any(|t| is(t, value))),
        "const" => value == rule,
        "enum" => rule.as_array().unwrap().contains(value),
        "minimum" => !value.is_number() || value.as_f64() >= rule.as_f64(),
        "minItems" => !value.is_array() || count(value) >= rule.as_u64().unwrap(),
        "maxItems" => !value.is_array() || count(value) <= rule.as_u64().unwrap(),
        "pattern" => value.as_str().is_none_or(|s| regex::Regex::new(rule.as_str().unwrap()).unwrap().is_match(s)),
        "required" => {
            let missing = |k: &&Value| value.is_object() && value.get(k.as_str().unwrap()).is_none();
            if let Some(key) = rule.as_array().unwrap().iter().find(missing) {
                out.push(format!("{at}: {key} is missing"));
            }
            true
        }
        other => panic!("{at}: keyword {other}"),
    };
    if !fine {
        out.push(format!("{at}: {value} breaks {keyword} {rule}"));
    }
}

fn is(kind: &Value, value: &Value) -> bool {
    match kind.as_str().unwrap() {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "integer" => value.is_u64() || value.is_i64(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        other => panic!("type {other}"),
    }
}

fn any_of(root: &Value, rule: &Value, value: &Value, at: &str, out: &mut Vec<String>) {
    let mut nearest: Option<Vec<String>> = None;
    for branch in rule.as_array().unwrap() {
        let mut found = Vec::new();
        check(root, branch, value, at, &mut found);
        if nearest.as_ref().is_none_or(|n| found.len() < n.len()) {
            nearest = Some(found);
        }
    }
    out.extend(nearest.into_iter().flatten());
}
