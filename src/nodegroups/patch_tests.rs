//! Patches: the contract's shape, tables of odd objects, and that a patch does exactly what it says.

use proptest::prelude::*;
use serde_json::json;

use super::{super::merge::tests::any_groups, *};

fn map(v: Value) -> Groups {
    v.as_object().cloned().unwrap()
}

fn object(groups: Value) -> Value {
    json!({"metadata": {"uid": "u-1"}, "spec": {"nodeGroups": groups}})
}

/// Applies as the platform does: RFC 6902, but a `test` for null on an absent path passes (recorded exchange `jp-test-null`).
fn apply(object: &Value, ops: &[Op]) -> Result<Value, String> {
    let strict: Vec<&Op> =
        ops.iter().filter(|op| !matches!(op, Op::Test { path, value: Value::Null } if object.pointer(path).is_none())).collect();
    let patch: json_patch::Patch = serde_json::from_value(serde_json::to_value(strict).unwrap()).map_err(|e| e.to_string())?;
    let mut out = object.clone();
    json_patch::patch(&mut out, &patch).map_err(|e| e.to_string())?;
    Ok(out)
}

#[test]
fn the_contracts_shape() {
    let (live, desired) = (map(json!({"web": {"diskSize": "20Gi"}})), map(json!({"web": {"diskSize": "30Gi"}})));
    let want = json!([
        {"op": "test", "path": "/spec/nodeGroups/web/diskSize", "value": "20Gi"},
        {"op": "replace", "path": "/spec/nodeGroups/web/diskSize", "value": "30Gi"}
    ]);
    assert_eq!(serde_json::to_value(between(None, &live, &desired)).unwrap(), want);
}

#[test]
fn a_sent_patch_tests_identity_first_and_never_a_version() {
    let live = object(json!({"web": {"max": 3, "roles": ["a"]}, "gone": {"max": 1}}));
    let ops = for_object(&live, &map(json!({"web": {"max": 4}, "db": {"max": 1}}))).unwrap();
    let want = json!([
        {"op": "test", "path": "/metadata/uid", "value": "u-1"},
        {"op": "test", "path": "/spec/nodeGroups/web/max", "value": 3},
        {"op": "test", "path": "/spec/nodeGroups/web/roles", "value": ["a"]},
        {"op": "test", "path": "/spec/nodeGroups/gone", "value": {"max": 1}},
        {"op": "test", "path": "/spec/nodeGroups/db", "value": null},
        {"op": "replace", "path": "/spec/nodeGroups/web/max", "value": 4},
        {"op": "remove", "path": "/spec/nodeGroups/web/roles"},
        {"op": "remove", "path": "/spec/nodeGroups/gone"},
        {"op": "add", "path": "/spec/nodeGroups/db", "value": {"max": 1}}
    ]);
    assert_eq!(serde_json::to_value(&ops).unwrap(), want);
    assert!(ops.iter().all(|op| !op.path().contains("resourceVersion")));
}

#[test]
fn nothing_to_do_is_no_patch() {
    assert_eq!(for_object(&object(json!({"w": {"max": 1}})), &map(json!({"w": {"max": 1.0}}))), Ok(vec![]));
    assert_eq!(for_object(&json!({"metadata": {"uid": "u"}}), &Groups::new()), Ok(vec![]));
}

#[test]
fn objects_that_must_not_or_cannot_be_patched() {
    let desired = map(json!({"w": {}}));
    let deleting = json!({"metadata": {"uid": "u", "deletionTimestamp": "2026-12-01T00:00:00Z"}, "spec": {"nodeGroups": {}}});
    assert_eq!(for_object(&deleting, &desired), Err(PatchRefused::Deleting));
    assert_eq!(for_object(&json!({"metadata": {"uid": ""}}), &desired), Err(PatchRefused::NoUid));
    assert!(matches!(for_object(&object(json!([1])), &desired), Err(PatchRefused::Shape(_))));
    assert!(matches!(for_object(&json!({"metadata": {"uid": "u"}, "spec": 7}), &desired), Err(PatchRefused::Shape(_))));
}

#[test]
fn a_missing_spec_or_map_is_added_whole() {
    let desired = map(json!({"w": {"max": 1}}));
    for bare in [
        json!({"metadata": {"uid": "u"}}),
        json!({"metadata": {"uid": "u"}, "spec": null}),
        json!({"metadata": {"uid": "u"}, "spec": {"x": 1}}),
    ] {
        let done = apply(&bare, &for_object(&bare, &desired).unwrap()).unwrap();
        assert_eq!(done["spec"]["nodeGroups"], json!({"w": {"max": 1}}), "{bare}");
    }
}

