//! The seam to the verdict engine: what state calls to turn a world into verdicts. Plain functions, so that tests can judge by hand.

use std::{collections::BTreeSet, sync::Arc};

use crate::{
    health::deadlines::Deadlines,
    model::{Time, World, verdict::Plane},
};

/// The functions that judge.
#[derive(Debug, Clone, Copy)]
pub struct Judge {
    /// Namespaces that hold a plane or traces of one.
    pub planes: fn(&World) -> BTreeSet<Arc<str>>,
    /// The verdict of one namespace; `None` when nothing speaks of a plane there.
    pub judge: fn(&World, &str, Time, &Deadlines) -> Option<Plane>,
    /// The text for a ticket, in markdown.
    pub ticket: fn(&Plane) -> String,
}
