//! `plan`: what an edit will do and the patch that makes it, as the contract's `Plan`. Owns the document and its text; must not read, write
//! or judge values itself.

use serde::Serialize;
use serde_json::Value;

use super::output::{Format, Out};
use crate::nodegroups::{
    Groups,
    forecast::{self, Facts, Forecast, Machines, PoolForecast, QuotaLine, RoleGap},
    patch::{self, MadeReal, Op, PatchRefused},
    template::Layout,
};

/// Formats that `plan` offers; the first is the default.
pub const FORMATS: &[Format] = &[Format::Table, Format::Json, Format::Jsonl, Format::Yaml, Format::Csv, Format::Markdown];

const HEADER: &[&str] = &["POOL", "CHANGE", "FIELDS", "NOW", "RECREATED", "PEAK", "WHAT HAPPENS"];

/// The contract's `Plan`. `W` is what findings are made of.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PlanDocument<W = Value> {
    /// Always `Plan`.
    pub kind: &'static str,
    /// Namespace; empty when files are compared and name none.
    pub namespace: String,
    /// Name of the plane.
    pub name: String,
    /// Layout the plan is made for.
    pub profile: Layout,
    /// Every pool, complete even when a finding refuses the plan.
    pub pools: Vec<PoolForecast>,
    /// Findings: of the values after the edit, and of the edit itself.
    pub warnings: Vec<W>,
    /// The patch as it would be sent; with files there is no UID to test.
    pub patch: Vec<Op>,
    /// Quota before and after.
    pub quota: Vec<QuotaLine>,
    /// Roles without a pool through the edit.
    pub role_gaps: Vec<RoleGap>,
    /// What any patch would make real besides.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub made_real: Vec<MadeReal>,
}

/// What a plan is made from.
pub struct Input<'a> {
    /// Namespace.
    pub namespace: &'a str,
    /// Name.
    pub name: &'a str,
    /// Before.
    pub before: Before<'a>,
    /// After, as written by the user.
    pub after: &'a Groups,
}

/// Where the state before comes from.
#[derive(Clone, Copy)]
pub enum Before<'a> {
    /// Another file: nothing will be sent.
    File(&'a Groups),
    /// The plane as just read; with the stored map where it could be read too.
    Live {
        /// The whole object.
        object: &'a Value,
        /// `nodeGroups` as stored in the HelmRelease's values.
        stored: Option<&'a Groups>,
    },
}

/// Makes the plan. Findings of the values after the edit are the caller's to put in front of `warnings`.
///
/// # Errors
/// When the live object can't be patched at all (see [`PatchRefused`]).
pub fn plan(input: &Input<'_>, facts: &Facts<'_>) -> Result<PlanDocument<Value>, PatchRefused> {
    let none = Groups::new();
    let (before, patch, made_real) = match input.before {
        Before::File(before) => (before, patch::between(None, before, &patch::writable(before, input.after)), Vec::new()),
        Before::Live { object, stored } => {
            let live = object.pointer("/spec/nodeGroups").and_then(Value::as_object).unwrap_or(&none);
            let ops = patch::for_object(object, &patch::writable(live, input.after))?;
            let real = if ops.is_empty() { Vec::new() } else { patch::hidden_made_real(stored, live) };
            (live, ops, real)
        }
    };
    let Forecast { pools, quota, role_gaps, notices } = forecast::forecast(before, input.after, facts);
    Ok(PlanDocument {
        kind: "Plan",
        namespace: input.namespace.to_string(),
        name: input.name.to_string(),
        profile: facts.layout,
        pools,
        warnings: notices.iter().map(forecast::Notice::finding).collect(),
        patch,
        quota,
        role_gaps,
        made_real,
    })
}

/// True when a finding refuses the plan (exit 1).
pub fn refused(plan: &PlanDocument<Value>) -> bool {
    plan.warnings.iter().any(|w| w.get("severity").and_then(Value::as_str) == Some("error"))
}

/// Prints the plan; as a table with its warnings, quota and patch below.
pub fn print(out: &mut Out, format: Format, plan: &PlanDocument<Value>) {
    match format {
        Format::Json | Format::Jsonl | Format::Yaml => out.document(format, plan),
        Format::Csv | Format::Markdown => out.rows(format, HEADER, &rows(plan)),
        Format::Table | Format::Wide => {
            out.rows(format, HEADER, &rows(plan));
            below(plan).iter().for_each(|line| out.line(line));
        }
    }
}

fn rows(plan: &PlanDocument<Value>) -> Vec<Vec<String>> {
    plan.pools.iter().map(row).collect()
}

fn row(pool: &PoolForecast) -> Vec<String> {
    let count = |n: Option<u32>| n.map_or_else(|| "?".to_string(), |n| n.to_string());
    let Machines { now, recreated, peak } = pool.machines;
    let change = serde_json::to_value(pool.change).ok().and_then(|v| v.as_str().map(str::to_string)).unwrap_or_default();
    let fields = if pool.fields.is_empty() { "-".to_string() } else { pool.fields.join(",") };
    vec![pool.name.clone(), change, fields, count(now), count(recreated), count(peak), pool.text.clone()]
}

fn below(plan: &PlanDocument<Value>) -> Vec<String> {
    let mut lines = Vec::new();
    for pool in &plan.pools {
        for fix in &pool.keep_spelling {
            let keep = fix.keep.as_ref().map_or_else(|| "leave it out".to_string(), |v| format!("keep {v}"));
            lines.push(format!("spelling  {}: {keep}, it means the same and recreates nothing", fix.path.dotted()));
        }
    }
    let text = |w: &Value, key: &str| w.get(key).and_then(Value::as_str).unwrap_or_default().to_string();
    lines.extend(
        plan.warnings.iter().map(|w| format!("{}  {} {}: {}", text(w, "severity"), text(w, "id"), text(w, "path"), text(w, "message"))),
    );
    lines.extend(plan.made_real.iter().map(|m| {
        let certain = if m.certain { "" } else { " (possibly)" };
        format!("becomes real{certain}  {} {}: {}", m.id, m.path.dotted(), m.shown)
    }));
    lines.extend(plan.quota.iter().map(quota_line));
    lines.push(if plan.patch.is_empty() { "patch  nothing to write".to_string() } else { "patch".to_string() });
    lines.extend(plan.patch.iter().map(|op| format!("  {}", serde_json::to_string(op).unwrap_or_default())));
    lines
}

fn quota_line(q: &QuotaLine) -> String {
    let show = |n: &Option<String>| n.clone().unwrap_or_else(|| "?".to_string());
    let fit = serde_json::to_value(q.fit).ok().and_then(|v| v.as_str().map(str::to_string)).unwrap_or_default();
    let (used, before, after, surge) = (show(&q.used), show(&q.maximum_before), show(&q.maximum_after), show(&q.surge));
    format!(
        "quota  {}/{}: {fit}; used {used} of {}, pools at most {before} before and {after} after, surge {surge}",
        q.quota, q.resource, q.hard
    )
}

#[cfg(test)]
mod tests;
