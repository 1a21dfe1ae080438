//! Tests of single rules: boundary numbers, both profiles, names of every sort, every field with every JSON type.

use std::{collections::BTreeSet, time::Instant};

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::nodegroups::finding::{Finding, Severity, Stage};

fn judge_with(groups: Value, context: &Context) -> Findings {
    validate_groups(groups.as_object().unwrap(), context)
}

fn judge(profile: Profile, groups: Value) -> Findings {
    judge_with(groups, &Context { profile, ..Context::default() })
}

fn group(changes: Value) -> Value {
    let mut group =
        json!({"minReplicas": 1, "maxReplicas": 3, "instanceType": "u1.medium", "diskSize": "20Gi", "roles": ["ingress-nginx"]});
    for (k, v) in changes.as_object().unwrap() {
        group[k] = v.clone();
    }
    group
}

fn web(changes: Value) -> Value {
    json!({ "web": group(changes) })
}

fn errors(f: &Findings) -> Vec<(&'static str, Stage)> {
    f.findings.iter().filter(|f| f.severity == Severity::Error).map(|f| (f.id, f.stage)).collect()
}

fn ids(f: &Findings) -> Vec<&'static str> {
    f.findings.iter().map(|f| f.id).collect()
}

#[test]
fn boundaries_of_single_rules() {
    let sized = |cpu: Value, memory: Value| json!({"instanceType": "", "resources": {"cpu": cpu, "memory": memory}});
    for (changes, want) in [
        (sized(json!(2), json!("550Mi")), vec!["E-SUM-MEM"]),
        (sized(json!(2), json!("551Mi")), vec![]),
        (sized(json!("0"), json!("4Gi")), vec!["E-SUM-CPU", "Z-CPUZERO"]),
        (sized(json!(0), json!("4Gi")), vec!["Z-NONE"]),
        (sized(json!("4k"), json!("4Gi")), vec!["E-SUM-CPU", "Z-CPUSUFFIX", "Z-CPUINT"]),
        (sized(json!("2000m"), json!("4Gi")), vec!["Z-CPUINT"]),
        (sized(json!("2.5"), json!("4Gi")), vec!["Z-CPUINT"]),
        (sized(json!("+4"), json!("4Gi")), vec![]),
        (sized(json!("4."), json!(4294967296i64)), vec![]),
        (sized(json!("1e1"), json!("4E")), vec![]),
        (json!({"instanceType": "u1.nano"}), vec!["E-SUM-MEM"]),
        (json!({"maxReplicas": 999_999}), vec![]),
        (json!({"maxReplicas": 1_000_000}), vec!["A-HUGE"]),
        (json!({"minReplicas": 4}), vec!["A-MINMAX"]),
        (json!({"minReplicas": -1}), vec!["A-NEG"]),
        (json!({"kubelet": {"kubeReservedCpu": "0.0009"}}), vec!["E-POS"]),
        (json!({"kubelet": {"kubeReservedCpu": "0.001"}}), vec![]),
        (json!({"kubelet": {"kubeReservedCpu": "950m"}}), vec!["E-SUM-CPU"]),
        (json!({"kubelet": {"kubeReservedCpu": "949m"}}), vec![]),
        (json!({"kubelet": {"systemReservedMemory": "1e3Mi"}}), vec!["E-EXPSUF"]),
        (json!({"kubelet": {"evictionHardMemory": "10%"}}), vec!["E-ORDER-PCT"]),
        (json!({"kubelet": {"evictionHardMemory": "9.99%"}}), vec![]),
        (json!({"kubelet": {"evictionHardMemory": "0", "evictionSoftMemory": "1Mi"}}), vec![]),
        (json!({"diskSize": "-1Gi"}), vec!["D-NEG"]),
        (json!({"diskSize": "1e1.5"}), vec!["G-QTY"]),
        (json!({"maxUnhealthy": "2147483647"}), vec![]),
        (json!({"maxUnhealthy": "2147483648"}), vec!["H-MAXUNH"]),
        (json!({"nodeStartupTimeout": "30s"}), vec![]),
        (json!({"nodeStartupTimeout": "29s"}), vec!["H-STARTUP"]),
        (json!({"nodeStartupTimeout": "0s"}), vec![]),
        (json!({"nodeStartupTimeout": "0"}), vec!["H-STARTUP"]),
        (json!({"nodeStartupTimeout": ""}), vec!["H-STARTUP"]),
        (json!({"roles": ["ingress-nginx", ""]}), vec!["R-LABEL"]),
        (json!({"roles": ["ingress-nginx", "a: b"]}), vec!["G-CTRL"]),
        (json!({"gpus": [{"name": "@x"}]}), vec!["G-GPUYAML"]),
        (json!({"gpus": [{"name": "a #b"}]}), vec!["G-CTRL"]),
        (json!({"roles": []}), vec!["G-INGRESS"]),
        (json!({"maxReplicas": 0, "minReplicas": 0}), vec!["G-INGRESS"]),
    ] {
        for profile in [Profile::Split, Profile::Presplit] {
            let found = judge(profile, web(changes.clone()));
            let got: BTreeSet<&str> = errors(&found).into_iter().map(|(id, _)| id).collect();
            assert_eq!(got, want.iter().copied().collect(), "{profile:?} {changes}");
            assert_eq!(found.findings.iter().filter(|f| f.first).count(), usize::from(!want.is_empty()), "{changes}");
        }
    }
}

