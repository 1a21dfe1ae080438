//! Objects from files instead of a cluster: YAML documents, JSON, JSON lines, `List`s, recordings, plain or gzipped.
//! Owns decoding and what a dump says about coverage; must not open files (callers hand bytes) and must not judge.

use std::io::Read as _;

use serde_json::Value;

use super::{
    Kind, Object, Problem, ProblemKind, Scope, Time, World,
    kind::KINDS,
    world::{Read, ReadState},
};

/// A dump above this many bytes, after decompression, is refused: a fleet of 5,000 planes is about 500 MiB, a bomb is more.
pub const MAX_BYTES: u64 = 2 << 30;
/// Documents nested deeper than this are not read (serde_json's own limit, held for YAML too).
const MAX_DEPTH: usize = 128;

/// What a dump holds.
#[derive(Debug, Default)]
pub struct Dump {
    /// Objects and reads.
    pub world: World,
    /// Newest time that any object carries: the default clock to judge by.
    pub newest: Option<Time>,
    /// Documents that could not be used, one line each, with their source.
    pub notes: Vec<String>,
    /// The name of the recorded context, when the dump is a recording.
    pub context: Option<String>,
    objects: Vec<Object>,
    refused: Vec<(Kind, Scope, String)>,
    reads: Vec<(Kind, Scope, Read)>,
    seen: usize,
    recorded: bool,
}

impl Dump {
    /// Adds one file's bytes. Broken documents become notes; only a file of which nothing can be read is an error.
    ///
    /// # Errors
    /// `BadInput` when the bytes are over [`MAX_BYTES`], not UTF-8, or hold no readable document at all.
    pub fn add(&mut self, source: &str, bytes: &[u8]) -> Result<(), Problem> {
        let plain = inflate(source, bytes)?;
        let text = std::str::from_utf8(&plain).map_err(|e| {
            Problem::new(
                ProblemKind::BadInput,
                format!("{source}: not UTF-8 text: byte {} is {:#04x}", e.valid_up_to(), plain.get(e.valid_up_to()).unwrap_or(&0)),
            )
        })?;
        let text = text.trim_start_matches('\u{feff}');
        let before = (self.seen, self.notes.len());
        self.documents(source, text);
        if self.seen == before.0 && self.notes.len() > before.1 {
            let first = self.notes.get(before.1).cloned().unwrap_or_default();
            return Err(Problem::new(ProblemKind::BadInput, first)
                .hint("a dump holds Kubernetes objects as YAML documents, JSON, JSON lines, a List or a recording"));
        }
        Ok(())
    }

    /// Notes quote what was found, so they are cleaned on the way in.
    fn note(&mut self, s: String) {
        self.notes.push(super::text::line(&s));
    }

    /// Closes the dump: with `complete`, a kind without an object is known to be absent; without it, it counts as unread.
    #[must_use]
    pub fn finish(mut self, complete: bool) -> Dump {
        let clock = self.newest.unwrap_or(Time::UNIX_EPOCH);
        let read = |state, at| Read { state, at, problem: None };
        let recorded = self.recorded;
        for info in KINDS {
            let here = self.objects.iter().any(|o| o.kind == info.kind);
            if complete || (here && !recorded) {
                self.world.set_read(info.kind, Scope::All, read(ReadState::Complete, Some(clock)));
            }
        }
        for (kind, scope, r) in std::mem::take(&mut self.reads) {
            self.world.set_read(kind, scope, r);
        }
        for (kind, scope, message) in std::mem::take(&mut self.refused) {
            let problem = Problem::new(ProblemKind::Forbidden, message);
            self.world.set_read(kind, scope, Read { state: ReadState::Forbidden, at: Some(clock), problem: Some(problem) });
        }
        for object in std::mem::take(&mut self.objects) {
            self.world.apply(object);
        }
        self
    }

    fn documents(&mut self, source: &str, text: &str) {
        let mut n = 0;
        for part in split_documents(text) {
            // Flow-style YAML starts like JSON: what holds no JSON at all is tried as YAML.
            if !self.json(source, part, &mut n) {
                self.yaml(source, part, &mut n);
            }
        }
    }

