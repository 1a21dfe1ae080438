//! Putting text into cells: cut by display width, never outside its rectangle, in ASCII where asked. Everything is painted through here.

use ratatui::{buffer::Buffer, layout::Rect, style::Style};

use super::Theme;
use crate::{
    model::{Time, text},
    state::{
        doc::Line,
        table::{Cell, Column, Row, Sort, Table},
        words,
    },
};

/// A buffer, a theme and the clock.
pub struct Painter<'a> {
    buffer: &'a mut Buffer,
    /// Styles.
    pub theme: &'a Theme,
    /// The clock, for ages.
    pub now: Time,
    /// Rows are dimmed: they may be out of date.
    pub stale: bool,
}

impl<'a> Painter<'a> {
    /// A painter on a buffer.
    pub fn new(buffer: &'a mut Buffer, theme: &'a Theme, now: Time) -> Painter<'a> {
        Painter { buffer, theme, now, stale: false }
    }

    /// Paints text from column `x` of a rectangle's line `y` (both relative), at most `width` columns; returns the columns used.
    pub fn put(&mut self, area: Rect, (x, y): (u16, u16), s: &str, style: Style) -> u16 {
        let room = area.width.saturating_sub(x);
        self.put_n(area, (x, y, room), s, style)
    }

    /// The same with a width of its own; what is cut shows it.
    pub fn put_n(&mut self, area: Rect, (x, y, width): (u16, u16, u16), s: &str, style: Style) -> u16 {
        let room = width.min(area.width.saturating_sub(x));
        if y >= area.height || room == 0 {
            return 0;
        }
        let shown = text::cut(&self.theme.text(s), usize::from(room), self.theme.ellipsis());
        let (px, py) = (area.x.saturating_add(x), area.y.saturating_add(y));
        if !self.buffer.area.contains((px, py).into()) {
            return 0;
        }
        let (end, _) = self.buffer.set_stringn(px, py, shown, usize::from(room), style);
        end.saturating_sub(px)
    }

    /// Empties a rectangle.
    pub fn clear(&mut self, area: Rect) {
        let area = area.intersection(self.buffer.area);
        for y in area.top()..area.bottom() {
            for x in area.left()..area.right() {
                if let Some(cell) = self.buffer.cell_mut((x, y)) {
                    cell.reset();
                }
            }
        }
    }

    /// Lays a style over a rectangle.
    pub fn style(&mut self, area: Rect, style: Style) {
        self.buffer.set_style(area.intersection(self.buffer.area), style);
    }

    /// Paints a line of spans.
    pub fn spans(&mut self, area: Rect, y: u16, line: &Line) {
        let mut x = 0;
        for span in line {
            if x >= area.width {
                break;
            }
            let style = self.theme.role(span.role);
            x = x.saturating_add(self.put(area, (x, y), &span.text, style));
        }
    }

    /// Paints the lines of a text from `top`.
    pub fn lines(&mut self, area: Rect, lines: &[Line], top: usize) {
        for (y, line) in (0..area.height).zip(lines.iter().skip(top)) {
            self.spans(area, y, line);
        }
    }

    /// Paints a list: headings, then the rows in its window.
    pub fn table(&mut self, area: Rect, table: &Table) {
        let widths = layout(table, area.width);
        let headed = area.height >= 3;
        if headed {
            self.headings(area, table, &widths);
        }
        let body = Rect { y: area.y + u16::from(headed), height: area.height - u16::from(headed), ..area };
        for (i, (y, row)) in (0..body.height).zip(table.window()).enumerate() {
            let selected = table.cursor.offset() + i == table.cursor.index();
            self.row(body, y, (table.columns, row), &widths);
            if selected {
                let line = Rect { y: body.y + y, height: 1, ..body };
                self.put(body, (0, y), "▌", self.theme.accent);
                let rest = Rect { x: line.x.saturating_add(1), width: line.width.saturating_sub(1), ..line };
                self.style(rest, self.theme.selected);
            }
        }
    }

    fn headings(&mut self, area: Rect, table: &Table, widths: &[u16]) {
        let mut x = 1;
        for (i, (column, width)) in table.columns.iter().zip(widths).enumerate() {
            if *width == 0 {
                continue;
            }
            let Sort { column: by, reverse } = table.sort;
            let title = match (i == by, reverse) {
                (true, false) => format!("{}↓", column.title),
                (true, true) => format!("{}↑", column.title),
                _ => column.title.to_string(),
            };
            let pad = if column.right { width.saturating_sub(columns(&title)) } else { 0 };
            self.put_n(area, (x + pad, 0, width.saturating_sub(pad)), &title, self.theme.heading);
            x = x.saturating_add(*width).saturating_add(GAP);
        }
    }

    fn row(&mut self, area: Rect, y: u16, (columns_, row): (&[Column], &Row), widths: &[u16]) {
        let mut x = 1;
        for ((column, cell), width) in columns_.iter().zip(&row.cells).zip(widths) {
            if *width == 0 {
                continue;
            }
            self.cell(area, (x, y, *width), (column, cell), row);
            x = x.saturating_add(*width).saturating_add(GAP);
        }
    }

    fn cell(&mut self, area: Rect, (x, y, width): (u16, u16, u16), (column, cell): (&Column, &Cell), row: &Row) {
        let plain = if self.stale { self.theme.dim } else { self.theme.normal };
        let (text, style) = match cell {
            Cell::Text(s) | Cell::Number(_, s) => (s.clone(), plain),
            Cell::Age(t) => (t.map_or(words::UNKNOWN.to_string(), |t| words::ago(t, self.now)), self.theme.dim),
            Cell::State(severity, s) => {
                let style = if self.stale { self.theme.dim } else { self.theme.severity(*severity) };
                (format!("{} {s}", crate::state::screens::overview::glyph(*severity)), style)
            }
            Cell::Cause(s, since) => return self.cause(area, (x, y, width), s, *since, row),
        };
        let pad = if column.right { width.saturating_sub(columns(&self.theme.text(&text))) } else { 0 };
        self.put_n(area, (x + pad, y, width.saturating_sub(pad)), &text, style);
    }

    /// The sentence is cut, its age never.
    fn cause(&mut self, area: Rect, (x, y, width): (u16, u16, u16), s: &str, since: Option<Time>, row: &Row) {
        use crate::model::verdict::Severity::{Blocked, Failing};
        let age = since.map(|t| format!(" · {}", words::ago(t, self.now))).unwrap_or_default();
        let wanted = if s.is_empty() { 0 } else { columns(&self.theme.text(&age)) };
        let age_width = if wanted * 2 > width { 0 } else { wanted };
        let loud = matches!(row.severity, Some(Blocked | Failing)) && !self.stale;
        let style = if loud { self.theme.normal } else { self.theme.dim };
        let used = self.put_n(area, (x, y, width.saturating_sub(age_width)), s, style);
        if age_width > 0 {
            self.put_n(area, (x + used, y, age_width), &age, self.theme.dim);
        }
    }
}

