//! One observed object, reduced to what the console uses. Owns metadata and the entry into the projections; keeps no raw JSON.

use std::{ops::Deref, sync::Arc};

use serde::{Deserialize, Serialize};

use super::{Generation, Kind, Stamp, Uid, intern::Pairs};

/// Identity of an object by name. Selection on screen uses the UID instead.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ObjectRef {
    /// Kind.
    pub kind: Kind,
    /// Namespace; empty for cluster-scoped kinds.
    pub namespace: String,
    /// Name.
    pub name: String,
}

/// An owner: kind, name.
pub type Owner = (Arc<str>, Arc<str>);

/// Metadata that verdicts need. Strings are as the cluster sent them: sanitise before painting ([`super::text`]).
#[derive(Debug, Clone, Default, PartialEq)]
#[allow(missing_docs)] // the Kubernetes names
pub struct Meta {
    pub namespace: Arc<str>,
    pub name: Arc<str>,
    pub uid: Uid,
    /// `None` where the API has no generation (the aggregated kinds).
    pub generation: Generation,
    pub created: Stamp,
    pub deleted: Stamp,
    /// Read through the metadata itself.
    pub traits: Arc<Traits>,
}

/// What an object has in common with its siblings: the addons of a plane, the machines of a pool. Held once; read as the metadata's own fields.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
#[allow(missing_docs)] // the Kubernetes names
pub struct Traits {
    pub finalizers: Arc<[Arc<str>]>,
    /// Only what may be read: see `redact::key_stays`; a label that names a plane stays under any key.
    pub labels: Pairs,
    /// Only keys that `redact::key_stays` lets stay.
    pub annotations: Pairs,
    /// Owners in the server's order.
    pub owners: Arc<[Owner]>,
}

impl Deref for Meta {
    type Target = Traits;

    fn deref(&self) -> &Traits {
        &self.traits
    }
}

/// An object as the console keeps it.
#[derive(Debug, Clone, PartialEq)]
pub struct Object {
    /// Kind.
    pub kind: Kind,
    /// `apiVersion` as served; decides where conditions are read.
    pub api_version: Arc<str>,
    /// Metadata.
    pub meta: Meta,
    /// The projection of spec and status.
    pub body: super::projection::Body,
}

impl Object {
    /// The name-identity of this object.
    pub fn reference(&self) -> ObjectRef {
        ObjectRef { kind: self.kind, namespace: self.meta.namespace.to_string(), name: self.meta.name.to_string() }
    }
}
