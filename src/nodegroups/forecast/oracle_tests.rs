//! Every line of the recorded oracle: real charts rendered both sides of 40 edits.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde_json::Value;

use super::*;

fn lines() -> Vec<Value> {
    include_str!("../../../tests/data/oracle-rolls.jsonl").lines().map(|l| serde_json::from_str(l).unwrap()).collect()
}

fn groups(yaml: &str) -> Groups {
    serde_yaml::from_str::<Value>(yaml).unwrap().as_object().cloned().unwrap()
}

fn layout(line: &Value) -> Layout {
    serde_json::from_value(line["profile"].clone()).unwrap()
}

fn names(line: &Value, key: &str) -> BTreeSet<String> {
    line[key].as_array().unwrap().iter().map(|v| v.as_str().unwrap().to_string()).collect()
}

#[test]
fn every_edit_is_judged_like_the_charts_did() {
    let lines = lines();
    assert_eq!(lines.len(), 40);
    for line in lines {
        let (before, after) = (groups(line["before"].as_str().unwrap()), groups(line["after"].as_str().unwrap()));
        let machines = BTreeMap::new();
        let facts = Facts { layout: layout(&line), machines: &machines, size: &|_| None, quotas: &[] };
        let found = forecast(&before, &after, &facts);
        let with = |wanted: &[Change]| -> BTreeSet<String> {
            found.pools.iter().filter(|p| wanted.contains(&p.change)).map(|p| p.name.clone()).collect()
        };
        let id = format!("{} {}", line["id"], line["edit"]);
        assert_eq!(with(&[Change::Roll]), names(&line, "roll"), "{id}");
        assert_eq!(with(&[Change::None, Change::Metadata, Change::Scale]), names(&line, "keep"), "{id}");
        assert_eq!(with(&[Change::Add]), names(&line, "added"), "{id}");
        assert_eq!(with(&[Change::Remove]), names(&line, "removed"), "{id}");
        for pool in &found.pools {
            assert_eq!(pool.fields.is_empty(), matches!(pool.change, Change::None | Change::Add | Change::Remove), "{id}: {pool:?}");
        }
    }
}

/// Across all lines: a pool's template name (a hash of its text) and our key agree in both directions.
#[test]
fn equal_keys_are_equal_hashes_over_all_lines() {
    let mut by_hash: HashMap<String, (Template, String)> = HashMap::new();
    let mut by_key: HashMap<(String, Template), (String, String)> = HashMap::new();
    for line in lines() {
        let sides = [groups(line["before"].as_str().unwrap()), groups(line["after"].as_str().unwrap())];
        for (pool, facts) in line["pools"].as_object().unwrap() {
            for (side, groups) in sides.iter().enumerate() {
                let running = template::effective(groups);
                let key = Template::of(running[pool].as_object().unwrap(), layout(&line));
                let hash = facts["template"][side].as_str().unwrap().to_string();
                let id = line["id"].to_string();
                let (known, other) = by_hash.entry(hash.clone()).or_insert_with(|| (key.clone(), id.clone()));
                assert_eq!(*known, key, "{id} and {other}: one hash, two keys");
                let (known, other) = by_key.entry((pool.clone(), key)).or_insert_with(|| (hash.clone(), id.clone()));
                assert_eq!(*known, hash, "{id} and {other}: one key, two hashes");
            }
        }
    }
    assert!(by_hash.len() > 60);
}