#[test]
fn keys_of_every_sort() {
    let long = |n: usize| "a".repeat(n);
    let (ok, key, len, ctrl) = (None, Some("G-KEY"), Some("G-KEYLEN"), Some("G-CTRL"));
    for (name, presplit, split) in [
        ("web".to_string(), ok, ok),
        (long(15), ok, ok),
        (long(16), ok, len),
        (long(42), ok, len),
        (long(43), len, len),
        ("-a".into(), ok, ok),
        ("a-".into(), key, key),
        (String::new(), key, key),
        ("A".into(), key, key),
        ("a_b".into(), key, key),
        ("a.b".into(), ok, ok),
        ("a..b".into(), key, key),
        ("a b".into(), key, key),
        ("é".into(), key, key),
        ("a/b".into(), key, key),
        ("true".into(), ok, ok),
        ("0".into(), ok, ok),
        ("a: b".into(), ctrl, ctrl),
        ("a\nb".into(), ctrl, ctrl),
        ("a\u{1b}".into(), ctrl, ctrl),
    ] {
        for (profile, want) in [(Profile::Presplit, presplit), (Profile::Split, split)] {
            let found = judge(profile, json!({ name.clone(): group(json!({})) }));
            let refused = found.findings.iter().find(|f| f.severity == Severity::Error && f.stage != Stage::Runtime);
            assert_eq!(refused.map(|f| f.id), want, "{profile:?} {name:?}");
        }
    }
    let cut = judge(Profile::Presplit, json!({"a #b": group(json!({}))}));
    assert_eq!(errors(&cut), vec![("G-CTRL", Stage::Runtime)]);
}

#[test]
fn every_field_with_every_type_is_judged_and_named() {
    let fields = ["minReplicas", "maxReplicas", "instanceType", "diskSize", "storageClass", "roles", "resources", "gpus", "kubelet"];
    let passed = ["podCpuLimit", "podCpuRequest", "logSerialConsole", "maxUnhealthy", "nodeStartupTimeout"];
    let values = [json!(null), json!(true), json!(1), json!(1.5), json!("x"), json!([]), json!({}), json!([1]), json!({"x": 1})];
    for field in fields.iter().chain(&passed) {
        for value in &values {
            for profile in [Profile::Split, Profile::Presplit] {
                let found = judge(profile, web(json!({ *field: value })));
                for f in &found.findings {
                    assert!(!f.message.is_empty() && !f.fix.is_empty() && f.path.starts_with("nodeGroups"), "{f:?}");
                    assert!(rule(f.id).is_some(), "{}", f.id);
                }
            }
        }
    }
    let null = judge(Profile::Presplit, web(json!({"diskSize": null})));
    assert_eq!(errors(&null), vec![("G-TYPE", Stage::Module)]);
}

#[test]
fn nulls_and_wrong_maps() {
    assert!(judge(Profile::Split, json!({"old": null})).valid);
    assert_eq!(ids(&judge(Profile::Split, json!({"old": null}))), vec!["G-NULL"]);
    assert_eq!(errors(&judge(Profile::Split, json!({"web": []}))), vec![("G-TYPE", Stage::Module), ("G-INGRESS", Stage::Module)]);
    let null = web(json!({"maxUnhealthy": null}));
    assert_eq!(errors(&judge(Profile::Presplit, null)), vec![("G-PASSTYPE", Stage::Cluster)]);
}

#[test]
fn the_first_of_many_is_the_platforms() {
    let groups =
        json!({"b": group(json!({"instanceType": "u9"})), "a": group(json!({"kubelet": {"kubeReservedCpu": "x"}, "roles": ["db", "db"]}))});
    for (profile, want) in [(Profile::Presplit, "E-CPUFMT"), (Profile::Split, "E-CPUFMT")] {
        assert_eq!(judge(profile, groups.clone()).first().map(|f| f.id), Some(want));
    }
    // Split: the duplicate role of a stops pool a before pool b is looked at; before the split all render first.
    let groups = json!({"b": group(json!({"instanceType": "u9"})), "a": group(json!({"roles": ["db", "db"]}))});
    assert_eq!(judge(Profile::Presplit, groups.clone()).first().map(|f| f.id), Some("Z-INSTTYPE"));
    assert_eq!(judge(Profile::Split, groups).first().map(|f| f.id), Some("R-DUP"));
}

