//! The seam to the verdict engine: what state calls to turn a world into verdicts. Plain functions, so that tests can judge by hand.

use std::{collections::BTreeSet, sync::Arc};

use crate::{
    health::{self, deadlines::Deadlines},
    model::{Time, World, verdict::Plane},
};

/// The functions that judge.
#[derive(Debug, Clone, Copy)]
pub struct Judge {
    /// Namespaces that hold a plane or traces of one.
    pub planes: fn(&World) -> BTreeSet<Arc<str>>,
    /// The verdict of one namespace; `None` when nothing speaks of a plane there.
    pub judge: fn(&World, &str, Time, &Deadlines) -> Option<Plane>,
    /// The verdict of a namespace that someone asked for, whatever is there.
    pub asked: fn(&World, &str, Time, &Deadlines) -> Plane,
    /// The text for a ticket, in markdown.
    pub ticket: fn(&Plane) -> String,
}

impl Judge {
    /// The verdict engine.
    pub fn engine() -> Judge {
        Judge { planes: health::planes, judge: health::judge, asked: health::judge_asked, ticket: health::explain::ticket_markdown }
    }
}
