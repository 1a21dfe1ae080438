//! Merging: tables for each kind of meeting of two edits, and properties over random ones.

use proptest::prelude::*;
use serde_json::json;

use super::*;

pub(crate) fn map(v: Value) -> Groups {
    v.as_object().cloned().unwrap()
}

fn merge(base: Value, mine: Value, theirs: Value) -> Merge {
    Merge::new(&map(base), &map(mine), &map(theirs))
}

fn open_paths(m: &Merge) -> Vec<String> {
    m.conflicts().iter().map(|c| c.path.dotted()).collect()
}

#[test]
fn edits_of_different_fields_meet_without_conflict() {
    let base = json!({"web": {"min": 1, "max": 3, "resources": {"cpu": 4, "memory": "8Gi"}}});
    let mine = json!({"web": {"min": 2, "max": 3, "resources": {"cpu": 8, "memory": "8Gi"}}, "db": {"min": 0}});
    let theirs = json!({"web": {"min": 1, "max": 5, "resources": {"cpu": 4, "memory": "16Gi"}}});
    let m = merge(base, mine, theirs);
    let want = json!({"web": {"min": 2, "max": 5, "resources": {"cpu": 8, "memory": "16Gi"}}, "db": {"min": 0}});
    assert_eq!(m.result(), Some(&map(want)));
}

#[test]
fn the_same_edit_twice_is_one_edit() {
    let m = merge(json!({"web": {"max": 3}}), json!({"web": {"max": 5}}), json!({"web": {"max": 5.0}}));
    assert_eq!(m.open(), 0);
}

#[test]
fn what_conflicts() {
    for (base, mine, theirs, path) in [
        (json!({"w": {"max": 3}}), json!({"w": {"max": 4}}), json!({"w": {"max": 5}}), "nodeGroups.w.max"),
        (json!({"w": {"roles": ["a"]}}), json!({"w": {"roles": ["a", "b"]}}), json!({"w": {"roles": ["a", "c"]}}), "nodeGroups.w.roles"),
        (json!({"w": {"max": 3}}), json!({}), json!({"w": {"max": 5}}), "nodeGroups.w"),
        (json!({"w": {"max": 3}}), json!({"w": {"max": 5}}), json!({}), "nodeGroups.w"),
        (json!({}), json!({"w": {"max": 5}}), json!({"w": {"min": 5}}), "nodeGroups.w"),
        (json!({"w": {}}), json!({"w": {"max": 5}}), json!({"w": {"max": 6}}), "nodeGroups.w.max"),
        (json!({"w": {"kubelet": {"a": "1"}}}), json!({"w": {}}), json!({"w": {"kubelet": {"a": "2"}}}), "nodeGroups.w.kubelet"),
        (json!({"w": {"x": {"deep": 1}}}), json!({"w": {"x": {"deep": 2}}}), json!({"w": {"x": {"deep": 1, "y": 1}}}), "nodeGroups.w.x"),
    ] {
        let m = merge(base.clone(), mine.clone(), theirs.clone());
        assert_eq!(open_paths(&m), [path], "{base} {mine} {theirs}");
        assert_eq!(m.result(), None);
        assert_eq!(m.preview(), &map(theirs), "an open conflict shows the live value");
    }
}

#[test]
fn both_removing_and_one_removing_untouched_are_no_conflict() {
    assert_eq!(merge(json!({"w": {"max": 3}}), json!({}), json!({})).result(), Some(&Groups::new()));
    assert_eq!(merge(json!({"w": {"max": 3}}), json!({}), json!({"w": {"max": 3}})).result(), Some(&Groups::new()));
}

#[test]
fn conflicts_are_decided_one_by_one_and_again() {
    let base = json!({"w": {"max": 3, "min": 0}, "old": {"max": 1}});
    let mut m = merge(base, json!({"w": {"max": 4, "min": 1}}), json!({"w": {"max": 5, "min": 2}, "old": {"max": 2}}));
    assert_eq!(open_paths(&m), ["nodeGroups.w.max", "nodeGroups.w.min", "nodeGroups.old"]);
    assert!(m.choose(0, Choice::Mine) && m.choose(1, Choice::Typed(Some(json!(7)))) && m.choose(2, Choice::Mine));
    assert_eq!(m.result(), Some(&map(json!({"w": {"max": 4, "min": 7}}))));
    assert!(m.choose(2, Choice::Base) && m.choose(0, Choice::Theirs) && m.choose(1, Choice::Typed(None)));
    assert_eq!(m.result(), Some(&map(json!({"w": {"max": 5}, "old": {"max": 1}}))));
    assert!(!m.choose(3, Choice::Mine));
}

/// Groups of few names, so that random edits meet often.
pub(crate) fn any_groups() -> impl Strategy<Value = Groups> {
    let small = prop_oneof![(0..3i64).prop_map(|n| json!(n)), "[ab/~]{0,2}".prop_map(Value::from), Just(Value::Null)];
    let list = prop::collection::vec("[ab]", 0..3).prop_map(|l| json!(l));
    let inner = prop::collection::btree_map("cpu|memory", (0..3i64).prop_map(Value::from), 0..3).prop_map(|m| json!(m));
    let field = prop_oneof![small, list, inner];
    let group = prop::collection::btree_map("minReplicas|roles|resources|kubelet|a/b~c", field, 0..4).prop_map(|m| json!(m));
    prop::collection::btree_map("web|db|x~1y|a/b", group, 0..4).prop_map(|m| map(json!(m)))
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_merge_is_the_same_from_either_side(base in any_groups(), a in any_groups(), b in any_groups()) {
        let (ab, ba) = (Merge::new(&base, &a, &b), Merge::new(&base, &b, &a));
        prop_assert_eq!(ab.open(), ba.open());
        prop_assert_eq!(ab.result(), ba.result());
    }

    #[test]
    fn choosing_mine_everywhere_keeps_all_my_edits(base in any_groups(), mine in any_groups(), theirs in any_groups()) {
        let mut m = Merge::new(&base, &mine, &theirs);
        for number in 0..m.conflicts().len() {
            m.choose(number, Choice::Mine);
        }
        let result = m.result().unwrap();
        for d in super::super::path::differences(&base, &mine) {
            // Into a struct that I added empty they may have put something; all else of mine stands as I set it.
            let (got, mine) = (d.path.get(result), d.path.get(&mine));
            let inside = matches!((got, mine), (Some(Value::Object(g)), Some(Value::Object(m))) if d.path.splits() && m.iter().all(|(k, v)| g.get(k) == Some(v)));
            prop_assert!(got == mine || inside, "{}: {got:?} {mine:?}", d.path.dotted());
        }
    }

    #[test]
    fn nothing_changed_on_one_side_gives_the_other(base in any_groups(), other in any_groups()) {
        let mine = Merge::new(&base, &other, &base);
        prop_assert_eq!(mine.result(), Some(&other));
        let theirs = Merge::new(&base, &base, &other);
        prop_assert_eq!(theirs.result(), Some(&other));
    }
}