/// Columns between columns.
const GAP: u16 = 2;

/// Width of a text in columns of the screen.
pub fn columns(s: &str) -> u16 {
    u16::try_from(text::width(s)).unwrap_or(u16::MAX)
}

/// Widths of a list's columns for a screen: content up to its limit, the least important dropped, the rest to the one without a limit.
pub fn layout(table: &Table, width: u16) -> Vec<u16> {
    let room = width.saturating_sub(1);
    let need = |(c, w): (&Column, &u16)| {
        let title = columns(c.title) + 1;
        if c.max == 0 { c.min } else { (*w).max(title).clamp(c.min, c.max.max(c.min)) }
    };
    let mut widths: Vec<u16> = table.columns.iter().zip(&table.widths).map(need).collect();
    let total = |w: &[u16]| w.iter().filter(|w| **w > 0).fold(0u16, |a, w| a.saturating_add(*w).saturating_add(GAP)).saturating_sub(GAP);
    // What is only nice to have goes first, then wide columns give way down to their least, then the less important of the rest go.
    while total(&widths) > room {
        let over = total(&widths) - room;
        let kept = |i: usize| widths.get(i).is_some_and(|w| *w > 0);
        let least = |from: u8| {
            let rows = table.columns.iter().enumerate().filter(|(i, c)| c.drop >= from && kept(*i));
            rows.max_by_key(|(_, c)| c.drop).map(|(i, _)| i)
        };
        let excess = |i: usize, c: &Column| widths.get(i).map_or(0, |w| w.saturating_sub(c.min));
        let widest = table.columns.iter().enumerate().filter(|(i, c)| kept(*i) && excess(*i, c) > 0);
        let widest = widest.max_by_key(|(i, c)| excess(*i, c)).map(|(i, c)| (i, excess(i, c)));
        let (column, less) = match (least(3), widest, least(1)) {
            (Some(i), ..) | (None, None, Some(i)) => (i, u16::MAX),
            (None, Some((i, excess)), _) => (i, over.min(excess).min(4)),
            (None, None, None) => break,
        };
        if let Some(w) = widths.get_mut(column) {
            *w = w.saturating_sub(less);
        }
    }
    let left = room.saturating_sub(total(&widths));
    let flexible = table.columns.iter().position(|c| c.max == 0);
    if let Some(w) = flexible.and_then(|i| widths.get_mut(i)).filter(|w| **w > 0) {
        *w = w.saturating_add(left);
    }
    widths
}
