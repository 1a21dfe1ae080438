//! Whatever is seen, in whatever order: a verdict, no panic; and seeing less never makes a plane look healthy.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::model::{
    Kind, Object, Scope,
    kind::KINDS,
    world::{Read, ReadState},
};

fn now() -> Time {
    "2026-11-30T22:00:00Z".parse().unwrap()
}

/// Objects of the recordings with much in them.
static OBJECTS: std::sync::LazyLock<Vec<Object>> = std::sync::LazyLock::new(objects);

fn objects() -> Vec<Object> {
    let mut out = Vec::new();
    for name in [
        "34-first-boot-provider-silent",
        "40-healthy-three-workers",
        "51-worker-disk-importing",
        "56-plane-deleting-hook",
        "49-kamaji-degraded",
    ] {
        let world = world(&data(&format!("recorded/{name}.yaml")), true);
        for k in KINDS {
            for ns in world.namespaces() {
                out.extend(world.list(k.kind, ns).map(|o| {
                    let mut o = (**o).clone();
                    o.meta.namespace = "tenant-vega".into();
                    o
                }));
            }
        }
    }
    out
}

fn arbitrary_json() -> impl Strategy<Value = Value> {
    let words = prop::sample::select(vec![
        "True",
        "False",
        "Unknown",
        "Ready",
        "InstallFailed",
        "",
        "computeplane-cluster",
        "2026-11-30T21:00:00Z",
        "1h",
        "\u{1b}[31m%",
    ]);
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        words.prop_map(Value::from),
        ".{0,12}".prop_map(Value::from)
    ];
    let keys = prop::sample::select(vec![
        "metadata",
        "name",
        "namespace",
        "spec",
        "status",
        "conditions",
        "type",
        "reason",
        "message",
        "history",
        "version",
        "nodeGroups",
        "values",
        "suspend",
        "replicas",
        "deletionTimestamp",
        "observedGeneration",
        "generation",
        "involvedObject",
        "kind",
        "labels",
        "clusterName",
        "kubernetesResources",
        "deployment",
        "v1beta2",
        "x",
    ]);
    leaf.prop_recursive(5, 64, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::vec((keys.clone(), inner), 0..6)
                .prop_map(|kv| Value::Object(kv.into_iter().map(|(k, v)| (k.to_string(), v)).collect())),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_subset_in_any_order_gives_a_verdict(picks in prop::collection::vec(any::<prop::sample::Index>(), 0..40), unread in prop::collection::vec(any::<prop::sample::Index>(), 0..12)) {
        let all = &*OBJECTS;
        let mut world = World::default();
        for k in KINDS {
            world.set_read(k.kind, Scope::All, Read { state: ReadState::Complete, at: Some(now()), problem: None });
        }
        for p in &picks {
            world.apply(p.get(all).clone());
        }
        let before = judge_asked(&world, "tenant-vega", now(), &Deadlines::default());
        prop_assert_eq!(before.layers.len(), 7);
        let dim = dimmed(&world, &picks.iter().map(|p| p.get(all).clone()).collect::<Vec<_>>(), &unread.iter().map(|u| u.get(KINDS).kind).collect::<Vec<_>>());
        let after = judge_asked(&dim, "tenant-vega", now(), &Deadlines::default());
        prop_assert!(!(before.severity < Severity::Progressing && after.severity == Severity::Ready && after.state != State::NotEnabled), "{} ({}) became {} ({})", before.state, before.cause, after.state, after.cause);
        explain::text(&after, 60);
        explain::ticket_markdown(&after);
    }

    #[test]
    fn any_json_parses(body in arbitrary_json(), i in any::<prop::sample::Index>()) {
        let k = i.get(KINDS);
        let version = if k.group.is_empty() { "v1".to_string() } else { format!("{}/{}", k.group, k.versions[0]) };
        let mut value = json!({"apiVersion": version, "kind": k.name});
        if let (Value::Object(into), Value::Object(from)) = (&mut value, body) {
            into.extend(from);
        }
        let mut world = World::default();
        if value.get("metadata").and_then(|m| m.get("name")).and_then(Value::as_str).is_none() {
            value["metadata"] = json!({"name": "computeplane-cluster", "namespace": "tenant-a"});
        }
        if let Some(o) = Object::from_value(&value) {
            let ns = o.meta.namespace.to_string();
            world.apply(o);
            judge_asked(&world, &ns, now(), &Deadlines::default());
            judge_asked(&world, "tenant-a", now(), &Deadlines::default());
        }
    }
}

/// The same world with some kinds unread and their objects unseen.
fn dimmed(world: &World, objects: &[Object], unread: &[Kind]) -> World {
    let mut out = World::default();
    for (kind, scope, read) in world.reads() {
        let read = if unread.contains(&kind) { Read { state: ReadState::Forbidden, at: None, problem: None } } else { read.clone() };
        out.set_read(kind, scope.clone(), read);
    }
    for o in objects.iter().filter(|o| !unread.contains(&o.kind)) {
        out.apply(o.clone());
    }
    out
}

#[test]
fn each_kind_unread_by_itself_never_leaves_a_plane_ready_without_its_layer() {
    let world = world(&data("recorded/40-healthy-three-workers.yaml"), true);
    let all: Vec<Object> = KINDS.iter().flat_map(|k| world.list(k.kind, "tenant-vega")).map(|o| (**o).clone()).collect();
    for kind in [Kind::HelmRelease, Kind::TenantControlPlane, Kind::MachineDeployment] {
        let plane = judge_asked(&dimmed(&world, &all, &[kind]), "tenant-vega", now(), &Deadlines::default());
        assert_ne!(plane.severity, Severity::Ready, "{kind:?}: {}", plane.cause);
    }
}
