//! The real binary in a pseudo terminal: first frame, sizes, the terminal given back, hostile text and planted tokens.
//! Must not need a cluster: the embedded platform serves.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic)]

mod support;

use std::{path::Path, process::Command, sync::Arc};

use planedeck::{
    demo::{Identity, Platform, Scenario},
    model::Time,
};
use portable_pty::CommandBuilder;
use serde_json::json;
use support::{escapes, pty::Pty, reading, walk, witness::Witness};

/// A token that must be nowhere.
const PLANTED: &str = "sre-planted-9f2c71d0";

fn home() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

fn signal(name: &str, pid: u32) {
    assert!(Command::new("kill").args([format!("-{name}"), pid.to_string()]).status().unwrap().success());
}

fn demo(home: &Path, columns: u16, rows: u16) -> Pty {
    let pty = Pty::start(&["--demo"], columns, rows, home);
    pty.wait("the list of planes", |s| s.contents().contains("tenant-a"));
    pty
}

#[test]
fn every_size_from_one_cell_to_large_and_back() {
    let home = home();
    let mut pty = demo(home.path(), 80, 24);
    pty.see("live");
    for (columns, rows) in [(40, 20), (1, 1), (2, 3), (200, 50), (1, 50), (200, 1)] {
        pty.resize(columns, rows);
        pty.keys("j");
    }
    pty.resize(200, 50);
    pty.see("tenant-acme-dev");
    pty.resize(40, 20);
    pty.see("tenant-acme");
    pty.resize(80, 24);
    pty.see("tenant-acme-dev");
    pty.keys("\r");
    pty.see("Overview");
    pty.keys("q");
    assert_eq!(pty.exit_code(), 0);
    assert!(pty.modes_are_off());
}

#[test]
fn a_small_terminal_from_the_start() {
    let home = home();
    let mut pty = demo(home.path(), 40, 20);
    pty.keys("q");
    assert_eq!(pty.exit_code(), 0);
    assert!(pty.modes_are_off());
}

#[test]
fn a_signal_gives_the_terminal_back_and_names_itself() {
    for (name, code) in [("TERM", 143), ("HUP", 129), ("INT", 130)] {
        let home = home();
        let mut pty = demo(home.path(), 80, 24);
        pty.wait("the alternate screen", vt100::Screen::alternate_screen);
        signal(name, pty.pid());
        assert_eq!(pty.exit_code(), code, "SIG{name}");
        pty.ended();
        assert!(pty.modes_are_off(), "SIG{name}");
    }
}

#[test]
fn suspended_and_resumed_by_a_shell() {
    let home = home();
    let mut shell = CommandBuilder::new("bash");
    shell.args(["--norc", "--noprofile", "--noediting", "-i"]);
    let mut pty = Pty::run(shell, 80, 24, home.path());
    pty.keys(&format!("{} --demo; echo left=$?\n", env!("CARGO_BIN_EXE_planedeck")));
    pty.wait("the console", |s| s.alternate_screen() && s.contents().contains("tenant-acme"));
    pty.keys("\x1a");
    pty.wait("the shell's screen", |s| !s.alternate_screen() && s.contents().contains("Stopped"));
    assert!(pty.modes_are_off(), "suspended");
    pty.keys("echo still-$((40+2))\n");
    pty.see("still-42");
    pty.keys("fg\n");
    pty.wait("the console again", |s| s.alternate_screen() && s.contents().contains("tenant-acme"));
    pty.keys("q");
    pty.wait("the shell again", |s| !s.alternate_screen());
    assert!(pty.modes_are_off(), "left");
    pty.keys("echo after-$((40+3))\n");
    pty.see("after-43");
}

