//! Frames of every screen at the three sizes, with a fixed clock; and that no input and no size can break painting.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic)]

#[path = "fixtures/console.rs"]
mod console;

use console::{Console, object, plane};
use planedeck::{
    keys::{Chord, KeyName, Mods},
    model::{Kind, Problem, ProblemKind, feed::FeedEvent},
    state::Msg,
    ui::Theme,
};
use proptest::prelude::*;
use serde_json::json;

const SIZES: [(u16, u16); 3] = [(80, 24), (120, 40), (40, 20)];

/// Snapshots of one moment at all sizes.
fn shoot(name: &str, c: &mut Console) {
    for size in SIZES {
        let frame = c.screen(size);
        insta::assert_snapshot!(format!("{name}_{}x{}", size.0, size.1), frame);
    }
}

fn with_details() -> Console {
    let mut c = Console::connected(&["tenant-acme"]);
    c.listed(Kind::ComputePlane, "tenant-acme", vec![console::fleet().remove(0)]);
    let machine = |n: &str, phase: &str| {
        let running = phase == "Running";
        let node = if running { json!({"name": format!("node-{n}")}) } else { json!(null) };
        object(json!({"apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "Machine",
            "metadata": {"name": format!("computeplane-cluster-web-{n}"), "namespace": "tenant-acme", "uid": n, "creationTimestamp": "2026-12-01T02:00:00Z",
                "labels": {"cluster.x-k8s.io/deployment-name": "computeplane-cluster-web", "cluster.x-k8s.io/cluster-name": "computeplane-cluster"}},
            "status": {"phase": phase, "nodeRef": node, "conditions": [{"type": "InfrastructureReady", "status": if running { "True" } else { "False" },
                "reason": "NotReady", "message": "VM not scheduled: 0/3 nodes are available", "lastTransitionTime": "2026-12-01T02:30:00Z"}]}}))
    };
    c.listed(Kind::Machine, "tenant-acme", vec![machine("a1", "Running"), machine("b2", "Provisioning")]);
    let event = |n: &str, t: &str, reason: &str, message: &str| {
        object(json!({"apiVersion": "v1", "kind": "Event", "metadata": {"name": n, "namespace": "tenant-acme", "uid": n}, "type": t,
            "reason": reason, "message": message, "count": 6, "lastTimestamp": "2026-12-01T02:57:00Z",
            "involvedObject": {"kind": "HelmRelease", "name": "computeplane-cluster", "namespace": "tenant-acme"}}))
    };
    c.listed(
        Kind::Event,
        "tenant-acme",
        vec![
            event("e1", "Warning", "InstallFailed", "Helm install failed: execution error at (computeplane/templates/pools.yaml:12:4)"),
            event("e2", "Normal", "ArtifactUpToDate", "artifact up-to-date"),
        ],
    );
    c.keys("enter");
    c
}

#[test]
fn planes() {
    shoot("planes", &mut Console::with_fleet());
}

#[test]
fn plane_tabs() {
    let mut c = with_details();
    for (key, name) in [("1", "overview"), ("2", "pools"), ("3", "machines"), ("4", "events"), ("5", "timeline"), ("6", "objects")] {
        c.keys(key);
        shoot(name, &mut c);
    }
    c.keys("1 w");
    shoot("why", &mut c);
}

#[test]
fn yaml() {
    let mut c = with_details();
    c.keys("6 enter");
    let value = json!({"apiVersion": "apps.cozystack.io/v1alpha1", "kind": "ComputePlane",
        "metadata": {"name": "computeplane", "namespace": "tenant-acme", "managedFields": [{"manager": "x"}]},
        "spec": {"nodeGroups": {"web": {"minReplicas": 1, "maxReplicas": 8, "roles": ["ingress-nginx"]}}}});
    c.send(Msg::Fetched { request: c.state.counters.request, result: Ok(Box::new(value)) });
    c.keys("/");
    c.types("max");
    c.keys("enter");
    shoot("yaml", &mut c);
}

