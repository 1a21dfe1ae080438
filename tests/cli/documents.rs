//! Every document keeps to its schema, on every recorded installation and on the demo.

use std::path::Path;

use serde_json::{Value, json};

use super::*;

const LAYERS: [&str; 7] = ["tenant", "module", "cluster", "pools", "controlPlane", "workers", "addons"];

fn each_recording() -> impl Iterator<Item = String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/recorded");
    let mut all: Vec<_> =
        std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).filter(|p| p.extension().unwrap() == "yaml").collect();
    all.sort();
    assert!(all.len() > 50);
    // What the API refuses is a table of refusals, not of objects.
    all.into_iter().filter(|p| !p.display().to_string().contains("api-refusals")).map(|p| p.display().to_string())
}

#[test]
fn every_recording_gives_a_list_that_keeps_to_the_schema() {
    let home = Home::new();
    for file in each_recording() {
        for complete in [&[][..], &["--complete"]] {
            let ran = home.run(&[&["get", "--from", &file, "-o", "json"], complete].concat());
            assert!(matches!(ran.code, 0 | 1), "{file}: {ran:#?}");
            let list = ran.json();
            keeps_to("plane-list", &list);
            let items = list["items"].as_array().unwrap();
            let names: Vec<&str> = items.iter().map(|p| p["namespace"].as_str().unwrap()).collect();
            assert!(names.is_sorted(), "{file}: {names:?}");
            for p in items {
                let layers: Vec<&str> = p["layers"].as_array().unwrap().iter().map(|l| l["layer"].as_str().unwrap()).collect();
                assert_eq!(layers, LAYERS, "{file}");
                assert!(p["cause"].as_str().is_some_and(|c| !c.trim().is_empty()), "{file}: a verdict without a cause");
            }
            let bad = |p: &Value| matches!(p["severity"].as_str().unwrap(), "blocked" | "failing" | "degraded");
            assert_eq!(ran.code == 1, items.iter().any(bad), "{file}");
        }
    }
}

#[test]
fn explain_says_the_same_as_get() {
    let home = Home::new();
    for number in ["01", "04", "13", "22", "39", "54"] {
        let file = recorded(number);
        let get = home.run(&["get", "--from", &file, "-o", "json"]);
        let explain = home.run(&["explain", "--from", &file, "-o", "json"]);
        assert_eq!(get, explain, "{number}");
    }
}

#[test]
fn a_name_gives_a_plane_and_none_a_list() {
    let file = recorded("01");
    for (args, kind) in [
        (&["get"][..], "PlaneList"),
        (&["explain"], "PlaneList"),
        (&["get", "tenant-acme-dev"], "Plane"),
        (&["get", "tenant-acme-dev/computeplane"], "Plane"),
        (&["get", "computeplane"], "Plane"),
        (&["get", "computeplane", "-n", "tenant-acme-dev"], "Plane"),
        (&["explain", "computeplane"], "Plane"),
        (&["get", "-n", "tenant-acme-dev"], "PlaneList"),
    ] {
        for format in ["json", "yaml"] {
            let ran = run(&[args, &["--from", &file, "-o", format]].concat()).ends(1);
            let doc: Value = if format == "json" { ran.json() } else { serde_yaml::from_str(&ran.out).unwrap() };
            assert_eq!((&doc["kind"], &doc["apiVersion"]), (&json!(kind), &json!("planedeck/v1")), "{args:?}");
            keeps_to(if kind == "Plane" { "plane" } else { "plane-list" }, &doc);
            let plane = if kind == "Plane" { &doc } else { &doc["items"][0] };
            assert_eq!((&plane["state"], &plane["severity"]), (&json!("AwaitingEtcd"), &json!("blocked")));
        }
    }
}

#[test]
fn json_lines_are_planes_one_a_line() {
    let home = Home::new();
    let dump = home.file("d.yaml", plane("tenant-b") + &plane("tenant-a") + &plane("tenant-c"));
    let ran = home.run(&["get", "--from", &dump, "-o", "jsonl"]).ends(0);
    let planes: Vec<Value> = ran.out.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
    planes.iter().for_each(|p| keeps_to("plane", p));
    assert_eq!(planes.iter().map(|p| p["namespace"].as_str().unwrap()).collect::<Vec<_>>(), ["tenant-a", "tenant-b", "tenant-c"]);
}

#[test]
fn the_state_names_of_the_schema_are_the_engines() {
    use planedeck::model::verdict::State;
    for name in ["plane", "plane-list", "report", "difference-list", "change", "rule"] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("assets/schema/{name}.json"));
        let schema: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
        let mut listed: Vec<&str> = schema["$defs"]["state"]["enum"].as_array().unwrap().iter().map(|s| s.as_str().unwrap()).collect();
        let mut known: Vec<&str> = State::ALL.iter().map(|s| s.name()).collect();
        listed.sort();
        known.sort();
        assert_eq!(listed, known, "{name}");
    }
}

