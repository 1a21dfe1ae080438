//! The objects of the embedded platform, their versions and the log watches read. Owns what etcd and the generic registry
//! own in a real cluster; knows nothing of HTTP, roles or faults.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::Arc,
};

use bytes::Bytes;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use super::{
    answer::{Refusal, about},
    catalog::Resource,
};
use crate::model::Time;

/// Changes kept for watches that lag or resume. An older version is answered with 410.
const LOG: usize = 20_000;

/// The version of prepared objects; no real version is as high.
const COPY_VERSION: u64 = 9_999_999_999;

/// One object at one version, as JSON text: a fleet of thousands stays affordable.
#[derive(Debug)]
pub(crate) struct Stored {
    pub namespace: String,
    pub name: String,
    pub version: u64,
    labels: Vec<(String, String)>,
    pub json: Bytes,
}

impl Stored {
    fn of(value: &Value, version: u64) -> Stored {
        let meta = |k: &str| value.pointer(&format!("/metadata/{k}")).and_then(Value::as_str).unwrap_or("").to_string();
        let labels = value.pointer("/metadata/labels").and_then(Value::as_object);
        let labels = labels.into_iter().flatten().filter_map(|(k, v)| Some((k.clone(), v.as_str()?.to_string())));
        Stored { namespace: meta("namespace"), name: meta("name"), version, labels: labels.collect(), json: Bytes::from(value.to_string()) }
    }

    /// A view of an object that isn't stored, for selectors.
    pub fn shadow(value: &Value) -> Stored {
        Stored::of(value, 0)
    }

    /// The value of one label.
    pub fn label(&self, key: &str) -> Option<String> {
        self.labels.iter().find(|(k, _)| k == key).map(|(_, v)| v.clone())
    }

    /// The object.
    pub fn value(&self) -> Value {
        serde_json::from_slice(&self.json).unwrap_or_default()
    }
}

/// One entry of the log.
#[derive(Debug, Clone)]
pub(crate) struct Change {
    /// Counts every change; never goes backwards, unlike versions.
    pub seq: u64,
    pub version: u64,
    pub at: Time,
    pub resource: &'static Resource,
    pub old: Option<Arc<Stored>>,
    pub new: Option<Arc<Stored>>,
}

type Key = (String, String);

/// All objects.
pub(crate) struct Store {
    kinds: BTreeMap<(&'static str, &'static str), BTreeMap<Key, Arc<Stored>>>,
    log: VecDeque<Change>,
    seq: u64,
    version: u64,
    /// Versions below are forgotten.
    compacted: u64,
    /// How often an object of this kind and name went: its successor gets another uid.
    gone: BTreeMap<(&'static str, Key), u32>,
}

impl Store {
    /// An empty store.
    pub fn new() -> Store {
        Store { kinds: BTreeMap::new(), log: VecDeque::new(), seq: 0, version: 1000, compacted: 0, gone: BTreeMap::new() }
    }

    /// The current version.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// The position of the newest change.
    pub fn head(&self) -> u64 {
        self.seq
    }

    /// One object.
    pub fn get(&self, resource: &Resource, namespace: &str, name: &str) -> Option<Arc<Stored>> {
        self.kinds.get(&(resource.group, resource.plural))?.get(&(namespace.into(), name.into())).cloned()
    }

    /// All objects of a kind, or those of one namespace, by namespace and name.
    pub fn list(&self, resource: &Resource, namespace: Option<&str>) -> Vec<Arc<Stored>> {
        let Some(all) = self.kinds.get(&(resource.group, resource.plural)) else { return Vec::new() };
        match namespace {
            None => all.values().cloned().collect(),
            Some(ns) => {
                let from = (ns.to_string(), String::new());
                all.range(from..).take_while(|((n, _), _)| n == ns).map(|(_, o)| o.clone()).collect()
            }
        }
    }

    /// The objects of a kind as they were at the log position `seq`: what an informer that lags still shows.
    pub fn list_at(&self, resource: &Resource, namespace: Option<&str>, seq: u64) -> Vec<Arc<Stored>> {
        let mut view: BTreeMap<Key, Arc<Stored>> =
            self.list(resource, namespace).into_iter().map(|o| ((o.namespace.clone(), o.name.clone()), o)).collect();
        for change in self.log.iter().rev().take_while(|c| c.seq > seq) {
            let Some(now) = change.new.as_ref().or(change.old.as_ref()) else { continue };
            if change.resource != resource || namespace.is_some_and(|n| n != now.namespace) {
                continue;
            }
            let key = (now.namespace.clone(), now.name.clone());
            match &change.old {
                Some(old) => view.insert(key, old.clone()),
                None => view.remove(&key),
            };
        }
        view.into_values().collect()
    }

