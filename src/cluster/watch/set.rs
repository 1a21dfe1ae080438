//! The watches that run: starts what is new, keeps what is unchanged, ends what is unwanted. Must not know why something is wanted.

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use tokio::{
    sync::{Notify, mpsc},
    task::JoinHandle,
};

use super::{
    engine::{self, Setting},
    request::MAX_OBJECTS,
};
use crate::{
    cluster::ask::Ask,
    model::feed::{Feed, Subscription},
};

/// A running set. Dropping it ends every watch.
pub struct WatchSet {
    running: BTreeMap<Subscription, JoinHandle<()>>,
    setting: Setting,
}

impl WatchSet {
    /// An empty set that feeds into `out` under a context's name.
    pub fn new(context: &str, out: mpsc::Sender<Feed>, unauthorized: Arc<Notify>) -> WatchSet {
        let setting = Setting {
            context: Arc::from(context),
            generation: Arc::new(AtomicU64::new(0)),
            out,
            poke: Arc::new(Notify::new()),
            unauthorized,
            most: MAX_OBJECTS,
        };
        WatchSet { running: BTreeMap::new(), setting }
    }

    /// Follows exactly these from now on; feeds carry `generation`. Starts in the order of the wish list.
    pub fn reconcile<A: Ask>(&mut self, ask: &A, generation: u64, wanted: &[Subscription]) {
        self.setting.generation.store(generation, Ordering::Relaxed);
        self.running.retain(|source, task| {
            let keep = wanted.contains(source) && !task.is_finished();
            if !keep {
                task.abort();
            }
            keep
        });
        for source in wanted {
            if !self.running.contains_key(source) {
                let task = tokio::spawn(engine::run(ask.clone(), source.clone(), self.setting.clone()));
                self.running.insert(source.clone(), task);
            }
        }
    }

    /// Ends all waits now: refused and lost sources are asked again.
    pub fn retry_now(&self) {
        self.setting.poke.notify_waiters();
    }
}

impl Drop for WatchSet {
    fn drop(&mut self) {
        self.running.values().for_each(JoinHandle::abort);
    }
}