    /// JSON documents, one after the other or one a line; false when there is none. A broken one doesn't hide those after it.
    fn json(&mut self, source: &str, text: &str, n: &mut usize) -> bool {
        let body = text.strip_prefix("---").unwrap_or(text);
        if !body.trim_start().starts_with(['{', '[']) {
            return false;
        }
        let (mut rest, mut values, mut number) = (body, Vec::new(), *n);
        loop {
            let mut stream = serde_json::Deserializer::from_str(rest).into_iter::<Value>();
            let broken = loop {
                match stream.next() {
                    Some(Ok(v)) => {
                        number += 1;
                        values.push((number, Ok(v)));
                    }
                    Some(Err(e)) => break Some(e),
                    None => break None,
                }
            };
            let Some(e) = broken else { break };
            number += 1;
            values.push((number, Err(e.to_string())));
            // The next document starts at the next line that opens one in its first column: lines inside of a document are indented.
            let behind = rest.get(stream.byte_offset()..).unwrap_or_default().trim_start();
            let next = ["\n{", "\n["].iter().filter_map(|open| behind.find(open)).min();
            match next.and_then(|at| behind.get(at + 1..)) {
                Some(next) => rest = next,
                None => break,
            }
        }
        if !values.iter().any(|(_, v)| v.is_ok()) {
            return false;
        }
        *n = number;
        for (number, value) in values {
            let name = format!("{source}#{number}");
            match value {
                Ok(v) => self.document(&name, &v),
                Err(e) => self.note(format!("{name}: {e}")),
            }
        }
        true
    }

    fn yaml(&mut self, source: &str, text: &str, n: &mut usize) {
        *n += 1;
        let name = format!("{source}#{n}");
        match serde_yaml::from_str::<serde_yaml::Value>(text) {
            Ok(serde_yaml::Value::Null) => {}
            Ok(mut v) => match v.apply_merge().ok().and_then(|()| to_json(&v, 0)) {
                Some(v) => self.document(&name, &v),
                None => self.note(format!("{name}: nested deeper than {MAX_DEPTH} or with a key that is no text")),
            },
            Err(e) => self.note(format!("{name}: {e}")),
        }
    }

    fn document(&mut self, name: &str, value: &Value) {
        if let Some(items) = value.as_array() {
            return items.iter().for_each(|v| self.document(name, v));
        }
        let kind = value.get("kind").and_then(Value::as_str).unwrap_or_default();
        let api_version = value.get("apiVersion").and_then(Value::as_str).unwrap_or_default();
        if api_version.is_empty() || kind.is_empty() {
            return self.note(format!("{name}: no Kubernetes object: apiVersion or kind is missing"));
        }
        if api_version == "planedeck/v1" && kind == "Recording" {
            self.seen += 1;
            return self.recording(name, value);
        }
        if kind == "Status" && api_version == "v1" {
            self.seen += 1;
            return self.status(value);
        }
        if let (Some(items), Some(item_kind)) = (value.get("items").and_then(Value::as_array), kind.strip_suffix("List")) {
            self.seen += 1;
            for item in items {
                let own = item.get("kind").and_then(Value::as_str).is_some();
                if own || item_kind.is_empty() { self.document(name, item) } else { self.object(name, api_version, item_kind, item) }
            }
            // An empty typed list is a complete answer about its kind.
            if let (true, Some(k)) = (items.is_empty(), Kind::of(api_version, item_kind)) {
                self.reads.push((k, Scope::All, Read { state: ReadState::Complete, at: self.newest, problem: None }));
            }
            return;
        }
        self.object(name, api_version, kind, value);
    }

    fn object(&mut self, name: &str, api_version: &str, kind: &str, value: &Value) {
        self.seen += 1;
        newest_time(value, &mut self.newest, 0);
        let Some(k) = Kind::of(api_version, kind) else { return };
        match Object::of_kind(k, api_version, value) {
            Some(o) => self.objects.push(o),
            None => self.note(format!("{name}: {kind} without metadata.name")),
        }
    }

    /// A refusal as the API server words it: `details` name group and resource, the message may name the namespace.
    fn status(&mut self, value: &Value) {
        let text = |k: &str| value.get("details").and_then(|d| d.get(k)).and_then(Value::as_str).unwrap_or_default();
        if value.get("code").and_then(Value::as_i64) != Some(403) {
            return;
        }
        let Some(kind) = Kind::of_resource(text("group"), text("kind")) else { return };
        let message = value.get("message").and_then(Value::as_str).unwrap_or_default();
        let namespace = message.split_once("in the namespace \"").and_then(|(_, rest)| rest.split_once('"')).map(|(ns, _)| ns);
        let scope = namespace.map_or(Scope::All, |ns| Scope::Namespace(ns.to_string()));
        self.refused.push((kind, scope, message.to_string()));
    }

