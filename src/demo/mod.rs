//! An embedded platform for `--demo` and for tests: an API server as a tower Service, faults that can be switched on, and
//! a small world that reconciles. Owns everything below the request level; nothing above may know that it is there.

mod answer;
mod apps;
mod catalog;
mod discovery;
mod faults;
mod identity;
pub mod listen;
mod ordinary;
mod patch;
mod platform;
mod rbac;
mod reviews;
mod route;
mod selector;
mod store;
mod synthesized;
mod table;
#[cfg(test)]
mod tests;
mod watch;
pub mod world;

pub use answer::ResponseBody;
pub use faults::{Fault, Faults, Match};
pub use identity::{Identity, Level};
pub use platform::{Clock, Platform};
pub use world::Scenario;
