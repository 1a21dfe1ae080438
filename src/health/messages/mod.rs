//! What a controller's text says: its class, its decisive sentence, and what it points at (`status.md` 2.3 and 8.30).
//! Owns reading messages; must not decide which layer is broken.

mod cut;
mod point;
mod table;

#[cfg(test)]
mod tests;

pub use cut::{decisive, flat};
pub use point::{Pointer, Waited, pointer, waits};
pub use table::{Row, TABLE, classify};

/// The class name for a text that only waits for its children.
pub const CHILD_NOT_READY: &str = "ChildNotReady";
