//! What is accepted and harmful, or can't be judged from here (the W rows of 3.2 to 3.4). Must not refuse what the platform accepts,
//! except what can never work.

use serde_json::Value;

use super::{
    super::finding::Severity,
    Context, chart,
    pool::Pool,
    sink::{Hit, Sink},
    sizing::Size,
};
use crate::model::quantity::{NANOS, Quantity};

/// What the GPU driver needs: 4 GiB.
const GPU_MEMORY: f64 = 4_294_967_296.0;

/// Advice on one group.
pub fn check(pool: &Pool<'_>, size: &Size, context: &Context, sink: &mut Sink) {
    replicas(pool, sink);
    gpus(pool, size, context, sink);
    storage(pool, context, sink);
}

fn replicas(pool: &Pool<'_>, sink: &mut Sink) {
    let (min, max) = (pool.number("minReplicas"), pool.number("maxReplicas"));
    let hit = |id, name: &str, why: &str| Hit::new(id, pool.field(name), format!("{}: {why}", pool.named()));
    if max == Some(0.0) {
        sink.push(hit("A-MAX0", "maxReplicas", "maxReplicas 0 takes the group out of the autoscaler's hands").value("0"));
    } else if let (Some(min), Some(max)) = (min, max)
        && min == max
        && max > 0.0
    {
        sink.push(hit("A-FIXED", "maxReplicas", "minimum and maximum are equal: the size is fixed").value(max.to_string()));
    }
}

fn gpus(pool: &Pool<'_>, size: &Size, context: &Context, sink: &mut Sink) {
    let names = pool.gpus();
    if names.is_empty() {
        return;
    }
    if let Some(memory) = &size.memory
        && chart::to_float_text(memory) < GPU_MEMORY
    {
        let why = format!("{}: {memory} of memory; the GPU driver needs at least 4Gi", pool.named());
        sink.push(Hit::new("GPU-MEM", pool.field("gpus"), why).value(memory).assumed(size.assumed));
    }
    if pool.number("minReplicas") == Some(0.0) {
        let why = format!("{}: minReplicas is 0, and a Pod that asks for a GPU can't wake the group", pool.named());
        sink.push(Hit::new("GPU-ZERO", pool.field("minReplicas"), why).value("0"));
    }
    for (i, name) in names.into_iter().enumerate() {
        let at = format!("{}.name", pool.item("gpus", i));
        match &context.gpus {
            Some(permitted) if permitted.contains(name) => {}
            Some(permitted) => {
                let offered: Vec<&str> = permitted.iter().map(String::as_str).collect();
                let why = format!(
                    "{}: GPU {name:?} is not offered; offered: {}",
                    pool.named(),
                    if offered.is_empty() { "none".into() } else { offered.join(", ") }
                );
                sink.push(Hit::new("GPU-NAME", at, why).value(name));
            }
            None => {
                let why = format!("{}: not evaluated: whether the platform offers GPU {name:?} is unknown here", pool.named());
                sink.push(Hit::new("GPU-NAME", at, why).value(name).severity(Severity::Info));
            }
        }
    }
}

fn storage(pool: &Pool<'_>, context: &Context, sink: &mut Sink) {
    let Some(class) = pool.text("storageClass").filter(|c| !c.is_empty()) else { return };
    let at = pool.field("storageClass");
    let hit = |why: String| Hit::new("D-SC-RWX", &at, format!("{}: {why}", pool.named())).value(class);
    match &context.storage {
        None => {
            sink.push(hit(format!("not evaluated: whether storage class {class:?} can be shared is unknown here")).severity(Severity::Info))
        }
        Some(facts) => match facts.shared.get(class) {
            Some(true) => {}
            Some(false) => sink.push(hit(format!("storage class {class:?} can't be opened by two hosts; its volumes never provision"))),
            None => sink.push(hit(format!(
                "storage class {class:?} is not among those of the platform: {}",
                facts.shared.keys().cloned().collect::<Vec<_>>().join(", ")
            ))),
        },
    }
}

/// Advice on the map as a whole.
pub fn whole(pools: &[Pool<'_>], context: &Context, sink: &mut Sink) {
    let ingress: Vec<&Pool<'_>> = pools.iter().filter(|p| p.carries_ingress()).collect();
    if let [only] = ingress.as_slice()
        && only.number("minReplicas") == Some(0.0)
    {
        let why = format!("{}: the only ingress group starts at zero; nothing runs until the ingress Pod is Pending", only.named());
        sink.push(Hit::new("A-MIN0-INGRESS", only.field("minReplicas"), why).value("0"));
    }
    if pools.is_empty() {
        return;
    }
    match &context.quota {
        None => {
            let text = "not evaluated: no quota is known here, so what the groups need at most is unchecked";
            sink.push(
                Hit::new("Q-QUOTA", "nodeGroups", text)
                    .severity(Severity::Info)
                    .fix("run it against the cluster, with a right to read quotas"),
            );
        }
        Some(quota) => {
            let axes = [("memory", &quota.memory, need(pools, context, true)), ("cpu", &quota.cpu, need(pools, context, false))];
            for (what, limit, (need, complete)) in axes {
                quota_axis(what, limit.as_ref(), need, complete, sink);
            }
        }
    }
}

fn quota_axis(what: &str, limit: Option<&Quantity>, need: i128, complete: bool, sink: &mut Sink) {
    let Some(limit) = limit else { return };
    if need > limit.nanos() {
        let needed = if what == "memory" { format!("{}Mi", need / NANOS / (1 << 20)) } else { format!("{}m", need / (NANOS / 1000)) };
        let text = format!("at their maximum the groups need {needed} of {what}, quotas leave {limit}; machines beyond stay Pending");
        sink.push(Hit::new("Q-QUOTA", "nodeGroups", text).value(needed));
    } else if !complete {
        let text = format!("not evaluated: the size of a group can't be read, so the {what} quota is unchecked");
        sink.push(Hit::new("Q-QUOTA", "nodeGroups", text).severity(Severity::Info));
    }
}

/// What all groups need at their maximum, and whether every size was known.
fn need(pools: &[Pool<'_>], context: &Context, memory: bool) -> (i128, bool) {
    let mut complete = true;
    let sum = pools.iter().fold(0i128, |sum, pool| {
        let own = pool.leaf("resources", if memory { "memory" } else { "cpu" }).filter(|v: &&Value| chart::truthy(Some(v)));
        let text = own.map(chart::text).or_else(|| {
            let (cpu, mem) = context.offer.size(pool.text("instanceType")?)?;
            Some(if memory { mem.to_string() } else { cpu.to_string() })
        });
        let max = pool.number("maxReplicas").unwrap_or(0.0).clamp(0.0, 1e6) as i128;
        match text.and_then(|t| Quantity::parse(&t).ok()) {
            Some(q) => sum.saturating_add(q.nanos().saturating_mul(max)),
            None => {
                complete = false;
                sum
            }
        }
    });
    (sum, complete)
}
