//! One group as the rules look at it: key, place in the order, typed reads of its fields. Must not judge.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::super::finding::{Seg, path};

/// One group that is a map.
#[derive(Debug)]
pub struct Pool<'a> {
    /// Place in sorted key order: templates visit groups so.
    pub index: usize,
    /// The key.
    pub key: &'a str,
    /// The fields.
    pub fields: &'a Map<String, Value>,
    /// Fields whose type or pattern the schema refuses: no later rule can say anything about them.
    pub broken: BTreeSet<String>,
}

/// All groups that are maps, in the order of the templates (bytes of the key).
pub fn pools(map: &Map<String, Value>) -> Vec<Pool<'_>> {
    let mut groups: Vec<(&String, &Value)> = map.iter().collect();
    groups.sort_by_key(|(key, _)| *key);
    let schema = super::super::schema::Schema::module().property("nodeGroups").and_then(|g| g.property(""));
    let broken = |fields: &Map<String, Value>| {
        let mut broken = BTreeSet::new();
        for (name, value) in fields {
            let known = [schema, Some(super::super::schema::Schema::passed())].into_iter().flatten().find(|s| s.lists(name));
            if known.and_then(|s| s.property(name)).is_some_and(|s| !s.check(value).is_empty()) {
                broken.insert(name.clone());
            }
        }
        broken
    };
    let maps = groups.into_iter().enumerate().filter_map(|(index, (key, v))| Some((index, key, v.as_object()?)));
    maps.map(|(index, key, fields)| Pool { index, key, fields, broken: broken(fields) }).collect()
}

impl<'a> Pool<'a> {
    /// A field, unless the schema refuses it.
    pub fn get(&self, name: &str) -> Option<&'a Value> {
        self.fields.get(name).filter(|_| !self.broken.contains(name))
    }

    /// A text field.
    pub fn text(&self, name: &str) -> Option<&'a str> {
        self.get(name).and_then(Value::as_str)
    }

    /// A number field.
    pub fn number(&self, name: &str) -> Option<f64> {
        self.get(name).and_then(Value::as_f64)
    }

    /// A leaf below a struct.
    pub fn leaf(&self, outer: &str, name: &str) -> Option<&'a Value> {
        self.get(outer).and_then(|o| o.get(name))
    }

    /// Roles that are texts.
    pub fn roles(&self) -> Vec<&'a str> {
        self.get("roles").and_then(Value::as_array).map(|r| r.iter().filter_map(Value::as_str).collect()).unwrap_or_default()
    }

    /// GPU names.
    pub fn gpus(&self) -> Vec<&'a str> {
        let name = |g: &'a Value| g.get("name").and_then(Value::as_str);
        self.get("gpus").and_then(Value::as_array).map(|g| g.iter().filter_map(name).collect()).unwrap_or_default()
    }

    /// True when it may carry the ingress.
    pub fn carries_ingress(&self) -> bool {
        self.roles().contains(&"ingress-nginx") && self.number("maxReplicas").is_some_and(|m| m >= 1.0)
    }

    /// The path of the group.
    pub fn path(&self) -> String {
        path("nodeGroups", &[Seg::Key(self.key.to_string())])
    }

    /// The path of a field.
    pub fn field(&self, name: &str) -> String {
        path(&self.path(), &[Seg::Key(name.to_string())])
    }

    /// The path of a leaf.
    pub fn leaf_path(&self, outer: &str, name: &str) -> String {
        path(&self.field(outer), &[Seg::Key(name.to_string())])
    }

    /// The path of a list's item.
    pub fn item(&self, name: &str, index: usize) -> String {
        path(&self.field(name), &[Seg::Index(index)])
    }

    /// `node group "web"`, for messages.
    pub fn named(&self) -> String {
        format!("node group {:?}", self.key)
    }
}
