//! What every script of keys must keep: undo leads back to the start, nothing panics, nothing is written that wasn't confirmed.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{Editor, Stage};
use crate::{
    keys::{Chord, Keymap},
    model::{
        Kind, Object, Problem, ProblemKind, Time,
        context::ContextInfo,
        feed::{Feed, FeedEvent},
        world::Source,
    },
    nodegroups::{Groups, draft::Draft},
    state::{Connected, Effect, Judge, Msg, Settings, State, Wrote, screens::Screen, update},
};

#[path = "text_tests.rs"]
mod text_tests;

pub fn start() -> Value {
    json!({
        "web": {"minReplicas": 1, "maxReplicas": 3, "instanceType": "u1.medium", "diskSize": "20Gi", "roles": ["ingress-nginx"]},
        "db": {"minReplicas": 0, "maxReplicas": 2, "instanceType": "u1.large", "diskSize": "40Gi", "odd": {"b": 1, "a": [null]}},
    })
}

fn plane(groups: &Value) -> Value {
    json!({"apiVersion": "apps.cozystack.io/v1alpha1", "kind": "ComputePlane",
        "metadata": {"name": "computeplane", "namespace": "tenant-acme", "uid": "u-1", "creationTimestamp": "2026-10-20T03:00:00Z"},
        "spec": {"nodeGroups": groups}})
}

struct Console {
    state: State,
    effects: Vec<Effect>,
}

impl Console {
    fn new(groups: &Value, read_only: bool) -> Console {
        let now: Time = "2026-12-01T03:00:00Z".parse().unwrap();
        let settings = Settings { read_only, ..Settings::default() };
        let mut c = Console { state: State::new(Judge::engine(), settings, Keymap::new(&[]).0, now), effects: vec![] };
        let info = ContextInfo { name: "prod".into(), server: "https://a:6443".into(), ..ContextInfo::default() };
        c.send(Msg::Connected(Box::new(Connected { info, namespaces: vec!["tenant-acme".into()], source: "flag".into(), all: false })));
        c.watch(groups);
        c.keys("e");
        c
    }

    fn watch(&mut self, groups: &Value) {
        let wanted = &self.state.session.wanted;
        let source: Source = wanted.keys().find(|s| s.kind == Kind::ComputePlane).cloned().unwrap();
        let (generation, context) = (wanted[&source], self.state.session.key());
        let event = FeedEvent::Listed(vec![Object::from_value(&plane(groups)).unwrap()]);
        self.send(Msg::Feed(Box::new(Feed { generation, context, source, event })));
        self.effects.extend(crate::state::settle(&mut self.state));
    }

    fn send(&mut self, msg: Msg) {
        let effects = update(&mut self.state, msg);
        self.effects.extend(effects);
    }

    fn keys(&mut self, keys: &str) {
        for k in keys.split_whitespace() {
            self.send(Msg::Key(k.parse::<Chord>().unwrap()));
        }
    }

    fn types(&mut self, text: &str) {
        text.chars().for_each(|c| self.send(Msg::Key(Chord::char(c))));
    }

    fn editor(&self) -> &Editor {
        match self.state.screen() {
            Some(Screen::Editor(e)) => e,
            other => panic!("no editor: {other:?}"),
        }
    }

    fn answer_fetch(&mut self, groups: &Value) {
        let request = self.state.counters.request;
        self.send(Msg::Fetched { request, result: Ok(Box::new(plane(groups))) });
    }

    fn writes(&self) -> Vec<&Value> {
        self.effects.iter().filter_map(|e| if let Effect::Write { patch, .. } = e { Some(patch) } else { None }).collect()
    }

    fn last_draft(&self) -> Option<Option<Vec<u8>>> {
        self.effects.iter().rev().find_map(|e| if let Effect::SaveDraft(_, b) = e { Some(b.clone()) } else { None })
    }

    fn wrote(&mut self, outcome: Wrote) {
        let request = self.state.counters.request;
        self.send(Msg::Wrote { request, outcome });
    }

