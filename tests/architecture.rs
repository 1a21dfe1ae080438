//! The house rules that a machine can read: import edges, budgets, file headers. Fails on a forbidden edge or a broken budget.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::{
    fs,
    path::{Path, PathBuf},
};

/// Files that are flat tables: long because they are lists, not because they do much.
const TABLES: &[&str] =
    &["src/model/kind.rs", "src/keys/table.rs", "src/nodegroups/validate/table.rs", "src/cluster/allow.rs", "src/demo/roles.rs"];

/// What a folder may import of the others (design 5: arrows point down only).
const MAY: &[(&str, &[&str])] = &[
    ("model", &[]),
    ("nodegroups", &["model"]),
    ("health", &["model", "nodegroups"]),
    ("keys", &["model"]),
    ("state", &["model", "health", "nodegroups", "keys"]),
    ("ui", &["model", "health", "nodegroups", "keys", "state"]),
    ("cluster", &["model", "nodegroups"]),
    ("demo", &["model", "nodegroups"]),
    ("config", &["model", "health", "keys"]),
    ("runtime", &["model", "health", "nodegroups", "keys", "state", "ui", "cluster", "demo", "config"]),
    ("cli", &["model", "health", "nodegroups", "keys", "state", "ui", "cluster", "demo", "config", "runtime"]),
];

/// Folders that stay free of I/O and of the terminal.
const PURE: &[&str] = &["model", "health", "nodegroups", "keys", "state"];
const IMPURE_CRATES: &[&str] = &["tokio", "kube", "crossterm", "ratatui"];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn sources() -> Vec<(String, String)> {
    fn walk(dir: &Path, out: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                walk(&path, out);
            } else if path.extension().is_some_and(|e| e == "rs") {
                out.push(path);
            }
        }
    }
    let mut files = Vec::new();
    walk(&root().join("src"), &mut files);
    files.sort();
    assert!(files.len() > 20, "the walk found only {} files", files.len());
    files.iter().map(|p| (p.strip_prefix(root()).unwrap().display().to_string(), fs::read_to_string(p).unwrap())).collect()
}

fn is_test_file(name: &str) -> bool {
    name.ends_with("/tests.rs") || name.contains("/tests/") || name.ends_with("_tests.rs")
}

/// The code without comments and without what follows `#[cfg(test)] mod tests {`.
fn code(text: &str) -> String {
    let text = match text.find("#[cfg(test)]\nmod tests {") {
        Some(at) => &text[..at],
        None => text,
    };
    text.lines().map(|l| if l.trim_start().starts_with("//") { "" } else { l }).collect::<Vec<_>>().join("\n")
}

fn folder(name: &str) -> &str {
    let inner = name.strip_prefix("src/").unwrap();
    inner.split_once('/').map_or("", |(f, _)| f)
}

/// Top-level folders that a file's code names through `crate::…`, also inside braces of a `use crate::{…}`.
fn imports(code: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (at, _) in code.match_indices("crate::") {
        let rest = &code[at + "crate::".len()..];
        if let Some(group) = rest.strip_prefix('{') {
            let (mut depth, mut part) = (0, String::new());
            for c in group.chars() {
                match c {
                    '}' if depth == 0 => break,
                    ',' if depth == 0 => found.push(std::mem::take(&mut part)),
                    c => {
                        depth += i32::from(c == '{') - i32::from(c == '}');
                        part.push(c);
                    }
                }
            }
            found.push(part);
        } else {
            found.push(rest.to_string());
        }
    }
    let first_word = |s: &String| s.trim_start().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect::<String>();
    found.iter().map(first_word).filter(|w| !w.is_empty()).collect()
}

#[test]
fn imports_point_down_only() {
    let mut wrong = Vec::new();
    for (name, text) in sources() {
        let Some((_, allowed)) = MAY.iter().find(|(f, _)| *f == folder(&name)) else { continue };
        if is_test_file(&name) {
            continue;
        }
        for import in imports(&code(&text)) {
            let is_folder = MAY.iter().any(|(f, _)| *f == import);
            if is_folder && import != folder(&name) && !allowed.contains(&import.as_str()) {
                wrong.push(format!("{name} imports {import}"));
            }
        }
    }
    assert!(wrong.is_empty(), "forbidden edges:\n{}", wrong.join("\n"));
}

