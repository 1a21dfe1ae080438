//! What only shows against the groups that were there before (D-SHRINK, GPU-LATE, E-FROZEN, A-LASTINGRESS, A-EMPTY, A-LOWERMAX,
//! A-RAISEMIN). Must not forecast machines: that is another file's work.

use serde_json::{Map, Value};

use super::{
    super::finding::show,
    chart,
    pool::{Pool, pools},
    sink::{Hit, Sink},
};
use crate::model::quantity::Quantity;

/// Compares the map with the one before.
pub fn check(now: &Map<String, Value>, before: &Map<String, Value>, sink: &mut Sink) {
    let (new, old) = (pools(now), pools(before));
    if new.is_empty() && !old.is_empty() {
        let text =
            format!("all {} groups go and the default md0 (0..10, u1.medium, 20Gi, ingress-nginx) comes; nothing guards it", old.len());
        sink.push(Hit::new("A-EMPTY", "nodeGroups", text));
        return;
    }
    let carriers: Vec<&Pool<'_>> = old.iter().filter(|p| p.carries_ingress()).collect();
    let stays = new.iter().any(|p| p.carries_ingress() && carriers.iter().any(|c| c.key == p.key));
    if let Some(last) = carriers.first().filter(|_| !stays && new.iter().any(Pool::carries_ingress)) {
        let text =
            format!("{} carried the ingress alone and no longer does; the ingress is down until the new group has nodes", last.named());
        sink.push(Hit::new("A-LASTINGRESS", last.path(), text));
    }
    for pool in &new {
        if let Some(was) = old.iter().find(|o| o.key == pool.key) {
            group(pool, was, sink);
        }
    }
}

fn group(pool: &Pool<'_>, was: &Pool<'_>, sink: &mut Sink) {
    let size = |p: &Pool<'_>| p.get("diskSize").and_then(|v| Quantity::parse(&chart::text(v)).ok()).filter(|q| q.nanos() > 0);
    let shown = |p: &Pool<'_>, f: &str| p.get(f).map(show).unwrap_or_else(|| "nothing".into());
    let mut push = |id, field: &str, why: String| {
        sink.push(Hit::new(id, pool.field(field), format!("{}: {why}", pool.named())).value(shown(pool, field)));
    };
    if let (Some(new), Some(old)) = (size(pool), size(was))
        && new < old
    {
        push("D-SHRINK", "diskSize", format!("diskSize goes from {old} to {new}: all VMs are recreated and their disks are lost"));
    }
    let late = pool.gpus().into_iter().any(|g| !was.gpus().contains(&g));
    if late {
        push("GPU-LATE", "gpus", "GPUs are added to a group that exists; the node label for them never arrives".into());
    }
    let kubelet = |p: &Pool<'_>| {
        let set = p.get("kubelet").and_then(Value::as_object).map(|k| {
            let set = k.iter().filter(|(_, v)| chart::truthy(Some(v)));
            set.map(|(k, v)| (k.clone(), v.clone())).collect::<Vec<_>>()
        });
        let mut set = set.unwrap_or_default();
        set.sort_by(|a, b| a.0.cmp(&b.0));
        set
    };
    if kubelet(pool) != kubelet(was) {
        push("E-FROZEN", "kubelet", "kubelet settings changed; no node of this group ever receives them".into());
    }
    if let (Some(new), Some(old)) = (pool.number("maxReplicas"), was.number("maxReplicas"))
        && new < old
    {
        push("A-LOWERMAX", "maxReplicas", format!("maxReplicas goes from {old} to {new}; machines above it are not removed by that"));
    }
    if let (Some(new), Some(old)) = (pool.number("minReplicas"), was.number("minReplicas"))
        && new > old
    {
        push("A-RAISEMIN", "minReplicas", format!("minReplicas goes from {old} to {new}; the autoscaler adds machines"));
    }
}
