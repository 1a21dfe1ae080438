//! (owner writes this line)

pub mod effect;
pub mod msg;
pub mod subscriptions;
