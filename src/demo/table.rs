//! Lists as Tables and as bare metadata (`Accept: …;as=Table`). Owns the columns per kind.

use std::sync::Arc;

use serde_json::{Value, json};

use super::{catalog::Resource, platform::Request, store::Stored};
use crate::model::Time;

/// The shape a client asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    Table,
    Metadata,
}

/// Reads the Accept header.
pub(crate) fn wanted(accept: &str) -> Option<Shape> {
    let first = accept.split(',').find(|part| part.trim().starts_with("application/json"))?;
    if first.contains("as=Table") {
        Some(Shape::Table)
    } else if first.contains("as=PartialObjectMetadata") {
        Some(Shape::Metadata)
    } else {
        None
    }
}

/// The list in that shape.
pub(crate) fn list(shape: Shape, resource: &Resource, items: &[Arc<Stored>], meta: Value, r: &Request) -> Value {
    let values = items.iter().map(|o| o.value());
    match shape {
        Shape::Metadata => {
            let items: Vec<Value> = values.map(|v| partial(&v)).collect();
            json!({"kind": "PartialObjectMetadataList", "apiVersion": "meta.k8s.io/v1", "metadata": meta, "items": items})
        }
        Shape::Table => {
            let include = r.query.get("includeObject").unwrap_or("Metadata");
            let rows: Vec<Value> = values
                .map(|v| {
                    let cells: Vec<Value> = columns(resource)
                        .iter()
                        .map(|(_, kind, _, get)| match (get)(&v) {
                            Value::Null if *kind == "string" => json!(""),
                            other if *kind == "date" => json!(age(other.as_str(), r.now)),
                            other => other,
                        })
                        .collect();
                    row(cells, &v, include)
                })
                .collect();
            let heads: Vec<Value> = columns(resource).iter().map(|(n, t, d, _)| column(n, t, d)).collect();
            json!({"kind": "Table", "apiVersion": "meta.k8s.io/v1", "metadata": meta, "columnDefinitions": heads, "rows": rows})
        }
    }
}

/// A column definition.
pub(crate) fn column(name: &str, kind: &str, description: &str) -> Value {
    let format = if name == "Name" { "name" } else { "" };
    json!({"name": name, "type": kind, "format": format, "description": description, "priority": 0})
}

/// A row with the object in the form `includeObject` asks for.
pub(crate) fn row(cells: Vec<Value>, object: &Value, include: &str) -> Value {
    match include {
        "None" => json!({"cells": cells, "object": null}),
        "Object" => json!({"cells": cells, "object": object}),
        _ => json!({"cells": cells, "object": partial(object)}),
    }
}

/// Only the metadata of an object.
pub(crate) fn partial(object: &Value) -> Value {
    json!({"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": object.get("metadata")})
}

type Get = fn(&Value) -> Value;
type Column = (&'static str, &'static str, &'static str, Get);

fn at(v: &Value, path: &str) -> Value {
    v.pointer(path).cloned().unwrap_or(Value::Null)
}

fn ready(v: &Value, field: &str) -> Value {
    let conditions = v.pointer("/status/conditions").and_then(Value::as_array);
    let ready = conditions.into_iter().flatten().find(|c| c.get("type").and_then(Value::as_str) == Some("Ready"));
    ready.and_then(|c| c.get(field)).cloned().unwrap_or(Value::Null)
}

const NAME: Column = ("Name", "string", "Name must be unique within a namespace.", |v| at(v, "/metadata/name"));
const AGE: Column = ("Age", "date", "Time since creation.", |v| at(v, "/metadata/creationTimestamp"));

fn columns(resource: &Resource) -> &'static [Column] {
    match resource.plural {
        "helmreleases" => &[NAME, AGE, ("Ready", "string", "", |v| ready(v, "status")), ("Status", "string", "", |v| ready(v, "message"))],
        "machines" | "machinedeployments" | "clusters" => &[NAME, ("Phase", "string", "", |v| at(v, "/status/phase")), AGE],
        _ => &[NAME, AGE],
    }
}

/// An age as kubectl writes it: `22s`, `5m`, `3h`, `42d`.
pub(crate) fn age(since: Option<&str>, now: Time) -> String {
    let Some(then) = since.and_then(|s| s.parse::<Time>().ok()) else { return "<unknown>".into() };
    let s = (now.as_second() - then.as_second()).max(0);
    match s {
        0..120 => format!("{s}s"),
        120..7200 => format!("{}m", s / 60),
        7200..172_800 => format!("{}h", s / 3600),
        _ => format!("{}d", s / 86400),
    }
}