#[test]
fn what_is_written_has_every_required_field_and_no_null_pool() {
    let written = writable(&Groups::new(), &map(json!({"new": {"maxReplicas": 2, "roles": ["x"]}, "old": null, "odd": "text"})));
    let want = json!({
        "new": {"maxReplicas": 2, "roles": ["x"], "minReplicas": 0, "instanceType": "u1.medium", "diskSize": "20Gi"},
        "odd": "text"
    });
    assert_eq!(written, map(want));
}

#[test]
fn a_field_left_to_its_default_is_not_removed_from_a_pool_that_shows_it() {
    let live = map(json!({"web": {"diskSize": "20Gi", "maxReplicas": 3}}));
    let written = writable(&live, &map(json!({"web": {"maxReplicas": 4}})));
    assert_eq!(written, map(json!({"web": {"maxReplicas": 4, "diskSize": "20Gi"}})));
}

#[test]
fn hidden_groups_are_named_before_they_become_real() {
    let invented = json!({"minReplicas": 0, "maxReplicas": 10, "instanceType": "u1.medium", "diskSize": "20Gi"});
    let stored = map(json!({"old": null, "web": {"maxReplicas": 3, "roles": "x"}, "s": "text", "fine": invented.clone()}));
    let web = json!({"minReplicas": 0, "maxReplicas": 3, "roles": []});
    let read = map(json!({"old": invented.clone(), "web": web, "s": invented.clone(), "fine": invented.clone()}));
    let found: Vec<(String, &str)> = hidden_made_real(Some(&stored), &read).iter().map(|m| (m.path.dotted(), m.id)).collect();
    let want = [
        ("nodeGroups.old", "G-NULL"),
        ("nodeGroups.web.minReplicas", "G-REQ"),
        ("nodeGroups.web.roles", "G-HIDDEN"),
        ("nodeGroups.s", "G-HIDDEN"),
    ];
    assert_eq!(found, want.map(|(p, id)| (p.to_string(), id)));
    let guessed = hidden_made_real(None, &read);
    assert!(guessed.iter().all(|m| !m.certain) && guessed.len() == 3, "{guessed:?}");
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_patch_makes_exactly_what_was_desired(live in any_groups(), desired in any_groups()) {
        let before = object(Value::Object(live));
        let ops = for_object(&before, &desired).unwrap();
        prop_assert_eq!(apply(&before, &ops), Ok(object(Value::Object(desired))));
    }

    #[test]
    fn a_patch_made_for_another_state_is_refused(live in any_groups(), other in any_groups(), desired in any_groups()) {
        let (before, moved) = (object(Value::Object(live.clone())), object(Value::Object(other.clone())));
        let touched = path::differences(&live, &desired).into_iter().any(|d| d.path.get(&live) != d.path.get(&other));
        if touched {
            // Either a test fails, or the field stands as it was tested (null and absent look alike to the platform).
            let ops = for_object(&before, &desired).unwrap();
            let done = apply(&moved, &ops);
            let null_only = path::differences(&live, &desired).iter().all(|d| {
                let (a, b) = (d.path.get(&live), d.path.get(&other));
                a == b || (a.is_none_or(Value::is_null) && b.is_none_or(Value::is_null))
            });
            prop_assert!(done.is_err() || null_only, "{ops:?}");
        }
    }

    #[test]
    fn a_merge_then_a_patch_keeps_their_other_fields(base in any_groups(), mine in any_groups(), theirs in any_groups()) {
        let merge = crate::nodegroups::merge::Merge::new(&base, &mine, &theirs);
        if let Some(result) = merge.result() {
            let live = object(Value::Object(theirs.clone()));
            let ops = for_object(&live, result).unwrap();
            for op in ops.iter().filter(|op| !matches!(op, Op::Test { .. })) {
                prop_assert!(path::differences(&base, &mine).iter().any(|d| op.path().starts_with(&d.path.pointer()) || d.path.pointer().starts_with(op.path())), "{op:?}");
            }
            prop_assert_eq!(apply(&live, &ops), Ok(object(Value::Object(result.clone()))));
        }
    }
}
