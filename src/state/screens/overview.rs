//! The overview of one plane as text: layers, evidence under what is broken (under all in the Why view), pools, next steps with who can take them,
//! guests and coverage. The same verdict that `explain` prints. Must not judge.

use crate::{
    model::{
        Time, text,
        verdict::{Evidence, Layer, LayerVerdict, NextStep, Plane, Severity},
    },
    state::{
        doc::{Doc, Role, Span, span},
        words,
    },
};

const INDENT: &str = "      ";

/// The sign of a severity; painting replaces it in ASCII.
pub fn glyph(s: Severity) -> &'static str {
    match s {
        Severity::Blocked => "✖",
        Severity::Failing => "✗",
        Severity::Degraded => "▲",
        Severity::Unknown => "?",
        Severity::Progressing => "◔",
        Severity::Ready => "✔",
    }
}

/// The text for a plane.
pub fn doc(plane: &Plane, why: bool, now: Time, width: u16) -> Doc {
    let mut doc = Doc::new(width);
    headline(&mut doc, plane, now);
    doc.blank();
    for layer in &plane.layers {
        let open = why || (layer.severity != Severity::Ready && layer.consequence_of.is_none() && layer.severity != Severity::Unknown);
        layer_lines(&mut doc, layer, now, open);
    }
    pools(&mut doc, plane);
    next(&mut doc, plane);
    guests(&mut doc, plane);
    coverage(&mut doc, plane);
    doc
}

fn headline(doc: &mut Doc, p: &Plane, now: Time) {
    let mut head = vec![
        span(Role::Sev(p.severity), format!(" {} {}", glyph(p.severity), words::state(p))),
        span(Role::Dim, format!(" ({})", words::severity(p.severity))),
    ];
    if let Some(since) = p.since {
        head.push(span(Role::Dim, format!(" · {}", words::ago(since, now))));
    }
    doc.line(head);
    if !p.cause.is_empty() {
        let role = if p.severity == Severity::Ready { Role::Dim } else { Role::Strong };
        doc.wrapped(vec![span(Role::Normal, "   ")], role, &p.cause);
    }
}

fn layer_lines(doc: &mut Doc, l: &LayerVerdict, now: Time, open: bool) {
    let name = match &l.pool {
        Some(pool) => format!(" {} {}", words::layer(l.layer), text::line(pool)),
        None => format!(" {}", words::layer(l.layer)),
    };
    let quiet = l.severity == Severity::Ready || l.consequence_of.is_some();
    let mut head = vec![
        span(if quiet { Role::Normal } else { Role::Strong }, format!("{name:<21}")),
        span(Role::Sev(l.severity), format!("{} {}", glyph(l.severity), l.state.words())),
    ];
    if let Some(since) = l.since {
        head.push(span(Role::Dim, format!(" · {}", words::ago(since, now))));
    }
    if let Some(of) = l.consequence_of {
        head.push(span(Role::Dim, format!("  follows from {}", words::layer(of))));
    }
    if l.inferred {
        head.push(span(Role::Dim, "  inferred"));
    }
    doc.line(head);
    if !open {
        return;
    }
    if !l.cause.is_empty() {
        doc.wrapped(vec![span(Role::Normal, INDENT)], Role::Normal, &l.cause);
    }
    l.evidence.iter().for_each(|e| evidence(doc, e, now));
    l.next.iter().for_each(|n| step(doc, n));
}

fn evidence(doc: &mut Doc, e: &Evidence, now: Time) {
    let when = e.time.map(|t| format!(" · {}", words::ago(t, now))).unwrap_or_default();
    let head = vec![span(Role::Dim, format!("{INDENT}{} {}  {}{when}", e.kind, e.name, e.path))];
    doc.line(head);
    doc.wrapped(vec![span(Role::Normal, format!("{INDENT}  "))], Role::Normal, &e.value);
}

fn step(doc: &mut Doc, n: &NextStep) {
    let head = vec![span(Role::Accent, format!("{INDENT}→ "))];
    doc.wrapped(head, Role::Normal, &format!("{} ({})", text::line(&n.text), words::who(n.who)));
}

fn pools(doc: &mut Doc, p: &Plane) {
    if p.pools.is_empty() {
        return;
    }
    doc.blank();
    doc.line(vec![span(Role::Heading, " Pools")]);
    let widest = p.pools.iter().map(|x| text::width(&text::line(&x.name))).max().unwrap_or(0).min(24);
    for pool in &p.pools {
        let severity = pool.state.severity();
        let name = text::cut(&text::line(&pool.name), widest, "…");
        let pad = " ".repeat(widest.saturating_sub(text::width(&name)));
        let mut line = vec![
            span(Role::Normal, format!("   {name}{pad}  ")),
            span(Role::Sev(severity), format!("{} {}", glyph(severity), pool.state.words())),
            span(Role::Normal, format!("  {}", words::nodes(pool))),
        ];
        if let Some(t) = &pool.instance_type {
            line.push(span(Role::Dim, format!("  {t}")));
        }
        doc.line(line);
    }
}

fn next(doc: &mut Doc, p: &Plane) {
    // What already stands under its layer needs no second mention.
    let mut rest = p.next.iter().filter(|n| p.layers.iter().all(|l| l.consequence_of.is_some() || !l.next.contains(n))).peekable();
    if rest.peek().is_none() {
        return;
    }
    doc.blank();
    doc.line(vec![span(Role::Heading, " Next")]);
    rest.for_each(|n| step(doc, n));
}

fn guests(doc: &mut Doc, p: &Plane) {
    if p.guests.is_empty() {
        return;
    }
    doc.blank();
    doc.line(vec![span(Role::Heading, " Guests: what lives in this plane")]);
    for g in &p.guests {
        let severity = g.state.severity();
        let head: Vec<Span> = vec![
            span(Role::Sev(severity), format!("   {} {}", glyph(severity), g.state.words())),
            span(Role::Normal, format!("  {}/{}  ", g.namespace, g.name)),
        ];
        doc.wrapped(head, Role::Dim, &g.cause);
    }
}

fn coverage(doc: &mut Doc, p: &Plane) {
    doc.blank();
    let mut line = format!("{} of {} layers", p.coverage.visible.len(), Layer::ALL.len());
    let hidden: Vec<String> = p
        .coverage
        .hidden
        .iter()
        .map(|h| format!("{} {} ({})", words::layer(h.layer).get(..2).unwrap_or_default(), h.resource, words::read_state(h.reason)))
        .collect();
    if !hidden.is_empty() {
        line = format!("{line}; not seen: {}", hidden.join(", "));
    }
    doc.wrapped(vec![span(Role::Dim, " coverage: ")], Role::Dim, &line);
}
