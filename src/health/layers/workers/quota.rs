//! Row 28b: the tenant's quota stops a pool. Owns comparing used and hard; must not judge quotas that stop nobody.

use std::cmp::Ordering;

use super::{Case, Judgement, State, events, scale, units, verdict, with};
use crate::{
    health::{
        build::{self, Build},
        events as told, messages,
    },
    model::{
        Kind, Object,
        projection::core::{Event, Quota},
        verdict::{Evidence, Who},
    },
};

/// Row 28b. A refusal that was told proves it; a full quota beside machines that aren't made only suggests it.
pub fn blocked(c: &Case<'_>) -> Option<Judgement> {
    if !short(c) {
        return None;
    }
    let full = full(c);
    if let Some(e) = refusal(c) {
        let v = verdict(State::QuotaBlocked, events::sentence(c.view, e)).since(e.first).class(Some("QuotaBlocked"));
        let v = with(v.evidence(told::evidence(c.view, e)), full.map(|f| f.1));
        let v = if c.pool.deployment.is_none() { v.inferred() } else { v };
        return Some(steps(v, c));
    }
    let (text, evidence) = full.filter(|_| c.pool.deployment.is_some())?;
    // Something else tells why, or it has only just begun.
    let unexplained = c.pool.units.iter().all(|u| units::held(u).is_none_or(|h| h.hold == units::Hold::Other));
    let begun = scale::since(c).is_some_and(|t| c.view.age(t) > c.view.deadlines.routine_check);
    if !unexplained || !begun {
        return None;
    }
    let v = verdict(State::QuotaBlocked, format!("machines aren't made, and the quota is used up: {text}")).since(scale::since(c));
    Some(steps(v.inferred().class(Some("QuotaBlocked")).evidence(evidence), c))
}

fn steps(v: Judgement, c: &Case<'_>) -> Judgement {
    let field = c.pool.name.as_ref().map(|n| format!("nodeGroups.{n}.maxReplicas"));
    v.next(Who::ParentTenant, "raise the quota").fix(Who::Tenant, "or shrink the pool, or choose a smaller instance type", field)
}

/// The pool lacks machines, or has some whose VM isn't up. Where only a monitor speaks: it sees fewer than it wants.
fn short(c: &Case<'_>) -> bool {
    if let Some(desired) = c.pool.desired() {
        let counts = scale::counts(c);
        return counts.have.is_none_or(|h| h < desired) || c.pool.units.iter().any(|u| units::stage(u) == Some(units::Stage::Making));
    }
    match c.pool.monitor {
        Some((_, m)) => m.available.is_none_or(|a| a < m.observed.unwrap_or(0).max(m.min.unwrap_or(0)).max(1)),
        None => true,
    }
}

/// A recent refusal by quota about the pool's objects.
fn refusal<'a>(c: &Case<'a>) -> Option<&'a Event> {
    events::warnings(c).into_iter().find(|e| messages::classify(&e.message).is_some_and(|r| r.class == "QuotaBlocked"))
}

/// The first resource of the tenant's quotas that is used up, in words and as evidence.
pub fn full(c: &Case<'_>) -> Option<(String, Evidence)> {
    c.view.list(Kind::ResourceQuota).find_map(|o| used_up(o))
}

fn used_up(o: &Object) -> Option<(String, Evidence)> {
    let q = Quota::of(o)?;
    let hits = q.hard.iter().filter_map(|(k, hard)| Some((k, q.used.get(k)?, hard)));
    // What was never used says nothing: hard 0 is a ban on something else.
    let (key, used, hard) = hits
        .filter(|(k, ..)| matters(k))
        .find(|(_, used, hard)| number(used).is_some_and(|n| n > 0.0) && at_least(used, hard) == Some(true))?;
    let text = format!("{} {key} {used} of {hard}", o.meta.name);
    Some((text, build::fact(o, &format!("status.used[{key}]"), format!("{used} of {hard}"), None)))
}

/// Resources that a worker takes.
fn matters(key: &str) -> bool {
    ["cpu", "memory", "storage", "gpu", "pods", "persistentvolumeclaims", "virtualmachine"].iter().any(|m| key.contains(m))
}

fn at_least(used: &str, hard: &str) -> Option<bool> {
    Some(number(used)?.partial_cmp(&number(hard)?)? != Ordering::Less)
}

/// A Kubernetes quantity as a plain number; `None` for anything else. Rounding doesn't matter for "used up".
fn number(s: &str) -> Option<f64> {
    let end = s.find(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | '-' | '+'))).unwrap_or(s.len());
    let (digits, unit) = s.split_at_checked(end)?;
    let scale = match unit {
        "" => 1.0,
        "n" => 1e-9,
        "u" => 1e-6,
        "m" => 1e-3,
        "k" => 1e3,
        "M" => 1e6,
        "G" => 1e9,
        "T" => 1e12,
        "P" => 1e15,
        "E" => 1e18,
        "Ki" => 1024.0,
        "Mi" => 1_048_576.0,
        "Gi" => 1_073_741_824.0,
        "Ti" => 1_099_511_627_776.0,
        "Pi" => 1_125_899_906_842_624.0,
        "Ei" => 1_152_921_504_606_846_976.0,
        e => 10f64.powi(e.strip_prefix(['e', 'E'])?.parse().ok()?),
    };
    Some(digits.parse::<f64>().ok()? * scale)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_of_two_spellings_compare() {
        assert_eq!(at_least("8192Mi", "8Gi"), Some(true));
        assert_eq!(at_least("7999m", "8"), Some(false));
        assert_eq!(at_least("1e3", "1k"), Some(true));
        for odd in ["", "x", "1x", "--", "1e", "1e999999999999"] {
            assert!(number(odd).is_none_or(f64::is_infinite), "{odd}");
        }
    }
}
