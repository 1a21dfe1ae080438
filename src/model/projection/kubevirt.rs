//! Projections of the kubevirt family. (starter: the owner fills the fields)

use serde_json::Value;

/// KubevirtMachine.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct KubevirtMachine {}

impl KubevirtMachine {
    /// Projects the served object.
    pub fn project(_v: &Value) -> Self {
        Self::default()
    }
}

/// VirtualMachine.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct VirtualMachine {}

impl VirtualMachine {
    /// Projects the served object.
    pub fn project(_v: &Value) -> Self {
        Self::default()
    }
}

/// DataVolume.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct DataVolume {}

impl DataVolume {
    /// Projects the served object.
    pub fn project(_v: &Value) -> Self {
        Self::default()
    }
}
