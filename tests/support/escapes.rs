//! Reads what a program wrote to its terminal and names every sequence that the console itself never sends. Must not judge anything else.

/// Private modes of the console: cursor, alternate screen, bracketed paste, focus, synchronised output, and the mouse modes switched off at the end.
const MODES: &[&str] = &["?25", "?1049", "?2004", "?1004", "?2026", "?1000", "?1002", "?1003", "?1006", "?1015"];

/// Sequences, control and format characters that are no part of drawing.
pub fn foreign(raw: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(raw);
    let mut out = Vec::new();
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if c != '\u{1b}' {
            let bad = (c.is_control() && c != '\r' && c != '\n')
                || matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
            if bad {
                out.push(format!("{c:?}"));
            }
            continue;
        }
        if chars.peek() != Some(&'[') {
            out.push(format!("ESC {:?}", chars.peek()));
            continue;
        }
        chars.next();
        let mut body = String::new();
        let mut end = '\0';
        for c in chars.by_ref() {
            if ('@'..='~').contains(&c) {
                end = c;
                break;
            }
            body.push(c);
        }
        let fine = match end {
            'm' | 'H' | 'J' | 'K' | 'A' | 'B' | 'C' | 'D' | 'G' | 'd' | 'X' => !body.starts_with('?'),
            'h' => MODES[..5].contains(&body.as_str()),
            'l' => MODES.contains(&body.as_str()),
            _ => false,
        };
        if !fine {
            out.push(format!("CSI {body}{end}"));
        }
    }
    out
}