#[test]
fn what_cannot_be_checked_is_said() {
    let offer = Offer::Live(["own.big".to_string()].into());
    let found = judge_with(
        web(json!({"instanceType": "own.big", "gpus": [{"name": "nvidia.com/X"}], "storageClass": "fast"})),
        &Context { offer, ..Context::default() },
    );
    assert!(found.valid && !found.assumed);
    let unsure: BTreeSet<&str> = found.findings.iter().filter(|f| f.message.contains("not evaluated")).map(|f| f.id).collect();
    assert_eq!(unsure, ["D-SC-RWX", "E-SUM-CPU", "E-SUM-MEM", "GPU-NAME", "Q-QUOTA"].into());
}

#[test]
fn edits_are_compared_with_what_was() {
    let before = web(json!({"diskSize": "40Gi"}));
    let context = Context { previous: before.as_object().cloned(), ..Context::default() };
    let changes = json!({"diskSize": "20Gi", "gpus": [{"name": "nvidia.com/X"}], "kubelet": {"kubeReservedCpu": "100m"}, "maxReplicas": 2, "minReplicas": 2});
    let found: BTreeSet<&str> = ids(&judge_with(web(changes), &context)).into_iter().collect();
    for id in ["D-SHRINK", "GPU-LATE", "E-FROZEN", "A-LOWERMAX", "A-RAISEMIN"] {
        assert!(found.contains(id), "{id} in {found:?}");
    }
    assert_eq!(ids(&judge_with(json!({}), &context)), vec!["A-EMPTY"]);
    assert!(ids(&judge_with(json!({"edge": group(json!({}))}), &context)).contains(&"A-LASTINGRESS"));
}

#[test]
fn the_envelope_is_judged() {
    let doc = |text: &str| validate(&crate::nodegroups::document::documents("t", text.as_bytes())[0], &Context::default());
    assert!(doc("kind: ComputePlane\nmetadata: {name: computeplane}\nspec: {}").valid);
    assert_eq!(errors(&doc("kind: ComputePlane\nmetadata: {name: other}\nspec: {}")), vec![("N-NAME", Stage::Module)]);
    let found = doc("kind: ComputePlane\nmetadata: {name: Bad_}\nspec: {_x: 1, replicas: 2, nodeGroups: {}}");
    assert_eq!(errors(&found), vec![("N-DNS1035", Stage::Write), ("N-RESERVED", Stage::Write), ("N-NAME", Stage::Module)]);
    assert!(ids(&found).contains(&"G-SPECKEY"));
    assert_eq!(errors(&doc("nodeGroups: [1]")), vec![("G-TYPE", Stage::Module)]);
}

#[test]
fn the_table_is_sound() {
    let ids: BTreeSet<&str> = RULES.iter().map(|r| r.id).collect();
    assert_eq!(ids.len(), RULES.len());
    for r in RULES {
        assert!(!r.title.is_empty() && r.meaning.ends_with('.') && r.fix.ends_with('.') && !r.source.is_empty(), "{}", r.id);
    }
    assert_eq!(rule("z-partial").map(|r| r.id), Some("Z-PARTIAL"));
    assert!(rule("NOPE").is_none());
}

#[test]
fn fifty_pools_are_judged_at_typing_speed() {
    let groups: Map<String, Value> =
        (0..50).map(|i| (format!("pool-{i}"), group(json!({"kubelet": {"kubeReservedCpu": "100m"}})))).collect();
    validate_groups(&groups, &Context::default());
    let start = Instant::now();
    let found = validate_groups(&groups, &Context::default());
    // Generous, for an unoptimised build on a busy machine: it catches a pattern compiled at each call.
    assert!(start.elapsed().as_millis() < 100, "{:?}", start.elapsed());
    assert!(found.valid);
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "\\PC{0,12}".prop_map(Value::from),
        "[0-9.eEmkKMGi%+-]{0,8}".prop_map(Value::from)
    ];
    leaf.prop_recursive(3, 24, 6, |inner| {
        let name = prop_oneof![
            "[a-z]{0,4}",
            Just("roles".to_string()),
            Just("kubelet".to_string()),
            Just("evictionHardMemory".to_string()),
            Just("resources".to_string()),
            Just("cpu".to_string()),
            Just("memory".to_string()),
            Just("gpus".to_string()),
            Just("name".to_string()),
            Just("maxReplicas".to_string())
        ];
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            proptest::collection::vec((name, inner), 0..6).prop_map(|m| Value::Object(m.into_iter().collect()))
        ]
    })
}

proptest! {
    #[test]
    fn any_values_are_judged(value in any_json(), presplit in any::<bool>()) {
        let profile = if presplit { Profile::Presplit } else { Profile::Split };
        let bytes = json!({ "nodeGroups": value }).to_string();
        for d in crate::nodegroups::document::documents("t", bytes.as_bytes()) {
            let found: Vec<Finding> = validate(&d, &Context { profile, ..Context::default() }).findings;
            prop_assert!(found.iter().filter(|f| f.first).count() <= 1);
            prop_assert!(found.iter().all(|f| rule(f.id).is_some()));
        }
    }
}
