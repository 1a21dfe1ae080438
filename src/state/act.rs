//! What each action does. Total: an action that means nothing where one is does nothing.

use std::{collections::BTreeSet, sync::Arc};

use super::{
    State,
    effect::Effect,
    geometry,
    overlays::{
        Overlay,
        help::Help,
        picker::{Choice, Item, Picker, Purpose},
    },
    screens::{
        Screen,
        access::AccessScreen,
        editor, objects,
        plane::{PlaneScreen, Tab},
        requests::Requests,
    },
    session::Phase,
    table::{Cell, Table},
    table_of, table_of_mut, words,
};
use crate::{
    keys::{Action, Context},
    model::{Kind, Problem, ProblemKind, context::ContextInfo},
};

/// Columns scrolled by one press to the side.
const SIDEWAYS: usize = 8;

/// Runs one action.
pub fn run(state: &mut State, action: Action, effects: &mut Vec<Effect>) {
    if state.overlays.is_empty() && editor::act::run(state, action, effects) {
        return;
    }
    match action {
        Action::Edit => {
            if let Some(ns) = selected_plane(state) {
                editor::act::open(state, &ns, effects);
            }
        }
        Action::Quit => effects.push(Effect::Quit),
        Action::Suspend => effects.push(Effect::Suspend),
        Action::Retry => {
            effects.push(retry(state));
            ask_access_again(state, effects);
            state.notices.say("asking again", state.now);
        }
        Action::Dismiss => state.notices.dismiss(),
        Action::Back => back(state),
        Action::Home => {
            state.overlays.clear();
            state.screens.truncate(1);
        }
        Action::Help => help(state),
        Action::Palette => palette(state),
        Action::Namespaces => namespaces(state),
        Action::Contexts => contexts(state),
        Action::Access => access(state, effects),
        Action::Requests => {
            if !matches!(state.screen(), Some(Screen::Requests(_))) {
                state.screens.push(Screen::Requests(Requests::default()));
            }
        }
        Action::Accept => accept(state, effects),
        Action::Toggle => {
            if let Some(Overlay::Picker(p)) = state.overlays.last_mut() {
                p.toggle();
            }
        }
        Action::Open => open(state, effects),
        Action::Why => why(state),
        Action::CopyTicket => copy_ticket(state, effects),
        Action::CopyText => copy_text(state, effects),
        _ => in_screen(state, action),
    }
}

/// A context that failed is connected again; sources of a working one are tried again.
fn retry(state: &State) -> Effect {
    match &state.session.phase {
        Phase::Failed(_) => {
            let name = Some(state.session.current.name.clone()).filter(|n| !n.is_empty());
            Effect::Connect { context: name, namespaces: state.session.namespaces.clone() }
        }
        _ => Effect::RetryNow,
    }
}

fn in_screen(state: &mut State, action: Action) {
    let page = isize::try_from(geometry::divide(state.size).list()).unwrap_or(1).max(1);
    let by = match action {
        Action::Up => Some(-1),
        Action::Down => Some(1),
        Action::PageUp => Some(-page),
        Action::PageDown => Some(page),
        Action::HalfUp => Some(-(page / 2).max(1)),
        Action::HalfDown => Some((page / 2).max(1)),
        Action::First => Some(-isize::MAX),
        Action::Last => Some(isize::MAX),
        _ => None,
    };
    match by {
        Some(by) => scroll(state, by),
        None => match state.screens.last_mut() {
            Some(Screen::Plane(p)) => {
                let done = tab(p, action) || sideways(p, action);
                p.table().filter(|_| !done).into_iter().for_each(|t| list(t, action));
            }
            Some(screen) => table_of_mut(screen).into_iter().for_each(|t| list(t, action)),
            None => {}
        },
    }
}

fn scroll(state: &mut State, by: isize) {
    match state.overlays.last_mut() {
        Some(Overlay::Help(h)) => return h.scroll.go(by),
        Some(Overlay::Picker(p)) => return p.go(by),
        None => {}
    }
    match state.screens.last_mut() {
        Some(Screen::Plane(p)) => match (p.tab, &mut p.objects.opened) {
            (Tab::Overview, _) => p.scroll.go(by),
            (Tab::Yaml, Some(o)) => o.scroll.go(by),
            _ => {
                if let Some(t) = p.table() {
                    t.go(by);
                }
            }
        },
        Some(Screen::Access(a)) => a.scroll.go(by),
        Some(screen) => {
            if let Some(t) = table_of_mut(screen) {
                t.go(by);
            }
        }
        None => {}
    }
}

