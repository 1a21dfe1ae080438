//! A YAML or JSON value that keeps what kubeconfig reading needs: every scalar's type, repeated keys in order, and no way to be printed.
//! Owns typed access with flaws that name field, what was found and what is allowed; must not know any kubeconfig field.

use std::collections::BTreeMap;
use std::path::Path;

use serde::de::{Deserialize, Deserializer, EnumAccess, IgnoredAny, MapAccess, SeqAccess, VariantAccess, Visitor};

use crate::model::{Problem, ProblemKind, text};

/// One value. No `Debug` and no `Display`: it may hold credentials.
#[derive(Clone)]
pub(super) enum Node {
    Null,
    Bool(bool),
    Number(serde_json::Number),
    Text(String),
    List(Vec<Node>),
    /// In the order of the file; a repeated key is there as often as it was written.
    Map(Vec<(String, Node)>),
}

impl Node {
    /// The type's name, for texts. Never the value.
    pub(super) fn found(&self) -> &'static str {
        match self {
            Node::Null => "nothing",
            Node::Bool(_) => "true or false",
            Node::Number(_) => "a number",
            Node::Text(_) => "text",
            Node::List(_) => "a list",
            Node::Map(_) => "a mapping",
        }
    }

    /// As JSON, for what is passed on to a login plugin. The last of repeated keys wins.
    pub(super) fn json(&self) -> serde_json::Value {
        match self {
            Node::Null => serde_json::Value::Null,
            Node::Bool(b) => (*b).into(),
            Node::Number(n) => n.clone().into(),
            Node::Text(s) => s.clone().into(),
            Node::List(l) => l.iter().map(Node::json).collect(),
            Node::Map(m) => serde_json::Value::Object(m.iter().map(|(k, v)| (k.clone(), v.json())).collect()),
        }
    }
}

/// Something in a file that can't be used, without the file's name.
pub(super) struct Flaw {
    /// Field path such as `users[2].user.token`.
    pub(super) path: String,
    /// What stands there; a type or a word, never a credential.
    pub(super) found: String,
    /// What may stand there.
    pub(super) allowed: String,
}

impl Flaw {
    pub(super) fn new(path: impl Into<String>, found: impl Into<String>, allowed: impl Into<String>) -> Self {
        Flaw { path: path.into(), found: found.into(), allowed: allowed.into() }
    }

    /// The flaw with its file, ready to be shown.
    pub(super) fn problem(&self, file: &Path) -> Problem {
        let line = format!("{}: {}: found {}", file.display(), self.path, self.found);
        Problem::new(ProblemKind::BadInput, text::line(&line)).hint(text::line(&format!("allowed: {}", self.allowed)))
    }
}

/// A mapping with its place in the file.
pub(super) struct Fields<'a> {
    map: &'a [(String, Node)],
    pub(super) path: String,
}

impl<'a> Fields<'a> {
    /// The node as a mapping; null counts as an empty one, as it does for kubectl.
    pub(super) fn of(node: Option<&'a Node>, path: &str) -> Result<Self, Flaw> {
        let map: &[(String, Node)] = match node {
            None | Some(Node::Null) => &[],
            Some(Node::Map(m)) => m,
            Some(other) => return Err(Flaw::new(path, other.found(), "a mapping")),
        };
        Ok(Fields { map, path: path.to_string() })
    }

    /// Path of a field of this mapping.
    pub(super) fn at(&self, key: &str) -> String {
        if self.path.is_empty() { key.to_string() } else { format!("{}.{key}", self.path) }
    }

