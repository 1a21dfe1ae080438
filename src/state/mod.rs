//! The console as plain data, and the one function that changes it. Synchronous and total: no I/O, no clock, no panic.
//! [`update`] only routes; what a message means is decided in the parts. Painting reads [`State`] and changes nothing.

pub mod act;
pub mod cursor;
pub mod doc;
pub mod effect;
pub mod facts;
pub mod field;
pub mod filter;
pub mod geometry;
pub mod input;
pub mod judge;
pub mod msg;
pub mod notices;
pub mod observe;
pub mod overlays;
pub mod screens;
pub mod session;
pub mod situation;
pub mod store;
pub mod subscriptions;
pub mod table;
pub mod timeline;
pub mod words;

pub use effect::Effect;
pub use judge::Judge;
pub use msg::{Connected, Msg, Wrote};

use crate::{
    health::deadlines::Deadlines,
    keys::{Context, Keymap},
    model::{Problem, Time},
};
use overlays::Overlay;
use screens::{Screen, requests::Ring};
use session::{Phase, Session};
use store::{Sphere, Store};

/// What the user set, as state needs it.
#[derive(Debug, Clone, Copy, Default)]
pub struct Settings {
    /// Only ASCII reaches the screen.
    pub ascii: bool,
    /// The lock, as set for this process.
    pub read_only: bool,
    /// Patience.
    pub deadlines: Deadlines,
}

/// Numbers kept for their own sake.
#[derive(Debug, Clone, Default)]
pub struct Counters {
    /// Feeds dropped because nothing follows their source any more.
    pub dropped: u64,
    /// Number of the last fetch.
    pub request: u64,
    /// The wake-up asked for last.
    pub wake: Option<Time>,
}

/// Everything the screen shows.
#[derive(Debug)]
pub struct State {
    /// How verdicts are made.
    pub judge: Judge,
    /// What is known, by context.
    pub store: Store,
    /// The connection.
    pub session: Session,
    /// Screens, the front one last; never empty.
    pub screens: Vec<Screen>,
    /// Overlays, the front one last.
    pub overlays: Vec<Overlay>,
    /// What keys mean.
    pub keymap: Keymap,
    /// What the user set.
    pub settings: Settings,
    /// The clock, as last told.
    pub now: Time,
    /// The terminal: columns, rows.
    pub size: (u16, u16),
    /// Messages.
    pub notices: notices::Notices,
    /// The audit trail.
    pub requests: Ring,
    /// Numbers.
    pub counters: Counters,
}

impl State {
    /// A console that has seen nothing yet, at 80x24 until told otherwise.
    pub fn new(judge: Judge, settings: Settings, keymap: Keymap, now: Time) -> State {
        let mut state = State {
            judge,
            store: Store::default(),
            session: Session::new(),
            screens: vec![Screen::Planes(screens::planes::Planes::default())],
            overlays: Vec::new(),
            keymap,
            settings,
            now,
            size: (80, 24),
            notices: notices::Notices::default(),
            requests: Ring::default(),
            counters: Counters::default(),
        };
        refresh(&mut state, &mut Vec::new());
        state
    }

    /// What is known of the context in use.
    pub fn sphere(&self) -> Option<&Sphere> {
        self.store.sphere(&self.session.current.name)
    }

    /// The screen in front.
    pub fn screen(&self) -> Option<&Screen> {
        self.screens.last()
    }

    /// Where keys are pressed now.
    pub fn context(&self) -> Context {
        match self.overlays.last() {
            Some(Overlay::Help(_)) => return Context::Text,
            Some(Overlay::Picker(_)) => return Context::Picker,
            None => {}
        }
        if self.is_typing() { Context::Field } else { self.screen_context() }
    }

    /// Where keys would be pressed without overlay and text field.
    pub fn screen_context(&self) -> Context {
        match self.screen() {
            Some(Screen::Plane(p)) => p.context(),
            Some(Screen::Access(_)) => Context::Access,
            Some(Screen::Editor(e)) => e.context(),
            Some(Screen::Requests(_)) => Context::Requests,
            _ => Context::Planes,
        }
    }

    /// True when a text field of the screen has the keys.
    pub fn is_typing(&self) -> bool {
        match self.screen() {
            Some(Screen::Plane(p)) if p.objects.opened.as_ref().is_some_and(|o| o.finding) => true,
            Some(Screen::Editor(e)) => e.is_typing(),
            Some(screen) => table_of(screen).is_some_and(|t| t.filter.editing),
            None => false,
        }
    }

    /// True when feeds have come in that no verdict reflects yet. [`settle`] before painting.
    pub fn is_unsettled(&self) -> bool {
        self.sphere().is_some_and(Sphere::is_unsettled)
    }

