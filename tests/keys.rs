//! Key scripts: a fixture, keys, then the effects or the screen they must lead to. Plain synchronous code.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic)]

#[path = "fixtures/console.rs"]
mod console;

use console::{Console, plane};
use planedeck::{
    keys::{Chord, Context, Keymap},
    model::{Kind, ProblemKind, Scope, feed::FeedEvent},
    state::{Effect, Msg, screens::Screen, update},
};

fn tab(c: &Console) -> String {
    match c.state.screen() {
        Some(Screen::Plane(p)) => format!("{} {:?}", p.namespace, p.tab),
        Some(Screen::Planes(_)) => "planes".to_string(),
        Some(Screen::Access(_)) => "access".to_string(),
        Some(Screen::Requests(_)) => "requests".to_string(),
        Some(Screen::Editor(e)) => format!("{} editor", e.key.namespace),
        None => String::new(),
    }
}

#[test]
fn quit_from_anywhere() {
    for path in ["", "enter", "enter 6 enter", "r", "?", ":", "n", "c", "/", "enter 2 /"] {
        let mut c = Console::with_fleet();
        c.keys(path);
        c.effects.clear();
        c.keys("ctrl-c");
        assert!(c.effects.contains(&Effect::Quit), "after {path:?}");
    }
    let mut c = Console::with_fleet();
    c.keys("enter 3 q");
    assert!(c.effects.contains(&Effect::Quit));
}

#[test]
fn escape_always_goes_back_and_never_quits() {
    let mut c = Console::with_fleet();
    c.keys("enter 6 enter ? esc");
    assert_eq!(c.state.context(), Context::Yaml);
    c.keys("esc");
    assert_eq!(c.state.context(), Context::Objects);
    c.keys("esc");
    assert_eq!(tab(&c), "planes");
    c.keys("esc esc esc");
    assert!(!c.effects.contains(&Effect::Quit));
    assert_eq!(tab(&c), "planes");
}

#[test]
fn access_asks_about_what_is_in_front_and_drops_old_answers() {
    use planedeck::model::access::{Access, Boundary};
    let asked = |c: &Console| {
        c.effects.iter().rev().find_map(|e| match e {
            Effect::Access { request, namespaces } => Some((*request, namespaces.clone())),
            _ => None,
        })
    };
    let mut c = Console::with_fleet();
    c.keys("a");
    assert_eq!(asked(&c).unwrap().1.len(), 4);
    let old = asked(&c).unwrap().0;
    c.keys("esc enter a");
    let (request, names) = asked(&c).unwrap();
    assert_eq!((names.len(), request > old), (1, true));
    let answer = || Box::new(Access { kind: "Access".into(), identity: None, namespaces: vec![], boundary: Boundary::fold(&[]) });
    c.send(Msg::AccessRead { request: old, result: Ok(answer()) });
    assert!(c.screen((80, 24)).contains("asking the server"));
    c.send(Msg::AccessRead { request, result: Ok(answer()) });
    assert!(c.screen((80, 24)).contains("doesn't say who you are"));
    c.effects.clear();
    c.keys("ctrl-r");
    assert!(asked(&c).unwrap().0 > request);
    c.keys("y esc esc");
    assert_eq!(tab(&c), "planes");
}

#[test]
fn the_cursor_holds_on_to_its_plane() {
    let mut c = Console::with_fleet();
    c.keys("G k");
    let before = c.selected();
    assert!(before.contains("tenant-acme-dev"), "{before}");
    c.listed(Kind::ComputePlane, "tenant-nb", vec![plane("tenant-nb", "PackageMissing", "web", "worst of all")]);
    assert!(c.selected().contains("tenant-acme-dev"), "{}", c.selected());
    c.feed(Kind::ComputePlane, "tenant-lab", FeedEvent::Deleted("tenant-lab".into(), "computeplane".into()));
    assert!(c.selected().contains("tenant-acme-dev"), "{}", c.selected());
    c.keys("enter");
    assert_eq!(tab(&c), "tenant-acme-dev Overview");
}

