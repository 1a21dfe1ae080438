//! `record`: a redacted recording of what can be seen, for `--from` and for tickets. Owns the file's shape; redaction is the model's.

use std::path::Path;

use serde::Serialize;
use serde_json::Value;

use super::gather::Online;
use crate::{
    config::folders,
    model::{
        Problem, ProblemKind, Scope, Time, redact,
        world::{ReadState, Source},
    },
};

/// How one source was read.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[allow(missing_docs)]
pub struct RecordedRead {
    pub group: String,
    pub resource: String,
    pub namespace: String,
    pub state: ReadState,
    pub at: Time,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

/// The contract's `Recording`.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[allow(missing_docs)]
pub struct Recording {
    pub kind: &'static str,
    pub taken_at: Time,
    pub console: String,
    pub context: String,
    pub server: String,
    pub reads: Vec<RecordedRead>,
    pub objects: Vec<Value>,
}

/// Reads every source once more, whole, and redacts it.
pub async fn take(online: &Online) -> Recording {
    let info = online.link.session.info();
    let mut out = Recording {
        kind: "Recording",
        taken_at: Time::now(),
        console: format!("planedeck {}", env!("CARGO_PKG_VERSION")),
        context: info.name.clone(),
        server: info.server.clone(),
        reads: Vec::new(),
        objects: Vec::new(),
    };
    for source in &online.wanted {
        let answer = online.link.session.raw(source).await;
        out.reads.push(read(source, answer.as_ref().err()));
        out.objects.extend(answer.unwrap_or_default().iter().map(|o| redact::object(source.kind, o)));
    }
    out.taken_at = Time::now();
    out
}

fn read(source: &Source, problem: Option<&Problem>) -> RecordedRead {
    let info = source.kind.info();
    let namespace = match &source.scope {
        Scope::All => String::new(),
        Scope::Namespace(ns) => ns.clone(),
    };
    let state = problem.map_or(ReadState::Complete, |p| ReadState::of(p.kind));
    RecordedRead {
        group: info.group.into(),
        resource: info.plural.into(),
        namespace,
        state,
        at: Time::now(),
        problem: problem.map(|p| redact::mask(&p.to_string())),
    }
}

/// Fails early, before a cluster is asked, where no file can be written.
///
/// # Errors
/// `BadInput` when the folder isn't there or the name is a folder's.
pub fn writable(path: &Path) -> Result<(), Problem> {
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty());
    let why = match folder {
        Some(f) if !f.is_dir() => format!("{}: no such folder", f.display()),
        _ if path.is_dir() => "is a folder".to_string(),
        _ => return Ok(()),
    };
    Err(Problem::new(ProblemKind::BadInput, format!("{}: {why}", path.display())))
}

/// Writes a recording (0600, at one stroke); gzip when the name ends in `.gz`.
///
/// # Errors
/// `BadInput` when the file can't be written.
pub fn write(path: &Path, recording: &Recording) -> Result<(), Problem> {
    use std::io::Write as _;
    let bad = |e: std::io::Error| Problem::new(ProblemKind::BadInput, format!("{}: {e}", path.display()));
    let mut text = serde_json::to_vec(&super::output::versioned(recording)).map_err(|e| bad(e.into()))?;
    text.push(b'\n');
    if path.extension().is_some_and(|e| e == "gz") {
        let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        gz.write_all(&text).map_err(bad)?;
        text = gz.finish().map_err(bad)?;
    }
    folders::write_private(path, &text).map_err(bad)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Kind, Selector};

    #[test]
    fn a_problem_is_recorded_without_the_credential_in_it() {
        let source = Source { kind: Kind::Pod, scope: Scope::Namespace("t".into()), selector: Selector::all() };
        let problem = Problem::new(ProblemKind::Forbidden, "no: Authorization: Bearer abcdef0123456789 was refused");
        let seen = read(&source, Some(&problem)).problem.unwrap_or_default();
        assert!(seen.contains("[masked]") && !seen.contains("abcdef"), "{seen}");
    }
}
