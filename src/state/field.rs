//! One line of text being typed. Owns editing by whole characters and cleaning of pasted text; must not know what the text means.

use unicode_segmentation::UnicodeSegmentation;

use crate::{
    keys::{Chord, KeyName},
    model::text,
};

/// Longest text taken, in bytes: a pasted file must not stop the console.
const LIMIT: usize = 1024;

/// A text and the place in it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TextField {
    text: String,
    /// Byte offset, always at the edge of a character.
    at: usize,
}

impl TextField {
    /// A field with the cursor at the end.
    pub fn with(text: impl Into<String>) -> TextField {
        let text = text.into();
        TextField { at: text.len(), text }
    }

    /// The text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Columns left of the cursor.
    pub fn column(&self) -> usize {
        text::width(self.before())
    }

    /// Empties it.
    pub fn clear(&mut self) {
        *self = TextField::default();
    }

    fn before(&self) -> &str {
        self.text.get(..self.at).unwrap_or_default()
    }

    fn after(&self) -> &str {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// Inserts typed or pasted text, cleaned: one line, no control characters.
    pub fn insert(&mut self, s: &str) {
        let clean = text::line(s);
        let room = LIMIT.saturating_sub(self.text.len());
        let take: String = clean
            .graphemes(true)
            .scan(0, |n, g| {
                *n += g.len();
                (*n <= room).then_some(g)
            })
            .collect();
        let head = format!("{}{take}", self.before());
        self.text = format!("{head}{}", self.after());
        self.at = head.len();
    }

    /// Edits by one key; false when the key isn't an editing key.
    pub fn press(&mut self, chord: &Chord) -> bool {
        if let Some(c) = chord.typed() {
            self.insert(c.encode_utf8(&mut [0; 4]));
            return true;
        }
        let (head, tail) = (self.before().to_string(), self.after().to_string());
        let last = head.graphemes(true).next_back().map_or(0, str::len);
        let next = tail.graphemes(true).next().map_or(0, str::len);
        match (chord.code, chord.mods.ctrl, chord.mods.alt) {
            (KeyName::Left, false, _) | (KeyName::Char('b'), true, _) => self.at -= last,
            (KeyName::Right, false, _) | (KeyName::Char('f'), true, _) => self.at += next,
            (KeyName::Home, ..) | (KeyName::Char('a'), true, _) => self.at = 0,
            (KeyName::End, ..) | (KeyName::Char('e'), true, _) => self.at = self.text.len(),
            (KeyName::Backspace, false, false) | (KeyName::Char('h'), true, _) => self.set(head.get(..head.len() - last), &tail),
            (KeyName::Delete, ..) => self.set(Some(&head), tail.get(next..).unwrap_or_default()),
            (KeyName::Char('w'), true, _) | (KeyName::Backspace, ..) => {
                let keep = head.trim_end().rfind(' ').map_or(0, |i| i + 1);
                self.set(head.get(..keep), &tail);
            }
            (KeyName::Char('u'), true, _) => self.set(Some(""), &tail),
            _ => return false,
        }
        true
    }

    fn set(&mut self, head: Option<&str>, tail: &str) {
        let head = head.unwrap_or_default();
        self.text = format!("{head}{tail}");
        self.at = head.len();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn press(f: &mut TextField, keys: &[&str]) {
        for k in keys {
            f.press(&k.parse().unwrap());
        }
    }

    #[test]
    fn whole_characters_are_edited() {
        let mut f = TextField::with("a👩‍🚀b");
        press(&mut f, &["left", "backspace"]);
        assert_eq!(f.text(), "ab");
        f.insert("x\ny\u{1b}[31m");
        assert_eq!(f.text(), "ax yb");
        press(&mut f, &["ctrl-w"]);
        assert_eq!(f.text(), "ax b");
        press(&mut f, &["home", "delete", "end", "ctrl-u"]);
        assert_eq!(f.text(), "");
    }

    proptest! {
        #[test]
        fn the_cursor_never_splits_a_character(text in ".{0,40}", keys in proptest::collection::vec(0usize..9, 0..30)) {
            let mut f = TextField::default();
            f.insert(&text);
            let names = ["left", "right", "home", "end", "backspace", "delete", "ctrl-w", "x", "é"];
            for k in keys {
                press(&mut f, &[names[k]]);
                prop_assert!(f.text().is_char_boundary(f.at));
                prop_assert!(f.text().len() <= LIMIT);
            }
        }
    }
}
