//! Reads an object's JSON without what no projection uses: field managers, applied configurations, pod templates. Owns the table of what is
//! left out and the reading; must not decide what a field means. A value that isn't left out is read exactly as it stands.
//! Danger: a projection that begins to read a field must find it here; the tests compare with reading everything.

use std::fmt;

use serde::{
    Deserializer as _,
    de::{DeserializeSeed, IgnoredAny, MapAccess, SeqAccess, Visitor},
};
use serde_json::{Map, Value};

use super::{Kind, Object, redact};

/// What stays of a value. Lists are transparent: a rule speaks for each of their items.
#[derive(Clone, Copy)]
enum Keep {
    /// Everything.
    All,
    /// Nothing: the key is absent.
    Nothing,
    /// Everything, but what is named follows its own rule.
    But(Rules),
    /// Nothing but what is named.
    Only(Rules),
    /// The keys of labels and annotations that anything reads.
    Words,
}
use Keep::{All, But, Nothing, Only, Words};

type Rules = &'static [(&'static str, Keep)];

/// Of the field managers only who wrote `spec.suspend`, which a suspended release tells.
const MANAGERS: Keep = Only(&[("manager", All), ("time", All), ("fieldsV1", Only(&[("f:spec", Only(&[("f:suspend", All)]))]))]);
const META: Keep = But(&[("managedFields", Nothing), ("annotations", Words), ("selfLink", Nothing)]);
const META_OF_RELEASE: Keep = But(&[("managedFields", MANAGERS), ("annotations", Words), ("selfLink", Nothing)]);
const WITHOUT_TEMPLATE: Keep = But(&[("template", Nothing)]);

/// Any object; unknown subtrees stay.
const PLAIN: Keep = But(&[("metadata", META)]);
const RELEASE: Keep = But(&[
    ("metadata", META_OF_RELEASE),
    ("spec", But(&[("values", Only(&[("nodeGroups", All), ("computeplane", All), ("etcd", All)])), ("postRenderers", Nothing)])),
    (
        "status",
        But(&[
            ("history", But(&[("digest", Nothing), ("configDigest", Nothing), ("ociDigest", Nothing)])),
            ("observedPostRenderersDigest", Nothing),
        ]),
    ),
]);
const POD: Keep = But(&[("metadata", META), ("spec", Only(&[("nodeName", All)]))]);
const TEMPLATED: Keep = But(&[("metadata", META), ("spec", WITHOUT_TEMPLATE)]);
const VM: Keep = But(&[
    ("metadata", META),
    ("spec", But(&[("template", Nothing), ("dataVolumeTemplates", Nothing), ("domain", Nothing), ("volumes", Nothing)])),
]);
/// `status.talosConfig` is a credential: it isn't even read into memory.
const TALOS: Keep = But(&[("metadata", META), ("spec", Nothing), ("status", But(&[("talosConfig", Nothing)]))]);
const CONFIG_MAP: Keep =
    But(&[("metadata", META), ("binaryData", Nothing), ("data", Only(&[("status", All), ("message", All), ("unadopted", All)]))]);
const ONLY_META: Keep = Only(&[("apiVersion", All), ("kind", All), ("metadata", META)]);

fn rule(kind: Kind) -> Keep {
    match kind {
        Kind::HelmRelease => RELEASE,
        Kind::Pod => POD,
        Kind::Deployment | Kind::Job => TEMPLATED,
        Kind::VirtualMachine | Kind::VirtualMachineInstance => VM,
        Kind::TalosConfig => TALOS,
        Kind::ConfigMap => CONFIG_MAP,
        Kind::PersistentVolumeClaim | Kind::StorageClass | Kind::ApplicationDefinition | Kind::Role => ONLY_META,
        _ => PLAIN,
    }
}

impl Keep {
    fn of(self, key: &str) -> Keep {
        let named = |rules: Rules| rules.iter().find(|(k, _)| *k == key).map(|(_, keep)| *keep);
        match self {
            All => All,
            Nothing => Nothing,
            But(rules) => named(rules).unwrap_or(All),
            Only(rules) => named(rules).unwrap_or(Nothing),
            Words if redact::key_stays(key) => All,
            Words => Nothing,
        }
    }
}

