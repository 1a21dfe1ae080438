//! The nouns of the platform: kinds, objects, verdicts, problems. Pure data; knows no other folder and does no I/O.

pub mod access;
pub mod age;
pub mod audit;
pub mod context;
pub mod dump;
pub mod feed;
pub mod intern;
pub mod kind;
pub mod object;
pub mod problem;
pub mod projection;
pub mod prune;
pub mod quantity;
pub mod redact;
pub mod selector;
pub mod stamp;
pub mod text;
pub mod verdict;
pub mod world;
pub mod yaml;

pub use kind::{Kind, Scope};
pub use object::{Meta, Object, ObjectRef};
pub use problem::{Problem, ProblemKind};
pub use selector::Selector;
pub use stamp::{Generation, Stamp, Uid};
pub use world::World;

/// A point in time, UTC.
pub type Time = jiff::Timestamp;
