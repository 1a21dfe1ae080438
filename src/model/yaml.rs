//! JSON values as YAML for a terminal or a file. Owns quoting: every string that could be read as something else, or that holds what a
//! terminal must not see, is double-quoted and escaped. Must not know what the values mean.

use serde_json::Value;

use super::text;

/// The value as a block-style document, with a line break at the end; `ascii` escapes everything outside printable ASCII.
pub fn document(value: &Value, ascii: bool) -> String {
    let mut out = String::new();
    match value {
        Value::Object(o) if !o.is_empty() => mapping(&mut out, o.iter(), 0, ascii),
        Value::Array(a) if !a.is_empty() => sequence(&mut out, a, 0, ascii),
        other => {
            out.push_str(&scalar(other, ascii));
            out.push('\n');
        }
    }
    out
}

fn indent(out: &mut String, depth: usize) {
    out.extend(std::iter::repeat_n("  ", depth));
}

/// Entries at `depth`; the first one's indentation is the caller's to write when it stands behind a dash.
fn mapping<'a>(out: &mut String, entries: impl Iterator<Item = (&'a String, &'a Value)>, depth: usize, ascii: bool) {
    for (n, (key, value)) in entries.enumerate() {
        if n > 0 || !out.ends_with("- ") {
            indent(out, depth);
        }
        out.push_str(&string(key, ascii));
        out.push(':');
        match value {
            Value::Object(o) if !o.is_empty() => {
                out.push('\n');
                mapping(out, o.iter(), depth + 1, ascii);
            }
            Value::Array(a) if !a.is_empty() => {
                out.push('\n');
                sequence(out, a, depth, ascii);
            }
            other => {
                out.push(' ');
                out.push_str(&scalar(other, ascii));
                out.push('\n');
            }
        }
    }
}

fn sequence(out: &mut String, items: &[Value], depth: usize, ascii: bool) {
    for item in items {
        indent(out, depth);
        out.push('-');
        match item {
            Value::Object(o) if !o.is_empty() => {
                out.push(' ');
                mapping(out, o.iter(), depth + 1, ascii);
            }
            Value::Array(a) if !a.is_empty() => {
                out.push('\n');
                sequence(out, a, depth + 1, ascii);
            }
            other => {
                out.push(' ');
                out.push_str(&scalar(other, ascii));
                out.push('\n');
            }
        }
    }
}

fn scalar(value: &Value, ascii: bool) -> String {
    match value {
        Value::String(s) => string(s, ascii),
        Value::Object(_) => "{}".to_string(),
        Value::Array(_) => "[]".to_string(),
        other => other.to_string(),
    }
}

/// Plain only where no reader of YAML 1.1 or 1.2 could take it for anything but this text.
fn is_plain(s: &str) -> bool {
    const WORDS: &[&str] = &["null", "true", "false", "yes", "no", "on", "off", "y", "n"];
    let starts = s.starts_with(|c: char| c.is_ascii_alphabetic() || c == '/');
    let body = s.chars().all(|c| c.is_ascii_alphanumeric() || " _-./()[]+@,;%$".contains(c));
    starts && body && !s.ends_with(' ') && !WORDS.iter().any(|w| w.eq_ignore_ascii_case(s))
}

fn string(s: &str, ascii: bool) -> String {
    if is_plain(s) {
        return s.to_string();
    }
    let mut out = String::with_capacity(s.len() + 2);
    out.push('"');
    for c in s.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            c if text::is_unsafe(c) || (ascii && !c.is_ascii()) || c == '\u{feff}' => match u32::from(c) {
                n @ 0..=0xffff => out.push_str(&format!("\\u{n:04x}")),
                n => out.push_str(&format!("\\U{n:08x}")),
            },
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_is_written_reads_back_the_same() {
        let v = json!({
            "a": {"b": [1, -2.5, null, true, "true", "no", "", " x", "x ", "a: b", "# c", "- d", "é🦀", "line\nbreak\ttab", "0x1f", "1e3", "2026-12-01", "~", "*a", "&b", "!c", "'q'", "\"q\"", "\\"]},
            "empty": {"m": {}, "l": [], "nested": [[1, 2], [], {"x": {"y": [{"z": 1, "w": [3]}]}}]},
            "esc\u{1b}[31m": "c1\u{9b} bidi\u{202e} del\u{7f} zero\u{200b}",
            "y": "n", "on": 1,
        });
        for ascii in [false, true] {
            let text = document(&v, ascii);
            assert!(!text.chars().any(|c| c != '\n' && text::is_unsafe(c)), "{text}");
            assert!(!ascii || text.is_ascii(), "{text}");
            assert_eq!(serde_yaml::from_str::<Value>(&text).unwrap(), v, "{text}");
        }
        for v in [json!("x"), json!([1]), json!({}), json!(null)] {
            assert_eq!(serde_yaml::from_str::<Value>(&document(&v, false)).unwrap(), v);
        }
    }
}
