//! Standard output: formats, ASCII, hostile text, closed pipes.

use std::{
    io::{BufRead as _, BufReader},
    process::Stdio,
};

use serde_json::Value;

use super::*;

const FORMATS: [&str; 7] = ["table", "wide", "json", "jsonl", "yaml", "csv", "markdown"];

/// What must never reach a terminal, whoever wrote it into the cluster.
fn unsafe_in(text: &str) -> Option<char> {
    text.chars().find(|c| *c != '\n' && planedeck::model::text::is_unsafe(*c))
}

/// A dump whose every free text tries something.
fn hostile() -> String {
    let evil = "x\\u001b[31mred\\u001b]0;title\\u0007 \\u009b2J \\u202egnp\\u200b \\u0000\\u007f é 🦀\\nNAMESPACE tenant-forged Ready | =1+1\\r\\n";
    format!(
        r#"{{"apiVersion":"apps.cozystack.io/v1alpha1","kind":"ComputePlane","metadata":{{"name":"computeplane","namespace":"tenant-\u001b[31ma","creationTimestamp":"2026-11-01T00:00:00Z","labels":{{"{evil}":"{evil}"}}}},"spec":{{"nodeGroups":{{"web\u009b2J":{{"instanceType":"{evil}"}}}}}},"appVersion":"{evil}","status":{{"version":"{evil}","conditions":[{{"type":"Ready","status":"False","reason":"{evil}","message":"{evil}","lastTransitionTime":"2026-11-01T00:10:00Z"}}]}}}}
{{"apiVersion":"helm.toolkit.fluxcd.io/v2","kind":"HelmRelease","metadata":{{"name":"computeplane-cluster","namespace":"tenant-\u001b[31ma","creationTimestamp":"2026-11-01T00:00:00Z","generation":1}},"spec":{{"interval":"5m","values":{{"nodeGroups":{{"web\u009b2J":{{"instanceType":"{evil}"}}}}}}}},"status":{{"observedGeneration":1,"conditions":[{{"type":"Ready","status":"False","reason":"InstallFailed","message":"{evil}","lastTransitionTime":"2026-11-01T00:10:00Z","observedGeneration":1}}]}}}}
{{"apiVersion":"v1","kind":"Event","metadata":{{"name":"computeplane.1","namespace":"tenant-\u001b[31ma","creationTimestamp":"2026-11-01T00:11:00Z"}},"type":"Warning","reason":"{evil}","message":"{evil}","involvedObject":{{"kind":"HelmRelease","name":"computeplane-cluster","namespace":"tenant-\u001b[31ma"}}}}
"#
    )
}

#[test]
fn hostile_text_never_reaches_the_terminal() {
    let home = Home::new();
    let dump = home.file("d.json", hostile());
    let before = home.file("b.yaml", plane("tenant-x"));
    for ascii in [&[][..], &["--ascii"]] {
        for format in FORMATS {
            for command in ["get", "explain"] {
                let ran = home.run(&[&[command, "--from", &dump, "-o", format], ascii].concat()).ends(1);
                assert_eq!(unsafe_in(&ran.out), None, "{command} {format}: {:?}", ran.out);
                assert_eq!(unsafe_in(&ran.err), None, "{command} {format}: {:?}", ran.err);
                assert!(ascii.is_empty() || (ran.out.is_ascii() && ran.err.is_ascii()), "{command} {format}: {ran:?}");
            }
        }
        for args in [&["report"][..], &["report", "-o", "csv"], &["report", "-o", "yaml"], &["watch"], &["watch", "-o", "jsonl"]] {
            let ran = home.run(&[args, &["--from", &dump], ascii].concat());
            assert_eq!(unsafe_in(&ran.out), None, "{args:?}: {:?}", ran.out);
            assert!(ascii.is_empty() || (ran.out.is_ascii() && ran.err.is_ascii()), "{args:?}: {ran:?}");
        }
        let ran = home.run(&[&["explain", "--diff", &before, &dump], ascii].concat());
        assert_eq!(unsafe_in(&ran.out), None, "{:?}", ran.out);
        assert!(ascii.is_empty() || ran.out.is_ascii(), "{:?}", ran.out);
    }
}

