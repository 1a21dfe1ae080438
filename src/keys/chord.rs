//! One key press in a notation of our own (`ctrl-a`, `enter`, `G`, `?`, `f1`), free of any terminal library. Owns parsing and printing;
//! must not know what a chord does.

use std::{fmt, str::FromStr};

/// A key, without its modifiers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs)] // the names on the caps
pub enum KeyName {
    /// A character as typed: `G` is shift and g.
    Char(char),
    Enter,
    Esc,
    Tab,
    /// Shift and Tab.
    BackTab,
    Backspace,
    Delete,
    Insert,
    Up,
    Down,
    Left,
    Right,
    Home,
    End,
    PageUp,
    PageDown,
    /// A function key, 1 to 35.
    F(u8),
}

const NAMES: &[(&str, KeyName)] = &[
    ("enter", KeyName::Enter),
    ("esc", KeyName::Esc),
    ("tab", KeyName::Tab),
    ("backtab", KeyName::BackTab),
    ("backspace", KeyName::Backspace),
    ("delete", KeyName::Delete),
    ("insert", KeyName::Insert),
    ("up", KeyName::Up),
    ("down", KeyName::Down),
    ("left", KeyName::Left),
    ("right", KeyName::Right),
    ("home", KeyName::Home),
    ("end", KeyName::End),
    ("pageup", KeyName::PageUp),
    ("pagedown", KeyName::PageDown),
    ("space", KeyName::Char(' ')),
];

/// Modifiers held down.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs)]
pub struct Mods {
    pub ctrl: bool,
    pub alt: bool,
    /// Dropped for characters, which carry it themselves.
    pub shift: bool,
}

impl Mods {
    /// No modifier.
    pub const NONE: Mods = Mods { ctrl: false, alt: false, shift: false };
    /// Control alone.
    pub const CTRL: Mods = Mods { ctrl: true, alt: false, shift: false };
    /// Alt alone.
    pub const ALT: Mods = Mods { ctrl: false, alt: true, shift: false };
}

/// One key press.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Chord {
    /// The key.
    pub code: KeyName,
    /// Modifiers.
    pub mods: Mods,
    /// The key's character on the base (Latin) layout, where the terminal reports it and it differs.
    pub base: Option<char>,
}

impl Chord {
    /// A chord in its normal form: shift belongs to the character, control takes small letters, shift-tab is backtab.
    pub fn new(code: KeyName, mods: Mods) -> Chord {
        let (mut code, mut mods) = (code, mods);
        match code {
            KeyName::Char(c) => {
                if mods.ctrl {
                    code = KeyName::Char(c.to_ascii_lowercase());
                }
                mods.shift = false;
            }
            KeyName::Tab if mods.shift => code = KeyName::BackTab,
            _ => {}
        }
        if code == KeyName::BackTab {
            mods.shift = false;
        }
        Chord { code, mods, base: None }
    }

    /// A plain character.
    pub fn char(c: char) -> Chord {
        Chord::new(KeyName::Char(c), Mods::NONE)
    }

    /// Control and a character.
    pub fn ctrl(c: char) -> Chord {
        Chord::new(KeyName::Char(c), Mods::CTRL)
    }

    /// A key without modifiers.
    pub fn key(code: KeyName) -> Chord {
        Chord::new(code, Mods::NONE)
    }

    /// Remembers which key of the base layout was pressed, so that bindings work on non-Latin layouts.
    #[must_use]
    pub fn with_base(mut self, base: Option<char>) -> Chord {
        self.base = base.filter(|b| self.code != KeyName::Char(*b));
        self
    }

    /// The chord as the keymap knows it.
    pub fn plain(self) -> Chord {
        Chord { base: None, ..self }
    }

    /// The same press on the base layout, if that is another chord. Only for characters outside ASCII: on a Latin layout the cap is what was meant.
    pub fn on_base_layout(self) -> Option<Chord> {
        match (self.code, self.base) {
            (KeyName::Char(c), Some(base)) if !c.is_ascii() => {
                let base = if c.is_uppercase() { base.to_ascii_uppercase() } else { base };
                Some(Chord::new(KeyName::Char(base), self.mods))
            }
            _ => None,
        }
    }

