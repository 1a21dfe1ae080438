//! Lists and watches of both manners.

use super::*;

const PLANES: &str = "/apis/apps.cozystack.io/v1alpha1/namespaces/tenant-test/computeplanes";
const CONFIGS: &str = "/api/v1/namespaces/tenant-test/configmaps";

fn monitor(p: &Platform, name: &str, operational: bool) {
    p.put(json!({"apiVersion": "cozystack.io/v1alpha1", "kind": "WorkloadMonitor",
        "metadata": {"name": name, "namespace": "tenant-test", "labels": {
            "apps.cozystack.io/application.group": "apps.cozystack.io", "apps.cozystack.io/application.kind": "ComputePlane",
            "apps.cozystack.io/application.name": "computeplane"}},
        "spec": {}, "status": {"operational": operational}}));
}

fn config(p: &Platform, name: &str, value: &str) {
    p.put(json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": "tenant-test"}, "data": {"v": value}}));
}

#[tokio::test]
async fn a_plane_watch_starts_with_added_bookmark_and_one_modified_per_monitor() {
    let p = bare(web(3));
    monitor(&p, "computeplane-cluster", true);
    monitor(&p, "computeplane-cluster-web", true);
    plane(&p, "tenant-test", "computeplane", json!({"nodeGroups": web(4)}));
    let mut w = Watch::open(&p, &format!("{PLANES}?watch=1")).await;
    let (kind, name, added) = w.next().await.unwrap();
    assert_eq!((kind.as_str(), name.as_str()), ("ADDED", "computeplane"));
    assert_eq!(w.next().await.unwrap().0, "BOOKMARK");
    for _ in 0..2 {
        let (kind, _, version) = w.next().await.unwrap();
        assert_eq!(kind, "MODIFIED");
        assert!(version < added, "the monitor's older version");
    }
    assert!(w.quiet().await);
    monitor(&p, "computeplane-cluster-web", false);
    assert_eq!(w.next().await.unwrap().0, "MODIFIED");
    let (_, v) = get(&p, &format!("{PLANES}/computeplane")).await;
    let last = v["status"]["conditions"].as_array().map(|c| c.last().cloned());
    assert!(last.is_none() || last.unwrap().unwrap()["status"] == "False");
    p.remove("helm.toolkit.fluxcd.io/v2", "HelmRelease", "tenant-test", "computeplane");
    // The deletion time first, then the end.
    assert_eq!(w.next().await.unwrap().0, "MODIFIED");
    assert_eq!(w.next().await.unwrap().0, "DELETED");
}

#[tokio::test]
async fn a_gap_hides_deletions_and_is_never_410() {
    let p = bare(web(3));
    plane(&p, "tenant-test", "gamma", json!({}));
    let version = get(&p, PLANES).await.1["metadata"]["resourceVersion"].as_str().unwrap().to_string();
    p.remove("helm.toolkit.fluxcd.io/v2", "HelmRelease", "tenant-test", "gamma");
    p.compact();
    let mut w = Watch::open(&p, &format!("{PLANES}?watch=1&resourceVersion={version}")).await;
    assert!(w.quiet().await, "no DELETED, no ERROR");
}

#[tokio::test]
async fn initial_events_with_a_version_leave_the_store_empty() {
    let p = bare(web(3));
    let version = get(&p, PLANES).await.1["metadata"]["resourceVersion"].as_str().unwrap().to_string();
    let mut w = Watch::open(&p, &format!("{PLANES}?watch=1&sendInitialEvents=true&resourceVersion={version}")).await;
    assert_eq!(w.next().await.unwrap().0, "BOOKMARK");
    assert!(w.quiet().await);
}

#[tokio::test]
async fn planes_ignore_limit_and_ordinary_kinds_page() {
    let p = bare(web(3));
    plane(&p, "tenant-test", "alpha", json!({}));
    assert_eq!(get(&p, &format!("{PLANES}?limit=1")).await.1["items"].as_array().unwrap().len(), 2);
    (0..5).for_each(|i| config(&p, &format!("c{i}"), "x"));
    let (mut names, mut next) = (Vec::new(), String::new());
    for _ in 0..3 {
        let (status, page) = get(&p, &format!("{CONFIGS}?limit=2&continue={next}")).await;
        assert_eq!(status, 200);
        names.extend(page["items"].as_array().unwrap().iter().map(|c| c["metadata"]["name"].as_str().unwrap().to_string()));
        next = page["metadata"]["continue"].as_str().unwrap_or("").to_string();
        // Comes too late for the pages, which show one moment.
        config(&p, "c9", "x");
    }
    assert_eq!(names, ["c0", "c1", "c2", "c3", "c4"]);
    assert_eq!(next, "");
    let token = get(&p, &format!("{CONFIGS}?limit=2")).await.1["metadata"]["continue"].as_str().unwrap().to_string();
    config(&p, "c8", "x");
    p.compact();
    assert_eq!(get(&p, &format!("{CONFIGS}?limit=2&continue={token}")).await.0, 410);
}

#[tokio::test]
async fn an_ordinary_watch_resumes_and_is_410_when_too_old() {
    let p = bare(web(3));
    config(&p, "a", "1");
    let version = get(&p, CONFIGS).await.1["metadata"]["resourceVersion"].as_str().unwrap().to_string();
    config(&p, "a", "2");
    config(&p, "b", "1");
    p.delete("v1", "ConfigMap", "tenant-test", "a");
    let path = format!("{CONFIGS}?watch=1&resourceVersion={version}");
    let mut w = Watch::open(&p, &path).await;
    let mut seen = Vec::new();
    for _ in 0..3 {
        let (kind, name, _) = w.next().await.unwrap();
        seen.push(format!("{kind} {name}"));
    }
    assert_eq!(seen, ["MODIFIED a", "ADDED b", "DELETED a"]);
    p.compact();
    let mut w = Watch::open(&p, &path).await;
    assert_eq!(w.next().await.unwrap().0, "ERROR");
    assert_eq!(w.next().await, None);
}

#[tokio::test]
async fn a_selector_turns_changes_into_added_and_deleted() {
    let p = bare(web(3));
    let mut w = Watch::open(&p, &format!("{CONFIGS}?watch=1&labelSelector=team%20in%20(a,b)")).await;
    let set = |team: &str| {
        p.put(json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x", "namespace": "tenant-test", "labels": {"team": team}}}))
    };
    for team in ["a", "b", "c"] {
        set(team);
    }
    let mut kinds = Vec::new();
    for _ in 0..3 {
        kinds.push(w.next().await.unwrap().0);
    }
    assert_eq!(kinds, ["ADDED", "MODIFIED", "DELETED"]);
    p.put(json!({"apiVersion": "v1", "kind": "Event", "metadata": {"name": "e", "namespace": "tenant-test"}, "involvedObject": {"kind": "Pod", "name": "p"}}));
    let events = "/api/v1/namespaces/tenant-test/events?fieldSelector=involvedObject.kind%3DPod,involvedObject.name%3D";
    assert_eq!(get(&p, &format!("{events}p")).await.1["items"].as_array().unwrap().len(), 1);
    assert_eq!(get(&p, &format!("{events}q")).await.1["items"].as_array().unwrap().len(), 0);
}

#[tokio::test]
async fn ordinary_writes_conflict_and_bump_the_generation_with_the_spec() {
    let p = default();
    let path = "/apis/cluster.x-k8s.io/v1beta1/namespaces/tenant-acme/machinedeployments/computeplane-cluster-web";
    let (_, v) = get(&p, path).await;
    let generation = v["metadata"]["generation"].as_i64().unwrap();
    let patch = r#"{"spec":{"paused":true}}"#;
    let (_, body) = text(send(&p, "PATCH", path, "application/merge-patch+json", patch).await).await;
    let after: Value = serde_json::from_str(&body).unwrap();
    assert_eq!(after["metadata"]["generation"], generation + 1);
    let (status, _) = text(send(&p, "PUT", path, "application/json", &v.to_string()).await).await;
    assert_eq!(status, 409, "a stale version");
}

#[tokio::test]
async fn tables_and_metadata_lists_are_served() {
    let p = default();
    let ask = async |accept: &str| {
        let request = http::Request::get("/apis/helm.toolkit.fluxcd.io/v2/namespaces/tenant-acme/helmreleases?includeObject=None&labelSelector=cozystack.io%2Ftarget-cluster-name")
            .header("accept", accept)
            .body(Bytes::new())
            .unwrap();
        let (_, body) = text(p.handle(request).await.unwrap()).await;
        serde_json::from_str::<Value>(&body).unwrap()
    };
    let table = ask("application/json;as=Table;v=v1;g=meta.k8s.io,application/json").await;
    assert_eq!(table["rows"].as_array().unwrap().len(), 9);
    assert_eq!(table["rows"][0]["cells"][2], "True");
    let list = ask("application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io").await;
    assert_eq!(list["kind"], "PartialObjectMetadataList");
    assert_eq!(list["items"][0].get("spec"), None);
}

#[tokio::test]
async fn pools_and_modules_are_views_of_releases() {
    let p = default().speaking_as(level("tenant-media", "use"));
    let pools = "/apis/apps.cozystack.io/v1alpha1/namespaces/tenant-media/kubernetesnodeses";
    let (_, list) = get(&p, pools).await;
    let names: Vec<_> = list["items"].as_array().unwrap().iter().map(|v| v["metadata"]["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["computeplane-cluster-gpu", "computeplane-cluster-web"]);
    let (_, gpu) = get(&p, &format!("{pools}/computeplane-cluster-gpu")).await;
    assert_eq!(gpu["status"]["conditions"][0]["status"], "False");
    let (status, modules) = get(&p, "/apis/core.cozystack.io/v1alpha1/namespaces/tenant-media/tenantmodules").await;
    assert_eq!((status, modules["items"].as_array().unwrap().len()), (200, 1));
}
