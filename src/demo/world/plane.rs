//! A plane's objects, assembled from templates: the chain of releases and control plane, pools, machines.
//! Owns how the parts fit; decides nothing about time or outcome.

use serde_json::{Value, json};

use super::{
    objects,
    release::{self, Attempt, Outcome},
    template::{File, Fill, after, objects as fill},
};
use crate::{demo::store::uid, model::Time};

/// How far a machine is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Stage {
    Pending,
    Provisioning,
    Provisioned,
    Running,
}

impl Stage {
    fn file(self) -> File {
        match self {
            Stage::Pending => File::Pending,
            Stage::Provisioning => File::Provisioning,
            Stage::Provisioned => File::Provisioned,
            Stage::Running => File::Running,
        }
    }

    /// The next one.
    pub fn next(self) -> Stage {
        match self {
            Stage::Pending => Stage::Provisioning,
            Stage::Provisioning => Stage::Provisioned,
            Stage::Provisioned | Stage::Running => Stage::Running,
        }
    }

    /// The stage that `status.phase` names.
    pub fn of_phase(phase: &str) -> Option<Stage> {
        [Stage::Pending, Stage::Provisioning, Stage::Provisioned, Stage::Running].into_iter().find(|s| format!("{s:?}") == phase)
    }
}

/// A pool as its MachineDeployment needs it.
#[derive(Debug, Clone)]
pub(super) struct Pool {
    pub ns: String,
    pub name: String,
    pub group: Value,
    pub born: Time,
}

/// A machine of a pool.
#[derive(Debug, Clone)]
pub(super) struct Machine {
    /// The suffix of its MachineSet: an older one while the pool rolls.
    pub set: String,
    /// The five letters at the end of its name.
    pub id: String,
    pub stage: Stage,
    pub born: Time,
}

/// Five letters that follow from a seed.
pub(super) fn letters(ns: &str, seed: &str) -> String {
    let alphabet: Vec<char> = "bcdfghjklmnpqrstvwxz2456789".chars().collect();
    let text = uid("letters", ns, seed);
    text.bytes().filter(|b| *b != b'-').take(5).filter_map(|b| alphabet.get(usize::from(b) * 7 % alphabet.len())).collect()
}

impl Pool {
    fn number(&self, key: &str, default: i64) -> i64 {
        self.group.get(key).and_then(Value::as_i64).unwrap_or(default)
    }
    /// `minReplicas`.
    pub fn min(&self) -> i64 {
        self.number("minReplicas", 0)
    }
    /// `maxReplicas`.
    pub fn max(&self) -> i64 {
        self.number("maxReplicas", 10)
    }

    fn text(&self, key: &str, default: &str) -> String {
        self.group.get(key).and_then(Value::as_str).unwrap_or(default).to_string()
    }

    /// What decides the machines' template: a change of any of these replaces all of them.
    pub fn template(&self) -> String {
        let keys = ["instanceType", "resources", "diskSize", "storageClass", "roles", "gpus", "podCpuLimit", "podCpuRequest"];
        let parts: Vec<String> = keys.iter().map(|k| self.group.get(*k).unwrap_or(&Value::Null).to_string()).collect();
        format!("{:.6}", uid("KubevirtMachineTemplate", &self.name, &parts.join("|")))
    }

    /// The suffix of the MachineSet of this template.
    pub fn set(&self) -> String {
        letters(&self.ns, &format!("{}{}", self.name, self.template()))
    }

    /// Name of the MachineDeployment.
    pub fn deployment(&self) -> String {
        format!("computeplane-cluster-{}", self.name)
    }

    fn filled(&self, file: File, born: Time, (set, id): (&str, &str), now: Time) -> Vec<Value> {
        let short = self.ns.trim_start_matches("tenant-");
        let template = self.template();
        let names =
            [("$TEMPLATE", template.as_str()), ("$SHORT", short), ("$POOL", &self.name), ("$SET", set), ("$ID", id), ("$NS", &self.ns)];
        let mut out = fill(file, &Fill { names: &names, born, now });
        for v in &mut out {
            self.shape(v);
        }
        out
    }

    /// Puts the pool's own sizes and roles where the template has those of the recording.
    fn shape(&self, v: &mut Value) {
        roles(v, &self.group);
        let vm = v.pointer_mut("/spec/virtualMachineTemplate/spec");
        if let Some(vm) = vm {
            if let Some(t) = vm.pointer_mut("/instancetype/name") {
                *t = json!(self.text("instanceType", "u1.medium"));
            }
            if let Some(size) = vm.pointer_mut("/dataVolumeTemplates/0/spec/storage/resources/requests/storage") {
                *size = json!(self.text("diskSize", "20Gi"));
            }
        }
    }

