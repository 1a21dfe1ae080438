//! The editor as lines to paint: pools, form, forecast. Owns wording and layout; must not judge and changes nothing of the draft.

use crate::{
    model::{text, verdict},
    nodegroups::{
        finding::{self, Finding, Seg, Severity},
        forecast::{Change, Forecast, quota::Fit},
        template::DEFAULT_POOL,
    },
    state::{
        doc::{Doc, Line, Role, span},
        geometry::Geometry,
    },
};

use super::{
    Editor, Pane, Purpose, Stage,
    form::{Kind, Row, Standing},
};

/// Narrower screens show one side at a time.
const TWO_SIDES: u16 = 60;
/// Columns of the pools.
const LEFT: u16 = 21;
/// Columns of a field's name.
const LABEL: usize = 28;

/// What is painted.
#[derive(Debug, Clone, Default)]
pub struct View {
    /// Columns of the pools; the form has the rest. 0: only the form.
    pub left_width: u16,
    /// Lines of the forecast.
    pub bottom_height: u16,
    /// Pools.
    pub left: Vec<Line>,
    /// First pool shown.
    pub left_top: usize,
    /// The form.
    pub right: Vec<Line>,
    /// First line of the form shown.
    pub right_top: usize,
    /// Line of the row under the cursor.
    pub marked: Option<usize>,
    /// The forecast.
    pub bottom: Vec<Line>,
    /// Where a text is being typed: line of the form, column.
    pub caret: Option<(usize, usize)>,
    /// The line above: what is edited and how it stands.
    pub title: Line,
}

/// A path as findings write it.
pub fn place(keys: &[String]) -> String {
    finding::path("nodeGroups", &keys.iter().map(|k| Seg::Key(k.clone())).collect::<Vec<_>>())
}

/// True when a path is that place or below it.
pub fn within(path: &str, place: &str) -> bool {
    path.strip_prefix(place).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
}

/// Sign, word and colour of a finding.
pub fn sign(s: Severity) -> (&'static str, Role) {
    match s {
        Severity::Error => ("✖ error", Role::Sev(verdict::Severity::Failing)),
        Severity::Warning => ("▲ warning", Role::Sev(verdict::Severity::Degraded)),
        Severity::Info => ("· info", Role::Dim),
    }
}

/// Makes everything that is painted.
pub fn make(e: &Editor, g: Geometry) -> View {
    let body = g.body;
    let bottom_height = if body >= 12 { (body / 4).min(7) } else { u16::from(body >= 6) };
    let both = g.width >= TWO_SIDES;
    let left_width = match (both, e.pane) {
        (true, _) => LEFT + g.width.saturating_sub(100).min(12),
        (false, Pane::Pools) => g.width,
        (false, Pane::Fields) => 0,
    };
    let mut view = View { left_width, bottom_height, ..View::default() };
    let height = usize::from(body.saturating_sub(bottom_height));
    view.left = pools(e, usize::from(left_width));
    view.left_top = (e.pool + 1).saturating_sub(height.max(1));
    let width = if both { g.width.saturating_sub(left_width) } else { g.width };
    let extent = form(e, width, &mut view);
    if let Some((first, last)) = extent {
        view.marked = Some(first);
        // The row with what is found in it; where that is too much, the row.
        view.right_top = (last + 1).saturating_sub(height.max(1)).min(first);
    }
    view.bottom = bottom(e, g.width, usize::from(bottom_height));
    view.title = title(e);
    view
}

fn title(e: &Editor) -> Line {
    let (errors, warnings) = e.findings.iter().fold((0, 0), |(a, b), f| match f.severity {
        Severity::Error => (a + 1, b),
        Severity::Warning => (a, b + 1),
        Severity::Info => (a, b),
    });
    let what = match &e.stage {
        Stage::Form => "edit",
        Stage::Yaml(_) => "as YAML",
        Stage::Reading => "reading the plane again…",
        Stage::Review(_) => "review",
        Stage::Writing(_) => "writing…",
        Stage::Rolling(_) => "rollout",
    };
    let mut line = vec![span(Role::Strong, format!(" {}/{}", e.key.namespace, e.object.name)), span(Role::Dim, format!("  {what}"))];
    if matches!(e.stage, Stage::Rolling(_)) {
        return line;
    }
    line.push(span(Role::Normal, format!("  {} changed", e.changes())));
    if errors > 0 {
        line.push(span(sign(Severity::Error).1, format!("  ✖ {errors} {}", if errors == 1 { "error" } else { "errors" })));
    }
    if warnings > 0 {
        let word = if warnings == 1 { "warning" } else { "warnings" };
        line.push(span(sign(Severity::Warning).1, format!("  ▲ {warnings} {word}")));
    }
    if let Some(lock) = &e.lock {
        line.push(span(Role::Accent, format!("  won't save: {lock}")));
    }
    line
}

