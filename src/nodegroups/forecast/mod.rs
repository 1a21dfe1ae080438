//! What an edit of `nodeGroups` will do to machines, by the roll rules (`platform.md` 3.5, 3.6). Owns the change of each pool and its
//! counts; words are in [`words`], quota in [`quota`], roles in [`roles`]. Must not judge whether the values are valid.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    Groups,
    path::{self, Difference, FieldPath},
    spelling::same_quantity,
    template::{self, Layout, Template},
};

pub mod notices;
pub mod quota;
pub mod roles;
pub mod words;

pub use notices::Notice;
pub use quota::{QuotaFact, QuotaLine, Size};
pub use roles::RoleGap;

/// What is known besides the two maps. Whatever is absent stays unknown in the result; nothing is assumed.
pub struct Facts<'a> {
    /// How the platform renders pools.
    pub layout: Layout,
    /// Machines that exist now, by pool; a pool that isn't named is unknown.
    pub machines: &'a BTreeMap<String, u32>,
    /// Size of an instance type by name.
    pub size: &'a dyn Fn(&str) -> Option<Size>,
    /// Quotas of the namespace.
    pub quotas: &'a [QuotaFact],
}

/// What happens to a pool. Names are the contract's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Change {
    /// Nothing differs.
    None,
    /// Something differs; nothing happens to machines.
    Metadata,
    /// Bounds change in place.
    Scale,
    /// Every machine is recreated.
    Roll,
    /// The pool is new.
    Add,
    /// The pool and its machines are deleted.
    Remove,
}

/// Machines of a pool; `None` is unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Machines {
    /// Existing now.
    pub now: Option<u32>,
    /// Replaced by new ones (new disk, new addresses).
    pub recreated: Option<u32>,
    /// Most that may exist at one moment while the edit lands.
    pub peak: Option<u32>,
}

/// The way to make an edit without rolling: a field whose new text means the same as the old one.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct KeepSpelling {
    /// Field.
    pub path: FieldPath,
    /// The old text; `None` where the field was absent.
    pub keep: Option<Value>,
    /// The new text, of the same meaning.
    pub instead_of: Option<Value>,
}

/// What happens to one pool.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PoolForecast {
    /// Name.
    pub name: String,
    /// What happens.
    pub change: Change,
    /// Fields that cause it, without the pool's name.
    pub fields: Vec<String>,
    /// Counts.
    pub machines: Machines,
    /// The same in one sentence.
    pub text: String,
    /// Fields that changed as well, but cause less than `change`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<String>,
    /// Fixes for causes that are only spelling.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub keep_spelling: Vec<KeepSpelling>,
    /// Every cause is only spelling: with the fixes nothing would be recreated.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub only_spelling: bool,
    /// What stands on the machines' own disks is lost.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub loses_local_disks: bool,
    /// The removed pool that this added one looks like.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub renamed_from: Option<String>,
}

/// What happens to the plane.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Forecast {
    /// Every pool that runs before or after, by name.
    pub pools: Vec<PoolForecast>,
    /// Quota lines that bear on machines, before and after.
    pub quota: Vec<QuotaLine>,
    /// Roles that no pool carries through the edit.
    pub role_gaps: Vec<RoleGap>,
    /// Warnings that only the comparison of before and after can give.
    #[serde(skip)]
    pub notices: Vec<Notice>,
}

impl Forecast {
    /// Machines that are recreated or deleted; `None` if a pool concerned is unknown.
    pub fn destroyed(&self) -> Option<u32> {
        self.pools.iter().try_fold(0u32, |sum, pool| match pool.change {
            Change::Roll => Some(sum.saturating_add(pool.machines.recreated?)),
            Change::Remove => Some(sum.saturating_add(pool.machines.now?)),
            _ => Some(sum),
        })
    }

    /// True when machines may be destroyed: the case in which a person types the plane's name. An unknown count counts as some.
    pub fn is_destructive(&self) -> bool {
        self.destroyed() != Some(0)
    }
}

/// A pool on both sides, as it runs. Either side may be absent.
struct Pair<'a> {
    name: &'a str,
    before: Option<&'a Groups>,
    after: Option<&'a Groups>,
    now: Option<u32>,
}

