//! Text to documents: what was given (manifest, bare map, values; YAML, JSON, JSON lines, lists) and what is wrong with the text itself.
//! Reads as kubectl would. One bad document never hides the others; must not judge what the values say.

mod read;
mod shape;
mod split;

#[cfg(test)]
mod tests;

use serde_json::Value;

/// The most that is read: 4 MiB.
pub const MAX_BYTES: usize = 4 << 20;

/// Something wrong with the text, or with the way it will be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextProblem {
    /// `Y-SYNTAX`, `Y-DUPKEY`, `Y-KEY`, `Y-SHAPE` or `G-YAML11`.
    pub id: &'static str,
    /// What is wrong, and where in the text.
    pub message: String,
    /// The field, where it is known.
    pub path: String,
    /// What stands there.
    pub value: Option<String>,
    /// Line, from 1.
    pub line: Option<usize>,
    /// Column, from 1.
    pub column: Option<usize>,
}

/// The name of the object around the values.
#[derive(Debug, Clone, PartialEq)]
pub enum Name {
    /// There is no object around them.
    Unknown,
    /// The object has none.
    Missing,
    /// This, which may be of a wrong type.
    Is(Value),
}

/// The values of one document.
#[derive(Debug, Clone, PartialEq)]
pub struct Values {
    /// The object's name.
    pub name: Name,
    /// What stands at `nodeGroups`; `None` when nothing does.
    pub node_groups: Option<Value>,
    /// Other keys beside `nodeGroups`.
    pub other_keys: Vec<String>,
    /// Where those keys stand: `spec`, or nothing for bare values.
    pub root: &'static str,
}

/// What a document turned out to be.
#[derive(Debug, Clone, PartialEq)]
pub enum Body {
    /// Values that can be judged.
    Values(Values),
    /// Nothing that can be judged, and why.
    Unreadable(Vec<TextProblem>),
}

/// One document.
#[derive(Debug, Clone, PartialEq)]
pub struct Document {
    /// Source and number: `file.yaml#1`.
    pub source: String,
    /// What it holds.
    pub body: Body,
    /// Warnings on how it is read.
    pub notes: Vec<TextProblem>,
}

/// All documents of a text, numbered from 1. There is always at least one: an empty text is a finding too.
pub fn documents(source: &str, bytes: &[u8]) -> Vec<Document> {
    let mut found: Vec<(Body, Vec<TextProblem>)> = Vec::new();
    if bytes.len() > MAX_BYTES {
        let text = format!("the text has {} bytes; at most {MAX_BYTES} are read", bytes.len());
        found.push((Body::Unreadable(vec![problem("Y-SYNTAX", text, None)]), vec![]));
    } else {
        for chunk in split::chunks(bytes) {
            match read::value(&chunk) {
                Ok(Some((value, notes))) => found.extend(shape::bodies(value).into_iter().map(|b| {
                    let notes = notes.iter().map(|n| rooted(n, &b)).collect();
                    (b, notes)
                })),
                Ok(None) => {}
                Err(p) => found.push((Body::Unreadable(vec![p]), vec![])),
            }
        }
    }
    if found.is_empty() {
        let text = "the text is empty; wanted is a ComputePlane, a map of node groups, or values with nodeGroups";
        found.push((Body::Unreadable(vec![problem("Y-SHAPE", text.into(), None)]), vec![]));
    }
    let named = |(i, (body, notes))| Document { source: format!("{source}#{}", i + 1), body, notes };
    found.into_iter().enumerate().map(named).collect()
}

/// The note with its path from `nodeGroups`, however the document was given.
fn rooted(note: &TextProblem, body: &Body) -> TextProblem {
    let mut note = note.clone();
    if let Some(path) = note.path.strip_prefix("spec.").filter(|p| p.starts_with("nodeGroups")) {
        note.path = path.to_string();
    } else if let Body::Values(v) = body
        && v.root.is_empty()
        && !note.path.starts_with("nodeGroups")
        && !v.other_keys.iter().any(|k| note.path.starts_with(k.as_str()))
    {
        let dot = if note.path.starts_with('[') { "" } else { "." };
        note.path = format!("nodeGroups{dot}{}", note.path);
    }
    note
}

/// A problem without a field.
fn problem(id: &'static str, message: String, at: Option<(usize, usize)>) -> TextProblem {
    let message = match at {
        Some((line, column)) => format!("line {line}, column {column}: {message}"),
        None => message,
    };
    TextProblem { id, message, path: String::new(), value: None, line: at.map(|a| a.0), column: at.map(|a| a.1) }
}
