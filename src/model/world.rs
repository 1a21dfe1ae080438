//! Everything observed in one context, indexed by namespace, with how well each (kind, scope) could be read.
//! Owns upsert, removal, atomic replacement and the set of dirty namespaces; must not judge.

use std::{
    collections::{BTreeMap, BTreeSet},
    ops::Range,
    sync::Arc,
};

use serde::{Deserialize, Serialize};

use super::{Kind, Object, Problem, Scope, Selector, Time, feed::FeedEvent};

/// Why a (kind, scope) can't be believed, or that it can. Names as in the contract's `hidden.reason`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ReadState {
    /// Read completely: what isn't there doesn't exist.
    Complete,
    /// 403.
    Forbidden,
    /// The server doesn't serve this API.
    AbsentApi,
    /// Served only in versions the console can't parse.
    UnsupportedVersion,
    /// The last read failed (timeout, 5xx, unparsable); nothing is known.
    Unreadable,
    /// Nobody asked, or the first answer hasn't come.
    NotRead,
    /// Was complete; the source has been lost since. Rows stay.
    Stale,
}

impl ReadState {
    /// The state that a failed first read leaves behind.
    pub fn of(kind: super::ProblemKind) -> ReadState {
        match kind {
            super::ProblemKind::Forbidden => ReadState::Forbidden,
            super::ProblemKind::AbsentApi => ReadState::AbsentApi,
            super::ProblemKind::UnsupportedVersion => ReadState::UnsupportedVersion,
            _ => ReadState::Unreadable,
        }
    }
}

/// How a (kind, scope) was last read.
#[derive(Debug, Clone, PartialEq)]
pub struct Read {
    /// Outcome.
    pub state: ReadState,
    /// When data was last known to be true (list, event, bookmark or clean re-watch).
    pub at: Option<Time>,
    /// What went wrong, if something did.
    pub problem: Option<Problem>,
}

impl Default for Read {
    fn default() -> Self {
        Read { state: ReadState::NotRead, at: None, problem: None }
    }
}

/// Where objects come from: one list or watch.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Source {
    /// Kind.
    pub kind: Kind,
    /// Where.
    pub scope: Scope,
    /// Narrowed to what.
    pub selector: Selector,
}

/// Objects of one namespace (or of cluster scope, under the empty name), sorted by kind and name: eight bytes an object beside the object.
#[derive(Debug, Clone, Default)]
struct Shelf {
    objects: Vec<Arc<Object>>,
    /// How many of them name a plane, so that nobody has to look through all at every event.
    named: usize,
}

impl Shelf {
    fn find(&self, kind: Kind, name: &str) -> Result<usize, usize> {
        self.objects.binary_search_by(|o| (o.kind, &*o.meta.name).cmp(&(kind, name)))
    }

    /// Where the objects of a kind stand.
    fn span(&self, kind: Kind) -> Range<usize> {
        self.objects.partition_point(|o| o.kind < kind)..self.objects.partition_point(|o| o.kind <= kind)
    }

    fn of(&self, kind: Kind) -> &[Arc<Object>] {
        self.objects.get(self.span(kind)).unwrap_or_default()
    }

    fn put(&mut self, object: Arc<Object>) {
        self.named += usize::from(object.names_plane());
        match self.find(object.kind, &object.meta.name) {
            Ok(at) => {
                if let Some(slot) = self.objects.get_mut(at) {
                    self.named -= usize::from(slot.names_plane());
                    *slot = object;
                }
            }
            Err(at) => self.objects.insert(at, object),
        }
    }

    fn take(&mut self, kind: Kind, name: &str) -> bool {
        let Ok(at) = self.find(kind, name) else { return false };
        self.named -= usize::from(self.objects.remove(at).names_plane());
        true
    }

    /// Puts these, sorted by name, where all of the kind stood.
    fn put_all(&mut self, kind: Kind, new: Vec<Arc<Object>>) {
        let named = |objects: &[Arc<Object>]| objects.iter().filter(|o| o.names_plane()).count();
        self.named = self.named + named(&new) - named(self.of(kind));
        let span = self.span(kind);
        self.objects.splice(span, new);
    }
}