/// Forecasts the edit from `before` to `after`, both as `spec.nodeGroups` holds them.
pub fn forecast(before: &Groups, after: &Groups, facts: &Facts<'_>) -> Forecast {
    let (running, coming) = (template::effective(before), template::effective(after));
    let mut names: Vec<&String> = running.keys().chain(coming.keys().filter(|k| !running.contains_key(*k))).collect();
    names.sort();
    let pairs: Vec<Pair<'_>> = names
        .into_iter()
        .map(|name| Pair {
            name,
            before: running.get(name).and_then(Value::as_object),
            after: coming.get(name).and_then(Value::as_object),
            now: facts.machines.get(name).copied(),
        })
        .collect();
    let mut pools: Vec<PoolForecast> = pairs.iter().map(|pair| pool(pair, facts.layout)).collect();
    mark_renames(&mut pools, &pairs, facts.layout);
    let role_gaps = roles::gaps(&running, &coming);
    for (forecast, pair) in pools.iter_mut().zip(&pairs) {
        forecast.text = words::sentence(forecast, pair.before, pair.after);
    }
    let quota = quota::lines(&pools, &running, &coming, facts);
    let notices = notices::all(&notices::Edit { before, after, running: &running, coming: &coming, pools: &pools, gaps: &role_gaps });
    Forecast { pools, quota, role_gaps, notices }
}

fn pool(pair: &Pair<'_>, layout: Layout) -> PoolForecast {
    let mut out = PoolForecast {
        name: pair.name.to_string(),
        change: Change::None,
        fields: Vec::new(),
        machines: Machines { now: pair.now, recreated: Some(0), peak: pair.now },
        text: String::new(),
        also: Vec::new(),
        keep_spelling: Vec::new(),
        only_spelling: false,
        loses_local_disks: false,
        renamed_from: None,
    };
    match (pair.before, pair.after) {
        (Some(before), Some(after)) => edited(&mut out, before, after, layout),
        (None, Some(after)) => {
            out.change = Change::Add;
            // Machines that already carry the pool's name (left by an earlier removal) are counted if they are known.
            let now = pair.now.unwrap_or(0);
            out.machines = Machines { now: Some(now), recreated: Some(0), peak: Some(now.max(bounds(after).0)) };
        }
        (Some(_), None) => {
            out.change = Change::Remove;
            out.loses_local_disks = pair.now != Some(0);
        }
        (None, None) => {}
    }
    out
}

/// Lower and upper bound as counts; absent ones are the defaults, negative ones and other types count as zero.
pub(super) fn bounds(group: &Groups) -> (u32, u32) {
    let read = |key: &str, default: i64| match group.get(key).filter(|v| !v.is_null()) {
        None => u32::try_from(default).unwrap_or(0),
        // An integral float is an integer to the platform.
        Some(v) => v.as_f64().filter(|f| *f >= 0.0).map_or(0, |f| f as u32),
    };
    (read("minReplicas", template::DEFAULT_MIN), read("maxReplicas", template::DEFAULT_MAX))
}

fn edited(out: &mut PoolForecast, before: &Groups, after: &Groups, layout: Layout) {
    // The common case on every keystroke: nothing else than the pool being typed in differs.
    if before == after {
        return;
    }
    let differences: Vec<Difference> = group_differences(&out.name, before, after);
    if differences.is_empty() {
        return;
    }
    let (old, new) = (Template::of(before, layout), Template::of(after, layout));
    let changed: Vec<String> = differences.iter().map(|d| d.path.field()).collect();
    let bounds_changed = bounds(before) != bounds(after);
    let (min, max) = bounds(after);
    if old != new {
        out.change = Change::Roll;
        out.fields = causes(&old, &new, before, after);
        out.machines.recreated = out.machines.now;
        out.machines.peak = out.machines.now.map(|now| peak(now, min, max));
        out.loses_local_disks = out.machines.now != Some(0);
        out.keep_spelling = kept_spellings(&out.name, &out.fields, before, after);
        out.only_spelling = reverts_to(&old, &out.keep_spelling, after, layout);
    } else if bounds_changed {
        out.change = Change::Scale;
        out.fields = changed.iter().filter(|f| *f == "minReplicas" || *f == "maxReplicas").cloned().collect();
        out.machines.peak = out.machines.now.map(|now| now.max(min));
    } else {
        out.change = Change::Metadata;
        out.fields = changed.clone();
    }
    let within = |a: &str, b: &str| a == b || a.strip_prefix(b).is_some_and(|rest| rest.starts_with('.'));
    out.also = changed.into_iter().filter(|f| !out.fields.iter().any(|cause| within(f, cause) || within(cause, f))).collect();
}

/// Most machines at one moment of a roll. The new set grows up to the wanted number at once, the total stays within wanted + surge, and the
/// surge is the pool's own maximum (K:881-885), so it is up to twice, not one more. A raised minimum adds machines beside the roll.
fn peak(now: u32, min: u32, max: u32) -> u32 {
    let wanted = now.max(min);
    if now == 0 { wanted } else { wanted.saturating_add(max.min(wanted)) }
}

