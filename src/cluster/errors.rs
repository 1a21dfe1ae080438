//! What kube's errors mean in the console's own classes. Owns the mapping and the guard's `Refused` error; must not retry, log or decide what to do.
//!
//! Every text that came from a server or a library is sanitised and cut here, once.

use std::error::Error as StdError;
use std::io;

use kube::core::Status;

use crate::model::{Problem, ProblemKind, text};

#[cfg(test)]
mod tests;

/// Longest server text kept, in characters: a proxy's error page must not fill the screen or the ticket.
const MAX_DETAIL: usize = 600;

/// The reason that kube gives to an answer whose body was not a `Status` (kube-client 5.0 `client/mod.rs`, `handle_api_errors`).
pub const NOT_A_STATUS: &str = "Failed to parse error data";

/// The error of our own guard: the request never left the process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refused {
    /// Why, in one line.
    pub reason: String,
}

impl std::fmt::Display for Refused {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "refused before it was sent: {}", self.reason)
    }
}

impl StdError for Refused {}

/// Names the class of a failed call and carries the server's words, sanitised and cut to 600 characters.
pub fn problem_of(error: &kube::Error) -> Problem {
    if let Some(refused) = find::<Refused>(error) {
        return Problem::new(ProblemKind::Refused, "the console's own guard refused this request").detail(text::line(&refused.reason));
    }
    // A token that can't be renewed arrives boxed by the middleware as often as it does as `Error::Auth`.
    if let Some(e) = find::<kube::client::AuthError>(error) {
        return Problem::new(ProblemKind::Unauthorized, "the login failed").detail(words(e)).hint(LOGIN_AGAIN);
    }
    match error {
        kube::Error::Api(status) => problem_of_status(status),
        kube::Error::SerdeError(e) => unreadable("the answer could not be parsed", e),
        kube::Error::FromUtf8(e) => unreadable("the answer is not UTF-8 text", e),
        kube::Error::LinesCodecMaxLineLengthExceeded => Problem::new(ProblemKind::Unreadable, "a line of the watch stream is too long"),
        kube::Error::RustlsTls(e) => tls_problem(&words(e)),
        kube::Error::ProxyProtocolUnsupported { .. } | kube::Error::ProxyProtocolDisabled { .. } => {
            Problem::new(ProblemKind::BadInput, "the proxy address has a scheme that can't be used")
                .hint("allowed: http://, https://, socks5://")
        }
        kube::Error::BuildRequest(e) => Problem::new(ProblemKind::BadInput, "the request could not be built").detail(words(e)),
        other => transport(other),
    }
}

/// Names the class of a `Status`, also of one that arrived inside a watch stream.
pub fn problem_of_status(status: &Status) -> Problem {
    let plain = status.reason == NOT_A_STATUS;
    let kind = class(status, plain);
    let said = detail_of(status, plain);
    let retry = status.details.as_ref().map(|d| d.retry_after_seconds).filter(|s| *s > 0).map(u64::from);
    let (summary, hint) = wording(kind, status);
    let mut problem = Problem::new(kind, summary).detail(said).hint(hint);
    problem.retry_after = retry;
    problem
}

const LOGIN_AGAIN: &str = "log in again; the rows on screen stay";

/// The class by code first: reasons are optional, and the synthesized API leaves them out of its 500s.
fn class(status: &Status, plain: bool) -> ProblemKind {
    match code_of(status) {
        401 => ProblemKind::Unauthorized,
        403 => ProblemKind::Forbidden,
        404 if plain || is_absent_api(status) => ProblemKind::AbsentApi,
        404 => ProblemKind::NotFound,
        // A GET answered 405 or 406 means that the resource isn't served for this verb or format.
        405 | 406 => ProblemKind::AbsentApi,
        408 | 504 => ProblemKind::Timeout,
        409 => ProblemKind::Conflict,
        410 => ProblemKind::Gone,
        400 | 413 | 415 | 422 => ProblemKind::Invalid,
        429 => ProblemKind::TooManyRequests,
        // The aggregated API wraps a lost race of its own in a 500 (platform.md 4.1).
        500 if is_wrapped_conflict(&status.message) => ProblemKind::Conflict,
        500..=599 => ProblemKind::ServerError,
        _ => ProblemKind::Unreadable,
    }
}

