//! Every text that somebody else writes, bent and broken: no parser may panic, hang or hand on what a terminal must not see.
//! Kubeconfigs, answers of servers, quantities and node groups are tried beside their code.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic)]

use planedeck::{
    cluster::audit_file,
    config::{self, Loaded},
    keys::Chord,
    model::{dump::Dump, text},
    nodegroups::draft::{Draft, History, PlaneKey},
    state::filter::Filter,
    ui::Theme,
};
use proptest::prelude::*;

/// One way to break a text.
#[derive(Debug, Clone)]
enum Bend {
    Replace(u16, u8),
    Insert(u16, String),
    Remove(u16, u8),
    Repeat(u16, u8),
    Cut(u16),
}

fn bends() -> impl Strategy<Value = Vec<Bend>> {
    let piece = prop_oneof![
        ".{0,6}",
        prop::sample::select(vec![
            "\u{1b}[31m",
            "\u{9b}",
            "\u{202e}",
            "\u{0}",
            "\t",
            "\r\n",
            "\u{feff}",
            "{",
            "}",
            "[",
            "]",
            "\"",
            "'",
            ": ",
            "- ",
            "&a ",
            "*a",
            "!!x ",
            "|",
            "null",
            "1e999",
            "18446744073709551616",
            "---\n",
            "<<: ",
            "\\",
            "#",
            "\u{ff}"
        ])
        .prop_map(String::from)
    ];
    prop::collection::vec(
        prop_oneof![
            (any::<u16>(), any::<u8>()).prop_map(|(at, b)| Bend::Replace(at, b)),
            (any::<u16>(), piece).prop_map(|(at, s)| Bend::Insert(at, s)),
            (any::<u16>(), any::<u8>()).prop_map(|(at, n)| Bend::Remove(at, n)),
            (any::<u16>(), any::<u8>()).prop_map(|(at, n)| Bend::Repeat(at, n)),
            any::<u16>().prop_map(Bend::Cut),
        ],
        0..6,
    )
}

fn bent(seed: &str, bends: &[Bend]) -> Vec<u8> {
    let mut out = seed.as_bytes().to_vec();
    for bend in bends {
        let place = |at: u16| usize::from(at) % (out.len() + 1);
        match bend {
            Bend::Replace(at, b) => {
                let at = place(*at);
                if let Some(x) = out.get_mut(at) {
                    *x = *b;
                }
            }
            Bend::Insert(at, s) => {
                let at = place(*at);
                out.splice(at..at, s.bytes());
            }
            Bend::Remove(at, n) => {
                let at = place(*at);
                out.drain(at..(at + usize::from(*n)).min(out.len()));
            }
            Bend::Repeat(at, n) => {
                let at = place(*at);
                let piece = out[at..(at + usize::from(*n)).min(out.len())].to_vec();
                out.splice(at..at, piece);
            }
            Bend::Cut(at) => {
                let at = place(*at);
                out.truncate(at);
            }
        }
    }
    out
}

/// Nothing in it may move a terminal.
fn harmless(s: &str) -> bool {
    s.chars().all(|c| c == '\n' || !text::is_unsafe(c) || c == '\u{200d}' || c == '\u{fe0f}')
}

const SETTINGS: &str = include_str!("../assets/settings.yaml");
const THEME: &str = include_str!("../assets/themes/dark.yaml");
const RELEASE: &str = r#"apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: computeplane, namespace: tenant-a, generation: 2}
spec: {values: {nodeGroups: {web: {minReplicas: 1}}}}
status:
  conditions: [{type: Ready, status: "False", reason: InstallFailed, message: "no", lastTransitionTime: "2026-11-30T10:00:00Z"}]
---
{"kind":"Recording","apiVersion":"planedeck/v1","takenAt":"2026-11-30T10:00:00Z","reads":[{"group":"","resource":"pods","namespace":"t","state":"complete","at":"2026-11-30T10:00:00Z"}],"objects":[]}
"#;

fn draft() -> String {
    let key = PlaneKey { context: "c".into(), server: "s".into(), namespace: "n".into(), uid: "u".into() };
    let groups = serde_json::json!({"web": {"minReplicas": 1}}).as_object().cloned().unwrap();
    String::from_utf8(Draft::new(key, groups, "2026-11-30T10:00:00Z".parse().unwrap()).to_bytes().unwrap()).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn settings(b in bends()) {
        let text = String::from_utf8_lossy(&bent(SETTINGS, &b)).into_owned();
        let mut loaded = Loaded::default();
        config::parse("settings.yaml", &text, &mut loaded);
        for w in &loaded.warnings {
            prop_assert!(harmless(&w.to_string()), "{w:?}");
        }
    }

    #[test]
    fn themes(b in bends()) {
        let (_, said) = Theme::read(&String::from_utf8_lossy(&bent(THEME, &b)));
        prop_assert!(said.iter().all(|s| harmless(s)), "{said:?}");
    }

    #[test]
    fn dumps_and_recordings(b in bends()) {
        let mut dump = Dump::default();
        if let Err(p) = dump.add("dump", &bent(RELEASE, &b)) {
            prop_assert!(harmless(&p.to_string()), "{p}");
        }
        let dump = dump.finish(true);
        prop_assert!(dump.notes.iter().all(|n| harmless(n)), "{:?}", dump.notes);
    }

    #[test]
    fn drafts(b in bends()) {
        let bytes = bent(&draft(), &b);
        if let Err(e) = Draft::from_bytes(&bytes) {
            prop_assert!(harmless(&e.to_string()));
        }
        let _ = History::from_bytes(&bytes);
    }

    #[test]
    fn audit_logs(b in bends()) {
        let log = "{\"prev\":\"0000000000000000000000000000000000000000000000000000000000000000\",\"verb\":\"get\"}\n";
        let _ = audit_file::verify(&mut std::io::Cursor::new(bent(&log.repeat(2), &b)));
    }

    #[test]
    fn filters_and_chords(s in "\\PC{0,40}|[a-z:!\"/ ]{0,40}") {
        let _ = Filter::parse(&s);
        let _ = s.parse::<Chord>();
    }

    #[test]
    fn no_text_keeps_what_a_terminal_must_not_see(s in "(.|\u{1b}|\u{9b}|\u{202e}|\u{200d}|\u{fe0f}|\u{301}|\n){0,60}") {
        prop_assert!(harmless(&text::block(&s)), "{s:?}");
        prop_assert!(!text::line(&s).contains('\n'));
        prop_assert!(text::ascii(&text::block(&s)).bytes().all(|b| b == b'\n' || (b' '..=b'~').contains(&b)));
        prop_assert_eq!(text::block(&text::block(&s)), text::block(&s), "cleaned once, cleaned for good");
    }
}
