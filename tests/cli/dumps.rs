//! `--from`: every way a dump may come, what counts as seen, and what a broken one gives.

use std::io::Write as _;

use serde_json::{Value, json};

use super::*;

fn hidden<'a>(plane: &'a Value, resource: &str) -> Option<&'a str> {
    let all = plane["coverage"]["hidden"].as_array().unwrap();
    all.iter().find(|h| h["resource"] == resource).map(|h| h["reason"].as_str().unwrap())
}

fn gz(text: &str) -> Vec<u8> {
    let mut w = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    w.write_all(text.as_bytes()).unwrap();
    w.finish().unwrap()
}

#[test]
fn one_dump_in_every_shape_gives_one_answer() {
    let home = Home::new();
    let yaml = std::fs::read_to_string(recorded("04")).unwrap();
    let objects: Vec<Value> = serde_yaml::Deserializer::from_str(&yaml)
        .map(|d| serde::Deserialize::deserialize(d).unwrap())
        .filter(|v: &Value| !v.is_null())
        .collect();
    let lines: String = objects.iter().map(|o| format!("{o}\n")).collect();
    let pretty: String = objects.iter().map(|o| format!("{o:#}\n---\n")).collect();
    let list = json!({"apiVersion": "v1", "kind": "List", "items": objects}).to_string();
    let want = home.run_with(&["get", "--from", "-", "-o", "json"], &[], yaml.as_bytes()).ends(1);
    for (name, content) in [
        ("a.yaml", yaml.clone().into_bytes()),
        ("b.jsonl", lines.into_bytes()),
        ("c.json", pretty.into_bytes()),
        ("d.json", list.clone().into_bytes()),
        ("e.yaml.gz", gz(&yaml)),
        ("f.json.gz", gz(&list)),
        ("g.yaml", format!("\u{feff}{}", yaml.replace('\n', "\r\n")).into_bytes()),
    ] {
        let stdin = home.run_with(&["get", "--from", "-", "-o", "json"], &[], &content);
        let file = home.file(name, content);
        assert_eq!(home.run(&["get", "--from", &file, "-o", "json"]), want, "{name}");
        assert_eq!(stdin, want, "{name} on standard input");
    }
    let folder = home.path("folder");
    std::fs::create_dir(&folder).unwrap();
    for (n, o) in objects.iter().enumerate() {
        std::fs::write(folder.join(format!("{n}.json")), o.to_string()).unwrap();
    }
    std::fs::write(folder.join("README.txt"), "not a dump").unwrap();
    assert_eq!(home.run(&["get", "--from", folder.to_str().unwrap(), "-o", "json"]), want, "folder");
}

#[test]
fn absence_is_a_fact_only_in_a_complete_dump() {
    let home = Home::new();
    let dump = home.file("d.yaml", plane("tenant-a"));
    let open = home.run(&["get", "tenant-a", "--from", &dump, "-o", "json"]).json();
    assert_eq!(hidden(&open, "helmreleases.helm.toolkit.fluxcd.io"), Some("notRead"));
    assert_eq!((&open["state"], &open["visibleState"]), (&json!("Unknown"), &json!("Ready")));
    let complete = home.run(&["get", "tenant-a", "--from", &dump, "--complete", "-o", "json"]).json();
    assert_eq!(hidden(&complete, "helmreleases.helm.toolkit.fluxcd.io"), None);
    assert_ne!(complete["state"], "Ready", "a module without its release is not Ready");
    let cluster = |p: &Value| p["layers"][2]["cause"].as_str().unwrap().to_string();
    assert_ne!(cluster(&open), cluster(&complete), "not read and absent are two things");
}

