//! The worlds the platform can hold.
use super::Platform;
/// A named world.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Scenario {
    /// x
    Empty,
}
pub(crate) fn seed(_: &Platform, _: Scenario) {}
