//! What each key does to the draft. Total: what means nothing does nothing, or says why.

use crate::{
    keys::Action,
    model::ObjectRef,
    nodegroups::{Groups, finding, instance_types::Offer, path::FieldPath},
    state::{
        State,
        effect::Effect,
        field::TextField,
        overlays::{
            Overlay,
            picker::{Choice, Item, Picker, Purpose as PickerPurpose},
        },
        screens::Screen,
    },
};

use super::{
    Editor, Input, Pane, Purpose, Stage,
    form::{self, Kind},
    text, write,
};

/// Lines of a page in the form.
const PAGE: isize = 10;

/// Opens the editor on a plane.
pub fn open(state: &mut State, namespace: &str, effects: &mut Vec<Effect>) {
    let info = &state.session.current;
    let opened = state.sphere().and_then(|s| Editor::open(s, namespace, (&info.name, &info.server), state.now));
    let Some(editor) = opened else {
        return state.notices.keep(format!("{namespace}: no ComputePlane has been read there, so there are no pools to edit"));
    };
    effects.push(Effect::LoadDraft(editor.file()));
    effects.push(Effect::LoadDraft(editor.text_file()));
    effects.push(Effect::AskWrite(editor.object.clone()));
    state.screens.push(Screen::Editor(Box::new(editor)));
}

/// Runs an action in the editor; false when it isn't the editor's.
pub fn run(state: &mut State, action: Action, effects: &mut Vec<Effect>) -> bool {
    let Some(Screen::Editor(e)) = state.screens.last_mut() else { return false };
    if e.is_typing() {
        return typing(state, action, effects);
    }
    match (&mut e.stage, action) {
        (Stage::Yaml(_) | Stage::Review(_) | Stage::Writing(_) | Stage::Rolling(_), _) => return write::run(state, action, effects),
        (_, Action::Review) => write::read_again(state, effects),
        (_, Action::EditField) => edit_field(state),
        (_, Action::EditText) => text::edit(state, effects),
        (_, Action::ShowText) => text::show(e),
        (_, Action::Back) => return back(e),
        (_, Action::CopyText) => return false,
        _ => return draft(state, action),
    }
    true
}

fn back(e: &mut Editor) -> bool {
    if e.pane == Pane::Fields {
        e.pane = Pane::Pools;
        return true;
    }
    false
}

fn draft(state: &mut State, action: Action) -> bool {
    let now = state.now;
    let live = live(state);
    let Some(Screen::Editor(e)) = state.screens.last_mut() else { return false };
    let say = match action {
        Action::Up => return go(e, -1),
        Action::Down => return go(e, 1),
        Action::PageUp => return go(e, -PAGE),
        Action::PageDown => return go(e, PAGE),
        Action::First => return go(e, -isize::MAX),
        Action::Last => return go(e, isize::MAX),
        Action::Left => return pane(e, Pane::Pools),
        Action::Right => return pane(e, Pane::Fields),
        Action::OtherPane => return pane(e, if e.pane == Pane::Pools { Pane::Fields } else { Pane::Pools }),
        Action::StepUp => step(e, true),
        Action::StepDown => step(e, false),
        Action::AddPool => name(e, Purpose::Add, ""),
        Action::ClonePool => with_pool(e, Purpose::Clone),
        Action::RenamePool => with_pool(e, Purpose::Rename),
        Action::RemovePool => remove(e),
        Action::ClearField => clear(e),
        Action::Undo => {
            if e.undo() {
                None
            } else {
                Some("nothing to undo".to_string())
            }
        }
        Action::Redo => {
            if e.redo() {
                None
            } else {
                Some("nothing to redo".to_string())
            }
        }
        Action::UndoField => walk(e, true),
        Action::RedoField => walk(e, false),
        Action::KeepSpelling => keep_spelling(e),
        Action::Reset => {
            let live = live.unwrap_or_else(|| e.base.clone());
            e.change_with(live.clone(), live);
            Some("back to the live values; undo brings the draft again".to_string())
        }
        Action::TakeDraft => match e.offer.take() {
            Some(d) => {
                e.take(d);
                Some("the draft is open; undo goes back to what was here".to_string())
            }
            None => Some("no other draft was found".to_string()),
        },
        _ => return false,
    };
    if let Some(say) = say {
        state.notices.say(say, now);
    }
    true
}