    fn recording(&mut self, name: &str, value: &Value) {
        let taken = value.get("takenAt").and_then(Value::as_str).and_then(|t| t.parse::<Time>().ok());
        self.recorded = true;
        self.context = value.get("context").and_then(Value::as_str).map(str::to_string);
        for item in value.get("objects").and_then(Value::as_array).into_iter().flatten() {
            self.document(name, item);
        }
        for r in value.get("reads").and_then(Value::as_array).into_iter().flatten() {
            let text = |k: &str| r.get(k).and_then(Value::as_str).unwrap_or_default();
            let Some(kind) = Kind::of_resource(text("group"), text("resource")) else { continue };
            let Ok(state) = serde_json::from_value::<ReadState>(r.get("state").cloned().unwrap_or_default()) else { continue };
            let scope = match text("namespace") {
                "" => Scope::All,
                ns => Scope::Namespace(ns.to_string()),
            };
            self.reads.push((kind, scope, Read { state, at: text("at").parse().ok(), problem: None }));
        }
        // A recording is judged at the time it was taken, whatever its objects say.
        if taken.is_some() {
            self.newest = taken;
        }
    }
}

fn inflate(source: &str, bytes: &[u8]) -> Result<Vec<u8>, Problem> {
    let too_big = || Problem::new(ProblemKind::BadInput, format!("{source}: more than {} MiB", MAX_BYTES >> 20));
    if !bytes.starts_with(&[0x1f, 0x8b]) {
        return if bytes.len() as u64 > MAX_BYTES { Err(too_big()) } else { Ok(bytes.to_vec()) };
    }
    let mut plain = Vec::new();
    let read = flate2::read::MultiGzDecoder::new(bytes).take(MAX_BYTES + 1).read_to_end(&mut plain);
    read.map_err(|e| Problem::new(ProblemKind::BadInput, format!("{source}: broken gzip: {e}")))?;
    if plain.len() as u64 > MAX_BYTES { Err(too_big()) } else { Ok(plain) }
}

/// Splits a YAML stream at its document markers, so that one broken document doesn't hide the others.
fn split_documents(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let (mut start, mut at) = (0, 0);
    for l in text.split_inclusive('\n') {
        let marker = l.strip_prefix("---").is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\t', '\r', '\n']));
        if marker && at > start {
            parts.push(text.get(start..at).unwrap_or_default());
            start = at;
        }
        at += l.len();
    }
    parts.push(text.get(start..).unwrap_or_default());
    parts.retain(|p| !p.trim().is_empty());
    parts
}

fn to_json(v: &serde_yaml::Value, depth: usize) -> Option<Value> {
    use serde_yaml::Value as Y;
    if depth > MAX_DEPTH {
        return None;
    }
    Some(match v {
        Y::Null => Value::Null,
        Y::Bool(b) => Value::Bool(*b),
        Y::Number(n) => n.as_i64().map(Value::from).or_else(|| n.as_u64().map(Value::from)).unwrap_or_else(|| Value::from(n.as_f64())),
        Y::String(s) => Value::String(s.clone()),
        Y::Sequence(s) => Value::Array(s.iter().map(|x| to_json(x, depth + 1)).collect::<Option<_>>()?),
        Y::Mapping(m) => {
            let pairs = m.iter().map(|(k, x)| {
                let key = match k {
                    Y::String(s) => s.clone(),
                    Y::Number(n) => n.to_string(),
                    Y::Bool(b) => b.to_string(),
                    _ => return None,
                };
                Some((key, to_json(x, depth + 1)?))
            });
            Value::Object(pairs.collect::<Option<_>>()?)
        }
        Y::Tagged(t) => to_json(&t.value, depth + 1)?,
    })
}

/// Keys whose times lie in the future by design: never the clock.
fn tells_future(key: &str) -> bool {
    let k = key.to_ascii_lowercase();
    ["expir", "notafter", "until", "next", "deadline", "renew"].iter().any(|w| k.contains(w))
}