fn pools(e: &Editor, width: usize) -> Vec<Line> {
    let mut lines: Vec<Line> = Vec::new();
    for (i, name) in e.mine.keys().enumerate() {
        let selected = i == e.pool;
        let mark = if selected && e.pane == Pane::Pools { "▌" } else { " " };
        let (errors, warnings) = e.counts(name);
        let new = if e.base.contains_key(name) { "" } else { " new" };
        let mut tail = Vec::new();
        if errors > 0 {
            tail.push(span(sign(Severity::Error).1, format!(" ✖{errors}")));
        }
        if warnings > 0 {
            tail.push(span(sign(Severity::Warning).1, format!(" ▲{warnings}")));
        }
        tail.push(span(Role::Accent, new));
        let taken: usize = tail.iter().map(|s| text::width(&s.text)).sum();
        let shown = text::cut(&text::line(name), width.saturating_sub(taken + 3).max(1), "…");
        let mut line = vec![span(Role::Accent, mark), span(if selected { Role::Strong } else { Role::Normal }, shown)];
        line.extend(tail);
        lines.push(line);
    }
    for name in e.base.keys().filter(|k| !e.mine.contains_key(*k)) {
        lines.push(vec![span(Role::Dim, format!(" {} removed", text::cut(&text::line(name), width.saturating_sub(10).max(1), "…")))]);
    }
    if e.mine.is_empty() {
        lines.push(vec![span(Role::Dim, " no pool is written")]);
    }
    lines
}

/// Writes the form; answers with the first and last line of the row under the cursor.
fn form(e: &Editor, width: u16, view: &mut View) -> Option<(usize, usize)> {
    let mut doc = Doc::new(width);
    let typing_name = e.input.as_ref().filter(|i| i.purpose != Purpose::Field);
    if let Some(input) = typing_name {
        let label = match input.purpose {
            Purpose::Rename => " new name: ",
            Purpose::Clone => " name of the copy: ",
            _ => " name of the new pool: ",
        };
        view.caret = Some((0, text::width(label) + input.field.column()));
        doc.line(vec![span(Role::Accent, label), span(Role::Strong, input.field.text())]);
    }
    let names: Vec<String> = e.mine.keys().map(|k| place(std::slice::from_ref(k))).collect();
    // What concerns no single pool: trouble first, remarks last.
    let whole = |f: &&Finding| !names.iter().any(|n| within(&f.path, n));
    e.findings.iter().filter(|f| f.severity != Severity::Info).filter(whole).for_each(|f| found(&mut doc, f));
    let Some(name) = e.pool_name() else {
        empty(&mut doc);
        view.right = doc.lines;
        return None;
    };
    let happens = e.forecast.pools.iter().find(|p| p.name == name).map(|p| change(p.change)).unwrap_or_default();
    doc.line(vec![span(Role::Strong, format!(" {}", text::line(name))), span(Role::Dim, format!("  {happens}"))]);
    let rows = e.rows();
    let places: Vec<String> = rows.iter().map(|r| place(r.path(name).keys())).collect();
    let root = place(&[name.to_string()]);
    let of_row = |f: &Finding| places.iter().enumerate().filter(|(_, p)| within(&f.path, p)).max_by_key(|(_, p)| p.len()).map(|(i, _)| i);
    e.findings.iter().filter(|f| within(&f.path, &root) && (of_row(f).is_none() || f.path == root)).for_each(|f| found(&mut doc, f));
    let mut extent = None;
    for (i, row) in rows.iter().enumerate() {
        let first = doc.lines.len();
        let selected = i == e.row && e.pane == Pane::Fields;
        let caret = line(&mut doc, e, row, selected);
        if let Some(column) = caret {
            view.caret = Some((first, column));
        }
        e.findings.iter().filter(|f| of_row(f) == Some(i) && f.path != root).for_each(|f| found(&mut doc, f));
        if selected {
            extent = Some((first, doc.lines.len() - 1));
        }
    }
    e.findings.iter().filter(|f| f.severity == Severity::Info).filter(whole).for_each(|f| found(&mut doc, f));
    view.right = doc.lines;
    extent.filter(|_| typing_name.is_none())
}

fn empty(doc: &mut Doc) {
    let says = format!(
        "nodeGroups is empty: the platform runs one pool of its own, {DEFAULT_POOL} (0 to 10 machines, u1.medium). Any pool written here \
         replaces it: {DEFAULT_POOL} and its machines then go away unless a pool of that name is written too."
    );
    doc.wrapped(vec![span(Role::Normal, " ")], Role::Normal, &says);
}

