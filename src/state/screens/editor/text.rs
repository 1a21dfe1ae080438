//! The draft as YAML: shown, and edited in the person's own editor. Owns the text and the way back from it; a text that can't be taken is kept
//! until one is. Must not touch a file.

use serde_json::{Value, json};

use crate::{
    model::{text, yaml},
    nodegroups::{
        Groups,
        document::{self, Body},
        draft::MAX_BYTES,
        finding::{Finding, Severity},
    },
    state::{
        State,
        doc::{Doc, Role, Scroll, span},
        effect::Effect,
        geometry::Geometry,
        screens::Screen,
    },
};

use super::{Editor, Stage, view};

/// The draft as YAML on screen.
#[derive(Debug, Default)]
pub struct Shown {
    /// The text.
    pub doc: Doc,
    /// Where one is in it.
    pub scroll: Scroll,
}

impl Shown {
    /// Writes the text anew.
    pub fn refresh(&mut self, mine: &Groups, findings: &[Finding], g: Geometry) {
        self.doc = Doc::new(g.width);
        findings.iter().for_each(|f| view::found(&mut self.doc, f));
        for line in body(mine).lines() {
            self.doc.line(vec![span(Role::Normal, format!(" {}", text::line(line)))]);
        }
        self.scroll.fit(self.doc.lines.len(), g.text());
    }
}

/// Opens the draft, or the text that couldn't be taken, in the person's own editor.
pub fn edit(state: &mut State, effects: &mut Vec<Effect>) {
    state.counters.request += 1;
    let request = state.counters.request;
    let Some(Screen::Editor(e)) = state.screens.last_mut() else { return };
    e.request = request;
    let text = match &e.rejected {
        Some(kept) => kept.clone(),
        None => format!("{}{}{}", head(e), remarks(e.findings.iter().map(words)), body(&e.mine)),
    };
    e.outside = Some(text.clone());
    // A review that was being read for is given up: its answer carries another number now and would be waited for in vain.
    e.stage = Stage::Form;
    effects.push(Effect::EditText { request, text });
}

/// The person's editor is done with the text.
pub fn edited(state: &mut State, request: u64, result: Result<Vec<u8>, String>, effects: &mut Vec<Effect>) {
    let now = state.now;
    let found = state.screens.iter_mut().find_map(|s| match s {
        Screen::Editor(e) if e.request == request => e.outside.take().map(|given| (e, given)),
        _ => None,
    });
    let Some((e, given)) = found else { return };
    let bytes = match result {
        Ok(bytes) => bytes,
        Err(why) => return state.notices.keep(format!("the text was not edited: {why}")),
    };
    if bytes == given.as_bytes() || bytes.iter().all(u8::is_ascii_whitespace) {
        return state.notices.say("nothing was changed in the text", now);
    }
    let file = e.text_file();
    match take(&bytes) {
        Ok((groups, notes)) => {
            if e.rejected.take().is_some() {
                effects.push(Effect::SaveDraft(file, None));
            }
            e.change(groups);
            match notes.first() {
                Some(note) => state.notices.keep(note.clone()),
                None => state.notices.say("the text is the draft now; undo goes back", now),
            }
        }
        Err(why) => {
            let kept = with_remarks(&bytes, &why);
            if kept.len() <= MAX_BYTES {
                effects.push(Effect::SaveDraft(file, Some(kept.clone().into_bytes())));
            }
            e.rejected = Some(kept);
            let first = why.into_iter().next().unwrap_or_default();
            state.notices.keep(format!("the text was not taken: {first}; it is kept: E opens it again"));
        }
    }
}

/// A text that was kept by an earlier console was read.
pub fn kept(e: &mut Editor, bytes: &[u8]) {
    e.rejected = Some(String::from_utf8_lossy(bytes).into_owned());
}

/// Node groups of a text, with what is to be said about its reading; or everything that keeps it from being taken.
fn take(bytes: &[u8]) -> Result<(Groups, Vec<String>), Vec<String>> {
    let one = |p: &document::TextProblem| text::line(&format!("{} {}", p.id, p.message));
    let mut documents = document::documents("text", bytes);
    let (Some(d), true) = (documents.pop(), documents.is_empty()) else {
        return Err(vec!["one document is wanted, there are several".to_string()]);
    };
    match d.body {
        Body::Unreadable(problems) => Err(problems.iter().map(one).collect()),
        Body::Values(v) => match v.node_groups {
            Some(Value::Object(map)) => Ok((map, d.notes.iter().map(one).collect())),
            Some(other) => Err(vec![format!("nodeGroups has to be a map of pools, found {}", crate::nodegroups::finding::show(&other))]),
            None => Err(vec!["there is no nodeGroups in it; `nodeGroups: {}` stands for no pool".to_string()]),
        },
    }
}

fn head(e: &Editor) -> String {
    format!(
        "# nodeGroups of {}/{}. Saved text becomes the draft; nothing is written to the cluster from here.\n\
         # An unchanged or empty text changes nothing. Lines that begin with # are left out.\n",
        e.key.namespace, e.object.name
    )
}

fn body(mine: &Groups) -> String {
    yaml::document(&json!({ "nodeGroups": mine }), false)
}

/// What is found, as the screens say it.
fn words(f: &Finding) -> String {
    let severity = match f.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Info => "info",
    };
    format!("{severity} {} {}: {}", f.id, f.path, f.message)
}

/// The mark of a remark: what carries it is written anew each time.
const REMARK: &str = "#! ";

fn remarks(lines: impl Iterator<Item = String>) -> String {
    lines.map(|l| format!("{REMARK}{}\n", text::line(&l))).collect()
}

/// The text with what is wrong on top of it, instead of what was said about an earlier try.
fn with_remarks(bytes: &[u8], why: &[String]) -> String {
    let typed = String::from_utf8_lossy(bytes);
    let typed: String = typed.split_inclusive('\n').filter(|l| !l.starts_with(REMARK)).collect();
    // Line numbers in the remarks are those of the text as it was left: they are said of the text below.
    format!("{}{typed}", remarks(why.iter().map(|w| format!("not taken: {w}"))))
}

/// Shows the draft as YAML.
pub fn show(e: &mut Editor) {
    e.stage = Stage::Yaml(Box::default());
}
