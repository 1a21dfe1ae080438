//! A validator for the part of JSON Schema that the platform's values schemas use: type, required, pattern, integer-or-string,
//! items, properties, additionalProperties. Owns structure only; must not know a rule's id. Compiled once, patterns included.

use std::{collections::BTreeMap, sync::LazyLock};

use regex::Regex;
use serde_json::{Map, Value};

use super::finding::Seg;

/// The module's values schema, as the platform's API serves it.
const PARENT: &str = include_str!("../../assets/computeplane-schema.json");

const QUANTITY: &str = r"^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$";

/// What is wrong at a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Wrong {
    /// Another JSON type: wanted, found.
    Type(String, &'static str),
    /// A text that doesn't match.
    Pattern,
    /// A required key isn't there.
    Missing(String),
}

/// A violation and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// Path from the value that was checked.
    pub at: Vec<Seg>,
    /// What is wrong.
    pub wrong: Wrong,
}

/// A compiled schema.
#[derive(Debug, Default)]
pub struct Schema {
    types: Vec<String>,
    pattern: Option<Regex>,
    required: Vec<String>,
    properties: BTreeMap<String, Schema>,
    additional: Option<Box<Schema>>,
    items: Option<Box<Schema>>,
}

static MODULE: LazyLock<Schema> = LazyLock::new(|| Schema::compile(&serde_json::from_str(PARENT).unwrap_or_default()));

/// Fields of a pool that the module's schema doesn't list, but the schema below it does (3.1 G-PASSTYPE).
static PASSED: LazyLock<Schema> = LazyLock::new(|| {
    let quantity = serde_json::json!({"anyOf": [{"type": "integer"}, {"type": "string"}], "pattern": QUANTITY});
    Schema::compile(&serde_json::json!({"type": "object", "properties": {
        "podCpuLimit": quantity, "podCpuRequest": quantity, "logSerialConsole": {"type": "boolean"},
        "maxUnhealthy": {"type": "string"}, "nodeStartupTimeout": {"type": "string"}}}))
});

/// The JSON type of a value, by JSON Schema's names; a whole number is an `integer`, also as `3.0`.
pub fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(n) => {
            if n.as_f64().is_some_and(|f| f.fract() == 0.0) {
                "integer"
            } else {
                "number"
            }
        }
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

impl Schema {
    /// The bundled schema of the module's values: `{nodeGroups: …}`.
    pub fn module() -> &'static Schema {
        &MODULE
    }

    /// The schema of one pool's unlisted fields.
    pub fn passed() -> &'static Schema {
        &PASSED
    }

    /// Compiles what it knows and skips what it doesn't: an unknown keyword never refuses anything.
    pub fn compile(schema: &Value) -> Schema {
        let object = |key: &str| schema.get(key).and_then(Value::as_object);
        let types = match schema.get("type") {
            Some(Value::String(t)) => vec![t.clone()],
            Some(Value::Array(ts)) => ts.iter().filter_map(Value::as_str).map(String::from).collect(),
            _ => schema
                .get("anyOf")
                .and_then(Value::as_array)
                .map(|any| any.iter().filter_map(|s| s.get("type")?.as_str()).map(String::from).collect())
                .unwrap_or_default(),
        };
        Schema {
            types,
            pattern: schema.get("pattern").and_then(Value::as_str).and_then(|p| Regex::new(p).ok()),
            required: schema
                .get("required")
                .and_then(Value::as_array)
                .map(|r| r.iter().filter_map(Value::as_str).map(String::from).collect())
                .unwrap_or_default(),
            properties: object("properties").map(|p| p.iter().map(|(k, s)| (k.clone(), Schema::compile(s))).collect()).unwrap_or_default(),
            additional: object("additionalProperties").map(|a| Box::new(Schema::compile(&Value::Object(a.clone())))),
            items: object("items").map(|i| Box::new(Schema::compile(&Value::Object(i.clone())))),
        }
    }

    /// The schema of a key below this one.
    pub fn property(&self, key: &str) -> Option<&Schema> {
        self.properties.get(key).or(self.additional.as_deref())
    }

    /// Keys that are listed here.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.properties.keys().map(String::as_str)
    }

    /// True when the key is listed by name.
    pub fn lists(&self, key: &str) -> bool {
        self.properties.contains_key(key)
    }

    /// The schema of list items.
    pub fn item(&self) -> Option<&Schema> {
        self.items.as_deref()
    }

    /// All violations, in document order.
    pub fn check(&self, value: &Value) -> Vec<Violation> {
        let mut found = Vec::new();
        self.walk(value, &mut Vec::new(), &mut found);
        found
    }

    fn walk(&self, value: &Value, at: &mut Vec<Seg>, found: &mut Vec<Violation>) {
        let kind = kind_of(value);
        let fits = |t: &String| t == kind || (t == "number" && kind == "integer");
        if !self.types.is_empty() && !self.types.iter().any(fits) {
            found.push(Violation { at: at.clone(), wrong: Wrong::Type(self.types.join(" or "), kind) });
            return;
        }
        match value {
            Value::String(s) if self.pattern.as_ref().is_some_and(|p| !p.is_match(s)) => {
                found.push(Violation { at: at.clone(), wrong: Wrong::Pattern });
            }
            Value::Object(map) => self.walk_map(map, at, found),
            Value::Array(items) => {
                let Some(schema) = &self.items else { return };
                for (i, item) in items.iter().enumerate() {
                    at.push(Seg::Index(i));
                    schema.walk(item, at, found);
                    at.pop();
                }
            }
            _ => {}
        }
    }

    fn walk_map(&self, map: &Map<String, Value>, at: &mut Vec<Seg>, found: &mut Vec<Violation>) {
        for key in self.required.iter().filter(|k| !map.contains_key(*k)) {
            found.push(Violation { at: at.clone(), wrong: Wrong::Missing(key.clone()) });
        }
        for (key, value) in map {
            if let Some(schema) = self.property(key) {
                at.push(Seg::Key(key.clone()));
                schema.walk(value, at, found);
                at.pop();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_bundled_schema_judges_like_the_platform() {
        let check = |g: Value| Schema::module().check(&json!({"nodeGroups": {"web": g}}));
        let good = json!({"minReplicas": 1.0, "maxReplicas": 3, "instanceType": "", "diskSize": 20});
        assert_eq!(check(good.clone()), vec![]);
        let mut bad = good;
        bad["diskSize"] = json!("1e3Gi");
        bad["minReplicas"] = json!("1");
        bad["gpus"] = json!([{}]);
        let found = check(bad);
        assert_eq!(found.len(), 3, "{found:?}");
        assert!(found.iter().any(|v| v.wrong == Wrong::Missing("name".into())));
        assert_eq!(Schema::module().check(&json!({"nodeGroups": []})).len(), 1);
    }
}