    /// The newest log position not younger than `at`.
    pub fn position_at(&self, at: Time) -> u64 {
        let younger = self.log.iter().rev().take_while(|c| c.at > at).count() as u64;
        self.seq.saturating_sub(younger)
    }

    /// The log position behind a version, or 410 if it is forgotten.
    pub fn position_of(&self, version: u64) -> Result<u64, Refusal> {
        if version < self.compacted {
            let text = format!("too old resource version: {version} ({})", self.compacted);
            return Err(Refusal::new(410, "Expired", text));
        }
        let newer = self.log.iter().rev().take_while(|c| c.version > version).count() as u64;
        Ok(self.seq.saturating_sub(newer))
    }

    /// The changes after a log position, or 410 if the log no longer holds them.
    pub fn since(&self, seq: u64) -> Result<Vec<Change>, Refusal> {
        let missed = self.seq.saturating_sub(seq) as usize;
        if missed > self.log.len() {
            return Err(Refusal::new(410, "Expired", "The resourceVersion for the provided watch is too old."));
        }
        Ok(self.log.iter().skip(self.log.len() - missed).cloned().collect())
    }

    /// Puts an object there as it is, without an entry in the log: the state of a world before anyone looks.
    pub fn seed(&mut self, resource: &'static Resource, mut value: Value, now: Time) {
        self.version += 1;
        stamp(resource, &mut value, self.version);
        fill(&mut value, now);
        let stored = Arc::new(Stored::of(&value, self.version));
        let key = (stored.namespace.clone(), stored.name.clone());
        self.kinds.entry((resource.group, resource.plural)).or_default().insert(key, stored);
        self.compacted = self.version;
    }

    /// Makes an object ready to be copied many times: as [`Store::seed`] would store it, with version [`COPY_VERSION`].
    pub fn prepared(resource: &'static Resource, mut value: Value, now: Time) -> Stored {
        stamp(resource, &mut value, COPY_VERSION);
        fill(&mut value, now);
        Stored::of(&value, COPY_VERSION)
    }

    /// Seeds a copy of a prepared object, its texts changed by `rename`.
    pub fn seed_copy(&mut self, resource: &'static Resource, of: &Stored, rename: &dyn Fn(&str) -> String) {
        self.version += 1;
        let text = rename(std::str::from_utf8(&of.json).unwrap_or(""));
        let text = text.replace(&format!("\"resourceVersion\":\"{COPY_VERSION}\""), &format!("\"resourceVersion\":\"{}\"", self.version));
        let stored = Arc::new(Stored {
            namespace: rename(&of.namespace),
            name: rename(&of.name),
            version: self.version,
            labels: of.labels.iter().map(|(k, v)| (rename(k), rename(v))).collect(),
            json: Bytes::from(text),
        });
        let key = (stored.namespace.clone(), stored.name.clone());
        self.kinds.entry((resource.group, resource.plural)).or_default().insert(key, stored);
        self.compacted = self.version;
    }

    /// Creates an object with a new uid. 409 if it exists.
    pub fn create(&mut self, resource: &'static Resource, mut value: Value, now: Time) -> Result<Arc<Stored>, Refusal> {
        let probe = Stored::of(&value, 0);
        if self.get(resource, &probe.namespace, &probe.name).is_some() {
            let text = format!("{} \"{}\" already exists", resource.qualified(), probe.name);
            return Err(Refusal::new(409, "AlreadyExists", text).with(about(resource, Some(&probe.name))));
        }
        let key = (resource.kind, (probe.namespace.clone(), probe.name.clone()));
        let name = match self.gone.get(&key) {
            Some(times) => format!("{}#{times}", probe.name),
            None => probe.name.clone(),
        };
        if let Some(meta) = meta_mut(&mut value) {
            meta.insert("uid".into(), json!(uid(resource.kind, &probe.namespace, &name)));
            meta.insert("creationTimestamp".into(), json!(short(now)));
            meta.insert("generation".into(), json!(1));
            meta.shift_remove("deletionTimestamp");
        }
        Ok(self.write(resource, None, value, now))
    }

    /// Replaces an object. The generation grows with the spec; a version in the object must be current (409); what is being
    /// deleted goes when its last finalizer goes. `None` when it went, with the last state in the log.
    pub fn update(&mut self, resource: &'static Resource, value: Value, now: Time) -> Result<Arc<Stored>, Refusal> {
        self.replace(resource, value, now, false)
    }

