//! Tables for the mapping of errors: real answers of a Kubernetes API server and of the synthesized API, and failures below HTTP.

use super::*;
use crate::model::ProblemKind as K;

fn status(code: u16, reason: &str, message: &str, name: &str) -> Status {
    let details = kube::core::response::StatusDetails {
        name: name.into(),
        group: String::new(),
        kind: String::new(),
        uid: String::new(),
        causes: vec![],
        retry_after_seconds: 0,
    };
    Status::failure(message, reason).with_code(code).with_details(details)
}

fn service(e: impl Into<Box<dyn StdError + Send + Sync>>) -> kube::Error {
    kube::Error::Service(e.into())
}

#[test]
fn answers_have_their_class() {
    let modified =
        "failed to update HelmRelease: Operation cannot be fulfilled on helmreleases \"x\": the object has been modified; please apply";
    let uid = "failed to update HelmRelease: Operation cannot be fulfilled on helmreleases \"x\": StorageError: Precondition failed: UID";
    let table = [
        (401, "Unauthorized", "Unauthorized", "", K::Unauthorized),
        (403, "Forbidden", "x is forbidden", "", K::Forbidden),
        (404, "NotFound", "computeplanes \"nothere\" not found", "nothere", K::NotFound),
        (404, "NotFound", "namespaces \"a\" not found", "", K::NotFound),
        (404, "NotFound", "the server could not find the requested resource", "", K::AbsentApi),
        (404, NOT_A_STATUS, "404 page not found", "", K::AbsentApi),
        (404, NOT_A_STATUS, "<html><body>nope</body></html>", "", K::AbsentApi),
        (409, "Conflict", "Apply failed with 1 conflict", "", K::Conflict),
        (409, "AlreadyExists", "already exists", "x", K::Conflict),
        (410, "Expired", "too old resource version", "", K::Gone),
        (422, "Invalid", "the server rejected our request due to an error in our request", "", K::Invalid),
        (422, "Invalid", "denied request: at most 89 replicas", "x", K::Invalid),
        (400, "BadRequest", "not a known field selector", "", K::Invalid),
        (429, "TooManyRequests", "slow down", "", K::TooManyRequests),
        (500, "", modified, "", K::Conflict),
        (500, "", uid, "", K::ServerError),
        (500, "InternalError", "Internal error occurred: compute options", "", K::ServerError),
        (503, NOT_A_STATUS, "error trying to reach service: dial tcp", "", K::ServerError),
        (504, "Timeout", "request did not complete", "", K::Timeout),
        (502, NOT_A_STATUS, "<html>bad gateway</html>", "", K::ServerError),
        (0, "Expired", "too old", "", K::Gone),
        (0, "Forbidden", "no", "", K::Forbidden),
        (0, "", "", "", K::Unreadable),
        (302, NOT_A_STATUS, "moved", "", K::Unreadable),
    ];
    for (code, reason, message, name, kind) in table {
        let p = problem_of(&kube::Error::Api(status(code, reason, message, name).boxed()));
        assert_eq!(p.kind, kind, "{code} {reason} {message}");
        assert!(!p.summary.is_empty());
    }
}

#[test]
fn a_failed_patch_test_has_its_own_words_and_a_pause_is_kept() {
    let p = problem_of_status(&status(422, "Invalid", "the server rejected our request due to an error in our request", ""));
    assert!(p.summary.contains("patch"), "{p}");
    let mut s = status(429, "TooManyRequests", "slow", "");
    s.details.as_mut().unwrap().retry_after_seconds = 7;
    assert_eq!(problem_of_status(&s).retry_after, Some(7));
}

#[test]
fn pages_are_stripped_and_cut_and_cannot_drive_the_terminal() {
    let html = "<!DOCTYPE html><html><head><style>b { color: red }</style><title>502 Bad\nGateway</title></head><body>\u{1b}[31mno <b>upstream</b></body>";
    let p = problem_of_status(&status(502, NOT_A_STATUS, html, ""));
    assert_eq!(p.detail, "502 Bad Gateway no upstream");
    let long = problem_of_status(&status(503, NOT_A_STATUS, &"x".repeat(9000), ""));
    assert!(long.detail.chars().count() <= MAX_DETAIL + 1);
    let open = problem_of_status(&status(503, NOT_A_STATUS, "<script>alert(1)", ""));
    assert_eq!(open.detail, "");
}

#[test]
fn failures_below_http_are_told_apart() {
    let refused = io::Error::new(io::ErrorKind::ConnectionRefused, "connection refused");
    let table: [(kube::Error, K, &str); 7] = [
        (service(io::Error::new(io::ErrorKind::TimedOut, "x")), K::Timeout, ""),
        (service(io::Error::other(io::Error::new(io::ErrorKind::TimedOut, "x"))), K::Timeout, ""),
        (service(refused), K::Unreachable, "refuses"),
        (service("client error (Connect): dns error: failed to lookup address information"), K::Unreachable, "resolved"),
        (service(io::Error::new(io::ErrorKind::InvalidData, "invalid peer certificate: UnknownIssuer")), K::Tls, ""),
        (service(io::Error::new(io::ErrorKind::InvalidData, "received corrupt message of type InvalidContentType")), K::Tls, ""),
        (service(io::Error::new(io::ErrorKind::ConnectionReset, "reset by peer")), K::Unreachable, ""),
    ];
    for (error, kind, word) in table {
        let p = problem_of(&error);
        assert_eq!(p.kind, kind, "{error}");
        assert!(p.summary.contains(word), "{p}");
    }
}

#[test]
fn the_guards_refusal_is_found_however_deep_it_is_wrapped() {
    let refused = || Refused { reason: "no Secrets".into() };
    for error in [service(refused()), service(io::Error::other(refused())), kube::Error::ReadEvents(io::Error::other(refused()))] {
        let p = problem_of(&error);
        assert_eq!((p.kind, p.detail.as_str()), (K::Refused, "no Secrets"));
    }
}

#[test]
fn an_answer_that_is_no_json_is_unreadable() {
    let e = serde_json::from_str::<u8>("<html>").unwrap_err();
    assert_eq!(problem_of(&kube::Error::SerdeError(e)).kind, K::Unreadable);
}
