//! Tables of the README that come from the code: the surface (every request that can be made) and the keys. Fails when they differ.
//! `PLANEDECK_BLESS=1 cargo test --test readme` writes them anew between their markers.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::fmt::Write as _;

use planedeck::{
    cluster::allow::{Names, ROWS},
    keys::{ACTIONS, Context, Group},
    model::{text, verdict::Layer},
};

/// Markdown reads bars as columns.
fn cell(s: &str) -> String {
    text::line(s).replace('|', "\\|")
}

fn code(s: &str) -> String {
    if s == "`" { "`` ` ``".to_string() } else { format!("`{}`", cell(s)) }
}

fn surface() -> String {
    let mut out = String::from("| verbs | group | resource | only | layer | used for |\n|---|---|---|---|---|---|\n");
    for r in ROWS {
        let group = if r.group.is_empty() { "core".to_string() } else { code(r.group) };
        let sub = if r.subresource.is_empty() { String::new() } else { format!("/{}", r.subresource) };
        let mut only = match r.names {
            Names::Only(name) => format!("the name {}", code(name)),
            Names::Any => String::new(),
        };
        if r.writes {
            only = "not in read-only mode".to_string();
        }
        let layer = r.layer.map_or(String::new(), |l| format!("L{}", Layer::ALL.iter().position(|x| *x == l).unwrap()));
        writeln!(
            out,
            "| {} | {group} | {} | {only} | {layer} | {} |",
            r.verbs.join(", "),
            code(&format!("{}{sub}", r.resource)),
            cell(r.used_for)
        )
        .unwrap();
    }
    out
}

fn keys() -> String {
    let mut out = String::new();
    for group in Group::ALL {
        writeln!(out, "**{}**\n\n| keys | where | what | name in settings |\n|---|---|---|---|", group.title()).unwrap();
        for a in ACTIONS.iter().filter(|a| a.group == group) {
            // Contexts with the same keys share a line.
            let mut lines: Vec<(&[&str], Vec<Context>)> = Vec::new();
            for (context, chords) in a.keys {
                match lines.iter_mut().find(|(c, _)| c == chords) {
                    Some((_, contexts)) => contexts.push(*context),
                    None => lines.push((chords, vec![*context])),
                }
            }
            for (chords, contexts) in lines {
                let chords: Vec<String> = chords.iter().map(|c| code(c)).collect();
                let contexts: Vec<&str> = contexts.iter().map(|c| c.name()).collect();
                writeln!(out, "| {} | {} | {} | `{}` |", chords.join(" "), contexts.join(", "), cell(a.doc), a.id).unwrap();
            }
        }
        out.push('\n');
    }
    out.trim_end().to_string() + "\n"
}

fn settings() -> String {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/assets/settings.yaml");
    format!("```yaml\n{}\n```\n", std::fs::read_to_string(path).unwrap().trim_end())
}

/// Compares what stands between `<!-- NAME -->` and `<!-- /NAME -->` with what the code says.
fn hold(name: &str, wanted: &str) {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/README.md");
    // Tests of this file run side by side and each writes the whole file.
    static WRITING: std::sync::Mutex<()> = std::sync::Mutex::new(());
    let _guard = WRITING.lock().unwrap();
    let readme = std::fs::read_to_string(path).unwrap();
    let (open, close) = (format!("<!-- {name} -->\n"), format!("<!-- /{name} -->"));
    let (before, rest) = readme.split_once(&open).unwrap_or_else(|| panic!("README.md has no {open}"));
    let (kept, after) = rest.split_once(&close).unwrap_or_else(|| panic!("README.md has no {close}"));
    let wanted = format!("\n{wanted}\n");
    if std::env::var_os("PLANEDECK_BLESS").is_some() {
        std::fs::write(path, format!("{before}{open}{wanted}{close}{after}")).unwrap();
        return;
    }
    assert!(
        kept == wanted,
        "README.md, {name}: differs from the code; PLANEDECK_BLESS=1 cargo test --test readme writes it anew.\nWanted:{wanted}"
    );
}

#[test]
fn the_surface_is_the_allowlist() {
    hold("surface", &surface());
}

#[test]
fn the_keys_are_the_registry() {
    hold("keys", &keys());
}

#[test]
fn the_settings_are_the_default_file() {
    hold("settings", &settings());
}

/// Every subcommand and every long flag of the command line is named in the README.
#[test]
fn every_command_and_flag_is_described() {
    use clap::CommandFactory as _;
    let readme = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/README.md")).unwrap();
    let command = planedeck::cli::args::Cli::command();
    let mut missing = Vec::new();
    for sub in command.get_subcommands() {
        let name = sub.get_name();
        if !readme.contains(&format!("`{name}")) {
            missing.push(name.to_string());
        }
        let flags = sub.get_arguments().chain(command.get_arguments()).filter_map(|a| a.get_long());
        missing.extend(flags.filter(|f| !readme.contains(&format!("`--{f}"))).map(|f| format!("--{f}")));
    }
    missing.sort();
    missing.dedup();
    assert!(missing.is_empty(), "README.md doesn't name {missing:?}");
}
