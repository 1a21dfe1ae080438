//! What YAML makes of a text that a chart puts into a manifest without quotes. Owns that one question; must not judge fields.

use std::sync::LazyLock;

use regex::Regex;
use serde_yaml::Value;

/// Texts that every YAML reader takes as they stand, unless they are a word with a meaning.
static SAFE: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"\A[A-Za-z][A-Za-z0-9._/-]*\z").ok());

/// Words and numbers that YAML 1.1 (which `kubectl` and the API's readers use) takes for something else than text.
static OTHER: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(concat!(
        r"\A(?:~|null|Null|NULL|y|Y|yes|Yes|YES|n|N|no|No|NO|true|True|TRUE|false|False|FALSE|on|On|ON|off|Off|OFF",
        r"|[-+]?(?:0b[01_]+|0x[0-9a-fA-F_]+|0o?[0-7_]+|[0-9][0-9_]*)",
        r"|[-+]?(?:[0-9][0-9_]*)?\.?[0-9_]+(?:[eE][-+]?[0-9]+)?|[-+]?[0-9][0-9_]*\.(?:[eE][-+]?[0-9]+)?",
        r"|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))\z"
    ))
    .ok()
});

/// Words and numbers that the reader of rendered manifests (Flux's kustomize post renderer, YAML 1.2 with old numbers) takes for something else
/// than text: `yes` and `on` stay text there, and are written with quotes from then on.
static RENDERED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(concat!(
        r"\A(?:~|null|Null|NULL|true|True|TRUE|false|False|FALSE|[-+]?(?:0[xX][0-9a-fA-F_]+|0[oO][0-7_]+|0[bB][01_]+",
        r"|(?:\.[0-9_]*[0-9][0-9_]*|[0-9][0-9_]*(?:\.[0-9_]*)?)(?:[eE][-+]?[0-9_]+)?)",
        r"|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))\z"
    ))
    .ok()
});

/// What became of the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reading {
    /// The same text.
    Same,
    /// Another text, or text with something beside it: it is accepted, and means something else.
    Altered(String),
    /// No text at all: a number, a truth value, null, a list or a map.
    Other,
    /// The manifest can't be read.
    Broken,
}

/// True when YAML 1.1 reads the plain text as a number, truth value or null.
pub fn is_other_type(text: &str) -> bool {
    OTHER.as_ref().is_some_and(|r| r.is_match(text))
}

fn is_other_when_rendered(text: &str) -> bool {
    RENDERED.as_ref().is_some_and(|r| r.is_match(text))
}

fn is_safe(text: &str) -> bool {
    SAFE.as_ref().is_some_and(|r| r.is_match(text)) && !is_other_when_rendered(text)
}

/// `before` + `text` + `after` as the value of a key, in the midst of a manifest.
pub fn value(before: &str, text: &str, after: &str) -> Reading {
    if is_safe(text) && (before.is_empty() || !before.ends_with(' ')) {
        return Reading::Same;
    }
    if let Some((first, rest)) = text.trim_end().split_once(['\n', '\r', '\u{85}', '\u{2028}', '\u{2029}']) {
        // With the right indentation such lines become fields; a name is used in places that no indentation suits at once.
        let fields = rest.lines().all(|l| l.trim().is_empty() || l.contains(": ") || l.trim_end().ends_with(':'));
        return if fields && before.is_empty() && value("", first, "") != Reading::Broken {
            Reading::Altered(first.trim().to_string())
        } else {
            Reading::Broken
        };
    }
    let whole = format!("{before}{text}{after}");
    let manifest = format!("a:\n  b:\n    w: x\n    k: {whole}\n    z: x\n");
    let Ok(Value::Mapping(root)) = serde_yaml::from_str(&manifest) else { return Reading::Broken };
    let Some(map) = root.get("a").and_then(|a| a.get("b")).and_then(Value::as_mapping) else { return Reading::Broken };
    match map.get("k") {
        Some(Value::String(s)) if root.len() > 1 || map.len() != 3 => Reading::Altered(s.clone()),
        // Quoted text stays text, whatever it says.
        Some(Value::String(s)) if is_other_when_rendered(s) && !whole.trim_start().starts_with(['"', '\'']) => Reading::Other,
        Some(Value::String(s)) if *s == whole => Reading::Same,
        Some(Value::String(s)) => Reading::Altered(s.clone()),
        _ => Reading::Other,
    }
}

