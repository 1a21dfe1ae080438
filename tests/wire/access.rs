//! Access reviews: what is asked, what counts as proof, and that the credential is only ever asked about.

use planedeck::{
    cluster::guard::Mode,
    model::{
        ProblemKind as P,
        access::{MayRead, Question},
    },
};
use serde_json::{Value, json};

use crate::server::{Answer, Server, list, ok, page, session, status};

const REVIEW: &str = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
const RULES: &str = "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews";
const NAMESPACES: &str = "/apis/core.cozystack.io/v1alpha1/tenantnamespaces";

fn rules(incomplete: bool, verbs: &[&str], groups: &[&str], resources: &[&str]) -> Answer {
    ok(
        json!({"status": {"incomplete": incomplete, "nonResourceRules": [], "resourceRules": [{"verbs": verbs, "apiGroups": groups, "resources": resources}]}}),
    )
}

/// Everything within a namespace, nothing in cluster scope.
fn namespaced_only(review: &Value) -> Value {
    let ns = review.pointer("/spec/resourceAttributes/namespace").and_then(Value::as_str).unwrap_or_default();
    json!({"status": {"allowed": !ns.is_empty(), "reason": "RBAC"}})
}

/// Only the credential, by its name.
fn credential_only(review: &Value) -> Value {
    let a = &review["spec"]["resourceAttributes"];
    let open = a["resource"] == "secrets" && a["verb"] == "get" && a["name"] == "computeplane-cluster-admin-kubeconfig";
    json!({"status": {"allowed": open, "reason": if open { "RoleBinding x" } else { "" }}})
}

/// Only watching all Secrets, which hands the data out as well as a get.
fn watch_all(review: &Value) -> Value {
    let a = &review["spec"]["resourceAttributes"];
    let named = a.get("name").and_then(Value::as_str).is_some_and(|n| !n.is_empty());
    json!({"status": {"allowed": a["resource"] == "secrets" && a["verb"] == "watch" && !named}})
}

/// Only listing all Secrets.
fn list_all(review: &Value) -> Value {
    let a = &review["spec"]["resourceAttributes"];
    let named = a.get("name").and_then(Value::as_str).is_some_and(|n| !n.is_empty());
    json!({"status": {"allowed": a["resource"] == "secrets" && a["verb"] == "list" && !named}})
}

/// Only watching the one Secret.
fn watch_one(review: &Value) -> Value {
    let a = &review["spec"]["resourceAttributes"];
    json!({"status": {"allowed": a["resource"] == "secrets" && a["verb"] == "watch" && a["name"] == "computeplane-cluster-admin-kubeconfig"}})
}

async fn allowed(server: &Server, resource: &str, verb: &str) -> Option<bool> {
    let (session, _) = session(server, Mode::ReadOnly);
    let access = session.access(&["tenant-a".to_string()]).await;
    access.namespaces[0].rules.iter().find(|r| r.resource == resource && r.verb == verb).unwrap().allowed
}

