//! The platform's rules for `nodeGroups`: how text becomes documents, what is wrong with them, and why. Pure: no I/O, no clock.

pub mod document;
pub mod finding;
pub mod instance_types;
pub mod schema;
pub mod validate;