    /// Replaces only the status.
    pub fn update_status(&mut self, resource: &'static Resource, value: Value, now: Time) -> Result<Arc<Stored>, Refusal> {
        self.replace(resource, value, now, true)
    }

    fn replace(&mut self, resource: &'static Resource, mut value: Value, now: Time, only_status: bool) -> Result<Arc<Stored>, Refusal> {
        let probe = Stored::of(&value, 0);
        let Some(old) = self.get(resource, &probe.namespace, &probe.name) else {
            return Err(Refusal::not_found(resource, &probe.name));
        };
        let was = old.value();
        check_preconditions(resource, &value, &was, &old)?;
        if only_status {
            let status = value.get("status").cloned().unwrap_or(json!({}));
            value = was.clone();
            if let Some(o) = value.as_object_mut() {
                o.insert("status".into(), status);
            }
        } else {
            carry(&was, &mut value);
        }
        let finalizers = value.pointer("/metadata/finalizers").and_then(Value::as_array).is_some_and(|f| !f.is_empty());
        let deleting = value.pointer("/metadata/deletionTimestamp").is_some();
        if same(&was, &value) && (finalizers || !deleting) {
            return Ok(old);
        }
        if deleting && !finalizers {
            // The last finalizer goes together with the object: one step, one DELETED.
            stamp(resource, &mut value, self.version + 1);
            let last = Arc::new(Stored::of(&value, self.version + 1));
            self.erase(resource, last.clone(), now);
            return Ok(last);
        }
        let stored = self.write(resource, Some(old), value, now);
        Ok(stored)
    }

    /// Deletes: at once, or by a deletion time when finalizers hold the object.
    pub fn delete(&mut self, resource: &'static Resource, ns: &str, name: &str, now: Time) -> Result<Arc<Stored>, Refusal> {
        let Some(old) = self.get(resource, ns, name) else { return Err(Refusal::not_found(resource, name)) };
        let mut value = old.value();
        let held = value.pointer("/metadata/finalizers").and_then(Value::as_array).is_some_and(|f| !f.is_empty());
        if !held {
            self.erase(resource, old.clone(), now);
            return Ok(old);
        }
        if value.pointer("/metadata/deletionTimestamp").is_some() {
            return Ok(old);
        }
        bump_generation(&mut value);
        if let Some(meta) = meta_mut(&mut value) {
            meta.insert("deletionTimestamp".into(), json!(short(now)));
            meta.insert("deletionGracePeriodSeconds".into(), json!(0));
        }
        Ok(self.write(resource, Some(old), value, now))
    }

    /// Makes every version so far unknown to watches, as compaction does.
    pub fn compact(&mut self) {
        self.compacted = self.version;
    }

    /// Sets the version counter back, as a restore of etcd from a backup does. The log starts anew.
    pub fn rewind(&mut self, by: u64) {
        self.version = self.version.saturating_sub(by).max(1);
        self.compacted = self.version;
        self.log.clear();
    }

    fn write(&mut self, resource: &'static Resource, old: Option<Arc<Stored>>, mut value: Value, now: Time) -> Arc<Stored> {
        self.version += 1;
        stamp(resource, &mut value, self.version);
        let stored = Arc::new(Stored::of(&value, self.version));
        let key = (stored.namespace.clone(), stored.name.clone());
        self.kinds.entry((resource.group, resource.plural)).or_default().insert(key, stored.clone());
        self.note(resource, old, Some(stored.clone()), now);
        stored
    }

    fn erase(&mut self, resource: &'static Resource, old: Arc<Stored>, now: Time) {
        self.version += 1;
        *self.gone.entry((resource.kind, (old.namespace.clone(), old.name.clone()))).or_default() += 1;
        if let Some(all) = self.kinds.get_mut(&(resource.group, resource.plural)) {
            all.remove(&(old.namespace.clone(), old.name.clone()));
        }
        self.note(resource, Some(old), None, now);
    }

