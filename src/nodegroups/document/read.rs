//! One document's text to JSON, as kubectl would read it: duplicates and odd keys refused, merge keys applied, YAML 1.1 scalars resolved.
//! Must be quick on hostile text: depth is bounded before the parser sees it.

use std::{fmt, sync::LazyLock};

use regex::Regex;
use serde::de::{Deserialize, Deserializer, EnumAccess, Error as _, MapAccess, SeqAccess, VariantAccess, Visitor};
use serde_json::{Map, Number, Value};
use serde_yaml::Value as Yaml;

use super::{
    super::{
        finding::{Seg, path},
        validate::{chart::go_float, plain},
    },
    TextProblem, problem,
    split::Chunk,
};

/// Deeper nesting is no manifest, and costs the parser time that grows with its square.
const MAX_DEPTH: usize = 256;
const DUPLICATE: &str = "planedeck-duplicate-key ";
const BAD_KEY: &str = "planedeck-bad-key ";

type Read = Result<Option<(Value, Vec<TextProblem>)>, TextProblem>;

/// The value of one document; `None` for one without content.
pub fn value(chunk: &Chunk<'_>) -> Read {
    let text = match std::str::from_utf8(chunk.bytes) {
        Ok(text) => text,
        Err(e) => {
            let before = String::from_utf8_lossy(chunk.bytes.get(..e.valid_up_to()).unwrap_or_default()).into_owned();
            let (line, column) = position(&before);
            return Err(problem("Y-SYNTAX", "a byte that is not UTF-8".into(), Some(place(chunk, line, column))));
        }
    };
    if let Some((line, column)) = too_deep(text) {
        return Err(problem("Y-SYNTAX", format!("nested deeper than {MAX_DEPTH} levels"), Some(place(chunk, line, column))));
    }
    let yaml = parse(text).map_err(|f| {
        let at = f.at.map(|(l, c)| place(chunk, l, c));
        problem(f.id, f.message, at)
    })?;
    let mut convert = Convert { text, chunk, notes: Vec::new(), at: Vec::new() };
    match convert.value(yaml)? {
        Value::Null if text.trim().is_empty() => Ok(None),
        value => Ok(Some((value, convert.notes))),
    }
}

fn place(chunk: &Chunk<'_>, line: usize, column: usize) -> (usize, usize) {
    (chunk.line + line, if line == 1 { chunk.column + column } else { column })
}

/// Line and column after this text, from 1.
fn position(before: &str) -> (usize, usize) {
    let line = before.matches('\n').count() + 1;
    (line, before.rsplit('\n').next().unwrap_or_default().chars().count() + 1)
}

fn too_deep(text: &str) -> Option<(usize, usize)> {
    let mut depth = 0usize;
    for (i, b) in text.bytes().enumerate() {
        match b {
            b'[' | b'{' => depth += 1,
            b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > MAX_DEPTH {
            return Some(position(text.get(..i).unwrap_or_default()));
        }
    }
    None
}

struct Failure {
    id: &'static str,
    message: String,
    at: Option<(usize, usize)>,
}

fn failure(message: String, at: Option<(usize, usize)>) -> Failure {
    let tail = |mark: &str| {
        let rest = message.split_once(mark)?.1;
        Some(rest.split(" at line ").next().unwrap_or(rest).to_string())
    };
    if let Some(key) = tail(DUPLICATE) {
        return Failure { id: "Y-DUPKEY", message: format!("key {key} stands twice in the same map"), at };
    }
    if let Some(key) = tail(BAD_KEY) {
        return Failure { id: "Y-KEY", message: format!("a key is {key}; keys must be texts"), at };
    }
    Failure { id: "Y-SYNTAX", message, at }
}

/// Characters that no YAML text may hold as they are.
fn is_forbidden(c: char) -> bool {
    matches!(c, '\0'..='\u{8}' | '\u{b}' | '\u{c}' | '\u{e}'..='\u{1f}' | '\u{7f}'..='\u{84}' | '\u{86}'..='\u{9f}' | '\u{fffe}' | '\u{ffff}')
}

/// JSON first (its escapes aren't all YAML's), else YAML.
fn parse(text: &str) -> Result<Yaml, Failure> {
    if text.trim_start().starts_with(['{', '[']) {
        let json = serde_json::from_str::<Any>(text);
        match json {
            Ok(any) => return Ok(any.0),
            Err(e) if e.is_data() => return Err(failure(e.to_string(), Some((e.line(), e.column().max(1))))),
            Err(_) => {}
        }
    }
    // The parser names no line for these.
    if let Some((i, c)) = text.char_indices().find(|(_, c)| is_forbidden(*c)) {
        let at = Some(position(text.get(..i).unwrap_or_default()));
        return Err(failure(format!("control character U+{:04X} is not allowed", u32::from(c)), at));
    }
    let any: Any = serde_yaml::from_str(text).map_err(|e| {
        let at = e.location().map(|l| (l.line(), l.column()));
        failure(e.to_string(), at)
    })?;
    let mut yaml = any.0;
    yaml.apply_merge().map_err(|e| failure(e.to_string(), None))?;
    Ok(yaml)
}

/// Any value, with duplicate and impossible keys refused, and integers beyond 64 bits as floats.
struct Any(Yaml);

impl<'de> Deserialize<'de> for Any {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        d.deserialize_any(AnyVisitor).map(Any)
    }
}

