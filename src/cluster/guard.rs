//! The guard: reads every request before it leaves and lets through only what the allowlist names. Built once from the mode, never lifted.
//! Owns the reading of paths; must not send, retry or log.

use super::allow::{Names, ROWS, Row};

/// What may leave this process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Reads and self-reviews only.
    ReadOnly,
    /// And the patch of a ComputePlane.
    ReadWrite,
}

/// A request as the API server would understand it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[allow(missing_docs)] // the Kubernetes names
pub struct Attributes {
    pub verb: String,
    pub group: String,
    pub version: String,
    pub resource: String,
    pub subresource: String,
    pub namespace: String,
    pub name: String,
}

/// The guard's answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    /// What was asked, as far as it could be read.
    pub attributes: Attributes,
    /// What the request is for, or why it is refused.
    pub verdict: Result<&'static str, String>,
}

/// The only body type that a patch may have: merge and apply patches would write defaults and owners (`platform.md` 4).
pub const JSON_PATCH: &str = "application/json-patch+json";

/// Judges a request by its method, path with query, and content type.
pub fn decide(mode: Mode, method: &str, target: &str, content_type: &str) -> Decision {
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let mut attributes = Attributes { verb: method.to_ascii_lowercase(), ..Attributes::default() };
    let verdict = read(method, path, query, &mut attributes).and_then(|d| match d {
        Read::Discovery => Ok("finding out what the server serves"),
        Read::Resource(selected) => allowed(mode, &attributes, selected.as_deref(), query, content_type),
    });
    Decision { attributes, verdict }
}

enum Read {
    /// A path that tells what is served and holds no objects.
    Discovery,
    /// A resource, and the name that a field selector narrows it to.
    Resource(Option<String>),
}

fn read(method: &str, path: &str, query: &str, a: &mut Attributes) -> Result<Read, String> {
    // Nothing but what names are made of: no encoding, no matrix parameters, no backslash that some proxy reads as a slash.
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"/-._:".contains(&b);
    if !path.starts_with('/') || !path.bytes().all(plain) {
        return Err("the path is encoded or odd: the guard only passes plain paths".into());
    }
    let parts: Vec<&str> = path.split('/').skip(1).collect();
    if parts.iter().any(|p| p.is_empty() || *p == "." || *p == "..") {
        return Err("the path has empty or relative parts".into());
    }
    let rest = match parts.as_slice() {
        ["version" | "api" | "apis"] | ["api", _] | ["apis", _] | ["apis", _, _] => return discovery(method, query),
        ["openapi", "v3"] | ["openapi", "v3", "api", _] | ["openapi", "v3", "apis", _, _] => return discovery(method, query),
        ["api", version, rest @ ..] => {
            a.version = (*version).to_string();
            rest
        }
        ["apis", group, version, rest @ ..] => {
            a.group = (*group).to_string();
            a.version = (*version).to_string();
            rest
        }
        _ => return Err("no API path".into()),
    };
    let text = |s: &str| s.to_string();
    match rest {
        ["watch" | "proxy", ..] => return Err("a legacy path".into()),
        ["namespaces", ns, resource] if *resource != "status" && *resource != "finalize" => {
            (a.namespace, a.resource) = (text(ns), text(resource))
        }
        ["namespaces", ns, resource, name] => (a.namespace, a.resource, a.name) = (text(ns), text(resource), text(name)),
        ["namespaces", ns, resource, name, sub @ ..] => {
            (a.namespace, a.resource, a.name, a.subresource) = (text(ns), text(resource), text(name), sub.join("/"));
        }
        [resource] => a.resource = text(resource),
        [resource, name] => (a.resource, a.name) = (text(resource), text(name)),
        [resource, name, sub @ ..] => (a.resource, a.name, a.subresource) = (text(resource), text(name), sub.join("/")),
        [] => return Err("no API path".into()),
    }
    a.verb = verb(method, query, &a.name)?;
    let selector = params(query).into_iter().find(|(k, _)| k == "fieldSelector").map(|(_, v)| v);
    // Only a selector that is nothing but the name narrows for certain.
    Ok(Read::Resource(
        selector.and_then(|s| s.strip_prefix("metadata.name=").filter(|n| !n.contains(',') && !n.starts_with('=')).map(str::to_string)),
    ))
}

fn discovery(method: &str, query: &str) -> Result<Read, String> {
    match (method, query) {
        ("GET", q) if params(q).iter().all(|(k, _)| k == "timeout" || k == "hash") => Ok(Read::Discovery),
        _ => Err("discovery is only read".into()),
    }
}

