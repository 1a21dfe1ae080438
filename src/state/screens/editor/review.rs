//! The edit against the plane as just read: conflicts, effect, and the patch exactly as it would be sent. Owns the merge in progress and its
//! text; must not send anything.

use serde_json::Value;

use crate::{
    model::text,
    nodegroups::{
        Groups,
        draft::PlaneKey,
        finding::{self, Finding, Severity},
        forecast::Forecast,
        merge::{Choice, Merge},
        patch::{self, MadeReal, Op},
        path,
    },
    state::{
        doc::{Doc, Role, Scroll, span},
        field::TextField,
        geometry::Geometry,
    },
};

use super::{Known, view};

/// What would be written.
#[derive(Debug, Clone)]
pub struct Plan {
    /// `nodeGroups` as meant after it.
    pub after: Groups,
    /// The patch.
    pub ops: Vec<Op>,
    /// What it does to machines.
    pub forecast: Forecast,
    /// Findings of the values after it.
    pub findings: Vec<Finding>,
    /// What any patch makes real besides.
    pub made_real: Vec<MadeReal>,
}

/// A review.
#[derive(Debug)]
pub struct Review {
    /// The plane as just read.
    pub object: Value,
    /// Its node groups.
    pub live: Groups,
    /// My edit and the live one.
    pub merge: Merge,
    /// Conflict under the cursor.
    pub at: usize,
    /// What would be written, with live values where conflicts are open; or why nothing can be.
    pub plan: Result<Plan, String>,
    /// The name being typed to confirm.
    pub confirm: Option<TextField>,
    /// Why saving is locked.
    pub lock: Option<String>,
    /// The text.
    pub doc: Doc,
    /// Where one is in it.
    pub scroll: Scroll,
    /// The map as stored, where the release shows it.
    stored: Option<Groups>,
}

impl Review {
    /// Compares an edit with the plane as just read.
    pub fn new(object: Value, (base, mine): (&Groups, &Groups), known: &Known) -> Review {
        let live = super::groups(&object);
        let merge = Merge::new(base, mine, &live);
        let mut review = Review {
            object,
            live,
            merge,
            at: 0,
            plan: Err(String::new()),
            confirm: None,
            lock: None,
            doc: Doc::default(),
            scroll: Scroll::default(),
            stored: known.context.previous.clone(),
        };
        review.plan(known);
        review
    }

    /// Decides the conflict under the cursor and goes to the next open one.
    pub fn choose(&mut self, choice: Choice, known: &Known) {
        self.merge.choose(self.at, choice);
        self.next();
        self.plan(known);
    }

    /// To the next open conflict, or the next one.
    pub fn next(&mut self) {
        let all = self.merge.conflicts();
        let after = (0..all.len()).map(|i| (self.at + 1 + i) % all.len().max(1));
        let open = after.clone().find(|i| all.get(*i).is_some_and(|c| c.choice.is_none()));
        self.at = open.or(after.clone().next()).unwrap_or(0);
    }

    fn plan(&mut self, known: &Known) {
        let after = patch::writable(&self.live, self.merge.preview());
        self.plan = match patch::for_object(&self.object, &after) {
            Err(e) => Err(e.to_string()),
            Ok(ops) => {
                let (findings, forecast) = known.judge(&self.live, &after);
                let made_real = if ops.is_empty() { Vec::new() } else { patch::hidden_made_real(self.stored.as_ref(), &self.live) };
                Ok(Plan { after, ops, forecast, findings, made_real })
            }
        };
    }

    /// What stands in the way of writing; `None` when nothing does.
    pub fn obstacle(&self) -> Option<String> {
        if let Some(lock) = &self.lock {
            return Some(format!("won't save: {lock}"));
        }
        let open = self.merge.open();
        if open > 0 {
            return Some(format!("{open} conflict{} to decide first: m mine, t theirs, b base", if open == 1 { "" } else { "s" }));
        }
        let plan = match &self.plan {
            Err(why) => return Some(why.clone()),
            Ok(plan) => plan,
        };
        if plan.ops.is_empty() {
            return Some("nothing to write: the plane already reads like this".to_string());
        }
        let errors = plan.findings.iter().filter(|f| f.severity == Severity::Error).count()
            + plan.forecast.notices.iter().filter(|n| n.severity == "error").count();
        (errors > 0).then(|| format!("{errors} error{}: the platform would refuse this", if errors == 1 { "" } else { "s" }))
    }

    /// True when the plane's name has to be typed.
    pub fn is_destructive(&self) -> bool {
        self.plan.as_ref().is_ok_and(|p| p.forecast.is_destructive())
    }

    /// Writes the text anew.
    pub fn refresh(&mut self, key: &PlaneKey, g: Geometry) {
        self.doc = doc(self, key, g.width);
        self.scroll.fit(self.doc.lines.len(), g.text());
    }
}

