//! The recorded exchanges of the real aggregated API, replayed.

use serde_json::{Value, json};

use super::*;
use crate::demo::{Fault, Match};

const EXCHANGES: &str = include_str!("../../../tests/data/exchanges.jsonl");

/// What the plane held before the exchange.
fn before(id: &str) -> Value {
    match id {
        "jp-test-fails" => web(6),
        "jp-meta" => {
            let mut g = web(13);
            g["ai"] = json!({"diskSize": "40Gi", "gpus": [{"name": "nvidia.com/AD102GL_L40S"}], "instanceType": "u1.large",
                "maxReplicas": 2, "minReplicas": 0});
            g
        }
        "jp-stores-defaults" => json!({"web": {"maxReplicas": 3, "roles": ["ingress-nginx"]}}),
        "ssa-force2" => web(7),
        "ssa" => web(5),
        "put-deleting" => web(3),
        _ => web(3),
    }
}

fn identity(who: &str) -> Identity {
    if who.contains("unknown") {
        return Identity::unknown();
    }
    let Some(group) = who.strip_prefix("group ") else { return Identity::nobody() };
    let (ns, word) =
        ["super-admin", "admin", "view", "use"].iter().find_map(|l| Some((group.strip_suffix(&format!("-{l}"))?, *l))).unwrap();
    level(ns, word)
}

fn faults(p: &Platform, id: &str) {
    let planes = Match::resource("apps.cozystack.io", "computeplanes");
    match id {
        "jp-conflict-500" => p.faults().add(planes, Fault::Conflict),
        "adm-hr-deny" => {
            let text = "ValidatingAdmissionPolicy 'no-hr' with binding 'no-hr' denied request: at most 89 replicas";
            p.faults().add(planes, Fault::Denied(text.into()))
        }
        "down-list" => p.faults().add(planes, Fault::Unavailable),
        "absent-list" => p.faults().add(Match::group("apps.cozystack.io"), Fault::Absent),
        _ => 0,
    };
}

/// Drops what differs in every run.
fn comparable(v: &Value, uid: &str) -> Value {
    match v {
        Value::Object(o) => {
            let dropped = ["uid", "resourceVersion", "creationTimestamp", "deletionTimestamp"];
            let is_plane = o.get("kind").is_some_and(|k| k == "ComputePlane") && o.contains_key("spec");
            Value::Object(
                o.iter()
                    .filter(|(k, _)| !(dropped.contains(&k.as_str()) || is_plane && *k == "status"))
                    .map(|(k, v)| (k.clone(), comparable(v, uid)))
                    .collect(),
            )
        }
        Value::Array(a) => Value::Array(a.iter().map(|v| comparable(v, uid)).collect()),
        Value::String(s) => json!(s.replace("4f47d648-1a20-48ab-a1bf-69846b8080d9", uid)),
        other => other.clone(),
    }
}

