//! From the review to a verified write. Owns what is asked for and how answers are read; a patch is sent once and never repeated. Whatever comes
//! back, the draft stays until the platform holds its values.

use serde_json::Value;

use crate::{
    keys::Action,
    model::{Problem, Time},
    nodegroups::{
        Groups,
        forecast::PoolForecast,
        merge::Choice,
        rollout::{Observation, Rollout},
        settled::{self, Deviation, Settled, Written},
    },
    state::{State, effect::Effect, field::TextField, msg::Wrote, observe, screens::Screen},
};

use super::{Editor, Stage, act, groups, review::Review, rolling::Rolling};

/// A patch on its way.
#[derive(Debug)]
pub struct Sent {
    /// Node groups as read just before.
    pub before: Groups,
    /// Node groups as meant after.
    pub desired: Groups,
    /// When.
    pub at: Time,
    /// What it does to each pool.
    pub pools: Vec<PoolForecast>,
    /// How the world stood.
    pub baseline: Observation,
    /// The review it came from.
    pub review: Review,
}

fn editor(state: &mut State) -> Option<&mut Editor> {
    match state.screens.last_mut() {
        Some(Screen::Editor(e)) => Some(e),
        _ => None,
    }
}

/// Reads the plane again for a review.
pub fn read_again(state: &mut State, effects: &mut Vec<Effect>) {
    state.counters.request += 1;
    let request = state.counters.request;
    let Some(e) = editor(state) else { return };
    e.request = request;
    e.stage = Stage::Reading;
    effects.push(Effect::Fetch { request, object: e.object.clone() });
}

/// The plane was read for a review; false when nobody waits for it.
pub fn fetched(state: &mut State, request: u64, result: &Result<Box<Value>, Problem>) -> bool {
    let lock = act::lock(state);
    let found = state.screens.iter_mut().find_map(|s| match s {
        Screen::Editor(e) if e.request == request && matches!(e.stage, Stage::Reading) => Some(e),
        _ => None,
    });
    let Some(e) = found else { return false };
    match result {
        Ok(object) => {
            let uid = object.pointer("/metadata/uid").and_then(Value::as_str).unwrap_or_default();
            let other = uid != e.key.uid;
            let mut review = Review::new((**object).clone(), (&e.base, &e.mine), &e.known);
            review.lock = lock.or_else(|| other.then(|| "the plane was made anew since this edit began".to_string()));
            e.stage = Stage::Review(Box::new(review));
        }
        Err(problem) => {
            e.stage = Stage::Form;
            state.notices.keep(format!("the plane could not be read again: {problem}; the draft is kept"));
        }
    }
    true
}

/// Keys of review and rollout.
pub fn run(state: &mut State, action: Action, effects: &mut Vec<Effect>) -> bool {
    let page = isize::from(i16::try_from(crate::state::geometry::divide(state.size).text()).unwrap_or(1)).max(1);
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
    let Some(e) = editor(state) else { return false };
    if let Some(by) = by {
        match &mut e.stage {
            Stage::Review(r) => r.scroll.go(by),
            Stage::Rolling(r) => r.scroll.go(by),
            Stage::Yaml(s) => s.scroll.go(by),
            _ => {}
        }
        return true;
    }
    match (&mut e.stage, action) {
        (Stage::Review(r), Action::TakeMine) => r.choose(Choice::Mine, &e.known),
        (Stage::Review(r), Action::TakeTheirs) => r.choose(Choice::Theirs, &e.known),
        (Stage::Review(r), Action::TakeBase) => r.choose(Choice::Base, &e.known),
        (Stage::Review(r), Action::NextConflict) => r.next(),
        (Stage::Review(_), Action::Review) => read_again(state, effects),
        (Stage::Review(_), Action::Write) => ask(state, effects),
        (Stage::Review(_) | Stage::Yaml(_), Action::Back) => e.stage = Stage::Form,
        (Stage::Writing(_), Action::Back) => {
            let now = state.now;
            state.notices.say("the patch is on its way; its answer is waited for", now);
        }
        (Stage::Rolling(r), Action::PutBack) => {
            let before = r.rollout.edit().before.clone();
            e.stage = Stage::Form;
            e.change(before);
            let now = state.now;
            state.notices.say("the values from before are open as a draft; nothing is written yet", now);
        }
        _ => return false,
    }
    true
}

