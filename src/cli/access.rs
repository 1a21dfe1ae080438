//! `access`: what this identity may see and do, and the credential boundary. Owns the printing and the exit rule.

use super::{
    exit::Exit,
    output::{Format, Out},
};
use crate::model::access::{Access, Boundary, MayRead, NamespaceAccess};

/// Formats offered; the first is the default.
pub const FORMATS: &[Format] = &[Format::Table, Format::Wide, Format::Json, Format::Jsonl, Format::Yaml, Format::Markdown, Format::Csv];

/// 0 closed, 1 open, 3 unknown.
pub fn exit(access: &Access) -> Exit {
    match access.boundary.may_read {
        MayRead::No => Exit::Ok,
        MayRead::Yes => Exit::Bad,
        MayRead::Unknown => Exit::NoAccess,
    }
}

/// Prints the document.
pub fn print(out: &mut Out, format: Format, access: &Access) {
    match format {
        Format::Json | Format::Yaml | Format::Jsonl => out.document(format, access),
        Format::Csv | Format::Markdown => {
            out.rows(format, &["NAMESPACE", "VERB", "GROUP", "RESOURCE", "ALLOWED", "USED FOR"], &rows(access))
        }
        _ => text(out, access, format == Format::Wide),
    }
}

/// Every right of every namespace as a row.
pub fn rows(access: &Access) -> Vec<Vec<String>> {
    let of = |n: &NamespaceAccess| {
        let ns = n.namespace.clone();
        n.rules
            .iter()
            .map(move |r| vec![ns.clone(), r.verb.clone(), r.group.clone(), r.resource.clone(), word(r.allowed).into(), r.used_for.clone()])
            .collect::<Vec<_>>()
    };
    access.namespaces.iter().flat_map(of).collect()
}

fn word(allowed: Option<bool>) -> &'static str {
    match allowed {
        Some(true) => "yes",
        Some(false) => "no",
        None => "unknown",
    }
}

/// The boundary in one sentence. Never "secure": an access review speaks for the caller only.
pub fn boundary_words(b: &Boundary) -> String {
    match b.may_read {
        MayRead::No => format!("closed for you: Secret {} can't be read with this identity ({})", b.secret, b.how),
        MayRead::Yes => format!("OPEN for you: Secret {} can be read with this identity ({})", b.secret, b.how),
        MayRead::Unknown => format!("unknown: Secret {} ({})", b.secret, b.how),
    }
}

/// What an open boundary means and who can close it.
pub const OPEN_MEANS: &str = "who reads this Secret is cluster-admin of the ComputePlane. The Role computeplane-cluster-dashboard-resources of the platform's kubernetes chart usually grants it; the platform's operators can close it, and should hear of it privately first.";

fn text(out: &mut Out, access: &Access, all: bool) {
    match &access.identity {
        Some(i) => {
            out.line(&format!("identity   {}  groups: {}", i.user, if i.groups.is_empty() { "none".into() } else { i.groups.join(", ") }))
        }
        None => out.line("identity   the server doesn't tell (SelfSubjectReview failed)"),
    }
    for n in &access.namespaces {
        out.line("");
        out.line(&format!("namespace  {}  level: {}", n.namespace, n.level.as_deref().unwrap_or("unknown")));
        out.line(&format!("credential {}", boundary_words(&n.boundary)));
        if n.boundary.may_read == MayRead::Yes {
            out.line(&format!("           {OPEN_MEANS}"));
        }
        // One line a resource: verbs that pass and verbs that don't, since that is how rights are granted.
        let mut rows: Vec<Vec<String>> = Vec::new();
        let mut seen = std::collections::BTreeSet::new();
        for r in &n.rules {
            if !seen.insert((&r.group, &r.resource)) {
                continue;
            }
            let of = |want| {
                n.rules
                    .iter()
                    .filter(|x| x.group == r.group && x.resource == r.resource && x.allowed == want)
                    .map(|x| x.verb.as_str())
                    .collect::<Vec<_>>()
                    .join(",")
            };
            let (yes, no, dark) = (of(Some(true)), of(Some(false)), of(None));
            if !all && no.is_empty() && dark.is_empty() && r.verb != "patch" && r.group != "apps.cozystack.io" {
                continue;
            }
            let layer = r.layer.and_then(|l| serde_json::to_value(l).ok()).and_then(|v| v.as_str().map(str::to_string)).unwrap_or_default();
            let name = if r.group.is_empty() { r.resource.clone() } else { format!("{}.{}", r.resource, r.group) };
            let dash = |s: String| if s.is_empty() { "-".to_string() } else { s };
            rows.push(vec![
                name,
                dash(yes),
                dash(if dark.is_empty() { no } else { format!("{no} (unknown: {dark})") }),
                layer,
                r.used_for.clone(),
            ]);
        }
        out.rows(Format::Table, &["RESOURCE", "MAY", "MAY NOT", "LAYER", "USED FOR"], &rows);
        if let Some(role) = &n.missing_role {
            out.line("");
            out.line("the smallest Role that would light what is dark (to copy; planedeck never applies it):");
            out.block(role);
        }
    }
    out.line("");
    out.line(&format!("boundary   {}", boundary_words(&access.boundary)));
}
