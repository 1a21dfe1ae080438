//! Text with meaning: lines of spans by role, wrapped to a width. What the screens that aren't lists show. Owns wrapping and scrolling;
//! must not know colours. Text put in is cleaned here.

use unicode_segmentation::UnicodeSegmentation;

use crate::model::{text, verdict::Severity};

/// What a piece of text means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Role {
    Normal,
    Dim,
    Strong,
    Accent,
    Heading,
    /// A key to press.
    Key,
    /// A verdict's colour.
    Sev(Severity),
}

/// A piece of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Span {
    /// Meaning.
    pub role: Role,
    /// Text, safe to paint.
    pub text: String,
}

/// One line.
pub type Line = Vec<Span>;

/// A piece of text, cleaned.
pub fn span(role: Role, s: impl AsRef<str>) -> Span {
    Span { role, text: text::line(s.as_ref()) }
}

/// Lines being written for a width.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Doc {
    /// The lines.
    pub lines: Vec<Line>,
    width: usize,
}

impl Doc {
    /// An empty text for screens of that width.
    pub fn new(width: u16) -> Doc {
        Doc { lines: Vec::new(), width: usize::from(width).max(1) }
    }

    /// A line as it is.
    pub fn line(&mut self, spans: Vec<Span>) {
        self.lines.push(spans);
    }

    /// An empty line.
    pub fn blank(&mut self) {
        self.lines.push(Vec::new());
    }

    /// Text wrapped at blanks after `head`; further lines are indented by the head's width, or little where the screen is narrow.
    pub fn wrapped(&mut self, head: Vec<Span>, role: Role, s: &str) {
        let mut indent: usize = head.iter().map(|s| text::width(&s.text)).sum();
        let first_room = self.width.saturating_sub(indent);
        let mut line = head;
        let mut lead = true;
        if first_room < 12 {
            indent = 2.min(self.width / 4);
            self.lines.push(std::mem::take(&mut line));
            lead = false;
        }
        let room = self.width.saturating_sub(indent).max(1);
        for piece in wrap(s, room) {
            if !lead {
                line = vec![Span { role: Role::Normal, text: " ".repeat(indent) }];
            }
            line.push(Span { role, text: piece });
            self.lines.push(std::mem::take(&mut line));
            lead = false;
        }
        if !line.is_empty() {
            self.lines.push(line);
        }
    }
}

/// Cuts text into lines of at most `room` columns, at blanks where there are any. Line breaks in the text stay.
pub fn wrap(s: &str, room: usize) -> Vec<String> {
    let room = room.max(1);
    let mut out = Vec::new();
    for paragraph in text::block(s).lines() {
        let mut line = String::new();
        for word in paragraph.split(' ').filter(|w| !w.is_empty()) {
            let gap = usize::from(!line.is_empty());
            if text::width(&line) + gap + text::width(word) <= room {
                line.push_str(if gap == 1 { " " } else { "" });
                line.push_str(word);
                continue;
            }
            if !line.is_empty() {
                out.push(std::mem::take(&mut line));
            }
            for g in word.graphemes(true) {
                if text::width(&line) + text::width(g) > room && !line.is_empty() {
                    out.push(std::mem::take(&mut line));
                }
                line.push_str(g);
            }
        }
        out.push(line);
    }
    out
}

/// Where one is in a text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Scroll {
    /// First line shown.
    pub top: usize,
    /// Lines of the text.
    pub len: usize,
    /// Lines on screen.
    pub height: usize,
}

impl Scroll {
    /// The text or the screen changed.
    pub fn fit(&mut self, len: usize, height: usize) {
        (self.len, self.height) = (len, height);
        self.go(0);
    }

    /// Scrolls by lines, within the text.
    pub fn go(&mut self, by: isize) {
        self.top = self.top.saturating_add_signed(by).min(self.len.saturating_sub(self.height));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn text_wraps_at_blanks_and_long_words_break() {
        assert_eq!(wrap("one two three", 7), ["one two", "three"]);
        assert_eq!(wrap("abcdefgh", 3), ["abc", "def", "gh"]);
        assert_eq!(wrap("東京都", 3), ["東", "京", "都"]);
        assert_eq!(wrap("a\n\nb", 9), ["a", "", "b"]);
    }

    proptest! {
        #[test]
        fn nothing_is_lost_and_nothing_too_wide(s in "[a-zé東 ]{0,60}", room in 2usize..20) {
            let lines = wrap(&s, room);
            prop_assert!(lines.iter().all(|l| text::width(l) <= room));
            let bare = |t: &str| t.replace(' ', "");
            prop_assert_eq!(bare(&lines.concat()), bare(&s));
        }
    }
}
