//! The running console: select loop, effects, terminal, clock. Owns everything that waits; must not hold screen logic.

pub mod connect;
pub mod signals;
pub mod terminal;
