//! The trail: each request asked for is one record, sent or refused, answered or not, and what is written stays verifiable and free of bodies.

use std::collections::BTreeMap;

use planedeck::{
    cluster::{
        audit_file::{AuditFile, verify_file},
        guard::Mode,
        trail::AuditTrail,
    },
    model::{
        Kind, ObjectRef, ProblemKind as P,
        audit::{AuditRecord, Decision},
    },
};
use serde_json::json;
use tokio::sync::mpsc::UnboundedReceiver;

use crate::server::{Answer, Server, ok, over, page, session};

const PATH: &str = "/apis/apps.cozystack.io/v1alpha1/namespaces/tenant-a/computeplanes/computeplane";

fn plane() -> ObjectRef {
    ObjectRef { kind: Kind::ComputePlane, namespace: "tenant-a".into(), name: "computeplane".into() }
}

/// The last state of each record, in order of asking.
fn last(rx: &mut UnboundedReceiver<(u64, AuditRecord)>) -> Vec<AuditRecord> {
    let mut by = BTreeMap::new();
    while let Ok((seq, record)) = rx.try_recv() {
        by.insert(seq, record);
    }
    by.into_values().collect()
}

fn get(path: &str) -> http::Request<Vec<u8>> {
    http::Request::get(path).body(Vec::new()).unwrap()
}

#[tokio::test(start_paused = true)]
async fn an_answer_is_recorded_with_status_bytes_and_purpose() {
    let server = Server::new();
    let body = json!({"kind": "ComputePlane", "spec": {}});
    server.on("GET", PATH, [ok(body.clone())]);
    let (session, trail) = session(&server, Mode::ReadOnly);
    let mut rx = trail.listen();
    session.fetch(&plane()).await.unwrap();
    let records = last(&mut rx);
    assert_eq!(records.len(), 3, "two of discovery and the object");
    let r = &records[2];
    assert_eq!((r.verb.as_str(), r.group.as_str(), r.version.as_str()), ("get", "apps.cozystack.io", "v1alpha1"));
    assert_eq!((r.resource.as_str(), r.namespace.as_str(), r.name.as_str()), ("computeplanes", "tenant-a", "computeplane"));
    assert_eq!((r.decision, r.status, r.bytes), (Decision::Sent, Some(200), body.to_string().len() as u64));
    assert!(records.iter().all(|r| !r.purpose.is_empty()));
}