#[tokio::test(start_paused = true)]
async fn rules_of_a_namespace_prove_nothing_about_cluster_scope() {
    let server = Server::new();
    server.on("POST", RULES, [rules(false, &["*"], &["*"], &["*"])]);
    server.on("POST", REVIEW, [Answer::Made(namespaced_only)]);
    assert_eq!(allowed(&server, "pods", "list").await, Some(true));
    for resource in ["storageclasses", "namespaces", "tenantnamespaces", "datastores"] {
        assert_eq!(allowed(&server, resource, "list").await, Some(false), "{resource}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_incomplete_review_is_filled_by_questions_and_a_dead_server_leaves_it_open() {
    let server = Server::new();
    server.on("POST", RULES, [rules(true, &["get"], &[""], &["pods"])]);
    server.on("POST", REVIEW, [Answer::Made(namespaced_only)]);
    assert_eq!(allowed(&server, "machines", "watch").await, Some(true), "asked, since the review may have left it out");
    server.on("POST", REVIEW, [page(503, "down")]);
    assert_eq!(allowed(&server, "machines", "watch").await, None, "not known is not no");
    assert_eq!(allowed(&server, "pods", "get").await, Some(true));
}

#[tokio::test(start_paused = true)]
async fn the_boundary_is_judged_without_a_request_for_any_secret() {
    let server = Server::new();
    server.on("POST", RULES, [rules(false, &["get"], &[""], &["pods"])]);
    for (answer, verdict) in [
        (Answer::Made(credential_only), MayRead::Yes),
        (Answer::Made(watch_all), MayRead::Yes),
        (Answer::Made(list_all), MayRead::Yes),
        (Answer::Made(watch_one), MayRead::Yes),
        (ok(json!({"status": {"allowed": false}})), MayRead::No),
        (page(503, "down"), MayRead::Unknown),
        (ok(json!({"status": {"allowed": false, "evaluationError": "webhook timed out"}})), MayRead::Unknown),
        (ok(json!({"status": {}})), MayRead::Unknown),
    ] {
        server.on("POST", REVIEW, [answer.clone()]);
        let (session, _) = session(&server, Mode::ReadOnly);
        let access = session.access(&["tenant-a".to_string()]).await;
        assert_eq!(access.boundary.may_read, verdict, "{answer:?}");
    }
    assert!(server.asked().iter().all(|a| !a.uri.contains("secret")));
}

#[tokio::test(start_paused = true)]
async fn a_server_that_will_not_say_who_we_are_hides_nothing_else() {
    let server = Server::new();
    server.on("POST", RULES, [rules(false, &["*"], &["*"], &["*"])]);
    server.on("POST", REVIEW, [Answer::Made(namespaced_only)]);
    let (session, _) = session(&server, Mode::ReadOnly);
    let access = session.access(&["tenant-a".to_string(), "tenant-b".to_string()]).await;
    assert_eq!(access.identity, None);
    assert_eq!(access.namespaces.len(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_question_carries_all_its_parts() {
    let server = Server::new();
    server.on("POST", REVIEW, [ok(json!({"status": {"allowed": true, "reason": "r\u{1b}[2J"}}))]);
    let (session, _) = session(&server, Mode::ReadOnly);
    let q = Question { verb: "get", group: "apps", resource: "deployments/scale", name: "x" };
    let (yes, reason) = session.may(Some("tenant-a"), q).await.unwrap();
    assert!(yes && !reason.contains('\u{1b}'));
    let sent: Value = serde_json::from_str(&server.asked()[0].body).unwrap();
    let wanted =
        json!({"verb": "get", "group": "apps", "resource": "deployments", "subresource": "scale", "name": "x", "namespace": "tenant-a"});
    assert_eq!(sent["spec"]["resourceAttributes"], wanted);
}

#[tokio::test(start_paused = true)]
async fn namespaces_come_from_what_was_asked_the_context_and_the_platform() {
    let server = Server::new();
    let named = |names: &[&str]| {
        let items: Vec<Value> = names.iter().map(|n| json!({"metadata": {"name": n}})).collect();
        ok(json!({"kind": "TenantNamespaceList", "items": items}))
    };
    server.on("GET", NAMESPACES, [named(&["tenant-b", "tenant-a", "cozy-system"])]);
    let (s, _) = session(&server, Mode::ReadOnly);
    let asked = s.namespaces(&["x".to_string(), "a".to_string(), "x".to_string()]).await;
    assert_eq!(asked.names, ["a", "x"]);
    assert!(server.asked().is_empty(), "what was asked for needs no list");
    assert_eq!(s.namespaces(&[]).await.names, ["tenant-a", "tenant-b"]);
    for (answer, kind) in
        [(status(403, "Forbidden", "no"), P::Forbidden), (page(404, "404 page not found\n"), P::AbsentApi), (Answer::Reset, P::Unreachable)]
    {
        server.on("GET", NAMESPACES, [answer]);
        let found = s.namespaces(&[]).await;
        assert_eq!((found.names, found.problem.map(|p| p.kind)), (vec!["tenant-a".to_string()], Some(kind)));
    }
    server.on("GET", NAMESPACES, [list("1", &[])]);
    assert_eq!(s.namespaces(&[]).await.source, "context");
}
