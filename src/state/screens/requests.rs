//! The audit trail, live: what the console asked for, what was refused before it left, and the answers. Holds no bodies, by construction.

use std::{collections::BTreeMap, sync::Arc};

use crate::{
    model::audit::{AuditRecord, Decision},
    state::table::{Cell, Column, Row, Sort, Table, column},
};

/// Requests kept.
const KEPT: usize = 2_000;

/// Columns.
pub const COLUMNS: &[Column] = &[
    column("AGE", 4, 5, 0),
    column("VERB", 5, 8, 0),
    column("RESOURCE", 10, 46, 0),
    column("NAMESPACE", 9, 28, 4),
    column("NAME", 6, 28, 5),
    column("ANSWER", 7, 8, 1),
    Column { right: true, ..column("MS", 4, 6, 6) },
    Column { right: true, ..column("BYTES", 5, 10, 7) },
    column("PURPOSE", 14, 0, 2),
];

/// The last requests, by number.
#[derive(Debug, Default)]
pub struct Ring {
    records: BTreeMap<u64, (AuditRecord, Arc<Row>)>,
    /// Requests ever asked for.
    pub asked: u64,
    /// Of those, refused before they left.
    pub refused: u64,
    /// Grows with every change.
    pub revision: u64,
}

impl Ring {
    /// Adds a request, or what became of it.
    pub fn record(&mut self, seq: u64, record: AuditRecord) {
        let row = Arc::new(row(seq, &record));
        let refused = u64::from(record.decision == Decision::Refused);
        if self.records.insert(seq, (record, row)).is_none() {
            self.asked += 1;
            self.refused += refused;
        }
        while self.records.len() > KEPT {
            self.records.pop_first();
        }
        self.revision += 1;
    }

    /// The rows, oldest first.
    pub fn rows(&self) -> Vec<Arc<Row>> {
        self.records.values().map(|(_, r)| r.clone()).collect()
    }
}

fn row(seq: u64, r: &AuditRecord) -> Row {
    let group = if r.group.is_empty() { String::new() } else { format!(".{}", r.group) };
    let sub = if r.subresource.is_empty() { String::new() } else { format!("/{}", r.subresource) };
    let answer = match (r.decision, r.status) {
        (Decision::Refused, _) => "refused".to_string(),
        (Decision::Sent, Some(s)) => s.to_string(),
        (Decision::Sent, None) => "…".to_string(),
    };
    let number = |n: u64| Cell::Number(i64::try_from(n).unwrap_or(i64::MAX), n.to_string());
    let cells = vec![
        Cell::Age(Some(r.time)),
        Cell::text(&r.verb),
        Cell::text(&format!("{}{group}{sub}", r.resource)),
        Cell::text(&r.namespace),
        Cell::text(&r.name),
        Cell::Text(answer.clone()),
        number(r.millis),
        number(r.bytes),
        Cell::text(&r.purpose),
    ];
    let terms = vec![("ns", r.namespace.clone()), ("kind", r.resource.clone()), ("state", answer)];
    // The newest on top of those of one moment.
    Row::new(format!("{:020}", u64::MAX - seq), cells, None, terms)
}

/// The screen.
#[derive(Debug)]
pub struct Requests {
    /// Rows.
    pub table: Table,
}

impl Default for Requests {
    fn default() -> Self {
        Requests { table: Table::new(COLUMNS, Sort::default()) }
    }
}
