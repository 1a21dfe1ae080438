//! `rule`: what a validation rule or a verdict means, where it comes from, an example. Owns the lookup; texts are the tables' own.

use serde::Serialize;

use super::output::{Format, Out};
use crate::{
    health::catalog::{self, CATALOG},
    model::{Problem, ProblemKind, text, verdict::State},
    nodegroups::validate::table::{RULES, Rule, rule},
};

/// Formats offered; the first is the default.
pub const FORMATS: &[Format] = &[Format::Table, Format::Wide, Format::Json, Format::Jsonl, Format::Yaml, Format::Csv, Format::Markdown];

/// A rule or a verdict, explained.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "kind")]
#[allow(missing_docs)]
pub enum Explained {
    Rule { id: String, severity: String, stage: String, title: String, meaning: String, fix: String, source: String, example: String },
    Verdict { id: String, row: String, severity: String, meaning: String, signals: String, remedy: String },
}

fn word(v: impl Serialize) -> String {
    serde_json::to_value(v).ok().and_then(|v| v.as_str().map(str::to_string)).unwrap_or_default()
}

/// Where the rule is noticed; both layouts where they differ.
fn stage(r: &Rule) -> String {
    if r.split == r.presplit { word(r.split) } else { format!("{} (split), {} (presplit)", word(r.split), word(r.presplit)) }
}

fn of_rule(r: &Rule) -> Explained {
    Explained::Rule {
        id: r.id.into(),
        severity: word(r.severity),
        stage: stage(r),
        title: r.title.into(),
        meaning: r.meaning.into(),
        fix: r.fix.into(),
        source: r.source.into(),
        example: r.example.into(),
    }
}

fn of_state(e: &catalog::Entry) -> Explained {
    let severity = word(e.state.severity());
    Explained::Verdict {
        id: e.state.name().into(),
        row: e.row.into(),
        severity,
        meaning: e.meaning.into(),
        signals: e.signals.into(),
        remedy: e.remedy.into(),
    }
}

/// Looks an id up, in any case.
///
/// # Errors
/// `BadInput` with the nearest known id.
pub fn find(id: &str) -> Result<Explained, Problem> {
    if let Some(r) = rule(id).or_else(|| RULES.iter().find(|r| r.id.eq_ignore_ascii_case(id))) {
        return Ok(of_rule(r));
    }
    if let Some(e) = id.parse::<State>().ok().and_then(catalog::entry) {
        return Ok(of_state(e));
    }
    let known = RULES.iter().map(|r| r.id).chain(State::ALL.iter().map(|s| s.name()));
    let near = crate::config::suggestion(id, known);
    Err(Problem::new(ProblemKind::BadInput, format!("{}: no such rule or verdict{near}", text::line(id)))
        .hint("`planedeck rule` lists all"))
}

/// Prints one.
pub fn print(out: &mut Out, format: Format, explained: &Explained) {
    if matches!(format, Format::Json | Format::Jsonl | Format::Yaml) {
        return out.document(format, explained);
    }
    let lines: Vec<(&str, &str)> = match explained {
        Explained::Rule { id, severity, stage, title, meaning, fix, source, example } => {
            vec![
                ("", id),
                ("severity", severity),
                ("stage", stage),
                ("what", title),
                ("meaning", meaning),
                ("fix", fix),
                ("source", source),
                ("example", example),
            ]
        }
        Explained::Verdict { id, row, severity, meaning, signals, remedy } => {
            vec![("", id), ("severity", severity), ("meaning", meaning), ("read from", signals), ("what helps", remedy), ("table row", row)]
        }
    };
    if matches!(format, Format::Csv | Format::Markdown) {
        let label = |l: &str| if l.is_empty() { "ID".to_string() } else { l.to_uppercase() };
        let header: Vec<String> = lines.iter().map(|(l, _)| label(l)).collect();
        let row = lines.iter().map(|(_, v)| v.to_string()).collect();
        return out.rows(format, &header.iter().map(String::as_str).collect::<Vec<_>>(), &[row]);
    }
    for (label, value) in lines.into_iter().filter(|(_, v)| !v.is_empty()) {
        if label.is_empty() { out.line(value) } else { out.block(&format!("  {label:<11}{}", value.replace('\n', "\n             "))) }
    }
}

/// Lists all rules and verdicts.
pub fn list(out: &mut Out, format: Format) {
    match format {
        Format::Json | Format::Yaml | Format::Jsonl => {
            let all: Vec<Explained> = RULES.iter().map(of_rule).chain(CATALOG.iter().map(of_state)).collect();
            out.list(format, "RuleList", &all);
        }
        _ => {
            let rules = RULES.iter().map(|r| vec![r.id.to_string(), word(r.severity), stage(r), r.title.to_string()]);
            let states = CATALOG
                .iter()
                .map(|e| vec![e.state.name().to_string(), word(e.state.severity()), "verdict".to_string(), e.meaning.to_string()]);
            out.rows(format, &["ID", "SEVERITY", "STAGE", "WHAT"], &rules.chain(states).collect::<Vec<_>>());
        }
    }
}