/// All that was observed in one context.
#[derive(Debug, Clone, Default)]
pub struct World {
    shelves: BTreeMap<Arc<str>, Shelf>,
    reads: BTreeMap<(Kind, Scope), BTreeMap<Selector, Read>>,
    dirty: BTreeSet<Arc<str>>,
    revision: u64,
}

impl World {
    /// Grows with every change; equal revisions mean equal content.
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// Adds or replaces one object; marks its namespace dirty.
    pub fn apply(&mut self, object: Object) {
        self.touch(object.meta.namespace.clone());
        self.shelves.entry(object.meta.namespace.clone()).or_default().put(Arc::new(object));
    }

    /// Removes one object by name; marks its namespace dirty.
    pub fn remove(&mut self, kind: Kind, namespace: &str, name: &str) {
        if self.shelves.get_mut(namespace).is_some_and(|s| s.take(kind, name)) {
            self.touch(Arc::from(namespace));
        }
    }

    /// A complete list of (kind, scope), narrowed or not: whatever the selector covers and isn't in it is gone.
    /// Only namespaces whose content changed become dirty.
    pub fn replace(&mut self, source: &Source, objects: Vec<Object>, now: Time) {
        let Source { kind, scope, selector } = source;
        let first = self.read_of(source).state != ReadState::Complete;
        let mut fresh: BTreeMap<Arc<str>, Vec<Arc<Object>>> = BTreeMap::new();
        for o in objects {
            fresh.entry(o.meta.namespace.clone()).or_default().push(Arc::new(o));
        }
        let mut touched: Vec<Arc<str>> = self.shelves.keys().filter(|ns| in_scope(ns, scope, *kind)).cloned().collect();
        touched.extend(fresh.keys().cloned());
        touched.sort();
        touched.dedup();
        let narrowed = *selector != Selector::all();
        for ns in touched {
            let mut new = fresh.remove(&ns).unwrap_or_default();
            by_name(&mut new);
            let shelf = self.shelves.entry(ns.clone()).or_default();
            if narrowed {
                let listed = |o: &Object| new.binary_search_by(|n| n.meta.name.cmp(&o.meta.name)).is_ok();
                let outside: Vec<_> = shelf.of(*kind).iter().filter(|o| !listed(o) && !selector.matches(o)).cloned().collect();
                new.extend(outside);
                by_name(&mut new);
            }
            // A first complete read turns "not read" into "absent" even where nothing was listed, so it dirties all in scope.
            if first || shelf.of(*kind) != new.as_slice() {
                shelf.put_all(*kind, new);
                self.touch(ns);
            }
        }
        if first {
            self.touch_scope(scope);
        }
        self.record(source, Read { state: ReadState::Complete, at: Some(now), problem: None });
    }

    /// The source was heard from: its rows are true as of now.
    pub fn alive(&mut self, source: &Source, now: Time) {
        // Every event passes here, so the usual case must not copy the source.
        let known = self.reads.get_mut(&(source.kind, source.scope.clone())).and_then(|by| by.get_mut(&source.selector));
        let Some(read) = known else {
            return self.record(source, Read { at: Some(now), ..Read::default() });
        };
        read.at = Some(now);
        if read.state == ReadState::Stale {
            (read.state, read.problem) = (ReadState::Complete, None);
            self.touch_scope(&source.scope);
        }
    }

    /// Folds what a watch said. A failed source keeps its rows: what was complete is stale from then on, never empty.
    pub fn fold(&mut self, source: &Source, event: FeedEvent, now: Time) {
        match event {
            FeedEvent::Listed(objects) => self.replace(source, objects, now),
            FeedEvent::Applied(object) => {
                self.apply(*object);
                self.alive(source, now);
            }
            FeedEvent::Deleted(namespace, name) => {
                self.remove(source.kind, &namespace, &name);
                self.alive(source, now);
            }
            FeedEvent::Alive => self.alive(source, now),
            FeedEvent::Lost(problem) => {
                let old = self.read_of(source);
                let was_known = matches!(old.state, ReadState::Complete | ReadState::Stale);
                let state = match ReadState::of(problem.kind) {
                    ReadState::Unreadable if was_known => ReadState::Stale,
                    other => other,
                };
                self.set_read_of(source, Read { state, at: old.at, problem: Some(problem) });
            }
        }
    }