#[tokio::test]
async fn recorded_exchanges_are_answered_as_the_real_api_did() {
    let mut wrong = Vec::new();
    for line in EXCHANGES.lines() {
        let e: Value = serde_json::from_str(line).unwrap();
        let id = e["id"].as_str().unwrap();
        let p = bare(before(id));
        if matches!(id, "list-label") {
            plane(&p, "tenant-test", "alpha", json!({"nodeGroups": web(3)}));
            let mut hr = p.object("helm.toolkit.fluxcd.io/v2", "HelmRelease", "tenant-test", "alpha").unwrap();
            hr["metadata"]["labels"]["apps.cozystack.io-team"] = json!("alpha");
            p.put(hr);
        }
        if id.starts_with("del-") || id == "put-deleting" {
            plane(&p, "tenant-other", "computeplane", json!({"nodeGroups": web(3)}));
        }
        if id == "put-deleting" {
            p.delete("helm.toolkit.fluxcd.io/v2", "HelmRelease", "tenant-other", "computeplane");
        }
        faults(&p, id);
        let p = p.speaking_as(identity(e["request"]["as"].as_str().unwrap_or("")));
        let mut request =
            http::Request::builder().method(e["request"]["method"].as_str().unwrap()).uri(e["request"]["path"].as_str().unwrap());
        for (k, v) in e["request"]["headers"].as_object().into_iter().flatten() {
            request = request.header(k, v.as_str().unwrap());
        }
        let body = match &e["request"]["body"] {
            Value::Null => String::new(),
            Value::String(s) => s.clone(),
            other => other.to_string(),
        };
        let response = p.handle(request.body(Bytes::from(body)).unwrap()).await.unwrap();
        let kind = response.headers()["content-type"].to_str().unwrap().to_string();
        let (status, body) = text(response).await;
        let found: Value = serde_json::from_str(&body).unwrap_or(json!(body));
        let hr = p.object("helm.toolkit.fluxcd.io/v2", "HelmRelease", "tenant-test", "computeplane").unwrap();
        let uid = hr["metadata"]["uid"].as_str().unwrap();
        let want = &e["response"];
        let same = comparable(&want["body"], uid) == comparable(&found, uid);
        if status != want["status"] || kind != want["headers"]["content-type"] || !same {
            wrong.push(format!(
                "{id}\n want {} {}\n got  {status} {}",
                want["status"],
                comparable(&want["body"], uid),
                comparable(&found, uid)
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[tokio::test]
async fn dry_run_writes_and_a_stale_version_wins() {
    let p = bare(web(3));
    let path = "/apis/apps.cozystack.io/v1alpha1/namespaces/tenant-test/computeplanes/computeplane?dryRun=All";
    let body = json!({"metadata": {"resourceVersion": "1"}, "spec": {"nodeGroups": web(9)}}).to_string();
    let (status, _) = text(send(&p, "PATCH", path, "application/merge-patch+json", &body).await).await;
    assert_eq!(status, 200);
    let hr = p.object("helm.toolkit.fluxcd.io/v2", "HelmRelease", "tenant-test", "computeplane").unwrap();
    assert_eq!(hr["spec"]["values"]["nodeGroups"]["web"]["maxReplicas"], 9);
    assert_eq!(hr["metadata"].get("finalizers"), None, "an edit drops the finalizer");
    assert_eq!(hr["metadata"]["generation"], 2);
}

#[tokio::test]
async fn an_edit_while_deleting_orphans_the_chart() {
    let p = bare(web(3));
    let path = "/apis/apps.cozystack.io/v1alpha1/namespaces/tenant-test/computeplanes/computeplane";
    text(send(&p, "DELETE", path, "", "").await).await;
    assert_eq!(get(&p, path).await.0, 200, "the finalizer holds it");
    let body = json!([{"op": "replace", "path": "/spec/nodeGroups/web/maxReplicas", "value": 4}]).to_string();
    text(send(&p, "PATCH", path, "application/json-patch+json", &body).await).await;
    assert_eq!(get(&p, path).await.0, 404);
}

#[tokio::test]
async fn the_cache_lags_and_a_patch_is_made_from_it() {
    let p = bare(web(3));
    let path = "/apis/apps.cozystack.io/v1alpha1/namespaces/tenant-test/computeplanes/computeplane";
    p.freeze_cache(true);
    let set = |n: i64| json!([{"op": "replace", "path": "/spec/nodeGroups/web/maxReplicas", "value": n}]).to_string();
    text(send(&p, "PATCH", path, "application/json-patch+json", &set(7)).await).await;
    assert_eq!(get(&p, path).await.1["spec"]["nodeGroups"]["web"]["maxReplicas"], 3, "an old read");
    let min = json!([{"op": "test", "path": "/spec/nodeGroups/web/maxReplicas", "value": 3},
        {"op": "replace", "path": "/spec/nodeGroups/web/minReplicas", "value": 2}]);
    let (status, _) = text(send(&p, "PATCH", path, "application/json-patch+json", &min.to_string()).await).await;
    assert_eq!(status, 200, "test passes on the cache");
    p.freeze_cache(false);
    let web = get(&p, path).await.1["spec"]["nodeGroups"]["web"].clone();
    assert_eq!((web["minReplicas"].clone(), web["maxReplicas"].clone()), (json!(2), json!(3)), "the first edit is lost");
}

#[tokio::test]
async fn wrong_shapes_are_stored_and_shown_coerced() {
    for (stored, shown) in [
        (json!([1]), json!({})),
        (json!(null), json!({})),
        (json!({"a": null}), json!({"a": {"diskSize": "20Gi", "instanceType": "u1.medium", "maxReplicas": 10, "minReplicas": 0}})),
    ] {
        let p = bare(stored.clone());
        let path = "/apis/apps.cozystack.io/v1alpha1/namespaces/tenant-test/computeplanes/computeplane";
        assert_eq!(get(&p, path).await.1["spec"]["nodeGroups"], shown, "{stored}");
    }
}

#[tokio::test]
async fn tenant_namespaces_are_those_with_a_binding() {
    let p = bare(web(3)).speaking_as(level("tenant-test", "view"));
    let (_, list) = get(&p, "/apis/core.cozystack.io/v1alpha1/tenantnamespaces").await;
    let names: Vec<_> = list["items"].as_array().unwrap().iter().map(|n| n["metadata"]["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["tenant-test", "tenant-test-dev"]);
}
