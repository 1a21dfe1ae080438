//! Field and label selectors, as text for a request and as a test of an object. A narrowed list speaks only for what it selects.
//! Owns parsing and matching of the forms the console sends; must not know who sends them.

use serde::{Deserialize, Serialize};

use super::Object;

/// What a list or watch is narrowed to; both empty means everything.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Selector {
    /// `fieldSelector`, e.g. `metadata.name=computeplane-cluster`.
    pub fields: String,
    /// `labelSelector`, e.g. `cluster.x-k8s.io/cluster-name=computeplane-cluster`.
    pub labels: String,
}

impl Selector {
    /// Everything.
    pub fn all() -> Selector {
        Selector::default()
    }

    /// One name.
    pub fn name(name: &str) -> Selector {
        Selector { fields: format!("metadata.name={name}"), labels: String::new() }
    }

    /// A label selector. Only keys that `redact::key_stays` lets stay can be told from an object.
    pub fn labels(labels: &str) -> Selector {
        Selector { fields: String::new(), labels: labels.to_string() }
    }

    /// Whether an object is among what this selects. A requirement of a form that isn't known matches: better a row too many than one lost.
    pub fn matches(&self, object: &Object) -> bool {
        let field = |path: &str| match path {
            "metadata.name" => Some(object.meta.name.to_string()),
            "metadata.namespace" => Some(object.meta.namespace.to_string()),
            _ => None,
        };
        let label = |key: &str| object.meta.labels.get(key).map(|v| v.to_string());
        requirements(&self.fields).all(|r| match r {
            Requirement::Equals(k, v) => field(k).is_none_or(|f| f == v),
            Requirement::Differs(k, v) => field(k).is_none_or(|f| f != v),
            Requirement::Exists(_) | Requirement::Absent(_) => true,
        }) && requirements(&self.labels).all(|r| match r {
            Requirement::Equals(k, v) => label(k).is_some_and(|l| l == v),
            Requirement::Differs(k, v) => label(k).is_none_or(|l| l != v),
            Requirement::Exists(k) => label(k).is_some(),
            Requirement::Absent(k) => label(k).is_none(),
        })
    }
}

enum Requirement<'a> {
    Equals(&'a str, &'a str),
    Differs(&'a str, &'a str),
    Exists(&'a str),
    Absent(&'a str),
}

fn requirements(selector: &str) -> impl Iterator<Item = Requirement<'_>> {
    selector.split(',').map(str::trim).filter(|r| !r.is_empty()).map(|r| {
        if let Some((k, v)) = r.split_once("!=") {
            Requirement::Differs(k.trim(), v.trim())
        } else if let Some((k, v)) = r.split_once('=') {
            Requirement::Equals(k.trim(), v.trim_start_matches('=').trim())
        } else if let Some(k) = r.strip_prefix('!') {
            Requirement::Absent(k.trim())
        } else {
            Requirement::Exists(r)
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object() -> Object {
        Object::from_value(
            &serde_json::json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a", "namespace": "t", "labels": {"cozystack.io/x": "1"}}}),
        )
        .unwrap()
    }

    #[test]
    fn each_form_selects() {
        let o = object();
        for (fields, labels, hit) in [
            ("", "", true),
            ("metadata.name=a", "", true),
            ("metadata.name=b", "", false),
            ("metadata.name!=a", "", false),
            ("metadata.name==a,metadata.namespace=t", "cozystack.io/x", true),
            ("", "cozystack.io/x=1", true),
            ("", "cozystack.io/x=2", false),
            ("", "cozystack.io/x!=2,!cozystack.io/y", true),
            ("", "cozystack.io/y", false),
            ("", "!cozystack.io/x", false),
        ] {
            assert_eq!(Selector { fields: fields.into(), labels: labels.into() }.matches(&o), hit, "{fields} {labels}");
        }
    }
}
