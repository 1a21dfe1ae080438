//! Projections of the release family. (starter: the owner fills the fields)

use serde_json::Value;

/// Release.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Release {}

impl Release {
    /// Projects the served object.
    pub fn project(_v: &Value) -> Self {
        Self::default()
    }
}
