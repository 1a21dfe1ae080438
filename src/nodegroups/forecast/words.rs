//! The forecast of one pool in one sentence. Owns the words; must not decide anything.

use serde_json::Value;

use super::{Change, PoolForecast, bounds, quota::has_gpus};
use crate::nodegroups::{Groups, path::FieldPath, template};

/// Longest value shown inside a sentence, in characters.
const VALUE_CHARS: usize = 40;

/// The sentence. Values are shown as JSON; sanitising for a terminal is the painter's.
pub fn sentence(pool: &PoolForecast, before: Option<&Groups>, after: Option<&Groups>) -> String {
    match pool.change {
        Change::None => "nothing changes".to_string(),
        Change::Metadata => metadata(pool),
        Change::Scale => scale(pool, before, after),
        Change::Roll => roll(pool, before, after),
        Change::Add => add(pool, after),
        Change::Remove => {
            let disks = if pool.loses_local_disks { "; what is on their own disks is lost" } else { "" };
            format!("deletes the pool and {}{disks}", machines(pool.machines.now))
        }
    }
}

fn machines(count: Option<u32>) -> String {
    match count {
        None => "all its machines (their number isn't known)".to_string(),
        Some(0) => "no machine (it has none)".to_string(),
        Some(1) => "its 1 machine".to_string(),
        Some(n) => format!("all {n} machines"),
    }
}

fn metadata(pool: &PoolForecast) -> String {
    let kubelet = pool.fields.iter().any(|f| f.starts_with("kubelet"));
    let known = |field: &String| template::FORWARDED.contains(&field.split('.').next().unwrap_or_default());
    let reach = match () {
        () if kubelet => "; kubelet settings never reach nodes of an existing pool",
        () if !pool.fields.iter().any(known) => "; stored, ignored by this platform",
        () => "",
    };
    format!("{}: nothing happens to machines{reach}", pool.fields.join(", "))
}

fn scale(pool: &PoolForecast, before: Option<&Groups>, after: Option<&Groups>) -> String {
    let ((old_min, old_max), (min, max)) = (before.map(bounds).unwrap_or_default(), after.map(bounds).unwrap_or_default());
    let range = format!("bounds {old_min}-{old_max} become {min}-{max}, in place");
    match pool.machines.now {
        Some(now) if now > max => {
            format!("{range}; the {now} machines stay until the autoscaler or you remove some, though only {max} are allowed")
        }
        Some(now) if now < min => format!("{range}; the autoscaler raises {now} to {min}"),
        Some(now) => format!("{range}; the {now} machines stay"),
        None => format!("{range}; nothing is recreated"),
    }
}

fn roll(pool: &PoolForecast, before: Option<&Groups>, after: Option<&Groups>) -> String {
    let what = pool.fields.iter().map(|field| step(field, before, after)).collect::<Vec<_>>().join(", ");
    let count = machines(pool.machines.now);
    let mut text = match pool.machines.now {
        Some(0) => format!("{what}: recreates {count}; new machines get the new form"),
        _ => format!("{what}: recreates {count}"),
    };
    if let Some(peak) = pool.machines.peak.filter(|_| pool.machines.now != Some(0)) {
        text += &format!(", up to {peak} at once");
    }
    if after.is_some_and(has_gpus) && pool.machines.now != Some(0) {
        text += "; the new ones need as many free GPUs beside the old";
    }
    if pool.loses_local_disks {
        text += "; what is on their own disks is lost";
    }
    if pool.only_spelling {
        text += "; the change is only spelling: keep the old text and nothing is recreated";
    }
    text
}

/// `diskSize "20Gi" → "30Gi"`.
fn step(field: &str, before: Option<&Groups>, after: Option<&Groups>) -> String {
    let path = FieldPath::new(field.split('.'));
    let show = |group: Option<&Groups>| group.and_then(|g| path.get(g)).map_or_else(|| "unset".to_string(), short);
    format!("{field} {} → {}", show(before), show(after))
}

fn short(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(VALUE_CHARS) {
        Some((at, _)) => format!("{}…", text.get(..at).unwrap_or_default()),
        None => text,
    }
}

fn add(pool: &PoolForecast, after: Option<&Groups>) -> String {
    let (min, max) = after.map(bounds).unwrap_or_default();
    let renamed = pool.renamed_from.as_ref().map_or_else(String::new, |old| {
        format!("; looks like {old} under a new name: {old} is deleted and this one created, in no fixed order")
    });
    format!("new pool: starts with {min} machine{}, at most {max}{renamed}", if min == 1 { "" } else { "s" })
}
