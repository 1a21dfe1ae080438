//! The editor: pools beside the form, the forecast below; or the text of a review or rollout. Paints what state has laid out.

use ratatui::layout::{Position, Rect};

use super::paint::Painter;
use crate::state::{
    doc::Line,
    screens::editor::{Editor, Stage},
};

/// Paints it; answers with the place of the text cursor, if there is one.
pub fn draw(p: &mut Painter<'_>, area: Rect, e: &Editor) -> Option<Position> {
    match &e.stage {
        Stage::Yaml(s) => p.lines(area, &s.doc.lines, s.scroll.top),
        Stage::Review(r) => p.lines(area, &r.doc.lines, r.scroll.top),
        Stage::Writing(s) => p.lines(area, &s.review.doc.lines, s.review.scroll.top),
        Stage::Rolling(r) => p.lines(area, &r.doc.lines, r.scroll.top),
        Stage::Form | Stage::Reading => return form(p, area, e),
    }
    None
}

fn form(p: &mut Painter<'_>, area: Rect, e: &Editor) -> Option<Position> {
    let v = &e.view;
    let bottom = v.bottom_height.min(area.height);
    let top = area.height - bottom;
    let left = Rect { width: v.left_width.min(area.width), height: top, ..area };
    let right = Rect { x: area.x + left.width, width: area.width - left.width, height: top, ..area };
    let below = Rect { y: area.y + top, height: bottom, ..area };
    p.lines(left, &v.left, v.left_top);
    p.lines(right, &v.right, v.right_top);
    p.lines(below, &v.bottom, 0);
    let lines: &[Line] = &v.right;
    let (line, column) = v.caret.filter(|(line, _)| *line < lines.len())?;
    let y = u16::try_from(line.checked_sub(v.right_top)?).ok().filter(|y| *y < top)?;
    let x = u16::try_from(column).unwrap_or(u16::MAX).min(right.width.saturating_sub(1));
    Some(Position { x: right.x.saturating_add(x), y: right.y.saturating_add(y) })
}
