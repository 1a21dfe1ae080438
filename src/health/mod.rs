//! From signals to verdicts: one plane's part of the world goes in, a judgement with evidence and next steps comes out.
//! Owns the entry points; must not do I/O or read a clock.

pub mod build;
pub mod catalog;
pub mod coverage;
pub mod deadlines;
mod diff;
pub mod engine;
pub mod events;
pub mod explain;
pub mod freshness;
pub mod layers;
pub mod messages;
pub mod planes;
pub mod release;
pub mod view;

#[cfg(test)]
mod tests;

pub use diff::diff;
pub use planes::planes;

use deadlines::Deadlines;
use view::View;

use crate::model::{
    Time, World,
    verdict::{Layer, Plane, Severity, State},
};

/// Judges the plane of a namespace; `None` when nothing there names one.
pub fn judge(world: &World, namespace: &str, now: Time, deadlines: &Deadlines) -> Option<Plane> {
    planes::is_plane(world, namespace).then(|| engine::assemble(&View { world, namespace, now, deadlines }))
}

/// Judges a namespace that somebody asked for: where nothing names a plane the answer is `NotEnabled`, or what can't be known.
pub fn judge_asked(world: &World, namespace: &str, now: Time, deadlines: &Deadlines) -> Plane {
    let mut plane = engine::assemble(&View { world, namespace, now, deadlines });
    let module = plane.layers.iter().find(|v| v.layer == Layer::Module);
    let tenant_broken = plane.layers.iter().any(|v| v.layer == Layer::Tenant && v.severity < Severity::Unknown);
    if let Some(m) = module.filter(|m| m.state == State::NotEnabled && !tenant_broken && !planes::is_plane(world, namespace)) {
        (plane.state, plane.severity, plane.layer, plane.visible_state) = (m.state, m.severity, m.layer, None);
        (plane.cause, plane.evidence, plane.next) = (m.cause.clone(), m.evidence.clone(), m.next.clone());
    }
    plane
}
