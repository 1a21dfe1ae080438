//! Writes: what each answer means for what is stored, that nothing is ever sent twice, and that nothing else than node groups is.

use std::time::Duration;

use planedeck::{
    cluster::{
        guard::{JSON_PATCH, Mode},
        write::{Outcome, READ_BACK},
    },
    model::{Kind, ObjectRef, ProblemKind as P},
};
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::server::{Answer, Server, ok, page, session, status};

const PATH: &str = "/apis/apps.cozystack.io/v1alpha1/namespaces/tenant-a/computeplanes/computeplane";

fn plane() -> ObjectRef {
    ObjectRef { kind: Kind::ComputePlane, namespace: "tenant-a".into(), name: "computeplane".into() }
}

fn at(max: u64) -> Value {
    json!({"kind": "ComputePlane", "metadata": {"name": "computeplane", "uid": "u"}, "spec": {"nodeGroups": {"web": {"maxReplicas": max}}}})
}

fn patch() -> Value {
    json!([
        {"op": "test", "path": "/metadata/uid", "value": "u"},
        {"op": "test", "path": "/spec/nodeGroups/web/maxReplicas", "value": 3},
        {"op": "replace", "path": "/spec/nodeGroups/web/maxReplicas", "value": 6}
    ])
}

async fn write(server: &Server, mode: Mode, patch: &Value) -> Outcome {
    session(server, mode).0.write(&plane(), patch, &READ_BACK).await
}

#[tokio::test(start_paused = true)]
async fn a_write_is_one_json_patch_and_then_read_back_twice() {
    let server = Server::new();
    server.on("PATCH", PATH, [ok(at(6))]);
    server.on("GET", PATH, [ok(at(3)), ok(at(6))]);
    let begin = Instant::now();
    // The first reading is stale, as it is now and then on the platform; both are handed on.
    assert_eq!(write(&server, Mode::ReadWrite, &patch()).await, Outcome::Written(vec![at(6), at(3), at(6)]));
    assert_eq!(begin.elapsed(), Duration::from_millis(1050));
    let sent: Vec<_> = server.asked().into_iter().filter(|a| a.method == "PATCH").collect();
    assert_eq!(sent.len(), 1);
    assert_eq!(sent[0].content_type.as_deref(), Some(JSON_PATCH));
    assert_eq!(sent[0].uri, PATH, "no query: a dryRun would write all the same");
    assert_eq!(serde_json::from_str::<Value>(&sent[0].body).unwrap(), patch());
}

#[tokio::test(start_paused = true)]
async fn every_answer_to_a_patch_has_its_meaning_and_is_given_once() {
    let failed_test = "the server rejected our request due to an error in our request";
    let race = "failed to update HelmRelease: Operation cannot be fulfilled on helmreleases \"x\": the object has been modified";
    let wrapped =
        "failed to update HelmRelease: helmreleases \"computeplane\" is forbidden: ValidatingAdmissionPolicy 'no' denied request: no";
    let slow = "failed to update HelmRelease: etcdserver: request timed out";
    let table: Vec<(&str, Answer, P)> = vec![
        ("conflict", status(422, "Invalid", failed_test), P::Conflict),
        ("conflict", status(409, "Conflict", "x"), P::Conflict),
        ("conflict", status(500, "", race), P::Conflict),
        ("refused", status(422, "Invalid", "computeplanes \"x\" is forbidden: denied request: at most 9"), P::Invalid),
        ("refused", status(500, "", wrapped), P::ServerError),
        ("refused", status(403, "Forbidden", "no"), P::Forbidden),
        ("refused", status(401, "Unauthorized", "no"), P::Unauthorized),
        ("refused", status(429, "TooManyRequests", "slow"), P::TooManyRequests),
        ("refused", status(413, "RequestEntityTooLarge", "big"), P::Invalid),
        ("unknown", status(500, "", slow), P::ServerError),
        ("unknown", status(504, "Timeout", "request did not complete"), P::Timeout),
        ("unknown", page(502, "<html>bad gateway</html>"), P::ServerError),
        ("unknown", page(503, "error trying to reach service: EOF"), P::ServerError),
        ("unknown", page(200, "<html>"), P::Unreadable),
        ("unknown", Answer::Torn(200, "{\"kind\"".into()), P::Unreachable),
        ("unknown", Answer::Reset, P::Unreachable),
        ("unknown", Answer::Silent, P::Timeout),
    ];
    for (meaning, answer, kind) in table {
        let server = Server::new();
        server.on("PATCH", PATH, [answer.clone()]);
        server.on("GET", PATH, [ok(at(5))]);
        let (got, now, problem) = match write(&server, Mode::ReadWrite, &patch()).await {
            Outcome::Written(_) => panic!("{answer:?} is no success"),
            Outcome::Conflict(now, p) => ("conflict", now, p),
            Outcome::Refused(p) => ("refused", None, p),
            Outcome::Unknown(now, p) => ("unknown", now, p),
        };
        assert_eq!(got, meaning, "{answer:?}: {problem}");
        assert!(problem.kind == kind || meaning == "conflict", "{answer:?}: {problem}");
        assert_eq!(now.is_some(), meaning != "refused", "{answer:?}: what is live now is read where it matters");
        assert_eq!(server.count("PATCH", PATH), 1, "{answer:?}: a write is never sent twice");
    }
}

