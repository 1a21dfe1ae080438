//! Quota before and after an edit, against the pools' maxima and against the surge of a roll. Owns the sums, in exact units; where a size is
//! unknown the line says so and never "fits". Must not know where sizes and quotas came from.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;

use super::{Change, Facts, PoolForecast, bounds};
use crate::nodegroups::{
    Groups,
    spelling::{self, SCALE},
    template::{self, Template},
};

/// Size of one machine, in billionths of a core and of a byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size {
    /// Virtual cores.
    pub cpu: i128,
    /// Guest memory.
    pub memory: i128,
}

/// One line of a ResourceQuota, in billionths of its unit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QuotaFact {
    /// Name of the ResourceQuota.
    pub quota: String,
    /// Resource as the quota names it, e.g. `limits.cpu`.
    pub resource: String,
    /// Limit.
    pub hard: i128,
    /// Used now; `None` if the status isn't there yet.
    pub used: Option<i128>,
}

/// How a quota line stands to the edit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Fit {
    /// Enough at the pools' maxima and during the surge.
    Fits,
    /// Enough for what happens now, but not once pools grow to their maxima.
    ShortAtMaximum,
    /// Not enough for the machines that this edit itself creates.
    ShortNow,
    /// A size, a count or the usage is unknown: not evaluated.
    NotEvaluated,
}

/// One quota line against the edit. Amounts are what machines alone take, in whole units as text; `None` is unknown.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct QuotaLine {
    /// Name of the ResourceQuota.
    pub quota: String,
    /// Resource.
    pub resource: String,
    /// Limit.
    pub hard: String,
    /// Used now, by everything.
    pub used: Option<String>,
    /// All pools at their maximum, before the edit.
    pub maximum_before: Option<String>,
    /// All pools at their maximum, after it.
    pub maximum_after: Option<String>,
    /// What the edit itself takes on top of now, at its peak.
    pub surge: Option<String>,
    /// Judgement.
    pub fit: Fit,
}

/// What a machine takes of a resource.
#[derive(Clone, Copy)]
enum Measure {
    Cpu,
    Memory,
    Disk,
    Count,
}

impl Measure {
    fn of(resource: &str) -> Option<Measure> {
        Some(match resource {
            "cpu" | "requests.cpu" | "limits.cpu" => Measure::Cpu,
            "memory" | "requests.memory" | "limits.memory" => Measure::Memory,
            "requests.storage" => Measure::Disk,
            "pods" | "count/pods" | "persistentvolumeclaims" | "count/persistentvolumeclaims" => Measure::Count,
            _ => return None,
        })
    }
}

/// The quota lines that machines count against, in the order of the facts.
pub fn lines(pools: &[PoolForecast], running: &Groups, coming: &Groups, facts: &Facts<'_>) -> Vec<QuotaLine> {
    let measured = facts.quotas.iter().filter_map(|q| Some((q, Measure::of(&q.resource)?)));
    measured.map(|(quota, measure)| line(quota, measure, pools, &Sides { running, coming, facts })).collect()
}

struct Sides<'a> {
    running: &'a Groups,
    coming: &'a Groups,
    facts: &'a Facts<'a>,
}

fn line(quota: &QuotaFact, measure: Measure, pools: &[PoolForecast], sides: &Sides<'_>) -> QuotaLine {
    let (before, after) = (maximum(sides.running, measure, sides.facts), maximum(sides.coming, measure, sides.facts));
    let surge = pools.iter().try_fold(0i128, |sum, pool| sum.checked_add(surge_of(pool, measure, sides)?));
    let held = held(pools, sides, measure);
    let fit = match (quota.used, surge, after, held) {
        (Some(used), Some(surge), Some(after), Some(held)) => {
            // Everything that isn't a machine of these pools stays as it is.
            let others = used.saturating_sub(held).max(0);
            if surge > 0 && used.saturating_add(surge) > quota.hard {
                Fit::ShortNow
            } else if others.saturating_add(after) > quota.hard {
                Fit::ShortAtMaximum
            } else {
                Fit::Fits
            }
        }
        (Some(used), Some(surge), _, _) if surge > 0 && used.saturating_add(surge) > quota.hard => Fit::ShortNow,
        _ => Fit::NotEvaluated,
    };
    QuotaLine {
        quota: quota.quota.clone(),
        resource: quota.resource.clone(),
        hard: amount(quota.hard, measure),
        used: quota.used.map(|n| amount(n, measure)),
        maximum_before: before.map(|n| amount(n, measure)),
        maximum_after: after.map(|n| amount(n, measure)),
        surge: surge.map(|n| amount(n, measure)),
        fit,
    }
}

