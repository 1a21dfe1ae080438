//! An edit in the real binary against the embedded platform on a socket: a text in the person's own editor, refusals, races and cuts at each
//! step of the write, and a console that is killed at each step. Nothing may be lost, nothing written twice.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic)]

mod support;

use std::{
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

use planedeck::{
    demo::{Fault, Identity, Match, Platform, Scenario},
    model::Time,
};
use portable_pty::CommandBuilder;
use serde_json::{Value, json};
use support::{pty::Pty, witness::Witness};

const RELEASE: (&str, &str, &str, &str) = ("helm.toolkit.fluxcd.io/v2", "HelmRelease", "tenant-acme", "computeplane");

/// A platform, the console on it and its home.
struct Desk {
    platform: Platform,
    witness: Witness,
    home: tempfile::TempDir,
}

impl Desk {
    fn new() -> Desk {
        let platform = Platform::new(Scenario::default(), Arc::new(Time::now), Identity::sre());
        Desk { witness: Witness::serve(platform.clone()), platform, home: tempfile::tempdir().unwrap() }
    }

    /// The console in the editor, on the pool `web`.
    fn editor(&self, visual: &str) -> Pty {
        let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_planedeck"));
        command.args(["--kubeconfig", &self.witness.kubeconfig(self.home.path(), "t"), "-n", "tenant-acme"]);
        let mut pty = Pty::run_with(command, (100, 30), self.home.path(), &[("VISUAL", visual)]);
        pty.see("✔ Ready");
        pty.keys("e");
        pty.see("Forecast");
        pty.keys("G");
        pty
    }

    fn groups(&self) -> Value {
        let (api, kind, ns, name) = RELEASE;
        self.platform.object(api, kind, ns, name).unwrap()["spec"]["values"]["nodeGroups"].clone()
    }

    fn max(&self) -> Value {
        self.groups()["web"]["maxReplicas"].clone()
    }

    /// Somebody else's edit.
    fn theirs(&self, change: impl Fn(&mut Value)) {
        let (api, kind, ns, name) = RELEASE;
        let mut release = self.platform.object(api, kind, ns, name).unwrap();
        change(&mut release["spec"]["values"]["nodeGroups"]["web"]);
        assert!(self.platform.put(release));
    }

    fn patches(&self) -> usize {
        self.witness.take().iter().filter(|(method, _)| method == "PATCH").count()
    }

    /// Waits until a file below the drafts holds a text (or until none does).
    fn kept(&self, text: &str, there: bool) {
        let dir = self.home.path().join(".local/state/planedeck/drafts");
        let holds = || {
            let files = std::fs::read_dir(&dir).map(|d| d.flatten().map(|f| f.path()).collect::<Vec<_>>()).unwrap_or_default();
            files.iter().any(|f| std::fs::read_to_string(f).is_ok_and(|t| t.contains(text)))
        };
        let deadline = Instant::now() + Duration::from_secs(20);
        while holds() != there {
            assert!(Instant::now() < deadline, "{text} in {}: never {there}", dir.display());
            // The poll of a state, bounded by the deadline.
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

fn script(home: &Path, body: &str) -> String {
    let path = home.join("editor.sh");
    std::fs::write(&path, format!("{body}\n")).unwrap();
    format!("sh {}", path.display())
}

#[test]
fn the_persons_own_editor_has_the_terminal_and_its_text_becomes_the_draft() {
    let desk = Desk::new();
    let visual =
        script(desk.home.path(), "grep -c nodeGroups \"$1\"; echo ready; read go; sed -i 's/maxReplicas: 8/maxReplicas: 7/' \"$1\"");
    let mut pty = desk.editor(&visual);
    pty.keys("E");
    pty.wait("the editor on the ordinary screen", |s| !s.alternate_screen() && s.contents().contains("ready"));
    assert!(pty.modes_are_off());
    pty.keys("\n");
    pty.wait("the console again", |s| s.alternate_screen() && s.contents().contains("was 8"));
    desk.kept("\"maxReplicas\": 7", true);
    assert_eq!((desk.max(), desk.patches()), (json!(8), 0), "a draft, no more");
    pty.keys("q");
    assert_eq!(pty.exit_code(), 0);
}

#[test]
fn a_text_that_is_refused_is_given_again_also_to_a_later_console() {
    let desk = Desk::new();
    let visual = script(desk.home.path(), "cp \"$1\" seen; printf 'nodeGroups: {web: [' > \"$1\"");
    let mut pty = desk.editor(&visual);
    pty.keys("E");
    pty.see("not taken");
    desk.kept("nodeGroups: {web: [", true);
    pty.keys("q");
    assert_eq!(pty.exit_code(), 0);
    let mut later = desk.editor(&visual);
    later.see("`E` opens it");
    later.keys("E");
    later.see("not taken");
    let seen = std::fs::read_to_string(desk.home.path().join("seen")).unwrap();
    assert!(seen.starts_with("#! not taken: Y-SYNTAX") && seen.ends_with("nodeGroups: {web: ["), "{seen}");
    later.keys("q");
    assert_eq!(later.exit_code(), 0);
}

#[test]
fn an_editor_that_fails_changes_nothing() {
    let desk = Desk::new();
    for visual in ["false", "/no/such/editor", "'open"] {
        let mut pty = desk.editor(visual);
        pty.keys("E");
        pty.see("was not edited");
        pty.keys("q");
        assert_eq!(pty.exit_code(), 0);
    }
    assert_eq!(desk.patches(), 0);
}

/// The keys from the editor to the answer, and what shows that each has been reached.
const STEPS: [(&str, &str); 5] = [("\tj", "▌maxReplicas"), ("\r\x157", "was 8"), ("\r", "8-7"), ("\x13", "W writes it"), ("W", "verified")];

/// What `maxReplicas` may have been by the step that was reached: killed at any moment, the next console has the draft or the write stands.
#[test]
fn killed_at_each_step_the_edit_is_kept_or_stands() {
    for last in 1..STEPS.len() {
        let desk = Desk::new();
        let mut pty = desk.editor("");
        for (keys, _) in &STEPS[..=last] {
            pty.keys(keys);
        }
        if last < 4 {
            desk.kept("\"maxReplicas\": 7", true);
        }
        // The answer to the write isn't waited for: it is killed with the patch on its way.
        drop(pty);
        let mut next = desk.editor("");
        next.wait("the draft or the write", |s| {
            let text = s.contents();
            text.contains("was 8") || (last == 4 && text.contains("0 changed"))
        });
        if last < 4 {
            assert_eq!(desk.max(), 8, "step {last}");
        }
        next.keys("q");
        assert_eq!(next.exit_code(), 0);
    }
}

/// Keys to a review of `maxReplicas: 7`.
fn review(pty: &mut Pty) {
    pty.keys("\tj\r\x157\r\x13");
    pty.see("writes it");
}

#[test]
fn a_write_lands_once_and_its_draft_goes() {
    let desk = Desk::new();
    let mut pty = desk.editor("");
    review(&mut pty);
    pty.keys("WWW");
    pty.see("rollout");
    desk.kept("maxReplicas", false);
    assert_eq!((desk.max(), desk.patches()), (json!(7), 1));
    pty.keys("q");
    assert_eq!(pty.exit_code(), 0);
}

#[test]
fn every_refusal_is_told_and_the_draft_stays() {
    let patch = Match::resource("apps.cozystack.io", "computeplanes").verb("patch");
    for (fault, told) in [
        (Fault::Forbidden, "nothing was written"),
        (Fault::Unauthorized, "nothing was written"),
        (Fault::TooMany(1), "nothing was written"),
        (Fault::Denied("no more than six".into()), "no more than six"),
        (Fault::Internal("etcdserver: request timed out".into()), "may or may not"),
        (Fault::BadGateway, "may or may not"),
        (Fault::Unavailable, "may or may not"),
        (Fault::Conflict, "the plane moved"),
        (Fault::Refuse, "may or may not"),
    ] {
        let desk = Desk::new();
        let mut pty = desk.editor("");
        review(&mut pty);
        desk.platform.faults().times(patch.clone(), fault.clone(), 1);
        pty.keys("W");
        pty.wait(&format!("{fault:?}: {told}"), |s| unwrapped(s).contains(told));
        assert_eq!((desk.max(), desk.patches() <= 1), (json!(8), true), "{fault:?}");
        desk.kept("\"maxReplicas\": 7", true);
        // The same edit goes through when the fault is over.
        if !pty.text().contains("writes it") {
            pty.keys("\x13");
            pty.see("writes it");
        }
        pty.keys("W");
        pty.see("rollout");
        assert_eq!((desk.max(), desk.patches()), (json!(7), 1), "{fault:?}");
        pty.keys("q");
        assert_eq!(pty.exit_code(), 0);
    }
}

/// The text with its lines run together: a notice may break anywhere.
fn unwrapped(s: &vt100::Screen) -> String {
    s.contents().split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn a_cut_while_the_answer_is_under_way_is_cleared_up_by_reading() {
    let desk = Desk::new();
    let mut pty = desk.editor("");
    review(&mut pty);
    // The write is done, its answer breaks off.
    desk.platform.faults().times(Match::resource("apps.cozystack.io", "computeplanes").verb("patch"), Fault::Truncate(7), 1);
    pty.keys("W");
    pty.wait("the reading back", |s| unwrapped(s).contains("reading back shows"));
    assert_eq!((desk.max(), desk.patches()), (json!(7), 1));
    desk.kept("maxReplicas", false);
    pty.keys("q");
    assert_eq!(pty.exit_code(), 0);
}

#[test]
fn two_writers_on_one_field_are_told_apart_before_anything_is_written() {
    let desk = Desk::new();
    let mut pty = desk.editor("");
    review(&mut pty);
    desk.theirs(|web| web["maxReplicas"] = json!(5));
    pty.keys("W");
    pty.wait("the conflict", |s| unwrapped(s).contains("mine 7 · theirs 5 · base 8"));
    assert_eq!(desk.max(), 5, "theirs stands");
    pty.keys("t");
    pty.see("nothing to write");
    pty.keys("\x1b[27u");
    pty.keys("\x13");
    pty.see("conflict");
    pty.keys("m");
    pty.see("writes it");
    pty.keys("W");
    pty.see("rollout");
    assert_eq!(desk.max(), 7);
    pty.keys("q");
    assert_eq!(pty.exit_code(), 0);
}

#[test]
fn two_writers_on_two_fields_both_have_their_way() {
    let desk = Desk::new();
    let mut pty = desk.editor("");
    review(&mut pty);
    desk.theirs(|web| web["minReplicas"] = json!(2));
    pty.keys("W");
    pty.see("rollout");
    assert_eq!((desk.groups()["web"]["minReplicas"].clone(), desk.max()), (json!(2), json!(7)));
    pty.keys("q");
    assert_eq!(pty.exit_code(), 0);
}