#[test]
fn requests() {
    use planedeck::model::audit::{AuditRecord, Decision};
    let mut c = Console::with_fleet();
    for (seq, (resource, decision, status)) in
        [("computeplanes", Decision::Sent, Some(200)), ("secrets", Decision::Refused, None), ("helmreleases", Decision::Sent, None)]
            .into_iter()
            .enumerate()
    {
        let record = AuditRecord {
            time: console::now(),
            verb: "list".into(),
            group: if resource == "secrets" { String::new() } else { "apps.cozystack.io".into() },
            version: "v1".into(),
            resource: resource.into(),
            subresource: String::new(),
            namespace: "tenant-acme".into(),
            name: String::new(),
            decision,
            status,
            bytes: 4_096,
            millis: 12,
            purpose: "the list of planes".into(),
        };
        c.send(Msg::Audited { seq: u64::try_from(seq).unwrap(), record: Box::new(record) });
    }
    c.keys("r");
    shoot("requests", &mut c);
}

#[test]
fn access() {
    use planedeck::model::access::{Access, Boundary, Identity, NamespaceAccess, RuleAccess, smallest_role};
    let rule = |verb: &str, group: &str, resource: &str, allowed, layer| RuleAccess {
        verb: verb.into(),
        group: group.into(),
        resource: resource.into(),
        allowed,
        used_for: format!("what {resource} tell"),
        layer: Some(layer),
    };
    use planedeck::model::verdict::Layer;
    let place = |ns: &str, open: Option<bool>| {
        let rules = vec![
            rule("get", "apps.cozystack.io", "computeplanes", Some(true), Layer::Module),
            rule("list", "apps.cozystack.io", "computeplanes", Some(true), Layer::Module),
            rule("get", "cluster.x-k8s.io", "machinedeployments", Some(true), Layer::Workers),
            rule("list", "cluster.x-k8s.io", "machinedeployments", Some(false), Layer::Workers),
            rule("list", "storage.k8s.io", "storageclasses", Some(false), Layer::Pools),
            rule("get", "", "services", None, Layer::ControlPlane),
        ];
        let how = if open == Some(true) { "RBAC: allowed by RoleBinding dashboard" } else { "" };
        let boundary = Boundary::fold(&[("get secrets".to_string(), open, how.to_string())]);
        let missing_role = smallest_role(ns, &rules);
        NamespaceAccess { namespace: ns.into(), level: Some("admin".into()), rules, boundary, missing_role }
    };
    let namespaces = vec![place("tenant-acme", Some(false)), place("tenant-acme-dev", Some(true)), place("tenant-lab", None)];
    let boundary = Boundary::worst(namespaces.iter().map(|n| &n.boundary));
    let identity = Some(Identity { user: "jane".into(), groups: vec!["tenant-acme-admin".into(), "system:authenticated".into()] });
    let mut c = Console::with_fleet();
    c.keys("a");
    shoot("access_asking", &mut c);
    let answer = Access { kind: "Access".into(), identity, namespaces, boundary };
    c.send(Msg::AccessRead { request: c.state.counters.request, result: Ok(Box::new(answer)) });
    shoot("access", &mut c);
    // A role that a Role can't give stands in a ClusterRole of its own, and `y` copies both.
    c.effects.clear();
    c.keys("y");
    let copied = c.effects.iter().find_map(|e| if let planedeck::state::Effect::Copy(t) = e { Some(t.clone()) } else { None }).unwrap();
    insta::assert_snapshot!("access_copied", copied);
    c.keys("G");
    insta::assert_snapshot!("access_end", c.screen((80, 24)));
}

#[test]
fn pages_without_rows() {
    shoot("connecting", &mut Console::fresh());
    shoot("loading", &mut Console::connected(&["tenant-acme"]));
    shoot("no_namespace", &mut Console::connected(&[]));

    let mut c = Console::connected(&["tenant-acme"]);
    c.listed(Kind::ComputePlane, "tenant-acme", vec![]);
    shoot("empty", &mut c);

    for (name, kind) in [
        ("forbidden", ProblemKind::Forbidden),
        ("absent", ProblemKind::AbsentApi),
        ("version", ProblemKind::UnsupportedVersion),
        ("unreadable", ProblemKind::ServerError),
    ] {
        let mut c = Console::connected(&["tenant-acme"]);
        c.lost(Kind::ComputePlane, "tenant-acme", kind, "computeplanes.apps.cozystack.io in tenant-acme: the server's words");
        shoot(name, &mut c);
    }
    for (name, kind) in
        [("unreachable", ProblemKind::Unreachable), ("not_logged_in", ProblemKind::NotLoggedIn), ("login", ProblemKind::Unauthorized)]
    {
        let mut c = Console::fresh();
        let problem = Problem::new(kind, "https://api.prod.example:6443: what happened").hint("what the file allows");
        c.send(Msg::ConnectFailed { context: "prod".into(), problem });
        shoot(name, &mut c);
    }
}