    /// Namespace of the plane that is open.
    pub fn open_plane(&self) -> Option<&str> {
        self.screens.iter().rev().find_map(|s| match s {
            Screen::Plane(p) => Some(&*p.namespace),
            Screen::Editor(e) => Some(e.key.namespace.as_str()),
            _ => None,
        })
    }
}

/// The list in front, if there is one.
pub fn table_of(screen: &Screen) -> Option<&table::Table> {
    match screen {
        Screen::Planes(p) => Some(&p.table),
        Screen::Plane(p) => p.table_ref(),
        Screen::Editor(_) => None,
        Screen::Requests(r) => Some(&r.table),
        Screen::Access(_) => None,
    }
}

/// The same, to be changed.
pub fn table_of_mut(screen: &mut Screen) -> Option<&mut table::Table> {
    match screen {
        Screen::Planes(p) => Some(&mut p.table),
        Screen::Plane(p) => p.table(),
        Screen::Editor(_) => None,
        Screen::Requests(r) => Some(&mut r.table),
        Screen::Access(_) => None,
    }
}

/// Folds one message and says what is to be done.
///
/// A feed is only stored: a thousand of them cost one judgement. The wake-up it answers with (at once), or [`settle`] before the next frame,
/// brings verdicts and rows up to date. Tell the time ([`Msg::Tick`]) before other messages of a turn; nothing here reads a clock.
pub fn update(state: &mut State, msg: Msg) -> Vec<Effect> {
    let mut effects = Vec::new();
    match msg {
        Msg::Feed(feed) => {
            if !state.session.expects(&feed) {
                state.counters.dropped += 1;
                return effects;
            }
            let was = state.is_unsettled();
            state.store.feed(*feed, state.now);
            if !was && state.is_unsettled() {
                effects.push(Effect::WakeAt(state.now));
                state.counters.wake = None;
            }
            return effects;
        }
        Msg::Key(chord) => {
            settle_verdicts(state, Sphere::settle_little);
            input::key(state, &chord, &mut effects);
        }
        Msg::Paste(text) => input::paste(state, &text),
        Msg::Resize(columns, rows) => state.size = (columns, rows),
        Msg::Focus(focused) => focus(state, focused, &mut effects),
        Msg::Tick(now) => {
            state.now = now;
            state.notices.expire(now);
        }
        Msg::Connected(c) => connected(state, *c, &mut effects),
        Msg::ConnectFailed { context, problem } => connect_failed(state, context, problem),
        Msg::Contexts(list) => state.session.offered = list,
        Msg::Fetched { request, result } => fetched(state, request, result),
        Msg::AccessRead { request, result } => access_read(state, request, result),
        Msg::Wrote { request, outcome } => screens::editor::write::wrote(state, request, outcome),
        Msg::MayWrite { object, allowed, reason } => screens::editor::act::may_write(state, &object, allowed, &reason),
        Msg::Edited { request, result } => screens::editor::text::edited(state, request, result, &mut effects),
        Msg::DraftLoaded { name, result } => screens::editor::act::draft_loaded(state, &name, result),
        Msg::Audited { seq, record } => state.requests.record(seq, *record),
        Msg::Copied(Ok(())) => state.notices.say("copied", state.now),
        Msg::Copied(Err(why)) => state.notices.keep(format!("not copied: {why}")),
        Msg::Notice(text) => state.notices.keep(text),
    }
    refresh(state, &mut effects);
    effects
}

/// Brings verdicts, rows and texts up to date with what was fed. Cheap when nothing changed; call it before each frame, and again with the next
/// while [`State::is_unsettled`]: the verdicts of a whole fleet take several.
pub fn settle(state: &mut State) -> Vec<Effect> {
    let mut effects = Vec::new();
    settle_verdicts(state, Sphere::settle);
    refresh(state, &mut effects);
    effects
}

fn settle_verdicts(state: &mut State, settle: fn(&mut Sphere, &Judge, Time, &Deadlines)) {
    let (judge, now, deadlines) = (state.judge, state.now, state.settings.deadlines);
    let key = state.session.key();
    if state.store.sphere(&key).is_some() {
        settle(state.store.sphere_mut(&key), &judge, now, &deadlines);
    }
}

fn refresh(state: &mut State, effects: &mut Vec<Effect>) {
    settle_verdicts(state, Sphere::settle_little);
    let open = state.open_plane().map(str::to_string);
    if let Some(subscribe) = state.session.subscribe(open.as_deref()) {
        let (key, looked_at) = (state.session.key(), state.session.namespaces.clone());
        let wanted = state.session.wanted.clone();
        state.store.sphere_mut(&key).look_at(&looked_at, &wanted);
        settle_verdicts(state, Sphere::settle_little);
        effects.push(subscribe);
    }
    refresh_screens(state);
    screens::editor::act::keep(state, effects);
    if let Some(at) = next_wake(state).filter(|at| state.counters.wake != Some(*at)) {
        state.counters.wake = Some(at);
        effects.push(Effect::WakeAt(at));
    }
}

