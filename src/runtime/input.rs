//! Terminal events to messages. Owns the mapping; the only file that knows crossterm's keys. Release events and mouse moves are dropped here.

use crossterm::event::{Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers, MouseEvent, MouseEventKind};

use crate::{
    keys::{Chord, KeyName, Mods},
    state::Msg,
};

/// The message behind an event, if it means anything.
pub fn message(event: Event) -> Option<Msg> {
    match event {
        Event::Key(key) => chord(&key).map(Msg::Key),
        Event::Paste(text) => Some(Msg::Paste(text)),
        Event::Resize(columns, rows) => Some(Msg::Resize(columns, rows)),
        Event::FocusGained => Some(Msg::Focus(true)),
        Event::FocusLost => Some(Msg::Focus(false)),
        Event::Mouse(MouseEvent { kind, .. }) => wheel(kind).map(Msg::Key),
    }
}

/// The wheel moves the cursor like the arrows do.
fn wheel(kind: MouseEventKind) -> Option<Chord> {
    match kind {
        MouseEventKind::ScrollDown => Some(Chord::key(KeyName::Down)),
        MouseEventKind::ScrollUp => Some(Chord::key(KeyName::Up)),
        _ => None,
    }
}

fn chord(key: &KeyEvent) -> Option<Chord> {
    if key.kind == KeyEventKind::Release {
        return None;
    }
    let name = match key.code {
        KeyCode::Char(c) => KeyName::Char(c),
        KeyCode::Enter => KeyName::Enter,
        KeyCode::Esc => KeyName::Esc,
        KeyCode::Tab => KeyName::Tab,
        KeyCode::BackTab => KeyName::BackTab,
        KeyCode::Backspace => KeyName::Backspace,
        KeyCode::Delete => KeyName::Delete,
        KeyCode::Insert => KeyName::Insert,
        KeyCode::Up => KeyName::Up,
        KeyCode::Down => KeyName::Down,
        KeyCode::Left => KeyName::Left,
        KeyCode::Right => KeyName::Right,
        KeyCode::Home => KeyName::Home,
        KeyCode::End => KeyName::End,
        KeyCode::PageUp => KeyName::PageUp,
        KeyCode::PageDown => KeyName::PageDown,
        KeyCode::F(n) => KeyName::F(n),
        _ => return None,
    };
    let m = key.modifiers;
    let mods = Mods { ctrl: m.contains(KeyModifiers::CONTROL), alt: m.contains(KeyModifiers::ALT), shift: m.contains(KeyModifiers::SHIFT) };
    Some(Chord::new(name, mods))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn press(code: KeyCode, modifiers: KeyModifiers) -> Option<String> {
        chord(&KeyEvent::new(code, modifiers)).map(|c| c.to_string())
    }

    #[test]
    fn keys_keep_their_names() {
        assert_eq!(press(KeyCode::Char('G'), KeyModifiers::SHIFT).as_deref(), Some("G"));
        assert_eq!(press(KeyCode::Char('a'), KeyModifiers::CONTROL).as_deref(), Some("ctrl-a"));
        assert_eq!(press(KeyCode::Tab, KeyModifiers::SHIFT).as_deref(), Some("backtab"));
        assert_eq!(press(KeyCode::CapsLock, KeyModifiers::NONE), None);
    }

    #[test]
    fn a_release_is_no_press() {
        let mut key = KeyEvent::new(KeyCode::Char('q'), KeyModifiers::NONE);
        key.kind = KeyEventKind::Release;
        assert_eq!(message(Event::Key(key)), None);
    }
}