fn newest_time(v: &Value, newest: &mut Option<Time>, depth: usize) {
    if depth > MAX_DEPTH {
        return;
    }
    match v {
        Value::String(s) if s.len() >= 20 && s.len() <= 40 && s.as_bytes().first().is_some_and(u8::is_ascii_digit) => {
            if let Ok(t) = s.parse::<Time>() {
                *newest = Some(newest.map_or(t, |n| n.max(t)));
            }
        }
        Value::Array(a) => a.iter().for_each(|x| newest_time(x, newest, depth + 1)),
        Value::Object(o) => o.iter().filter(|(k, _)| !tells_future(k)).for_each(|(_, x)| newest_time(x, newest, depth + 1)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const POD: &str = "apiVersion: v1\nkind: Pod\nmetadata: {name: a, namespace: t, creationTimestamp: '2026-01-01T00:00:00Z'}\n";

    fn load(text: &str, complete: bool) -> Dump {
        let mut d = Dump::default();
        d.add("t", text.as_bytes()).unwrap();
        d.finish(complete)
    }

    #[test]
    fn without_complete_absent_kinds_are_unread() {
        let d = load(POD, false);
        assert_eq!(d.world.read_in(Kind::Pod, "t").state, ReadState::Complete);
        assert_eq!(d.world.read_in(Kind::HelmRelease, "t").state, ReadState::NotRead);
        assert_eq!(load(POD, true).world.read_in(Kind::HelmRelease, "t").state, ReadState::Complete);
        assert_eq!(d.newest, Some("2026-01-01T00:00:00Z".parse().unwrap()));
    }

    #[test]
    fn lists_json_lines_and_broken_neighbours_are_read() {
        let list = r#"{"apiVersion":"v1","kind":"PodList","items":[{"metadata":{"name":"a","namespace":"t"}},{"metadata":{"name":"b","namespace":"t"}}]}"#;
        assert_eq!(load(list, false).world.list(Kind::Pod, "t").count(), 2);
        let generic = format!(
            r#"{{"apiVersion":"v1","kind":"List","items":[{}]}}"#,
            r#"{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","namespace":"t"}}"#
        );
        assert_eq!(load(&format!("{generic}\n{list}\n"), false).world.list(Kind::Pod, "t").count(), 2);
        let d = load(&format!("---\n{POD}---\n{{a: [}}\n---\n# only a comment\n"), false);
        assert_eq!((d.world.list(Kind::Pod, "t").count(), d.notes.len()), (1, 1), "{:?}", d.notes);
    }

    #[test]
    fn a_broken_line_hides_no_other_and_markers_may_part_json() {
        let pod = |n: &str| format!(r#"{{"apiVersion":"v1","kind":"Pod","metadata":{{"name":"{n}","namespace":"t"}}}}"#);
        for text in [
            format!("{}\n{{\"apiVersion\": \"v1\", \"ki\n{}\n", pod("a"), pod("b")),
            format!("{{]\n{}\n{}\n", pod("a"), pod("b")),
            format!("{}\n{}\n{{\"apiVersion\":\n", pod("a"), pod("b")),
            format!("{}\n---\n{{\n  \"a\": \n}}\n---\n{}\n", pod("a"), pod("b")),
        ] {
            let d = load(&text, false);
            assert_eq!((d.world.list(Kind::Pod, "t").count(), d.notes.len()), (2, 1), "{text}: {:?}", d.notes);
        }
        let d = load(&format!("{}\n---\n{}\n---\n{POD}", pod("b"), pod("c")), false);
        assert_eq!((d.world.list(Kind::Pod, "t").count(), d.notes.len()), (3, 0), "{:?}", d.notes);
        assert_eq!(load("{apiVersion: v1, kind: Pod, metadata: {name: a, namespace: t}}", false).world.list(Kind::Pod, "t").count(), 1);
    }

    #[test]
    fn a_refusal_names_its_scope() {
        let st = |m: &str| {
            format!(
                "{{apiVersion: v1, kind: Status, code: 403, message: '{m}', details: {{group: helm.toolkit.fluxcd.io, kind: helmreleases}}}}"
            )
        };
        let d = load(&st("helmreleases is forbidden: User cannot list in the namespace \"t\""), true);
        assert_eq!(d.world.read_in(Kind::HelmRelease, "t").state, ReadState::Forbidden);
        assert_eq!(d.world.read_in(Kind::HelmRelease, "u").state, ReadState::Complete);
        assert_eq!(load(&st("no"), true).world.read_in(Kind::HelmRelease, "u").state, ReadState::Forbidden);
    }

    #[test]
    fn bad_bytes_say_where() {
        let e = Dump::default().add("f", &[b'a', 0xff]).unwrap_err();
        assert!(e.summary.contains("byte 1"), "{e}");
        assert!(Dump::default().add("f", b"just text").is_err());
        assert!(Dump::default().add("f", &[0x1f, 0x8b, 1]).is_err());
    }
}