/// A `Status` from inside a watch stream or an old server may have no code: then its reason counts.
fn code_of(status: &Status) -> u16 {
    if status.code != 0 {
        return status.code;
    }
    match status.reason.as_str() {
        "Unauthorized" => 401,
        "Forbidden" => 403,
        "NotFound" => 404,
        "MethodNotAllowed" => 405,
        "AlreadyExists" | "Conflict" => 409,
        "Expired" | "Gone" => 410,
        "Invalid" => 422,
        "BadRequest" => 400,
        "TooManyRequests" => 429,
        "Timeout" | "ServerTimeout" => 504,
        "InternalError" | "ServiceUnavailable" => 500,
        _ => 0,
    }
}

/// A 404 that names no object: "the server could not find the requested resource" or an ingress's plain page.
fn is_absent_api(status: &Status) -> bool {
    let unnamed = status.details.as_ref().is_none_or(|d| d.name.is_empty());
    unnamed && (status.message.contains("could not find the requested resource") || status.message.contains("page not found"))
}

/// Texts of a lost race that the server's own retries did not settle. A failed UID precondition is not one: retrying it never helps.
fn is_wrapped_conflict(message: &str) -> bool {
    message.contains("the object has been modified")
        || (message.contains("Operation cannot be fulfilled") && !message.contains("Precondition failed"))
}

/// Summary and next step of each class.
fn wording(kind: ProblemKind, status: &Status) -> (String, &'static str) {
    let code = status.code;
    let summary = match kind {
        ProblemKind::Unauthorized => "the server does not accept the login (401)".to_string(),
        ProblemKind::Forbidden => "not allowed (403)".to_string(),
        ProblemKind::NotFound => "not found (404)".to_string(),
        ProblemKind::AbsentApi => format!("the server does not serve this API ({code})"),
        ProblemKind::Timeout => format!("the server did not finish in time ({code})"),
        ProblemKind::Conflict => "changed by someone else meanwhile".to_string(),
        ProblemKind::Gone => "the version asked for is too old (410)".to_string(),
        ProblemKind::Invalid if is_json_patch_refusal(status) => {
            "the patch does not fit the live object: an old value differs, or a path is missing".to_string()
        }
        ProblemKind::Invalid => format!("the server refused the content ({code})"),
        ProblemKind::TooManyRequests => "the server asks to slow down (429)".to_string(),
        ProblemKind::ServerError => format!("the server failed ({code})"),
        _ => format!("the server answered with code {code}, which can't be understood"),
    };
    let hint = match kind {
        ProblemKind::Unauthorized => LOGIN_AGAIN,
        ProblemKind::Conflict => "read it again, merge, and review before writing",
        _ => "",
    };
    (summary, hint)
}

/// The fixed text by which a real server and the aggregated API both answer a JSON Patch that can't be applied (platform.md 4.1).
pub fn is_json_patch_refusal(status: &Status) -> bool {
    status.code == 422 && status.message.contains("the server rejected our request due to an error in our request")
}

/// The server's words: the message of a `Status`, or the readable text of an HTML or plain page.
fn detail_of(status: &Status, plain: bool) -> String {
    let message = if plain && looks_like_html(&status.message) { strip_tags(&status.message) } else { status.message.clone() };
    cut(&text::line(&message))
}

fn looks_like_html(s: &str) -> bool {
    let head: String = s.trim_start().chars().take(200).collect::<String>().to_ascii_lowercase();
    head.starts_with('<') || head.contains("<html") || head.contains("<!doctype")
}

