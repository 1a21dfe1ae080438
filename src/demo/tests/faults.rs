//! Every fault, seen from a client.

use std::time::Duration;

use super::*;
use crate::demo::{Fault, Match};

const CONFIGS: &str = "/api/v1/namespaces/tenant-test/configmaps";

async fn status_under(fault: Fault) -> (u16, Value) {
    let p = bare(web(3));
    p.faults().add(Match::resource("", "configmaps"), fault);
    get(&p, CONFIGS).await
}

#[tokio::test]
async fn statuses() {
    assert_eq!(status_under(Fault::Unauthorized).await.0, 401);
    assert_eq!(status_under(Fault::Forbidden).await.0, 403);
    assert_eq!(status_under(Fault::TooMany(7)).await.0, 429);
    assert_eq!(status_under(Fault::Internal("x".into())).await.0, 500);
    assert_eq!(status_under(Fault::Unavailable).await, (503, json!("service unavailable\n")));
    let (status, body) = status_under(Fault::BadGateway).await;
    assert_eq!(status, 502);
    assert!(body.as_str().unwrap().starts_with("<html>"));
}

#[tokio::test]
async fn a_counted_fault_ends() {
    let p = bare(web(3));
    p.faults().times(Match::default(), Fault::TooMany(1), 2);
    let mut seen = Vec::new();
    for _ in 0..3 {
        seen.push(get(&p, CONFIGS).await.0);
    }
    assert_eq!(seen, [429, 429, 200]);
}

#[tokio::test]
async fn refused_and_truncated_are_errors_of_the_connection() {
    let p = bare(web(3));
    let id = p.faults().add(Match::default(), Fault::Refuse);
    let request = || http::Request::get(CONFIGS).body(Bytes::new()).unwrap();
    assert!(p.handle(request()).await.is_err());
    p.faults().remove(id);
    p.faults().add(Match::default(), Fault::Truncate(20));
    let body = p.handle(request()).await.unwrap().into_body();
    assert!(body.collect().await.is_err());
}

#[tokio::test]
async fn half_open_never_answers_and_a_delay_holds_back() {
    for fault in [Fault::HalfOpen, Fault::Delay(Duration::from_secs(3600))] {
        let p = bare(web(3));
        p.faults().add(Match::default(), fault);
        assert!(futures::poll!(std::pin::pin!(get(&p, CONFIGS))).is_pending());
    }
    assert_eq!(status_under(Fault::Delay(Duration::ZERO)).await.0, 200);
}

#[tokio::test]
async fn watches_are_cut_muted_and_ended() {
    let p = bare(web(3));
    let path = format!("{CONFIGS}?watch=1");
    let put = |n: &str| p.put(json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": n, "namespace": "tenant-test"}}));
    let mut w = Watch::open(&p, &path).await;
    assert!(w.quiet().await);
    p.faults().mute_watches(true);
    put("lost");
    assert!(w.quiet().await);
    p.faults().mute_watches(false);
    put("told");
    assert_eq!(w.next().await.unwrap().1, "told");
    p.faults().cut_watches();
    assert_eq!(w.next().await, None);
    p.faults().add(Match::default().verb("watch"), Fault::EndAtOnce);
    let (status, body) = text(send(&p, "GET", &path, "", "").await).await;
    assert_eq!((status, body.as_str()), (200, ""));
}

#[tokio::test]
async fn versions_go_back_after_a_restore() {
    let p = bare(web(3));
    let version = |v: Value| v["metadata"]["resourceVersion"].as_str().unwrap().parse::<u64>().unwrap();
    let before = version(get(&p, CONFIGS).await.1);
    p.rewind_versions(3);
    assert!(version(get(&p, CONFIGS).await.1) < before);
    assert_eq!(get(&p, &format!("{CONFIGS}?watch=1&resourceVersion={before}")).await.0, 504);
}

#[tokio::test]
async fn discovery_survives_a_broken_and_an_absent_group() {
    let p = bare(web(3));
    p.faults().add(Match::group("core.cozystack.io"), Fault::BrokenDiscovery);
    p.faults().add(Match::group("apps.cozystack.io"), Fault::Absent);
    let (_, groups) = get(&p, "/apis").await;
    assert!(!groups.to_string().contains("apps.cozystack.io"));
    assert_eq!(get(&p, "/apis/core.cozystack.io/v1alpha1").await.0, 503);
    assert_eq!(get(&p, "/apis/apps.cozystack.io/v1alpha1").await, (404, json!("404 page not found\n")));
    assert_eq!(get(&p, "/apis/cluster.x-k8s.io/v1beta1").await.0, 200);
    assert_eq!(get(&p, "/version").await.1["gitVersion"], "v1.35.4");
    let request = http::Request::get("/apis")
        .header("accept", "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json")
        .body(Bytes::new())
        .unwrap();
    let (_, body) = text(p.handle(request).await.unwrap()).await;
    let v: Value = serde_json::from_str(&body).unwrap();
    let core = v["items"].as_array().unwrap().iter().find(|g| g["metadata"]["name"] == "core.cozystack.io").unwrap();
    assert_eq!(core["versions"][0]["freshness"], "Stale");
}
