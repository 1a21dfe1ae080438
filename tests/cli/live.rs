//! The embedded platform: recordings replay as they were, watching ends when it should.

use std::{collections::BTreeMap, os::unix::fs::PermissionsExt as _};

use serde_json::Value;

use super::*;

fn states(list: &Value) -> BTreeMap<String, (String, Vec<String>)> {
    let of = |v: &Value| v["state"].as_str().unwrap().to_string();
    let items = list["items"].as_array().unwrap().iter();
    items.map(|p| (p["namespace"].as_str().unwrap().into(), (of(p), p["layers"].as_array().unwrap().iter().map(of).collect()))).collect()
}

#[test]
fn a_recording_replays_the_same_verdicts() {
    let home = Home::new();
    let live = states(&home.run(&["get", "--demo", "-o", "json"]).json());
    assert!(live.len() >= 4);
    for name in ["r.json", "r.json.gz"] {
        let ran = home.run(&["record", "--demo", "-o", name]).ends(0);
        assert!(ran.out.is_empty() && ran.err.contains(name), "{ran:#?}");
        assert_eq!(std::fs::metadata(home.path(name)).unwrap().permissions().mode() & 0o777, 0o600);
        let replayed = home.run(&["get", "--from", name, "-o", "json"]).ends(1).json();
        keeps_to("plane-list", &replayed);
        assert_eq!(states(&replayed), live, "{name}");
    }
}

#[test]
fn a_recording_holds_kept_fields_only() {
    let home = Home::new();
    home.run(&["record", "--demo", "-o", "r.json"]).ends(0);
    let text = std::fs::read_to_string(home.path("r.json")).unwrap();
    let doc: Value = serde_json::from_str(&text).unwrap();
    keeps_to("recording", &doc);
    for object in doc["objects"].as_array().unwrap() {
        assert_ne!(object["kind"], "Secret");
        assert!(object["metadata"].get("managedFields").is_none());
        assert!(object.pointer("/metadata/annotations/kubectl.kubernetes.io~1last-applied-configuration").is_none());
        if object["kind"] == "HelmRelease" {
            let allowed = ["nodeGroups", "computeplane", "etcd", "clusterReleaseName"];
            let values = object["spec"]["values"].as_object().into_iter().flatten();
            values.for_each(|(k, _)| assert!(allowed.contains(&k.as_str()), "spec.values.{k}"));
        }
    }
    for word in ["talosConfig", "BEGIN CERTIFICATE", "PRIVATE KEY", "Bearer "] {
        assert!(!text.contains(word), "{word}");
    }
    // In place of a file that can't be written.
    let ran = home.run(&["record", "--demo", "-o", "no/such/folder/r.json"]).ends(2);
    assert!(ran.err.contains("no/such/folder/r.json"), "{ran:#?}");
}

#[test]
fn watching_ends_when_the_state_is_reached_or_the_time_is_over() {
    let home = Home::new();
    let ran = home.run(&["watch", "tenant-media", "--demo", "--until", "RenderRejected", "--timeout", "60s", "-o", "jsonl"]).ends(0);
    let changes: Vec<Value> = ran.out.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
    changes.iter().for_each(|c| keeps_to("change", c));
    assert_eq!(changes.last().unwrap()["to"], "RenderRejected");
    home.run(&["watch", "tenant-media", "--demo", "--until", "NotEnabled", "--timeout", "1s"]).ends(1);
    home.run(&["watch", "tenant-media", "--demo", "--timeout", "1s"]).ends(0);
}

#[test]
fn one_namespace_is_narrowed_to() {
    let list = run(&["get", "--demo", "-n", "tenant-media", "-o", "json"]).ends(1).json();
    let names: Vec<&Value> = list["items"].as_array().unwrap().iter().map(|p| &p["namespace"]).collect();
    assert_eq!(names, ["tenant-media"]);
}
