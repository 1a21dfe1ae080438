//! Kinds of failure the console must tell apart. Owns the classes and their texts; must not name HTTP libraries.

use serde::{Deserialize, Serialize};

/// What went wrong with a request or a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ProblemKind {
    /// No route, refused, reset, DNS.
    Unreachable,
    /// No answer in time.
    Timeout,
    /// Certificate or TLS trouble.
    Tls,
    /// 401, or a login plugin that failed.
    Unauthorized,
    /// The kubeconfig holds no usable login: requests would be anonymous. Never called "no permission".
    NotLoggedIn,
    /// 403.
    Forbidden,
    /// 404 with a Status: this object isn't there.
    NotFound,
    /// 404 in plain text, or absent from discovery: the server doesn't serve this API.
    AbsentApi,
    /// Served, but in no version that the console can parse.
    UnsupportedVersion,
    /// 409, the 500 that carries a conflict text, or a failed `test`.
    Conflict,
    /// 410.
    Gone,
    /// 422 or 400.
    Invalid,
    /// 429.
    TooManyRequests,
    /// 5xx.
    ServerError,
    /// An answer that can't be parsed.
    Unreadable,
    /// Refused by our own guard before it left.
    Refused,
    /// A kubeconfig, settings or input file that can't be used.
    BadInput,
}

/// One failure, ready to be shown: summary first, then detail, then what to do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Problem {
    /// Class.
    pub kind: ProblemKind,
    /// One line: object, field, what was found.
    pub summary: String,
    /// The server's or file's own words, sanitised; may be empty.
    pub detail: String,
    /// What is allowed, or what to do next; may be empty.
    pub hint: String,
    /// Seconds to wait that the server asked for (`Retry-After`).
    pub retry_after: Option<u64>,
}

impl Problem {
    /// A problem with a summary only.
    pub fn new(kind: ProblemKind, summary: impl Into<String>) -> Self {
        Problem { kind, summary: summary.into(), detail: String::new(), hint: String::new(), retry_after: None }
    }

    /// Adds the server's own words.
    #[must_use]
    pub fn detail(mut self, detail: impl Into<String>) -> Self {
        self.detail = detail.into();
        self
    }

    /// Adds what to do next.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = hint.into();
        self
    }
}

impl std::fmt::Display for Problem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.summary)?;
        if !self.detail.is_empty() {
            write!(f, ": {}", self.detail)?;
        }
        if !self.hint.is_empty() {
            write!(f, "\n  {}", self.hint)?;
        }
        Ok(())
    }
}

impl std::error::Error for Problem {}