    /// Records how a source could be read; objects stay. Dirty only if the state changed.
    pub fn set_read_of(&mut self, source: &Source, read: Read) {
        if self.read_of(source).state != read.state {
            self.touch_scope(&source.scope);
        }
        self.record(source, read);
    }

    /// Records how all of (kind, scope) could be read.
    pub fn set_read(&mut self, kind: Kind, scope: Scope, read: Read) {
        self.set_read_of(&Source { kind, scope, selector: Selector::all() }, read);
    }

    /// Forgets what was said about sources that nobody follows any more.
    pub fn retain_sources(&mut self, wanted: impl Fn(&Source) -> bool) {
        for ((kind, scope), by_selector) in &mut self.reads {
            by_selector.retain(|selector, _| wanted(&Source { kind: *kind, scope: scope.clone(), selector: selector.clone() }));
        }
        self.reads.retain(|_, by_selector| !by_selector.is_empty());
    }

    /// How well `kind` is known in `namespace`: the namespace's own read, else the one over the whole cluster.
    pub fn read_in(&self, kind: Kind, namespace: &str) -> Read {
        let own = self.read(kind, &Scope::Namespace(namespace.to_string()));
        if own.state != ReadState::NotRead { own } else { self.read(kind, &Scope::All) }
    }

    /// How (kind, scope) was last read: the worst of its narrowed sources, since each speaks only for its part.
    pub fn read(&self, kind: Kind, scope: &Scope) -> Read {
        let reads = self.reads.get(&(kind, scope.clone())).into_iter().flat_map(BTreeMap::values);
        reads.max_by_key(|r| trouble(r.state)).cloned().unwrap_or_default()
    }

    /// How one source was last read.
    pub fn read_of(&self, source: &Source) -> Read {
        self.reads.get(&(source.kind, source.scope.clone())).and_then(|r| r.get(&source.selector)).cloned().unwrap_or_default()
    }

    fn record(&mut self, source: &Source, read: Read) {
        self.reads.entry((source.kind, source.scope.clone())).or_default().insert(source.selector.clone(), read);
    }

    /// All reads, for coverage and reports.
    pub fn reads(&self) -> impl Iterator<Item = (Kind, &Scope, &Read)> {
        self.reads.iter().flat_map(|((k, s), by)| by.values().map(move |r| (*k, s, r)))
    }

    /// Objects of `kind` in `namespace` (empty for cluster-scoped kinds), by name.
    pub fn list<'a>(&'a self, kind: Kind, namespace: &str) -> impl Iterator<Item = &'a Arc<Object>> + use<'a> {
        self.shelves.get(namespace).map(|s| s.of(kind)).unwrap_or_default().iter()
    }

    /// One object.
    pub fn get(&self, kind: Kind, namespace: &str, name: &str) -> Option<&Arc<Object>> {
        let shelf = self.shelves.get(namespace)?;
        shelf.objects.get(shelf.find(kind, name).ok()?)
    }

    /// True when any object or Event of the namespace is called, labelled or `clusterName`d as something of a plane.
    pub fn names_plane(&self, namespace: &str) -> bool {
        self.shelves.get(namespace).is_some_and(|s| s.named > 0)
    }

    /// All namespaces in which something was observed, in order.
    pub fn namespaces(&self) -> impl Iterator<Item = &Arc<str>> {
        self.shelves.keys().filter(|n| !n.is_empty())
    }

    /// Takes the namespaces that changed since the last call; the empty name stands for "cluster scope: judge all again".
    pub fn take_dirty(&mut self) -> BTreeSet<Arc<str>> {
        std::mem::take(&mut self.dirty)
    }

    fn touch(&mut self, namespace: Arc<str>) {
        self.revision += 1;
        self.dirty.insert(namespace);
    }

    fn touch_scope(&mut self, scope: &Scope) {
        match scope {
            Scope::Namespace(ns) => self.touch(Arc::from(ns.as_str())),
            Scope::All => self.touch(Arc::from("")),
        }
    }
}

/// Sorts by name; of one name only the last stays, as the server's last word.
fn by_name(objects: &mut Vec<Arc<Object>>) {
    objects.reverse();
    objects.sort_by(|a, b| a.meta.name.cmp(&b.meta.name));
    objects.dedup_by(|a, b| a.meta.name == b.meta.name);
}

