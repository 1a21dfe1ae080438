//! Help and pickers, over the screen. They clear what they cover and nothing else.

use ratatui::layout::{Position, Rect};

use super::paint::{Painter, columns};
use crate::state::overlays::{
    Overlay,
    picker::{Picker, Purpose},
};

/// Paints one overlay; answers with the place of the text cursor, if there is one.
pub fn draw(p: &mut Painter<'_>, area: Rect, overlay: &Overlay) -> Option<Position> {
    p.clear(area);
    match overlay {
        Overlay::Help(h) => {
            p.lines(area, &h.doc.lines, h.scroll.top);
            None
        }
        Overlay::Picker(k) => picker(p, area, k),
    }
}

fn picker(p: &mut Painter<'_>, area: Rect, k: &Picker) -> Option<Position> {
    let title = k.purpose.title();
    let x = 2 + p.put(area, (1, 0), title, p.theme.strong);
    p.put(area, (x, 0), &format!(" {}", k.field.text()), p.theme.accent);
    if let Some(place) = (k.purpose == Purpose::Namespaces).then(|| format!("{} marked", k.marked.len())) {
        let at = area.width.saturating_sub(columns(&place) + 1);
        if at > x + columns(k.field.text()) + 2 {
            p.put(area, (at, 0), &place, p.theme.dim);
        }
    }
    let body = Rect { y: area.y.saturating_add(2), height: area.height.saturating_sub(2), ..area };
    if k.shown.is_empty() {
        p.put(body, (1, 0), "nothing fits", p.theme.dim);
    }
    let widest = k.shown.iter().map(|i| columns(&p.theme.text(&i.label))).max().unwrap_or(0).min(body.width / 2 + body.width / 8);
    let rows = k.shown.iter().enumerate().skip(k.cursor.offset());
    for (y, (i, item)) in (0..body.height).zip(rows) {
        let mark = match (k.purpose == Purpose::Namespaces, k.marked.contains(&item.choice)) {
            (true, true) => "■ ",
            (true, false) => "□ ",
            _ => "",
        };
        let indent = 2 + p.put(body, (2, y), mark, p.theme.accent);
        p.put_n(body, (indent, y, widest), &item.label, p.theme.normal);
        p.put(body, (indent + widest + 2, y), &item.hint, p.theme.dim);
        if i == k.cursor.index() {
            p.put(body, (0, y), "▌", p.theme.accent);
            let line = Rect { x: body.x.saturating_add(1), y: body.y + y, width: body.width.saturating_sub(1), height: 1 };
            p.style(line, p.theme.selected);
        }
    }
    let column = u16::try_from(k.field.column()).unwrap_or(u16::MAX).saturating_add(x + 1);
    Some(Position { x: area.x.saturating_add(column.min(area.width.saturating_sub(1))), y: area.y })
}
