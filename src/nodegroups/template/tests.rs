//! Tables: which spellings of each field render the same text, under both layouts.

use serde_json::{Value, json};

use super::*;

const BOTH: [Layout; 2] = [Layout::Split, Layout::Presplit];

fn group(v: Value) -> Groups {
    let mut base = json!({"minReplicas": 1, "maxReplicas": 3, "instanceType": "u1.medium", "diskSize": "20Gi", "roles": ["ingress-nginx"]});
    for (key, value) in v.as_object().unwrap() {
        if value == &json!("ABSENT") {
            base.as_object_mut().unwrap().remove(key);
        } else {
            base[key] = value.clone();
        }
    }
    base.as_object().cloned().unwrap()
}

fn equal(a: &Value, b: &Value, layout: Layout) -> bool {
    Template::of(&group(a.clone()), layout) == Template::of(&group(b.clone()), layout)
}

#[test]
fn numbers_print_as_go_floats() {
    for (n, text) in [
        (json!(0), "0"),
        (json!(4), "4"),
        (json!(4.0), "4"),
        (json!(2.5), "2.5"),
        (json!(-3), "-3"),
        (json!(999_999), "999999"),
        (json!(1_000_000), "1e+06"),
        (json!(1_234_567), "1.234567e+06"),
        (json!(8_589_934_592u64), "8.589934592e+09"),
        (json!(0.0001), "0.0001"),
        (json!(0.00001), "1e-05"),
        (json!(1e21), "1e+21"),
        (json!(1e100), "1e+100"),
        (json!(9_007_199_254_740_993u64), "9.007199254740992e+15"),
        (json!(0.1), "0.1"),
        (json!(999_999.5), "999999.5"),
    ] {
        assert_eq!(super::text(&n), text);
    }
}

#[test]
fn spellings_that_keep() {
    let sized = |cpu: Value, memory: Value| json!({"instanceType": "", "resources": {"cpu": cpu, "memory": memory}});
    let pairs = [
        (json!({"diskSize": 0}), json!({"diskSize": "20Gi"})),
        (json!({"diskSize": 0.0}), json!({"diskSize": "20Gi"})),
        (json!({"diskSize": ""}), json!({"diskSize": "20Gi"})),
        (json!({"diskSize": "ABSENT"}), json!({"diskSize": "20Gi"})),
        (json!({"diskSize": 500_000}), json!({"diskSize": "500000"})),
        (sized(json!(4), json!("8Gi")), sized(json!("4"), json!("8Gi"))),
        (sized(json!(4), json!("8Gi")), sized(json!(4.0), json!("8Gi"))),
        (sized(json!(4), json!(999_999)), sized(json!(4), json!("999999"))),
        (json!({"resources": {}}), json!({"resources": "ABSENT"})),
        (json!({"resources": {"cpu": 0, "memory": ""}}), json!({})),
        (json!({"resources": {"foo": 1}}), json!({})),
        (json!({"kubelet": {}}), json!({"kubelet": null})),
        (json!({"kubelet": {"systemReservedMemory": "1Gi"}}), json!({})),
        (json!({"gpus": []}), json!({})),
        (json!({"roles": []}), json!({"roles": "ABSENT"})),
        (json!({"roles": []}), json!({"roles": "x"})),
        (json!({"gpus": [{"name": "n/A", "count": 2}]}), json!({"gpus": [{"name": "n/A"}]})),
        (json!({"storageClass": "replicated"}), json!({})),
        (json!({"logSerialConsole": false}), json!({})),
        (json!({"podCpuLimit": 2}), json!({"podCpuLimit": "2"})),
        (json!({"podCpuLimit": null}), json!({})),
        (json!({"minReplicas": 0, "maxReplicas": 9}), json!({})),
        (json!({"maxUnhealthy": "50%", "nodeStartupTimeout": "30m", "image": "x"}), json!({})),
        (json!({"instanceType": "ABSENT"}), json!({"instanceType": "u1.medium"})),
        (
            json!({"instanceType": "u1.medium", "resources": {"cpu": 4, "memory": "8Gi"}}),
            json!({"instanceType": "u9.huge", "resources": {"cpu": 4, "memory": "8Gi"}}),
        ),
    ];
    for (a, b) in &pairs {
        for layout in BOTH {
            assert!(equal(a, b, layout), "{layout:?}: {a} and {b} must render the same");
        }
    }
}

