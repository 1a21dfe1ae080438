//! One line of the audit trail: a request that was asked for, sent or refused. Holds no bodies and no credentials, by construction.

use serde::{Deserialize, Serialize};

use super::Time;

/// Whether a request left the process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Decision {
    /// It was sent.
    Sent,
    /// The guard refused it; nothing left the process.
    Refused,
}

/// A request, as the guard saw it. Field names are the contract's ("audit log").
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs)] // named as in the contract
pub struct AuditRecord {
    pub time: Time,
    pub verb: String,
    pub group: String,
    pub version: String,
    pub resource: String,
    pub subresource: String,
    pub namespace: String,
    pub name: String,
    pub decision: Decision,
    /// HTTP status; `None` while in flight, after a refusal, or when no answer came.
    pub status: Option<u16>,
    /// Bytes of the answer's body so far.
    pub bytes: u64,
    /// Milliseconds until the answer's head.
    pub millis: u64,
    /// Why the console asked, or why it was refused.
    pub purpose: String,
}
