//! `report`: the auditor's inventory. Owns the document and its printing; the same input gives the same bytes, so nothing here reads a clock.

use std::path::Path;

use serde::Serialize;

use super::{
    access::{boundary_words, rows as access_rows},
    get,
    output::{Format, Out},
};
use crate::cluster::{audit_file::verify_log, trail::AuditTrail};
use crate::model::{Time, access::Access, age, context::ContextInfo, verdict::Plane};

/// Formats offered; the first is the default.
pub const FORMATS: &[Format] = &[Format::Markdown, Format::Json, Format::Jsonl, Format::Yaml, Format::Csv];

/// Requests of one kind.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[allow(missing_docs)]
pub struct Requests {
    pub verb: String,
    pub group: String,
    pub resource: String,
    pub sent: u64,
    pub refused: u64,
}

/// The audit log as it stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[allow(missing_docs)]
pub struct Log {
    pub path: String,
    pub lines: u64,
    /// SHA-256 of the last line when the report was made; keep it elsewhere, since a chain alone can be rewritten whole.
    pub head: Option<String>,
    /// The rotated file that this chain continues, when it isn't beside the log any more: verify it where it is kept.
    pub continues: Option<String>,
    pub verified: bool,
    /// Where the chain is broken, if it is.
    pub problem: Option<String>,
}

/// The contract's `report`.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[allow(missing_docs)]
pub struct Report {
    pub kind: &'static str,
    pub taken_at: Time,
    pub console: String,
    pub context: ContextInfo,
    pub server_version: Option<String>,
    pub namespaces: Vec<String>,
    pub planes: Vec<Plane>,
    pub access: Option<Access>,
    pub requests: Vec<Requests>,
    pub audit_log: Option<Log>,
}

/// Prints the report.
pub fn print(out: &mut Out, format: Format, report: &Report) {
    match format {
        Format::Json | Format::Yaml | Format::Jsonl => out.document(format, report),
        Format::Csv => csv(out, report),
        _ => markdown(out, report),
    }
}

const INVENTORY: &[&str] = &[
    "NAMESPACE",
    "NAME",
    "STATE",
    "SEVERITY",
    "VERSION",
    "POOL",
    "POOL STATE",
    "MIN",
    "MAX",
    "DESIRED",
    "READY",
    "MACHINES",
    "INSTANCE TYPE",
    "CREATED",
];

fn inventory(report: &Report) -> Vec<Vec<String>> {
    let n = |x: Option<i64>| x.map_or_else(|| "unknown".to_string(), |v| v.to_string());
    let mut rows = Vec::new();
    for p in &report.planes {
        let severity = serde_json::to_value(p.severity).ok().and_then(|v| v.as_str().map(str::to_string)).unwrap_or_default();
        let created = p.created.map_or_else(|| "unknown".to_string(), |t| t.to_string());
        let head = [
            p.namespace.clone(),
            p.name.clone(),
            get::state_words(p),
            severity,
            p.control_plane.version.clone().unwrap_or_else(|| "unknown".into()),
        ];
        if p.pools.is_empty() {
            let none = std::iter::repeat_n("-".to_string(), 8);
            rows.push(head.iter().cloned().chain(none).chain([created.clone()]).collect());
        }
        for pool in &p.pools {
            let own = [
                pool.name.clone(),
                pool.state.name().to_string(),
                n(pool.min),
                n(pool.max),
                n(pool.desired),
                n(pool.ready),
                n(pool.machines),
                pool.instance_type.clone().unwrap_or_else(|| "unknown".into()),
            ];
            rows.push(head.iter().cloned().chain(own).chain([created.clone()]).collect());
        }
    }
    rows
}

fn csv(out: &mut Out, report: &Report) {
    out.rows(Format::Csv, INVENTORY, &inventory(report));
}

fn markdown(out: &mut Out, r: &Report) {
    head(out, r);
    out.line("");
    out.line("## Planes");
    out.line("");
    out.rows(Format::Markdown, INVENTORY, &inventory(r));
    r.planes.iter().for_each(|p| plane(out, p, r.taken_at));
    if let Some(access) = &r.access {
        rights(out, access);
    }
    out.line("");
    out.line("## Requests");
    out.line("");
    let rows: Vec<Vec<String>> = r
        .requests
        .iter()
        .map(|q| vec![q.verb.clone(), q.group.clone(), q.resource.clone(), q.sent.to_string(), q.refused.to_string()])
        .collect();
    out.rows(Format::Markdown, &["VERB", "GROUP", "RESOURCE", "SENT", "REFUSED"], &rows);
    if let Some(log) = &r.audit_log {
        out.line("");
        let holds = log
            .continues
            .as_ref()
            .map_or_else(|| "the chain holds".into(), |f| format!("the chain holds and continues {f}, which isn't here"));
        let state = log.problem.clone().map_or(holds, |p| format!("THE CHAIN IS BROKEN: {p}"));
        out.line(&format!(
            "Audit log {}: {} lines, {state}. Head {} (keep it elsewhere: a chain alone can be rewritten whole).",
            log.path,
            log.lines,
            log.head.as_deref().unwrap_or("unknown")
        ));
    }
}

