//! Open watches: a cursor in the store's log, woken by every change. Owns the stream and its ends (timeout, cut, 410);
//! what a change means to a kind is told by the caller.

use std::{collections::VecDeque, sync::Arc, time::Duration};

use bytes::Bytes;
use futures::{StreamExt, stream};
use serde_json::{Value, json};
use tokio::{sync::watch, time::Instant};

use super::{
    answer::{Answer, Refusal},
    platform::Shared,
    route::Query,
    store::{Change, Store},
};

/// Bookmarks come about once a minute.
const BOOKMARK: Duration = Duration::from_secs(60);
/// The server's own end of a watch without `timeoutSeconds`.
const LONGEST: u64 = 2700;

/// One event line.
pub(crate) fn event(kind: &str, object: &[u8]) -> Bytes {
    let mut line = format!("{{\"type\":\"{kind}\",\"object\":").into_bytes();
    line.extend_from_slice(object);
    line.extend_from_slice(b"}\n");
    Bytes::from(line)
}

/// A bookmark; `initial` marks the end of the initial events.
pub(crate) fn bookmark(api_version: &str, kind: &str, version: u64, initial: bool) -> Bytes {
    let mut meta = json!({"resourceVersion": version.to_string()});
    if initial && let Some(m) = meta.as_object_mut() {
        m.insert("annotations".into(), json!({"k8s.io/initial-events-end": "true"}));
    }
    let object = json!({"kind": kind, "apiVersion": api_version, "metadata": meta});
    event("BOOKMARK", object.to_string().as_bytes())
}

/// What a change means to a watch: the event lines to send.
pub(crate) type Translate = Box<dyn FnMut(&Store, &Change) -> Vec<Bytes> + Send>;

/// How a watch starts.
pub(crate) struct Start {
    /// Sent first.
    pub lines: Vec<Bytes>,
    /// Follow the log after this position.
    pub position: u64,
    pub translate: Translate,
    /// `apiVersion` and kind of periodic bookmarks, if wanted.
    pub bookmarks: Option<(String, &'static str)>,
}

struct Open {
    shared: Arc<Shared>,
    pending: VecDeque<Bytes>,
    position: u64,
    translate: Translate,
    bookmarks: Option<(String, &'static str)>,
    ends: Instant,
    next_bookmark: Instant,
    cuts: u64,
    wake: watch::Receiver<u64>,
    over: bool,
}

/// Opens a watch.
pub(crate) fn open(shared: &Arc<Shared>, query: &Query, start: Start) -> Answer {
    let seconds = query.get("timeoutSeconds").and_then(|t| t.parse().ok()).unwrap_or(LONGEST);
    let now = Instant::now();
    let open = Open {
        pending: start.lines.into(),
        position: start.position,
        translate: start.translate,
        bookmarks: start.bookmarks,
        ends: now + Duration::from_secs(seconds),
        next_bookmark: now + BOOKMARK,
        cuts: shared.faults.cuts(),
        wake: shared.wake.subscribe(),
        shared: shared.clone(),
        over: false,
    };
    let stream = stream::unfold(open, |mut o| async move { o.next().await.map(|line| (Ok(line), o)) });
    Answer::flow(stream.boxed())
}

/// A watch that says one error and ends, as the API server does for a version that is too old.
pub(crate) fn refused(refusal: &Refusal) -> Answer {
    let line = event("ERROR", refusal.status().to_string().as_bytes());
    Answer::flow(stream::iter([Ok(line)]).boxed())
}

impl Open {
    async fn next(&mut self) -> Option<Bytes> {
        loop {
            if self.shared.faults.cuts() != self.cuts {
                return None;
            }
            if let Some(line) = self.pending.pop_front() {
                return Some(line);
            }
            if self.over {
                return None;
            }
            self.wake.mark_unchanged();
            self.collect();
            if !self.pending.is_empty() {
                continue;
            }
            let bookmark_at = if self.bookmarks.is_some() { self.next_bookmark } else { self.ends };
            tokio::select! {
                woken = self.wake.changed() => if woken.is_err() { return None },
                () = tokio::time::sleep_until(self.ends) => self.over = true,
                () = tokio::time::sleep_until(bookmark_at) => {
                    self.next_bookmark = Instant::now() + BOOKMARK;
                    let version = self.shared.store().version();
                    if let Some((api, kind)) = &self.bookmarks {
                        self.pending.push_back(bookmark(api, kind, version, false));
                    }
                }
            }
        }
    }

    /// Moves the cursor to the head of the log.
    fn collect(&mut self) {
        let shared = self.shared.clone();
        let store = shared.store();
        if shared.faults.muted() {
            self.position = store.head();
            return;
        }
        match store.since(self.position) {
            Ok(changes) => {
                for change in &changes {
                    self.pending.extend((self.translate)(&store, change));
                    self.position = change.seq;
                }
            }
            Err(refusal) => {
                self.pending.push_back(event("ERROR", refusal.status().to_string().as_bytes()));
                self.over = true;
            }
        }
    }
}

/// Sets the version of a deleted object's last state to that of the deletion.
pub(crate) fn at_version(json: &[u8], version: u64) -> Bytes {
    let mut value: Value = serde_json::from_slice(json).unwrap_or_default();
    if let Some(meta) = value.get_mut("metadata").and_then(Value::as_object_mut) {
        meta.insert("resourceVersion".into(), json!(version.to_string()));
    }
    Bytes::from(value.to_string())
}
