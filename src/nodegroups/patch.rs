//! The JSON Patch of an edit. Owns which operations are sent, in which order, with which tests. Must not send them.
//!
//! The platform applies a PATCH to the *defaulted reading* of the object and stores all of it, knows no conflicts, and answers every failed
//! test alike (`platform.md` 4.1). So: the identity first, then each old value at its exact path, then the changes; never a resourceVersion.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    Groups,
    path::{self, Difference, FieldPath},
    template,
};

/// One operation, as sent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "op", rename_all = "lowercase")]
#[allow(missing_docs)] // RFC 6902
pub enum Op {
    Test { path: String, value: Value },
    Add { path: String, value: Value },
    Replace { path: String, value: Value },
    Remove { path: String },
}

impl Op {
    /// The pointer it works on.
    pub fn path(&self) -> &str {
        match self {
            Op::Test { path, .. } | Op::Add { path, .. } | Op::Replace { path, .. } | Op::Remove { path } => path,
        }
    }
}

/// Why no patch can be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PatchRefused {
    /// The plane is being deleted: an edit now would drop its finalizer and orphan its chart.
    Deleting,
    /// The object has no UID, so there is nothing to hold the patch to.
    NoUid,
    /// `spec` or `spec.nodeGroups` is no object; the text says what it is.
    Shape(String),
}

impl std::fmt::Display for PatchRefused {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            PatchRefused::Deleting => f.write_str("the plane is being deleted; an edit now would orphan its chart"),
            PatchRefused::NoUid => f.write_str("the object read has no metadata.uid, so a write could hit another object"),
            PatchRefused::Shape(what) => write!(f, "{what}, expected an object"),
        }
    }
}

impl std::error::Error for PatchRefused {}

/// The patch that turns the object, as just read, into one with these node groups. Empty when nothing differs: then nothing is sent.
///
/// # Errors
/// When the object is being deleted, has no UID, or has no place for node groups.
pub fn for_object(object: &Value, desired: &Groups) -> Result<Vec<Op>, PatchRefused> {
    let metadata = object.get("metadata");
    if metadata.and_then(|m| m.get("deletionTimestamp")).is_some_and(|t| !t.is_null()) {
        return Err(PatchRefused::Deleting);
    }
    let uid = metadata.and_then(|m| m.get("uid")).and_then(Value::as_str).filter(|u| !u.is_empty()).ok_or(PatchRefused::NoUid)?;
    let spec = object.get("spec").filter(|s| !s.is_null());
    let spec = match spec {
        // Reading always shows `spec.nodeGroups`; a server that doesn't is met where it stands.
        None => return Ok(whole(uid, "/spec", serde_json::json!({ "nodeGroups": desired }), desired)),
        Some(spec) => spec.as_object().ok_or_else(|| PatchRefused::Shape(format!("spec is {spec}")))?,
    };
    match spec.get("nodeGroups").filter(|g| !g.is_null()) {
        None => Ok(whole(uid, "/spec/nodeGroups", Value::Object(desired.clone()), desired)),
        Some(Value::Object(live)) => Ok(between(Some(uid), live, desired)),
        Some(other) => Err(PatchRefused::Shape(format!("spec.nodeGroups is {other}"))),
    }
}

fn whole(uid: &str, path: &str, value: Value, desired: &Groups) -> Vec<Op> {
    if desired.is_empty() {
        return Vec::new();
    }
    vec![identity(uid), Op::Test { path: path.to_string(), value: Value::Null }, Op::Add { path: path.to_string(), value }]
}

fn identity(uid: &str) -> Op {
    Op::Test { path: "/metadata/uid".to_string(), value: Value::from(uid) }
}

/// The patch between two maps; without a UID (comparing files) the identity test is left out.
///
/// Every touched value is tested as it was read. An absent one is tested as `null`: the platform takes that for "not there", so two people
/// who add a pool of one name can't overwrite each other.
pub fn between(uid: Option<&str>, live: &Groups, desired: &Groups) -> Vec<Op> {
    let differences = path::differences(live, desired);
    if differences.is_empty() {
        return Vec::new();
    }
    let tests = differences.iter().map(|d| Op::Test { path: d.path.pointer(), value: d.old.clone().unwrap_or(Value::Null) });
    uid.map(identity).into_iter().chain(tests).chain(differences.iter().filter_map(change)).collect()
}