#[test]
fn pure_folders_name_no_runtime_and_no_terminal() {
    let mut wrong = Vec::new();
    for (name, text) in sources() {
        if !PURE.contains(&folder(&name)) {
            continue;
        }
        let code = code(&text);
        for c in IMPURE_CRATES {
            if code.contains(&format!("use {c}::")) || code.contains(&format!("{c}::")) && !code.contains(&format!("_{c}::")) {
                wrong.push(format!("{name} names {c}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn only_cluster_and_the_demo_name_kube() {
    for (name, text) in sources() {
        if !["cluster", "demo"].contains(&folder(&name)) && !is_test_file(&name) {
            assert!(!code(&text).contains("kube::"), "{name} names kube");
        }
    }
}

#[test]
fn every_file_says_what_it_owns() {
    for (name, text) in sources() {
        assert!(text.starts_with("//! "), "{name} doesn't open with //!");
        assert!(text.lines().next().unwrap().len() > 25, "{name}: the first line says too little");
    }
}

#[test]
fn files_stay_small() {
    let over: Vec<String> = sources()
        .into_iter()
        .filter(|(name, text)| !TABLES.contains(&name.as_str()) && text.lines().count() > 500)
        .map(|(name, text)| format!("{name}: {}", text.lines().count()))
        .collect();
    assert!(over.is_empty(), "over 500 lines:\n{}", over.join("\n"));
}

/// Functions as (name, lines, arguments), by matching braces on formatted code.
fn functions(code: &str) -> Vec<(String, usize, usize)> {
    let lines: Vec<&str> = code.lines().collect();
    let mut out = Vec::new();
    for (i, line) in lines.iter().enumerate() {
        let indent = line.len() - line.trim_start().len();
        let head = line.trim_start();
        let is_fn = [
            "fn ",
            "pub fn ",
            "pub(crate) fn ",
            "pub(super) fn ",
            "async fn ",
            "pub async fn ",
            "pub(crate) async fn ",
            "pub(super) async fn ",
            "const fn ",
            "pub const fn ",
        ]
        .iter()
        .any(|p| head.starts_with(p));
        if !is_fn {
            continue;
        }
        let close = format!("{}}}", " ".repeat(indent));
        let Some(end) = lines[i..]
            .iter()
            .position(|l| *l == close || (l.trim_end().ends_with('}') && l.starts_with(line.split("fn ").next().unwrap()) && l == line))
        else {
            continue;
        };
        let signature: String = lines[i..].iter().take(12).copied().collect::<Vec<_>>().join(" ");
        let name: String = head.split("fn ").nth(1).unwrap().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
        let open = signature.find('(').unwrap();
        let (mut depth, mut args, mut angle) = (0i32, 0usize, 0i32);
        let mut any = false;
        for c in signature[open..].chars() {
            match c {
                '(' | '[' | '{' => depth += 1,
                ')' | ']' | '}' => {
                    depth -= 1;
                    if depth == 0 {
                        break;
                    }
                }
                '<' => angle += 1,
                '>' => angle -= 1,
                ':' if depth == 1 && angle <= 0 => any = true,
                ',' if depth == 1 && angle <= 0 => {
                    args += usize::from(any);
                    any = false;
                }
                _ => {}
            }
        }
        args += usize::from(any);
        out.push((name, end + 1, args));
    }
    out
}

#[test]
fn functions_stay_small() {
    let mut over = Vec::new();
    for (name, text) in sources() {
        if is_test_file(&name) {
            continue;
        }
        for (f, lines, args) in functions(&code(&text)) {
            if lines > 80 {
                over.push(format!("{name}: {f} has {lines} lines"));
            }
            if args > 5 {
                over.push(format!("{name}: {f} takes {args} arguments"));
            }
        }
    }
    assert!(over.is_empty(), "{}", over.join("\n"));
}

#[test]
fn the_state_stays_small() {
    let text = fs::read_to_string(root().join("src/state/mod.rs")).unwrap();
    let body = text.split("pub struct State {").nth(1).expect("State lives in src/state/mod.rs").split("\n}").next().unwrap();
    let fields = body.lines().filter(|l| l.starts_with("    ") && !l.trim_start().starts_with("//") && l.contains(':')).count();
    assert!((1..=12).contains(&fields), "State has {fields} fields");
}

#[test]
fn the_measuring_itself_works() {
    let code = "fn a(x: u8, y: HashMap<u8, u8>) {\n    b\n}\n\nimpl X {\n    pub fn c(&self, d: (u8, u8)) -> u8 {\n        1\n    }\n}\n";
    assert_eq!(functions(code), vec![("a".into(), 3, 2), ("c".into(), 3, 1)]);
    assert_eq!(imports("use crate::{model::{A, B}, state, ui::x};\ncrate::health::y()"), vec!["model", "state", "ui", "health"]);
}

#[test]
fn nothing_names_what_is_outside_the_repository() {
    let needle = ["../sha", "red"].concat();
    for (name, text) in sources() {
        assert!(!text.contains(&needle), "{name} names the shared folder");
    }
}

/// Text literals that are keys of labels or annotations: a domain, a slash, and no API version after it.
fn keys_in(code: &str) -> Vec<&str> {
    let key = |s: &&str| {
        let Some((domain, name)) = s.split_once('/') else { return false };
        let plain = |t: &str| !t.is_empty() && t.bytes().all(|b| b.is_ascii_alphanumeric() || b"-._".contains(&b));
        let version = name.strip_prefix('v').is_some_and(|v| v.starts_with(|c: char| c.is_ascii_digit()));
        plain(domain) && plain(name) && domain.contains('.') && !version && !name.ends_with(".yaml")
    };
    code.lines().flat_map(|l| l.split('"').skip(1).step_by(2)).filter(key).collect()
}

#[test]
fn every_key_that_a_verdict_reads_is_kept() {
    let read = |name: &str| ["health", "state"].contains(&folder(name)) || name == "src/model/projection/capi.rs";
    // A condition's type, not a key.
    let other = ["kamaji.clastix.io/DataStoreValidation"];
    let mut seen = 0;
    for (name, text) in sources().iter().filter(|(n, _)| read(n) && !is_test_file(n)) {
        for key in keys_in(&code(text)).into_iter().filter(|k| !other.contains(k)) {
            seen += 1;
            assert!(planedeck::model::redact::key_stays(key), "{name} reads {key}, which no object keeps");
        }
    }
    assert!(seen > 12, "only {seen} keys found");
}
