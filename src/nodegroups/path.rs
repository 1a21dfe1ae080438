//! Where a value stands below `nodeGroups`, and which values are one field. Owns the three spellings of a path; must not judge values.

use serde::Serialize;
use serde_json::Value;

use super::Groups;

/// A place below `nodeGroups`: pool, field and, in `resources` and `kubelet`, leaf. Keys are raw: dots and slashes in them are no separators.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct FieldPath(Vec<String>);

impl FieldPath {
    /// The path of these keys.
    pub fn new<S: Into<String>>(keys: impl IntoIterator<Item = S>) -> Self {
        FieldPath(keys.into_iter().map(Into::into).collect())
    }

    /// The keys, pool first.
    pub fn keys(&self) -> &[String] {
        &self.0
    }

    /// The pool it belongs to; empty for the map itself.
    pub fn pool(&self) -> &str {
        self.0.first().map_or("", String::as_str)
    }

    /// One level deeper.
    pub fn child(&self, key: &str) -> Self {
        let mut keys = self.0.clone();
        keys.push(key.to_string());
        FieldPath(keys)
    }

    /// The field without its pool, for people: `resources.cpu`.
    pub fn field(&self) -> String {
        self.0.get(1..).unwrap_or_default().join(".")
    }

    /// The path for people and findings: `nodeGroups.web.resources.cpu`.
    pub fn dotted(&self) -> String {
        self.0.iter().fold("nodeGroups".to_string(), |path, key| path + "." + key)
    }

    /// The RFC 6901 pointer from the object's root: `/spec/nodeGroups/web/resources/cpu`.
    pub fn pointer(&self) -> String {
        // `~` first: the other way round, the `~` of a fresh `~1` would be escaped again.
        self.0.iter().fold("/spec/nodeGroups".to_string(), |path, key| path + "/" + &key.replace('~', "~0").replace('/', "~1"))
    }

    /// True for the levels whose members are edited one by one: the map, a pool, and the two structs in it. All else is one value.
    pub fn splits(&self) -> bool {
        match self.0.as_slice() {
            [] | [_] => true,
            [_, field] => field == "resources" || field == "kubelet",
            _ => false,
        }
    }

    /// The value at this path.
    pub fn get<'a>(&self, groups: &'a Groups) -> Option<&'a Value> {
        let (first, rest) = self.0.split_first()?;
        rest.iter().try_fold(groups.get(first)?, |value, key| value.as_object()?.get(key))
    }

    /// Puts a value there (`None` removes it). Missing parents are made; a parent that is no object is replaced, as there is no other way
    /// for the value to stand there. Does nothing for the empty path.
    pub fn set(&self, groups: &mut Groups, value: Option<Value>) {
        let Some((last, parents)) = self.0.split_last() else { return };
        let mut at = groups;
        for key in parents {
            if value.is_none() && !at.get(key).is_some_and(Value::is_object) {
                return;
            }
            let slot = at.entry(key.clone()).or_insert_with(|| Value::Object(Groups::new()));
            if !slot.is_object() {
                *slot = Value::Object(Groups::new());
            }
            let Some(next) = slot.as_object_mut() else { return };
            at = next;
        }
        match value {
            Some(value) => {
                at.insert(last.clone(), value);
            }
            // `shift_remove` keeps the order of the rest, so that an edit taken back reads as it did.
            None => {
                at.shift_remove(last);
            }
        }
    }
}

impl Serialize for FieldPath {
    fn serialize<S: serde::Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.serialize_str(&self.dotted())
    }
}

/// One difference between two maps: a field, or a whole pool that only one side has.
#[derive(Debug, Clone, PartialEq)]
pub struct Difference {
    /// Where.
    pub path: FieldPath,
    /// Value on the left; `None` where it is absent.
    pub old: Option<Value>,
    /// Value on the right; `None` where it is absent.
    pub new: Option<Value>,
}

/// Every field in which `new` differs from `old`, in the order of `old` and then of `new`. `1` and `1.0` are the same number.
pub fn differences(old: &Groups, new: &Groups) -> Vec<Difference> {
    let mut out = Vec::new();
    walk(&FieldPath::default(), old, new, &mut out);
    out
}

fn walk(at: &FieldPath, old: &Groups, new: &Groups, out: &mut Vec<Difference>) {
    for key in old.keys().chain(new.keys().filter(|k| !old.contains_key(*k))) {
        let path = at.child(key);
        match (old.get(key), new.get(key)) {
            (Some(Value::Object(a)), Some(Value::Object(b))) if path.splits() => walk(&path, a, b, out),
            (Some(a), Some(b)) if same(a, b) => {}
            (a, b) => out.push(Difference { path, old: a.cloned(), new: b.cloned() }),
        }
    }
}

/// Equal as JSON, with `1` and `1.0` taken for one number (JSON itself knows no difference; the platform renders both alike).
pub fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(x), Value::Number(y)) => x == y || (x.is_f64() != y.is_f64() && x.as_f64() == y.as_f64()),
        (Value::Array(x), Value::Array(y)) => x.len() == y.len() && x.iter().zip(y).all(|(x, y)| same(x, y)),
        (Value::Object(x), Value::Object(y)) => x.len() == y.len() && x.iter().all(|(k, v)| y.get(k).is_some_and(|w| same(v, w))),
        _ => a == b,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn map(v: Value) -> Groups {
        v.as_object().cloned().unwrap()
    }

    #[test]
    fn hostile_keys_are_escaped_and_found_again() {
        let path = FieldPath::new(["a/b~1.c", "resources", "cpu"]);
        assert_eq!(path.pointer(), "/spec/nodeGroups/a~1b~01.c/resources/cpu");
        let mut groups = Groups::new();
        path.set(&mut groups, Some(json!(4)));
        assert_eq!(path.get(&groups), Some(&json!(4)));
        let object = json!({"spec": {"nodeGroups": groups}});
        assert_eq!(object.pointer(&path.pointer()), Some(&json!(4)));
    }

    #[test]
    fn removing_what_is_not_there_builds_nothing() {
        let mut groups = map(json!({"web": {"a": 1}}));
        FieldPath::new(["db", "resources", "cpu"]).set(&mut groups, None);
        FieldPath::new(["web", "a", "b"]).set(&mut groups, None);
        assert_eq!(groups, map(json!({"web": {"a": 1}})));
    }

    #[test]
    fn differences_are_leaves_below_structs_and_whole_lists() {
        let old = map(json!({"web": {"min": 1, "roles": ["a", "b"], "resources": {"cpu": 4, "memory": "8Gi"}}, "gone": {"x": 1}}));
        let new = map(json!({"web": {"min": 1.0, "roles": ["b", "a"], "resources": {"cpu": "4", "memory": "8Gi"}}, "db": {}}));
        let found: Vec<String> = differences(&old, &new).iter().map(|d| d.path.dotted()).collect();
        assert_eq!(found, ["nodeGroups.web.roles", "nodeGroups.web.resources.cpu", "nodeGroups.gone", "nodeGroups.db"]);
    }
}