    /// MachineDeployment, MachineSet, health check and monitor for these machines.
    pub fn objects(&self, machines: &[Machine], desired: i64, now: Time) -> Vec<Value> {
        let up = machines.iter().filter(|m| m.stage == Stage::Running).count() as i64;
        let settled = up == desired && machines.len() as i64 == desired;
        let mut out = self.filled(File::Pool, self.born, (&self.set(), ""), now);
        if !settled {
            let scaling = self.filled(File::PoolScaling, after(now, -72), (&self.set(), ""), now);
            for (v, s) in out.iter_mut().zip(scaling) {
                if let (Some(o), Some(status)) = (v.as_object_mut(), s.get("status")) {
                    o.insert("status".into(), status.clone());
                }
            }
        }
        let updated = machines.iter().filter(|m| m.set == self.set()).count() as i64;
        let counts = Counts { desired, actual: machines.len() as i64, updated, up, max: self.max() };
        for v in &mut out {
            counts.write(v, self.min());
        }
        let waiting: Vec<String> = machines.iter().filter(|m| m.stage != Stage::Running).map(|m| self.machine_name(m)).collect();
        name_waiting(&mut out, &waiting);
        let pods = machines.iter().filter(|m| m.stage >= Stage::Provisioning).count() as i64;
        let vms = machines.iter().filter(|m| m.stage >= Stage::Provisioned).count() as i64;
        out.push(objects::monitor(&self.ns, &self.name, self.min(), (pods, vms), self.born));
        out
    }

    /// Full name of a machine.
    pub fn machine_name(&self, m: &Machine) -> String {
        format!("{}-{}-{}", self.deployment(), m.set, m.id)
    }

    /// The machine with its bootstrap, infrastructure, pod and workload.
    pub fn machine(&self, m: &Machine, now: Time) -> Vec<Value> {
        let mut out = self.filled(m.stage.file(), m.born, (&m.set, &m.id), now);
        if m.stage >= Stage::Provisioning {
            let born = after(m.born, 10);
            let name = self.machine_name(m);
            let pod = objects::launcher(&self.ns, &self.name, &name, m.stage >= Stage::Provisioned, born);
            out.push(objects::workload(&pod, &self.deployment()));
            out.push(pod);
        }
        out
    }

    /// The pool's release after an attempt.
    pub fn release(&self, outcome: &Outcome, at: Time) -> Value {
        let mut v = release::pool(&self.ns, &self.name, &self.group, self.born);
        let name = release::pool_release_name(&self.name);
        let attempt = Attempt { ns: &self.ns, name: &name, chart: "kubernetes-nodes", revision: 1, generation: 1, at };
        if let Some(o) = v.as_object_mut() {
            o.insert("status".into(), attempt.status(outcome, None));
        }
        v
    }
}

/// Replaces the recording's role by the pool's in every label map.
fn roles(v: &mut Value, group: &Value) {
    const RECORDED: &str = "node-role.kubernetes.io/ingress-nginx";
    match v {
        Value::Object(o) => {
            if o.shift_remove(RECORDED).is_some() {
                let roles = group.get("roles").and_then(Value::as_array);
                for role in roles.into_iter().flatten().filter_map(Value::as_str) {
                    o.insert(format!("node-role.kubernetes.io/{role}"), json!(""));
                }
            }
            o.values_mut().for_each(|v| roles(v, group));
        }
        Value::Array(a) => a.iter_mut().for_each(|v| roles(v, group)),
        _ => {}
    }
}

struct Counts {
    desired: i64,
    actual: i64,
    /// Of them, those of the template asked for.
    updated: i64,
    up: i64,
    max: i64,
}

