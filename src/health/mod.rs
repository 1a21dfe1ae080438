//! From signals to verdicts: one plane's part of the world goes in, a judgement with evidence and next steps comes out.
//! Owns the entry points; must not do I/O or read a clock.

pub mod build;
pub mod catalog;
pub mod deadlines;
pub mod events;
pub mod freshness;
pub mod layers;
pub mod messages;
pub mod planes;
pub mod release;
pub mod view;