fn change(d: &Difference) -> Option<Op> {
    let path = d.path.pointer();
    match (&d.old, &d.new) {
        (Some(_), Some(new)) => Some(Op::Replace { path, value: new.clone() }),
        (None, Some(new)) => Some(Op::Add { path, value: new.clone() }),
        (Some(_), None) => Some(Op::Remove { path }),
        (None, None) => None,
    }
}

/// Fields every group must hold, with the values that reading shows where they aren't stored (G-REQ).
fn required() -> [(&'static str, Value); 4] {
    [
        ("minReplicas", Value::from(template::DEFAULT_MIN)),
        ("maxReplicas", Value::from(template::DEFAULT_MAX)),
        ("instanceType", Value::from(template::DEFAULT_INSTANCE_TYPE)),
        ("diskSize", Value::from(template::DEFAULT_DISK)),
    ]
}

/// The map as it must be written: required fields spelled out (a PATCH stores defaults only for groups that were there before it; and a field
/// that `live` shows must not be removed only because a file left it to the default), and null groups left out (Helm drops them, but the next
/// PATCH would make them real pools).
pub fn writable(live: &Groups, desired: &Groups) -> Groups {
    let fill = |name: &String, group: &Groups| {
        let shown = live.get(name).and_then(Value::as_object);
        let mut group = group.clone();
        for (field, value) in required() {
            if shown.is_none_or(|s| s.contains_key(field)) {
                group.entry(field).or_insert(value);
            }
        }
        Value::Object(group)
    };
    let pools = desired.iter().filter(|(_, group)| !group.is_null());
    pools.map(|(name, group)| (name.clone(), group.as_object().map_or_else(|| group.clone(), |g| fill(name, g)))).collect()
}

/// Something that reading shows and that is not what is stored: any PATCH makes the shown form real.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MadeReal {
    /// Pool, or field of one.
    pub path: FieldPath,
    /// Rule: `G-NULL` (a null pool becomes a real default pool), `G-HIDDEN` (a wrong type becomes what is shown), `G-REQ` (a missing field
    /// becomes its default; harmless, and what Helm wanted).
    pub id: &'static str,
    /// What is stored; `None` where it is absent, or not readable.
    pub stored: Option<Value>,
    /// What will be stored.
    pub shown: Value,
    /// False when the stored form couldn't be read and this is only what such a pool would look like.
    pub certain: bool,
}

/// What a PATCH would make real. With the stored map (values of the HelmRelease, where readable) this is certain; without it, every pool that
/// looks exactly like an invented one is named as possible.
pub fn hidden_made_real(stored: Option<&Groups>, read: &Groups) -> Vec<MadeReal> {
    match stored {
        Some(stored) => read.iter().flat_map(|(name, shown)| of_group(name, stored.get(name), shown)).collect(),
        None => read.iter().filter(|(_, shown)| looks_invented(shown)).map(|(name, shown)| possible(name, shown)).collect(),
    }
}

fn of_group(name: &str, stored: Option<&Value>, shown: &Value) -> Vec<MadeReal> {
    let path = FieldPath::new([name]);
    let one = |path, id, stored: Option<&Value>, shown: &Value| MadeReal {
        path,
        id,
        stored: stored.cloned(),
        shown: shown.clone(),
        certain: true,
    };
    match (stored, shown) {
        (Some(Value::Object(held)), Value::Object(fields)) => {
            let differs = |(field, shown): (&String, &Value)| match held.get(field) {
                None => Some(one(path.child(field), "G-REQ", None, shown)),
                Some(value) if !path::same(value, shown) => Some(one(path.child(field), "G-HIDDEN", Some(value), shown)),
                Some(_) => None,
            };
            fields.iter().filter_map(differs).collect()
        }
        (Some(Value::Null), _) => vec![one(path, "G-NULL", stored, shown)],
        // Absent from what is stored: another version was read, not a hidden form.
        (None, _) => Vec::new(),
        (Some(_), _) => vec![one(path, "G-HIDDEN", stored, shown)],
    }
}

fn looks_invented(shown: &Value) -> bool {
    let defaults = Groups::from_iter(required().map(|(field, value)| (field.to_string(), value)));
    path::same(shown, &Value::Object(defaults))
}

fn possible(name: &str, shown: &Value) -> MadeReal {
    MadeReal { path: FieldPath::new([name]), id: "G-NULL", stored: None, shown: shown.clone(), certain: false }
}

#[cfg(test)]
#[path = "patch_tests.rs"]
mod tests;
