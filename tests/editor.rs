//! Frames of the editor, its review and its rollout at three sizes; and that no keys and no size can break painting it.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic)]

#[path = "fixtures/console.rs"]
mod console;

use console::{Console, object};
use planedeck::{
    keys::Chord,
    model::Kind,
    state::{Effect, Msg, Wrote},
    ui::Theme,
};
use proptest::prelude::*;
use serde_json::{Value, json};

const SIZES: [(u16, u16); 3] = [(80, 24), (120, 40), (40, 20)];

fn shoot(name: &str, c: &mut Console) {
    for size in SIZES {
        let frame = c.screen(size);
        insta::assert_snapshot!(format!("{name}_{}x{}", size.0, size.1), frame);
    }
}

fn plane(groups: &Value) -> Value {
    json!({"apiVersion": "apps.cozystack.io/v1alpha1", "kind": "ComputePlane", "metadata": {
        "name": "computeplane", "namespace": "tenant-acme", "uid": "uid-tenant-acme", "creationTimestamp": "2026-10-20T03:00:00Z",
        "labels": {"helm.sh/state": "Ready", "helm.sh/pools": "web.gpu"}}, "spec": {"nodeGroups": groups}})
}

fn start() -> Value {
    json!({
        "web": {"minReplicas": 1, "maxReplicas": 8, "instanceType": "u1.medium", "diskSize": "20Gi", "roles": ["ingress-nginx"], "foo": [1]},
        "gpu": {"minReplicas": 0, "maxReplicas": 2, "instanceType": "u9.huge", "diskSize": "40Gi", "gpus": [{"name": "nvidia.com/AD102GL_L40S"}]},
    })
}

fn open(groups: &Value) -> Console {
    let mut c = Console::connected(&["tenant-acme"]);
    c.listed(Kind::ComputePlane, "tenant-acme", vec![object(plane(groups))]);
    c.keys("e");
    c
}

fn answer(c: &mut Console, groups: &Value) {
    let request = c.state.counters.request;
    c.send(Msg::Fetched { request, result: Ok(Box::new(plane(groups))) });
}

#[test]
fn the_form() {
    let mut c = open(&start());
    shoot("editor_pools", &mut c);
    c.keys("tab j j j +");
    shoot("editor_roll", &mut c);
    c.keys("u esc j tab j enter ctrl-u");
    c.types("x");
    shoot("editor_typing", &mut c);
    c.keys("esc j enter");
    c.types("4xl");
    shoot("editor_types", &mut c);
    c.keys("esc esc a");
    c.types("new-pool");
    shoot("editor_add", &mut c);
    shoot("editor_empty", &mut open(&json!({})));
}

#[test]
fn review_and_rollout() {
    let mut c = open(&json!({"web": start()["web"], "db": start()["web"]}));
    c.keys("tab j + ctrl-s");
    let mut theirs = json!({"web": start()["web"], "db": start()["web"]});
    theirs["web"]["maxReplicas"] = json!(5);
    answer(&mut c, &theirs);
    shoot("editor_conflict", &mut c);
    c.keys("m");
    shoot("editor_review", &mut c);
    c.effects.clear();
    c.keys("W");
    assert!(c.effects.iter().any(|e| matches!(e, Effect::Write { .. })));
    theirs["web"]["maxReplicas"] = json!(9);
    let request = c.state.counters.request;
    c.send(Msg::Wrote { request, outcome: Wrote::Written(vec![plane(&theirs)]) });
    c.tick(65);
    shoot("editor_rollout", &mut c);
}

#[test]
fn destruction_is_confirmed_by_name() {
    let mut c = open(&json!({"web": start()["web"], "db": start()["web"]}));
    c.keys("j D ctrl-s");
    answer(&mut c, &json!({"web": start()["web"], "db": start()["web"]}));
    c.keys("W");
    c.types("tenant-");
    shoot("editor_confirm", &mut c);
}

#[test]
fn hostile_names_and_values_are_painted_safely() {
    let mut c =
        open(&json!({"\u{1b}[31m\nx\u{202e}": {"minReplicas": "\u{7}", "instanceType": "\u{1b}]0;x\u{7}", "\u{1b}k": 1}, "東京": null}));
    c.keys("tab j j j j j j j j j j j j j j j j j");
    for size in SIZES {
        let frame = c.screen(size);
        assert!(!frame.chars().any(|c| c != '\n' && (c.is_control() || c == '\u{202e}')), "{frame}");
        assert!(c.screen_in(size, &Theme::mono().with_ascii(true)).is_ascii());
    }
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
    "u",
    "U",
    "up",
    "down",
    "g",
    "G",
    "X",
    "h",
    "l",
    "ctrl-s",
    "W",
    "m",
    "t",
    "b",
    "p",
    "o",
    "pageup",
    "pagedown",
    "e",
    "?",
    ":",
    "ctrl-r",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]
    #[test]
    fn any_keys_at_any_size_paint(script in proptest::collection::vec(0..KEYS.len(), 0..40), size in (0u16..130, 0u16..45), fetched in any::<bool>()) {
        let mut c = open(&start());
        for k in script {
            c.send(Msg::Key(KEYS[k].parse::<Chord>().unwrap()));
            if fetched {
                let mut groups = start();
                groups["web"]["maxReplicas"] = json!(k);
                answer(&mut c, &groups);
            }
            c.screen(size);
        }
    }
}
