//! The two requests of a watch, list and follow, and what their answers say. Owns paths, queries and reading of streams; must not wait or retry.

use bytes::Bytes;
use http_body_util::BodyExt as _;
use serde_json::Value;

use super::{items::Splitter, lines::Lines};
use crate::{
    cluster::{
        ask::{Ask, Place, Stream},
        errors::problem_of_status,
    },
    model::{Kind, Object, Problem, ProblemKind, Scope, prune, world::Source},
};

/// Objects a page for ordinary kinds. Pages of 500 cost the server more than a whole list from its watch cache; this only bounds the largest.
const PAGE: u32 = 20_000;
/// A watch asks for this many seconds and is then opened again: what is half open is noticed by then.
pub const FOLLOW_SECONDS: u64 = 50;
/// The same for long lists of the synthesized API, which must be listed anew each time.
pub const FOLLOW_SECONDS_LONG: u64 = 290;
/// A line of a watch may have this many bytes.
const MAX_LINE: usize = 16 << 20;

/// Objects of one source that are held at most: eight times the largest kind of the fleet the console is built for.
pub const MAX_OBJECTS: usize = 500_000;

/// A complete list.
#[derive(Debug)]
pub struct Listed {
    /// Projected objects.
    pub objects: Vec<Object>,
    /// Where the watch goes on.
    pub resource_version: String,
    /// Version the objects were served in.
    pub place: Place,
}

/// What a line of a watch says.
#[derive(Debug, PartialEq)]
pub enum Line {
    /// Added or modified, with its version.
    Applied(Box<Object>, String),
    /// Deleted, with its version: namespace, name.
    Deleted(String, String, String),
    /// A bookmark: nothing changed up to this version.
    Bookmark(String),
    /// The server ended the watch with a problem (410 is `Gone`).
    Failed(Problem),
}

pub(in crate::cluster) fn query(source: &Source, more: &[(&str, String)]) -> String {
    let mut q = String::new();
    let selectors = [("fieldSelector", source.selector.fields.clone()), ("labelSelector", source.selector.labels.clone())];
    for (k, v) in selectors.iter().chain(more) {
        if !v.is_empty() {
            let sep = if q.is_empty() { '?' } else { '&' };
            q.push_str(&format!("{sep}{k}={}", escape(v)));
        }
    }
    q
}

/// Percent-encoding for a query value.
fn escape(v: &str) -> String {
    v.bytes().fold(String::with_capacity(v.len()), |mut out, b| {
        if b.is_ascii_alphanumeric() || b"-._~/".contains(&b) {
            out.push(char::from(b))
        } else {
            out.push_str(&format!("%{b:02X}"))
        }
        out
    })
}

fn get(path: &str, query: &str) -> Result<http::Request<Vec<u8>>, Problem> {
    http::Request::get(format!("{path}{query}"))
        .header("accept", "application/json")
        .body(Vec::new())
        .map_err(|e| Problem::new(ProblemKind::BadInput, format!("{path}: no usable request: {e}")))
}

fn namespace(source: &Source) -> Option<&str> {
    match &source.scope {
        Scope::All => None,
        Scope::Namespace(ns) => Some(ns),
    }
}

/// Lists a source completely, if it has no more than `most` objects.
///
/// # Errors
/// Whatever kept the list from being complete: half a list is no list.
pub async fn list<A: Ask>(ask: &A, source: &Source, most: usize) -> Result<Listed, Problem> {
    let place = ask.locate(source.kind, namespace(source)).await?;
    let synthesized = source.kind.info().synthesized;
    let mut objects = Vec::new();
    let mut next = String::new();
    loop {
        // resourceVersion 0 is served from the watch cache; a continued page must not name one.
        let paging = match (synthesized, next.is_empty()) {
            (true, _) => vec![],
            (false, true) => vec![("limit", PAGE.to_string()), ("resourceVersion", "0".to_string())],
            (false, false) => vec![("limit", PAGE.to_string()), ("continue", std::mem::take(&mut next))],
        };
        let answer = ask.send(get(&place.path, &query(source, &paging))?, false).await?;
        let frame = read_list(answer.into_body(), (source.kind, most), &place, &mut objects).await?;
        if frame.next.is_empty() || synthesized {
            return Ok(Listed { objects, resource_version: frame.resource_version, place });
        }
        next = frame.next;
    }
}

async fn read_list(
    mut body: Stream,
    (kind, most): (Kind, usize),
    place: &Place,
    objects: &mut Vec<Object>,
) -> Result<super::items::Frame, Problem> {
    let unreadable = |e: String| Problem::new(ProblemKind::Unreadable, format!("{}: the list can't be read", place.path)).detail(e);
    let mut splitter = Splitter::default();
    while let Some(bytes) = next_bytes(&mut body).await? {
        let mut torn = None;
        let mut each = |item: &[u8]| match prune::object(kind, item) {
            Ok(v) => objects.extend(Object::of_kind(kind, &place.api_version, &v)),
            Err(e) => torn = Some(e),
        };
        splitter.feed(&bytes, &mut each).map_err(unreadable)?;
        // An item that can't be read may be any object: leaving it out would look like its deletion.
        if splitter.skipped > 0 {
            return Err(unreadable(format!("an object has more than {} bytes", super::items::MAX_ITEM)));
        }
        if let Some(e) = torn {
            return Err(unreadable(e));
        }
        if objects.len() > most {
            return Err(unreadable(format!("more than {most} objects of one kind")));
        }
    }
    splitter.finish().map_err(unreadable)
}

