//! One allocation for what thousands of objects repeat: namespaces, label sets, reasons, whole conditions. Owns the pools and their sweeping;
//! must not know what the strings mean. A pool forgets what nobody else holds, so it can't grow beyond what is alive.

use std::{
    collections::{BTreeMap, HashSet},
    hash::Hash,
    ops::Deref,
    sync::{Arc, LazyLock, Mutex, PoisonError},
};

/// A pool is swept when it has this many entries, then whenever it has doubled.
const FIRST_SWEEP: usize = 4096;
/// Longer strings seldom repeat, and looking for them costs more than they weigh. What Flux says of a success is shorter, and stands twice in a release.
const LONGEST: usize = 256;

/// Values of one type, each held once.
#[derive(Debug)]
pub struct Pool<T: ?Sized>(LazyLock<Mutex<Known<T>>>);

#[derive(Debug)]
struct Known<T: ?Sized> {
    values: HashSet<Arc<T>>,
    sweep_at: usize,
}

impl<T: ?Sized + Eq + Hash> Pool<T> {
    /// An empty pool, for a `static`.
    pub const fn new() -> Pool<T> {
        Pool(LazyLock::new(|| Mutex::new(Known { values: HashSet::new(), sweep_at: FIRST_SWEEP })))
    }

    /// The one value that equals `value`; `make` is called when there is none yet.
    pub fn one(&self, value: &T, make: impl FnOnce() -> Arc<T>) -> Arc<T> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = known.values.get(value) {
            return Arc::clone(found);
        }
        if known.values.len() >= known.sweep_at {
            known.values.retain(|v| Arc::strong_count(v) > 1);
            known.sweep_at = (known.values.len() * 2).max(FIRST_SWEEP);
            let room = known.sweep_at;
            known.values.shrink_to(room);
        }
        let made = make();
        known.values.insert(Arc::clone(&made));
        made
    }

    /// How many values are known, used or not.
    pub fn len(&self) -> usize {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).values.len()
    }

    /// True before the first value.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl<T: ?Sized + Eq + Hash> Default for Pool<T> {
    fn default() -> Self {
        Self::new()
    }
}

static STRINGS: Pool<str> = Pool::new();
static PAIRS: Pool<[(Arc<str>, Arc<str>)]> = Pool::new();
static LISTS: Pool<[Arc<str>]> = Pool::new();

/// A string that probably repeats. Empty ones cost nothing, long ones are just copied.
pub fn intern(s: &str) -> Arc<str> {
    match s.len() {
        0 => Arc::default(),
        1..=LONGEST => STRINGS.one(s, || Arc::from(s)),
        _ => Arc::from(s),
    }
}

/// A list of strings that probably repeats as a whole.
pub fn list<'a>(items: impl Iterator<Item = &'a str>) -> Arc<[Arc<str>]> {
    let items: Vec<Arc<str>> = items.map(intern).collect();
    if items.is_empty() { Arc::default() } else { LISTS.one(&items, || Arc::from(items.as_slice())) }
}

/// A list of pairs that probably repeats as a whole, in the order given.
pub fn pairs(items: impl Iterator<Item = (Arc<str>, Arc<str>)>) -> Arc<[(Arc<str>, Arc<str>)]> {
    let items: Vec<_> = items.collect();
    if items.is_empty() { Arc::default() } else { PAIRS.one(&items, || Arc::from(items.as_slice())) }
}

/// Labels or annotations: few, sorted by key, and one allocation for all objects that carry the same.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Pairs(Arc<[(Arc<str>, Arc<str>)]>);

impl Pairs {
    /// The value under `key`.
    pub fn get(&self, key: &str) -> Option<&Arc<str>> {
        let at = self.0.binary_search_by(|(k, _)| (**k).cmp(key)).ok()?;
        self.0.get(at).map(|(_, v)| v)
    }

    /// True when `key` is there, whatever its value.
    pub fn contains_key(&self, key: &str) -> bool {
        self.get(key).is_some()
    }

    /// All keys, in order.
    pub fn keys(&self) -> impl Iterator<Item = &Arc<str>> {
        self.0.iter().map(|(k, _)| k)
    }

    /// All pairs by key.
    pub fn iter(&self) -> impl Iterator<Item = (&Arc<str>, &Arc<str>)> {
        self.0.iter().map(|(k, v)| (k, v))
    }
}

impl<'a> FromIterator<(&'a str, &'a str)> for Pairs {
    /// Of equal keys the last counts.
    fn from_iter<I: IntoIterator<Item = (&'a str, &'a str)>>(pairs: I) -> Pairs {
        let sorted: BTreeMap<&str, &str> = pairs.into_iter().collect();
        Pairs(self::pairs(sorted.into_iter().map(|(k, v)| (intern(k), intern(v)))))
    }
}

impl Deref for Pairs {
    type Target = [(Arc<str>, Arc<str>)];

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_values_are_one_and_long_texts_are_left_alone() {
        assert!(Arc::ptr_eq(&intern("tenant-a"), &intern("tenant-a")));
        let text = "x".repeat(LONGEST + 1);
        assert!(!Arc::ptr_eq(&intern(&text), &intern(&text)));
        let pairs = || [("b", "2"), ("a", "1"), ("b", "3")].into_iter().collect::<Pairs>();
        assert!(Arc::ptr_eq(&pairs().0, &pairs().0));
        assert_eq!((pairs().get("b").map(|v| &**v), pairs().get("c"), pairs().len()), (Some("3"), None, 2));
        assert!(Arc::ptr_eq(&list(["f"].into_iter()), &list(["f"].into_iter())));
    }

    #[test]
    fn a_pool_forgets_what_nobody_holds() {
        let pool: Pool<str> = Pool::new();
        let of = |s: String| pool.one(&s, || Arc::from(s.as_str()));
        let held: Vec<Arc<str>> = (0..100).map(|i| of(format!("held-{i}"))).collect();
        (0..FIRST_SWEEP * 3).for_each(|i| drop(of(format!("gone-{i}"))));
        assert!(pool.len() <= FIRST_SWEEP + held.len(), "{}", pool.len());
        assert!(held.iter().enumerate().all(|(i, h)| Arc::ptr_eq(h, &of(format!("held-{i}")))));
    }
}