#[test]
fn spellings_that_roll() {
    let sized = |cpu: Value, memory: Value| json!({"instanceType": "", "resources": {"cpu": cpu, "memory": memory}});
    let pairs = [
        (json!({"diskSize": "20Gi"}), json!({"diskSize": "20480Mi"})),
        (json!({"diskSize": "20Gi"}), json!({"diskSize": "+20Gi"})),
        (json!({"diskSize": "20Gi"}), json!({"diskSize": "20.0Gi"})),
        (json!({"diskSize": "20Gi"}), json!({"diskSize": "0"})),
        (json!({"diskSize": "20Gi"}), json!({"diskSize": "0Gi"})),
        (json!({"diskSize": "20Gi"}), json!({"diskSize": 21_474_836_480u64})),
        (json!({"diskSize": 21_474_836_480u64}), json!({"diskSize": "21474836480"})),
        (json!({"diskSize": 1_000_000}), json!({"diskSize": "1000000"})),
        (sized(json!(4), json!("8Gi")), sized(json!("4.0"), json!("8Gi"))),
        (sized(json!(4), json!("8Gi")), sized(json!(4), json!("8192Mi"))),
        (sized(json!(4), json!(8_589_934_592u64)), sized(json!(4), json!("8589934592"))),
        (sized(json!(4), json!("8Gi")), sized(json!("0"), json!("8Gi"))),
        (json!({}), json!({"resources": {"cpu": 4, "memory": "8Gi"}})),
        (json!({"instanceType": ""}), json!({"instanceType": "u1.medium"})),
        (json!({"instanceType": "u1.large"}), json!({"instanceType": "u1.medium"})),
        (json!({"resources": {"cpu": 4}, "instanceType": "a"}), json!({"resources": {"cpu": 4}, "instanceType": "b"})),
        (json!({"roles": ["a", "b"]}), json!({"roles": ["b", "a"]})),
        (json!({"roles": ["a"]}), json!({"roles": ["a", "a"]})),
        (json!({"roles": ["a"]}), json!({"roles": []})),
        (json!({"gpus": [{"name": "n/A"}]}), json!({"gpus": [{"name": "n/B"}]})),
        (json!({"gpus": [{"name": "n/A"}, {"name": "n/B"}]}), json!({"gpus": [{"name": "n/B"}, {"name": "n/A"}]})),
        (json!({"gpus": [{"name": "n/A"}]}), json!({"gpus": [{"name": "n/A"}, {"name": "n/A"}]})),
        (json!({"storageClass": "local"}), json!({})),
        (json!({"logSerialConsole": true}), json!({})),
        (json!({"podCpuLimit": 0}), json!({})),
        (json!({"podCpuRequest": 0}), json!({})),
        (json!({"podCpuLimit": "2"}), json!({"podCpuLimit": "2000m"})),
    ];
    for (a, b) in &pairs {
        for layout in BOTH {
            assert!(!equal(a, b, layout), "{layout:?}: {a} and {b} must differ");
        }
    }
}

#[test]
fn an_empty_storage_class_depends_on_the_layout() {
    let (empty, named, absent) = (json!({"storageClass": ""}), json!({"storageClass": "replicated"}), json!({}));
    assert!(equal(&empty, &named, Layout::Presplit) && equal(&empty, &absent, Layout::Presplit));
    assert!(!equal(&empty, &named, Layout::Split) && !equal(&empty, &absent, Layout::Split));
}

#[test]
fn the_default_pool_runs_when_nothing_is_set() {
    let names = |v: Value| effective(v.as_object().unwrap()).keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(json!({})), ["md0"]);
    assert_eq!(names(json!({"a": null})), ["md0"]);
    assert_eq!(names(json!({"a": null, "b": {}})), ["b"]);
    assert_eq!(effective(&Groups::new())["md0"], Value::Object(default_pool()));
}