/// What the walk asks for, told by the server: nothing outside of our own reading, and in read-only mode nothing that writes. Suspending is
/// among the commands: without a shell that could continue it, the console must stay alive.
#[test]
fn every_key_and_every_command_ask_for_nothing_they_should_not() {
    let witness = Witness::serve(Platform::new(Scenario::default(), Arc::new(Time::now), Identity::sre()));
    let home = home();
    let config = witness.kubeconfig(home.path(), PLANTED);
    for read_only in [true, false] {
        let mut args = vec!["--kubeconfig", &config, "-n", "tenant-acme"];
        args.extend(read_only.then_some("--read-only"));
        let mut pty = Pty::start(&args, 120, 40, home.path());
        pty.see("live");
        walk::every_key(&mut pty);
        walk::every_command(&mut pty);
        pty.keys("q");
        assert_eq!(pty.exit_code(), 0);
        assert!(pty.modes_are_off());
        let asked = witness.take();
        assert!(asked.len() > 50, "{} requests", asked.len());
        for (method, uri) in &asked {
            assert_eq!(reading::fault(method, uri), None);
            assert!(!read_only || method != "PATCH", "{uri}");
        }
    }
    let leaked = files(home.path()).into_iter().filter(|f| !f.ends_with("kubeconfig")).find(|f| holds(f, PLANTED));
    assert_eq!(leaked, None, "a file holds the token");
}

#[test]
fn a_log_that_breaks_under_the_screens_is_told_and_stops_them() {
    let home = home();
    let log = home.path().join("log").join("audit.jsonl");
    let mut pty = Pty::start(&["--demo", "--read-only", "--audit-log", log.to_str().unwrap()], 120, 24, home.path());
    pty.see("live");
    std::fs::remove_file(&log).unwrap();
    std::fs::create_dir(&log).unwrap();
    pty.keys("\x12");
    pty.see("the audit log can't be written");
    pty.see("tenant-acme");
    pty.keys("q");
    assert_eq!(pty.exit_code(), 0);
}

/// Escapes, C1, bidi, a title, a colour, modes, a clipboard write, a bell, a reset: everything content could try.
const HOSTILE: &str = "\u{1b}]0;owned\u{7}\u{1b}[48;5;201m\u{1b}[?1000h\u{1b}[?25h\u{1b}[?1049l\u{1b}]52;c;b3duZWQ=\u{7}\u{9b}31m\u{9d}0;owned\u{9c}\u{1b}c\u{1b}[6n\u{1b}P+q544e\u{1b}\\\u{202e}dne\u{2066}x\u{200b}\r\n\u{8}\u{7f}MARK";

fn hostile_platform() -> Platform {
    let platform = Platform::new(Scenario::default(), Arc::new(Time::now), Identity::sre());
    let mut release = platform.object("helm.toolkit.fluxcd.io/v2", "HelmRelease", "tenant-acme", "computeplane").unwrap();
    release["metadata"]["labels"]["evil"] = json!(HOSTILE);
    release["spec"]["values"]["nodeGroups"][HOSTILE] =
        json!({"minReplicas": 1, "maxReplicas": 2, "instanceType": HOSTILE, "roles": [HOSTILE]});
    release["status"]["conditions"] = json!([{"type": "Ready", "status": "False", "reason": HOSTILE, "observedGeneration": release["metadata"]["generation"],
        "message": format!("MSG {HOSTILE}"), "lastTransitionTime": "2026-11-30T10:00:00Z"}]);
    assert!(platform.put(release));
    assert!(platform.put(
        json!({"apiVersion": "v1", "kind": "Event", "metadata": {"name": "evil", "namespace": "tenant-acme"}, "type": "Warning",
        "reason": HOSTILE, "message": HOSTILE, "count": 3, "lastTimestamp": "2026-11-30T10:00:00Z",
        "involvedObject": {"kind": "HelmRelease", "name": "computeplane", "namespace": "tenant-acme"}})
    ));
    // No real server takes such names; a hostile one, or one between, sends them.
    let namespace = format!("tenant-{HOSTILE}");
    assert!(platform.put(json!({"apiVersion": "apps.cozystack.io/v1alpha1", "kind": "ComputePlane",
        "metadata": {"name": "computeplane", "namespace": namespace, "uid": HOSTILE, "creationTimestamp": "2026-11-30T10:00:00Z"}, "spec": {},
        "status": {"version": HOSTILE, "conditions": [{"type": HOSTILE, "status": HOSTILE, "reason": HOSTILE, "message": HOSTILE}]}})));
    for namespace in ["tenant-acme", &namespace] {
        assert!(platform.put(json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": HOSTILE, "namespace": namespace,
            "labels": {"kamaji.clastix.io/name": "computeplane-cluster"}}, "status": {"phase": HOSTILE, "message": HOSTILE}})));
        assert!(platform.put(
            json!({"apiVersion": "cluster.x-k8s.io/v1beta1", "kind": "Machine", "metadata": {"name": HOSTILE, "namespace": namespace,
            "labels": {"cluster.x-k8s.io/cluster-name": "computeplane-cluster", "cluster.x-k8s.io/deployment-name": HOSTILE}},
            "spec": {"clusterName": "computeplane-cluster"}, "status": {"phase": HOSTILE, "nodeRef": {"name": HOSTILE}}})
        ));
    }
    platform
}

