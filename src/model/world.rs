//! Everything observed in one context, indexed by namespace, with how well each (kind, scope) could be read.
//! Owns upsert, removal, atomic replacement and the set of dirty namespaces; must not judge.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use serde::{Deserialize, Serialize};

use super::{Kind, Object, Problem, Scope, Time};

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

/// Objects of one namespace (or of cluster scope, under the empty name), by kind and name.
pub type Shelf = BTreeMap<Kind, BTreeMap<Arc<str>, Arc<Object>>>;

/// All that was observed in one context.
#[derive(Debug, Clone, Default)]
pub struct World {
    shelves: BTreeMap<Arc<str>, Shelf>,
    reads: BTreeMap<(Kind, Scope), Read>,
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
        self.shelves
            .entry(object.meta.namespace.clone())
            .or_default()
            .entry(object.kind)
            .or_default()
            .insert(object.meta.name.clone(), Arc::new(object));
    }

    /// Removes one object by name; marks its namespace dirty.
    pub fn remove(&mut self, kind: Kind, namespace: &str, name: &str) {
        if let Some(by_name) = self.shelves.get_mut(namespace).and_then(|s| s.get_mut(&kind)) {
            if by_name.remove(name).is_some() {
                self.touch(Arc::from(namespace));
            }
        }
    }

    /// A complete list of (kind, scope): whatever isn't in it is gone. Only namespaces whose content changed become dirty.
    pub fn replace(&mut self, kind: Kind, scope: &Scope, objects: Vec<Object>, now: Time) {
        let first = self.read(kind, scope).state != ReadState::Complete;
        let mut fresh: BTreeMap<Arc<str>, BTreeMap<Arc<str>, Arc<Object>>> = BTreeMap::new();
        for o in objects {
            fresh.entry(o.meta.namespace.clone()).or_default().insert(o.meta.name.clone(), Arc::new(o));
        }
        let mut touched: Vec<Arc<str>> = self.shelves.keys().filter(|ns| in_scope(ns, scope, kind)).cloned().collect();
        touched.extend(fresh.keys().cloned());
        touched.sort();
        touched.dedup();
        for ns in touched {
            let new = fresh.remove(&ns).unwrap_or_default();
            let shelf = self.shelves.entry(ns.clone()).or_default();
            // A first complete read turns "not read" into "absent" even where nothing was listed, so it dirties all in scope.
            if first || shelf.get(&kind).map_or(!new.is_empty(), |old| *old != new) {
                shelf.insert(kind, new);
                self.touch(ns);
            }
        }
        self.reads.insert((kind, scope.clone()), Read { state: ReadState::Complete, at: Some(now), problem: None });
    }

    /// The source of (kind, scope) was heard from: its rows are true as of now.
    pub fn alive(&mut self, kind: Kind, scope: &Scope, now: Time) {
        let read = self.reads.entry((kind, scope.clone())).or_default();
        read.at = Some(now);
        if read.state == ReadState::Stale {
            read.state = ReadState::Complete;
            read.problem = None;
            self.touch_scope(scope);
        }
    }

    /// Records how (kind, scope) could be read; objects stay. Dirty only if the state changed.
    pub fn set_read(&mut self, kind: Kind, scope: Scope, read: Read) {
        let old = self.reads.insert((kind, scope.clone()), read.clone());
        if old.map(|o| o.state) != Some(read.state) {
            self.touch_scope(&scope);
        }
    }

    /// How well `kind` is known in `namespace`: the namespace's own read, else the one over the whole cluster.
    pub fn read_in(&self, kind: Kind, namespace: &str) -> Read {
        let own = self.read(kind, &Scope::Namespace(namespace.to_string()));
        if own.state != ReadState::NotRead { own } else { self.read(kind, &Scope::All) }
    }

    /// How (kind, scope) was last read.
    pub fn read(&self, kind: Kind, scope: &Scope) -> Read {
        self.reads.get(&(kind, scope.clone())).cloned().unwrap_or_default()
    }

    /// All reads, for coverage and reports.
    pub fn reads(&self) -> impl Iterator<Item = (Kind, &Scope, &Read)> {
        self.reads.iter().map(|((k, s), r)| (*k, s, r))
    }

    /// Objects of `kind` in `namespace` (empty for cluster-scoped kinds), by name.
    pub fn list<'a>(&'a self, kind: Kind, namespace: &str) -> impl Iterator<Item = &'a Arc<Object>> + use<'a> {
        self.shelves.get(namespace).and_then(|s| s.get(&kind)).into_iter().flat_map(|m| m.values())
    }

    /// One object.
    pub fn get(&self, kind: Kind, namespace: &str, name: &str) -> Option<&Arc<Object>> {
        self.shelves.get(namespace)?.get(&kind)?.get(name)
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

fn in_scope(namespace: &str, scope: &Scope, kind: Kind) -> bool {
    match scope {
        Scope::All => kind.info().namespaced || namespace.is_empty(),
        Scope::Namespace(ns) => ns == namespace,
    }
}