struct AnyVisitor;

impl<'de> Visitor<'de> for AnyVisitor {
    type Value = Yaml;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }
    fn visit_bool<E>(self, v: bool) -> Result<Yaml, E> {
        Ok(Yaml::Bool(v))
    }
    fn visit_i64<E>(self, v: i64) -> Result<Yaml, E> {
        Ok(v.into())
    }
    fn visit_u64<E>(self, v: u64) -> Result<Yaml, E> {
        Ok(v.into())
    }
    fn visit_i128<E>(self, v: i128) -> Result<Yaml, E> {
        Ok((v as f64).into())
    }
    fn visit_u128<E>(self, v: u128) -> Result<Yaml, E> {
        Ok((v as f64).into())
    }
    fn visit_f64<E>(self, v: f64) -> Result<Yaml, E> {
        Ok(v.into())
    }
    fn visit_str<E>(self, v: &str) -> Result<Yaml, E> {
        Ok(v.into())
    }
    fn visit_unit<E>(self) -> Result<Yaml, E> {
        Ok(Yaml::Null)
    }
    fn visit_none<E>(self) -> Result<Yaml, E> {
        Ok(Yaml::Null)
    }
    fn visit_some<D: Deserializer<'de>>(self, d: D) -> Result<Yaml, D::Error> {
        d.deserialize_any(self)
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Yaml, A::Error> {
        let mut out = Vec::new();
        while let Some(Any(v)) = seq.next_element()? {
            out.push(v);
        }
        Ok(Yaml::Sequence(out))
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Yaml, A::Error> {
        let mut out = serde_yaml::Mapping::new();
        while let Some(Any(key)) = map.next_key()? {
            let shown = match &key {
                Yaml::String(s) => format!("{s:?}"),
                Yaml::Bool(_) | Yaml::Number(_) => serde_yaml::to_string(&key).unwrap_or_default().trim().to_string(),
                Yaml::Null => return Err(A::Error::custom(format!("{BAD_KEY}null"))),
                Yaml::Sequence(_) => return Err(A::Error::custom(format!("{BAD_KEY}a list"))),
                Yaml::Mapping(_) => return Err(A::Error::custom(format!("{BAD_KEY}a map"))),
                Yaml::Tagged(_) => return Err(A::Error::custom(format!("{BAD_KEY}a tagged value"))),
            };
            if out.contains_key(&key) {
                return Err(A::Error::custom(format!("{DUPLICATE}{shown}")));
            }
            let Any(value) = map.next_value()?;
            out.insert(key, value);
        }
        Ok(Yaml::Mapping(out))
    }
    /// A tag: kubectl drops ones that it doesn't know.
    fn visit_enum<A: EnumAccess<'de>>(self, data: A) -> Result<Yaml, A::Error> {
        let (_, contents) = data.variant::<String>()?;
        contents.newtype_variant::<Any>().map(|any| any.0)
    }
}

static INTEGER: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"\A([-+]?)(?:0b([01_]+)|0x([0-9a-fA-F_]+)|0o?([0-7_]+)|([0-9][0-9_]*))\z").ok());

/// What YAML 1.1 makes of a plain text that the parser left as text: a truth value, a number, or `None` for text.
fn yaml11(text: &str) -> Option<Value> {
    if !plain::is_other_type(text) || !matches!(serde_yaml::from_str(text), Ok(Yaml::String(_))) {
        // What the parser itself reads as something else was in quotes when it came as text.
        return None;
    }
    match text {
        "y" | "Y" | "yes" | "Yes" | "YES" | "on" | "On" | "ON" => return Some(true.into()),
        "n" | "N" | "no" | "No" | "NO" | "off" | "Off" | "OFF" => return Some(false.into()),
        _ => {}
    }
    if let Some(c) = INTEGER.as_ref().and_then(|r| r.captures(text)) {
        let digits = [(2, 2), (3, 16), (4, 8), (5, 10)].into_iter().find_map(|(group, radix)| Some((c.get(group)?.as_str(), radix)));
        let (digits, radix) = digits?;
        let n = i64::from_str_radix(&digits.replace('_', ""), radix).ok()?;
        return Some(if c.get(1)?.as_str() == "-" { (-n).into() } else { n.into() });
    }
    let plain = text.replace('_', "");
    let float = plain.bytes().any(|b| b.is_ascii_digit()) && plain.bytes().all(|b| b.is_ascii_digit() || b"+-.eE".contains(&b));
    if !float || !plain::is_other_type(text) {
        return None;
    }
    plain.parse::<f64>().ok().filter(|f| f.is_finite()).and_then(Number::from_f64).map(Value::Number)
}

