//! Projections of the core family. (starter: the owner fills the fields)

use serde_json::Value;

/// ConfigMap.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ConfigMap {}

impl ConfigMap {
    /// Projects the served object.
    pub fn project(_v: &Value) -> Self {
        Self::default()
    }
}

/// Pod.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Pod {}

impl Pod {
    /// Projects the served object.
    pub fn project(_v: &Value) -> Self {
        Self::default()
    }
}

/// Service.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Service {}

impl Service {
    /// Projects the served object.
    pub fn project(_v: &Value) -> Self {
        Self::default()
    }
}

/// Event.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Event {}

impl Event {
    /// Projects the served object.
    pub fn project(_v: &Value) -> Self {
        Self::default()
    }
}

/// Quota.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Quota {}

impl Quota {
    /// Projects the served object.
    pub fn project(_v: &Value) -> Self {
        Self::default()
    }
}

/// Job.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Job {}

impl Job {
    /// Projects the served object.
    pub fn project(_v: &Value) -> Self {
        Self::default()
    }
}

/// Deployment.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Deployment {}

impl Deployment {
    /// Projects the served object.
    pub fn project(_v: &Value) -> Self {
        Self::default()
    }
}
