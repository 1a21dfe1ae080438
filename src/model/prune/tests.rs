//! What is left out while reading changes no projection: every recorded object, every object of the demo, and odd ones.

use proptest::prelude::*;
use serde_json::json;

use super::*;

/// Reads both ways. Only what projections keep may be compared: the text itself differs.
fn same(value: &Value) {
    let Some(full) = Object::from_value(value) else { return };
    let text = value.to_string();
    let pruned = Object::from_slice(full.kind, &full.api_version, text.as_bytes()).unwrap();
    assert_eq!(full, pruned, "{text}");
}

fn every(value: &Value) {
    same(value);
    value.get("items").and_then(Value::as_array).into_iter().flatten().for_each(every);
}

#[test]
fn recorded_objects_are_projected_alike() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/recorded");
    let mut seen = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let Ok(text) = std::fs::read_to_string(entry.unwrap().path()) else { continue };
        for part in text.split("\n---") {
            if let Ok(v) = serde_yaml::from_str::<Value>(part) {
                every(&v);
                seen += 1;
            }
        }
    }
    assert!(seen > 100, "{seen}");
}

#[test]
fn who_suspended_a_release_stays_known() {
    let managed = json!([
        {"manager": "kubectl", "time": "2026-09-01T11:55:00Z", "fieldsV1": {"f:spec": {"f:suspend": {}, "f:values": {"f:x": {}}}}},
        {"manager": "helm-controller", "fieldsV1": {"f:status": {}}}]);
    let hr = json!({"apiVersion": "helm.toolkit.fluxcd.io/v2", "kind": "HelmRelease", "metadata": {"name": "a", "managedFields": managed},
        "spec": {"suspend": true, "values": {"nodeGroups": {"web": {"f": [1, {"template": 2}]}}, "big": {"x": 1}}}});
    same(&hr);
    let read = object(Kind::HelmRelease, hr.to_string().as_bytes()).unwrap();
    assert!(!read.to_string().contains("f:values") && !read.to_string().contains("big"), "{read}");
    let object = Object::from_value(&hr).unwrap();
    assert!(crate::model::projection::release::Release::of(&object).unwrap().suspended_by.is_some());
}

#[test]
fn field_managers_and_credentials_arent_read() {
    let v = json!({"metadata": {"name": "a", "managedFields": [1], "annotations": {"kubectl.kubernetes.io/last-applied-configuration": "x"}},
        "status": {"talosConfig": "SECRET", "ready": true}});
    let read = object(Kind::TalosConfig, v.to_string().as_bytes()).unwrap();
    assert_eq!(read, json!({"metadata": {"name": "a", "annotations": {}}, "status": {"ready": true}}));
}

#[test]
fn a_status_inside_a_watch_stays_whole() {
    let line = json!({"object": {"kind": "Status", "metadata": {}, "code": 410, "reason": "Expired", "details": {"retryAfterSeconds": 1}}, "type": "ERROR"});
    for info in crate::model::kind::KINDS {
        assert_eq!(event(info.kind, line.to_string().as_bytes()).unwrap(), line, "{:?}", info.kind);
    }
    for bad in ["", "{", "[]", "{}x", "\"object\""] {
        assert!(event(Kind::Pod, bad.as_bytes()).is_err(), "{bad}");
    }
}

fn any_json() -> impl Strategy<Value = Value> {
    let keys = prop_oneof![
        Just("metadata"),
        Just("spec"),
        Just("status"),
        Just("template"),
        Just("values"),
        Just("conditions"),
        Just("data"),
        Just("managedFields"),
        Just("annotations"),
        Just("labels"),
        Just("nodeName"),
        Just("type"),
        Just("history"),
        Just("talosConfig")
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        "[a-z\"\\\\é]{0,6}".prop_map(Value::from)
    ];
    leaf.prop_recursive(5, 60, 6, move |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            proptest::collection::btree_map(keys.clone(), inner, 0..5)
                .prop_map(|m| Value::Object(m.into_iter().map(|(k, v)| (k.to_string(), v)).collect())),
        ]
    })
}

proptest! {
    #[test]
    fn odd_types_are_projected_alike(mut spec in any_json(), at in 0usize..100) {
        let info = crate::model::kind::KINDS[at % crate::model::kind::KINDS.len()];
        if !spec.is_object() {
            spec = json!({"spec": spec});
        }
        let api = if info.group.is_empty() { info.versions[0].to_string() } else { format!("{}/{}", info.group, info.versions[0]) };
        spec["apiVersion"] = api.into();
        spec["kind"] = info.name.into();
        if !spec["metadata"].is_object() {
            spec["metadata"] = json!({});
        }
        spec["metadata"]["name"] = "n".into();
        same(&spec);
    }
}