/// The node groups as the watch shows them now.
pub fn live(state: &State) -> Option<Groups> {
    let Some(Screen::Editor(e)) = state.screens.last() else { return None };
    let world = &state.sphere()?.world;
    let o = world.get(e.object.kind, &e.object.namespace, &e.object.name)?;
    crate::model::projection::cozystack::App::of(o).map(|a| a.groups())
}

fn go(e: &mut Editor, by: isize) -> bool {
    match e.pane {
        Pane::Pools => {
            e.pool = e.pool.saturating_add_signed(by).min(e.mine.len().saturating_sub(1));
            e.row = 0;
        }
        Pane::Fields => e.row = e.row.saturating_add_signed(by).min(e.rows().len().saturating_sub(1)),
    }
    true
}

fn pane(e: &mut Editor, to: Pane) -> bool {
    e.pane = if e.mine.is_empty() { Pane::Pools } else { to };
    true
}

/// The row under the cursor and its place.
fn under(e: &Editor) -> Option<(form::Row, FieldPath)> {
    let row = e.rows().get(e.row).cloned()?;
    let path = row.path(e.pool_name()?);
    (e.pane == Pane::Fields).then_some((row, path))
}

fn step(e: &mut Editor, up: bool) -> Option<String> {
    let Some((row, path)) = under(e) else { return Some("step keys work on a number: `tab` goes to the fields".into()) };
    if !matches!(row.kind, Kind::Integer | Kind::Quantity) {
        return Some(format!("{} is no number: enter edits it", row.label()));
    }
    let Some(next) = form::step(&row.text, up) else { return Some(format!("{}: no step from here; enter edits it", row.label())) };
    put(e, &path, row.kind, &next);
    None
}

fn walk(e: &mut Editor, back: bool) -> Option<String> {
    let Some((row, path)) = under(e) else { return Some("this works on a field: `tab` goes to the fields".into()) };
    let end = if back { "no earlier value of" } else { "no later value of" };
    (!e.walk(&path, back)).then(|| format!("{end} {} in this draft", row.label()))
}

/// Puts the old text back wherever only the spelling of a value changed.
fn keep_spelling(e: &mut Editor) -> Option<String> {
    let fixes: Vec<_> = e.forecast.pools.iter().flat_map(|p| &p.keep_spelling).cloned().collect();
    if fixes.is_empty() {
        return Some("no field differs in its spelling only".into());
    }
    let mut to = e.mine.clone();
    fixes.iter().for_each(|f| f.path.set(&mut to, f.keep.clone()));
    e.change(to);
    Some(format!("the old spelling stands again in {}", fixes.iter().map(|f| f.path.dotted()).collect::<Vec<_>>().join(", ")))
}

fn put(e: &mut Editor, path: &FieldPath, kind: Kind, text: &str) {
    let mut to = e.mine.clone();
    path.set(&mut to, form::value(kind, text, path.get(&e.mine)));
    e.change(to);
}

fn clear(e: &mut Editor) -> Option<String> {
    let (_, path) = under(e)?;
    if path.keys().len() < 2 {
        return Some("a pool that isn't an object can only be removed".into());
    }
    let mut to = e.mine.clone();
    path.set(&mut to, None);
    e.change(to);
    None
}

fn remove(e: &mut Editor) -> Option<String> {
    let name = e.pool_name()?.to_string();
    let mut to = e.mine.clone();
    to.shift_remove(&name);
    e.change(to);
    Some(format!("{name} is taken out of the draft; undo brings it back"))
}

fn name(e: &mut Editor, purpose: Purpose, text: &str) -> Option<String> {
    e.input = Some(Input { purpose, field: TextField::with(text), before: e.mine.clone() });
    None
}