fn tab(p: &mut PlaneScreen, action: Action) -> bool {
    let to = match action {
        Action::NextTab => p.tab.beside(true),
        Action::PrevTab => p.tab.beside(false),
        Action::TabOverview => Tab::Overview,
        Action::TabPools => Tab::Pools,
        Action::TabMachines => Tab::Machines,
        Action::TabEvents => Tab::Events,
        Action::TabTimeline => Tab::Timeline,
        Action::TabYaml => Tab::Yaml,
        _ => return false,
    };
    p.tab = to;
    true
}

fn sideways(p: &mut PlaneScreen, action: Action) -> bool {
    let Some(o) = p.objects.opened.as_mut().filter(|_| p.tab == Tab::Yaml) else { return false };
    match action {
        Action::Left => o.left = o.left.saturating_sub(SIDEWAYS),
        Action::Right => {
            let widest = o.lines().iter().map(|l| crate::model::text::width(l)).max().unwrap_or(0);
            o.left = (o.left + SIDEWAYS).min(widest.saturating_sub(1));
        }
        Action::Find => o.finding = true,
        Action::FindNext => o.next(true),
        Action::FindPrevious => o.next(false),
        _ => return false,
    }
    true
}

fn list(t: &mut Table, action: Action) {
    match action {
        Action::Filter => t.filter.editing = true,
        Action::Sort => t.sort_next(),
        Action::SortReverse => t.sort.reverse = !t.sort.reverse,
        Action::Complete => t.filter.complete(&t.all),
        _ => {}
    }
}

fn back(state: &mut State) {
    if state.overlays.pop().is_some() {
        return;
    }
    match state.screens.last_mut() {
        Some(Screen::Plane(p)) if p.tab == Tab::Yaml && p.objects.opened.is_some() => {
            let finding = p.objects.opened.as_mut().filter(|o| o.finding || !o.find.text().is_empty());
            match finding {
                Some(o) => {
                    o.finding = false;
                    o.find.clear();
                    o.hit = None;
                }
                None => p.objects.opened = None,
            }
            return;
        }
        Some(screen) => {
            if let Some(t) = table_of_mut(screen).filter(|t| t.filter.editing || t.filter.is_set()) {
                return t.filter.close();
            }
        }
        None => {}
    }
    if state.screens.len() > 1 {
        state.screens.pop();
    } else {
        state.notices.say("this is the first screen; `q` leaves", state.now);
    }
}

fn help(state: &mut State) {
    if matches!(state.overlays.last(), Some(Overlay::Help(_))) {
        state.overlays.pop();
        return;
    }
    let context = state.context();
    state.overlays.push(Overlay::Help(Help::new(context)));
}

/// Opens the access screen for the plane in front, else for the namespaces looked at, else for those in which planes were seen.
fn access(state: &mut State, effects: &mut Vec<Effect>) {
    if matches!(state.screen(), Some(Screen::Access(_))) {
        return;
    }
    let names = match state.open_plane() {
        Some(ns) => vec![ns.to_string()],
        None if state.session.all => state.sphere().map(|s| s.planes.keys().map(ToString::to_string).collect()).unwrap_or_default(),
        None => state.session.namespaces.clone(),
    };
    state.screens.push(Screen::Access(Box::new(AccessScreen::new(0, names))));
    ask_access_again(state, effects);
}

/// Asks the server for the access screen in front, if there is one; what is shown stays until the answer comes.
pub fn ask_access_again(state: &mut State, effects: &mut Vec<Effect>) {
    let connected = state.session.phase == Phase::Connected;
    let Some(Screen::Access(a)) = state.screens.last_mut() else { return };
    if a.asked.is_empty() {
        return;
    }
    if !connected {
        let problem = Problem::new(ProblemKind::Unreachable, "no cluster is connected");
        a.answer.get_or_insert(Err(problem));
        return;
    }
    state.counters.request += 1;
    a.request = state.counters.request;
    effects.push(Effect::Access { request: a.request, namespaces: a.asked.clone() });
}

fn selected_plane(state: &State) -> Option<Arc<str>> {
    match state.screen()? {
        Screen::Planes(p) => p.page.is_none().then(|| p.table.selected())?.map(|r| Arc::from(r.key.as_str())),
        Screen::Plane(p) => Some(p.namespace.clone()),
        Screen::Editor(e) => Some(editor::namespace(e)),
        Screen::Access(_) | Screen::Requests(_) => None,
    }
}