/// Conversion to JSON, with notes on scalars that YAML 1.1 reads otherwise.
struct Convert<'a> {
    text: &'a str,
    chunk: &'a Chunk<'a>,
    notes: Vec<TextProblem>,
    at: Vec<Seg>,
}

impl Convert<'_> {
    fn value(&mut self, yaml: Yaml) -> Result<Value, TextProblem> {
        Ok(match yaml {
            Yaml::Null => Value::Null,
            Yaml::Bool(b) => Value::Bool(b),
            Yaml::Number(n) => self.number(&n)?,
            Yaml::String(s) => self.string(s),
            Yaml::Sequence(items) => {
                let mut out = Vec::with_capacity(items.len());
                for (i, item) in items.into_iter().enumerate() {
                    self.at.push(Seg::Index(i));
                    out.push(self.value(item)?);
                    self.at.pop();
                }
                Value::Array(out)
            }
            Yaml::Mapping(map) => {
                let mut out = Map::new();
                for (key, value) in map {
                    let key = self.key(key);
                    self.at.push(Seg::Key(key.clone()));
                    let value = self.value(value)?;
                    self.at.pop();
                    if out.insert(key.clone(), value).is_some() {
                        return Err(problem("Y-DUPKEY", format!("two keys are both read as {key:?}"), None));
                    }
                }
                Value::Object(out)
            }
            Yaml::Tagged(t) => return self.value(t.value),
        })
    }

    fn number(&self, n: &serde_yaml::Number) -> Result<Value, TextProblem> {
        if let Some(i) = n.as_i64() {
            return Ok(i.into());
        }
        if let Some(u) = n.as_u64() {
            return Ok(u.into());
        }
        let number = n.as_f64().and_then(Number::from_f64).map(Value::Number);
        number.ok_or_else(|| problem("Y-SYNTAX", format!("{}: {n} can't be written as JSON", path("", &self.at)), None))
    }

    fn string(&mut self, s: String) -> Value {
        let Some(read) = yaml11(&s) else { return Value::String(s) };
        let key = match self.at.last() {
            Some(Seg::Key(key)) => Some(key.clone()),
            _ => None,
        };
        let Some(at) = self.unquoted(&s, key.as_deref()) else { return Value::String(s) };
        self.note(&s, &read.to_string(), at);
        read
    }

    fn key(&mut self, key: Yaml) -> String {
        let text = match key {
            Yaml::String(s) => s,
            Yaml::Bool(b) => return b.to_string(),
            Yaml::Number(n) => return n.as_i64().map(|i| i.to_string()).unwrap_or_else(|| short_float(n.as_f64().unwrap_or(0.0))),
            _ => return String::new(),
        };
        let Some(read) = yaml11(&text) else { return text };
        let Some(at) = self.unquoted(&text, None) else { return text };
        let read = read.to_string();
        self.at.push(Seg::Key(read.clone()));
        self.note(&text, &read, at);
        self.at.pop();
        read
    }

    fn note(&mut self, text: &str, read: &str, at: (usize, usize)) {
        let message = format!("{text} without quotes is read as {read} by kubectl");
        let mut note = problem("G-YAML11", message, Some(place(self.chunk, at.0, at.1)));
        (note.path, note.value) = (path("", &self.at), Some(text.to_string()));
        self.notes.push(note);
    }

    /// Where the text stands as a scalar without quotes, behind the key if there is one. The parser has lost the quotes,
    /// so the source is searched.
    fn unquoted(&self, s: &str, key: Option<&str>) -> Option<(usize, usize)> {
        self.text.match_indices(s).find_map(|(i, _)| {
            let before = self.text.get(..i)?;
            let after = self.text.get(i + s.len()..)?;
            let opens = before.is_empty() || before.ends_with(|c: char| c.is_whitespace() || "[{,".contains(c));
            let rest = after.trim_start_matches([' ', '\t']);
            let closes = rest.is_empty() || rest.starts_with(['\n', '\r', ',', ']', '}', ':', '#']);
            let owner = before.trim_end().strip_suffix(':').map(|b| b.trim_end().trim_end_matches(['"', '\'']));
            let owned = key.is_none_or(|k| owner.is_some_and(|o| o.ends_with(k)));
            (opens && closes && owned).then(|| position(before))
        })
    }
}

/// A number as a key, as kubectl writes it.
fn short_float(f: f64) -> String {
    if f.fract() == 0.0 && f.abs() < 1e15 { format!("{f}") } else { go_float(f) }
}