#[test]
fn vim_and_arrow_habits_are_one() {
    let mut vim = Console::with_fleet();
    let mut arrows = Console::with_fleet();
    vim.keys("g j j k G g j");
    arrows.keys("home down down up end home down");
    assert_eq!(vim.selected(), arrows.selected());
}

#[test]
fn pasted_text_runs_no_key() {
    let mut c = Console::with_fleet();
    let before = tab(&c);
    c.effects.clear();
    c.send(Msg::Paste("q\nG\r:quit\n".into()));
    assert_eq!(tab(&c), before);
    assert!(!c.effects.contains(&Effect::Quit));
    c.keys("/");
    c.send(Msg::Paste("lab\nq".into()));
    assert!(c.screen((80, 24)).contains("/lab q"));
}

#[test]
fn letters_in_a_field_are_text() {
    let mut c = Console::with_fleet();
    c.keys("/ q s w");
    assert!(!c.effects.contains(&Effect::Quit));
    assert!(c.screen((80, 24)).contains("/qsw"));
    c.keys("esc");
    assert!(c.screen((80, 24)).contains("4 planes"));
}

#[test]
fn a_filter_stays_after_enter_and_goes_with_escape() {
    let mut c = Console::with_fleet();
    c.keys("/");
    c.types("st");
    c.keys("tab");
    c.types("aw");
    c.keys("enter");
    let screen = c.screen((100, 24));
    assert!(screen.contains("tenant-lab") && !screen.contains("tenant-acme-dev"), "{screen}");
    c.keys("esc");
    assert!(c.screen((100, 24)).contains("tenant-acme-dev"));
}

#[test]
fn every_column_sorts_both_ways() {
    let mut c = Console::with_fleet();
    let mut seen = std::collections::BTreeSet::new();
    for _ in 0..7 {
        c.keys("s");
        let down = c.screen((140, 24)).lines().nth(2).unwrap_or_default().to_string();
        assert_eq!(down.matches('↓').count(), 1, "{down}");
        c.keys("S");
        assert!(c.screen((140, 24)).contains('↑'));
        c.keys("S");
        seen.insert(down);
    }
    assert_eq!(seen.len(), 7);
}

#[test]
fn namespaces_are_chosen_any_subset_or_typed() {
    let mut c = Console::with_fleet();
    c.effects.clear();
    c.keys("n space enter");
    assert_eq!(c.state.session.namespaces, ["tenant-acme-dev", "tenant-lab", "tenant-nb"]);
    let subscribed = c.effects.iter().find_map(|e| match e {
        Effect::Subscribe { wanted, .. } => Some(wanted.clone()),
        _ => None,
    });
    let planes: Vec<Scope> = subscribed.unwrap().into_iter().filter(|s| s.kind == Kind::ComputePlane).map(|s| s.scope).collect();
    assert_eq!(planes, ["tenant-acme-dev", "tenant-lab", "tenant-nb"].map(|n| Scope::Namespace(n.into())));
    c.keys("n");
    c.types("tenant-new");
    c.keys("enter");
    assert_eq!(c.state.session.namespaces, ["tenant-new"]);
    assert!(!c.state.session.all);
}

#[test]
fn another_cluster_leaves_the_old_one_behind() {
    let mut c = Console::with_fleet();
    c.send(Msg::Contexts(vec![console::info("prod"), console::info("staging")]));
    let old = c.source(Kind::ComputePlane, "tenant-acme");
    c.keys("enter c down enter");
    assert!(c.effects.contains(&Effect::Connect { context: Some("staging".into()), namespaces: vec![] }));
    assert_eq!(tab(&c), "planes");
    assert!(!c.screen((80, 24)).contains("tenant-acme "), "no row of the old cluster under the new name");
    let late = planedeck::model::feed::Feed {
        generation: 99,
        context: "prod".into(),
        source: old,
        event: FeedEvent::Listed(vec![plane("tenant-acme", "Ready", "", "late")]),
    };
    update(&mut c.state, Msg::Feed(Box::new(late)));
    assert_eq!(c.state.counters.dropped, 1);
}

