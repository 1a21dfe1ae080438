//! The platform's rules for `nodeGroups`: what an edit must look like, what it does, how it is merged, written and followed. Pure: no I/O, no clock.

pub mod document;
pub mod draft;
pub mod finding;
pub mod forecast;
pub mod instance_types;
pub mod merge;
pub mod patch;
pub mod path;
pub mod rollout;
pub mod schema;
pub mod settled;
pub mod spelling;
pub mod template;
pub mod validate;

/// A `nodeGroups` map, or one group of it: JSON as it stands in the object.
pub type Groups = serde_json::Map<String, serde_json::Value>;