fn verb(method: &str, query: &str, name: &str) -> Result<String, String> {
    let watch: Vec<String> = params(query).into_iter().filter(|(k, _)| k == "watch").map(|(_, v)| v).collect();
    Ok(match (method, watch.as_slice()) {
        ("GET", []) if name.is_empty() => "list",
        ("GET", []) => "get",
        // With a name the server ignores `watch` and answers a get: never sent, so that both always mean the same verb.
        ("GET", [one]) if name.is_empty() && (one == "true" || one == "1") => "watch",
        ("GET", [one]) if name.is_empty() && (one == "false" || one == "0") => "list",
        ("POST", []) if name.is_empty() => "create",
        ("PATCH", []) if !name.is_empty() => "patch",
        ("PUT", _) => "update",
        ("DELETE", _) if name.is_empty() => "deletecollection",
        ("DELETE", _) => "delete",
        _ => return Err(format!("method {} in this form is never used", crate::model::text::line(method))),
    }
    .to_string())
}

/// Decoded query parameters.
fn params(query: &str) -> Vec<(String, String)> {
    let decode = |s: &str| {
        let mut out = Vec::with_capacity(s.len());
        let mut bytes = s.bytes();
        while let Some(b) = bytes.next() {
            match b {
                b'+' => out.push(b' '),
                b'%' => {
                    let hex: Vec<u8> = bytes.by_ref().take(2).collect();
                    let parsed = std::str::from_utf8(&hex).ok().filter(|h| h.len() == 2).and_then(|h| u8::from_str_radix(h, 16).ok());
                    out.push(parsed.unwrap_or(b'?'));
                }
                b => out.push(b),
            }
        }
        String::from_utf8_lossy(&out).into_owned()
    };
    query.split('&').filter(|p| !p.is_empty()).map(|p| p.split_once('=').unwrap_or((p, ""))).map(|(k, v)| (decode(k), decode(v))).collect()
}

/// Query parameters that some request of ours carries; anything else is refused, `dryRun` above all: that API ignores it and writes.
const PARAMETERS: &[&str] = &[
    "fieldSelector",
    "labelSelector",
    "limit",
    "continue",
    "resourceVersion",
    "resourceVersionMatch",
    "watch",
    "allowWatchBookmarks",
    "timeoutSeconds",
    "sendInitialEvents",
    "includeObject",
    "fieldManager",
    "fieldValidation",
    "pretty",
];

fn allowed(mode: Mode, a: &Attributes, selected: Option<&str>, query: &str, content_type: &str) -> Result<&'static str, String> {
    if let Some((k, _)) = params(query).iter().find(|(k, _)| !PARAMETERS.contains(&k.as_str())) {
        return Err(format!("parameter {} is never sent", crate::model::text::line(k)));
    }
    // Of a repeated parameter the server takes the first and a proxy perhaps the last.
    let mut names: Vec<String> = params(query).into_iter().map(|(k, _)| k).collect();
    names.sort();
    if names.windows(2).any(|w| matches!(w, [a, b] if a == b)) {
        return Err("a parameter is repeated".into());
    }
    let rows = ROWS.iter().filter(|r| r.group == a.group && r.resource == a.resource && r.subresource == a.subresource);
    let mut why = format!("{} of {} isn't on the allowlist", a.verb, shown(a));
    for row in rows.filter(|r| r.verbs.contains(&a.verb.as_str())) {
        match fits(row, mode, a, selected, content_type) {
            Ok(()) => return Ok(row.used_for),
            Err(e) => why = e,
        }
    }
    Err(why)
}

fn fits(row: &Row, mode: Mode, a: &Attributes, selected: Option<&str>, content_type: &str) -> Result<(), String> {
    if row.writes && mode == Mode::ReadOnly {
        return Err("read-only mode".into());
    }
    if row.writes && content_type.split(';').next().map(str::trim) != Some(JSON_PATCH) {
        return Err(format!("a patch must be {JSON_PATCH}"));
    }
    if row.verbs.contains(&"create") && (!a.namespace.is_empty() || !a.name.is_empty()) {
        return Err("reviews have no namespace and no name in their path".into());
    }
    if row.writes && a.namespace.is_empty() {
        return Err("a patch needs a namespace".into());
    }
    match row.names {
        Names::Any => Ok(()),
        Names::Only(name) if a.name == name || (a.name.is_empty() && selected == Some(name)) => Ok(()),
        Names::Only(name) => Err(format!("of {} only {name} may be read", a.resource)),
    }
}

fn shown(a: &Attributes) -> String {
    let sub = if a.subresource.is_empty() { String::new() } else { format!("/{}", a.subresource) };
    let group = if a.group.is_empty() { String::new() } else { format!(".{}", a.group) };
    crate::model::text::line(&format!("{}{sub}{group}", a.resource))
}

#[cfg(test)]
mod tests;
