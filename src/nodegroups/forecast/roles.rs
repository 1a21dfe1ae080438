//! Roles through an edit: which of them no pool carries from before to after. Owns that question; must not know machines or words.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;

use super::bounds;
use crate::nodegroups::{Groups, template};

/// A role that had machines allowed before the edit and that no pool carries through it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RoleGap {
    /// Role.
    pub role: String,
    /// Pools that carried it.
    pub before: Vec<String>,
    /// Pools that will carry it; none means that the role is gone, others that it is away until they have nodes.
    pub after: Vec<String>,
}

/// The gaps, by role. A pool carries a role if it names it and may have at least one machine.
pub fn gaps(running: &Groups, coming: &Groups) -> Vec<RoleGap> {
    let (before, mut after) = (carriers(running), carriers(coming));
    let gap = |(role, before): (String, Vec<String>)| {
        let after = after.remove(&role).unwrap_or_default();
        let carried = before.iter().any(|pool| after.contains(pool));
        (!carried).then_some(RoleGap { role, before, after })
    };
    before.into_iter().filter_map(gap).collect()
}

fn carriers(groups: &Groups) -> BTreeMap<String, Vec<String>> {
    let mut out: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (name, group) in groups {
        let Some(group) = group.as_object().filter(|g| bounds(g).1 > 0) else { continue };
        for role in template::items(group, "roles").filter_map(Value::as_str) {
            let pools = out.entry(role.to_string()).or_default();
            if pools.last() != Some(name) {
                pools.push(name.clone());
            }
        }
    }
    out
}
