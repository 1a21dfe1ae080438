//! From a controller's text to its one decisive sentence. Owns the cutting; must not classify.

use std::{borrow::Cow, sync::LazyLock};

use regex::Regex;

/// Longest sentence kept, in characters: two lines of a terminal.
const MAX: usize = 240;
/// Texts are looked at this far, in bytes: beyond it only struct dumps and logs have been seen.
const LOOK: usize = 16_384;

macro_rules! pattern {
    ($($name:ident = $re:expr;)+) => { $(static $name: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new($re).ok());)+ };
}

pattern! {
    MISSING = r"%!(.)\(MISSING\)";
    WRAPPING = concat!(
        r"^(?:",
        r"Helm [a-z]+(?: [a-z]+){0,4} for release \S+(?: with chart \S+)?(?: failed)?: ?",
        r"|Helm [a-z]+ to previous release \S+(?: with chart \S+)?(?: failed)?: ?",
        r"|Helm [a-z]+(?: remediation)? failed: ?",
        r"|release \S+ failed: ",
        r"|rendered manifests contain a resource that already exists\. ",
        r"|[Uu]nable to (?:continue with|build kubernetes objects from) [a-z ]+: ",
        r"|(?:failed to|cannot|error) (?:create|update|patch|apply|replace) resources?: ",
        r"|failed to perform [^:]+: ",
        r"|uninstallation completed with \d+ error\(s\): ",
        r"|Could not determine release state: ",
        r"|failed to retrieve last release from storage: (?:query: )?",
        r"|\d+ errors? occurred: (?:\* )?",
        r"|error while running post render on files: (?:map\[string\]interface \{\}\(nil\): )?",
        r"|error (?:merging manifests|validating data): ",
        r"|yaml: unmarshal errors: ",
        r"|\[\S+\] ",
        r"|cannot patch \S+ with kind \S+: ",
        r#"|Internal error occurred: "#,
        r")",
    );
    EXECUTION = r"^.*execution error at \([^)]*\): ";
    TEMPLATE = r"^.*template: ([^:]+:\d+):\d+: executing .* at <(.*?)>: ";
    SCHEMA = r"^values don't (?:meet the specifications of|satisfy) the schema\(s\) in the following chart\(s\): ";
    STRUCT = r#"Invalid value: (?:[\w.*]*\{.*\}|map\[.*\]|&?[\w.]+\{.*\}|"[^"]{160,}"): ?"#;
    GO_STRUCT = r"(?:&?[a-z]\w*\.)?[A-Z]\w*\{[^{}]{120,}.*\}";
    AT = r"(?:^[\w-]+: )?- at '/([^']*)': ";
    REGEX = r"does not match pattern '.{60,}?'(?:$|[ ,])";
}

fn swap<'a>(re: &LazyLock<Option<Regex>>, s: Cow<'a, str>, with: &str) -> Cow<'a, str> {
    match re.as_ref().map(|r| r.replace_all(&s, with)) {
        Some(Cow::Owned(changed)) => Cow::Owned(changed),
        _ => s,
    }
}

/// A pattern is run only where its telltale stands in the text: most texts need none, and every release is judged again and again.
fn when(telltale: bool, re: &LazyLock<Option<Regex>>, s: String, with: &str) -> String {
    if telltale { swap(re, Cow::Owned(s), with).into_owned() } else { s }
}

/// One line without Helm's log lines and `%!x(MISSING)` (`status.md` 8.29), blanks collapsed.
pub fn flat(message: &str) -> String {
    let mut end = message.len().min(LOOK);
    while !message.is_char_boundary(end) {
        end -= 1;
    }
    let head = message.get(..end).unwrap_or(message);
    // The end of a giant text carries the verdict ("}: field is immutable"), so it is kept beside the beginning.
    let tail_at = message.len().saturating_sub(400);
    let tail = if end < message.len() { message.get(ceil(message, tail_at)..).unwrap_or("") } else { "" };
    let whole = if tail.is_empty() { Cow::Borrowed(head) } else { Cow::Owned(format!("{head}{tail}")) };
    let cut = whole.split("Last Helm logs:").next().unwrap_or("");
    let s = when(cut.contains("(MISSING)"), &MISSING, cut.to_string(), "%$1");
    let mut out = String::with_capacity(s.len());
    for word in s.split_whitespace() {
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(word);
    }
    out
}

fn ceil(s: &str, mut at: usize) -> usize {
    while at < s.len() && !s.is_char_boundary(at) {
        at += 1;
    }
    at
}

/// The decisive sentence: wrapping, chart paths, repeated prefixes, struct dumps and explanations after a dash cut away, at most 240 characters.
pub fn decisive(message: &str) -> String {
    let mut s = flat(message);
    let has = |s: &String, part: &str| s.contains(part);
    s = when(has(&s, "Invalid value: "), &STRUCT, s, "");
    s = when(has(&s, "{"), &GO_STRUCT, s, "…");
    for _ in 0..12 {
        let shorter = unwrap_once(&s);
        if shorter.len() >= s.len() || shorter.is_empty() {
            break;
        }
        s = shorter;
    }
    s = when(has(&s, "- at '"), &AT, s, "at $1: ");
    s = when(has(&s, "does not match pattern"), &REGEX, s, "does not match the allowed pattern ");
    if let Some((head, tail)) = s.split_once(" — ") {
        // A dash before much text is an explanation; before a short one it is the point.
        if head.chars().count() > 20 && tail.chars().count() > 20 {
            s = head.to_string();
        }
    }
    // A long text explains itself in later sentences; the first one is the verdict.
    let first = s.split_once(". ").map(|(head, _)| head).filter(|head| s.len() > 160 && head.len() > 40);
    if let Some(head) = first {
        s = head.to_string();
    }
    bounded(s.trim().trim_end_matches(['.', ':', ',']))
}

fn unwrap_once(s: &str) -> String {
    if let Some(c) = TEMPLATE.as_ref().filter(|_| s.contains("executing")).and_then(|r| r.captures(s)) {
        let whole = c.get(0).map_or(0, |m| m.end());
        let rest = s.get(whole..).unwrap_or("");
        let place = c.get(1).map_or("", |m| m.as_str());
        let expression = c.get(2).map_or("", |m| m.as_str());
        // Nested includes repeat the frame; the last one is where it broke.
        let inner = rest.contains("executing") || rest.contains("execution error at");
        return if inner { rest.to_string() } else { format!("{rest} ({expression} in {place})") };
    }
    let s = when(s.contains("execution error at"), &EXECUTION, s.to_string(), "");
    let s = when(s.starts_with("values don't"), &SCHEMA, s, "");
    swap(&WRAPPING, Cow::Owned(s), "").into_owned()
}

fn bounded(s: &str) -> String {
    if s.chars().count() <= MAX {
        return s.to_string();
    }
    let head: String = s.chars().take(MAX - 1).collect();
    let at = head.rfind(' ').filter(|&i| i > MAX / 2).unwrap_or(head.len());
    format!("{}…", head.get(..at).unwrap_or(&head).trim_end())
}
