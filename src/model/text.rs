//! The one sanitiser: every string from a cluster, file or person passes here before a terminal sees it.
//! Owns stripping, cutting to display width and ASCII escaping; must not know where a string came from.

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

/// Combining marks allowed on one character before the rest is dropped: real scripts need up to 3 or 4, floods use hundreds.
const MAX_CLUSTER_BYTES: usize = 32;

/// True for characters that must never reach a terminal: C0, DEL, C1, bidi controls, zero-width and other invisible format characters.
pub fn is_unsafe(c: char) -> bool {
    matches!(c,
        '\u{0}'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{ad}' | '\u{61c}' | '\u{180e}'
        | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
        | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{fff0}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}')
}

/// Escape sequences are removed whole (CSI, OSC and other string sequences, two-character escapes), so that no `[31m` stays behind.
fn strip_escapes(s: &str) -> String {
    let mut out = String::with_capacity(s.len());
    let mut it = s.chars().peekable();
    while let Some(c) = it.next() {
        let introducer = match c {
            '\u{1b}' => it.next(),
            '\u{9b}' => Some('['),
            '\u{9d}' => Some(']'),
            '\u{90}' | '\u{98}' | '\u{9e}' | '\u{9f}' => Some('P'),
            _ => {
                out.push(c);
                continue;
            }
        };
        match introducer {
            Some('[') => {
                while let Some(&n) = it.peek() {
                    if !('\u{20}'..='\u{7e}').contains(&n) {
                        break;
                    }
                    it.next();
                    if ('\u{40}'..='\u{7e}').contains(&n) {
                        break;
                    }
                }
            }
            Some(']' | 'P' | 'X' | '^' | '_') => {
                // A string sequence ends at BEL or ST; an unterminated one must not swallow the text of later lines.
                while let Some(&n) = it.peek() {
                    if n == '\n' {
                        break;
                    }
                    it.next();
                    if n == '\u{7}' || n == '\u{9c}' {
                        break;
                    }
                    if n == '\u{1b}' {
                        if it.peek() == Some(&'\\') {
                            it.next();
                        }
                        break;
                    }
                }
            }
            _ => {}
        }
    }
    out
}

fn clean(s: &str, keep_newlines: bool) -> String {
    let mut out = String::with_capacity(s.len());
    for g in strip_escapes(s).graphemes(true) {
        for (i, (at, c)) in g.char_indices().enumerate() {
            match c {
                '\n' if keep_newlines => out.push('\n'),
                '\t' | '\n' | '\r' if !(c == '\r' && g.len() > 1) => {
                    out.push(' ');
                }
                // A joiner inside an emoji is what makes it one character; alone it is invisible.
                // On a letter or digit it would only make terminals disagree about the width.
                '\u{200d}' | '\u{fe0f}' if i > 0 && g.width() == 2 && !g.starts_with(|first: char| first.is_ascii()) => out.push(c),
                c if is_unsafe(c) => {}
                c if at < MAX_CLUSTER_BYTES => out.push(c),
                _ => {}
            }
        }
    }
    out
}

/// One safe line: escapes and invisible characters gone, line breaks and tabs turned into blanks.
pub fn line(s: &str) -> String {
    if s.bytes().all(|b| (0x20..0x7f).contains(&b)) {
        return s.to_string();
    }
    clean(s, false)
}

/// Safe text of several lines: as [`line()`], but `\n` stays.
pub fn block(s: &str) -> String {
    clean(s, true)
}

/// Width on screen, in columns.
pub fn width(s: &str) -> usize {
    s.width()
}

/// Cuts to at most `columns`, with `…` (or `...` in ASCII) as the last sign when something was cut. Never splits a character.
pub fn cut(s: &str, columns: usize, ellipsis: &str) -> String {
    if s.width() <= columns {
        return s.to_string();
    }
    let room = columns.saturating_sub(ellipsis.width());
    let (mut out, mut used) = (String::new(), 0);
    for g in s.graphemes(true) {
        if used + g.width() > room {
            break;
        }
        used += g.width();
        out.push_str(g);
    }
    if ellipsis.width() <= columns {
        out.push_str(ellipsis);
    }
    out
}

/// Everything outside printable ASCII as `\u{…}`, for `--ascii`.
pub fn ascii(s: &str) -> String {
    s.chars().fold(String::with_capacity(s.len()), |mut out, c| {
        if c == '\n' || (' '..='~').contains(&c) {
            out.push(c)
        } else {
            out.extend(c.escape_unicode())
        }
        out
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sequences_vanish_whole() {
        assert_eq!(line("a\u{1b}[31mred\u{1b}[0m b"), "ared b");
        assert_eq!(line("x\u{1b}]0;title\u{7}y"), "xy");
        assert_eq!(line("x\u{1b}]8;;http://e\u{1b}\\link\u{1b}]8;;\u{1b}\\"), "xlink");
        assert_eq!(line("c1\u{9b}2Jz"), "c1z");
        assert_eq!(line("bidi\u{202e}x\u{200b}"), "bidix");
        for invisible in [
            "\u{7f}",
            "\u{85}",
            "\u{84}",
            "\u{ad}",
            "\u{61c}",
            "\u{180e}",
            "\u{200e}",
            "\u{2028}",
            "\u{2060}",
            "\u{2066}",
            "\u{2069}",
            "\u{206f}",
            "\u{fe00}",
            "\u{feff}",
            "\u{fff9}",
            "\u{e0001}",
            "\u{e0041}",
            "\u{e007f}",
            "\u{200d}",
            "\u{fe0f}",
        ] {
            assert_eq!(line(&format!("a{invisible}b{invisible}")), "ab", "{invisible:?}");
        }
        assert_eq!(line("a\tb\r\nc"), "a b c");
        assert_eq!(block("a\nb\u{7}"), "a\nb");
    }

    #[test]
    fn emoji_and_wide_characters_survive_and_floods_do_not() {
        assert_eq!(line("👩‍🚀 東京"), "👩‍🚀 東京");
        let flood = format!("e{}", "\u{301}".repeat(500));
        assert!(line(&flood).len() <= 34, "{} bytes", line(&flood).len());
    }

    #[test]
    fn cutting_respects_columns() {
        assert_eq!(cut("東京都", 5, "…"), "東京…");
        assert_eq!(cut("abc", 3, "…"), "abc");
        assert_eq!(cut("abcd", 0, "…"), "");
        assert_eq!(ascii("é"), "\\u{e9}");
    }
}