fn with_pool(e: &mut Editor, purpose: Purpose) -> Option<String> {
    let Some(pool) = e.pool_name().map(str::to_string) else { return Some("there is no pool: `a` adds one".into()) };
    name(e, purpose, &pool)
}

fn edit_field(state: &mut State) {
    let now = state.now;
    let Some(Screen::Editor(e)) = state.screens.last_mut() else { return };
    let Some((row, _)) = under(e) else {
        pane(e, Pane::Fields);
        return;
    };
    match row.kind {
        Kind::Opaque => state.notices.say(format!("{} is kept as it is; `d` takes it out", row.label()), now),
        Kind::InstanceType => {
            let picker = types(e);
            state.overlays.push(Overlay::Picker(Box::new(picker)));
        }
        _ => {
            let text = if row.standing == form::Standing::Written { row.text } else { String::new() };
            e.input = Some(Input { purpose: Purpose::Field, field: TextField::with(text), before: e.mine.clone() });
        }
    }
}

fn types(e: &Editor) -> Picker {
    let names: Vec<String> = match &e.known.offer {
        Offer::Live(names) => names.iter().cloned().collect(),
        Offer::Bundled => crate::nodegroups::instance_types::all().map(|t| t.name.to_string()).collect(),
    };
    let items = names.iter().map(|n| {
        let size = crate::nodegroups::instance_types::stock(n);
        let hint = size.map_or_else(|| "size not known".to_string(), |t| format!("{} vCPU · {}", t.vcpu, t.memory));
        Item::new(Choice::InstanceType(n.clone()), n, hint)
    });
    Picker::new(PickerPurpose::InstanceTypes, items.collect(), Default::default())
}

/// A choice of the picker lands in the field it was opened for.
pub fn chosen(state: &mut State, name: &str) {
    let Some(Screen::Editor(e)) = state.screens.last_mut() else { return };
    if let Some((row, path)) = under(e).filter(|(r, _)| r.kind == Kind::InstanceType) {
        put(e, &path, row.kind, name);
    }
}

/// Every key of a text is judged at once; the way back to before its first key is one step.
pub fn typed(e: &mut Editor) {
    let Some(input) = e.input.as_ref().filter(|i| i.purpose == Purpose::Field) else { return };
    let (text, before) = (input.field.text().to_string(), input.before.clone());
    if let Some((row, path)) = under(e) {
        let mut to = before.clone();
        path.set(&mut to, form::value(row.kind, &text, path.get(&before)));
        e.mine = to;
    }
}

fn typing(state: &mut State, action: Action, effects: &mut Vec<Effect>) -> bool {
    let now = state.now;
    let Some(Screen::Editor(e)) = state.screens.last_mut() else { return false };
    if matches!(e.stage, Stage::Review(_)) {
        return write::confirming(state, action, effects);
    }
    match action {
        Action::AcceptAndReview => {
            if let Some(why) = finish(e) {
                state.notices.say(why, now);
            } else {
                write::read_again(state, effects);
            }
        }
        Action::Accept => {
            if let Some(why) = finish(e) {
                state.notices.say(why, now);
            }
        }
        Action::Up | Action::Down | Action::Complete if e.input.as_ref().is_some_and(|i| i.purpose == Purpose::Field) => {
            finish(e);
            go(e, if action == Action::Up { -1 } else { 1 });
        }
        Action::Back => {
            if let Some(input) = e.input.take() {
                e.mine = input.before;
            }
        }
        Action::Up | Action::Down | Action::Complete => {}
        _ => return false,
    }
    true
}

