//! Everything that can happen to the console, as plain data. (seam between runtime and state: extend, don't rename)

use crate::model::{Problem, Time, audit::AuditRecord, context::ContextInfo, feed::Feed};

/// Something happened.
#[derive(Debug, Clone, PartialEq)]
pub enum Msg {
    /// A key was pressed (or repeated).
    Key(crate::keys::Chord),
    /// Text was pasted: one event, never keys.
    Paste(String),
    /// The terminal's size: columns, rows.
    Resize(u16, u16),
    /// The terminal gained or lost focus.
    Focus(bool),
    /// The clock, when something on screen or a deadline depends on it.
    Tick(Time),
    /// A watch said something.
    Feed(Box<Feed>),
    /// A context is connected; its namespaces are known.
    Connected(Box<Connected>),
    /// A context can't be used.
    ConnectFailed {
        /// Context name; empty when none could be chosen.
        context: String,
        /// Why.
        problem: Problem,
    },
    /// The names the kubeconfig offers, with the current one first known.
    Contexts(Vec<ContextInfo>),
    /// The answer to [`super::effect::Effect::Fetch`].
    Fetched {
        /// Number of the request; older ones are dropped.
        request: u64,
        /// The object as served, or why not.
        result: Result<Box<serde_json::Value>, Problem>,
    },
    /// The answer to [`super::effect::Effect::Access`].
    AccessRead {
        /// Number of the request; older ones are dropped.
        request: u64,
        /// What the server said, or why it couldn't be asked.
        result: Result<Box<crate::model::access::Access>, Problem>,
    },
    /// The answer to [`super::effect::Effect::Write`].
    Wrote {
        /// Number of the request.
        request: u64,
        /// What came of it.
        outcome: Wrote,
    },
    /// The answer to [`super::effect::Effect::AskWrite`]: allowed or not, with the server's reason; no message when there is no answer.
    MayWrite {
        /// The plane.
        object: crate::model::ObjectRef,
        /// Allowed.
        allowed: bool,
        /// The server's reason; may be empty.
        reason: String,
    },
    /// The answer to [`super::effect::Effect::LoadDraft`]: `Ok(None)` when there is no such file.
    DraftLoaded {
        /// File name.
        name: String,
        /// Content, or why it can't be read.
        result: Result<Option<Vec<u8>>, String>,
    },
    /// The answer to [`super::effect::Effect::EditText`]: the text as it was left, or why it couldn't be edited.
    Edited {
        /// Number of the request; older ones are dropped.
        request: u64,
        /// The bytes left in the file.
        result: Result<Vec<u8>, String>,
    },
    /// A request passed the guard or was refused by it, or its answer came (same `seq` again).
    Audited {
        /// Running number of the request.
        seq: u64,
        /// The record so far.
        record: Box<AuditRecord>,
    },
    /// A copy to the clipboard was done or failed.
    Copied(Result<(), String>),
    /// Something the user should read.
    Notice(String),
}

/// What came of a write.
#[derive(Debug, Clone, PartialEq)]
pub enum Wrote {
    /// The server took it; the plane as read back, oldest first.
    Written(Vec<serde_json::Value>),
    /// Nothing was written, somebody was faster; the plane as it is now, if it could be read.
    Conflict(Option<Box<serde_json::Value>>, Problem),
    /// Refused; nothing was written.
    Refused(Problem),
    /// No answer: only reading tells. The plane as it is now, if it could be read.
    Unknown(Option<Box<serde_json::Value>>, Problem),
}

/// A usable context.
#[derive(Debug, Clone, PartialEq)]
pub struct Connected {
    /// Which, as whom.
    pub info: ContextInfo,
    /// Namespaces found, in order; empty with `all` set means cluster scope was asked for.
    pub namespaces: Vec<String>,
    /// Where the names came from, in words: flag, context, tenantnamespaces, typed.
    pub source: String,
    /// Cluster scope was asked for.
    pub all: bool,
}
