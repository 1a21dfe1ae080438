//! Warnings that need both sides of an edit (the validator sees only one). Owns which rule of `platform.md` 3 an edit touches; must not
//! repeat what holds for a map by itself.

use serde::Serialize;
use serde_json::{Value, json};

use super::{Change, PoolForecast, RoleGap, bounds, quota::has_gpus};
use crate::nodegroups::{Groups, path::FieldPath, spelling, template};

/// One warning, in the contract's finding vocabulary.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Notice {
    /// Rule.
    pub id: &'static str,
    /// `warning` or `info`.
    pub severity: &'static str,
    /// Field, dotted.
    pub path: String,
    /// What happens.
    pub message: String,
    /// What to do instead.
    pub fix: String,
}

impl Notice {
    /// The notice as a finding of the contract.
    pub fn finding(&self) -> Value {
        json!({"id": self.id, "severity": self.severity, "stage": "runtime", "path": self.path, "message": self.message, "fix": self.fix})
    }
}

/// Both sides of an edit: as written, as they run, and what was found out so far.
pub struct Edit<'a> {
    /// As written, before.
    pub before: &'a Groups,
    /// As written, after.
    pub after: &'a Groups,
    /// What runs before.
    pub running: &'a Groups,
    /// What will run.
    pub coming: &'a Groups,
    /// Forecast of the pools.
    pub pools: &'a [PoolForecast],
    /// Roles without a carrier.
    pub gaps: &'a [RoleGap],
}

/// All notices of the edit: those of the whole map first, then by pool.
pub fn all(edit: &Edit<'_>) -> Vec<Notice> {
    let mut out = Vec::new();
    out.extend(emptied(edit));
    out.extend(edit.gaps.iter().filter(|gap| gap.role == template::INGRESS_ROLE).map(ingress));
    out.extend(edit.after.iter().filter(|(_, group)| group.is_null()).map(|(name, _)| null_group(name)));
    for pool in edit.pools.iter().filter(|p| p.change != Change::None) {
        let (before, after) = (edit.running.get(&pool.name), edit.coming.get(&pool.name));
        if let (Some(Value::Object(before)), Some(Value::Object(after))) = (before, after) {
            of_pool(pool, before, after, &mut out);
        }
    }
    out
}

fn emptied(edit: &Edit<'_>) -> Option<Notice> {
    let real = |groups: &Groups| groups.values().any(|g| !g.is_null());
    let defaulted = real(edit.before) && !real(edit.after);
    defaulted.then(|| Notice {
        id: "A-EMPTY",
        severity: "warning",
        path: "nodeGroups".to_string(),
        message: format!(
            "no pool is left: every pool is deleted and the default pool {} (0 to 10 machines) takes its place",
            template::DEFAULT_POOL
        ),
        fix: "keep at least one pool".to_string(),
    })
}

fn ingress(gap: &RoleGap) -> Notice {
    let message = match gap.after.as_slice() {
        [] => format!("no pool with the role {} is left; ingress stops", gap.role),
        pools => format!(
            "the role {} moves from {} to {}: ingress is down until the new pool has nodes",
            gap.role,
            gap.before.join(", "),
            pools.join(", ")
        ),
    };
    let path = FieldPath::new(gap.before.first().cloned()).child("roles").dotted();
    Notice {
        id: "A-LASTINGRESS",
        severity: "warning",
        path,
        message,
        fix: "add the new pool first, remove the old one when its nodes are ready".to_string(),
    }
}

fn null_group(name: &str) -> Notice {
    Notice {
        id: "G-NULL",
        severity: "warning",
        path: FieldPath::new([name]).dotted(),
        message: "a null pool doesn't run, but reads as a full default pool, and the next change of the plane makes it real".to_string(),
        fix: "remove the key".to_string(),
    }
}

fn of_pool(pool: &PoolForecast, before: &Groups, after: &Groups, out: &mut Vec<Notice>) {
    let at = |field: &str| FieldPath::new([pool.name.as_str(), field]).dotted();
    let mut add = |id, severity, field: &str, message: String, fix: &str| {
        out.push(Notice { id, severity, path: at(field), message, fix: fix.to_string() });
    };
    if matches!((disk(before), disk(after)), (Some(old), Some(new)) if new < old) {
        let text = "a smaller disk shrinks nothing: every machine is recreated with an empty disk of the new size".to_string();
        add("D-SHRINK", "warning", "diskSize", text, "keep the size");
    }
    if kubelet(before) != kubelet(after) {
        let text = "a changed kubelet setting of an existing pool never reaches its nodes, though every release stays ready".to_string();
        add("E-FROZEN", "warning", "kubelet", text, "make a new pool with the setting and remove this one");
    }
    let ((old_min, old_max), (min, max)) = (bounds(before), bounds(after));
    if max < old_max && pool.machines.now.is_none_or(|now| now > max) {
        let text = match pool.machines.now {
            Some(now) => format!("{now} machines run and stay; up to {} of them may be removed later", now - max),
            None => "machines above the new maximum stay for now and may be removed later".to_string(),
        };
        add("A-LOWERMAX", "warning", "maxReplicas", text, "");
    }
    if min > old_min && pool.machines.now.is_none_or(|now| now < min) {
        add("A-RAISEMIN", "info", "minReplicas", format!("the autoscaler raises the pool to {min} machines"), "");
    }
    if pool.change == Change::Roll && has_gpus(after) && !has_gpus(before) {
        let text = "GPUs added to an existing pool: the machines get them, but not the node label that GPU workloads look for".to_string();
        add("GPU-LATE", "warning", "gpus", text, "make a new pool with the GPUs");
    }
}

fn disk(group: &Groups) -> Option<i128> {
    spelling::exact(&super::shown_disk(group.get("diskSize")))
}

/// Kubelet settings that say something: empty text means the default, as absence does.
fn kubelet(group: &Groups) -> Vec<(&String, &Value)> {
    let leaves = group.get("kubelet").and_then(Value::as_object).into_iter().flatten();
    let mut said: Vec<(&String, &Value)> = leaves.filter(|(_, v)| template::truthy(v)).collect();
    said.sort_by_key(|(key, _)| *key);
    said
}