    /// The character to insert into a text field, if this press types one.
    pub fn typed(self) -> Option<char> {
        match self.code {
            KeyName::Char(c) if !self.mods.ctrl && !self.mods.alt => Some(c),
            _ => None,
        }
    }
}

impl fmt::Display for Chord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (held, name) in [(self.mods.ctrl, "ctrl-"), (self.mods.alt, "alt-"), (self.mods.shift, "shift-")] {
            if held {
                f.write_str(name)?;
            }
        }
        if let Some((name, _)) = NAMES.iter().find(|(_, k)| *k == self.code) {
            return f.write_str(name);
        }
        match self.code {
            KeyName::F(n) => write!(f, "f{n}"),
            KeyName::Char(c) => write!(f, "{c}"),
            _ => Ok(()),
        }
    }
}

impl FromStr for Chord {
    type Err = String;

    fn from_str(s: &str) -> Result<Chord, String> {
        let (mut rest, mut mods) = (s, Mods::NONE);
        loop {
            let (held, after) = match rest {
                r if r.starts_with("ctrl-") => (&mut mods.ctrl, r.strip_prefix("ctrl-")),
                r if r.starts_with("alt-") => (&mut mods.alt, r.strip_prefix("alt-")),
                r if r.starts_with("shift-") => (&mut mods.shift, r.strip_prefix("shift-")),
                _ => break,
            };
            match after {
                Some(after) if !after.is_empty() => (*held, rest) = (true, after),
                _ => break,
            }
        }
        let code = code(rest).ok_or_else(|| {
            format!("{s:?} is no key; allowed: one character, {}, f1 to f35, each with ctrl-, alt- or shift- before it", names())
        })?;
        // `shift-g` means G: the character carries it.
        let code = match code {
            KeyName::Char(c) if mods.shift => KeyName::Char(c.to_ascii_uppercase()),
            other => other,
        };
        Ok(Chord::new(code, mods))
    }
}

fn names() -> String {
    NAMES.iter().map(|(n, _)| *n).collect::<Vec<_>>().join(", ")
}

fn code(s: &str) -> Option<KeyName> {
    if let Some((_, k)) = NAMES.iter().find(|(n, _)| n.eq_ignore_ascii_case(s)) {
        return Some(*k);
    }
    let mut chars = s.chars();
    match (chars.next()?, chars.next()) {
        (c, None) if !c.is_control() => Some(KeyName::Char(c)),
        ('f' | 'F', Some(_)) => s.get(1..)?.parse().ok().filter(|n| (1..=35).contains(n)).map(KeyName::F),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_notation_reads_what_it_writes() {
        for s in [
            "ctrl-a",
            "enter",
            "G",
            "?",
            "f1",
            "f12",
            "alt-enter",
            "ctrl--",
            "-",
            "space",
            "backtab",
            "pageup",
            "ß",
            "ctrl-alt-x",
            "shift-up",
        ] {
            assert_eq!(s.parse::<Chord>().unwrap().to_string(), s);
        }
        assert_eq!("shift-g".parse::<Chord>(), Ok(Chord::char('G')));
        assert_eq!("shift-tab".parse::<Chord>(), Ok(Chord::key(KeyName::BackTab)));
        assert_eq!("ctrl-A".parse::<Chord>(), Ok(Chord::ctrl('a')));
        for bad in ["", "ctrl-", "f0", "f99", "hello", "ctrl-hello"] {
            assert!(bad.parse::<Chord>().is_err(), "{bad:?}");
        }
    }

    #[test]
    fn a_cyrillic_press_finds_its_base_key_and_a_latin_one_stays() {
        let press = Chord::char('й').with_base(Some('q'));
        assert_eq!(press.on_base_layout(), Some(Chord::char('q')));
        assert_eq!(Chord::char('Й').with_base(Some('q')).on_base_layout(), Some(Chord::char('Q')));
        assert_eq!(Chord::char('a').with_base(Some('q')).on_base_layout(), None, "azerty's a is an a");
    }
}
