//! Where a kind is served: by both forms of discovery, with parts of it failing, withheld, late or gone.

use std::time::Duration;

use planedeck::{
    cluster::{ask::Ask as _, guard::Mode},
    model::{Kind, ProblemKind as P},
};
use serde_json::{Value, json};

use crate::server::{Answer, Server, groups, list, ok, page, session, status};

fn plain_groups(groups: &[(&str, &[&str])]) -> Answer {
    let groups: Vec<Value> = groups
        .iter()
        .map(|(g, versions)| {
            let versions: Vec<Value> = versions.iter().map(|v| json!({"groupVersion": format!("{g}/{v}"), "version": v})).collect();
            json!({"name": g, "versions": versions, "preferredVersion": versions[0]})
        })
        .collect();
    ok(json!({"kind": "APIGroupList", "groups": groups}))
}

fn resources(names: &[&str]) -> Answer {
    let resources: Vec<Value> = names.iter().map(|n| json!({"name": n, "verbs": ["list"]})).collect();
    ok(json!({"kind": "APIResourceList", "resources": resources}))
}

fn plain() -> Server {
    let server = Server::empty();
    server.on("GET", "/api", [ok(json!({"kind": "APIVersions", "versions": ["v1"]}))]);
    server.on("GET", "/api/v1", [resources(&["pods", "pods/log", "events"])]);
    server
}

#[tokio::test(start_paused = true)]
async fn one_question_serves_every_kind() {
    let server = Server::new();
    let (session, _) = session(&server, Mode::ReadOnly);
    let (a, b, c) = tokio::join!(
        session.locate(Kind::Machine, Some("t")),
        session.locate(Kind::ComputePlane, None),
        session.locate(Kind::StorageClass, Some("t"))
    );
    assert_eq!(a.unwrap().path, "/apis/cluster.x-k8s.io/v1beta2/namespaces/t/machines");
    assert_eq!(b.unwrap().path, "/apis/apps.cozystack.io/v1alpha1/computeplanes");
    assert_eq!(c.unwrap().path, "/apis/storage.k8s.io/v1/storageclasses", "cluster scope has no namespace");
    assert_eq!(server.asked().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn an_old_server_is_asked_group_by_group_and_a_broken_group_hides_no_other() {
    let server = plain();
    server.on(
        "GET",
        "/apis",
        [plain_groups(&[("cluster.x-k8s.io", &["v1beta1"]), ("apps.cozystack.io", &["v1alpha1"]), ("other.io", &["v1"])])],
    );
    server.on("GET", "/apis/cluster.x-k8s.io/v1beta1", [resources(&["machines", "clusters"])]);
    server.on("GET", "/apis/apps.cozystack.io/v1alpha1", [page(503, "service unavailable\n")]);
    let (session, _) = session(&server, Mode::ReadOnly);
    assert_eq!(session.locate(Kind::Machine, None).await.unwrap().api_version, "cluster.x-k8s.io/v1beta1");
    assert_eq!(session.locate(Kind::Pod, None).await.unwrap().path, "/api/v1/pods");
    assert_eq!(session.locate(Kind::ComputePlane, None).await.unwrap().api_version, "apps.cozystack.io/v1alpha1", "tried all the same");
    assert_eq!(session.locate(Kind::Service, None).await.unwrap_err().kind, P::AbsentApi);
    assert_eq!(server.count("GET", "/apis/other.io/v1"), 0, "groups that are none of ours aren't asked about");
}

#[tokio::test(start_paused = true)]
async fn a_withheld_discovery_does_not_end_the_console() {
    let server = Server::empty();
    for path in ["/api", "/apis"] {
        server.on("GET", path, [status(403, "Forbidden", "cannot get path")]);
    }
    let (session, _) = session(&server, Mode::ReadOnly);
    assert_eq!(session.locate(Kind::Pod, Some("t")).await.unwrap().path, "/api/v1/namespaces/t/pods");
    assert_eq!(session.locate(Kind::ComputePlane, None).await.unwrap().api_version, "apps.cozystack.io/v1alpha1");
    assert_eq!(session.locate(Kind::HelmRelease, None).await.unwrap().api_version, "helm.toolkit.fluxcd.io/v2");
}

#[tokio::test(start_paused = true)]
async fn a_failed_discovery_is_told_and_asked_again() {
    let server = Server::new();
    server.on("GET", "/apis", [Answer::Reset, page(200, "<html>portal</html>"), ok(groups(|g| !g.is_empty()))]);
    let (session, _) = session(&server, Mode::ReadOnly);
    assert_eq!(session.locate(Kind::Machine, None).await.unwrap_err().kind, P::Unreachable);
    assert_eq!(session.locate(Kind::Machine, None).await.unwrap_err().kind, P::Unreadable);
    assert!(session.locate(Kind::Machine, None).await.is_ok());
}

#[tokio::test(start_paused = true)]
async fn an_api_that_is_installed_later_is_found_without_a_restart() {
    let server = Server::new();
    server.on("GET", "/apis", [ok(groups(|g| !g.is_empty() && g != "kamaji.clastix.io")), ok(groups(|g| !g.is_empty()))]);
    let (session, _) = session(&server, Mode::ReadOnly);
    for _ in 0..5 {
        assert_eq!(session.locate(Kind::TenantControlPlane, None).await.unwrap_err().kind, P::AbsentApi);
    }
    assert_eq!(server.count("GET", "/apis"), 1, "absent kinds don't hammer discovery");
    tokio::time::advance(Duration::from_secs(61)).await;
    assert!(session.locate(Kind::TenantControlPlane, None).await.is_ok());
    assert!(session.locate(Kind::DataStore, None).await.is_ok());
    assert_eq!(server.count("GET", "/apis"), 2);
}

#[tokio::test(start_paused = true)]
async fn a_version_that_was_removed_is_left_for_the_next() {
    let one = |v: &str| {
        ok(
            json!({"kind": "APIGroupDiscoveryList", "items": [{"metadata": {"name": "cluster.x-k8s.io"}, "versions": [{"version": v, "resources": [{"resource": "machines"}]}]}]}),
        )
    };
    let server = Server::new();
    server.on("GET", "/apis", [one("v1beta1"), one("v1beta2")]);
    server.on("GET", "/apis/cluster.x-k8s.io/v1beta2/namespaces/t/machines", [list("1", &[])]);
    let (session, _) = session(&server, Mode::ReadOnly);
    let old = session.locate(Kind::Machine, Some("t")).await.unwrap();
    let ask = |path: String| http::Request::get(path).body(Vec::new()).unwrap();
    assert_eq!(session.json(ask(old.path)).await.unwrap_err().kind, P::AbsentApi);
    tokio::time::advance(Duration::from_secs(61)).await;
    let new = session.locate(Kind::Machine, Some("t")).await.unwrap();
    assert_eq!(new.api_version, "cluster.x-k8s.io/v1beta2");
    assert!(session.json(ask(new.path)).await.is_ok());
}

#[tokio::test(start_paused = true)]
async fn a_version_from_the_future_is_named_with_what_can_be_read() {
    let server = plain();
    server.on("GET", "/apis", [plain_groups(&[("kamaji.clastix.io", &["v9"])])]);
    server.on("GET", "/apis/kamaji.clastix.io/v9", [resources(&["tenantcontrolplanes"])]);
    let (session, _) = session(&server, Mode::ReadOnly);
    let problem = session.locate(Kind::TenantControlPlane, None).await.unwrap_err();
    assert_eq!(problem.kind, P::UnsupportedVersion);
    assert!(problem.summary.contains("v9") && problem.hint.contains("v1alpha1"), "{problem}");
}