/// Ends typing; says why when it can't.
fn finish(e: &mut Editor) -> Option<String> {
    let input = e.input.take()?;
    let typed = input.field.text().trim().to_string();
    if input.purpose == Purpose::Field {
        let to = std::mem::replace(&mut e.mine, input.before);
        e.change(to);
        return None;
    }
    let old = e.pool_name().map(str::to_string);
    if input.purpose == Purpose::Rename && old.as_deref() == Some(typed.as_str()) {
        return None;
    }
    if typed.is_empty() || e.mine.contains_key(&typed) {
        let why = if typed.is_empty() { "a pool needs a name".to_string() } else { format!("there is a pool {typed} already") };
        e.input = Some(input);
        return Some(why);
    }
    let mut to = Groups::new();
    match (input.purpose, old) {
        (Purpose::Rename, Some(old)) => {
            // In its old place: only the name moves.
            to.extend(e.mine.iter().map(|(k, v)| (if *k == old { typed.clone() } else { k.clone() }, v.clone())));
        }
        (Purpose::Clone, Some(old)) => {
            to = e.mine.clone();
            let copy = e.mine.get(&old).cloned().unwrap_or_default();
            to.insert(typed.clone(), copy);
        }
        _ => {
            to = e.mine.clone();
            to.insert(typed.clone(), serde_json::Value::Object(Groups::new()));
        }
    }
    let at = to.keys().position(|k| *k == typed).unwrap_or(0);
    e.change(to);
    (e.pool, e.row, e.pane) = (at, 0, Pane::Fields);
    None
}

/// A draft's file was read.
pub fn draft_loaded(state: &mut State, name: &str, result: Result<Option<Vec<u8>>, String>) {
    let now = state.now;
    let found = state.screens.iter_mut().find_map(|s| match s {
        Screen::Editor(e) if e.file() == name || e.text_file() == name => Some(e),
        _ => None,
    });
    let Some(e) = found else { return };
    let loaded = match result {
        Ok(None) => return,
        Ok(Some(bytes)) if e.text_file() == name => {
            text::kept(e, &bytes);
            return state.notices.keep("a text that could not be taken is kept: `E` opens it");
        }
        Ok(Some(bytes)) => e.loaded(&bytes),
        Err(why) => Err(why),
    };
    let offered = e.offer.is_some();
    match loaded {
        Ok(at) => {
            let age = at.map(|t| crate::state::words::ago(t, now)).unwrap_or_default();
            let what = if offered { "was found: `o` opens it" } else { "is open: `X` goes back to the live values" };
            state.notices.say(format!("a draft ({age}) {what}"), now);
        }
        Err(why) => state.notices.keep(format!("{}; it is kept, and this edit is not kept on disk", finding::show(&why.into()))),
    }
}

/// Keeps drafts on disk: called after every message.
pub fn keep(state: &mut State, effects: &mut Vec<Effect>) {
    let now = state.now;
    let mut failed = None;
    for s in &mut state.screens {
        if let Screen::Editor(e) = s {
            match e.unsaved(now) {
                Ok(Some(bytes)) => effects.push(Effect::SaveDraft(e.file(), bytes)),
                Ok(None) => {}
                Err(why) => failed = Some(why),
            }
        }
    }
    if let Some(why) = failed {
        state.notices.keep(format!("the draft is not kept on disk: {why}"));
    }
}

/// Why nothing can be saved now, if so.
pub fn lock(state: &State) -> Option<String> {
    let Some(Screen::Editor(e)) = state.screens.last() else { return None };
    if state.settings.read_only || state.session.current.read_only {
        return Some("read-only mode".to_string());
    }
    let Some(world) = state.sphere().map(|s| &s.world) else { return Some("not connected".to_string()) };
    match world.get(e.object.kind, &e.object.namespace, &e.object.name) {
        None => Some("the plane isn't there any more".to_string()),
        Some(o) if o.meta.deleted.get().is_some() => Some("the plane is being deleted".to_string()),
        Some(o) if o.meta.uid.to_string() != e.key.uid => Some("the plane was made anew: this edit began on its predecessor".to_string()),
        Some(_) => e.refused.clone(),
    }
}

/// The server's answer to whether this identity may write.
pub fn may_write(state: &mut State, object: &ObjectRef, allowed: bool, reason: &str) {
    for s in &mut state.screens {
        let Screen::Editor(e) = s else { continue };
        if e.object == *object {
            let why = if reason.is_empty() { String::new() } else { format!(" ({reason})") };
            e.refused = (!allowed).then(|| format!("no right to patch computeplanes here{why}"));
        }
    }
}