impl Counts {
    fn write(&self, v: &mut Value, min: i64) {
        let kind = v.get("kind").and_then(Value::as_str).unwrap_or("").to_string();
        let mut set = |path: &str, value: Value| {
            if let Some(at) = v.pointer_mut(path) {
                *at = value;
            }
        };
        match kind.as_str() {
            "MachineDeployment" | "MachineSet" => {
                set("/spec/replicas", json!(self.desired));
                set("/spec/strategy/rollingUpdate/maxSurge", json!(self.max));
                let size = "/metadata/annotations/cluster.x-k8s.io~1cluster-api-autoscaler-node-group";
                set(&format!("{size}-max-size"), json!(self.max.to_string()));
                set(&format!("{size}-min-size"), json!(min.to_string()));
                set("/metadata/annotations/machinedeployment.clusters.x-k8s.io~1desired-replicas", json!(self.desired.to_string()));
                let Some(status) = v.get_mut("status").and_then(Value::as_object_mut) else { return };
                for (key, n) in [
                    ("replicas", self.actual),
                    ("updatedReplicas", self.updated),
                    ("fullyLabeledReplicas", self.actual),
                    ("readyReplicas", self.up),
                    ("availableReplicas", self.up),
                    ("unavailableReplicas", (self.desired - self.up).max(0)),
                ] {
                    if kind == "MachineDeployment" || !matches!(key, "updatedReplicas" | "unavailableReplicas") {
                        status.insert(key.into(), json!(n));
                    }
                }
                if let Some(v2) = status.get_mut("v1beta2").and_then(Value::as_object_mut) {
                    for (key, n) in [("availableReplicas", self.up), ("readyReplicas", self.up), ("upToDateReplicas", self.updated)] {
                        v2.insert(key.into(), json!(n));
                    }
                }
                status.values_mut().for_each(|v| self.words(v));
            }
            "MachineHealthCheck" => {
                let Some(status) = v.get_mut("status").and_then(Value::as_object_mut) else { return };
                for (key, n) in [("expectedMachines", self.actual), ("currentHealthy", self.up)] {
                    status.insert(key.into(), json!(n));
                }
                status.shift_remove("targets");
            }
            _ => {}
        }
    }

    /// The numbers in the recorded texts.
    fn words(&self, v: &mut Value) {
        match v {
            Value::String(s) => {
                let least = (self.desired - 1).max(0);
                *s = s
                    .replace("requires 2 replicas, current 0", &format!("requires {least} replicas, current {}", self.up))
                    .replace("to 3 replicas (actual 0)", &format!("to {} replicas (actual {})", self.desired, self.actual))
                    .replace("0 available replicas, at least 2", &format!("{} available replicas, at least {least}", self.up))
                    .replace("spec.replicas is 3", &format!("spec.replicas is {}", self.desired));
            }
            Value::Object(o) => o.values_mut().for_each(|v| self.words(v)),
            Value::Array(a) => a.iter_mut().for_each(|v| self.words(v)),
            _ => {}
        }
    }
}

/// Names the machines that wait where the recording names its own three.
fn name_waiting(objects: &mut [Value], waiting: &[String]) {
    for v in objects {
        let conditions = v.pointer_mut("/status/v1beta2/conditions").and_then(Value::as_array_mut);
        for c in conditions.into_iter().flatten() {
            let text = c.get("message").and_then(Value::as_str).unwrap_or("").to_string();
            if let (Some(rest), Some(o)) = (text.strip_prefix("* Machine").and_then(|t| t.split_once(':')), c.as_object_mut()) {
                let (word, names) = (if waiting.len() == 1 { "Machine" } else { "Machines" }, waiting.join(", "));
                let text = if waiting.is_empty() { String::new() } else { format!("* {word} {names}:{}", rest.1) };
                o.insert("message".into(), json!(text));
            }
        }
    }
}

/// The chain above the pools: both releases, cluster and control plane, addons, and what the tenant sees of them.
pub(super) fn chain(ns: &str, groups: &Value, born: Time, now: Time) -> Vec<Value> {
    let short = ns.trim_start_matches("tenant-");
    let names = [("$NS", ns), ("$SHORT", short)];
    let mut out = fill(File::Plane, &Fill { names: &names, born, now });
    for v in &mut out {
        if let Some(values) = v.pointer_mut("/spec/values/nodeGroups") {
            *values = groups.clone();
            inventory(v, ns, groups);
        }
    }
    for (suffix, needs) in release::ADDONS {
        out.push(release::addon(ns, suffix, needs, true, born));
    }
    out.push(objects::monitor(ns, "", 1, (2, 2), born));
    for n in 0..2 {
        let pod = objects::control_plane_pod(ns, n, after(born, 20));
        out.push(objects::workload(&pod, "computeplane-cluster"));
        out.push(pod);
    }
    out.push(objects::credential_role(ns, born));
    out
}

/// The module's inventory names the cluster release and one release per pool.
pub(super) fn inventory(module: &mut Value, ns: &str, groups: &Value) {
    let pools = groups.as_object().into_iter().flatten().map(|(p, _)| release::pool_release_name(p));
    let entries: Vec<Value> = std::iter::once("computeplane-cluster".to_string())
        .chain(pools)
        .map(|n| json!({"id": format!("{ns}_{n}_helm.toolkit.fluxcd.io_HelmRelease"), "v": "v2"}))
        .collect();
    if let Some(status) = module.get_mut("status").and_then(Value::as_object_mut) {
        status.insert("inventory".into(), json!({"entries": entries}));
    }
}
