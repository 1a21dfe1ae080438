//! What is known of each context: its world, the verdicts made from it, and what changed since the console looks. Folds feeds, judges again only
//! what changed, and says when time alone will change a verdict. Keyed by context, so that several clusters can stand in one list.

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    ops::Bound,
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

/// Planes judged in one settling: a few milliseconds of work, so that a key pressed while a whole fleet changes is answered in its frame.
pub const SLICE: usize = 64;
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
    /// Judged last. The next slice begins behind it, so that no plane waits for ever behind busier ones.
    last: Option<Arc<str>>,
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

    /// Judges what changed, and what time has changed: at most a slice of it. [`Sphere::is_unsettled`] tells whether some is left.
    pub fn settle(&mut self, judge: &Judge, now: Time, deadlines: &Deadlines) {
        self.gather(judge, now);
        self.judge_slice(judge, now, deadlines);
    }

    fn judge_slice(&mut self, judge: &Judge, now: Time, deadlines: &Deadlines) {
        for _ in 0..SLICE {
            let Some(ns) = self.next_dirty() else { break };
            self.dirty.remove(&ns);
            self.judge_one(judge, &ns, now, deadlines);
            self.last = Some(ns);
        }
    }

    /// The same when one slice is all there is; a larger backlog is left to the frames, whose work it is.
    pub fn settle_little(&mut self, judge: &Judge, now: Time, deadlines: &Deadlines) {
        self.gather(judge, now);
        if self.dirty.len() <= SLICE {
            self.judge_slice(judge, now, deadlines);
        }
    }

    /// Names what is to be judged: what changed, and planes whose deadlines are over.
    fn gather(&mut self, judge: &Judge, now: Time) {
        if std::mem::take(&mut self.all_dirty) {
            self.dirty.extend((judge.planes)(&self.world));
            self.dirty.extend(self.asked.iter().cloned());
            self.dirty.extend(self.planes.keys().cloned());
        }
        let due = self.planes.iter().filter(|(_, j)| j.plane.deadline.is_some_and(|d| d <= now));
        self.dirty.extend(due.map(|(ns, _)| ns.clone()));
    }

    fn next_dirty(&self) -> Option<Arc<str>> {
        let behind = self.last.as_ref().and_then(|l| self.dirty.range::<Arc<str>, _>((Bound::Excluded(l), Bound::Unbounded)).next());
        behind.or_else(|| self.dirty.first()).cloned()
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::model::{Object, Scope, Selector};

    fn object(n: usize) -> Object {
        let name = json!({"name": "computeplane", "namespace": format!("tenant-{n:04}")});
        Object::from_value(&json!({"apiVersion": "apps.cozystack.io/v1alpha1", "kind": "ComputePlane", "metadata": name})).unwrap()
    }

    fn sphere(planes: usize) -> (Sphere, Source) {
        let source = Source { kind: Kind::ComputePlane, scope: Scope::All, selector: Selector::all() };
        let mut sphere = Sphere::default();
        sphere.fold(&source, FeedEvent::Listed((0..planes).map(object).collect()), Time::UNIX_EPOCH);
        (sphere, source)
    }

    #[test]
    fn a_fleet_is_judged_in_slices_until_all_is_judged() {
        let (mut sphere, _) = sphere(SLICE * 2 + 1);
        let (judge, deadlines) = (Judge::engine(), Deadlines::default());
        sphere.settle_little(&judge, Time::UNIX_EPOCH, &deadlines);
        assert_eq!((sphere.planes.len(), sphere.is_unsettled()), (0, true), "a key waits for no fleet");
        for (judged, left) in [(SLICE, true), (SLICE * 2, true), (SLICE * 2 + 1, false)] {
            sphere.settle(&judge, Time::UNIX_EPOCH, &deadlines);
            assert_eq!((sphere.planes.len(), sphere.is_unsettled()), (judged, left));
        }
        let revision = sphere.revision;
        sphere.settle(&judge, Time::UNIX_EPOCH, &deadlines);
        assert_eq!(sphere.revision, revision);
    }

    #[test]
    fn busy_planes_keep_no_other_waiting() {
        let (mut sphere, source) = sphere(SLICE * 3);
        let (judge, deadlines) = (Judge::engine(), Deadlines::default());
        for _ in 0..3 {
            // The first two slices change again with every frame.
            (0..SLICE * 2).for_each(|n| sphere.fold(&source, FeedEvent::Applied(Box::new(object(n))), Time::UNIX_EPOCH));
            sphere.settle(&judge, Time::UNIX_EPOCH, &deadlines);
        }
        assert_eq!(sphere.planes.len(), SLICE * 3);
    }
}