async fn next_bytes(body: &mut Stream) -> Result<Option<Bytes>, Problem> {
    loop {
        match body.frame().await {
            None => return Ok(None),
            Some(Ok(frame)) => {
                if let Ok(data) = frame.into_data() {
                    return Ok(Some(data));
                }
            }
            Some(Err(e)) => {
                return Err(Problem::new(ProblemKind::Unreachable, "the answer broke off").detail(crate::model::text::line(&e.to_string())));
            }
        }
    }
}

/// An open watch.
pub struct Follow {
    body: Stream,
    lines: Lines,
    kind: Kind,
    api_version: String,
}

/// Opens a watch from a version.
///
/// # Errors
/// As the server or the network says.
pub async fn follow<A: Ask>(ask: &A, source: &Source, place: &Place, version: &str, seconds: u64) -> Result<Follow, Problem> {
    let more = [
        ("watch", "true".to_string()),
        ("allowWatchBookmarks", "true".to_string()),
        ("timeoutSeconds", seconds.to_string()),
        ("resourceVersion", version.to_string()),
    ];
    let answer = ask.send(get(&place.path, &query(source, &more))?, true).await?;
    Ok(Follow { body: answer.into_body(), lines: Lines::default(), kind: source.kind, api_version: place.api_version.clone() })
}

impl Follow {
    /// The next line; `None` when the stream ended cleanly.
    ///
    /// # Errors
    /// A broken stream, half a line at its end, or a line that is no event.
    pub async fn next(&mut self) -> Result<Option<Line>, Problem> {
        loop {
            if let Some(line) = self.lines.next() {
                if line.iter().all(u8::is_ascii_whitespace) {
                    continue;
                }
                return event(line, self.kind, &self.api_version).map(Some);
            }
            if self.lines.rest().len() > MAX_LINE {
                return Err(Problem::new(ProblemKind::Unreadable, format!("an event of more than {MAX_LINE} bytes")));
            }
            match next_bytes(&mut self.body).await? {
                Some(bytes) => self.lines.feed(&bytes),
                None if self.lines.rest().iter().all(u8::is_ascii_whitespace) => return Ok(None),
                // The last line may come without its end, whole or torn: parsing tells.
                None => return event(&self.lines.take_rest(), self.kind, &self.api_version).map(Some),
            }
        }
    }
}

fn event(line: &[u8], kind: Kind, api_version: &str) -> Result<Line, Problem> {
    let v = prune::event(kind, line).map_err(|e| Problem::new(ProblemKind::Unreadable, "a watch event can't be read").detail(e))?;
    let object = v.get("object").unwrap_or(&Value::Null);
    let version = object.get("metadata").and_then(|m| m.get("resourceVersion")).and_then(Value::as_str).unwrap_or_default().to_string();
    let what = v.get("type").and_then(Value::as_str).unwrap_or_default();
    let parsed = || Object::of_kind(kind, object.get("apiVersion").and_then(Value::as_str).unwrap_or(api_version), object);
    match what {
        "ADDED" | "MODIFIED" => match parsed() {
            Some(o) => Ok(Line::Applied(Box::new(o), version)),
            None => Err(Problem::new(ProblemKind::Unreadable, "a watch event without a named object")),
        },
        "DELETED" => match parsed() {
            Some(o) => Ok(Line::Deleted(o.meta.namespace.to_string(), o.meta.name.to_string(), version)),
            None => Err(Problem::new(ProblemKind::Unreadable, "a watch event without a named object")),
        },
        "BOOKMARK" => Ok(Line::Bookmark(version)),
        "ERROR" => Ok(Line::Failed(status(object))),
        other => Err(Problem::new(ProblemKind::Unreadable, format!("a watch event of type {:?}", crate::model::text::line(other)))),
    }
}

/// The problem behind a `Status` inside a watch.
fn status(s: &Value) -> Problem {
    match serde_json::from_value::<kube::core::Status>(s.clone()) {
        Ok(status) => problem_of_status(&status),
        Err(e) => {
            Problem::new(ProblemKind::Unreadable, "the server ended the watch with an answer that can't be read").detail(e.to_string())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Selector;

    #[test]
    fn queries_are_encoded() {
        let s = Source {
            kind: Kind::Pod,
            scope: Scope::All,
            selector: Selector { fields: "metadata.name=a".into(), labels: "x/y=1,z".into() },
        };
        assert_eq!(query(&s, &[("watch", "true".into())]), "?fieldSelector=metadata.name%3Da&labelSelector=x/y%3D1%2Cz&watch=true");
    }

    #[test]
    fn events_are_told_apart() {
        let line = |s: &str| event(s.as_bytes(), Kind::Pod, "v1");
        assert!(
            matches!(line(r#"{"type":"ADDED","object":{"metadata":{"name":"a","resourceVersion":"3"}}}"#), Ok(Line::Applied(_, v)) if v == "3")
        );
        assert!(
            matches!(line(r#"{"type":"DELETED","object":{"metadata":{"name":"a","namespace":"t"}}}"#), Ok(Line::Deleted(ns, n, _)) if ns == "t" && n == "a")
        );
        assert!(matches!(line(r#"{"type":"ERROR","object":{"code":410}}"#), Ok(Line::Failed(p)) if p.kind == ProblemKind::Gone));
        assert!(matches!(line(r#"{"type":"ERROR","object":{"reason":"Expired"}}"#), Ok(Line::Failed(p)) if p.kind == ProblemKind::Gone));
        for bad in ["{", "[]", r#"{"type":"X"}"#, r#"{"type":"ADDED","object":7}"#] {
            assert!(line(bad).is_err(), "{bad}");
        }
    }
}