    /// The field's value: the last one where it was written twice, then those of YAML merge keys (`<<`).
    pub(super) fn get(&self, key: &str) -> Option<&'a Node> {
        find(self.map, key)
    }

    /// Keys that stand here more than once.
    pub(super) fn repeated(&self) -> Vec<&'a str> {
        let mut seen = BTreeMap::new();
        for (k, _) in self.map {
            *seen.entry(k.as_str()).or_insert(0) += 1;
        }
        seen.into_iter().filter(|(_, n)| *n > 1).map(|(k, _)| k).collect()
    }

    /// Text; empty text counts as absent, as it does for kubectl.
    pub(super) fn text(&self, key: &str) -> Result<Option<String>, Flaw> {
        match self.get(key) {
            None | Some(Node::Null) => Ok(None),
            Some(Node::Text(s)) if s.is_empty() => Ok(None),
            Some(Node::Text(s)) => Ok(Some(s.clone())),
            Some(other @ (Node::Bool(_) | Node::Number(_))) => Err(Flaw::new(self.at(key), other.found(), "text; put the value in quotes")),
            Some(other) => Err(Flaw::new(self.at(key), other.found(), "text")),
        }
    }

    /// A switch. YAML 1.1's `yes` and `on` count, since kubectl reads them so.
    pub(super) fn flag(&self, key: &str) -> Result<bool, Flaw> {
        let found = match self.get(key) {
            None | Some(Node::Null) => return Ok(false),
            Some(Node::Bool(b)) => return Ok(*b),
            Some(Node::Text(s)) => match s.as_str() {
                "y" | "Y" | "yes" | "Yes" | "YES" | "on" | "On" | "ON" => return Ok(true),
                "n" | "N" | "no" | "No" | "NO" | "off" | "Off" | "OFF" => return Ok(false),
                _ => "text",
            },
            Some(other) => other.found(),
        };
        Err(Flaw::new(self.at(key), found, "true or false, without quotes"))
    }

    /// A list; null counts as empty.
    pub(super) fn list(&self, key: &str) -> Result<&'a [Node], Flaw> {
        match self.get(key) {
            None | Some(Node::Null) => Ok(&[]),
            Some(Node::List(l)) => Ok(l),
            Some(other) => Err(Flaw::new(self.at(key), other.found(), "a list")),
        }
    }

    /// A list of texts.
    pub(super) fn texts(&self, key: &str) -> Result<Vec<String>, Flaw> {
        let items = self.list(key)?.iter().enumerate();
        items
            .filter(|(_, n)| !matches!(n, Node::Null))
            .map(|(i, n)| match n {
                Node::Text(s) => Ok(s.clone()),
                other => Err(Flaw::new(format!("{}[{i}]", self.at(key)), other.found(), "text")),
            })
            .collect()
    }

    /// A mapping below this one.
    pub(super) fn fields(&self, key: &str) -> Result<Fields<'a>, Flaw> {
        Fields::of(self.get(key), &self.at(key))
    }

    /// Whether the field is there with anything but null.
    pub(super) fn has(&self, key: &str) -> bool {
        !matches!(self.get(key), None | Some(Node::Null))
    }

    /// Names of the fields, each once per appearance.
    pub(super) fn keys(&self) -> impl Iterator<Item = &'a str> {
        self.map.iter().map(|(k, _)| k.as_str())
    }
}

fn find<'a>(map: &'a [(String, Node)], key: &str) -> Option<&'a Node> {
    if let Some((_, v)) = map.iter().rev().find(|(k, _)| k == key) {
        return Some(v);
    }
    map.iter().filter(|(k, _)| k == "<<").find_map(|(_, v)| match v {
        Node::Map(m) => find(m, key),
        Node::List(l) => l.iter().find_map(|n| if let Node::Map(m) = n { find(m, key) } else { None }),
        _ => None,
    })
}

struct Reader;

impl<'de> Visitor<'de> for Reader {
    type Value = Node;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("any value")
    }
    fn visit_unit<E>(self) -> Result<Node, E> {
        Ok(Node::Null)
    }
    fn visit_none<E>(self) -> Result<Node, E> {
        Ok(Node::Null)
    }
    fn visit_some<D: Deserializer<'de>>(self, d: D) -> Result<Node, D::Error> {
        Node::deserialize(d)
    }
    fn visit_bool<E>(self, v: bool) -> Result<Node, E> {
        Ok(Node::Bool(v))
    }
    fn visit_i64<E>(self, v: i64) -> Result<Node, E> {
        Ok(Node::Number(v.into()))
    }
    fn visit_u64<E>(self, v: u64) -> Result<Node, E> {
        Ok(Node::Number(v.into()))
    }
    fn visit_f64<E>(self, v: f64) -> Result<Node, E> {
        Ok(serde_json::Number::from_f64(v).map_or(Node::Number(0.into()), Node::Number))
    }
    fn visit_str<E>(self, v: &str) -> Result<Node, E> {
        Ok(Node::Text(v.to_string()))
    }
    fn visit_string<E>(self, v: String) -> Result<Node, E> {
        Ok(Node::Text(v))
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Node, A::Error> {
        let mut out = Vec::new();
        while let Some(n) = seq.next_element()? {
            out.push(n);
        }
        Ok(Node::List(out))
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Node, A::Error> {
        let mut out = Vec::new();
        while let Some((key, value)) = map.next_entry::<Node, Node>()? {
            let key = match key {
                Node::Text(s) => s,
                Node::Bool(b) => b.to_string(),
                Node::Number(n) => n.to_string(),
                _ => String::new(),
            };
            out.push((key, value));
        }
        Ok(Node::Map(out))
    }
    /// A tagged YAML value (`!foo bar`): the tag says nothing to us, the value counts, as for kubectl.
    fn visit_enum<A: EnumAccess<'de>>(self, data: A) -> Result<Node, A::Error> {
        let (_, value) = data.variant::<IgnoredAny>()?;
        value.newtype_variant::<Node>()
    }
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        d.deserialize_any(Reader)
    }
}
