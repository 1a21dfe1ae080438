//! The running console: select loop, effects, terminal, clock. Owns everything that waits; must not hold screen logic.

pub mod connect;
pub mod console;
pub mod drafts;
pub mod input;
pub mod links;
pub mod outside;
pub mod signals;
pub mod terminal;

/// A line for the person, on standard error, while the screens are down.
pub fn say(line: &str) {
    use std::io::Write as _;
    // A closed pipe is no reason to end differently.
    let _ = writeln!(std::io::stderr(), "{}", crate::model::text::block(line));
}