/// All pools at their upper bound.
fn maximum(groups: &Groups, measure: Measure, facts: &Facts<'_>) -> Option<i128> {
    groups.values().filter_map(Value::as_object).try_fold(0i128, |sum, group| {
        let max = i128::from(bounds(group).1);
        sum.checked_add(if max == 0 { 0 } else { each(group, measure, facts)?.checked_mul(max)? })
    })
}

/// What the pools' machines hold of the quota now.
fn held(pools: &[PoolForecast], sides: &Sides<'_>, measure: Measure) -> Option<i128> {
    pools.iter().filter(|p| p.change != Change::Add).try_fold(0i128, |sum, pool| {
        let now = i128::from(pool.machines.now?);
        let group = sides.running.get(&pool.name).and_then(Value::as_object)?;
        sum.checked_add(if now == 0 { 0 } else { each(group, measure, sides.facts)?.checked_mul(now)? })
    })
}

/// What one pool takes on top of now: the machines of the new kind, which exist beside the old ones while it rolls.
fn surge_of(pool: &PoolForecast, measure: Measure, sides: &Sides<'_>) -> Option<i128> {
    if matches!(pool.change, Change::None | Change::Metadata | Change::Remove) {
        return Some(0);
    }
    let extra = pool.machines.peak?.saturating_sub(pool.machines.now?);
    let group = sides.coming.get(&pool.name).and_then(Value::as_object)?;
    if extra == 0 { Some(0) } else { each(group, measure, sides.facts)?.checked_mul(i128::from(extra)) }
}

/// One machine of a pool.
fn each(group: &Groups, measure: Measure, facts: &Facts<'_>) -> Option<i128> {
    let template = Template::of(group, facts.layout);
    let by_type = || template.instance_type.as_deref().and_then(facts.size);
    let given = |text: &Option<String>| text.as_ref().and_then(|t| spelling::exact(&Value::from(t.as_str())));
    match measure {
        Measure::Cpu if template.cpu.is_some() => given(&template.cpu),
        Measure::Cpu => by_type().map(|s| s.cpu),
        Measure::Memory if template.memory.is_some() => given(&template.memory),
        Measure::Memory => by_type().map(|s| s.memory),
        Measure::Disk => spelling::exact(&Value::from(template.disk.as_str())),
        Measure::Count => Some(SCALE),
    }
    .filter(|n| *n >= 0)
}

/// An exact amount in the unit people use: cores (or `m`), `Gi` and `Mi` of bytes, a plain count.
fn amount(nano: i128, measure: Measure) -> String {
    let (whole, rest) = (nano / SCALE, nano % SCALE);
    match measure {
        Measure::Cpu if rest != 0 => format!("{}m", nano.div_euclid(SCALE / 1000)),
        Measure::Cpu | Measure::Count => whole.to_string(),
        Measure::Memory | Measure::Disk => {
            let unit = [("Gi", 1i128 << 30), ("Mi", 1 << 20), ("Ki", 1 << 10)].into_iter().find(|(_, u)| whole != 0 && whole % u == 0);
            unit.map_or_else(|| whole.to_string(), |(name, unit)| format!("{}{name}", whole / unit))
        }
    }
}

/// Sum of machines by pool, for callers that count objects themselves.
pub fn counted<'a>(pool_of_each: impl Iterator<Item = &'a str>) -> BTreeMap<String, u32> {
    pool_of_each.fold(BTreeMap::new(), |mut counts, pool| {
        *counts.entry(pool.to_string()).or_insert(0) += 1;
        counts
    })
}

/// True when a group asks for GPUs: a roll then needs as many spare ones as it surges.
pub fn has_gpus(group: &Groups) -> bool {
    template::items(group, "gpus").next().is_some()
}
