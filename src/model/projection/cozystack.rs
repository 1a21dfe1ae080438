//! Projections of the cozystack family. (starter: the owner fills the fields)

use serde_json::Value;

/// App.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct App {}

impl App {
    /// Projects the served object.
    pub fn project(_v: &Value) -> Self {
        Self::default()
    }
}

/// TenantNamespace.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TenantNamespace {}

impl TenantNamespace {
    /// Projects the served object.
    pub fn project(_v: &Value) -> Self {
        Self::default()
    }
}

/// Options.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Options {}

impl Options {
    /// Projects the served object.
    pub fn project(_v: &Value) -> Self {
        Self::default()
    }
}

/// Monitor.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Monitor {}

impl Monitor {
    /// Projects the served object.
    pub fn project(_v: &Value) -> Self {
        Self::default()
    }
}

/// Workload.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Workload {}

impl Workload {
    /// Projects the served object.
    pub fn project(_v: &Value) -> Self {
        Self::default()
    }
}

/// Conditioned.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Conditioned {}

impl Conditioned {
    /// Projects the served object.
    pub fn project(_v: &Value) -> Self {
        Self::default()
    }
}