/// Differences within one pool; an absent, a null and an empty struct are no difference in themselves, but are listed as changed text.
fn group_differences(name: &str, before: &Groups, after: &Groups) -> Vec<Difference> {
    let wrap = |group: &Groups| Groups::from_iter([(name.to_string(), Value::Object(group.clone()))]);
    path::differences(&wrap(before), &wrap(after))
}

/// Fields whose rendered part differs and which were themselves edited. A part may vanish because of another field (the instance type, when
/// cpu and memory appear): then that other field is the cause, not this one.
fn causes(old: &Template, new: &Template, before: &Groups, after: &Groups) -> Vec<String> {
    let read = |group: &Groups, field: &str| FieldPath::new(field.split('.')).get(group).cloned();
    let parts = old.parts().into_iter().zip(new.parts());
    parts
        .filter(|((field, was), (_, is))| {
            was != is || (*field == "roles" && old.roles != new.roles) || (*field == "gpus" && old.gpus != new.gpus)
        })
        .filter(|((field, _), _)| read(before, field) != read(after, field))
        .map(|((field, _), _)| field.to_string())
        .collect()
}

/// For each cause that means the same as before: what to write instead.
fn kept_spellings(pool: &str, causes: &[String], before: &Groups, after: &Groups) -> Vec<KeepSpelling> {
    let mut out = Vec::new();
    for field in causes {
        let local = FieldPath::new(field.split('.'));
        let (old, new) = (local.get(before), local.get(after));
        let same = match field.as_str() {
            "diskSize" => same_quantity(&shown_disk(old), &shown_disk(new)),
            "resources.cpu" | "resources.memory" | "podCpuLimit" | "podCpuRequest" => {
                matches!((old, new), (Some(a), Some(b)) if same_quantity(a, b))
            }
            "roles" => same_set(before, after, "roles"),
            "gpus" => same_set(before, after, "gpus"),
            _ => false,
        };
        if same {
            let path = field.split('.').fold(FieldPath::new([pool]), |p, key| p.child(key));
            out.push(KeepSpelling { path, keep: old.cloned(), instead_of: new.cloned() });
        }
    }
    out
}

fn shown_disk(value: Option<&Value>) -> Value {
    value.filter(|v| template::truthy(v)).cloned().unwrap_or_else(|| Value::from(template::DEFAULT_DISK))
}

/// Roles are a set of labels, whatever their order. Of GPUs the number counts too.
fn same_set(before: &Groups, after: &Groups, key: &str) -> bool {
    let sorted = |group: &Groups| {
        let name = |item: &Value| if key == "gpus" { item.get("name").map(template::text) } else { Some(template::text(item)) };
        let mut list: Vec<Option<String>> = template::items(group, key).map(name).collect();
        list.sort();
        if key == "roles" {
            list.dedup();
        }
        list
    };
    sorted(before) == sorted(after)
}

/// Whether putting the old spellings back would leave nothing that rolls.
fn reverts_to(old: &Template, fixes: &[KeepSpelling], after: &Groups, layout: Layout) -> bool {
    if fixes.is_empty() {
        return false;
    }
    let mut fixed = after.clone();
    for fix in fixes {
        FieldPath::new(fix.path.keys().iter().skip(1).cloned()).set(&mut fixed, fix.keep.clone());
    }
    Template::of(&fixed, layout) == *old
}

/// A removed pool and an added one that would run the same machines are probably one pool under a new name. Each is used once; the same
/// bounds win over the same machines alone.
fn mark_renames(pools: &mut [PoolForecast], pairs: &[Pair<'_>], layout: Layout) {
    let removed: Vec<(&str, &Groups)> = pairs.iter().filter(|p| p.after.is_none()).filter_map(|p| Some((p.name, p.before?))).collect();
    let mut taken: Vec<&str> = Vec::new();
    for exact in [true, false] {
        for (forecast, pair) in pools.iter_mut().zip(pairs) {
            let (None, Some(after)) = (pair.before, pair.after) else { continue };
            let alike = |old: &Groups| Template::of(old, layout) == Template::of(after, layout) && (!exact || bounds(old) == bounds(after));
            let found = removed.iter().find(|(name, group)| !taken.contains(name) && alike(group));
            if let (None, Some((name, _))) = (&forecast.renamed_from, found) {
                forecast.renamed_from = Some((*name).to_string());
                taken.push(name);
            }
        }
    }
}

#[cfg(test)]
mod oracle_tests;
#[cfg(test)]
mod tests;
