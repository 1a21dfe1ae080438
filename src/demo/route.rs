//! What a request asks for: path and query, read as the API server reads them. Owns the parsing; decides nothing.

use super::{catalog, catalog::Resource, rbac::Asked};

/// A path, understood.
#[derive(Debug, Clone)]
pub(crate) enum Route {
    /// Discovery, health, version, OpenAPI.
    Url(String),
    /// Something of a group that is served, or would be.
    Object(Target),
}

/// A resource request.
#[derive(Debug, Clone)]
pub(crate) struct Target {
    pub asked: Asked,
    /// Absent for a kind nobody serves.
    pub resource: Option<&'static Resource>,
    /// False if the whole group and version is unknown.
    pub group_known: bool,
}

/// The query, decoded.
#[derive(Debug, Clone, Default)]
pub(crate) struct Query(Vec<(String, String)>);

impl Query {
    /// Parses `a=b&c=d`.
    pub fn parse(text: &str) -> Query {
        let pair = |p: &str| {
            let (k, v) = p.split_once('=').unwrap_or((p, ""));
            (decode(k), decode(v))
        };
        Query(text.split('&').filter(|p| !p.is_empty()).map(pair).collect())
    }
    /// A value that isn't empty.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.0.iter().find(|(k, _)| k == key).map(|(_, v)| v.as_str()).filter(|v| !v.is_empty())
    }
    /// True for `1`, `true` and friends.
    pub fn is(&self, key: &str) -> bool {
        matches!(self.get(key), Some("1" | "t" | "T" | "true" | "TRUE" | "True"))
    }
}

/// Percent-decoding; `+` is a blank.
fn decode(text: &str) -> String {
    let mut out = Vec::new();
    let mut bytes = text.bytes();
    while let Some(b) = bytes.next() {
        let hex = |b: Option<u8>| b.and_then(|b| char::from(b).to_digit(16));
        match b {
            b'+' => out.push(b' '),
            b'%' => match (hex(bytes.next()), hex(bytes.next())) {
                (Some(a), Some(c)) => out.push((a * 16 + c) as u8),
                _ => out.push(b'%'),
            },
            _ => out.push(b),
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// Reads method, path and query.
pub(crate) fn route(method: &http::Method, path: &str, query: &Query) -> Route {
    let parts: Vec<String> = path.split('/').filter(|p| !p.is_empty()).map(decode).collect();
    let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
    let (group, version, rest) = match parts.as_slice() {
        ["api", version, rest @ ..] if !rest.is_empty() => ("", *version, rest),
        ["apis", group, version, rest @ ..] if !rest.is_empty() => (*group, *version, rest),
        _ => return Route::Url(format!("/{}", parts.join("/"))),
    };
    let (namespace, rest) = match rest {
        ["namespaces", ns, rest @ ..] if !rest.is_empty() && !matches!(rest, ["status" | "finalize"]) => (*ns, rest),
        rest => ("", rest),
    };
    let mut asked = Asked { group: group.into(), namespace: namespace.into(), ..Asked::default() };
    let mut rest = rest.iter();
    asked.resource = rest.next().unwrap_or(&"").to_string();
    asked.name = rest.next().unwrap_or(&"").to_string();
    asked.subresource = rest.next().unwrap_or(&"").to_string();
    asked.verb = verb(method, &asked.name, query).into();
    // A field selector on the name counts as the name: rules with resourceNames allow such lists.
    if asked.name.is_empty()
        && let Some(name) = query.get("fieldSelector").and_then(|f| f.strip_prefix("metadata.name="))
        && !name.contains(',')
        && matches!(asked.verb.as_str(), "list" | "watch")
    {
        asked.name = name.trim_start_matches('=').into();
        // Kept apart from a request for the object by its verb.
    }
    let served = |r: &&Resource| r.group == group && r.version == version;
    let group_known = catalog::RESOURCES.iter().any(|r| served(&r));
    let resource = catalog::find(group, &asked.resource).filter(|r| served(r));
    Route::Object(Target { asked, resource, group_known })
}

fn verb(method: &http::Method, name: &str, query: &Query) -> &'static str {
    match (method.as_str(), name.is_empty()) {
        ("GET" | "HEAD", _) if query.is("watch") => "watch",
        ("GET" | "HEAD", true) => "list",
        ("GET" | "HEAD", false) => "get",
        ("POST", _) => "create",
        ("PUT", _) => "update",
        ("PATCH", _) => "patch",
        ("DELETE", true) => "deletecollection",
        ("DELETE", false) => "delete",
        _ => "unknown",
    }
}
