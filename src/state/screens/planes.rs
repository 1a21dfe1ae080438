//! The list of planes: its columns, its rows, and its counts. Must not judge.

use crate::{
    model::{
        text,
        verdict::{Plane, Severity, State},
    },
    state::{
        doc::Doc,
        store::Sphere,
        table::{Cell, Column, Row, Sort, Table, column},
        words,
    },
};

/// Columns.
pub const COLUMNS: &[Column] = &[
    column("NAMESPACE", 11, 32, 1),
    column("STATE", 10, 30, 0),
    column("CONTROL PLANE", 13, 18, 5),
    column("POOLS", 5, 16, 6),
    column("NODES", 5, 16, 3),
    Column { right: true, ..column("AGE", 4, 5, 4) },
    column("WHY", 20, 0, 2),
];

/// Number of the state column, by which the list is sorted at first: the worst on top.
const STATE: usize = 1;

/// The home screen.
#[derive(Debug)]
pub struct Planes {
    /// Rows.
    pub table: Table,
    /// The page shown instead, when there are no rows.
    pub page: Option<Doc>,
    /// Namespaces looked at that hold no plane.
    pub without: usize,
    /// Planes by severity.
    pub counts: Vec<(Severity, usize)>,
}

impl Default for Planes {
    fn default() -> Self {
        Planes { table: Table::new(COLUMNS, Sort { column: STATE, reverse: false }), page: None, without: 0, counts: Vec::new() }
    }
}

/// The row of one plane.
pub fn row(p: &Plane) -> Row {
    let pools: Vec<String> = p.pools.iter().map(|x| text::line(&x.name)).collect();
    let (ready, nodes) = words::all_nodes(p);
    let cells = vec![
        Cell::text(&p.namespace),
        Cell::State(p.severity, words::state(p)),
        Cell::Text(words::control_plane(p)),
        Cell::Text(if pools.is_empty() { words::UNKNOWN.to_string() } else { pools.join(" ") }),
        Cell::Number(ready, nodes),
        Cell::Age(p.created),
        Cell::Cause(text::line(&p.cause), p.since.filter(|_| p.severity != Severity::Ready)),
    ];
    let mut terms =
        vec![("ns", text::line(&p.namespace)), ("state", p.state.name().to_string()), ("sev", words::severity(p.severity).into())];
    terms.extend(pools.into_iter().map(|n| ("pool", n)));
    // One plane a namespace: its name is what is selected, since a plane that is deleted and made again is the same to a person looking.
    Row::new(p.namespace.clone(), cells, Some(p.severity), terms)
}

impl Planes {
    /// Makes rows and counts again if verdicts changed.
    pub fn refresh(&mut self, sphere: Option<&Sphere>, height: usize) {
        let revision = sphere.map_or(0, |s| s.revision + 1);
        let planes = || sphere.into_iter().flat_map(|s| s.planes.values()).filter(|j| shown(&j.plane));
        self.table.refresh(revision, height, || planes().map(|j| j.row.clone()).collect());
        self.without = sphere.map_or(0, |s| s.planes.len()) - planes().count();
        let mut counts: std::collections::BTreeMap<Severity, usize> = std::collections::BTreeMap::new();
        planes().for_each(|j| *counts.entry(j.plane.severity).or_default() += 1);
        self.counts = counts.into_iter().collect();
    }
}

/// Namespaces without a plane are counted, not listed.
fn shown(p: &Plane) -> bool {
    p.state != State::NotEnabled
}

/// True when all rows only say that one can't know: then a page explains it better. A broken tenant without a plane is worth its row.
pub fn only_refusals(sphere: &Sphere) -> bool {
    let mut rows = sphere.planes.values().filter(|j| shown(&j.plane)).peekable();
    rows.peek().is_some() && rows.all(|j| j.asked && j.plane.severity >= Severity::Unknown)
}