/// The last question: only what destroys machines asks for the plane's name.
fn ask(state: &mut State, effects: &mut Vec<Effect>) {
    // The lock may have been closed, or the plane deleted, since the review was opened.
    let lock = act::lock(state);
    let now = state.now;
    let Some(e) = editor(state) else { return };
    let Stage::Review(r) = &mut e.stage else { return };
    r.lock = lock.or(r.lock.take());
    if let Some(why) = r.obstacle() {
        return state.notices.say(why, now);
    }
    if r.is_destructive() {
        r.confirm = Some(TextField::default());
        r.scroll.go(-isize::MAX);
        return;
    }
    send(state, effects);
}

/// Keys while the name is typed.
pub fn confirming(state: &mut State, action: Action, effects: &mut Vec<Effect>) -> bool {
    let now = state.now;
    let Some(e) = editor(state) else { return false };
    let wanted = format!("{}/{}", e.key.namespace, e.object.name);
    let Stage::Review(r) = &mut e.stage else { return false };
    match action {
        Action::Back => r.confirm = None,
        Action::Accept if r.confirm.as_ref().is_some_and(|f| f.text().trim() == wanted) => {
            r.confirm = None;
            send(state, effects);
        }
        Action::Accept => state.notices.say(format!("that is not {wanted}: nothing was written"), now),
        Action::Up | Action::Down | Action::Complete => {}
        _ => return false,
    }
    true
}

fn send(state: &mut State, effects: &mut Vec<Effect>) {
    let now = state.now;
    let lock = act::lock(state);
    let seen = match (state.screens.last(), state.sphere()) {
        (Some(Screen::Editor(e)), Some(s)) => observe::observe(&s.world, &e.key.namespace, e.known.layout, now),
        _ => return,
    };
    state.counters.request += 1;
    let request = state.counters.request;
    let connected = (state.session.current.name.clone(), state.session.current.server.clone());
    let Some(e) = editor(state) else { return };
    let there = (e.key.context.clone(), e.key.server.clone());
    let Stage::Review(r) = std::mem::replace(&mut e.stage, Stage::Form) else { return };
    let plan = match (&r.plan, lock.or_else(|| r.obstacle())) {
        (Ok(plan), None) if connected == there => plan.clone(),
        // Nothing is sent that the review doesn't stand for.
        _ => {
            e.stage = Stage::Review(r);
            return;
        }
    };
    e.request = request;
    effects.push(Effect::Write { request, object: e.object.clone(), patch: serde_json::to_value(&plan.ops).unwrap_or_default() });
    let before = r.live.clone();
    let sent = Sent { before, desired: plan.after, at: now, pools: plan.forecast.pools, baseline: seen, review: *r };
    e.stage = Stage::Writing(Box::new(sent));
}

/// The answer to a write.
pub fn wrote(state: &mut State, request: u64, outcome: Wrote) {
    let found =
        state.screens.iter().any(|s| matches!(s, Screen::Editor(e) if e.request == request && matches!(e.stage, Stage::Writing(_))));
    if !found {
        let word = match &outcome {
            Wrote::Written(_) => "it was taken".to_string(),
            Wrote::Conflict(_, p) | Wrote::Refused(p) => format!("nothing was written: {p}"),
            Wrote::Unknown(_, p) => format!("no answer came ({p}): look before you write again"),
        };
        return state.notices.keep(format!("the write of an editor that was left: {word}"));
    }
    match outcome {
        Wrote::Written(reads) => written(state, request, &reads),
        Wrote::Conflict(now, p) => conflict(state, request, now, &p),
        Wrote::Refused(p) => {
            back_to_form(state, request);
            state.notices.keep(format!("refused, nothing was written: {p}; the draft is kept"));
        }
        Wrote::Unknown(Some(now), p) if holds(state, request, &now) => {
            state.notices.keep(format!("no answer came ({p}), but reading back shows that it was written"));
            written(state, request, &[*now]);
        }
        Wrote::Unknown(_, p) => {
            back_to_form(state, request);
            state.notices.keep(format!(
                "no answer to the write: {p}; it may or may not have been written: ctrl-s reads the plane again; the draft is kept"
            ));
        }
    }
}

