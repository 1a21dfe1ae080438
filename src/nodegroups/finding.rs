//! What a check found: severity, stage, place, fix; and the result of one document. Owns these shapes; must not decide anything.

use serde::Serialize;

/// How bad it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Will be refused, or can never work.
    Error,
    /// Accepted and harmful.
    Warning,
    /// Worth knowing; also a check that couldn't be made.
    Info,
}

/// Where the platform would refuse.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Stage {
    /// The API, or the client that reads the text.
    Write,
    /// Schema or render of the module's release.
    Module,
    /// Schema or render of the cluster's release.
    Cluster,
    /// Schema or render of one pool's release.
    Pool,
    /// Applying what was rendered: API validation, CRD schemas, webhooks.
    Admission,
    /// Accepted, but can never work (errors) or does harm (warnings).
    Runtime,
}

/// Which layout the platform has.
pub use super::template::Layout as Profile;

/// One thing found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Finding {
    /// The rule's id, see [`super::validate::table::RULES`].
    pub id: &'static str,
    /// How bad.
    pub severity: Severity,
    /// Where the platform would notice.
    pub stage: Stage,
    /// The field: `nodeGroups.gpu.resources`; keys that aren't plain names stand as `["…"]`.
    pub path: String,
    /// What was found there, as text or compact JSON; `null` when nothing was.
    pub value: Option<String>,
    /// What is wrong and what is allowed.
    pub message: String,
    /// What to do.
    pub fix: String,
    /// The one that the platform would report first.
    pub first: bool,
    /// Judged by the bundled instance types, not by this cluster's.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub assumed: bool,
    /// Line in the text, from 1, where known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    /// Column in the text, from 1, where known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<usize>,
}

/// All findings of one document.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Findings {
    /// Always `Findings`.
    pub kind: &'static str,
    /// Where the document came from: `file.yaml#1`.
    pub source: String,
    /// The layout it was judged for.
    pub profile: Profile,
    /// No finding is an error.
    pub valid: bool,
    /// The bundled instance types counted as the offer.
    pub assumed: bool,
    /// Errors first, in the platform's order.
    pub findings: Vec<Finding>,
}

impl Findings {
    /// The result from what was found.
    pub fn new(source: &str, profile: Profile, assumed: bool, findings: Vec<Finding>) -> Self {
        let valid = findings.iter().all(|f| f.severity != Severity::Error);
        Findings { kind: "Findings", source: source.to_string(), profile, valid, assumed, findings }
    }

    /// What the platform would report first.
    pub fn first(&self) -> Option<&Finding> {
        self.findings.iter().find(|f| f.first)
    }
}

/// One step of a field path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Seg {
    /// A key of a map.
    Key(String),
    /// An item of a list, from 0.
    Index(usize),
}

/// A field path as findings write it, below `root`: plain names by dots, all other keys as `["…"]` with JSON escapes, items as `[0]`.
pub fn path(root: &str, segs: &[Seg]) -> String {
    let mut out = root.to_string();
    for seg in segs {
        match seg {
            Seg::Index(i) => out.push_str(&format!("[{i}]")),
            Seg::Key(k) if !k.is_empty() && k.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_') => {
                if !out.is_empty() {
                    out.push('.');
                }
                out.push_str(k);
            }
            Seg::Key(k) => out.push_str(&format!("[{}]", serde_json::Value::from(k.as_str()))),
        }
    }
    out
}

/// A value for people: text as it is, all else as compact JSON; long ones are cut.
pub fn show(value: &serde_json::Value) -> String {
    const MAX: usize = 200;
    let full = match value {
        serde_json::Value::String(s) => s.clone(),
        v => v.to_string(),
    };
    if full.chars().count() <= MAX { full } else { full.chars().take(MAX).chain(std::iter::once('…')).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_stay_unambiguous() {
        let key = |k: &str| Seg::Key(k.into());
        assert_eq!(path("nodeGroups", &[key("gpu"), key("resources")]), "nodeGroups.gpu.resources");
        assert_eq!(path("nodeGroups", &[key("a.b"), key("roles"), Seg::Index(1)]), r#"nodeGroups["a.b"].roles[1]"#);
        assert_eq!(path("nodeGroups", &[key(""), key("x\n\"")]), r#"nodeGroups[""]["x\n\""]"#);
        assert_eq!(path("", &[key("metadata"), key("name")]), "metadata.name");
    }
}