    fn notice(&self) -> String {
        self.state.notices.newest().map(|(n, _)| n.text.clone()).unwrap_or_default()
    }

    fn text(&self) -> String {
        let e = self.editor();
        let lines = match &e.stage {
            Stage::Review(r) => &r.doc.lines,
            Stage::Rolling(r) => &r.doc.lines,
            Stage::Yaml(s) => &s.doc.lines,
            _ => &e.view.right,
        };
        lines.iter().map(|l| l.iter().map(|s| s.text.as_str()).collect::<String>() + "\n").collect()
    }
}

fn map(v: &Value) -> Groups {
    v.as_object().cloned().unwrap()
}

#[test]
fn a_mistake_is_named_while_it_is_typed_and_a_draft_is_on_disk_at_each_key() {
    let mut c = Console::new(&start(), false);
    assert!(
        matches!(c.effects.last(), Some(Effect::LoadDraft(_) | Effect::Subscribe { .. } | Effect::WakeAt(_))),
        "{:?}",
        c.effects.last()
    );
    c.keys("tab j enter ctrl-u");
    c.types("0");
    assert!(c.text().contains("error"), "minReplicas above maxReplicas: {}", c.text());
    let kept = Draft::from_bytes(&c.last_draft().unwrap().unwrap()).unwrap();
    assert_eq!(kept.mine["web"]["maxReplicas"], json!(0));
    assert_eq!(kept.base, map(&start()));
    c.keys("esc");
    assert_eq!(c.editor().mine, map(&start()), "esc takes the text back");
    assert_eq!(c.last_draft(), Some(None), "and the draft's file goes");
}

#[test]
fn steps_keep_units_and_defaults_are_not_written() {
    let mut c = Console::new(&start(), false);
    c.keys("tab j j j +");
    assert_eq!(c.editor().mine["web"]["diskSize"], json!("21Gi"));
    c.keys("- u u u");
    assert_eq!(c.editor().mine, map(&start()));
    assert!(c.text().contains("replicated  default"), "{}", c.text());
    assert!(!serde_json::to_string(&c.editor().mine).unwrap().contains("replicated"));
}