#[tokio::test(start_paused = true)]
async fn after_a_lost_answer_the_reading_waits_until_a_late_write_has_landed() {
    let server = Server::new();
    server.on("PATCH", PATH, [Answer::Reset]);
    server.on("GET", PATH, [ok(at(6))]);
    let begin = Instant::now();
    assert!(matches!(write(&server, Mode::ReadWrite, &patch()).await, Outcome::Unknown(Some(now), _) if *now == at(6)));
    assert!(begin.elapsed() >= Duration::from_secs(1));
}

#[tokio::test(start_paused = true)]
async fn a_success_that_cannot_be_read_back_is_not_called_verified() {
    let server = Server::new();
    server.on("PATCH", PATH, [ok(at(6))]);
    server.on("GET", PATH, [Answer::Reset]);
    assert!(matches!(write(&server, Mode::ReadWrite, &patch()).await, Outcome::Unknown(None, p) if p.kind == P::Unreachable));
    // One reading of two is enough to go by.
    server.on("GET", PATH, [Answer::Reset, ok(at(6))]);
    assert_eq!(write(&server, Mode::ReadWrite, &patch()).await, Outcome::Written(vec![at(6), at(6)]));
}

#[tokio::test(start_paused = true)]
async fn what_was_never_sent_is_not_unknown() {
    // Discovery fails before the patch.
    let server = Server::empty();
    server.on("GET", "/api", [Answer::Silent]);
    assert!(matches!(write(&server, Mode::ReadWrite, &patch()).await, Outcome::Refused(p) if p.kind == P::Timeout));
    // The lock.
    let server = Server::new();
    let outcome = write(&server, Mode::ReadOnly, &patch()).await;
    assert!(matches!(&outcome, Outcome::Refused(p) if p.kind == P::Refused && p.detail.contains("read-only")), "{outcome:?}");
    assert!(server.asked().iter().all(|a| a.method == "GET"));
}

#[tokio::test(start_paused = true)]
async fn only_node_groups_can_be_changed() {
    for hostile in [
        json!([{"op": "replace", "path": "/metadata/labels", "value": {}}]),
        json!([{"op": "remove", "path": "/metadata/finalizers"}]),
        json!([{"op": "replace", "path": "/spec", "value": {}}]),
        json!([{"op": "replace", "path": "/spec/nodeGroupsX", "value": {}}]),
        json!([{"op": "replace", "path": "", "value": {}}]),
        json!([{"op": "move", "from": "/spec/nodeGroups/a", "path": "/spec/nodeGroups/b"}]),
        json!([{"op": "copy", "from": "/metadata/uid", "path": "/spec/nodeGroups/b"}]),
        json!([{"op": "test", "path": "/metadata/uid", "value": "u"}, {"op": "add", "path": "/status", "value": 1}]),
        json!([{"path": "/spec/nodeGroups"}]),
        json!([7]),
        json!({"spec": {"nodeGroups": null}}),
        Value::Null,
    ] {
        let server = Server::new();
        let outcome = write(&server, Mode::ReadWrite, &hostile).await;
        assert!(matches!(&outcome, Outcome::Refused(p) if p.kind == P::Refused), "{hostile}: {outcome:?}");
        assert_eq!(server.asked().len(), 0, "{hostile}");
    }
}