fn head(out: &mut Out, r: &Report) {
    out.line("# ComputePlane inventory");
    out.line("");
    out.line(&format!(
        "Taken at {} by {} on {} (context {}, user {}{}).",
        r.taken_at,
        r.console,
        r.context.server,
        r.context.name,
        r.context.user,
        r.context.impersonate.as_ref().map(|i| format!(", acting as {i}")).unwrap_or_default()
    ));
    let identity = r.access.as_ref().and_then(|a| a.identity.as_ref());
    out.line(&format!(
        "Identity: {}. Server version: {}. Mode: {}.",
        identity.map_or("unknown", |i| i.user.as_str()),
        r.server_version.as_deref().unwrap_or("unknown"),
        if r.context.read_only { "read-only" } else { "read-write" }
    ));
    out.line(&format!("Namespaces: {}.", if r.namespaces.is_empty() { "all".into() } else { r.namespaces.join(", ") }));
}

fn plane(out: &mut Out, p: &Plane, now: Time) {
    out.line("");
    let since = p.since.map(|t| format!(" (for {})", age::short(now.duration_since(t)))).unwrap_or_default();
    out.line(&format!("- {}/{}: {}. {}{since}", p.namespace, p.name, get::state_words(p), p.cause));
    let reason = |r| serde_json::to_value(r).ok().and_then(|v| v.as_str().map(str::to_string)).unwrap_or_default();
    let hidden: Vec<String> = p.coverage.hidden.iter().map(|h| format!("{} ({})", h.resource, reason(h.reason))).collect();
    out.line(&format!(
        "  visible: {} of 7 layers; not visible: {}",
        p.coverage.visible.len(),
        if hidden.is_empty() { "nothing".into() } else { hidden.join(", ") }
    ));
}

fn rights(out: &mut Out, access: &Access) {
    out.line("");
    out.line("## Access and the credential boundary");
    out.line("");
    for n in &access.namespaces {
        let level = n.level.as_deref().unwrap_or("unknown");
        out.line(&format!("- {}: level {level}; credential boundary {}", n.namespace, boundary_words(&n.boundary)));
    }
    out.line("");
    out.rows(Format::Markdown, &["NAMESPACE", "VERB", "GROUP", "RESOURCE", "ALLOWED", "USED FOR"], &access_rows(access));
}

impl Report {
    /// The report on a dump: what it says, and nothing about access or requests.
    pub fn offline(context: String, taken_at: Time, planes: Vec<Plane>) -> Report {
        Report {
            kind: "Report",
            taken_at,
            console: super::run::console(),
            context: ContextInfo { name: context, read_only: true, ..ContextInfo::default() },
            server_version: None,
            namespaces: planes.iter().map(|p| p.namespace.clone()).collect(),
            planes,
            access: None,
            requests: Vec::new(),
            audit_log: None,
        }
    }
}

/// The trail's counts as rows, in order.
pub fn requests(trail: &AuditTrail) -> Vec<Requests> {
    let totals = trail.totals();
    totals.into_iter().map(|((verb, group, resource), c)| Requests { verb, group, resource, sent: c.sent, refused: c.refused }).collect()
}

impl Log {
    /// Verifies the log as it stands now. `broken` is what kept this run from writing to it, if something did.
    pub fn verify(path: &Path, broken: Option<String>) -> Log {
        let path_text = path.display().to_string();
        match verify_log(path) {
            // Lines and head are of one and the same reading: a watch may add lines while the report is printed.
            Ok(v) => Log { path: path_text, lines: v.lines, head: Some(v.head), continues: v.continues, verified: true, problem: broken },
            Err(t) => Log { path: path_text, lines: 0, head: None, continues: None, verified: false, problem: Some(t.to_string()) },
        }
    }

    /// The log that stands at `path`, if its chain is broken: nothing may be added to it, so that the trace of the tampering stays.
    pub fn tampered(path: &Path) -> Option<Log> {
        path.is_file().then(|| Log::verify(path, None)).filter(|l| !l.verified)
    }
}
