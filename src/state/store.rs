//! What is known of each context: its world, the verdicts made from it, and what changed since the console looks. Folds feeds, judges again only
//! what changed, and says when time alone will change a verdict. Keyed by context, so that several clusters can stand in one list.

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    sync::Arc,
};

use super::{judge::Judge, subscriptions::parent_of, table::Row, timeline};
use crate::{
    health::deadlines::Deadlines,
    model::{
        Kind, Time, World,
        feed::{Feed, FeedEvent},
        verdict::Plane,
        world::{ReadState, Source},
    },
};

/// Changes remembered for one plane.
const LOG: usize = 300;

/// A verdict and its row in the list of planes.
#[derive(Debug, Clone)]
pub struct Judged {
    /// The verdict.
    pub plane: Arc<Plane>,
    /// Its row.
    pub row: Arc<Row>,
    /// Nothing names a plane there; someone asked for the namespace.
    pub asked: bool,
}

/// One context.
#[derive(Debug, Default)]
pub struct Sphere {
    /// All that was observed.
    pub world: World,
    /// Verdicts by namespace.
    pub planes: BTreeMap<Arc<str>, Judged>,
    /// What changed since the console looks, by namespace, newest first.
    pub log: BTreeMap<Arc<str>, VecDeque<timeline::Entry>>,
    /// Grows with every new verdict.
    pub revision: u64,
    /// Namespaces to be judged even if they show no plane: someone asked for them.
    asked: BTreeSet<Arc<str>>,
    dirty: BTreeSet<Arc<str>>,
    all_dirty: bool,
}

/// All contexts.
#[derive(Debug, Default)]
pub struct Store {
    spheres: BTreeMap<Arc<str>, Sphere>,
}

impl Store {
    /// What is known of a context.
    pub fn sphere(&self, context: &str) -> Option<&Sphere> {
        self.spheres.get(context)
    }

    /// The same, to be changed; made when it isn't there.
    pub fn sphere_mut(&mut self, context: &str) -> &mut Sphere {
        self.spheres.entry(Arc::from(context)).or_default()
    }

    /// Folds one feed; verdicts follow with the next [`Sphere::settle`].
    pub fn feed(&mut self, feed: Feed, now: Time) {
        self.sphere_mut(&feed.context).fold(&feed.source, feed.event, now);
    }
}

impl Sphere {
    /// The verdict of a namespace.
    pub fn plane(&self, namespace: &str) -> Option<&Arc<Plane>> {
        self.planes.get(namespace).map(|j| &j.plane)
    }

    /// Names the namespaces that are judged even when empty, and forgets sources that nobody follows any more.
    pub fn look_at(&mut self, namespaces: &[String], wanted: &BTreeMap<Source, u64>) {
        self.asked = namespaces.iter().map(|n| Arc::from(n.as_str())).collect();
        self.world.retain_sources(|s| wanted.contains_key(s));
        self.all_dirty = true;
    }

    fn fold(&mut self, source: &Source, event: FeedEvent, now: Time) {
        let name = match &event {
            FeedEvent::Applied(object) => Some(object.meta.name.clone()),
            FeedEvent::Deleted(_, name) => Some(Arc::from(name.as_str())),
            _ => None,
        };
        self.world.fold(source, event, now);
        self.collect(source.kind, name.as_deref());
    }

    /// Shows a world that no feed will change.
    pub fn show(&mut self, world: World) {
        self.world = world;
        self.all_dirty = true;
    }

    /// Takes over what the world found changed. What a parent holds about a child (tenant releases, `etcd`) makes the child dirty too.
    fn collect(&mut self, kind: Kind, name: Option<&str>) {
        let changed = self.world.take_dirty();
        for ns in changed {
            if ns.is_empty() {
                self.all_dirty = true;
                continue;
            }
            if matches!(kind, Kind::HelmRelease | Kind::Tenant | Kind::ConfigMap) {
                self.mark_children(&ns, name);
            }
            self.dirty.insert(ns);
        }
    }

    fn mark_children(&mut self, parent: &Arc<str>, name: Option<&str>) {
        let one = match name {
            // A plane's own release says nothing about child tenants.
            Some(n) if n.starts_with("computeplane") || n.starts_with("kubernetes-") => return,
            Some(n) if n != "etcd" => {
                let child = n.strip_prefix("tenant-").unwrap_or(n);
                Some(if &**parent == "tenant-root" { format!("tenant-{child}") } else { format!("{parent}-{child}") })
            }
            _ => None,
        };
        let known = self.planes.keys().chain(&self.asked);
        let children = known.filter(|ns| match &one {
            Some(child) => ***ns == **child,
            None => parent_of(ns).as_deref() == Some(&**parent),
        });
        let children: Vec<Arc<str>> = children.cloned().collect();
        self.dirty.extend(children);
    }

    /// True when something is waiting to be judged.
    pub fn is_unsettled(&self) -> bool {
        self.all_dirty || !self.dirty.is_empty()
    }

    /// Judges what changed, and what time has changed: deadlines that are over.
    pub fn settle(&mut self, judge: &Judge, now: Time, deadlines: &Deadlines) {
        let mut todo = std::mem::take(&mut self.dirty);
        if std::mem::take(&mut self.all_dirty) {
            todo.extend((judge.planes)(&self.world));
            todo.extend(self.asked.iter().cloned());
            todo.extend(self.planes.keys().cloned());
        }
        let due = self.planes.iter().filter(|(_, j)| j.plane.deadline.is_some_and(|d| d <= now));
        todo.extend(due.map(|(ns, _)| ns.clone()).collect::<Vec<_>>());
        for ns in todo {
            self.judge_one(judge, &ns, now, deadlines);
        }
    }

    fn judge_one(&mut self, judge: &Judge, ns: &Arc<str>, now: Time, deadlines: &Deadlines) {
        let mut verdict = (judge.judge)(&self.world, ns, now, deadlines);
        // Asked for and answered: then even "nothing" and "not for you" are verdicts. Before the answer, silence is loading.
        let answered = self.world.read_in(Kind::ComputePlane, ns).state != ReadState::NotRead;
        let asked = verdict.is_none();
        if asked && answered && self.asked.contains(ns) {
            verdict = Some((judge.asked)(&self.world, ns, now, deadlines));
        }
        let Some(mut plane) = verdict else {
            if self.planes.remove(ns).is_some() {
                self.revision += 1;
            }
            return;
        };
        // A deadline that is over has had its effect; kept, it would judge this plane again with every settling.
        plane.deadline = plane.deadline.filter(|d| *d > now);
        let old = self.planes.get(ns).map(|j| j.plane.clone());
        if old.as_deref() == Some(&plane) && self.planes.get(ns).is_some_and(|j| j.asked == asked) {
            return;
        }
        if let Some(old) = old {
            let log = self.log.entry(ns.clone()).or_default();
            for entry in timeline::between(&old, &plane, now) {
                log.push_front(entry);
            }
            log.truncate(LOG);
        }
        let row = Arc::new(super::screens::planes::row(&plane));
        self.planes.insert(ns.clone(), Judged { plane: Arc::new(plane), row, asked });
        self.revision += 1;
    }

    /// The next moment at which time alone changes a verdict.
    pub fn next_deadline(&self, now: Time) -> Option<Time> {
        self.planes.values().filter_map(|j| j.plane.deadline).filter(|d| *d > now).min()
    }
}
