//! The audit log: written, private, chained, verified; and read-only mode, which can't do without.

use std::os::unix::fs::PermissionsExt as _;

use serde_json::Value;
use sha2::{Digest as _, Sha256};

use super::*;

fn lines(path: &Path) -> Vec<String> {
    std::fs::read_to_string(path).unwrap().lines().map(str::to_string).collect()
}

fn digest(line: &str) -> String {
    Sha256::digest(line.as_bytes()).iter().map(|b| format!("{b:02x}")).collect()
}

#[test]
fn every_request_is_a_line_of_a_chain_without_gaps() {
    let home = Home::new();
    let path = home.path("audit.jsonl");
    for _ in 0..2 {
        home.run(&["get", "--demo", "--audit-log", path.to_str().unwrap()]).ends(1);
    }
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    let lines = lines(&path);
    assert!(lines.len() > 20);
    for pair in lines.windows(2) {
        let next: Value = serde_json::from_str(&pair[1]).unwrap();
        assert_eq!(next["prev"], digest(&pair[0]));
    }
    for line in &lines {
        let record: Value = serde_json::from_str(line).unwrap();
        for field in [
            "time",
            "verb",
            "group",
            "version",
            "resource",
            "subresource",
            "namespace",
            "name",
            "decision",
            "status",
            "bytes",
            "millis",
            "purpose",
        ] {
            assert!(record.get(field).is_some(), "{field}: {line}");
        }
        assert!(matches!(record["decision"].as_str(), Some("sent" | "refused")), "{line}");
        assert_ne!(record["resource"], "secrets", "the console never reads a Secret: {line}");
    }
}

#[test]
fn the_report_names_the_head_and_tells_of_tampering() {
    let home = Home::new();
    let path = home.path("audit.jsonl");
    let log = path.to_str().unwrap();
    let report = |more: &[&str]| home.run(&[&["report", "--demo", "--audit-log", log], more].concat());
    let doc = report(&["-o", "json"]).ends(0).json();
    keeps_to("report", &doc);
    let seen = doc["auditLog"]["lines"].as_u64().unwrap() as usize;
    assert_eq!(doc["auditLog"]["head"], digest(&lines(&path)[seen - 1]), "the head is the last line's");
    assert_eq!(doc["auditLog"]["verified"], true);
    let text = std::fs::read_to_string(&path).unwrap();
    let forged = text.replacen("\"verb\":\"list\"", "\"verb\":\"get\"", 1);
    assert_ne!(text, forged);
    std::fs::write(&path, &forged).unwrap();
    for more in [&[][..], &["--read-only"]] {
        let ran = report(more).ends(1);
        assert!(ran.out.contains("THE CHAIN IS BROKEN"), "{ran:#?}");
        assert!(ran.out.contains("tenant-media"), "the rest of the report stays");
    }
    let doc = report(&["-o", "json"]).ends(1).json();
    keeps_to("report", &doc);
    assert_eq!(doc["auditLog"]["verified"], false);
    assert!(doc["auditLog"]["problem"].as_str().unwrap().contains("line"));
    assert_eq!(std::fs::read_to_string(&path).unwrap(), forged, "the trace of the tampering stays as it is");
    // Whatever would have to write to it refuses.
    let ran = home.run(&["get", "--demo", "--audit-log", log]).ends(2);
    assert!(ran.out.is_empty() && ran.err.contains("audit.jsonl"), "{ran:#?}");
    let ran = home.run(&["report", "--from", &recorded("01"), "--audit-log", log]).ends(1);
    assert!(ran.out.contains("THE CHAIN IS BROKEN"));
}

#[test]
fn read_only_keeps_a_log_or_refuses() {
    let home = Home::new();
    home.run(&["get", "--demo", "--read-only"]).ends(1);
    assert!(home.path(".local/state/planedeck/audit.jsonl").is_file());
    let homeless = |more: &[&str]| {
        let mut command = home.command(&[&["get", "--demo", "--read-only"], more].concat());
        // Nobody can make a folder there, not even root.
        finish(command.env("HOME", "/proc/nobody"), b"")
    };
    let ran = homeless(&[]).ends(2);
    assert!(ran.out.is_empty() && ran.err.contains("--no-audit-log"), "{ran:#?}");
    assert!(homeless(&["--no-audit-log"]).ends(1).out.contains("tenant-media"));
    let named = home.path("named.jsonl");
    homeless(&["--audit-log", named.to_str().unwrap()]).ends(1);
    assert!(!lines(&named).is_empty());
    // A folder in the place of the file can't be written.
    let ran = home.run(&["get", "--demo", "--read-only", "--audit-log", "."]).ends(2);
    assert!(ran.out.is_empty(), "{ran:#?}");
}

#[test]
fn whoever_closes_the_lock_it_is_closed_and_logged() {
    let after = "nodeGroups: {web: {minReplicas: 1, maxReplicas: 9}}\n";
    type Way = (&'static [&'static str], &'static [(&'static str, &'static str)], &'static str);
    let ways: [Way; 4] = [
        (&["--read-only"], &[], ""),
        (&[], &[("PLANEDECK_READ_ONLY", "true")], ""),
        (&[], &[], "readOnly: true\n"),
        (&[], &[], "readOnlyContexts: [demo]\n"),
    ];
    for (flags, env, settings) in ways {
        let home = Home::new();
        let config = home.file("settings.yaml", settings);
        let with = |args: &[&str]| home.run_with(&[args, flags, &["--demo", "--config", &config]].concat(), env, after.as_bytes());
        let doc = with(&["report", "-o", "json"]).ends(0).json();
        assert_eq!(doc["context"]["readOnly"], true, "{settings}{flags:?}");
        let ran = with(&["apply", "-n", "tenant-acme", "-f", "-", "--yes"]).ends(1);
        assert!(ran.err.contains("read-only"), "{ran:#?}");
        let log = lines(&home.path(".local/state/planedeck/audit.jsonl"));
        assert!(log.iter().all(|l| !l.contains("\"decision\":\"sent\"") || !l.contains("\"verb\":\"patch\"")), "{settings}");
        // No source opens what another closed.
        let env = [env, &[("PLANEDECK_READ_ONLY", if env.is_empty() { "false" } else { "true" })]].concat();
        let open = home.file("open.yaml", format!("{settings}{}", if settings.is_empty() { "readOnly: false\n" } else { "" }));
        let args = [&["report", "-o", "json", "--demo", "--config", &open], flags].concat();
        let doc = home.run_with(&args, &env, b"").ends(0).json();
        assert_eq!(doc["context"]["readOnly"], true, "{settings}{flags:?}");
    }
}

#[test]
fn a_state_folder_that_cannot_be_made_is_told_also_where_only_some_context_is_locked() {
    let home = Home::new();
    for settings in ["readOnly: true\n", "readOnlyContexts: [other]\n"] {
        let config = home.file("settings.yaml", settings);
        let mut command = home.command(&["get", "--demo", "--config", &config]);
        let ran = finish(command.env("HOME", "").env("XDG_STATE_HOME", "/proc/nobody"), b"").ends(2);
        assert!(ran.out.is_empty() && ran.err.contains("--no-audit-log"), "{ran:#?}");
    }
}
