//! The access screen: who the server says one is, the credential boundary of each namespace, what may be read and what stays dark without it.
//! Makes text from the access document; must not ask the server and must not judge rights.

use crate::{
    model::{
        Problem,
        access::{Access, Boundary, CREDENTIAL_ROLE, MayRead, NamespaceAccess, RuleAccess},
        verdict::Severity,
    },
    state::{
        doc::{Doc, Role, Scroll, span},
        words,
    },
};

/// Namespaces asked about at once: each costs the server several access reviews.
pub const MOST: usize = 20;

/// The screen.
#[derive(Debug)]
pub struct AccessScreen {
    /// Number of the question; answers to others are dropped.
    pub request: u64,
    /// Namespaces asked about.
    pub asked: Vec<String>,
    /// Namespaces left out, beyond [`MOST`].
    pub left_out: usize,
    /// The answer; `None` while it is awaited.
    pub answer: Option<Result<Box<Access>, Problem>>,
    /// The text.
    pub doc: Doc,
    /// Where one is in it.
    pub scroll: Scroll,
}

impl AccessScreen {
    /// A screen that waits for the answer to `request`, about the first [`MOST`] of these namespaces.
    pub fn new(request: u64, mut namespaces: Vec<String>) -> AccessScreen {
        let left_out = namespaces.len().saturating_sub(MOST);
        namespaces.truncate(MOST);
        AccessScreen { request, asked: namespaces, left_out, answer: None, doc: Doc::default(), scroll: Scroll::default() }
    }

    /// Writes the text for a screen.
    pub fn refresh(&mut self, width: u16, height: usize) {
        let mut doc = Doc::new(width);
        match &self.answer {
            _ if self.asked.is_empty() => {
                doc.wrapped(lead(1), Role::Dim, "no namespace is looked at: choose some with `n`, then come back")
            }
            None => doc.wrapped(lead(1), Role::Dim, "asking the server what this identity may do…"),
            Some(Err(problem)) => {
                for (role, text) in [(Role::Strong, &problem.summary), (Role::Dim, &problem.detail), (Role::Normal, &problem.hint)] {
                    if !text.is_empty() {
                        doc.wrapped(lead(1), role, text);
                    }
                }
            }
            Some(Ok(access)) => write(&mut doc, access, self.left_out),
        }
        self.scroll.fit(doc.lines.len(), height);
        self.doc = doc;
    }

    /// The Roles that would light what is dark, as one YAML stream; `None` when nothing is dark or nothing is known.
    pub fn missing_roles(&self) -> Option<String> {
        let Some(Ok(access)) = &self.answer else { return None };
        let mut documents: Vec<&str> = Vec::new();
        // Several namespaces ask for the same ClusterRole; it is needed once.
        for document in access.namespaces.iter().filter_map(|n| n.missing_role.as_deref()).flat_map(|r| r.split("---\n")) {
            if !documents.contains(&document) {
                documents.push(document);
            }
        }
        (!documents.is_empty()).then(|| documents.join("---\n"))
    }
}

fn lead(columns: usize) -> Vec<crate::state::doc::Span> {
    vec![span(Role::Normal, " ".repeat(columns))]
}

fn write(doc: &mut Doc, access: &Access, left_out: usize) {
    match &access.identity {
        Some(who) => {
            doc.wrapped(vec![span(Role::Dim, " You are  ")], Role::Strong, &who.user);
            if !who.groups.is_empty() {
                doc.wrapped(vec![span(Role::Dim, " Groups   ")], Role::Normal, &who.groups.join(", "));
            }
        }
        None => doc.wrapped(lead(1), Role::Sev(Severity::Unknown), "the server doesn't say who you are"),
    }
    for n in &access.namespaces {
        doc.blank();
        namespace(doc, n);
    }
    if left_out > 0 {
        doc.blank();
        doc.wrapped(lead(1), Role::Dim, &format!("{left_out} more namespaces were not asked about; open a plane and press `a` there"));
    }
}

