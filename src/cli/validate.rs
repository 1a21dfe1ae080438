//! `validate`: texts to results, and results to text, JSON or JSON lines. Owns the printing; must not judge, open files or reach a cluster.

use super::{
    args::ValidateArgs,
    exit::Exit,
    facts, offline,
    output::{self, Format, Out},
    settle::Effective,
};
use crate::{
    model::{Problem, text},
    nodegroups::{
        document::documents,
        finding::{Findings, Profile, Severity},
        validate::{Context, validate},
    },
};

/// Judges everything in one text: one result for each document.
pub fn judge(source: &str, bytes: &[u8], context: &Context) -> Vec<Findings> {
    documents(source, bytes).iter().map(|d| validate(d, context)).collect()
}

/// True when nothing is an error: the exit code 0.
pub fn all_valid(results: &[Findings]) -> bool {
    results.iter().all(|f| f.valid)
}

/// For people: one block a document, one line a finding, the fix below it. Safe for a terminal.
pub fn render_text(results: &[Findings]) -> String {
    let mut out = String::new();
    for result in results {
        let verdict = if result.valid { "valid" } else { "refused" };
        let profile = match result.profile {
            Profile::Split => "split",
            Profile::Presplit => "presplit",
        };
        out.push_str(&format!("{}: {verdict} (profile {profile})\n", text::line(&result.source)));
        for f in &result.findings {
            let mark = match f.severity {
                Severity::Error => "error  ",
                Severity::Warning => "warning",
                Severity::Info => "info   ",
            };
            let first = if f.first { " (reported first)" } else { "" };
            let assumed = if f.assumed { " [assumed: stock instance types]" } else { "" };
            let path = if f.path.is_empty() { String::new() } else { format!(" {}", text::line(&f.path)) };
            out.push_str(&format!("  {mark} {}{path}: {}{assumed}{first}\n", f.id, text::line(&f.message)));
            if f.severity != Severity::Info {
                out.push_str(&format!("          fix: {}\n", text::line(&f.fix)));
            }
        }
    }
    out
}

/// JSON: one document as `Findings`, several as a `FindingsList`.
pub fn render_json(results: &[Findings], ascii: bool) -> String {
    let value = match results {
        [one] => output::versioned(one),
        many => output::versioned(&serde_json::json!({ "kind": "FindingsList", "items": many })),
    };
    format!("{}\n", output::json(&value, true, ascii))
}

/// JSON lines: one document a line.
pub fn render_jsonl(results: &[Findings], ascii: bool) -> String {
    results.iter().map(|f| format!("{}\n", output::json(&output::versioned(f), false, ascii))).collect()
}

/// Formats offered; the first is the default.
pub const FORMATS: &[Format] = &[Format::Table, Format::Json, Format::Jsonl, Format::Yaml];

/// Reads the file, judges and prints.
///
/// # Errors
/// `BadInput` only when the file can't be opened: text that can't be parsed is a finding.
pub fn run(args: &ValidateArgs, e: &Effective, out: &mut Out) -> Result<Exit, Problem> {
    let format = Format::choose(e.global.output.as_deref(), FORMATS)?;
    let bytes = offline::read(&args.file)?;
    let source = if args.file == std::path::Path::new("-") { "standard input".to_string() } else { args.file.display().to_string() };
    let results = judge(&source, &bytes, &facts::context(facts::profile(args.profile, None), None, None));
    match format {
        Format::Json => out.raw(&render_json(&results, out.ascii)),
        Format::Jsonl => out.raw(&render_jsonl(&results, out.ascii)),
        Format::Yaml => match results.as_slice() {
            [one] => out.document(format, one),
            many => out.list(format, "FindingsList", many),
        },
        _ => out.block(render_text(&results).trim_end()),
    }
    Ok(if all_valid(&results) { Exit::Ok } else { Exit::Bad })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_printed_in_three_ways() {
        let bytes = b"web: {minReplicas: 1, maxReplicas: 3, instanceType: u9.x, diskSize: 20Gi, roles: [ingress-nginx]}\n---\n{";
        let results = judge("f\u{1b}[31m.yaml", bytes, &Context::default());
        assert_eq!(results.len(), 2);
        assert!(!all_valid(&results));
        let text = render_text(&results);
        assert!(text.contains("error   Z-INSTTYPE nodeGroups.web.instanceType:") && text.contains("fix: choose"), "{text}");
        assert!(!text.contains('\u{1b}'));
        let json: serde_json::Value = serde_json::from_str(&render_json(&results, true)).unwrap();
        assert_eq!((json["kind"].as_str(), json["apiVersion"].as_str()), (Some("FindingsList"), Some("planedeck/v1")));
        assert_eq!(json["items"][1]["findings"][0]["id"], "Y-SYNTAX");
        assert_eq!(json["items"][1]["findings"][0]["stage"], "write");
        assert_eq!(render_jsonl(&results, false).lines().count(), 2);
    }
}