#[test]
fn lost_rows_stay() {
    let mut c = Console::with_fleet();
    c.lost(Kind::ComputePlane, "tenant-acme", ProblemKind::Unreachable, "connection refused");
    c.tick(180);
    shoot("stale", &mut c);
}

#[test]
fn long_and_wide_names() {
    let long = "tenant-a-very-long-chain-of-tenants-that-somebody-made-deep-one";
    let mut c = Console::connected(&[long, "tenant-w"]);
    c.listed(
        Kind::ComputePlane,
        long,
        vec![plane(long, "Retrying", "a-pool-with-a-long-name.another-one.third", &"long text ".repeat(30))],
    );
    c.listed(Kind::ComputePlane, "tenant-w", vec![plane("tenant-w", "Ready", "web", "東京のノードプール👩‍🚀 \u{1b}[31mred\u{202e}")]);
    shoot("long_and_wide", &mut c);
}

#[test]
fn overlays() {
    let mut c = Console::with_fleet();
    c.send(Msg::Contexts(vec![console::info("prod"), console::info("staging")]));
    c.keys("?");
    shoot("help", &mut c);
    c.keys("esc n");
    shoot("namespaces", &mut c);
    c.keys("esc c");
    shoot("contexts", &mut c);
    c.keys("esc :");
    c.types("lab");
    shoot("palette", &mut c);
}

#[test]
fn filter_and_notice() {
    let mut c = Console::with_fleet();
    c.send(Msg::Notice("the audit log can't be written".into()));
    c.keys("/");
    c.types("state:ren");
    shoot("filter", &mut c);
}

#[test]
fn ascii_and_mono_lose_nothing() {
    let mut c = Console::with_fleet();
    let frame = c.screen_in((100, 12), &Theme::mono().with_ascii(true));
    assert!(frame.is_ascii(), "{frame}");
    insta::assert_snapshot!("ascii", frame);
}

/// Every pair of text on screen comes through the sanitiser.
#[test]
fn nothing_dangerous_reaches_a_cell() {
    let evil = "x\u{1b}]52;c;aGk=\u{7}\u{202e}\u{9b}2J\u{200b}";
    let mut c = Console::connected(&["tenant-x"]);
    c.listed(Kind::ComputePlane, "tenant-x", vec![plane("tenant-x", "Retrying", evil, evil)]);
    c.send(Msg::Notice(evil.into()));
    for keys in ["", "enter", "2", "3", "4", "5", "6", "H r", "esc n", "esc :"] {
        c.keys(keys);
        let frame = c.screen((120, 40));
        let bad = frame.chars().find(|ch| planedeck::model::text::is_unsafe(*ch) && *ch != '\n');
        assert_eq!(bad, None, "after {keys:?}:\n{frame}");
    }
}

#[test]
fn any_size_is_painted() {
    let mut c = with_details();
    for keys in ["", "1", "2", "3", "4", "5", "6", "?", "esc n", "esc :", "esc H", "/"] {
        c.keys(keys);
        for (w, h) in [(1, 1), (2, 1), (1, 2), (3, 3), (5, 4), (9, 5), (12, 6), (20, 8), (39, 9), (700, 200)] {
            c.screen((w, h));
        }
    }
}