fn doc(r: &Review, key: &PlaneKey, width: u16) -> Doc {
    let mut doc = Doc::new(width);
    let plane = format!("{}/{}", key.namespace, r.object.pointer("/metadata/name").and_then(Value::as_str).unwrap_or("computeplane"));
    let to = format!("Write to {plane} in context {} ({})", key.context, key.server);
    doc.wrapped(vec![span(Role::Normal, " ")], Role::Strong, &to);
    confirmation(r, &plane, &mut doc);
    doc.blank();
    conflicts(r, &mut doc);
    let Ok(plan) = &r.plan else { return doc };
    if plan.ops.is_empty() {
        return doc;
    }
    heading(&mut doc, "What happens");
    let effects = view::effects(&plan.forecast);
    if effects.is_empty() {
        doc.line(vec![span(Role::Dim, "  nothing happens to machines")]);
    }
    effects.iter().for_each(|(role, text)| doc.wrapped(vec![span(Role::Normal, "  ")], *role, text));
    heading(&mut doc, "Changes");
    let shown = |v: &Option<Value>| v.as_ref().map_or_else(|| "unset".to_string(), finding::show);
    for d in path::differences(&r.live, &plan.after) {
        doc.wrapped(
            vec![span(Role::Normal, format!("  {}: ", d.path.dotted()))],
            Role::Normal,
            &format!("{} → {}", shown(&d.old), shown(&d.new)),
        );
    }
    for m in plan.made_real.iter().filter(|m| m.id != "G-REQ") {
        let word = if m.certain { "becomes real" } else { "may become real" };
        let text = format!("{}: {word} as {}", m.path.dotted(), finding::show(&m.shown));
        doc.wrapped(vec![span(Role::Normal, "  ▲ ")], view::sign(Severity::Warning).1, &text);
    }
    if !plan.findings.is_empty() {
        heading(&mut doc, "Findings");
        plan.findings.iter().for_each(|f| {
            doc.line(vec![span(Role::Normal, format!("  {}", text::line(&f.path)))]);
            view::found(&mut doc, f);
        });
    }
    heading(&mut doc, "Patch, as sent");
    for op in &plan.ops {
        doc.wrapped(vec![span(Role::Normal, "  ")], Role::Dim, &serde_json::to_string(op).unwrap_or_default());
    }
    doc
}

fn heading(doc: &mut Doc, s: &str) {
    doc.line(vec![span(Role::Heading, format!(" {s}"))]);
}

fn confirmation(r: &Review, plane: &str, doc: &mut Doc) {
    let head = |s: &str| vec![span(Role::Accent, s)];
    if let Some(field) = &r.confirm {
        doc.wrapped(head(" "), Role::Strong, &format!("machines are destroyed: type {plane} and press enter, esc goes back"));
        doc.line(vec![span(Role::Accent, " > "), span(Role::Strong, field.text())]);
        return;
    }
    match r.obstacle() {
        Some(why) => doc.wrapped(head(" ■ "), Role::Accent, &why),
        None if r.is_destructive() => {
            let says = match r.plan.as_ref().ok().and_then(|p| p.forecast.destroyed()) {
                Some(n) => format!("{n} machine{} will be destroyed: W asks for the plane's name first", if n == 1 { "" } else { "s" }),
                None => "machines may be destroyed, how many is unknown: W asks for the plane's name first".to_string(),
            };
            doc.wrapped(head(" ▲ "), view::sign(Severity::Warning).1, &says);
        }
        None => doc.wrapped(head(" → "), Role::Normal, "W writes it; no machine is destroyed"),
    }
}

fn conflicts(r: &Review, doc: &mut Doc) {
    let all = r.merge.conflicts();
    if all.is_empty() {
        return;
    }
    heading(doc, "Conflicts: somebody else changed the same field");
    let shown = |v: &Option<Value>| v.as_ref().map_or_else(|| "unset".to_string(), finding::show);
    for (i, c) in all.iter().enumerate() {
        let mark = if i == r.at { " ▌" } else { "  " };
        let chosen = match &c.choice {
            None => "open",
            Some(Choice::Mine) => "mine",
            Some(Choice::Theirs) => "theirs",
            Some(Choice::Base) => "base",
            Some(Choice::Typed(_)) => "typed",
        };
        doc.line(vec![span(Role::Accent, mark), span(Role::Strong, c.path.dotted()), span(Role::Accent, format!("  {chosen}"))]);
        let values = format!("mine {} · theirs {} · base {}", shown(&c.mine), shown(&c.theirs), shown(&c.base));
        doc.wrapped(vec![span(Role::Normal, "    ")], Role::Normal, &values);
    }
}