fn waiting(state: &mut State, request: u64) -> Option<&mut Editor> {
    state.screens.iter_mut().find_map(|s| match s {
        Screen::Editor(e) if e.request == request => Some(&mut **e),
        _ => None,
    })
}

fn back_to_form(state: &mut State, request: u64) {
    if let Some(e) = waiting(state, request) {
        e.stage = Stage::Form;
    }
}

fn settle(sent: &Sent, reads: &[Value]) -> Settled {
    let reads: Vec<Groups> = reads.iter().map(groups).collect();
    settled::settle(Written { before: &sent.before, desired: &sent.desired }, &reads.iter().collect::<Vec<_>>())
}

fn holds(state: &mut State, request: u64, now: &Value) -> bool {
    waiting(state, request).is_some_and(|e| match &e.stage {
        Stage::Writing(sent) => {
            matches!(settle(sent, std::slice::from_ref(now)), Settled::Verified | Settled::VerifiedBesides(_))
        }
        _ => false,
    })
}

fn written(state: &mut State, request: u64, reads: &[Value]) {
    let now = state.now;
    // The watch may still show the values from before the write: what was read back is newer.
    if let Some(object) = reads.last().and_then(crate::model::Object::from_value) {
        let key = state.session.key();
        state.store.sphere_mut(&key).world.apply(object);
    }
    let Some(e) = waiting(state, request) else { return };
    let Stage::Writing(sent) = std::mem::replace(&mut e.stage, Stage::Form) else { return };
    let list = |d: &[Deviation]| d.iter().map(|d| d.path.dotted()).collect::<Vec<_>>().join(", ");
    let (held, say) = match settle(&sent, reads) {
        Settled::Verified => (true, "written and verified".to_string()),
        Settled::VerifiedBesides(d) => (true, format!("written and verified; somebody else changed {} meanwhile", list(&d))),
        Settled::OverwroteTheirs(d) => (true, format!("written and verified; somebody else's edit was lost under it: {}", list(&d))),
        Settled::Dropped(d) => (false, format!("the server dropped {}; the draft is kept", list(&d))),
        Settled::Lost(d) => (false, format!("this write was lost to somebody else's in {}; the draft is kept", list(&d))),
        Settled::Unsettled => (false, "the write was answered, but reading back doesn't show it yet; the draft is kept".to_string()),
    };
    if held {
        e.settle_on(reads.last().map(groups).unwrap_or_default());
        let layout = e.known.layout;
        let edit = observe::edit(&sent.baseline, sent.before, sent.desired, &sent.pools, sent.at);
        e.stage = Stage::Rolling(Box::new(Rolling::new(Rollout::new(edit), &e.key.namespace, layout)));
    }
    if say == "written and verified" {
        state.notices.say(say, now);
    } else {
        state.notices.keep(say);
    }
}

fn conflict(state: &mut State, request: u64, now: Option<Box<Value>>, p: &Problem) {
    let lock = act::lock(state);
    let Some(e) = waiting(state, request) else { return };
    e.stage = match now {
        Some(object) => {
            let mut review = Review::new(*object, (&e.base, &e.mine), &e.known);
            review.lock = lock;
            Stage::Review(Box::new(review))
        }
        None => Stage::Form,
    };
    state.notices.keep(format!("the plane moved, nothing was written: {}; this is the edit on what stands there now", p.summary));
}
