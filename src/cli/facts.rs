//! What is known beside the values: from files nothing, from a cluster machines, quotas and the offer. Owns the collecting; rules and forecast judge.

use std::path::Path;

use serde_json::Value;

use super::{args::ProfileArg, offline};
use crate::{
    model::{Problem, ProblemKind, World},
    nodegroups::{
        Groups,
        document::{self, Document, Name, documents},
        finding::{Findings, Profile},
        validate::{Context, validate},
    },
    state::facts as collected,
};

pub use collected::{context, machines, offer, quotas, size};

/// The layout to judge for: forced, or seen, or the default.
pub fn profile(forced: Option<ProfileArg>, world: Option<(&World, &str)>) -> Profile {
    match forced {
        Some(ProfileArg::Split) => Profile::Split,
        Some(ProfileArg::Presplit) => Profile::Presplit,
        None => world.and_then(|(w, ns)| collected::seen_layout(w, ns)).unwrap_or_default(),
    }
}

/// One file with wanted or former values.
pub struct Input {
    /// Its one document.
    pub document: Document,
    /// The node groups, empty where the document has none that can be read.
    pub groups: Groups,
    /// Namespace and UID that the document names.
    pub namespace: Option<String>,
    /// UID that the document names.
    pub uid: Option<String>,
}

impl Input {
    /// Reads a file that must hold exactly one document.
    ///
    /// # Errors
    /// `BadInput` when it can't be opened or holds several.
    pub fn read(path: &Path) -> Result<Input, Problem> {
        let bytes = offline::read(path)?;
        let mut all = documents(&path.display().to_string(), &bytes);
        let document = match (all.pop(), all.len()) {
            (Some(d), 0) => d,
            (_, more) => {
                return Err(Problem::new(
                    ProblemKind::BadInput,
                    format!("{}: {} documents; exactly one is wanted", path.display(), more + 1),
                ));
            }
        };
        let groups = match &document.body {
            document::Body::Values(v) => v.node_groups.as_ref().and_then(Value::as_object).cloned().unwrap_or_default(),
            document::Body::Unreadable(_) => Groups::new(),
        };
        let meta = metadata(&bytes);
        Ok(Input { document, groups, namespace: meta("namespace"), uid: meta("uid") })
    }

    /// The name that the document gives the plane.
    pub fn name(&self) -> Option<String> {
        match &self.document.body {
            document::Body::Values(v) => match &v.name {
                Name::Is(Value::String(s)) => Some(s.clone()),
                _ => None,
            },
            document::Body::Unreadable(_) => None,
        }
    }

    /// Findings of the document.
    pub fn findings(&self, context: &Context) -> Findings {
        validate(&self.document, context)
    }
}

/// Reads plain strings of the object's metadata; the rules have read the rest already.
fn metadata(bytes: &[u8]) -> impl Fn(&str) -> Option<String> {
    let value = serde_yaml::from_slice::<serde_yaml::Value>(bytes).ok();
    move |key| value.as_ref()?.get("metadata")?.get(key)?.as_str().map(str::to_string)
}