#[test]
fn unknown_fields_stay_byte_for_byte_and_are_marked() {
    let mut c = Console::new(&start(), false);
    c.keys("j tab +");
    assert!(c.text().contains("stored, ignored by this platform"), "{}", c.text());
    assert_eq!(c.editor().mine["db"]["odd"].to_string(), r#"{"b":1,"a":[null]}"#);
}

#[test]
fn an_instance_type_is_chosen_with_its_size_or_typed() {
    let mut c = Console::new(&start(), false);
    c.keys("tab j j enter");
    c.types("u1.2xl");
    c.keys("enter");
    assert_eq!(c.editor().mine["web"]["instanceType"], json!("u1.2xlarge"));
    c.keys("enter");
    c.types("zz9.none");
    c.keys("enter");
    assert_eq!(c.editor().mine["web"]["instanceType"], json!("zz9.none"));
    assert!(c.text().contains("error"), "{}", c.text());
}

#[test]
fn pools_are_added_cloned_renamed_and_removed() {
    let mut c = Console::new(&start(), false);
    c.keys("C ctrl-u");
    c.types("web2");
    c.keys("enter");
    assert_eq!(c.editor().mine["web2"], start()["web"]);
    c.keys("esc R ctrl-u");
    c.types("db");
    c.keys("enter");
    assert!(c.notice().contains("already"), "{}", c.notice());
    c.keys("ctrl-u");
    c.types("front");
    c.keys("enter esc D");
    assert_eq!(c.editor().mine, map(&start()));
    c.keys("u u u");
    assert_eq!(c.editor().mine, map(&start()));
}

#[test]
fn a_harmless_edit_is_written_after_one_question_and_the_patch_is_the_one_shown() {
    let mut c = Console::new(&start(), false);
    c.keys("tab j + ctrl-s");
    assert!(matches!(c.effects.iter().rev().find(|e| matches!(e, Effect::Fetch { .. })), Some(Effect::Fetch { .. })));
    c.answer_fetch(&start());
    let text = c.text();
    assert!(text.contains("tenant-acme/computeplane in context prod"), "{text}");
    assert!(text.contains(r#""path":"/metadata/uid""#) && text.contains("nodeGroups.web.maxReplicas: 3 → 4"), "{text}");
    assert!(c.writes().is_empty());
    c.keys("W W");
    let patch = c.writes()[0].clone();
    assert_eq!(c.writes().len(), 1, "a repeated key writes once");
    assert_eq!(patch[2], json!({"op": "replace", "path": "/spec/nodeGroups/web/maxReplicas", "value": 4}));
    let mut after = start();
    after["web"]["maxReplicas"] = json!(4);
    c.wrote(Wrote::Written(vec![plane(&after), plane(&after)]));
    assert!(matches!(c.editor().stage, Stage::Rolling(_)));
    assert_eq!(c.last_draft(), Some(None), "a verified write ends the draft");
    assert!(c.text().contains("since the write"), "{}", c.text());
    c.keys("p");
    assert_eq!(c.editor().mine["web"]["maxReplicas"], json!(3), "the values from before are offered");
    assert_eq!(c.writes().len(), 1);
}

#[test]
fn destroying_machines_asks_for_the_name() {
    let mut c = Console::new(&start(), false);
    c.keys("j D ctrl-s");
    c.answer_fetch(&start());
    c.keys("W");
    c.types("tenant-acme");
    c.keys("enter");
    assert!(c.writes().is_empty(), "half a name confirms nothing");
    c.types("/computeplane");
    c.keys("enter");
    assert_eq!(c.writes().len(), 1, "{}", c.notice());
}

#[test]
fn a_conflict_is_decided_before_anything_is_written() {
    let mut c = Console::new(&start(), false);
    c.keys("tab j + ctrl-s");
    let mut theirs = start();
    theirs["web"]["maxReplicas"] = json!(9);
    theirs["db"]["maxReplicas"] = json!(7);
    c.answer_fetch(&theirs);
    c.keys("W");
    assert!(c.writes().is_empty());
    assert!(c.text().contains("mine 4 · theirs 9 · base 3"), "{}", c.text());
    c.keys("m W");
    let text = c.writes()[0].to_string();
    assert!(text.contains(r#""value":4"#) && !text.contains("/db/"), "theirs in other fields stays: {text}");
}

#[test]
fn errors_locks_and_refusals_lose_nothing() {
    let mut c = Console::new(&start(), true);
    c.keys("tab j + ctrl-s");
    c.answer_fetch(&start());
    c.keys("W");
    assert!(c.writes().is_empty() && c.notice().contains("read-only"), "{}", c.notice());

    let mut c = Console::new(&start(), false);
    c.keys("tab j + ctrl-s");
    c.answer_fetch(&start());
    c.keys("W");
    let mine = c.editor().mine.clone();
    c.wrote(Wrote::Refused(Problem::new(ProblemKind::Forbidden, "computeplanes is forbidden")));
    assert_eq!(c.editor().mine, mine);
    assert!(c.notice().contains("forbidden") && matches!(c.editor().stage, Stage::Form));
    assert!(matches!(c.last_draft(), Some(Some(_))), "the draft is still on disk");

    c.keys("ctrl-s");
    c.answer_fetch(&start());
    c.keys("W");
    c.wrote(Wrote::Unknown(None, Problem::new(ProblemKind::Timeout, "no answer")));
    assert_eq!((c.editor().mine.clone(), c.writes().len()), (mine.clone(), 2));
    c.keys("ctrl-s");
    c.answer_fetch(&start());
    c.keys("W");
    let mut theirs = start();
    theirs["web"]["maxReplicas"] = json!(9);
    c.wrote(Wrote::Conflict(Some(Box::new(plane(&theirs))), Problem::new(ProblemKind::Conflict, "test failed")));
    assert!(c.text().contains("theirs 9"), "{}", c.text());
    c.keys("esc");
    assert_eq!(c.editor().mine, mine);
    c.keys("ctrl-s");
    let request = c.state.counters.request;
    c.send(Msg::Fetched { request, result: Err(Problem::new(ProblemKind::Unreachable, "gone")) });
    assert_eq!(c.editor().mine, mine);
}

#[test]
fn without_the_right_it_is_a_calculator_and_says_so() {
    let mut c = Console::new(&start(), false);
    let object = c.editor().object.clone();
    assert!(c.effects.contains(&Effect::AskWrite(object.clone())));
    c.send(Msg::MayWrite { object, allowed: false, reason: "role view".into() });
    c.keys("tab j +");
    assert!(c.editor().lock.as_deref().is_some_and(|l| l.contains("no right") && l.contains("role view")));
    assert_ne!(c.editor().mine, map(&start()), "it still calculates");
    c.keys("ctrl-s");
    c.answer_fetch(&start());
    c.keys("W");
    assert!(c.writes().is_empty() && c.notice().contains("no right"), "{}", c.notice());
}

#[test]
fn an_error_is_never_written() {
    let mut c = Console::new(&start(), false);
    c.keys("tab j enter ctrl-u");
    c.types("0");
    c.keys("enter ctrl-s");
    c.answer_fetch(&start());
    c.keys("W");
    assert!(c.writes().is_empty() && c.notice().contains("refuse"), "{}", c.notice());
}

#[test]
fn a_draft_comes_back_with_its_base_and_a_broken_one_is_kept() {
    let mut c = Console::new(&start(), false);
    c.keys("tab j +");
    let (name, bytes) = (c.editor().file(), c.last_draft().unwrap().unwrap());
    let mine = c.editor().mine.clone();
    let mut live = start();
    live["db"]["maxReplicas"] = json!(8);
    let mut later = Console::new(&live, false);
    later.send(Msg::DraftLoaded { name: name.clone(), result: Ok(Some(bytes)) });
    assert_eq!((later.editor().mine.clone(), later.editor().base.clone()), (mine, map(&start())));
    later.keys("u");
    assert_eq!(later.editor().mine, map(&live), "undo goes back to what is live");

    let mut broken = Console::new(&start(), false);
    broken.send(Msg::DraftLoaded { name, result: Ok(Some(b"{".to_vec())) });
    broken.keys("tab j +");
    assert!(broken.last_draft().is_none(), "a file that can't be read isn't overwritten");
}

#[test]
fn an_empty_map_says_what_runs() {
    let c = Console::new(&json!({}), false);
    assert!(c.text().contains("md0"), "{}", c.text());
}

const KEYS: &[&str] = &[
    "j",
    "k",
    "tab",
    "enter",
    "esc",
    "+",
    "-",
    "a",
    "C",
    "R",
    "D",
    "d",
    "x",
    "1",
    "backspace",
    "ctrl-u",
    "up",
    "down",
    "g",
    "G",
    "X",
    "h",
    "l",
    "pageup",
    "pagedown",
    "o",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]
    #[test]
    fn any_keys_then_undo_lead_back_to_the_start(script in proptest::collection::vec(0..KEYS.len(), 0..50)) {
        let mut c = Console::new(&start(), false);
        for k in script {
            c.keys(KEYS[k]);
            if !matches!(c.state.screen(), Some(Screen::Editor(_))) {
                c.keys("e");
                break;
            }
        }
        prop_assume!(matches!(c.state.screen(), Some(Screen::Editor(_))));
        // Whatever is open is closed without being taken.
        for _ in 0..3 {
            if c.editor().is_typing() || !c.state.overlays.is_empty() {
                c.keys("esc");
            }
        }
        for _ in 0..200 {
            c.keys("u");
        }
        prop_assert_eq!(&c.editor().mine, &map(&start()));
        prop_assert_eq!(serde_json::to_string(&c.editor().mine).unwrap(), start().to_string());
        prop_assert!(c.writes().is_empty());
    }
}