#[test]
fn the_palette_finds_planes_and_actions() {
    let mut c = Console::with_fleet();
    c.keys(":");
    c.types("plane lab");
    c.keys("enter");
    assert_eq!(tab(&c), "tenant-lab Overview");
    c.keys(":");
    c.types("audit");
    c.keys("ctrl-u");
    c.types("every request");
    c.keys("enter");
    assert_eq!(tab(&c), "requests");
}

#[test]
fn yaml_is_asked_for_once_and_old_answers_are_dropped() {
    let mut c = Console::with_fleet();
    c.keys("enter 6 enter");
    let fetch = c.effects.iter().filter(|e| matches!(e, Effect::Fetch { .. })).count();
    assert_eq!(fetch, 1);
    let value = || Ok(Box::new(serde_json::json!({"kind": "ComputePlane", "spec": {"a": "answer"}})));
    c.send(Msg::Fetched { request: 77, result: value() });
    assert!(!c.screen((80, 24)).contains("answer"));
    let request = c.state.counters.request;
    c.send(Msg::Fetched { request, result: value() });
    assert!(c.screen((80, 24)).contains("answer"));
    c.effects.clear();
    c.keys("y");
    assert!(matches!(c.effects.first(), Some(Effect::Copy(t)) if t.contains("a: answer")));
}

#[test]
fn y_copies_the_ticket() {
    let mut c = Console::with_fleet();
    c.keys("g G");
    c.effects.clear();
    c.keys("g y");
    assert!(matches!(c.effects.first(), Some(Effect::Copy(t)) if t.starts_with("## tenant-")), "{:?}", c.effects);
}

#[test]
fn a_lost_source_keeps_rows_and_comes_back() {
    let mut c = Console::with_fleet();
    c.lost(Kind::ComputePlane, "tenant-acme", ProblemKind::Unreachable, "connection refused");
    let lost = c.screen((120, 24));
    assert!(lost.contains("○ lost") && lost.contains("connection refused") && lost.contains("tenant-acme "), "{lost}");
    c.listed(Kind::ComputePlane, "tenant-acme", vec![]);
    let back = c.screen((120, 24));
    assert!(back.contains("● live") && !back.contains("tenant-acme "), "what was deleted meanwhile is gone:\n{back}");
}

#[test]
fn a_revoked_role_is_named_and_comes_back() {
    let mut c = Console::connected(&["tenant-x"]);
    c.listed(Kind::ComputePlane, "tenant-x", vec![]);
    assert!(c.screen((80, 24)).contains("No ComputePlane"));
    c.lost(Kind::ComputePlane, "tenant-x", ProblemKind::Forbidden, "refused");
    assert!(c.screen((80, 24)).contains("You may not list"));
    c.effects.clear();
    c.send(Msg::Focus(true));
    assert!(c.effects.contains(&Effect::RetryNow), "asked again with the focus");
    c.listed(Kind::ComputePlane, "tenant-x", vec![plane("tenant-x", "Ready", "web", "")]);
    assert!(c.screen((80, 24)).contains("✔ Ready"));
}

#[test]
fn nothing_wakes_a_console_that_nobody_looks_at() {
    let mut c = Console::with_fleet();
    assert!(c.effects.iter().any(|e| matches!(e, Effect::WakeAt(_))), "ages change");
    c.send(Msg::Focus(false));
    c.effects.clear();
    c.tick(3_600);
    assert_eq!(c.effects, []);
}

