//! What the short calls make of every kind of answer: the class, in time, with the server's words and nothing that drives a terminal.

use std::time::Duration;

use planedeck::{
    cluster::{guard::Mode, session::TIME_LIMIT},
    model::{Kind, ObjectRef, ProblemKind as P},
};
use serde_json::json;
use tokio::time::Instant;

use crate::server::{Answer, Server, ok, page, session, status};

const PATH: &str = "/apis/apps.cozystack.io/v1alpha1/namespaces/tenant-a/computeplanes/computeplane";

fn plane() -> ObjectRef {
    ObjectRef { kind: Kind::ComputePlane, namespace: "tenant-a".into(), name: "computeplane".into() }
}

fn moved() -> Answer {
    Answer::Page(302, vec![("location", "https://login.example/")], "<html>log in</html>".into())
}

#[tokio::test(start_paused = true)]
async fn every_answer_has_its_class() {
    let conflict = "failed to update HelmRelease: Operation cannot be fulfilled on helmreleases \"x\": the object has been modified";
    let table: Vec<(Answer, P)> = vec![
        (status(401, "Unauthorized", "Unauthorized"), P::Unauthorized),
        (status(403, "Forbidden", "computeplanes is forbidden"), P::Forbidden),
        (status(409, "Conflict", "x"), P::Conflict),
        (status(410, "Expired", "too old"), P::Gone),
        (status(422, "Invalid", "no"), P::Invalid),
        (status(429, "TooManyRequests", "slow down"), P::TooManyRequests),
        (status(500, "", conflict), P::Conflict),
        (status(500, "InternalError", "etcdserver: leader changed"), P::ServerError),
        (page(404, "404 page not found\n"), P::AbsentApi),
        (page(401, "Unauthorized"), P::Unauthorized),
        (page(502, "<html><head><title>502</title></head><body>Bad Gateway</body></html>"), P::ServerError),
        (page(503, "service unavailable\n"), P::ServerError),
        (page(504, ""), P::Timeout),
        (page(200, "<html>welcome to the guest network</html>"), P::Unreadable),
        (page(200, ""), P::Unreadable),
        (moved(), P::Unreadable),
        (Answer::Torn(200, "{\"kind\":\"Compute".into()), P::Unreachable),
        (Answer::Torn(403, "{\"kind\":\"Sta".into()), P::Forbidden),
        (Answer::Reset, P::Unreachable),
        (Answer::Silent, P::Timeout),
        (Answer::Hang(200, "{\"kind\":".into()), P::Timeout),
    ];
    for (answer, kind) in table {
        let server = Server::new();
        server.on("GET", PATH, [answer.clone()]);
        let (session, _) = session(&server, Mode::ReadOnly);
        let begin = Instant::now();
        let problem = session.fetch(&plane()).await.expect_err(&format!("{answer:?}"));
        assert_eq!(problem.kind, kind, "{answer:?}: {problem}");
        assert!(begin.elapsed() <= TIME_LIMIT + Duration::from_secs(1), "{answer:?} took {:?}", begin.elapsed());
        assert!(!problem.summary.is_empty() && !problem.to_string().contains('<'), "{problem}");
        assert_eq!(server.count("GET", PATH), 1, "{answer:?}: short calls are not retried behind the caller's back");
    }
}

#[tokio::test(start_paused = true)]
async fn a_named_object_that_is_missing_is_not_an_absent_api() {
    let server = Server::new();
    let body = json!({"kind": "Status", "code": 404, "reason": "NotFound", "message": "computeplanes \"computeplane\" not found", "details": {"name": "computeplane"}});
    server.on("GET", PATH, [Answer::Json(404, body)]);
    let (session, _) = session(&server, Mode::ReadOnly);
    assert_eq!(session.fetch(&plane()).await.unwrap_err().kind, P::NotFound);
}

#[tokio::test(start_paused = true)]
async fn a_login_page_in_front_of_the_server_is_told_by_its_code() {
    let server = Server::new();
    server.on("GET", PATH, [moved()]);
    let (session, _) = session(&server, Mode::ReadOnly);
    let problem = session.fetch(&plane()).await.unwrap_err();
    assert!(problem.summary.contains("302") && problem.detail == "log in", "{problem}");
}

#[tokio::test(start_paused = true)]
async fn the_servers_wish_to_wait_is_kept_from_header_and_body() {
    for (answer, wait) in [
        (Answer::Page(429, vec![("retry-after", "7")], "slow".into()), Some(7)),
        (Answer::Json(429, json!({"kind": "Status", "code": 429, "message": "x", "details": {"retryAfterSeconds": 9}})), Some(9)),
        (Answer::Page(503, vec![("retry-after", "Wed, 21 Oct 2026 07:28:00 GMT")], "x".into()), None),
        (Answer::Page(503, vec![("retry-after", "-5")], "x".into()), None),
    ] {
        let server = Server::new();
        server.on("GET", PATH, [answer.clone()]);
        let (session, _) = session(&server, Mode::ReadOnly);
        assert_eq!(session.fetch(&plane()).await.unwrap_err().retry_after, wait, "{answer:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn words_of_a_server_cannot_drive_the_terminal() {
    let server = Server::new();
    server.on("GET", PATH, [status(403, "Forbidden", "no\u{1b}]52;c;AAAA\u{7}\u{1b}[2J\u{202e}x\nline two")]);
    let (session, _) = session(&server, Mode::ReadOnly);
    let problem = session.fetch(&plane()).await.unwrap_err();
    assert!(!problem.detail.chars().any(|c| c.is_control() || c == '\u{202e}'), "{:?}", problem.detail);
}

#[tokio::test(start_paused = true)]
async fn an_endless_error_page_ends() {
    let server = Server::new();
    server.on("GET", PATH, [Answer::Page(500, vec![], "x".repeat(1 << 20))]);
    let (session, _) = session(&server, Mode::ReadOnly);
    let problem = session.fetch(&plane()).await.unwrap_err();
    assert_eq!(problem.kind, P::ServerError);
    assert!(problem.detail.len() < 2_000, "{} bytes", problem.detail.len());
}

#[tokio::test(start_paused = true)]
async fn a_slow_answer_within_the_limit_counts() {
    let server = Server::new();
    server.on("GET", PATH, [Answer::Late(TIME_LIMIT - Duration::from_secs(1), Box::new(ok(json!({"kind": "ComputePlane"}))))]);
    let (session, _) = session(&server, Mode::ReadOnly);
    assert_eq!(session.fetch(&plane()).await.unwrap()["kind"], "ComputePlane");
}