    fn note(&mut self, resource: &'static Resource, old: Option<Arc<Stored>>, new: Option<Arc<Stored>>, at: Time) {
        self.seq += 1;
        self.log.push_back(Change { seq: self.seq, version: self.version, at, resource, old, new });
        while self.log.len() > LOG {
            if let Some(gone) = self.log.pop_front() {
                self.compacted = self.compacted.max(gone.version);
            }
        }
    }
}

fn check_preconditions(resource: &Resource, value: &Value, was: &Value, old: &Stored) -> Result<(), Refusal> {
    let named =
        |v: &Value, k: &str| v.pointer(&format!("/metadata/{k}")).and_then(Value::as_str).filter(|s| !s.is_empty()).map(str::to_string);
    let conflict = |text: String| {
        let text = format!("Operation cannot be fulfilled on {} \"{}\": {text}", resource.qualified(), old.name);
        Err(Refusal::new(409, "Conflict", text).with(about(resource, Some(&old.name))))
    };
    if let (Some(asked), Some(real)) = (named(value, "uid"), named(was, "uid"))
        && asked != real
    {
        let key = format!("/registry/{}/{}/{}/{}", resource.group, resource.plural, old.namespace, old.name);
        return conflict(format!(
            "StorageError: invalid object, Code: 4, Key: {key}, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: \
             UID in precondition: {asked}, UID in object meta: {real}"
        ));
    }
    if named(value, "resourceVersion").is_some_and(|v| v != old.version.to_string()) {
        return conflict("the object has been modified; please apply your changes to the latest version and try again".to_string());
    }
    Ok(())
}

/// Keeps what a writer can't set, and grows the generation with the spec.
fn carry(was: &Value, value: &mut Value) {
    for key in ["uid", "creationTimestamp", "generation", "deletionTimestamp", "deletionGracePeriodSeconds"] {
        let kept = was.pointer(&format!("/metadata/{key}")).cloned();
        if let Some(meta) = meta_mut(value) {
            match kept {
                Some(v) => meta.insert(key.into(), v),
                None => meta.shift_remove(key),
            };
        }
    }
    if let Some(o) = value.as_object_mut()
        && !o.contains_key("status")
        && let Some(status) = was.get("status")
    {
        o.insert("status".into(), status.clone());
    }
    if was.get("spec") != value.get("spec") {
        bump_generation(value);
    }
}

/// Equal apart from the version.
fn same(a: &Value, b: &Value) -> bool {
    let strip = |v: &Value| {
        let mut v = v.clone();
        if let Some(meta) = meta_mut(&mut v) {
            meta.shift_remove("resourceVersion");
        }
        v
    };
    strip(a) == strip(b)
}

fn bump_generation(value: &mut Value) {
    if let Some(meta) = meta_mut(value) {
        let g = meta.get("generation").and_then(Value::as_i64).unwrap_or(0);
        meta.insert("generation".into(), json!(g + 1));
    }
}

fn meta_mut(value: &mut Value) -> Option<&mut Map<String, Value>> {
    let o = value.as_object_mut()?;
    o.entry("metadata").or_insert_with(|| json!({})).as_object_mut()
}

/// Sets apiVersion, kind and version.
fn stamp(resource: &Resource, value: &mut Value, version: u64) {
    if let Some(o) = value.as_object_mut() {
        o.insert("apiVersion".into(), json!(resource.api_version()));
        o.insert("kind".into(), json!(resource.kind));
    }
    if let Some(meta) = meta_mut(value) {
        meta.insert("resourceVersion".into(), json!(version.to_string()));
    }
}

/// Gives a seeded object what every object has.
fn fill(value: &mut Value, now: Time) {
    let kind = value.get("kind").and_then(Value::as_str).unwrap_or("").to_string();
    let generation = value.get("spec").is_some();
    if let Some(meta) = meta_mut(value) {
        let ns = meta.get("namespace").and_then(Value::as_str).unwrap_or("").to_string();
        let name = meta.get("name").and_then(Value::as_str).unwrap_or("").to_string();
        meta.entry("uid").or_insert_with(|| json!(uid(&kind, &ns, &name)));
        meta.entry("creationTimestamp").or_insert_with(|| json!(short(now)));
        if generation {
            meta.entry("generation").or_insert(json!(1));
        }
    }
}

/// A time as objects carry it: whole seconds.
pub(crate) fn short(t: Time) -> String {
    t.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// A uid that is the same in every run.
pub(crate) fn uid(kind: &str, namespace: &str, name: &str) -> String {
    let sum = Sha256::digest(format!("{kind}/{namespace}/{name}").as_bytes());
    let hex: String = sum.iter().take(16).map(|b| format!("{b:02x}")).collect();
    let part = |a: usize, b: usize| hex.get(a..b).unwrap_or("").to_string();
    format!("{}-{}-4{}-8{}-{}", part(0, 8), part(8, 12), part(13, 16), part(17, 20), part(20, 32))
}