fn chord() -> impl Strategy<Value = Chord> {
    let named = prop_oneof![
        Just(KeyName::Enter),
        Just(KeyName::Esc),
        Just(KeyName::Tab),
        Just(KeyName::BackTab),
        Just(KeyName::Up),
        Just(KeyName::Down),
        Just(KeyName::PageDown),
        Just(KeyName::Home),
        Just(KeyName::End),
        Just(KeyName::Left),
        Just(KeyName::Right),
        Just(KeyName::Backspace),
        Just(KeyName::F(1)),
    ];
    prop_oneof![
        4 => proptest::char::range(' ', '~').prop_map(Chord::char),
        4 => named.prop_map(Chord::key),
        1 => (any::<char>(), any::<bool>(), any::<bool>())
            .prop_map(|(c, ctrl, alt)| Chord::new(KeyName::Char(c), Mods { ctrl, alt, shift: false })),
    ]
}

#[derive(Debug, Clone)]
enum Step {
    Key(Chord),
    Paste(String),
    Size(u16, u16),
    List(u8),
    Delete,
    Lost(u8),
    Tick(i64),
    Focus(bool),
    Answer(bool),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        8 => chord().prop_map(Step::Key),
        1 => ".{0,20}".prop_map(Step::Paste),
        2 => (0u16..160, 0u16..60).prop_map(|(w, h)| Step::Size(w, h)),
        2 => (0u8..9).prop_map(Step::List),
        1 => Just(Step::Delete),
        1 => (0u8..17).prop_map(Step::Lost),
        1 => (-100i64..100_000).prop_map(Step::Tick),
        1 => any::<bool>().prop_map(Step::Focus),
        1 => any::<bool>().prop_map(Step::Answer),
    ]
}

const PROBLEMS: [ProblemKind; 17] = [
    ProblemKind::Unreachable,
    ProblemKind::Timeout,
    ProblemKind::Tls,
    ProblemKind::Unauthorized,
    ProblemKind::NotLoggedIn,
    ProblemKind::Forbidden,
    ProblemKind::NotFound,
    ProblemKind::AbsentApi,
    ProblemKind::UnsupportedVersion,
    ProblemKind::Conflict,
    ProblemKind::Gone,
    ProblemKind::Invalid,
    ProblemKind::TooManyRequests,
    ProblemKind::ServerError,
    ProblemKind::Unreadable,
    ProblemKind::Refused,
    ProblemKind::BadInput,
];

fn play(c: &mut Console, s: Step) {
    let ns = "tenant-acme";
    let followed =
        c.state.session.wanted.keys().any(|s| s.kind == Kind::ComputePlane && s.scope == planedeck::model::Scope::Namespace(ns.into()));
    match s {
        Step::Key(k) => c.send(Msg::Key(k)),
        Step::Paste(t) => c.send(Msg::Paste(t)),
        Step::Size(w, h) => {
            c.screen((w, h));
        }
        Step::Tick(secs) => c.tick(secs),
        Step::Focus(f) => c.send(Msg::Focus(f)),
        Step::Answer(ok) => {
            let problem = || Err(Problem::new(ProblemKind::Forbidden, "no"));
            let result = if ok { Ok(Box::new(json!({"metadata": {}, "a": "b"}))) } else { problem() };
            c.send(Msg::Fetched { request: c.state.counters.request, result });
        }
        Step::List(n) if followed => {
            let state = ["Ready", "Retrying", "AwaitingEtcd", "Deleting"][usize::from(n % 4)];
            c.listed(Kind::ComputePlane, ns, (0..n.min(1)).map(|_| plane(ns, state, "web.gpu", "why")).collect());
        }
        Step::Delete if followed => c.feed(Kind::ComputePlane, ns, FeedEvent::Deleted(ns.into(), "computeplane".into())),
        Step::Lost(n) if followed => c.lost(Kind::ComputePlane, ns, PROBLEMS[usize::from(n)], "words"),
        Step::List(_) | Step::Delete | Step::Lost(_) => {}
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn nothing_breaks_it(steps in proptest::collection::vec(step(), 1..60)) {
        let mut c = Console::with_fleet();
        c.send(Msg::Contexts(vec![console::info("prod"), console::info("staging")]));
        for s in steps {
            play(&mut c, s);
            prop_assert!(!c.state.screens.is_empty());
        }
        c.screen((80, 24));
    }
}
