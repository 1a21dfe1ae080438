//! `get`: planes with state, version, pools, nodes, age and why. Owns the columns and the exit rule.

use super::{
    exit::Exit,
    output::{Format, Out},
};
use crate::model::{
    Time, age,
    verdict::{Plane, PoolView, Severity, State},
};

/// Formats that `get` offers; the first is the default.
pub const FORMATS: &[Format] = &[Format::Table, Format::Wide, Format::Json, Format::Jsonl, Format::Yaml, Format::Csv, Format::Markdown];

const HEADER: &[&str] = &["NAMESPACE", "NAME", "STATE", "CONTROL PLANE", "POOLS", "NODES", "AGE", "WHY"];
const WIDE: &[&str] =
    &["NAMESPACE", "NAME", "STATE", "SEVERITY", "LAYER", "CONTROL PLANE", "ENDPOINT", "POOLS", "NODES", "SINCE", "AGE", "WHY"];

/// Prints planes; `one` prints the single plane that was asked for by name.
pub fn print(out: &mut Out, format: Format, planes: &[Plane], one: bool, now: Time) {
    match format {
        Format::Json | Format::Jsonl | Format::Yaml => match planes {
            [plane] if one => out.document(format, plane),
            _ => out.list(format, "PlaneList", planes),
        },
        Format::Wide => out.rows(format, WIDE, &planes.iter().map(|p| wide(p, now)).collect::<Vec<_>>()),
        _ => out.rows(format, HEADER, &planes.iter().map(|p| row(p, now)).collect::<Vec<_>>()),
    }
}

/// The exit rule of `get` and `explain`: 1 when a plane is blocked, failing or degraded (with `strict` also unknown).
pub fn exit(planes: &[Plane], strict: bool) -> Exit {
    let bad = |p: &Plane| match p.severity {
        Severity::Blocked | Severity::Failing | Severity::Degraded => true,
        Severity::Unknown => strict,
        Severity::Progressing | Severity::Ready => false,
    };
    if planes.iter().any(bad) { Exit::Bad } else { Exit::Ok }
}

/// The state in words; "as far as you may see" where the rest is dark.
pub fn state_words(p: &Plane) -> String {
    match p.visible_state {
        Some(v) if v != State::Unknown => format!("{} as far as you may see", v.words()),
        _ => p.state.words(),
    }
}

fn row(p: &Plane, now: Time) -> Vec<String> {
    vec![
        p.namespace.clone(),
        p.name.clone(),
        state_words(p),
        control_plane(p),
        pool_names(p),
        nodes(&p.pools),
        age_of(p.created, now),
        why(p, now),
    ]
}

fn wide(p: &Plane, now: Time) -> Vec<String> {
    let layer = serde_json::to_value(p.layer).ok().and_then(|v| v.as_str().map(str::to_string)).unwrap_or_default();
    let severity = serde_json::to_value(p.severity).ok().and_then(|v| v.as_str().map(str::to_string)).unwrap_or_default();
    let endpoint = p.control_plane.endpoint.clone().unwrap_or_else(dash);
    let since = p.since.map_or_else(dash, |t| t.to_string());
    let head = [p.namespace.clone(), p.name.clone(), state_words(p), severity, layer, control_plane(p), endpoint];
    head.into_iter().chain([pool_names(p), nodes(&p.pools), since, age_of(p.created, now), p.cause.clone()]).collect()
}

fn dash() -> String {
    "-".to_string()
}

fn count(n: Option<i64>) -> String {
    n.map_or_else(|| "?".to_string(), |n| n.to_string())
}

/// `v1.33.1 2/2`, or what of it is known.
pub fn control_plane(p: &Plane) -> String {
    let c = &p.control_plane;
    let ready = (c.ready.is_some() || c.desired.is_some()).then(|| format!("{}/{}", count(c.ready), count(c.desired)));
    let parts: Vec<String> = c.version.clone().into_iter().chain(ready).collect();
    if parts.is_empty() { dash() } else { parts.join(" ") }
}

fn pool_names(p: &Plane) -> String {
    let names: Vec<&str> = p.pools.iter().map(|x| x.name.as_str()).collect();
    if names.is_empty() { dash() } else { names.join(" ") }
}

/// `3/4 (1-8)`: ready of desired over all pools, and the sum of the bounds.
pub fn nodes(pools: &[PoolView]) -> String {
    if pools.is_empty() {
        return dash();
    }
    let sum = |f: fn(&PoolView) -> Option<i64>| pools.iter().map(f).try_fold(0i64, |a, n| n.map(|n| a.saturating_add(n)));
    let bounds = match (sum(|p| p.min), sum(|p| p.max)) {
        (Some(min), Some(max)) => format!(" ({min}-{max})"),
        _ => String::new(),
    };
    format!("{}/{}{bounds}", count(sum(|p| p.ready)), count(sum(|p| p.desired)))
}

fn age_of(created: Option<Time>, now: Time) -> String {
    created.map_or_else(dash, |t| age::short(now.duration_since(t)))
}

fn why(p: &Plane, now: Time) -> String {
    match p.since {
        Some(t) if p.severity < Severity::Ready => format!("{} · {}", p.cause, age::short(now.duration_since(t))),
        _ => p.cause.clone(),
    }
}
