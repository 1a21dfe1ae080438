//! Following sources: list, watch, re-list, for ever, with capped waits. One task a source. Owns the life of watches; must not judge or paint.

pub mod backoff;
pub mod engine;
pub mod items;
pub mod lines;
pub mod request;
pub mod set;

pub use set::WatchSet;

#[cfg(test)]
mod tests;
