//! A list as data: columns, rows with cells that keep their meaning, sorting, filtering, a cursor. All lists of the console are this one.
//! Owns the derived order, made only when revision, filter or sort changed; must not know what the rows are about.

use std::{cmp::Ordering, collections::BTreeMap, sync::Arc};

use super::{cursor::Cursor, filter::FilterLine};
use crate::model::{Time, text, verdict::Severity};

/// One column.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Column {
    /// Heading.
    pub title: &'static str,
    /// Columns of the screen at least.
    pub min: u16,
    /// At most; 0 for the one column that takes what is left.
    pub max: u16,
    /// Dropped first where there is no room: the largest; 0 is never dropped.
    pub drop: u8,
    /// Numbers stand to the right.
    pub right: bool,
}

/// A column.
pub const fn column(title: &'static str, min: u16, max: u16, drop: u8) -> Column {
    Column { title, min, max, drop, right: false }
}

/// One cell, with its meaning kept for sorting and painting.
#[derive(Debug, Clone, PartialEq)]
pub enum Cell {
    /// Text.
    Text(String),
    /// A number and how it is written.
    Number(i64, String),
    /// A moment, painted as an age; `None` is painted as unknown.
    Age(Option<Time>),
    /// A state: by glyph and word.
    State(Severity, String),
    /// A sentence, and since when.
    Cause(String, Option<Time>),
}

impl Cell {
    /// Text, safe to paint.
    pub fn text(s: &str) -> Cell {
        Cell::Text(text::line(s))
    }

    /// Columns it needs; ages are short.
    fn width(&self) -> u16 {
        let w = match self {
            Cell::Text(s) | Cell::Number(_, s) => text::width(s),
            Cell::Age(_) => 4,
            Cell::State(_, s) => text::width(s) + 2,
            Cell::Cause(s, since) => text::width(s) + if since.is_some() { 7 } else { 0 },
        };
        u16::try_from(w).unwrap_or(u16::MAX)
    }

    fn cmp(&self, other: &Cell) -> Ordering {
        match (self, other) {
            (Cell::Number(a, _), Cell::Number(b, _)) => a.cmp(b),
            // The youngest first, the unknown last.
            (Cell::Age(a), Cell::Age(b)) => b.cmp(a),
            (Cell::State(a, x), Cell::State(b, y)) => a.cmp(b).then_with(|| x.cmp(y)),
            (Cell::Text(a) | Cell::Cause(a, _), Cell::Text(b) | Cell::Cause(b, _)) => a.cmp(b),
            _ => Ordering::Equal,
        }
    }
}

/// One row. Text in it is safe to paint.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// Identity.
    pub key: String,
    /// Cells, one a column.
    pub cells: Vec<Cell>,
    /// How bad, where that means anything.
    pub severity: Option<Severity>,
    /// Words for `term:` filters: (`state`, `RenderRejected`).
    pub terms: Vec<(&'static str, String)>,
    /// What free words are searched in.
    pub hay: String,
    widths: Vec<u16>,
}

impl Row {
    /// A row; the searched text is that of all cells.
    pub fn new(key: impl Into<String>, cells: Vec<Cell>, severity: Option<Severity>, terms: Vec<(&'static str, String)>) -> Row {
        let words = cells.iter().filter_map(|c| match c {
            Cell::Text(s) | Cell::Number(_, s) | Cell::State(_, s) | Cell::Cause(s, _) => Some(s.as_str()),
            Cell::Age(_) => None,
        });
        let hay = words.collect::<Vec<_>>().join(" ");
        let widths = cells.iter().map(Cell::width).collect();
        Row { key: key.into(), cells, severity, terms, hay, widths }
    }
}

/// The order of a list.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Sort {
    /// Column number.
    pub column: usize,
    /// From the end.
    pub reverse: bool,
}

/// A list with everything that is remembered about looking at it.
#[derive(Debug, Clone)]
pub struct Table {
    /// Columns.
    pub columns: &'static [Column],
    /// Rows to show, filtered and sorted.
    pub rows: Vec<Arc<Row>>,
    /// Rows before the filter.
    pub all: Vec<Arc<Row>>,
    /// Widest cell of each column so far: grows, so that nothing jumps to and fro.
    pub widths: Vec<u16>,
    /// Selection.
    pub cursor: Cursor,
    /// Filter.
    pub filter: FilterLine,
    /// Order.
    pub sort: Sort,
    /// Lines on screen.
    pub height: usize,
    places: BTreeMap<String, usize>,
    made_for: Option<(u64, String, Sort)>,
}

impl Table {
    /// An empty list.
    pub fn new(columns: &'static [Column], sort: Sort) -> Table {
        Table {
            columns,
            rows: Vec::new(),
            all: Vec::new(),
            widths: vec![0; columns.len()],
            cursor: Cursor::default(),
            filter: FilterLine::default(),
            sort,
            height: 1,
            places: BTreeMap::new(),
            made_for: None,
        }
    }

    /// The selected row.
    pub fn selected(&self) -> Option<&Arc<Row>> {
        self.rows.get(self.cursor.index())
    }

    /// The rows on screen.
    pub fn window(&self) -> &[Arc<Row>] {
        let end = (self.cursor.offset() + self.height).min(self.rows.len());
        self.rows.get(self.cursor.offset()..end).unwrap_or_default()
    }

    /// Makes the order again if anything it depends on changed. `all` is only called then.
    pub fn refresh(&mut self, revision: u64, height: usize, all: impl FnOnce() -> Vec<Arc<Row>>) {
        let wanted = (revision, self.filter.text().to_string(), self.sort);
        if self.made_for.as_ref() != Some(&wanted) {
            if self.made_for.as_ref().is_none_or(|(r, ..)| *r != revision) {
                self.all = all();
            }
            let filter = self.filter.parsed();
            self.rows = self.all.iter().filter(|r| filter.matches(r)).cloned().collect();
            let Sort { column, reverse } = self.sort;
            self.rows.sort_by(|a, b| {
                let by = match (a.cells.get(column), b.cells.get(column)) {
                    (Some(x), Some(y)) => x.cmp(y),
                    _ => Ordering::Equal,
                };
                let by = if reverse { by.reverse() } else { by };
                by.then_with(|| a.key.cmp(&b.key))
            });
            self.places = self.rows.iter().enumerate().map(|(i, r)| (r.key.clone(), i)).collect();
            for row in &self.rows {
                for (have, need) in self.widths.iter_mut().zip(&row.widths) {
                    *have = (*have).max(*need);
                }
            }
            self.made_for = Some(wanted);
        }
        self.height = height;
        let (rows, places) = (&self.rows, &self.places);
        self.cursor.sync(rows.len(), height, |i| rows.get(i).map(|r| r.key.clone()), |k| places.get(k).copied());
    }

    /// Moves the cursor by lines.
    pub fn go(&mut self, by: isize) {
        let rows = &self.rows;
        self.cursor.go(by, rows.len(), self.height, |i| rows.get(i).map(|r| r.key.clone()));
    }

    /// Sorts by the next column.
    pub fn sort_next(&mut self) {
        self.sort = Sort { column: (self.sort.column + 1) % self.columns.len().max(1), reverse: false };
    }
}
