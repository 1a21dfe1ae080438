//! Brings a world together for one-shot commands: from a dump, the embedded platform or a cluster. The live way is the screens' own: the same
//! subscriptions, watches and store, read until every source has answered once. Owns that waiting; must not judge.

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use tokio::{
    sync::{Notify, mpsc},
    time::Instant,
};

use super::{offline, settle::Effective};
use crate::{
    cluster::{door::Login, watch::WatchSet},
    model::{
        Kind, Problem, Time, World,
        feed::{Feed, FeedEvent, Subscription},
        world::{ReadState, Source},
    },
    runtime::connect::{Connector, Link},
    state::subscriptions::{Looking, wanted},
};

/// A context that is connected.
pub struct Online {
    /// Where the session came from.
    pub connector: Connector,
    /// The session.
    pub link: Link,
    /// Namespaces that are looked at; empty with `all`.
    pub namespaces: Vec<String>,
    /// The whole cluster was asked for.
    pub all: bool,
    /// The watches that run.
    pub watches: WatchSet,
    /// What they say.
    pub feeds: mpsc::Receiver<Feed>,
    /// What is followed.
    pub wanted: Vec<Subscription>,
}

/// Everything seen, at one moment.
pub struct Seen {
    /// What was observed.
    pub world: World,
    /// Name of the one context.
    pub context: String,
    /// The clock to judge by.
    pub now: Time,
    /// What is odd, one line each, for standard error.
    pub notes: Vec<String>,
    /// The connection, unless this is a dump.
    pub online: Option<Online>,
}

impl Seen {
    /// True when at least one kind that says something of a plane could be read.
    pub fn anything_readable(&self) -> bool {
        // These any authenticated identity may read: they say nothing of planes.
        let empty_talk = [Kind::TenantNamespace, Kind::OptionList, Kind::Namespace, Kind::StorageClass, Kind::ApplicationDefinition];
        self.world.reads().any(|(k, _, r)| !empty_talk.contains(&k) && matches!(r.state, ReadState::Complete | ReadState::Stale))
    }
}

/// Brings the world together; `open` names a namespace whose details matter.
///
/// # Errors
/// What keeps the dump from being read or the cluster from being reached.
pub async fn gather(effective: &Effective, open: Option<&str>) -> Result<Seen, Problem> {
    if let Some(path) = &effective.global.from {
        return offline_seen(effective, path);
    }
    let connector = effective.connector()?;
    let mut notes = connector.notes();
    let link = connector.open(effective.global.context.as_deref(), Login::Interactive).await.map_err(Problem::from)?;
    let info = link.session.info().clone();
    notes.extend(info.notes.clone());
    // A server that can't be reached is said once, not once for every kind.
    link.session.discovered().await?;
    let all = effective.global.all_namespaces;
    let mut namespaces = if all { Vec::new() } else { link.session.namespaces(&effective.global.namespace).await.names };
    if let Some(ns) = open.filter(|ns| !all && !namespaces.iter().any(|n| n == ns)) {
        namespaces.push(ns.to_string());
    }
    let wanted = wanted(&Looking { namespaces: &namespaces, all, open });
    let (tx, feeds) = mpsc::channel(1024);
    let mut watches = WatchSet::new(&info.name, tx, Arc::new(Notify::new()));
    watches.reconcile(&link.session, 1, &wanted);
    let mut seen = Seen { world: World::default(), context: info.name, now: Time::now(), notes, online: None };
    let mut online = Online { connector, link, namespaces, all, watches, feeds, wanted };
    online.until_all_answered(&mut seen.world, effective.limit()).await;
    seen.now = Time::now();
    seen.online = Some(online);
    Ok(seen)
}

impl Online {
    /// Folds feeds until every source has answered once, or the limit is over; what hasn't answered then stays unread.
    async fn until_all_answered(&mut self, world: &mut World, limit: Duration) {
        let mut waiting: BTreeSet<Source> = self.wanted.iter().cloned().collect();
        let deadline = Instant::now() + limit;
        while !waiting.is_empty() {
            let Ok(Some(feed)) = tokio::time::timeout_at(deadline, self.feeds.recv()).await else { return };
            if matches!(feed.event, FeedEvent::Listed(_) | FeedEvent::Lost(_)) {
                waiting.remove(&feed.source);
            }
            world.fold(&feed.source, feed.event, Time::now());
        }
    }
}

/// The world of a dump.
///
/// # Errors
/// `BadInput`: nothing in it can be read.
pub fn offline_seen(effective: &Effective, path: &std::path::Path) -> Result<Seen, Problem> {
    let dump = offline::open(path, effective.global.complete)?;
    let now = effective.global.now.or(dump.newest).unwrap_or_else(Time::now);
    let context = dump.context.clone().unwrap_or_else(|| path.display().to_string());
    Ok(Seen { world: dump.world, context, now, notes: dump.notes, online: None })
}
