//! A pool in numbers, for lists. Unknown is `None`, never a guess. Must not judge.

use serde_json::Value;

use super::{facts::Pool, scale};
use crate::{
    health::view::View,
    model::{
        text,
        verdict::{PoolView, State},
    },
};

/// What the platform takes where a pool names no instance type and no resources.
const DEFAULT_TYPE: &str = "u1.medium";

/// The pool's line; `None` for parts that name no pool.
pub fn of(view: &View<'_>, pool: &Pool<'_>, state: State) -> Option<PoolView> {
    let (min, max) = pool.bounds();
    let counts = scale::of_pool(view, pool);
    let pods = pool.units.iter().filter(|u| u.pod.is_some() || u.vm.is_some()).count() as i64;
    let observed = pool.monitor.and_then(|(_, m)| m.observed);
    Some(PoolView {
        name: text::line(pool.name.as_ref()?),
        state,
        min,
        max,
        desired: pool.desired(),
        ready: counts.ready,
        machines: counts.have.or(observed).or((pods > 0).then_some(pods)),
        instance_type: instance_type(pool),
    })
}

fn instance_type(pool: &Pool<'_>) -> Option<String> {
    let word = |v: &Value| v.as_str().filter(|s| !s.is_empty()).map(text::line);
    let declared = pool.declared.flatten().and_then(|v| v.get("instanceType")).and_then(word);
    let machine = pool.units.iter().filter_map(|u| u.infra.map(|(_, k)| &k.instance_type)).find(|t| !t.is_empty());
    let vm = pool.units.iter().filter_map(|u| u.vm.map(|(_, v)| &v.instance_type)).find(|t| !t.is_empty());
    let default = match pool.declared {
        Some(None) => Some(DEFAULT_TYPE.to_string()),
        Some(Some(v)) if v.get("resources").is_none() && v.get("instanceType").is_none() => Some(DEFAULT_TYPE.to_string()),
        _ => None,
    };
    declared.or(machine.or(vm).map(|t| text::line(t))).or(default)
}
