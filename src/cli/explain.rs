//! `explain`: verdicts with evidence, next steps and coverage; or what changed between two dumps. Owns printing; words are the engine's.

use std::path::Path;

use serde::Serialize;

use super::{
    gather,
    output::{Format, Out},
    run,
    settle::Effective,
};
use crate::{
    health,
    model::{
        Problem,
        verdict::{LayerVerdict, Plane},
    },
};

/// Formats offered; the first is the default.
pub const FORMATS: &[Format] = &[Format::Table, Format::Wide, Format::Json, Format::Jsonl, Format::Yaml, Format::Csv, Format::Markdown];

const LAYERS: &[&str] = &["NAMESPACE", "NAME", "LAYER", "POOL", "STATE", "SEVERITY", "CONSEQUENCE OF", "SINCE", "WHY"];

/// Width of running text: as wide as a ticket or a mail shows without breaking.
const WIDTH: usize = 100;

/// Prints verdicts.
pub fn print(out: &mut Out, format: Format, planes: &[Plane], one: bool) {
    match format {
        Format::Json | Format::Jsonl | Format::Yaml => match planes {
            [plane] if one => out.document(format, plane),
            _ => out.list(format, "PlaneList", planes),
        },
        Format::Csv => out.rows(format, LAYERS, &planes.iter().flat_map(layers).collect::<Vec<_>>()),
        Format::Markdown => planes.iter().for_each(|p| out.block(&health::explain::ticket_markdown(p))),
        _ => {
            for (i, p) in planes.iter().enumerate() {
                if i > 0 {
                    out.line("");
                }
                out.block(&health::explain::text(p, WIDTH));
            }
        }
    }
}

/// A row for each verdict of a layer.
fn layers(p: &Plane) -> Vec<Vec<String>> {
    let word = |v: serde_json::Result<serde_json::Value>| v.ok().and_then(|v| v.as_str().map(str::to_string)).unwrap_or_default();
    let row = |l: &LayerVerdict| {
        let since = l.since.map(|t| t.to_string()).unwrap_or_default();
        let cause_of = l.consequence_of.map(|c| word(serde_json::to_value(c))).unwrap_or_default();
        let head = [p.namespace.clone(), p.name.clone(), word(serde_json::to_value(l.layer)), l.pool.clone().unwrap_or_default()];
        let severity = word(serde_json::to_value(l.severity));
        head.into_iter().chain([l.state.name().to_string(), severity, cause_of, since, l.cause.clone()]).collect()
    };
    p.layers.iter().map(row).collect()
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

/// A dump, judged.
pub struct Judged {
    /// Every plane in it.
    pub planes: Vec<Plane>,
    /// False when it says nothing about planes at all.
    pub readable: bool,
}

/// Judges a dump at its own time, unless `--now` names another.
///
/// # Errors
/// When it can't be read.
pub fn judged(path: &Path, e: &Effective) -> Result<Judged, Problem> {
    let seen = gather::offline_seen(e, path)?;
    seen.notes.iter().for_each(|n| run::note(&format!("note: {n}")));
    let judge = |ns| health::judge(&seen.world, ns, seen.now, &e.settings.deadlines);
    Ok(Judged { planes: health::planes(&seen.world).iter().filter_map(|ns| judge(ns)).collect(), readable: seen.anything_readable() })
}

/// Compares plane by plane; planes that are the same are left out.
pub fn diff(old: &[Plane], new: &[Plane]) -> Vec<Difference> {
    let mut names: Vec<&str> = old.iter().chain(new).map(|p| p.namespace.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    let of = |list: &[Plane], ns: &str| list.iter().find(|p| p.namespace == ns).cloned();
    let compared = names.into_iter().map(|ns| {
        let (a, b) = (of(old, ns), of(new, ns));
        let changes = match (&a, &b) {
            (Some(a), Some(b)) => health::diff(a, b),
            (None, Some(b)) => vec![format!("appeared: {}: {}", b.state.words(), b.cause)],
            (Some(a), None) => vec![format!("is gone; it was: {}: {}", a.state.words(), a.cause)],
            (None, None) => Vec::new(),
        };
        Difference { kind: "Difference", namespace: ns.to_string(), changes, old: a, new: b }
    });
    compared.filter(|d| !d.changes.is_empty()).collect()
}

/// Prints differences.
pub fn print_diff(out: &mut Out, format: Format, differences: &[Difference]) {
    match format {
        Format::Json | Format::Jsonl | Format::Yaml => out.list(format, "DifferenceList", differences),
        Format::Csv => {
            let rows = differences.iter().flat_map(|d| d.changes.iter().map(|c| vec![d.namespace.clone(), c.clone()]));
            out.rows(format, &["NAMESPACE", "CHANGE"], &rows.collect::<Vec<_>>());
        }
        _ if differences.is_empty() => out.line("no verdict changed"),
        _ => {
            for d in differences {
                out.line(&d.namespace);
                d.changes.iter().for_each(|c| out.line(&format!("  {c}")));
            }
        }
    }
}
