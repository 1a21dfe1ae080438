//! Work that state asks the runtime to do, as plain data. (seam between state and runtime: extend, don't rename)

use crate::model::{ObjectRef, feed::Subscription};

/// Work for the runtime.
#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    /// Leave.
    Quit,
    /// Give the terminal back and stop until resumed (Ctrl-Z).
    Suspend,
    /// Open a context (by name; `None` for the current one) with these namespaces (empty: find out).
    Connect {
        /// Context name.
        context: Option<String>,
        /// Namespaces to use; empty to find out.
        namespaces: Vec<String>,
    },
    /// These, and only these, are to be watched from now on; feeds carry this generation. Unchanged ones keep running.
    Subscribe {
        /// Number to tag feeds with.
        generation: u64,
        /// The whole wish list.
        wanted: Vec<Subscription>,
    },
    /// Try refused or lost sources again now.
    RetryNow,
    /// GET one object for reading; answered by `Msg::Fetched`.
    Fetch {
        /// Number to answer with.
        request: u64,
        /// Object.
        object: ObjectRef,
    },
    /// Ask the server what this identity may do in these namespaces; answered by `Msg::AccessRead`.
    Access {
        /// Number to answer with.
        request: u64,
        /// Namespaces; at most `screens::access::MOST`.
        namespaces: Vec<String>,
    },
    /// Send one JSON Patch of a plane and read back; answered by `Msg::Wrote`, never retried.
    Write {
        /// Number to answer with.
        request: u64,
        /// The plane.
        object: ObjectRef,
        /// The patch, exactly as shown.
        patch: serde_json::Value,
    },
    /// Ask whether this identity may patch the plane of a namespace; answered by `Msg::MayWrite`.
    AskWrite(ObjectRef),
    /// Read a draft's file; answered by `Msg::DraftLoaded`.
    LoadDraft(String),
    /// Keep a draft: file name and content, in the order sent; `None` deletes it.
    SaveDraft(String, Option<Vec<u8>>),
    /// Let the person edit a text in their own editor, which has the terminal meanwhile; answered by `Msg::Edited`.
    EditText {
        /// Number to answer with.
        request: u64,
        /// The text.
        text: String,
    },
    /// Put text on the clipboard (OSC 52).
    Copy(String),
    /// Tick not later than then: something on screen or a deadline depends on it.
    WakeAt(crate::model::Time),
}