#[test]
fn content_never_drives_the_terminal_and_a_token_is_nowhere() {
    let witness = Witness::serve(hostile_platform());
    let home = home();
    let config = witness.kubeconfig(home.path(), PLANTED);
    let log = home.path().join("audit.jsonl");
    let mut pty = Pty::start(&["--kubeconfig", &config, "-n", "tenant-acme", "--audit-log", log.to_str().unwrap()], 160, 50, home.path());
    pty.see("tenant-acme");
    pty.see("live");
    pty.keys("\r");
    for tab in ["1", "2", "3", "4", "5", "6", "1w"] {
        let before = pty.raw().len();
        pty.keys(tab);
        pty.wait_raw("a frame", before);
    }
    pty.keys("\x1b4");
    pty.see("MARK");
    // The whole cluster, each screen and each overlay on the plane whose very namespace is hostile, and its names copied.
    let mut wide = Pty::start(&["--kubeconfig", &config, "-A"], 200, 50, home.path());
    wide.see("tenant-dnex MARK");
    wide.keys("/owned\r");
    wide.keys("\r");
    for tab in ["1", "2", "3", "4", "5", "6", "w", "y", "e", "\x1b\x1b[27u", "n", "\x1b[27u", ":MARK", "\x1b[27u", "a"] {
        let before = wide.raw().len();
        wide.keys(tab);
        wide.wait_raw("a frame", before);
    }
    wide.keys("\x1b[27uH");
    wide.keys("q");
    assert_eq!(wide.exit_code(), 0);
    wide.ended();
    assert!(wide.modes_are_off());
    assert_eq!(escapes::foreign(&wide.raw()), Vec::<String>::new());
    pty.wait("modes as the console set them", |s| s.alternate_screen() && s.mouse_protocol_mode() == vt100::MouseProtocolMode::None);
    pty.keys("q");
    assert_eq!(pty.exit_code(), 0);
    pty.ended();
    assert!(pty.modes_are_off());
    let raw = pty.raw();
    assert_eq!(escapes::foreign(&raw), Vec::<String>::new());
    assert!(!String::from_utf8_lossy(&raw).contains("48;5;201"), "content chose a colour");

    let recording = home.path().join("recording.json");
    for args in
        [vec!["get", "-o", "wide"], vec!["explain"], vec!["access"], vec!["report"], vec!["record", "-o", recording.to_str().unwrap()]]
    {
        let out = Command::new(env!("CARGO_BIN_EXE_planedeck"))
            .args(["--kubeconfig", &config, "-n", "tenant-acme"])
            .args(&args)
            .env_clear()
            .env("HOME", home.path())
            .output()
            .unwrap();
        let all = [out.stdout, out.stderr].concat();
        assert!(!String::from_utf8_lossy(&all).contains(PLANTED), "{args:?}");
        assert!(!all.contains(&0x1b) && !all.contains(&0x07), "{args:?} lets escapes through");
    }
    assert!(recording.is_file() && log.is_file(), "the recording and the audit log were written");
    assert!(!String::from_utf8_lossy(&raw).contains(PLANTED), "the screens show the token");
    let leaked = files(home.path()).into_iter().filter(|f| !f.ends_with("kubeconfig")).find(|f| holds(f, PLANTED));
    assert_eq!(leaked, None, "a file holds the token");
}

fn holds(file: &Path, text: &str) -> bool {
    String::from_utf8_lossy(&std::fs::read(file).unwrap()).contains(text)
}

fn files(dir: &Path) -> Vec<std::path::PathBuf> {
    let mut out = Vec::new();
    for entry in std::fs::read_dir(dir).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() { out.extend(files(&path)) } else { out.push(path) }
    }
    out
}