/// How much a read state takes away; the largest wins where several narrowed sources serve one kind.
fn trouble(state: ReadState) -> u8 {
    match state {
        ReadState::Complete => 0,
        ReadState::Stale => 1,
        ReadState::NotRead => 2,
        ReadState::Unreadable => 3,
        ReadState::UnsupportedVersion => 4,
        ReadState::AbsentApi => 5,
        ReadState::Forbidden => 6,
    }
}

fn in_scope(namespace: &str, scope: &Scope, kind: Kind) -> bool {
    match scope {
        Scope::All => kind.info().namespaced || namespace.is_empty(),
        Scope::Namespace(ns) => ns == namespace,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn pod(name: &str, label: &str) -> Object {
        Object::from_value(
            &json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": "t", "labels": {"cozystack.io/l": label}}}),
        )
        .unwrap()
    }

    fn source(labels: &str) -> Source {
        Source { kind: Kind::Pod, scope: Scope::All, selector: Selector::labels(labels) }
    }

    fn names(w: &World) -> Vec<String> {
        w.list(Kind::Pod, "t").map(|o| o.meta.name.to_string()).collect()
    }

    #[test]
    fn a_narrowed_list_removes_only_its_own() {
        let mut w = World::default();
        w.replace(&source("cozystack.io/l=a"), vec![pod("a1", "a"), pod("a2", "a")], Time::UNIX_EPOCH);
        w.replace(&source("cozystack.io/l=b"), vec![pod("b1", "b")], Time::UNIX_EPOCH);
        w.replace(&source("cozystack.io/l=a"), vec![pod("a2", "a")], Time::UNIX_EPOCH);
        assert_eq!(names(&w), ["a2", "b1"]);
    }

    #[test]
    fn a_relist_dirties_only_what_changed() {
        let mut w = World::default();
        w.replace(&source(""), vec![pod("a", "x")], Time::UNIX_EPOCH);
        w.take_dirty();
        w.replace(&source(""), vec![pod("a", "x")], Time::UNIX_EPOCH);
        assert!(w.take_dirty().is_empty());
        w.replace(&source(""), vec![], Time::UNIX_EPOCH);
        assert_eq!(w.take_dirty().len(), 1);
        assert!(names(&w).is_empty());
    }

    #[test]
    fn what_names_a_plane_is_counted_whatever_comes_and_goes() {
        let mut w = World::default();
        let named = |w: &World| w.names_plane("t");
        w.apply(pod("other", "x"));
        assert!(!named(&w));
        w.apply(pod("computeplane-x", "x"));
        w.apply(pod("computeplane-x", "y"));
        assert!(named(&w));
        w.remove(Kind::Pod, "t", "computeplane-x");
        w.remove(Kind::Pod, "t", "computeplane-x");
        assert!(!named(&w));
        w.apply(pod("other", "computeplane"));
        assert!(named(&w), "a label's value names it");
        w.apply(pod("other", "x"));
        w.replace(&source(""), vec![pod("b", "x"), pod("computeplane", "a"), pod("computeplane", "b")], Time::UNIX_EPOCH);
        assert_eq!((named(&w), names(&w)), (true, vec!["b".to_string(), "computeplane".to_string()]));
        assert_eq!(
            w.get(Kind::Pod, "t", "computeplane").unwrap().meta.labels.get("cozystack.io/l").map(|l| &**l),
            Some("b"),
            "the last word"
        );
        w.replace(&source(""), vec![pod("b", "x")], Time::UNIX_EPOCH);
        assert!(!named(&w));
    }

    #[test]
    fn one_bad_source_of_a_kind_spoils_it() {
        let mut w = World::default();
        w.replace(&source("cozystack.io/l=a"), vec![], Time::UNIX_EPOCH);
        w.set_read_of(&source("cozystack.io/l=b"), Read { state: ReadState::Forbidden, at: None, problem: None });
        assert_eq!(w.read_in(Kind::Pod, "t").state, ReadState::Forbidden);
        w.retain_sources(|s| s.selector.labels == "cozystack.io/l=a");
        assert_eq!(w.read_in(Kind::Pod, "t").state, ReadState::Complete);
    }
}