impl Object {
    /// Projects the JSON text of a list's item or of a single object.
    ///
    /// # Errors
    /// When the bytes are no JSON, or no object of that kind with a name; the text says which.
    pub fn from_slice(kind: Kind, api_version: &str, bytes: &[u8]) -> Result<Object, String> {
        let value = object(kind, bytes)?;
        Object::of_kind(kind, api_version, &value).ok_or_else(|| format!("{kind:?} without metadata.name"))
    }
}

/// An object's JSON without what is never used.
///
/// # Errors
/// When the bytes are no JSON.
pub fn object(kind: Kind, bytes: &[u8]) -> Result<Value, String> {
    read(rule(kind), bytes)
}

/// A watch event: `type` whole, `object` as [`object`] would read it.
///
/// # Errors
/// When the bytes are no JSON.
pub fn event(kind: Kind, bytes: &[u8]) -> Result<Value, String> {
    let mut reader = serde_json::Deserializer::from_slice(bytes);
    let value = reader.deserialize_any(Event(kind)).map_err(|e| e.to_string())?;
    reader.end().map_err(|e| e.to_string())?;
    Ok(value)
}

fn read(keep: Keep, bytes: &[u8]) -> Result<Value, String> {
    let mut reader = serde_json::Deserializer::from_slice(bytes);
    let value = keep.deserialize(&mut reader).map_err(|e| e.to_string())?;
    reader.end().map_err(|e| e.to_string())?;
    Ok(value)
}

impl<'de> DeserializeSeed<'de> for Keep {
    type Value = Value;

    fn deserialize<D: serde::Deserializer<'de>>(self, d: D) -> Result<Value, D::Error> {
        match self {
            All => serde::Deserialize::deserialize(d),
            Nothing => d.deserialize_ignored_any(IgnoredAny).map(|_| Value::Null),
            _ => d.deserialize_any(self),
        }
    }
}

macro_rules! scalars {
    ($($name:ident: $type:ty),+) => {
        $(fn $name<E>(self, v: $type) -> Result<Value, E> {
            Ok(Value::from(v))
        })+
    };
}

impl<'de> Visitor<'de> for Keep {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON value")
    }

    scalars!(visit_bool: bool, visit_i64: i64, visit_u64: u64, visit_f64: f64, visit_str: &str, visit_string: String);

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut out = Vec::new();
        while let Some(item) = items.next_element_seed(self)? {
            out.push(item);
        }
        Ok(Value::Array(out))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut out = Map::new();
        while let Some(key) = entries.next_key_seed(Key(self))? {
            match key {
                Some((key, keep)) => {
                    let value = entries.next_value_seed(keep)?;
                    out.insert(key, value);
                }
                None => drop(entries.next_value::<IgnoredAny>()?),
            }
        }
        Ok(Value::Object(out))
    }
}

/// Reads a key and says what becomes of its value; a key that is left out is never copied.
struct Key(Keep);

impl<'de> DeserializeSeed<'de> for Key {
    type Value = Option<(String, Keep)>;

    fn deserialize<D: serde::Deserializer<'de>>(self, d: D) -> Result<Self::Value, D::Error> {
        d.deserialize_str(self)
    }
}

impl<'de> Visitor<'de> for Key {
    type Value = Option<(String, Keep)>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_str<E>(self, key: &str) -> Result<Self::Value, E> {
        Ok(match self.0.of(key) {
            Nothing => None,
            keep => Some((key.to_string(), keep)),
        })
    }
}

/// The envelope of a watch event. What the object is, `type` tells, and it may come after: an `ERROR` carries a `Status`, of which
/// the rules leave nothing out that matters (`metadata` is empty, `details` isn't named in any rule).
struct Event(Kind);

impl<'de> Visitor<'de> for Event {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a watch event")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut out = Map::new();
        while let Some(key) = entries.next_key::<String>()? {
            let keep = if key == "object" { event_rule(self.0) } else { All };
            let value = entries.next_value_seed(keep)?;
            out.insert(key, value);
        }
        Ok(Value::Object(out))
    }
}

/// Kinds of which only the metadata stays would lose the code and reason of a `Status`.
fn event_rule(kind: Kind) -> Keep {
    match rule(kind) {
        Only(_) => PLAIN,
        keep => keep,
    }
}

#[cfg(test)]
mod tests;