/// Text between tags, blanks folded; what stands in `<style>` and `<script>` is dropped. Good enough to show, not a parser.
fn strip_tags(html: &str) -> String {
    let mut out = String::new();
    let mut rest = html;
    while let Some((before, after)) = rest.split_once('<') {
        out.push_str(before);
        out.push(' ');
        let tag = after.get(..8).unwrap_or(after).to_ascii_lowercase();
        let end = if tag.starts_with("style") {
            "</style"
        } else if tag.starts_with("script") {
            "</script"
        } else {
            ""
        };
        let skipped = if end.is_empty() { after } else { after.split_once(end).map_or("", |(_, tail)| tail) };
        rest = skipped.split_once('>').map_or("", |(_, tail)| tail);
    }
    out.push_str(rest);
    out.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn cut(s: &str) -> String {
    if s.chars().count() <= MAX_DETAIL {
        return s.to_string();
    }
    s.chars().take(MAX_DETAIL).chain(['…']).collect()
}

/// Failures below HTTP: told apart by the error chain, then by its words.
fn transport(error: &kube::Error) -> Problem {
    let said = words(error);
    let lower = said.to_ascii_lowercase();
    if find_io(error, io::ErrorKind::TimedOut) || lower.contains("timed out") || lower.contains("deadline has elapsed") {
        return Problem::new(ProblemKind::Timeout, "no answer in time").detail(said);
    }
    if is_tls(&lower) {
        return tls_problem(&said);
    }
    let summary = if lower.contains("dns error") || lower.contains("failed to lookup address") {
        "the server's name can't be resolved"
    } else if find_io(error, io::ErrorKind::ConnectionRefused) {
        "the server refuses the connection"
    } else {
        "the server can't be reached"
    };
    Problem::new(ProblemKind::Unreachable, summary).detail(said)
}

fn is_tls(lower: &str) -> bool {
    ["invalid peer certificate", "certificate", "received fatal alert", "invalidcontenttype", "received corrupt message", "tls handshake"]
        .iter()
        .any(|w| lower.contains(w))
}

fn tls_problem(said: &str) -> Problem {
    let lower = said.to_ascii_lowercase();
    let hint = if lower.contains("unknownissuer") {
        "the kubeconfig's certificate-authority did not issue the server's certificate"
    } else if lower.contains("expired") {
        "a certificate has expired, or this machine's clock is wrong"
    } else if lower.contains("notvalidforname") || lower.contains("not valid for name") {
        "the certificate is for another name: check server and tls-server-name"
    } else if lower.contains("corrupt message") || lower.contains("invalidcontenttype") {
        "the other side does not speak TLS: check the port and the proxy"
    } else {
        ""
    };
    Problem::new(ProblemKind::Tls, "no trusted connection").detail(said).hint(hint)
}

fn unreadable(summary: &str, error: &(dyn StdError + 'static)) -> Problem {
    Problem::new(ProblemKind::Unreadable, summary).detail(words(error))
}

/// The whole chain in words, each text once: kube's texts repeat their sources.
fn words(error: &(dyn StdError + 'static)) -> String {
    let mut out = error.to_string();
    for next in chain(error).skip(1) {
        let said = next.to_string();
        if !out.contains(&said) {
            out = format!("{out}: {said}");
        }
    }
    cut(&text::line(&out))
}

/// The error and all that stands behind it. `io::Error` hides its inner error from `source`, so that one is opened by hand.
fn chain<'a>(error: &'a (dyn StdError + 'static)) -> impl Iterator<Item = &'a (dyn StdError + 'static)> {
    // A chain that runs in circles must not hang the console: hence the cap.
    std::iter::successors(Some(error), |e| behind(*e)).take(32)
}

fn behind<'a>(error: &'a (dyn StdError + 'static)) -> Option<&'a (dyn StdError + 'static)> {
    match error.downcast_ref::<io::Error>().and_then(io::Error::get_ref) {
        Some(inner) => Some(inner as &(dyn StdError + 'static)),
        None => error.source(),
    }
}

fn find<'a, E: StdError + 'static>(error: &'a (dyn StdError + 'static)) -> Option<&'a E> {
    chain(error).find_map(|e| e.downcast_ref::<E>())
}

fn find_io(error: &(dyn StdError + 'static), kind: io::ErrorKind) -> bool {
    chain(error).any(|e| e.downcast_ref::<io::Error>().is_some_and(|io| io.kind() == kind))
}
