//! One task that follows one source for ever: list, watch, re-list. Owns the order of things and the waits; must not parse or paint.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use tokio::{
    sync::{Notify, mpsc},
    time::Instant,
};

use super::{
    backoff::Backoff,
    request::{self, FOLLOW_SECONDS, FOLLOW_SECONDS_LONG, Line, Listed},
};
use crate::{
    cluster::ask::Ask,
    model::{
        Kind, Problem, ProblemKind,
        feed::{Feed, FeedEvent, Subscription},
    },
};

/// A list must be whole within this time; a slow one that keeps coming is not cut by the read timeout of the client.
const LIST_LIMIT: Duration = Duration::from_secs(120);
/// Beyond the asked `timeoutSeconds`, a silent stream is dead.
const GRACE: Duration = Duration::from_secs(8);
/// Options are a one-shot list (`platform.md` 4): polled.
const POLL: Duration = Duration::from_secs(60);
/// From this many objects on, a synthesized list is too dear to be read every minute.
const LONG_LIST: usize = 200;

/// What a follower needs beside its source.
#[derive(Clone)]
pub struct Setting {
    /// Context name that feeds carry.
    pub context: Arc<str>,
    /// Number that feeds carry; shared, so that an unchanged watch survives a new wish list.
    pub generation: Arc<AtomicU64>,
    /// Where feeds go; its bound is the back-pressure.
    pub out: mpsc::Sender<Feed>,
    /// Cuts waits short: the user asked, the terminal got focus, or a login was renewed.
    pub poke: Arc<Notify>,
    /// Told when the login is refused.
    pub unauthorized: Arc<Notify>,
    /// Objects of one source at most. After as many changes the whole is read again: a stream that names ever new objects can't
    /// fill the memory.
    pub most: usize,
}

/// Follows until the receiver is gone or the task is dropped.
pub async fn run<A: Ask>(ask: A, source: Subscription, setting: Setting) {
    let mut follower = Follower { ask, source, setting, backoff: Backoff::default(), changes: 0 };
    while follower.round().await.is_some() {}
}

struct Follower<A> {
    ask: A,
    source: Subscription,
    setting: Setting,
    backoff: Backoff,
    /// Objects applied since the last list.
    changes: usize,
}

/// How a stream ended.
enum End {
    /// By the server, cleanly; the version to go on from.
    Clean(String),
    /// The version is too old.
    Gone,
    /// Anything else.
    Failed(Problem),
}

impl<A: Ask> Follower<A> {
    /// One list and all watches that can follow it. `None` when nobody listens any more.
    async fn round(&mut self) -> Option<()> {
        let listed = match tokio::time::timeout(LIST_LIMIT, request::list(&self.ask, &self.source, self.setting.most)).await {
            Ok(Ok(listed)) => listed,
            Ok(Err(problem)) => return self.lost(problem).await,
            Err(_) => {
                return self.lost(Problem::new(ProblemKind::Timeout, format!("no complete list within {} s", LIST_LIMIT.as_secs()))).await;
            }
        };
        let Listed { objects, mut resource_version, place } = listed;
        let long = objects.len() > LONG_LIST;
        self.tell(FeedEvent::Listed(objects)).await?;
        self.changes = 0;
        if self.source.kind == Kind::OptionList {
            self.pause(POLL).await;
            return Some(());
        }
        let synthesized = self.source.kind.info().synthesized;
        let seconds = if synthesized && long { FOLLOW_SECONDS_LONG } else { FOLLOW_SECONDS };
        loop {
            let start = Instant::now();
            let end = self.stream(&place, resource_version, seconds).await?;
            let lived = start.elapsed();
            match end {
                End::Clean(version) if !synthesized && !version.is_empty() => {
                    // Nothing can have been missed between two watches of one version line.
                    self.tell(FeedEvent::Alive).await?;
                    resource_version = version;
                    let wait = self.backoff.ended(lived, dice());
                    self.pause(wait).await;
                }
                End::Clean(_) | End::Gone => {
                    let wait = self.backoff.ended(lived, dice());
                    self.pause(wait).await;
                    return Some(());
                }
                End::Failed(problem) => {
                    self.backoff.lived(lived);
                    return self.lost(problem).await;
                }
            }
        }
    }

    /// Reads one stream to its end.
    async fn stream(&mut self, place: &crate::cluster::ask::Place, mut version: String, seconds: u64) -> Option<End> {
        let limit = Duration::from_secs(seconds) + GRACE;
        let opening = tokio::time::timeout(limit, request::follow(&self.ask, &self.source, place, &version, seconds));
        let mut follow = match opening.await {
            Ok(Ok(f)) => f,
            Ok(Err(p)) if p.kind == ProblemKind::Gone => return Some(End::Gone),
            Ok(Err(p)) => return Some(End::Failed(p)),
            Err(_) => return Some(End::Failed(silent(limit))),
        };
        let deadline = Instant::now() + limit;
        loop {
            let line = match tokio::time::timeout_at(deadline, follow.next()).await {
                Ok(Ok(Some(line))) => line,
                Ok(Ok(None)) => return Some(End::Clean(version)),
                Ok(Err(p)) => return Some(End::Failed(p)),
                Err(_) => return Some(End::Failed(silent(limit))),
            };
            let event = match line {
                Line::Applied(object, v) => {
                    version = v;
                    self.changes += 1;
                    FeedEvent::Applied(object)
                }
                Line::Deleted(namespace, name, v) => {
                    version = v;
                    FeedEvent::Deleted(namespace, name)
                }
                Line::Bookmark(v) => {
                    version = v;
                    FeedEvent::Alive
                }
                Line::Failed(p) if p.kind == ProblemKind::Gone => return Some(End::Gone),
                Line::Failed(p) => return Some(End::Failed(p)),
            };
            self.tell(event).await?;
            if self.changes > self.setting.most {
                return Some(End::Gone);
            }
        }
    }

    /// Tells a problem and waits until it is time to try again.
    async fn lost(&mut self, problem: Problem) -> Option<()> {
        if problem.kind == ProblemKind::Unauthorized {
            self.setting.unauthorized.notify_one();
        }
        let wait = self.backoff.failed(&problem, dice());
        self.tell(FeedEvent::Lost(problem)).await?;
        self.pause(wait).await;
        Some(())
    }

    async fn tell(&self, event: FeedEvent) -> Option<()> {
        let generation = self.setting.generation.load(Ordering::Relaxed);
        let feed = Feed { generation, context: Arc::clone(&self.setting.context), source: self.source.clone(), event };
        self.setting.out.send(feed).await.ok()
    }

    async fn pause(&self, wait: Duration) {
        if wait.is_zero() {
            return;
        }
        tokio::select! {
            () = tokio::time::sleep(wait) => {}
            () = self.setting.poke.notified() => {}
        }
    }
}

fn silent(limit: Duration) -> Problem {
    Problem::new(ProblemKind::Timeout, format!("the watch was silent for {} s: the connection is taken for dead", limit.as_secs()))
}

/// A number in 0..1 that differs between tasks and calls; it only spreads waits.
fn dice() -> f64 {
    use std::hash::{BuildHasher as _, Hasher as _};
    let h = std::collections::hash_map::RandomState::new().build_hasher().finish();
    f64::from(u32::try_from(h >> 32).unwrap_or_default()) / f64::from(u32::MAX)
}
