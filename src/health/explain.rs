//! A plane in words: for the terminal and for a ticket. Owns layout of text; every string that came from a cluster is sanitised here. Must not judge.

use crate::model::{
    text::{self, line},
    verdict::{Evidence, LayerVerdict, NextStep, Plane, Severity, State, Who},
};

use super::{engine, layers::module};

/// The explanation as plain text, wrapped to `width` columns (at least 40).
pub fn text(plane: &Plane, width: usize) -> String {
    let width = width.max(40);
    let mut out = Vec::new();
    out.push(format!("{} / {}   {} ({})", line(&plane.namespace), line(&plane.name), headline(plane), severity(plane.severity)));
    wrap(&mut out, &plane.cause, "  ", width);
    if let Some(t) = plane.since {
        out.push(format!("  since {t}"));
    }
    out.push(String::new());
    for v in &plane.layers {
        layer_lines(&mut out, v, plane, width);
    }
    pool_lines(&mut out, plane);
    if !plane.next.is_empty() {
        out.push(String::new());
        out.push("Next".to_string());
        plane.next.iter().for_each(|n| wrap(&mut out, &step(n), "  → ", width));
    }
    guest_lines(&mut out, plane, width);
    out.push(String::new());
    coverage_lines(&mut out, plane, width);
    let mut all = out.join("\n");
    all.push('\n');
    all
}

fn headline(p: &Plane) -> String {
    match p.visible_state {
        Some(State::Ready) => "Ready as far as you may see".to_string(),
        Some(s) => format!("Unknown, {} as far as you may see", s.words().to_lowercase()),
        None => p.state.words(),
    }
}

fn severity(s: Severity) -> &'static str {
    match s {
        Severity::Blocked => "blocked",
        Severity::Failing => "failing",
        Severity::Degraded => "degraded",
        Severity::Unknown => "unknown",
        Severity::Progressing => "progressing",
        Severity::Ready => "ready",
    }
}

fn layer_lines(out: &mut Vec<String>, v: &LayerVerdict, plane: &Plane, width: usize) {
    let number = crate::model::verdict::Layer::ALL.iter().position(|l| *l == v.layer).unwrap_or(0);
    let mut head = format!("L{number} {:<13} {}", engine::name(v.layer), v.state.words());
    if let Some(p) = &v.pool {
        head.push_str(&format!(" [{}]", line(p)));
    }
    if v.inferred {
        head.push_str(" (inferred)");
    }
    if let Some(c) = v.consequence_of {
        head.push_str(&format!(" (consequence of {})", engine::name(c)));
    }
    out.push(text::cut(&head, width, "…"));
    if v.severity != Severity::Ready {
        wrap(out, &v.cause, "     ", width);
    }
    if v.layer == plane.layer && v.severity < Severity::Progressing {
        plane.evidence.iter().for_each(|e| wrap(out, &fact(e), "     · ", width));
    }
}

fn pool_lines(out: &mut Vec<String>, plane: &Plane) {
    let n = |n: Option<i64>| n.map_or("?".to_string(), |n| n.to_string());
    for p in &plane.pools {
        let kind = p.instance_type.as_deref().map_or(String::new(), |t| format!("  {}", line(t)));
        out.push(format!(
            "   pool {}: {}  {}/{} ({}-{}){kind}",
            line(&p.name),
            p.state.words(),
            n(p.ready),
            n(p.desired),
            n(p.min),
            n(p.max)
        ));
    }
}

fn guest_lines(out: &mut Vec<String>, plane: &Plane, width: usize) {
    if plane.guests.is_empty() {
        return;
    }
    out.push(String::new());
    out.push("Guests".to_string());
    plane.guests.iter().for_each(|g| wrap(out, &format!("{}: {}: {}", g.name, g.state.words(), g.cause), "  ", width));
}

fn coverage_lines(out: &mut Vec<String>, plane: &Plane, width: usize) {
    out.push(format!("coverage: {} of 7 layers", plane.coverage.visible.len()));
    for h in &plane.coverage.hidden {
        wrap(out, &format!("{}: {} ({})", engine::name(h.layer), h.resource, module::reason(h.reason)), "  hidden: ", width);
    }
}

