//! The document's shape, the schema that describes it, and its text.

use std::collections::BTreeMap;

use serde_json::json;

use super::*;

#[path = "../../../tests/support/schema.rs"]
mod schema;

fn map(v: Value) -> Groups {
    v.as_object().cloned().unwrap()
}

fn web(disk: &str) -> Value {
    json!({"minReplicas": 1, "maxReplicas": 8, "instanceType": "u1.medium", "diskSize": disk, "roles": ["ingress-nginx"]})
}

fn make(before: Before<'_>, after: Value) -> Result<PlanDocument, PatchRefused> {
    let machines = BTreeMap::from([("web".to_string(), 3)]);
    let quotas = [forecast::QuotaFact { quota: "q".into(), resource: "limits.cpu".into(), hard: 10_000_000_000, used: None }];
    let facts = Facts { layout: Layout::Split, machines: &machines, size: &|_| None, quotas: &quotas };
    let after = map(after);
    plan(&Input { namespace: "tenant-acme", name: "computeplane", before, after: &after }, &facts)
}

#[test]
fn the_contracts_example() {
    let before = map(json!({"web": web("20Gi")}));
    let doc = serde_json::to_value(make(Before::File(&before), json!({"web": web("30Gi")})).unwrap()).unwrap();
    for (key, want) in [
        ("kind", json!("Plan")),
        ("namespace", json!("tenant-acme")),
        ("name", json!("computeplane")),
        ("profile", json!("split")),
        (
            "patch",
            json!([
                {"op": "test", "path": "/spec/nodeGroups/web/diskSize", "value": "20Gi"},
                {"op": "replace", "path": "/spec/nodeGroups/web/diskSize", "value": "30Gi"}
            ]),
        ),
    ] {
        assert_eq!(doc[key], want, "{key}");
    }
    let pool = &doc["pools"][0];
    assert_eq!((&pool["change"], &pool["fields"]), (&json!("roll"), &json!(["diskSize"])));
    assert_eq!(pool["machines"], json!({"now": 3, "recreated": 3, "peak": 6}));
    let text = "diskSize \"20Gi\" → \"30Gi\": recreates all 3 machines, up to 6 at once; what is on their own disks is lost";
    assert_eq!(pool["text"], json!(text));
}

#[test]
fn a_live_plan_tests_the_uid_and_names_what_becomes_real() {
    let object = json!({"metadata": {"uid": "u"}, "spec": {"nodeGroups": {"web": web("20Gi"), "old": web("20Gi")}}});
    let stored = map(json!({"web": web("20Gi"), "old": null}));
    let live = Before::Live { object: &object, stored: Some(&stored) };
    let doc = make(live, json!({"web": web("30Gi"), "old": web("20Gi")})).unwrap();
    assert_eq!(doc.patch[0], Op::Test { path: "/metadata/uid".into(), value: json!("u") });
    assert_eq!(doc.made_real.iter().map(|m| m.id).collect::<Vec<_>>(), ["G-NULL"]);
    let same = make(live, json!({"web": web("20Gi"), "old": web("20Gi")})).unwrap();
    assert!(same.patch.is_empty() && same.made_real.is_empty(), "without a write nothing becomes real");
    let deleting = json!({"metadata": {"uid": "u", "deletionTimestamp": "2026-12-01T00:00:00Z"}, "spec": {"nodeGroups": {}}});
    assert_eq!(make(Before::Live { object: &deleting, stored: None }, json!({})), Err(PatchRefused::Deleting));
}

#[test]
fn null_pools_are_not_written() {
    let before = map(json!({"web": web("20Gi"), "db": web("20Gi")}));
    let doc = make(Before::File(&before), json!({"web": web("20Gi"), "db": null, "x": null})).unwrap();
    let ops = serde_json::to_value(&doc.patch).unwrap();
    assert_eq!(ops[1], json!({"op": "remove", "path": "/spec/nodeGroups/db"}));
    assert_eq!(ops.as_array().unwrap().len(), 2);
}

#[test]
fn refusal_follows_the_findings() {
    let before = map(json!({"web": web("20Gi")}));
    let mut doc = make(Before::File(&before), json!({"web": web("20Gi")})).unwrap();
    assert!(!refused(&doc));
    doc.warnings.push(json!({"id": "Z-NONE", "severity": "error"}));
    assert!(refused(&doc));
}

#[test]
fn the_text_has_spelling_warnings_quota_and_patch() {
    let before = map(json!({"web": web("20Gi")}));
    let mut after = web("20480Mi");
    after["kubelet"] = json!({"evictionHardMemory": "5%"});
    let lines = below(&make(Before::File(&before), json!({ "web": after })).unwrap()).join("\n");
    for part in [
        "spelling  nodeGroups.web.diskSize: keep \"20Gi\"",
        "warning  E-FROZEN nodeGroups.web.kubelet:",
        "quota  q/limits.cpu: notEvaluated; used ? of 10",
        "  {\"op\":\"add\",\"path\":\"/spec/nodeGroups/web/kubelet\"",
    ] {
        assert!(lines.contains(part), "{part}\n{lines}");
    }
    let none = make(Before::File(&before), json!({"web": web("20Gi")})).unwrap();
    assert_eq!(below(&none).last().unwrap(), "patch  nothing to write");
}

#[test]
fn every_plan_keeps_to_its_schema() {
    let schema: Value = serde_json::from_str(include_str!("../../../assets/schema/plan.json")).unwrap();
    let before = map(json!({"web": web("20Gi"), "old": web("9Gi")}));
    let object = json!({"metadata": {"uid": "u"}, "spec": {"nodeGroups": before}});
    let stored = map(json!({"old": null}));
    for after in
        [json!({}), json!({"web": web("20480Mi"), "new": web("9Gi")}), json!({"web": web("20Gi"), "x": null}), json!({"web": web("1Gi")})]
    {
        for from in [Before::File(&before), Before::Live { object: &object, stored: Some(&stored) }] {
            let doc = crate::cli::output::versioned(&make(from, after.clone()).unwrap());
            assert_eq!(schema::errors(&schema, &doc), Vec::<String>::new(), "{doc}");
        }
    }
}
