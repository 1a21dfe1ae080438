//! KubeVirt and its Cluster API provider: KubevirtMachine, VirtualMachine (and Instance), DataVolume. Owns reading them leniently; must not judge.

use std::sync::Arc;

use serde_json::Value;

use super::{Body, Condition, at, conditions, find, text};
use crate::model::Object;

macro_rules! of {
    ($($name:ident),+) => {
        $(impl $name {
            /// The projection in an object, if it is of this kind.
            pub fn of(object: &Object) -> Option<&$name> {
                match &object.body {
                    Body::$name(x) => Some(x),
                    _ => None,
                }
            }

            /// The condition of one type.
            pub fn condition(&self, kind: &str) -> Option<&Condition> {
                find(&self.conditions, kind)
            }
        })+
    };
}
of!(KubevirtMachine, VirtualMachine, DataVolume);

/// KubevirtMachine, with the old and the new style of conditions (the reasons are the same).
#[derive(Debug, Clone, Default, PartialEq)]
pub struct KubevirtMachine {
    /// `status.ready`, or `status.initialization.provisioned`.
    pub ready: bool,
    /// `status.failureReason`; `UpdateError` can be a planned host drain (`status.md` 7).
    pub failure_reason: Arc<str>,
    /// `status.failureMessage`.
    pub failure_message: Arc<str>,
    /// Name of the instance type of its VM; empty where it has none.
    pub instance_type: Arc<str>,
    /// `status.conditions`.
    pub conditions: Box<[Condition]>,
}

impl KubevirtMachine {
    /// Projects the served object.
    pub fn project(v: &Value) -> Self {
        let status = v.get("status").unwrap_or(&Value::Null);
        let flag = |path: &[&str]| at(status, path).and_then(Value::as_bool) == Some(true);
        KubevirtMachine {
            ready: flag(&["ready"]) || flag(&["initialization", "provisioned"]),
            failure_reason: text(status, "failureReason"),
            failure_message: text(status, "failureMessage"),
            instance_type: instance_type(v, &["spec", "virtualMachineTemplate", "spec", "instancetype"]),
            conditions: conditions(status, &["conditions"]),
        }
    }
}

/// VirtualMachine and VirtualMachineInstance.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct VirtualMachine {
    /// `status.printableStatus` of a VirtualMachine, `status.phase` of an instance; an open enum.
    pub status: Arc<str>,
    /// `status.ready`.
    pub ready: bool,
    /// Name of the instance type; empty where it has none.
    pub instance_type: Arc<str>,
    /// `status.conditions`.
    pub conditions: Box<[Condition]>,
}

impl VirtualMachine {
    /// Projects the served object.
    pub fn project(v: &Value) -> Self {
        let status = v.get("status").unwrap_or(&Value::Null);
        let printable = text(status, "printableStatus");
        VirtualMachine {
            status: if printable.is_empty() { text(status, "phase") } else { printable },
            ready: status.get("ready").and_then(Value::as_bool) == Some(true),
            instance_type: instance_type(v, &["spec", "instancetype"]),
            conditions: conditions(status, &["conditions"]),
        }
    }
}

/// DataVolume.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct DataVolume {
    /// `status.phase`; an open enum.
    pub phase: Arc<str>,
    /// `status.progress`, e.g. `42.1%`; `N/A` counts as absent.
    pub progress: Arc<str>,
    /// `status.conditions`.
    pub conditions: Box<[Condition]>,
}

impl DataVolume {
    /// Projects the served object.
    pub fn project(v: &Value) -> Self {
        let status = v.get("status").unwrap_or(&Value::Null);
        let progress = text(status, "progress");
        DataVolume {
            phase: text(status, "phase"),
            progress: if &*progress == "N/A" { Arc::default() } else { progress },
            conditions: conditions(status, &["conditions"]),
        }
    }
}

fn instance_type(v: &Value, path: &[&str]) -> Arc<str> {
    at(v, path).map(|i| text(i, "name")).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn both_styles_of_a_machine() {
        assert!(KubevirtMachine::project(&json!({"status": {"ready": true}})).ready);
        let new = KubevirtMachine::project(&json!({"status": {"initialization": {"provisioned": true}},
            "spec": {"virtualMachineTemplate": {"spec": {"instancetype": {"name": "u1.large"}}}}}));
        assert!(new.ready && &*new.instance_type == "u1.large");
    }

    #[test]
    fn instances_tell_their_phase() {
        assert_eq!(&*VirtualMachine::project(&json!({"status": {"phase": "Running"}})).status, "Running");
        let d = DataVolume::project(&json!({"status": {"phase": "Pending", "progress": "N/A"}}));
        assert!(d.progress.is_empty() && &*d.phase == "Pending");
    }
}
