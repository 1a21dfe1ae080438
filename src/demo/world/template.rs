//! Object templates under `assets/demo/`: parsed once, copied with names and times filled in.
//! Owns the placeholder language; knows no kind.

use std::sync::OnceLock;

use serde::Deserialize;
use serde_json::Value;

use crate::{demo::store, model::Time};

/// The template files.
#[derive(Debug, Clone, Copy)]
pub(super) enum File {
    Plane,
    Pool,
    PoolScaling,
    Pending,
    Provisioning,
    Provisioned,
    Running,
    AwaitingEtcd,
    Definition,
}

const TEXTS: [&str; 9] = [
    include_str!("../../../assets/demo/plane.yaml"),
    include_str!("../../../assets/demo/pool.yaml"),
    include_str!("../../../assets/demo/pool-scaling.yaml"),
    include_str!("../../../assets/demo/machine-pending.yaml"),
    include_str!("../../../assets/demo/machine-provisioning.yaml"),
    include_str!("../../../assets/demo/machine-provisioned.yaml"),
    include_str!("../../../assets/demo/machine-running.yaml"),
    include_str!("../../../assets/demo/awaiting-etcd.yaml"),
    include_str!("../../../assets/demo/application-definition.yaml"),
];

fn parsed(file: File) -> &'static [Value] {
    static ALL: OnceLock<Vec<Vec<Value>>> = OnceLock::new();
    let all = ALL.get_or_init(|| {
        TEXTS
            .iter()
            .map(|t| serde_yaml::Deserializer::from_str(t).filter_map(|d| Value::deserialize(d).ok()).filter(Value::is_object).collect())
            .collect()
    });
    all.get(file as usize).map_or(&[], Vec::as_slice)
}

/// What fills a template: `$NAME` texts, longest first where one begins another, and the birth that `@N` counts from.
pub(super) struct Fill<'a> {
    pub names: &'a [(&'a str, &'a str)],
    pub born: Time,
    /// No time lies after this one.
    pub now: Time,
}

/// The objects of a template.
pub(super) fn objects(file: File, fill: &Fill) -> Vec<Value> {
    parsed(file)
        .iter()
        .map(|v| {
            let mut v = copy(v, fill);
            let ns = v.pointer("/metadata/namespace").and_then(Value::as_str).unwrap_or("").to_string();
            references(&mut v, &ns);
            v
        })
        .collect()
}

fn copy(v: &Value, fill: &Fill) -> Value {
    match v {
        Value::String(s) => Value::String(text(s, fill)),
        Value::Array(a) => Value::Array(a.iter().map(|v| copy(v, fill)).collect()),
        Value::Object(o) => Value::Object(o.iter().map(|(k, v)| (text(k, fill), copy(v, fill))).collect()),
        other => other.clone(),
    }
}

fn text(s: &str, fill: &Fill) -> String {
    if let Some(n) = s.strip_prefix('@').and_then(|n| n.parse::<i64>().ok()) {
        return store::short(after(fill.born, n).min(fill.now));
    }
    if !s.contains('$') {
        return s.to_string();
    }
    fill.names.iter().fold(s.to_string(), |s, (from, to)| s.replace(from, to))
}

/// Makes the uids of references match the objects they name.
fn references(v: &mut Value, ns: &str) {
    match v {
        Value::Object(o) => {
            let get = |k: &str| o.get(k).and_then(Value::as_str).map(str::to_string);
            if let (Some(kind), Some(name), Some(_)) = (get("kind"), get("name"), get("uid")) {
                o.insert("uid".into(), Value::String(store::uid(&kind, ns, &name)));
            }
            o.values_mut().for_each(|v| references(v, ns));
        }
        Value::Array(a) => a.iter_mut().for_each(|v| references(v, ns)),
        _ => {}
    }
}

/// A time some seconds later (or earlier).
pub(super) fn after(t: Time, seconds: i64) -> Time {
    t.checked_add(jiff::SignedDuration::from_secs(seconds)).unwrap_or(t)
}