fn namespace(doc: &mut Doc, n: &NamespaceAccess) {
    let level = n.level.as_ref().map_or("level not known".to_string(), |l| format!("level {l}"));
    doc.line(vec![span(Role::Strong, format!(" {}", n.namespace)), span(Role::Normal, format!("  {level}"))]);
    boundary(doc, &n.boundary);
    matrix(doc, &n.rules);
    if let Some(role) = &n.missing_role {
        doc.blank();
        doc.wrapped(lead(3), Role::Heading, "What to ask for: the smallest role that lights what is dark (y copies it)");
        role.lines().for_each(|l| doc.line(vec![span(Role::Dim, format!("   {l}"))]));
    }
}

fn boundary(doc: &mut Doc, b: &Boundary) {
    let (severity, glyph, words) = match b.may_read {
        MayRead::No => (Severity::Ready, "✔", "closed: the plane's admin credential is out of reach"),
        MayRead::Yes => (Severity::Blocked, "✖", "OPEN: this identity can read the plane's admin credential"),
        MayRead::Unknown => (Severity::Unknown, "?", "unknown: the server didn't answer for the plane's admin credential"),
    };
    doc.wrapped(vec![span(Role::Sev(severity), format!("   {glyph} "))], Role::Sev(severity), &format!("boundary {words}"));
    // The Secret is named once; the answers call it "it".
    let how = b.how.replace(&format!("secrets/{}", b.secret), "it");
    doc.wrapped(lead(5), Role::Dim, &format!("secret {}; {how}", b.secret));
    if b.may_read == MayRead::Yes {
        let advice = format!(
            "who reads it is cluster-admin of the plane; the Role {CREDENTIAL_ROLE} usually grants it, and the platform's operators can close it"
        );
        doc.wrapped(vec![span(Role::Accent, "     → ")], Role::Normal, &advice);
    }
}

/// What is not allowed comes first: that is what one opens the screen for.
fn matrix(doc: &mut Doc, rules: &[RuleAccess]) {
    let resources = by_resource(rules);
    let is_lit = |r: &[&RuleAccess]| r.iter().all(|v| v.allowed == Some(true));
    let (lit, dark): (Vec<_>, Vec<_>) = resources.iter().partition(|r| is_lit(r));
    for (title, list) in [("Not allowed, or not in full", dark), ("Allowed", lit)] {
        if list.is_empty() {
            continue;
        }
        doc.blank();
        doc.line(vec![span(Role::Heading, format!("   {title} ({})", list.len()))]);
        list.into_iter().for_each(|r| resource(doc, r));
    }
}

/// Rows of one resource together, in the table's order.
fn by_resource(rules: &[RuleAccess]) -> Vec<Vec<&RuleAccess>> {
    let mut out: Vec<Vec<&RuleAccess>> = Vec::new();
    for r in rules {
        let same = |have: &&mut Vec<&RuleAccess>| have.first().is_some_and(|h| (&h.group, &h.resource) == (&r.group, &r.resource));
        match out.iter_mut().find(same) {
            Some(have) => have.push(r),
            None => out.push(vec![r]),
        }
    }
    out
}

fn resource(doc: &mut Doc, verbs: &[&RuleAccess]) {
    let Some(first) = verbs.first() else { return };
    let name = if first.group.is_empty() { first.resource.clone() } else { format!("{}.{}", first.resource, first.group) };
    let mut head = vec![span(Role::Normal, "   ")];
    for (allowed, glyph, severity) in
        [(Some(true), "✔", Severity::Ready), (Some(false), "✖", Severity::Blocked), (None, "?", Severity::Unknown)]
    {
        let these: Vec<&str> = verbs.iter().filter(|v| v.allowed == allowed).map(|v| v.verb.as_str()).collect();
        if !these.is_empty() {
            head.push(span(Role::Sev(severity), format!("{glyph} {}  ", these.join(" "))));
        }
    }
    doc.wrapped(head, Role::Normal, &name);
    let mut uses: Vec<&str> = Vec::new();
    verbs.iter().for_each(|v| {
        if !uses.contains(&v.used_for.as_str()) {
            uses.push(&v.used_for);
        }
    });
    let layer = first.layer.map(|l| format!("{} · ", words::layer(l))).unwrap_or_default();
    doc.wrapped(lead(5), Role::Dim, &format!("{layer}{}", uses.join("; ")));
}
