//! Projections of the kamaji family. (starter: the owner fills the fields)

use serde_json::Value;

/// TenantControlPlane.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TenantControlPlane {}

impl TenantControlPlane {
    /// Projects the served object.
    pub fn project(_v: &Value) -> Self {
        Self::default()
    }
}

/// DataStore.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct DataStore {}

impl DataStore {
    /// Projects the served object.
    pub fn project(_v: &Value) -> Self {
        Self::default()
    }
}

/// KamajiControlPlane.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct KamajiControlPlane {}

impl KamajiControlPlane {
    /// Projects the served object.
    pub fn project(_v: &Value) -> Self {
        Self::default()
    }
}
