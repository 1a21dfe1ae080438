//! The audit trail: every request that was asked for, sent or refused, in a ring for the screens, counted, and in the log file if there is one.
//! Owns the records' life from question to answer; must not decide what is allowed.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Instant,
};

use tokio::sync::mpsc;

use super::audit_file::AuditFile;
use crate::model::{
    Time,
    audit::{AuditRecord, Decision},
};

/// Requests that the ring keeps.
pub const RING: usize = 10_000;

/// Requests by verb and resource, for the report.
pub type Totals = BTreeMap<(String, String, String), Counts>;

/// How often something was asked.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Sent to the server.
    pub sent: u64,
    /// Refused by the guard.
    pub refused: u64,
}

/// The trail; clones share it.
#[derive(Clone, Default)]
pub struct AuditTrail {
    shared: Arc<Mutex<Shared>>,
}

#[derive(Default)]
struct Shared {
    next: u64,
    ring: VecDeque<(u64, AuditRecord)>,
    flying: BTreeMap<u64, (AuditRecord, Option<Instant>)>,
    totals: Totals,
    listener: Option<mpsc::UnboundedSender<(u64, AuditRecord)>>,
    file: Option<AuditFile>,
    /// The log must be written: without it nothing may leave.
    required: bool,
    broken: Option<String>,
    news: Option<String>,
}

impl AuditTrail {
    /// A trail that also writes a log. With `required`, a log that can't be written stops every further request.
    pub fn with_file(file: AuditFile, required: bool) -> AuditTrail {
        let trail = AuditTrail::default();
        {
            let mut s = trail.lock();
            s.file = Some(file);
            s.required = required;
        }
        trail
    }

    /// From now on every record is also sent here, when asked and again when answered.
    pub fn listen(&self) -> mpsc::UnboundedReceiver<(u64, AuditRecord)> {
        let (tx, rx) = mpsc::unbounded_channel();
        self.lock().listener = Some(tx);
        rx
    }

    /// Why nothing may leave, if the required log can't be written.
    pub fn stopped(&self) -> Option<String> {
        let s = self.lock();
        s.required.then(|| s.broken.clone()).flatten()
    }

    /// Why the log can't be written, required or not.
    pub fn broken(&self) -> Option<String> {
        self.lock().broken.clone()
    }

    /// What must be said about the log since this was last asked: that it can't be written, or can again.
    pub fn news(&self) -> Option<String> {
        self.lock().news.take()
    }

    /// Counts by (verb, group, resource).
    pub fn totals(&self) -> Totals {
        self.lock().totals.clone()
    }

    /// SHA-256 of the log's last line, if there is a log.
    pub fn head(&self) -> Option<String> {
        self.lock().file.as_ref().map(|f| f.head().to_string())
    }

    /// A request is asked for. Refused ones are complete at once.
    pub fn ask(&self, record: AuditRecord) -> u64 {
        let mut s = self.lock();
        s.next += 1;
        let seq = s.next;
        let counts = s.totals.entry((record.verb.clone(), record.group.clone(), record.resource.clone())).or_default();
        match record.decision {
            Decision::Sent => counts.sent += 1,
            Decision::Refused => counts.refused += 1,
        }
        if record.decision == Decision::Refused {
            s.finish(seq, record);
        } else {
            s.tell(seq, &record);
            s.flying.insert(seq, (record, Some(Instant::now())));
        }
        seq
    }

    /// The answer's head came.
    pub fn answered(&self, seq: u64, status: u16) {
        let mut s = self.lock();
        if let Some((record, asked)) = s.flying.get_mut(&seq) {
            record.status = Some(status);
            record.millis = asked.take().map(|t| u64::try_from(t.elapsed().as_millis()).unwrap_or(u64::MAX)).unwrap_or_default();
            let copy = record.clone();
            s.tell(seq, &copy);
        }
    }

    /// Bytes of the answer's body arrived.
    pub fn received(&self, seq: u64, bytes: u64) {
        if let Some((record, _)) = self.lock().flying.get_mut(&seq) {
            record.bytes += bytes;
        }
    }

    /// The answer is complete, or nobody waits for it any more.
    pub fn done(&self, seq: u64) {
        let mut s = self.lock();
        if let Some((mut record, asked)) = s.flying.remove(&seq) {
            if let Some(t) = asked {
                record.millis = u64::try_from(t.elapsed().as_millis()).unwrap_or(u64::MAX);
            }
            s.finish(seq, record);
        }
    }

    /// Writes what is still in flight: called once at the end.
    pub fn close(&self) {
        let mut s = self.lock();
        for (seq, (record, _)) in std::mem::take(&mut s.flying) {
            s.finish(seq, record);
        }
    }

    /// A poisoned lock means a panic elsewhere; the records are still whole, since each change is one step.
    fn lock(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Shared {
    fn finish(&mut self, seq: u64, record: AuditRecord) {
        if let Some(file) = &mut self.file {
            let now = file.append(&record).err().map(|e| format!("the audit log can't be written: {e}"));
            if now != self.broken {
                self.news = Some(match &now {
                    Some(why) if self.required => format!("{why}; nothing is asked of the server until it can"),
                    Some(why) => format!("{why}; requests go on without it"),
                    None => "the audit log is written again; what came in between is missing from it".to_string(),
                });
                self.broken = now;
            }
        }
        self.tell(seq, &record);
        if self.ring.len() >= RING {
            self.ring.pop_front();
        }
        self.ring.push_back((seq, record));
    }

    fn tell(&mut self, seq: u64, record: &AuditRecord) {
        if self.listener.as_ref().is_some_and(|l| l.send((seq, record.clone())).is_err()) {
            self.listener = None;
        }
    }
}

/// The clock of the records.
pub fn now() -> Time {
    Time::now()
}