#[tokio::test(start_paused = true)]
async fn failures_are_recorded_with_what_came_of_them() {
    for (answer, status, bytes) in [
        (page(503, "down"), Some(503), 4),
        (Answer::Torn(200, "{\"a".into()), Some(200), 3),
        (Answer::Hang(200, "{\"a\"".into()), Some(200), 4),
        (Answer::Reset, None, 0),
        (Answer::Silent, None, 0),
    ] {
        let server = Server::new();
        server.on("GET", PATH, [answer.clone()]);
        let (session, trail) = session(&server, Mode::ReadOnly);
        let mut rx = trail.listen();
        session.fetch(&plane()).await.unwrap_err();
        drop(session);
        // The client's worker drops the request once nobody waits for it.
        for _ in 0..20 {
            tokio::task::yield_now().await;
        }
        let records = last(&mut rx);
        let r = records.last().unwrap();
        assert_eq!((r.status, r.bytes, r.decision), (status, bytes, Decision::Sent), "{answer:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_refusal_is_recorded_and_nothing_leaves() {
    let server = Server::new();
    let (session, trail) = session(&server, Mode::ReadWrite);
    let mut rx = trail.listen();
    let problem = session.json(get("/api/v1/namespaces/tenant-a/secrets/x")).await.unwrap_err();
    assert_eq!(problem.kind, P::Refused);
    let records = last(&mut rx);
    let r = &records[0];
    assert_eq!((records.len(), r.decision, r.status), (1, Decision::Refused, None));
    assert_eq!((r.verb.as_str(), r.resource.as_str(), r.namespace.as_str()), ("get", "secrets", "tenant-a"));
    assert!(server.asked().is_empty());
    let totals = trail.totals();
    assert_eq!(totals.values().map(|c| (c.sent, c.refused)).collect::<Vec<_>>(), [(0, 1)]);
}

#[tokio::test(start_paused = true)]
async fn every_request_that_arrives_has_its_record() {
    let server = Server::new();
    server.on("GET", PATH, [ok(json!({})), page(500, "x"), Answer::Reset]);
    let (session, trail) = session(&server, Mode::ReadWrite);
    let mut rx = trail.listen();
    for _ in 0..4 {
        let _ = session.fetch(&plane()).await;
        let _ = session.write(&plane(), &json!([{"op": "remove", "path": "/spec/nodeGroups/a"}]), &[]).await;
        let _ = session.access(&["tenant-a".to_string()]).await;
        let _ = session.namespaces(&[]).await;
    }
    let sent = last(&mut rx).iter().filter(|r| r.decision == Decision::Sent).count();
    assert_eq!(sent, server.asked().len());
    assert_eq!(trail.totals().values().map(|c| c.sent).sum::<u64>(), sent as u64);
}

#[tokio::test(start_paused = true)]
async fn the_file_holds_every_request_also_those_in_flight_and_no_bodies() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("audit.jsonl");
    let trail = AuditTrail::with_file(AuditFile::open(&path).unwrap(), true);
    let server = Server::new();
    server.on("GET", PATH, [ok(json!({"data": "c2VjcmV0LXRleHQ="})), Answer::Silent]);
    let session = over(&server, Mode::ReadWrite, trail.clone());
    session.fetch(&plane()).await.unwrap();
    session.json(get("/api/v1/secrets")).await.unwrap_err();
    let hanging = session.clone();
    let task = tokio::spawn(async move { hanging.fetch(&plane()).await });
    for _ in 0..20 {
        tokio::task::yield_now().await;
    }
    trail.close();
    task.abort();
    let verified = verify_file(&path).unwrap();
    assert_eq!((verified.lines, verified.torn), (5, false));
    assert_eq!(Some(verified.head), trail.head());
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(!text.contains("c2VjcmV0"), "bodies aren't logged");
    let flying: serde_json::Value = serde_json::from_str(text.lines().last().unwrap()).unwrap();
    assert_eq!((&flying["status"], &flying["decision"]), (&serde_json::Value::Null, &json!("sent")));
    // One changed byte is found, wherever it is.
    for line in 1..=5 {
        let mut lines: Vec<String> = text.lines().map(str::to_string).collect();
        lines[line - 1] = lines[line - 1].replacen("computeplane", "computeplate", 1).replacen("\"decision\":\"", "\"decision\": \"", 1);
        let forged = dir.path().join("forged");
        std::fs::write(&forged, lines.join("\n") + "\n").unwrap();
        let found = verify_file(&forged).map(|v| v.head == trail.head().unwrap());
        assert!(!found.unwrap_or(false), "line {line}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_required_log_that_breaks_in_mid_session_lets_nothing_leave_until_it_is_written_again() {
    for required in [true, false] {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("audit.jsonl");
        let trail = AuditTrail::with_file(AuditFile::open(&path).unwrap(), required);
        let server = Server::new();
        server.on("GET", PATH, [ok(json!({"kind": "ComputePlane"}))]);
        let session = over(&server, Mode::ReadOnly, trail.clone());
        session.fetch(&plane()).await.unwrap();
        assert_eq!(trail.news(), None);
        // Even root can't append to a folder.
        std::fs::rename(&path, dir.path().join("aside")).unwrap();
        std::fs::create_dir(&path).unwrap();
        let _ = session.fetch(&plane()).await;
        let before = server.asked().len();
        let problem = session.fetch(&plane()).await.err();
        assert_eq!(problem.as_ref().map(|p| p.kind), required.then_some(P::Refused), "{problem:?}");
        assert_eq!(server.asked().len() == before, required, "required: {required}");
        assert!(trail.news().unwrap().contains("can't be written"));
        std::fs::remove_dir(&path).unwrap();
        std::fs::rename(dir.path().join("aside"), &path).unwrap();
        // The next question is still refused, and being written down shows that the log works again.
        let _ = session.fetch(&plane()).await;
        session.fetch(&plane()).await.unwrap();
        assert!(trail.news().unwrap().contains("written again"));
        assert!(!verify_file(&path).unwrap().torn);
    }
}