#[test]
fn no_message_can_forge_a_line() {
    let home = Home::new();
    let dump = home.file("d.json", hostile());
    for args in
        [&["get"][..], &["get", "-o", "wide"], &["get", "-o", "csv"], &["get", "-o", "markdown"], &["watch"], &["report"], &["explain"]]
    {
        let ran = home.run(&[args, &["--from", &dump]].concat());
        assert!(!ran.out.lines().any(|l| l.starts_with("NAMESPACE tenant-forged")), "{args:?}:\n{}", ran.out);
    }
    assert_eq!(home.run(&["get", "--from", &dump]).out.lines().count(), 2);
    assert_eq!(home.run(&["watch", "--from", &dump]).out.lines().count(), 1);
}

#[test]
fn json_and_yaml_carry_the_text_unchanged() {
    let home = Home::new();
    let dump = home.file("d.json", hostile());
    let json = home.run(&["get", "--from", &dump, "-o", "json"]).json();
    for more in [&[][..], &["--ascii"]] {
        let yaml = home.run(&[&["get", "--from", &dump, "-o", "yaml"], more].concat());
        assert_eq!(serde_yaml::from_str::<Value>(&yaml.out).unwrap(), json);
        assert_eq!(home.run(&[&["get", "--from", &dump, "-o", "json"], more].concat()).json(), json);
    }
}

#[test]
fn tables_have_a_header_and_a_row_for_each_plane() {
    let home = Home::new();
    let dump = home.file("d.yaml", plane("tenant-b") + &plane("tenant-a"));
    let run = |format: &str| home.run(&["get", "--from", &dump, "-o", format]).ends(0).out;
    for format in ["table", "wide"] {
        let out = run(format);
        let lines: Vec<&str> = out.lines().collect();
        assert!(lines.len() == 3 && lines[0].starts_with("NAMESPACE"), "{out}");
        assert!(lines[1].starts_with("tenant-a") && lines[2].starts_with("tenant-b"), "{out}");
    }
    assert!(run("wide").lines().next().unwrap().contains("ENDPOINT"));
    let csv = run("csv");
    let mut reader = csv::Reader::from_reader(csv.as_bytes());
    assert_eq!(&reader.headers().unwrap()[0], "NAMESPACE");
    assert_eq!(reader.records().count(), 2);
    let markdown = run("markdown");
    assert!(markdown.lines().all(|l| l.starts_with('|') && l.ends_with('|')) && markdown.lines().count() == 4, "{markdown}");
    let layers = home.run(&["explain", "--from", &dump, "-o", "csv"]).out;
    assert_eq!(csv::Reader::from_reader(layers.as_bytes()).records().count(), 14);
}

#[test]
fn the_demo_in_ascii_is_ascii() {
    for args in [&["get"][..], &["explain"], &["report"], &["access"], &["get", "-o", "yaml"], &["explain", "-o", "markdown"]] {
        let ran = run(&[args, &["--demo", "--ascii"]].concat());
        assert!(!ran.out.is_empty() && ran.out.is_ascii(), "{args:?}: {}", ran.out);
    }
}

#[test]
fn a_closed_pipe_is_no_error() {
    let home = Home::new();
    // More than a pipe holds, so that the writer is still writing when the reader leaves.
    let dump: String = (0..2000).map(|n| plane(&format!("tenant-{n:04}"))).collect();
    let dump = home.file("d.yaml", dump);
    for format in ["table", "json", "jsonl", "yaml", "csv"] {
        let mut child =
            home.command(&["get", "--from", &dump, "-o", format]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        assert!(!line.is_empty());
        let ended = child.wait_with_output().unwrap();
        assert_eq!((ended.status.code(), String::from_utf8_lossy(&ended.stderr).as_ref()), (Some(0), ""), "{format}");
    }
}

#[test]
fn a_closed_standard_error_is_no_crash() {
    let home = Home::new();
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let mut command = home.command(&["get", "--from", "nowhere.yaml"]);
    assert_eq!(command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(writer).status().unwrap().code(), Some(2));
}

#[test]
fn completions_and_manual_are_text() {
    let home = Home::new();
    for args in [&["completions", "bash"][..], &["completions", "zsh"], &["completions", "fish"], &["man"]] {
        let ran = home.run(args).ends(0);
        for word in ["planedeck", "explain", "from"] {
            assert!(ran.out.contains(word), "{args:?}: no {word}");
        }
        assert!(ran.err.is_empty());
    }
    home.run(&["completions", "tcsh-or-so"]).ends(2);
}
