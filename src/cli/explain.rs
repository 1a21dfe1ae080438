//! `explain`: verdicts with evidence, next steps and coverage; or what changed between two dumps. Owns printing; words are the engine's.

use std::path::Path;

use serde::Serialize;

use super::{
    offline,
    output::{Format, Out},
};
use crate::{
    health::{self, deadlines::Deadlines},
    model::{Problem, Time, verdict::Plane},
};

/// Formats offered; the first is the default.
pub const FORMATS: &[Format] = &[Format::Table, Format::Json, Format::Jsonl, Format::Yaml, Format::Markdown];

/// Width of running text: as wide as a ticket or a mail shows without breaking.
const WIDTH: usize = 100;

/// Prints verdicts.
pub fn print(out: &mut Out, format: Format, planes: &[Plane], one: bool) {
    match format {
        Format::Json | Format::Jsonl | Format::Yaml => match planes {
            [plane] if one => out.document(format, plane),
            _ => out.list(format, "PlaneList", planes),
        },
        Format::Markdown => planes.iter().for_each(|p| out.line(&health::explain::ticket_markdown(p))),
        _ => {
            for (i, p) in planes.iter().enumerate() {
                if i > 0 {
                    out.line("");
                }
                out.line(&health::explain::text(p, WIDTH));
            }
        }
    }
}

/// One plane that differs between two dumps.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Difference {
    /// Always `Difference`.
    pub kind: &'static str,
    /// Namespace.
    pub namespace: String,
    /// What changed, one sentence each.
    pub changes: Vec<String>,
    /// The plane in the old dump; `None` when it wasn't there.
    pub old: Option<Plane>,
    /// The plane in the new dump; `None` when it isn't there.
    pub new: Option<Plane>,
}

/// Compares two dumps plane by plane; planes that are the same are left out.
///
/// # Errors
/// When a dump can't be read.
pub fn diff(old: &Path, new: &Path, complete: bool, deadlines: &Deadlines) -> Result<Vec<Difference>, Problem> {
    let judge = |path: &Path| -> Result<Vec<Plane>, Problem> {
        let dump = offline::open(path, complete)?;
        let now = dump.newest.unwrap_or(Time::UNIX_EPOCH);
        Ok(health::planes(&dump.world).iter().filter_map(|ns| health::judge(&dump.world, ns, now, deadlines)).collect())
    };
    let (old, new) = (judge(old)?, judge(new)?);
    let mut names: Vec<&str> = old.iter().chain(&new).map(|p| p.namespace.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    let of = |list: &[Plane], ns: &str| list.iter().find(|p| p.namespace == ns).cloned();
    let compared = names.into_iter().map(|ns| {
        let (a, b) = (of(&old, ns), of(&new, ns));
        let changes = match (&a, &b) {
            (Some(a), Some(b)) => health::diff(a, b),
            (None, Some(b)) => vec![format!("appeared: {}: {}", b.state.words(), b.cause)],
            (Some(a), None) => vec![format!("is gone; it was: {}: {}", a.state.words(), a.cause)],
            (None, None) => Vec::new(),
        };
        Difference { kind: "Difference", namespace: ns.to_string(), changes, old: a, new: b }
    });
    Ok(compared.filter(|d| !d.changes.is_empty()).collect())
}

/// Prints differences.
pub fn print_diff(out: &mut Out, format: Format, differences: &[Difference]) {
    match format {
        Format::Json | Format::Jsonl | Format::Yaml => out.list(format, "DifferenceList", differences),
        _ if differences.is_empty() => out.line("no verdict changed"),
        _ => {
            for d in differences {
                out.line(&d.namespace);
                d.changes.iter().for_each(|c| out.line(&format!("  {c}")));
            }
        }
    }
}