fn open(state: &mut State, effects: &mut Vec<Effect>) {
    match state.screens.last_mut() {
        Some(Screen::Planes(_)) => {
            if let Some(ns) = selected_plane(state) {
                go_to_plane(state, ns, false);
            }
        }
        Some(Screen::Plane(p)) if p.tab == Tab::Yaml => {
            let object = p.objects.table.selected().and_then(|r| objects::reference(&r.key, &p.namespace));
            fetch(p, object, &mut state.counters.request, effects);
        }
        Some(Screen::Plane(p)) if p.tab == Tab::Machines => {
            let name = p.machines.selected().and_then(|r| match r.cells.first() {
                Some(Cell::Text(name)) => Some(name.clone()),
                _ => None,
            });
            let object = name.and_then(|n| objects::reference(&format!("{}/{n}", Kind::Machine.resource()), &p.namespace));
            p.tab = Tab::Yaml;
            fetch(p, object, &mut state.counters.request, effects);
        }
        Some(Screen::Plane(p)) if p.tab == Tab::Pools => {
            if let Some(pool) = p.pools.selected().map(|r| r.key.clone()) {
                p.tab = Tab::Machines;
                p.machines.filter.close();
                p.machines.filter.paste(&format!("pool:{pool}"));
            }
        }
        _ => {}
    }
}

fn fetch(p: &mut PlaneScreen, object: Option<crate::model::ObjectRef>, counter: &mut u64, effects: &mut Vec<Effect>) {
    if let Some(object) = object {
        *counter += 1;
        p.objects.opened = Some(objects::Opened::new(object.clone(), *counter));
        effects.push(Effect::Fetch { request: *counter, object });
    }
}

fn go_to_plane(state: &mut State, ns: Arc<str>, why: bool) {
    state.session.recent.retain(|r| *r != ns);
    state.session.recent.insert(0, ns.clone());
    state.session.recent.truncate(9);
    state.screens.truncate(1);
    state.screens.push(Screen::Plane(Box::new(PlaneScreen::new(ns, why))));
}

fn why(state: &mut State) {
    if let Some(Screen::Plane(p)) = state.screens.last_mut() {
        p.why = p.tab != Tab::Overview || !p.why;
        p.tab = Tab::Overview;
    } else if let Some(ns) = selected_plane(state) {
        go_to_plane(state, ns, true);
    }
}

fn copy_ticket(state: &mut State, effects: &mut Vec<Effect>) {
    let plane = selected_plane(state).and_then(|ns| state.sphere()?.plane(&ns).cloned());
    match plane {
        Some(p) => effects.push(Effect::Copy((state.judge.ticket)(&p))),
        None => state.notices.say("nothing to copy: no plane is selected", state.now),
    }
}

fn copy_text(state: &mut State, effects: &mut Vec<Effect>) {
    let text = match state.screen() {
        Some(Screen::Access(a)) => match a.missing_roles() {
            Some(text) => Some(text),
            None => return state.notices.say("nothing to copy: no role is missing, as far as is known", state.now),
        },
        Some(Screen::Plane(p)) if p.tab == Tab::Yaml && p.objects.opened.is_some() => {
            p.objects.opened.as_ref().map(|o| o.lines().join("\n")).filter(|t| !t.is_empty())
        }
        Some(screen) => table_of(screen).and_then(|t| t.selected()).map(|r| row_text(&r.cells)),
        None => None,
    };
    effects.extend(text.map(Effect::Copy));
}

fn row_text(cells: &[Cell]) -> String {
    let words = cells.iter().map(|c| match c {
        Cell::Text(s) | Cell::Number(_, s) | Cell::State(_, s) | Cell::Cause(s, _) => s.clone(),
        Cell::Age(t) => t.map(|t| t.to_string()).unwrap_or_default(),
    });
    words.filter(|w| !w.is_empty()).collect::<Vec<_>>().join("  ")
}

fn accept(state: &mut State, effects: &mut Vec<Effect>) {
    if let Some(Overlay::Picker(p)) = state.overlays.last() {
        let (taken, purpose) = (p.taken(), p.purpose);
        if taken.is_empty() {
            return state.notices.say("nothing fits what is typed", state.now);
        }
        state.overlays.pop();
        return take(state, taken, purpose, effects);
    }
    match state.screens.last_mut() {
        Some(Screen::Plane(p)) if p.tab == Tab::Yaml && p.objects.opened.is_some() => {
            if let Some(o) = &mut p.objects.opened {
                o.finding = false;
            }
        }
        Some(screen) => {
            if let Some(t) = table_of_mut(screen) {
                t.filter.editing = false;
            }
        }
        None => {}
    }
}

