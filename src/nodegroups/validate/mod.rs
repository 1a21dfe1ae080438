//! Judging one document: all findings at once, sorted, with the one that the platform would report first.
//! Owns the order of judging; each file below owns one part of the rules. Must not read a cluster, a file or a clock.

mod advice;
mod apply;
pub mod chart;
mod edits;
mod kubelet;
pub mod plain;
mod pool;
mod shape;
mod sink;
mod sizing;
pub mod table;

#[cfg(test)]
mod oracle_tests;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use super::{
    document::{Body, Document},
    finding::{Findings, Profile},
    instance_types::Offer,
};
use crate::model::quantity::Quantity;

pub use table::{RULES, Rule, rule};

/// What is known of a storage class.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StorageFacts {
    /// For each class of the platform: whether two hosts can open a volume of it (live migration needs that).
    pub shared: BTreeMap<String, bool>,
}

/// What is left of the namespace's quotas, for the whole plane's pools (what runs now counts as free).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Quota {
    /// Memory, in bytes.
    pub memory: Option<Quantity>,
    /// CPUs.
    pub cpu: Option<Quantity>,
}

/// What the judge knows beside the document. What is `None` can't be checked, and that is said.
#[derive(Debug, Clone, Default)]
pub struct Context {
    /// The platform's layout.
    pub profile: Profile,
    /// The instance types on offer.
    pub offer: Offer,
    /// Storage classes.
    pub storage: Option<StorageFacts>,
    /// GPU resource names that the platform permits.
    pub gpus: Option<BTreeSet<String>>,
    /// What quotas leave.
    pub quota: Option<Quota>,
    /// The `nodeGroups` that this document replaces.
    pub previous: Option<Map<String, Value>>,
}

/// Judges one document.
pub fn validate(document: &Document, context: &Context) -> Findings {
    let mut sink = sink::Sink::new(context.profile);
    match &document.body {
        Body::Unreadable(problems) => problems.iter().for_each(|p| sink.text(p)),
        Body::Values(values) => {
            document.notes.iter().for_each(|n| sink.text(n));
            shape::envelope(values, &mut sink);
            node_groups(values.node_groups.as_ref(), context, &mut sink);
        }
    }
    Findings::new(&document.source, context.profile, context.offer.assumed(), sink.finish())
}

/// Judges a `nodeGroups` map alone, as the editor does at every keystroke.
pub fn validate_groups(groups: &Map<String, Value>, context: &Context) -> Findings {
    let mut sink = sink::Sink::new(context.profile);
    node_groups(Some(&Value::Object(groups.clone())), context, &mut sink);
    Findings::new("nodeGroups", context.profile, context.offer.assumed(), sink.finish())
}

fn node_groups(value: Option<&Value>, context: &Context, sink: &mut sink::Sink) {
    let Some(map) = shape::map(value, sink) else { return };
    let pools = pool::pools(map);
    shape::names(&pools, context.profile, sink);
    shape::ingress(map, sink);
    for pool in &pools {
        shape::fields(pool, context.profile, sink);
        let size = sizing::check(pool, context, sink);
        kubelet::check(pool, &size, sink);
        apply::check(pool, sink);
        advice::check(pool, &size, context, sink);
    }
    advice::whole(&pools, context, sink);
    if let Some(previous) = &context.previous {
        edits::check(map, previous, sink);
    }
}
