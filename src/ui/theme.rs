//! Styles by meaning, and the glyphs. The only place that names a colour. The default uses the terminal's own 16 colours, so that it fits any
//! palette; mono uses none, only weight and inversion.

use ratatui::style::{Color, Modifier, Style};

use crate::{model::verdict::Severity, state::doc::Role};

/// Styles by meaning.
#[derive(Debug, Clone, Copy, PartialEq)]
#[allow(missing_docs)] // the meanings are the names
pub struct Theme {
    pub normal: Style,
    pub dim: Style,
    pub strong: Style,
    pub accent: Style,
    pub heading: Style,
    pub key: Style,
    pub bar: Style,
    pub selected: Style,
    pub found: Style,
    pub blocked: Style,
    pub failing: Style,
    pub degraded: Style,
    pub unknown: Style,
    pub progressing: Style,
    pub ready: Style,
    /// Only ASCII is painted.
    pub ascii: bool,
}

impl Default for Theme {
    fn default() -> Self {
        Theme::ansi()
    }
}

impl Theme {
    /// The terminal's own 16 colours on its own background.
    pub fn ansi() -> Theme {
        let s = Style::new();
        let bold = s.add_modifier(Modifier::BOLD);
        Theme {
            normal: s,
            dim: s.fg(Color::DarkGray),
            strong: bold,
            accent: s.fg(Color::Cyan),
            heading: s.fg(Color::DarkGray).add_modifier(Modifier::BOLD),
            key: s.fg(Color::Cyan),
            bar: s,
            selected: s.add_modifier(Modifier::REVERSED),
            found: s.fg(Color::Black).bg(Color::Yellow),
            blocked: bold.fg(Color::Red),
            failing: s.fg(Color::Red),
            degraded: s.fg(Color::Yellow),
            unknown: s.fg(Color::Magenta),
            progressing: s.fg(Color::Blue),
            ready: s.fg(Color::Green),
            ascii: false,
        }
    }

    /// No colour at all.
    pub fn mono() -> Theme {
        let s = Style::new();
        let bold = s.add_modifier(Modifier::BOLD);
        Theme {
            normal: s,
            dim: s.add_modifier(Modifier::DIM),
            strong: bold,
            accent: bold,
            heading: s.add_modifier(Modifier::UNDERLINED),
            key: bold,
            bar: s,
            selected: s.add_modifier(Modifier::REVERSED),
            found: s.add_modifier(Modifier::REVERSED),
            blocked: bold,
            failing: bold,
            degraded: s,
            unknown: s,
            progressing: s,
            ready: s,
            ascii: false,
        }
    }

    /// The same, painting only ASCII.
    #[must_use]
    pub fn with_ascii(self, ascii: bool) -> Theme {
        Theme { ascii, ..self }
    }

    /// A severity's style.
    pub fn severity(&self, s: Severity) -> Style {
        match s {
            Severity::Blocked => self.blocked,
            Severity::Failing => self.failing,
            Severity::Degraded => self.degraded,
            Severity::Unknown => self.unknown,
            Severity::Progressing => self.progressing,
            Severity::Ready => self.ready,
        }
    }

    /// A role's style.
    pub fn role(&self, r: Role) -> Style {
        match r {
            Role::Normal => self.normal,
            Role::Dim => self.dim,
            Role::Strong => self.strong,
            Role::Accent => self.accent,
            Role::Heading => self.heading,
            Role::Key => self.key,
            Role::Sev(s) => self.severity(s),
        }
    }

    /// Text as this theme may paint it: our own signs by their ASCII twins, everything else escaped.
    pub fn text(&self, s: &str) -> String {
        if !self.ascii || s.is_ascii() {
            return s.to_string();
        }
        let mut out = String::with_capacity(s.len());
        for c in s.chars() {
            match TWINS.iter().find(|(glyph, _)| *glyph == c) {
                Some((_, twin)) => out.push_str(twin),
                None if c.is_ascii() => out.push(c),
                None => out.extend(c.escape_unicode()),
            }
        }
        out
    }

    /// What stands where text was cut.
    pub fn ellipsis(&self) -> &'static str {
        if self.ascii { "..." } else { "…" }
    }
}

/// The console's own signs and what stands for them in ASCII.
const TWINS: &[(char, &str)] = &[
    ('✖', "X"),
    ('✗', "x"),
    ('▲', "!"),
    ('◔', "~"),
    ('✔', "+"),
    ('▌', ">"),
    ('●', "*"),
    ('○', "o"),
    ('◌', "."),
    ('→', "->"),
    ('·', "-"),
    ('–', "-"),
    ('…', "..."),
    ('↑', "^"),
    ('↓', "v"),
    ('×', "x"),
    ('─', "-"),
    ('■', "#"),
    ('□', "."),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ascii_leaves_nothing_else() {
        let t = Theme::ansi().with_ascii(true);
        assert_eq!(t.text("✔ 3 → 4 東"), "+ 3 -> 4 \\u{6771}");
        assert_eq!(Theme::ansi().text("✔"), "✔");
    }

    #[test]
    fn mono_names_no_colour() {
        let t = Theme::mono();
        for s in [t.normal, t.dim, t.strong, t.accent, t.heading, t.key, t.selected, t.found, t.blocked, t.failing, t.degraded, t.ready] {
            assert_eq!((s.fg, s.bg), (None, None));
        }
    }
}