#[test]
fn the_demo_keeps_to_the_schemas() {
    let home = Home::new();
    keeps_to("plane-list", &home.run(&["get", "--demo", "-o", "json"]).ends(1).json());
    keeps_to("plane", &home.run(&["explain", "tenant-media", "--demo", "-o", "json"]).ends(1).json());
    keeps_to("access", &home.run(&["access", "--demo", "-o", "json"]).json());
    keeps_to("report", &home.run(&["report", "--demo", "-o", "json"]).ends(0).json());
    let one_line = home.run(&["access", "--demo", "-o", "jsonl"]);
    assert_eq!(one_line.out.lines().count(), 1);
    keeps_to("access", &one_line.json());
}

#[test]
fn access_ends_as_the_boundary_stands() {
    let ran = run(&["access", "--demo", "-o", "json"]);
    let doc = ran.json();
    let want = match doc["boundary"]["mayRead"].as_str().unwrap() {
        "no" => 0,
        "yes" => 1,
        _ => 3,
    };
    assert_eq!(ran.code, want);
    assert_eq!(doc["boundary"]["secret"], "computeplane-cluster-admin-kubeconfig");
}

#[test]
fn offline_reports_keep_to_the_schema() {
    let doc = run(&["report", "--from", &recorded("04"), "-o", "json"]).ends(0).json();
    keeps_to("report", &doc);
    assert_eq!((&doc["access"], &doc["auditLog"], &doc["planes"][0]["state"]), (&Value::Null, &Value::Null, &json!("RenderRejected")));
}

#[test]
fn rules_and_verdicts_are_explained() {
    let list = run(&["rule", "-o", "json"]).ends(0).json();
    keeps_to("rule", &list);
    let items = list["items"].as_array().unwrap();
    for kind in ["Rule", "Verdict"] {
        let first = items.iter().find(|i| i["kind"] == kind).unwrap();
        let doc = run(&["rule", first["id"].as_str().unwrap(), "-o", "json"]).ends(0).json();
        keeps_to("rule", &doc);
        assert_eq!(doc["id"], first["id"]);
    }
    let states: Vec<&Value> = items.iter().filter(|i| i["kind"] == "Verdict").map(|i| &i["id"]).collect();
    for s in planedeck::model::verdict::State::ALL {
        assert!(states.contains(&&json!(s.name())), "{s} is not explained");
    }
    let wrong = run(&["rule", "RenderRejectd"]).ends(2);
    assert!(wrong.err.contains("RenderRejected") && wrong.out.is_empty(), "{wrong:#?}");
}

#[test]
fn differences_keep_to_the_schema_and_end_as_the_new_dump_stands() {
    let home = Home::new();
    let (old, new) = (home.file("old.yaml", plane("tenant-acme-dev")), recorded("01"));
    let ran = home.run(&["explain", "--diff", &old, &new, "-o", "json"]).ends(1);
    keeps_to("difference-list", &ran.json());
    let item = &ran.json()["items"][0];
    assert_eq!(item["new"]["state"], "AwaitingEtcd");
    assert!(!item["changes"].as_array().unwrap().is_empty());
    // Nothing changed, and nothing is well.
    let same = home.run(&["explain", "--diff", &new, &new, "-o", "json"]).ends(1);
    assert_eq!(same.json()["items"], json!([]));
    assert_eq!(home.run(&["explain", "--diff", &new, &new]).ends(1).out, "no verdict changed\n");
    assert!(home.run(&["explain", "--diff", &new, &old]).ends(0).out.contains("tenant-acme-dev"));
    let gone = home.run(&["explain", "--diff", &new, "nowhere.yaml"]).ends(2);
    assert!(gone.err.contains("nowhere.yaml") && gone.out.is_empty());
}

#[test]
fn findings_and_plans_keep_to_their_schemas() {
    let home = Home::new();
    let pool = "{minReplicas: 1, maxReplicas: 3, instanceType: u1.medium, diskSize: 20Gi, roles: [ingress-nginx]}";
    let good = home.file("good.yaml", format!("web: {pool}\n"));
    let bad = home.file("bad.yaml", format!("web: {}\n", pool.replace("u1.medium", "u9.none")));
    for (file, code) in [(&good, 0), (&bad, 1)] {
        keeps_to("findings", &home.run(&["validate", "-f", file, "-o", "json"]).ends(code).json());
    }
    keeps_to("findings", &home.run_with(&["validate", "-f", "-", "-o", "json"], &[], b"a: [").ends(1).json());
    let missing = home.run(&["validate", "-f", "none.yaml", "-o", "json"]).ends(2);
    assert!(missing.out.is_empty() && missing.err.contains("none.yaml"));
    let bigger = home.file("bigger.yaml", format!("web: {}\n", pool.replace("20Gi", "30Gi")));
    for (file, code) in [(&bigger, 0), (&bad, 1)] {
        let plan = home.run(&["plan", "-f", file, "--against", &good, "-o", "json"]).ends(code).json();
        keeps_to("plan", &plan);
        assert_eq!(plan["pools"][0]["change"], "roll");
    }
}