#[test]
fn a_thousand_feeds_cost_one_wake_up() {
    let mut c = Console::with_fleet();
    let source = c.source(Kind::ComputePlane, "tenant-nb");
    let generation = c.state.session.wanted[&source];
    c.effects.clear();
    for i in 0..1_000 {
        let object = Box::new(plane("tenant-nb", if i % 2 == 0 { "Retrying" } else { "Ready" }, "web", "x"));
        let feed =
            planedeck::model::feed::Feed { generation, context: "prod".into(), source: source.clone(), event: FeedEvent::Applied(object) };
        c.send(Msg::Feed(Box::new(feed)));
    }
    assert_eq!(c.effects.len(), 1, "{:?}", c.effects);
}

#[test]
fn the_timeline_tells_what_was_seen() {
    let mut c = Console::with_fleet();
    c.listed(Kind::ComputePlane, "tenant-nb", vec![plane("tenant-nb", "Retrying", "web.new", "chart broke")]);
    c.keys("G");
    c.types("");
    c.keys(":");
    c.types("plane nb");
    c.keys("enter 5");
    let screen = c.screen((120, 24));
    assert!(screen.contains("Ready → Retrying: chart broke"), "{screen}");
    assert!(screen.contains("pool new"), "{screen}");
}

#[test]
fn keys_of_another_layout_and_the_users_own_work() {
    let mut c = Console::with_fleet();
    c.send(Msg::Key(Chord::char('р').with_base(Some('r'))));
    assert_eq!(tab(&c), "requests");
    let mut c = Console::with_fleet();
    c.state.keymap = Keymap::new(&[("requests".into(), vec!["f7".into()])]).0;
    c.keys("f7");
    assert_eq!(tab(&c), "requests");
    c.keys("?");
    assert!(c.screen((80, 60)).contains("f7"), "help is generated from the keymap");
}

/// The same, through the real verdict engine: what it says of a namespace without rights and without a plane.
#[test]
fn the_engine_and_the_pages_agree() {
    let fresh = || {
        let state = planedeck::state::State::new(planedeck::state::Judge::engine(), Default::default(), Keymap::new(&[]).0, console::now());
        let mut c = Console { state, effects: vec![] };
        let connected = planedeck::state::Connected {
            info: console::info("prod"),
            namespaces: vec!["tenant-x".into()],
            source: "flag".into(),
            all: false,
        };
        c.send(Msg::Connected(Box::new(connected)));
        c
    };
    let mut c = fresh();
    assert!(c.screen((80, 24)).contains("Loading"));
    for (problem, title) in [
        (ProblemKind::Forbidden, "You may not list ComputePlanes"),
        (ProblemKind::AbsentApi, "This server has no ComputePlanes"),
        (ProblemKind::ServerError, "can't be read"),
    ] {
        let mut c = fresh();
        let sources: Vec<_> = c.state.session.wanted.keys().map(|s| s.kind).collect();
        for kind in sources.into_iter().filter(|k| k.info().namespaced && *k != Kind::Tenant) {
            c.lost(kind, "tenant-x", problem, "words");
        }
        let screen = c.screen((80, 24));
        assert!(screen.contains(title), "{problem:?}:\n{screen}");
    }
    let mut c = fresh();
    let sources: Vec<_> = c.state.session.wanted.keys().map(|s| s.kind).collect();
    for kind in sources.into_iter().filter(|k| k.info().namespaced && *k != Kind::Tenant) {
        c.listed(kind, "tenant-x", vec![]);
    }
    let screen = c.screen((80, 24));
    assert!(screen.contains("No ComputePlane"), "{screen}");
    c.listed(Kind::ComputePlane, "tenant-x", vec![plane("tenant-x", "Ready", "web", "")]);
    assert!(c.screen((80, 24)).contains("tenant-x  "), "{}", c.screen((80, 24)));
    c.keys("enter");
    assert!(c.screen((80, 24)).contains("coverage:") || c.screen((80, 60)).contains("coverage:"));
}