fn fact(e: &Evidence) -> String {
    let place = if e.namespace.is_empty() { e.name.clone() } else { format!("{}/{}", e.namespace, e.name) };
    let path = if e.path.is_empty() { String::new() } else { format!(" {}", e.path) };
    let time = e.time.map_or(String::new(), |t| format!(" ({t})"));
    format!("{} {place}{path}: {}{time}", e.kind, e.value)
}

fn step(n: &NextStep) -> String {
    let who = match n.who {
        Who::Tenant => "tenant",
        Who::ParentTenant => "parent tenant's owner",
        Who::Platform => "platform operator",
        Who::Anyone => "anyone",
    };
    match &n.field {
        Some(f) => format!("[{who}] {} ({f})", n.text),
        None => format!("[{who}] {}", n.text),
    }
}

/// Wraps at blanks; the first line starts with `lead`, the others are indented as far. A word longer than a line is cut.
fn wrap(out: &mut Vec<String>, s: &str, lead: &str, width: usize) {
    let indent = " ".repeat(text::width(lead));
    let room = width.saturating_sub(text::width(lead)).max(20);
    let mut current = String::new();
    let mut first = true;
    let mut flush = |current: &mut String| {
        out.push(format!("{}{}", if first { lead } else { &indent }, current));
        first = false;
        current.clear();
    };
    for word in line(s).split_whitespace() {
        if !current.is_empty() && text::width(&current) + 1 + text::width(word) > room {
            flush(&mut current);
        }
        if !current.is_empty() {
            current.push(' ');
        }
        current.push_str(&text::cut(word, room, "…"));
    }
    if !current.is_empty() {
        flush(&mut current);
    }
}

/// The explanation as Markdown for a ticket: verdict, evidence with paths and times, coverage, versions. Holds no credentials, by construction.
pub fn ticket_markdown(plane: &Plane) -> String {
    let mut out = vec![format!("## {} / {}: {}", md(&plane.namespace), md(&plane.name), headline(plane)), String::new()];
    out.push(format!("- **Severity:** {}", severity(plane.severity)));
    out.push(format!("- **Layer:** {}", engine::name(plane.layer)));
    if let Some(p) = &plane.pool {
        out.push(format!("- **Pool:** {}", md(p)));
    }
    out.push(format!("- **Cause:** {}", md(&plane.cause)));
    if let Some(c) = &plane.class {
        out.push(format!("- **Class:** {}", md(c)));
    }
    out.push(format!("- **Since:** {}", plane.since.map_or("unknown".to_string(), |t| t.to_string())));
    if let Some(v) = &plane.control_plane.version {
        out.push(format!("- **Kubernetes:** {}", md(v)));
    }
    out.push(format!("- **planedeck:** {}", env!("CARGO_PKG_VERSION")));
    section(
        &mut out,
        "Layers",
        plane.layers.iter().map(|v| {
            let of = v.consequence_of.map_or(String::new(), |c| format!(" (consequence of {})", engine::name(c)));
            format!("- {}: **{}**{of}: {}", engine::name(v.layer), v.state, md(&v.cause))
        }),
    );
    section(&mut out, "Evidence", plane.evidence.iter().map(|e| format!("- {}", md(&fact(e)))));
    section(&mut out, "Next", plane.next.iter().map(|n| format!("- {}", md(&step(n)))));
    let hidden =
        plane.coverage.hidden.iter().map(|h| format!("- {}: {} ({})", engine::name(h.layer), h.resource, module::reason(h.reason)));
    section(&mut out, &format!("Coverage: {} of 7 layers", plane.coverage.visible.len()), hidden);
    let mut all = out.join("\n");
    all.push('\n');
    all
}

fn section(out: &mut Vec<String>, title: &str, lines: impl Iterator<Item = String>) {
    let lines: Vec<String> = lines.collect();
    if !lines.is_empty() {
        out.extend([String::new(), format!("### {title}")]);
        out.extend(lines);
    }
}

/// One line in which nothing from the cluster can become markup or a mention.
fn md(s: &str) -> String {
    line(s).chars().fold(String::new(), |mut out, c| {
        if matches!(c, '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '|' | '#' | '@' | '~' | '!') {
            out.push('\\');
        }
        out.push(c);
        out
    })
}