fn take(state: &mut State, taken: Vec<Choice>, purpose: Purpose, effects: &mut Vec<Effect>) {
    let mut names = Vec::new();
    for choice in taken {
        match choice {
            Choice::Action(a) => return run(state, a, effects),
            Choice::Plane(ns) => return go_to_plane(state, Arc::from(ns.as_str()), false),
            Choice::AllNamespaces => return look_at(state, Vec::new(), true),
            Choice::Context(name) => return switch(state, name, effects),
            Choice::InstanceType(name) => return editor::act::chosen(state, &name),
            Choice::Namespace(ns) => names.push(ns),
        }
    }
    look_at(state, names, false);
    if purpose == Purpose::Palette {
        state.overlays.clear();
    }
}

fn look_at(state: &mut State, names: Vec<String>, all: bool) {
    state.screens.truncate(1);
    state.session.choose(names, all);
}

fn switch(state: &mut State, name: String, effects: &mut Vec<Effect>) {
    let known = state.session.offered.iter().find(|o| o.name == name).cloned();
    state.session.move_to(known.unwrap_or(ContextInfo { name: name.clone(), ..ContextInfo::default() }));
    state.screens.truncate(1);
    effects.push(Effect::Connect { context: Some(name), namespaces: Vec::new() });
}

fn contexts(state: &mut State) {
    let current = &state.session.current.name;
    let items = state.session.offered.iter().map(|c| {
        let here = if c.name == *current { "in use · " } else { "" };
        Item::new(Choice::Context(c.name.clone()), &c.name, format!("{here}{} · {}", c.server, c.user))
    });
    let picker = Picker::new(Purpose::Contexts, items.collect(), BTreeSet::new());
    state.overlays.push(Overlay::Picker(Box::new(picker)));
}

/// Namespaces one may choose: those connected with, those the tenant list names, and those in which something was seen.
fn known_namespaces(state: &State) -> BTreeSet<String> {
    let mut names: BTreeSet<String> = state.session.known.iter().cloned().collect();
    if let Some(s) = state.sphere() {
        names.extend(s.planes.keys().map(ToString::to_string));
        names.extend(s.world.list(Kind::TenantNamespace, "").map(|o| o.meta.name.to_string()));
    }
    names
}

fn namespaces(state: &mut State) {
    let mut items: Vec<Item> = known_namespaces(state)
        .into_iter()
        .map(|n| {
            let plane = state.sphere().and_then(|s| s.plane(&n)).map(|p| words::state(p)).unwrap_or_default();
            Item::new(Choice::Namespace(n.clone()), &n, plane)
        })
        .collect();
    items.push(Item::new(Choice::AllNamespaces, "all namespaces", "lists over the whole cluster; needs a wide role"));
    let marked = match state.session.all {
        true => BTreeSet::from([Choice::AllNamespaces]),
        false => state.session.namespaces.iter().cloned().map(Choice::Namespace).collect(),
    };
    state.overlays.push(Overlay::Picker(Box::new(Picker::new(Purpose::Namespaces, items, marked))));
}

fn palette(state: &mut State) {
    let context: Context = state.screen_context();
    let mut items: Vec<Item> = Vec::new();
    for ns in &state.session.recent {
        items.push(Item::new(Choice::Plane(ns.to_string()), format!("plane {ns}"), "recent"));
    }
    for info in state.keymap.available(context).iter().filter(|i| !moves(i.action)) {
        let keys: Vec<String> = state.keymap.chords(context, info.action).iter().map(ToString::to_string).collect();
        items.push(Item::new(Choice::Action(info.action), info.doc, format!("{} · {}", keys.join(" "), info.id)));
    }
    if let Some(s) = state.sphere() {
        let others = s.planes.keys().filter(|ns| !state.session.recent.contains(ns));
        items.extend(others.map(|ns| Item::new(Choice::Plane(ns.to_string()), format!("plane {ns}"), "")));
    }
    items.extend(known_namespaces(state).into_iter().map(|n| Item::new(Choice::Namespace(n.clone()), format!("namespace {n}"), "")));
    items
        .extend(state.session.offered.iter().map(|c| Item::new(Choice::Context(c.name.clone()), format!("context {}", c.name), &c.server)));
    state.overlays.push(Overlay::Picker(Box::new(Picker::new(Purpose::Palette, items, BTreeSet::new()))));
}

fn moves(action: Action) -> bool {
    action.info().is_some_and(|i| i.group == crate::keys::Group::Move) || action == Action::Palette
}
