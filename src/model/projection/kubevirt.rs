//! Infrastructure of workers: KubevirtMachine, VirtualMachine(Instance), DataVolume. Owns reading them leniently; must not judge.

use std::sync::Arc;

use serde_json::Value;

use super::{Body, Condition, at, conditions, find, text};
use crate::model::Object;

/// KubevirtMachine: CAPK's word on one VM; conditions of the old and the new style stand in one list.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct KubevirtMachine {
    /// `status.ready`, or provisioned in the new style.
    pub ready: bool,
    /// `status.failureReason`; terminal unless it is `UpdateError` (a host drain, `status.md` 7).
    pub failure_reason: Arc<str>,
    /// `status.failureMessage`.
    pub failure_message: Arc<str>,
    /// Conditions.
    pub conditions: Vec<Condition>,
}

impl KubevirtMachine {
    /// Projects the served object.
    pub fn project(v: &Value) -> Self {
        let status = v.get("status").unwrap_or(&Value::Null);
        let mut all = conditions(status, &["conditions"]);
        all.extend(conditions(status, &["deprecated", "v1beta1", "conditions"]));
        let provisioned = at(status, &["initialization", "provisioned"]).and_then(Value::as_bool);
        KubevirtMachine {
            ready: status.get("ready").and_then(Value::as_bool).or(provisioned).unwrap_or(false),
            failure_reason: text(status, "failureReason"),
            failure_message: text(status, "failureMessage"),
            conditions: all,
        }
    }

    /// The projection in an object, if it is of this kind.
    pub fn of(object: &Object) -> Option<&KubevirtMachine> {
        match &object.body {
            Body::KubevirtMachine(x) => Some(x),
            _ => None,
        }
    }

    /// Why the VM isn't there, if it isn't.
    pub fn trouble(&self) -> Option<&Condition> {
        find(&self.conditions, "VMProvisioned").filter(|c| &*c.status != "True")
    }
}

/// VirtualMachine or VirtualMachineInstance (`kubevirt.io/v1`).
#[derive(Debug, Clone, Default, PartialEq)]
pub struct VirtualMachine {
    /// `status.printableStatus` of a VM, or `status.phase` of an instance.
    pub status: Arc<str>,
    /// Conditions.
    pub conditions: Vec<Condition>,
}

impl VirtualMachine {
    /// Projects the served object.
    pub fn project(v: &Value) -> Self {
        let status = v.get("status").unwrap_or(&Value::Null);
        let printable = text(status, "printableStatus");
        VirtualMachine {
            status: if printable.is_empty() { text(status, "phase") } else { printable },
            conditions: conditions(status, &["conditions"]),
        }
    }

    /// The projection in an object, if it is of this kind.
    pub fn of(object: &Object) -> Option<&VirtualMachine> {
        match &object.body {
            Body::VirtualMachine(x) => Some(x),
            _ => None,
        }
    }

    /// A condition of one type that is True.
    pub fn holds(&self, kind: &str) -> Option<&Condition> {
        find(&self.conditions, kind).filter(|c| &*c.status == "True")
    }
}

/// DataVolume (`cdi.kubevirt.io/v1beta1`).
#[derive(Debug, Clone, Default, PartialEq)]
pub struct DataVolume {
    /// `status.phase`.
    pub phase: Arc<str>,
    /// `status.progress`.
    pub progress: Arc<str>,
    /// Conditions.
    pub conditions: Vec<Condition>,
}

impl DataVolume {
    /// Projects the served object.
    pub fn project(v: &Value) -> Self {
        let status = v.get("status").unwrap_or(&Value::Null);
        DataVolume { phase: text(status, "phase"), progress: text(status, "progress"), conditions: conditions(status, &["conditions"]) }
    }

    /// The projection in an object, if it is of this kind.
    pub fn of(object: &Object) -> Option<&DataVolume> {
        match &object.body {
            Body::DataVolume(x) => Some(x),
            _ => None,
        }
    }
}