#[test]
fn a_namespace_that_was_asked_for_may_be_not_enabled() {
    let home = Home::new();
    let dump = home.file("d.yaml", plane("tenant-a"));
    let args = |more: &[&'static str]| [&["get", "tenant-b", "--from", dump.as_str(), "-o", "json"][..], more].concat();
    assert_eq!(home.run(&args(&["--complete"])).ends(0).json()["state"], "NotEnabled");
    assert_ne!(home.run(&args(&[])).ends(0).json()["state"], "Ready");
    let list = home.run(&["get", "--from", &dump, "--complete", "-o", "json"]).json();
    assert_eq!(list["items"].as_array().unwrap().len(), 1, "nobody asked for another one");
    let named = home.run(&["get", "--from", &dump, "--complete", "-n", "tenant-b", "-o", "json"]).json();
    assert_eq!((&named["items"][0]["namespace"], &named["items"][0]["state"]), (&json!("tenant-b"), &json!("NotEnabled")));
}

#[test]
fn refusals_become_coverage() {
    let home = Home::new();
    for (namespace, dark) in [("", true), ("tenant-a", true), ("tenant-z", false)] {
        let dump = home.file("d.yaml", plane("tenant-a") + &refusal("helm.toolkit.fluxcd.io", "helmreleases", namespace));
        let doc = home.run(&["get", "tenant-a", "--from", &dump, "--complete", "-o", "json"]).json();
        keeps_to("plane", &doc);
        assert_eq!(hidden(&doc, "helmreleases.helm.toolkit.fluxcd.io"), dark.then_some("forbidden"), "{namespace}");
    }
    // Nothing but refusals: nothing was readable.
    let dump =
        home.file("n.yaml", refusal("apps.cozystack.io", "computeplanes", "") + &refusal("helm.toolkit.fluxcd.io", "helmreleases", ""));
    let ran = home.run(&["get", "--from", &dump]).ends(3);
    assert!(ran.err.contains("computeplanes"), "{ran:#?}");
}

#[test]
fn the_clock_is_the_dumps_or_the_one_given() {
    let home = Home::new();
    let dump = home.file("d.yaml", plane("tenant-a"));
    let age = |ran: Ran| ran.out.lines().nth(1).unwrap().split(',').nth(6).unwrap().to_string();
    assert_eq!(age(home.run(&["get", "--from", &dump, "-o", "csv"])), "10m");
    assert_eq!(age(home.run(&["get", "--from", &dump, "-o", "csv", "--now", "2026-11-03T00:00:00Z"])), "2d");
    assert_eq!(age(home.run(&["get", "--from", &dump, "-o", "csv", "--now", "2026-11-03T02:00:00+02:00"])), "2d");
    let wrong = home.run(&["get", "--from", &dump, "--now", "yesterday"]).ends(2);
    assert!(wrong.err.contains("yesterday") && wrong.err.contains("RFC 3339"), "{wrong:#?}");
}

#[test]
fn unreadable_input_ends_with_two_and_names_what_was_found() {
    let home = Home::new();
    home.file("utf16.yaml", b"a\xff\xfe");
    home.file("half.json", r#"{"apiVersion": "v1", "kind": "Pod", "metadata": {"na"#);
    home.file("text.yaml", "hello");
    home.file("list.yaml", "a: b\nc: d\n");
    home.file("broken.gz", [0x1f, 0x8b, 8, 0]);
    std::fs::create_dir(home.path("empty")).unwrap();
    for (path, says) in [
        ("nowhere.yaml", "No such file"),
        ("utf16.yaml", "byte 1"),
        ("half.json", "half.json"),
        ("text.yaml", "text.yaml#1"),
        ("list.yaml", "apiVersion or kind is missing"),
        ("broken.gz", "gzip"),
        ("empty", "no dump in this folder"),
    ] {
        for command in ["get", "explain", "watch", "report"] {
            let ran = home.run(&[command, "--from", path]).ends(2);
            assert!(ran.out.is_empty() && ran.err.contains(says) && ran.err.contains(path), "{command}: {ran:#?}");
        }
    }
}

#[test]
fn one_broken_document_hides_no_other() {
    let home = Home::new();
    let dump = home.file("d.yaml", plane("tenant-a") + "a: [\n---\n" + &plane("tenant-b"));
    let ran = home.run(&["get", "--from", &dump, "-o", "json"]).ends(0);
    assert_eq!(ran.json()["items"].as_array().unwrap().len(), 2);
    assert!(ran.err.contains("d.yaml#2"), "{}", ran.err);
    let folder = home.path("folder");
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(folder.join("a.yaml"), plane("tenant-a")).unwrap();
    std::fs::write(folder.join("b.yaml"), "{").unwrap();
    let folder = folder.display().to_string();
    let ran = home.run(&["get", "--from", &folder, "-o", "json"]).ends(0);
    assert!(ran.err.contains("b.yaml"), "{}", ran.err);
    // Whoever vouches that the dump is complete can't have half of it read.
    let ran = home.run(&["get", "--from", &folder, "--complete"]).ends(2);
    assert!(ran.err.contains("b.yaml") && ran.out.is_empty(), "{ran:#?}");
}

#[test]
fn an_empty_dump_says_nothing_unless_it_is_complete() {
    let home = Home::new();
    for text in ["", "---\n", "# only a comment\n"] {
        let dump = home.file("d.yaml", text);
        home.run(&["get", "--from", &dump]).ends(3);
        let complete = home.run(&["get", "--from", &dump, "--complete", "-o", "json"]).ends(0);
        assert_eq!(complete.json()["items"], json!([]));
    }
}

#[test]
fn exit_codes_follow_the_worst_plane() {
    let home = Home::new();
    for (number, code, strict) in [("01", 1, 1), ("08", 1, 1), ("15", 1, 1), ("22", 0, 0), ("31", 0, 1)] {
        let file = recorded(number);
        for command in ["get", "explain"] {
            home.run(&[command, "--from", &file]).ends(code);
            home.run(&[command, "--from", &file, "--strict"]).ends(strict);
        }
    }
}

#[test]
fn watching_a_dump_tells_it_once() {
    let home = Home::new();
    let file = recorded("01");
    let ran = home.run(&["watch", "--from", &file, "-o", "jsonl"]).ends(0);
    let changes: Vec<Value> = ran.out.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
    changes.iter().for_each(|c| keeps_to("change", c));
    assert_eq!((changes.len(), &changes[0]["to"], &changes[0]["from"]), (1, &json!("AwaitingEtcd"), &Value::Null));
    for (until, code) in [("AwaitingEtcd", 0), ("awaitingetcd", 0), ("blocked", 0), ("Ready", 1), ("ready", 1)] {
        home.run(&["watch", "--from", &file, "--until", until]).ends(code);
    }
    let wrong = home.run(&["watch", "--from", &file, "--until", "AwaitingEtc"]).ends(2);
    assert!(wrong.err.contains("AwaitingEtcd") && wrong.out.is_empty(), "{wrong:#?}");
}

#[test]
fn the_same_input_gives_the_same_bytes() {
    let home = Home::new();
    let file = recorded("39");
    for args in [
        &["get"][..],
        &["get", "-o", "json"],
        &["explain"],
        &["explain", "-o", "markdown"],
        &["report"],
        &["report", "-o", "csv"],
        &["watch"],
    ] {
        let args = [args, &["--from", &file]].concat();
        assert_eq!(home.run(&args), home.run(&args), "{args:?}");
    }
}

#[test]
fn what_asks_a_server_refuses_a_dump() {
    for command in [&["access"][..], &["record", "-o", "x.json"]] {
        let ran = run(&[command, &["--from", &recorded("01")]].concat()).ends(2);
        assert!(ran.out.is_empty() && ran.err.contains("--from"), "{ran:#?}");
    }
}