fn refresh_screens(state: &mut State) {
    let g = geometry::divide(state.size);
    let lock = screens::editor::act::lock(state);
    let State { store, session, screens, overlays, keymap, requests, now, .. } = state;
    let sphere = store.sphere(&session.current.name);
    // Lower screens are made again when they come to the front: only the front one is seen.
    match screens.last_mut() {
        Some(Screen::Planes(p)) => {
            p.refresh(sphere, g.list());
            let refused = sphere.is_some_and(screens::planes::only_refusals);
            let total = if refused { 0 } else { p.table.all.len() };
            let page = (p.table.rows.is_empty() || refused).then(|| situation::of(session, sphere.map(|s| &s.world), total));
            p.page = page.map(|s| situation::page(&s, session, g.width));
        }
        Some(Screen::Plane(p)) => p.refresh(sphere, *now, g),
        Some(Screen::Access(a)) => a.refresh(g.width, g.text()),
        Some(Screen::Editor(e)) => {
            e.lock = lock;
            e.refresh(sphere, *now, g);
        }
        Some(Screen::Requests(r)) => r.table.refresh(requests.revision, g.list(), || requests.rows()),
        None => {}
    }
    for overlay in overlays.iter_mut() {
        match overlay {
            Overlay::Help(h) => h.refresh(keymap, g.width, g.text()),
            Overlay::Picker(p) => p.refresh(g.text().saturating_sub(2)),
        }
    }
}

/// When something on screen changes by time alone: a deadline, an age, a message that leaves. Nothing while nobody looks.
fn next_wake(state: &State) -> Option<Time> {
    if !state.session.focused {
        return None;
    }
    let now = state.now;
    let ages = state.screen().and_then(table_of).into_iter().flat_map(|t| t.window()).flat_map(|r| &r.cells);
    let ages = ages.filter_map(|c| match c {
        table::Cell::Age(t) | table::Cell::Cause(_, t) => *t,
        _ => None,
    });
    let plane = state.open_plane().and_then(|ns| state.sphere()?.plane(ns));
    let in_text = plane.into_iter().flat_map(|p| p.layers.iter().filter_map(|l| l.since).chain(p.since));
    let lost = match state.session.live(state.sphere().map(|s| &s.world)) {
        session::Live::Lost(at, _) => at,
        _ => None,
    };
    let labels = ages.chain(in_text).chain(lost).filter_map(|t| words::next_change(t, now));
    let rolling = match state.screen() {
        Some(Screen::Editor(e)) => match &e.stage {
            // A stage can be told by time alone, and the elapsed time is shown.
            screens::editor::Stage::Rolling(r) if r.is_moving() => now.checked_add(jiff::SignedDuration::from_secs(1)).ok(),
            _ => None,
        },
        _ => None,
    };
    let others = rolling.into_iter().chain(state.notices.next_change()).chain(state.sphere().and_then(|s| s.next_deadline(now)));
    labels.chain(others).filter(|t| *t > now).min()
}

fn focus(state: &mut State, focused: bool, effects: &mut Vec<Effect>) {
    state.session.focused = focused;
    state.counters.wake = None;
    if focused && state.session.has_trouble(state.sphere().map(|s| &s.world)) {
        effects.push(Effect::RetryNow);
    }
}

fn connected(state: &mut State, c: Connected, effects: &mut Vec<Effect>) {
    // Another cluster's plane must not stay open under this one's name.
    if c.info.name != state.session.current.name {
        state.screens.truncate(1);
    }
    for note in &c.info.notes {
        state.notices.keep(note);
    }
    state.session.connected(c);
    act::ask_access_again(state, effects);
}

fn connect_failed(state: &mut State, context: String, problem: Problem) {
    if !context.is_empty() && state.session.current.name != context {
        let known = state.session.offered.iter().find(|o| o.name == context).cloned();
        state.session.current = known.unwrap_or(crate::model::context::ContextInfo { name: context, ..Default::default() });
    }
    state.session.phase = Phase::Failed(problem);
}

fn access_read(state: &mut State, request: u64, result: Result<Box<crate::model::access::Access>, Problem>) {
    let asking = state.screens.iter_mut().find_map(|s| match s {
        Screen::Access(a) if a.request == request => Some(a),
        _ => None,
    });
    if let Some(screen) = asking {
        screen.answer = Some(result);
    }
}

fn fetched(state: &mut State, request: u64, result: Result<Box<serde_json::Value>, Problem>) {
    if screens::editor::write::fetched(state, request, &result) {
        return;
    }
    let opened = state.screens.iter_mut().find_map(|s| match s {
        Screen::Plane(p) => p.objects.opened.as_mut().filter(|o| o.request == request),
        _ => None,
    });
    if let Some(opened) = opened {
        opened.fetched(result);
    }
}