/// One row; answers with the cursor's column if its text is being typed.
fn line(doc: &mut Doc, e: &Editor, row: &Row, selected: bool) -> Option<usize> {
    let label = text::line(&row.label());
    let label = format!("{}{}", text::cut(&label, LABEL, "…"), " ".repeat(LABEL.saturating_sub(text::width(&label))));
    let mark = if selected { "▌" } else { " " };
    let mut spans =
        vec![span(Role::Accent, mark), span(if selected { Role::Strong } else { Role::Normal }, label), span(Role::Normal, " ")];
    let typed = e.input.as_ref().filter(|i| selected && i.purpose == Purpose::Field);
    if let Some(input) = typed {
        spans.push(span(Role::Accent, input.field.text()));
        doc.line(spans);
        return Some(LABEL + 2 + input.field.column());
    }
    let size = |name: &str| crate::nodegroups::instance_types::stock(name).map(|t| format!("  {} vCPU {}", t.vcpu, t.memory));
    match row.standing {
        Standing::Written => {
            let edited = e.pool_name().map(|p| row.path(p)).is_some_and(|p| p.get(&e.base) != p.get(&e.mine));
            let shown = if row.text.is_empty() { "(empty)" } else { &row.text };
            spans.push(span(if edited { Role::Accent } else { Role::Normal }, shown));
            if edited {
                let was = e.pool_name().and_then(|p| row.path(p).get(&e.base).map(finding::show)).unwrap_or_else(|| "unset".to_string());
                spans.push(span(Role::Dim, format!("  was {was}")));
            }
            if row.kind == Kind::Opaque {
                spans.push(span(Role::Dim, "  kept as it is"));
            }
        }
        Standing::Default => spans.push(span(Role::Dim, format!("{}  default", row.text))),
        Standing::Unset => spans.push(span(Role::Dim, "–")),
        Standing::Unchecked => spans.extend([span(Role::Normal, &row.text), span(Role::Dim, "  passed on unchecked")]),
        Standing::Ignored => spans.extend([span(Role::Normal, &row.text), span(Role::Dim, "  stored, ignored by this platform")]),
    }
    if row.kind == Kind::InstanceType {
        spans.extend(size(&row.text).map(|s| span(Role::Dim, s)));
    }
    doc.line(spans);
    None
}

/// A finding and what to do about it.
pub fn found(doc: &mut Doc, f: &Finding) {
    let (sign, role) = sign(f.severity);
    doc.wrapped(vec![span(Role::Normal, "   "), span(role, format!("{sign} "))], role, &format!("{} {}", f.id, f.message));
    if !f.fix.is_empty() {
        doc.wrapped(vec![span(Role::Normal, "   → ")], Role::Dim, &f.fix);
    }
}

fn change(c: Change) -> &'static str {
    match c {
        Change::None => "unchanged",
        Change::Metadata => "no machine is touched",
        Change::Scale => "scales in place",
        Change::Roll => "every machine is recreated",
        Change::Add => "new pool",
        Change::Remove => "removed",
    }
}

/// What the edit does, one line each.
pub fn effects(f: &Forecast) -> Vec<(Role, String)> {
    let mut out = Vec::new();
    for p in f.pools.iter().filter(|p| p.change != Change::None) {
        let role = match p.change {
            Change::Roll | Change::Remove => Role::Sev(verdict::Severity::Degraded),
            _ => Role::Normal,
        };
        let text = if p.text.contains(&p.name) { p.text.clone() } else { format!("{}: {}", p.name, p.text) };
        out.push((role, text));
        for fix in &p.keep_spelling {
            let keep = fix.keep.as_ref().map_or_else(|| "leave it out".to_string(), |v| format!("keep {v}"));
            out.push((Role::Accent, format!("  {}: {keep}, it means the same and recreates nothing (K)", fix.path.dotted())));
        }
    }
    for n in &f.notices {
        let role = if n.severity == "error" { sign(Severity::Error).1 } else { sign(Severity::Warning).1 };
        out.push((role, format!("▲ {} {}", n.id, n.message)));
    }
    for q in &f.quota {
        let word = match q.fit {
            Fit::ShortNow => "not enough for this edit",
            Fit::ShortAtMaximum => "not enough once pools grow to their maximum",
            Fit::NotEvaluated | Fit::Fits => continue,
        };
        let used = q.used.as_deref().unwrap_or("?");
        out.push((sign(Severity::Warning).1, format!("▲ quota {} {}: {used} of {} used; {word}", q.quota, q.resource, q.hard)));
    }
    let unknown: Vec<&str> = f.quota.iter().filter(|q| q.fit == Fit::NotEvaluated).map(|q| q.resource.as_str()).collect();
    if !unknown.is_empty() && !out.is_empty() {
        out.push((Role::Dim, format!("quota not evaluated, a size or the use is unknown: {}", unknown.join(", "))));
    }
    out
}

fn bottom(e: &Editor, width: u16, height: usize) -> Vec<Line> {
    let all = effects(&e.forecast);
    let destroyed = match e.forecast.destroyed() {
        Some(0) => "no machine is recreated or deleted".to_string(),
        Some(1) => "1 machine is recreated or deleted".to_string(),
        Some(n) => format!("{n} machines are recreated or deleted"),
        None => "machines are recreated or deleted; how many is unknown".to_string(),
    };
    let head = if e.changes() == 0 { "nothing changed: nothing will happen".to_string() } else { destroyed };
    let mut lines = vec![vec![span(Role::Heading, " Forecast "), span(Role::Normal, head)]];
    let room = height.saturating_sub(1);
    let mut doc = Doc::new(width);
    for (role, text) in &all {
        doc.wrapped(vec![span(Role::Normal, "  ")], *role, text);
    }
    let more = doc.lines.len() > room;
    lines.extend(doc.lines.into_iter().take(room));
    if more && lines.len() > 1 {
        lines.pop();
        lines.push(vec![span(Role::Dim, "  … more: the review shows all")]);
    }
    lines
}
