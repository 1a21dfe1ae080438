//! Projections of the capi family. (starter: the owner fills the fields)

use serde_json::Value;

/// Cluster.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Cluster {}

impl Cluster {
    /// Projects the served object.
    pub fn project(_api_version: &str, _v: &Value) -> Self {
        Self::default()
    }
}

/// MachineDeployment.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct MachineDeployment {}

impl MachineDeployment {
    /// Projects the served object.
    pub fn project(_api_version: &str, _v: &Value) -> Self {
        Self::default()
    }
}

/// MachineSet.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct MachineSet {}

impl MachineSet {
    /// Projects the served object.
    pub fn project(_api_version: &str, _v: &Value) -> Self {
        Self::default()
    }
}

/// Machine.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Machine {}

impl Machine {
    /// Projects the served object.
    pub fn project(_api_version: &str, _v: &Value) -> Self {
        Self::default()
    }
}

/// MachineHealthCheck.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct MachineHealthCheck {}

impl MachineHealthCheck {
    /// Projects the served object.
    pub fn project(_api_version: &str, _v: &Value) -> Self {
        Self::default()
    }
}