/// `prefix` + `text` as a key of a map of labels; what is read is the key.
pub fn key(prefix: &str, text: &str) -> Reading {
    if is_safe(text) {
        return Reading::Same;
    }
    let whole = format!("{prefix}{text}");
    let manifest = format!("a:\n  b:\n    w: \"\"\n    {whole}: \"\"\n    z: \"\"\n");
    let Ok(Value::Mapping(root)) = serde_yaml::from_str(&manifest) else { return Reading::Broken };
    let Some(map) = root.get("a").and_then(|a| a.get("b")).and_then(Value::as_mapping) else { return Reading::Broken };
    let read = map.iter().nth(1);
    match read {
        Some((Value::String(k), Value::String(v))) if v.is_empty() && map.len() == 3 && root.len() == 1 => {
            if *k == whole {
                Reading::Same
            } else {
                Reading::Altered(k.clone())
            }
        }
        _ => Reading::Broken,
    }
}

/// True for text with characters that have no business in a name: controls, line breaks, invisible ones.
pub fn has_control(text: &str) -> bool {
    text.chars().any(|c| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_read_as_a_manifest_would() {
        for (text, want) in [
            ("nvidia.com/AD102GL_L40S", Reading::Same),
            ("true", Reading::Other),
            ("123", Reading::Other),
            ("on", Reading::Same),
            ("yes", Reading::Same),
            ("N", Reading::Same),
            ("0X1F", Reading::Other),
            ("0O17", Reading::Other),
            ("0B1", Reading::Other),
            ("1_000", Reading::Other),
            ("08", Reading::Other),
            ("5.", Reading::Other),
            (".5", Reading::Other),
            ("12:30", Reading::Same),
            ("_1", Reading::Same),
            ("0x", Reading::Same),
            ("1e", Reading::Same),
            ("TRUE", Reading::Other),
            ("tRue", Reading::Same),
            ("null", Reading::Other),
            ("", Reading::Other),
            ("@x", Reading::Broken),
            ("*x", Reading::Broken),
            ("a: b", Reading::Broken),
            ("a\nb", Reading::Broken),
            ("a\u{7}", Reading::Broken),
            ("a #b", Reading::Altered("a".into())),
            ("\"x\"", Reading::Altered("x".into())),
            ("[x]", Reading::Other),
            ("a\nfoo: bar", Reading::Altered("a".into())),
            ("10m", Reading::Same),
            ("10m ", Reading::Altered("10m".into())),
        ] {
            assert_eq!(value("", text, ""), want, "{text:?}");
        }
        assert_eq!(value("computeplane-cluster-", "1.5", ""), Reading::Same);
        assert_eq!(value("computeplane-cluster-", "x #b", "-123456"), Reading::Altered("computeplane-cluster-x".into()));
    }

    #[test]
    fn keys_are_read_as_labels() {
        assert_eq!(key("node-role.kubernetes.io/", "ingress-nginx"), Reading::Same);
        assert_eq!(key("node-role.kubernetes.io/", "gpu "), Reading::Altered("node-role.kubernetes.io/gpu".into()));
        assert_eq!(key("node-role.kubernetes.io/", "a/b"), Reading::Same);
        for text in ["a #b", "a: b", "a\nb", "\u{1b}"] {
            assert_eq!(key("node-role.kubernetes.io/", text), Reading::Broken, "{text:?}");
        }
    }
}
