//! Keys and pasted text: the front overlay first, then a text field, then the screen. Owns who gets a key; what an action does is in [`super::act`].

use super::{
    State, act,
    effect::Effect,
    overlays::{Overlay, picker::Purpose},
    screens::{Screen, editor},
    table_of_mut,
};
use crate::keys::{Action, Chord, Context};

/// One key press.
pub fn key(state: &mut State, chord: &Chord, effects: &mut Vec<Effect>) {
    let context = state.context();
    let action = state.keymap.lookup(context, chord);
    match (action, context) {
        // Words of the palette are separated by blanks; elsewhere the blank marks.
        (Some(Action::Toggle), Context::Picker) if chord.typed().is_some() && !marks(state) => picker_key(state, chord),
        (Some(action), _) => act::run(state, action, effects),
        (None, Context::Picker) => picker_key(state, chord),
        (None, Context::Field) => field_key(state, chord),
        (None, _) => {}
    }
}

fn marks(state: &State) -> bool {
    matches!(state.overlays.last(), Some(Overlay::Picker(p)) if p.purpose == Purpose::Namespaces)
}

fn picker_key(state: &mut State, chord: &Chord) {
    if let Some(Overlay::Picker(p)) = state.overlays.last_mut() {
        p.press(chord);
    }
}

fn field_key(state: &mut State, chord: &Chord) {
    match state.screens.last_mut() {
        Some(Screen::Editor(e)) => {
            if let Some(f) = e.field_mut() {
                f.press(chord);
                editor::act::typed(e);
            }
        }
        Some(Screen::Plane(p)) if p.objects.opened.is_some() => {
            if let Some(o) = &mut p.objects.opened {
                o.press(chord);
            }
        }
        Some(screen) => {
            if let Some(t) = table_of_mut(screen) {
                t.filter.press(chord);
            }
        }
        None => {}
    }
}

/// Pasted text goes into the field in front; where there is none it does nothing, and says so.
pub fn paste(state: &mut State, text: &str) {
    match state.context() {
        Context::Picker => {
            if let Some(Overlay::Picker(p)) = state.overlays.last_mut() {
                p.paste(text);
            }
        }
        Context::Field => match state.screens.last_mut() {
            Some(Screen::Editor(e)) => {
                if let Some(f) = e.field_mut() {
                    f.insert(text);
                    editor::act::typed(e);
                }
            }
            Some(Screen::Plane(p)) if p.objects.opened.is_some() => {
                if let Some(o) = &mut p.objects.opened {
                    o.paste(text);
                }
            }
            Some(screen) => {
                if let Some(t) = table_of_mut(screen) {
                    t.filter.paste(text);
                }
            }
            None => {}
        },
        _ => state.notices.say("pasted text was ignored: nothing here takes text (`/` filters)", state.now),
    }
}
