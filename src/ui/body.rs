//! The screen itself: a list, a text, or an object as YAML.

use ratatui::layout::{Position, Rect};
use unicode_segmentation::UnicodeSegmentation;

use super::paint::Painter;
use crate::{
    model::text,
    state::{
        State,
        doc::{Role, span, wrap},
        screens::{
            Screen,
            objects::{Content, Opened},
            plane::{PlaneScreen, Tab},
        },
        session::Live,
        table::Table,
    },
};

/// Paints the front screen; answers with the place of the text cursor, if there is one.
pub fn draw(p: &mut Painter<'_>, area: Rect, state: &State) -> Option<Position> {
    let mut cursor = None;
    let live = state.session.live(state.sphere().map(|s| &s.world));
    p.stale = matches!(live, Live::Lost(..) | Live::Failed(_));
    match state.screen() {
        Some(Screen::Planes(s)) => match &s.page {
            Some(page) => p.lines(area, &page.lines, 0),
            None => p.table(area, &s.table),
        },
        Some(Screen::Plane(s)) => plane(p, area, s),
        Some(Screen::Access(s)) => p.lines(area, &s.doc.lines, s.scroll.top),
        Some(Screen::Editor(e)) => {
            p.stale = false;
            cursor = super::editor::draw(p, area, e);
        }
        Some(Screen::Requests(s)) => {
            p.stale = false;
            list(p, area, &s.table, "no request has been made yet");
        }
        None => {}
    }
    p.stale = false;
    cursor
}

fn list(p: &mut Painter<'_>, area: Rect, table: &Table, empty: &str) {
    if !table.rows.is_empty() {
        return p.table(area, table);
    }
    let text = if table.all.is_empty() { empty } else { "nothing passes the filter; esc clears it" };
    for (y, line) in (1..area.height).zip(wrap(text, usize::from(area.width.saturating_sub(2)))) {
        p.put(area, (1, y), &line, p.theme.dim);
    }
}

fn plane(p: &mut Painter<'_>, area: Rect, s: &PlaneScreen) {
    match s.tab {
        Tab::Overview => p.lines(area, &s.doc.lines, s.scroll.top),
        Tab::Pools => list(p, area, &s.pools, "no pool is known: nodeGroups is empty, or the plane can't be read"),
        Tab::Machines => list(p, area, &s.machines, "no machine is known: none was made yet, or machines can't be listed with this role"),
        Tab::Events => list(p, area, &s.events, "no event is known: none in the last hour, or events can't be listed with this role"),
        Tab::Timeline => list(p, area, &s.timeline, "nothing has changed yet that the console could see"),
        Tab::Yaml => match &s.objects.opened {
            Some(o) => yaml(p, area, o),
            None => list(p, area, &s.objects.table, "no object of this namespace has been read yet"),
        },
    }
}

fn yaml(p: &mut Painter<'_>, area: Rect, o: &Opened) {
    let title = format!("{} {}", o.object.kind.info().name, text::line(&o.object.name));
    let headed = area.height >= 3;
    if headed {
        p.put(area, (1, 0), &title, p.theme.heading);
    }
    let body = Rect { y: area.y + u16::from(headed), height: area.height - u16::from(headed), ..area };
    match &o.content {
        Content::Loading => {
            p.put(body, (1, 0), "reading…", p.theme.dim);
        }
        Content::Failed(problem) => {
            for (y, (role, s)) in
                (0..body.height).zip([(Role::Strong, &problem.summary), (Role::Dim, &problem.detail), (Role::Dim, &problem.hint)])
            {
                p.spans(body, y, &vec![span(Role::Normal, " "), span(role, s)]);
            }
        }
        Content::Text(lines) => {
            for (y, (i, line)) in (0..body.height).zip(lines.iter().enumerate().skip(o.scroll.top)) {
                yaml_line(p, body, (y, o.left), line, o.hit == Some(i));
            }
        }
    }
}

fn yaml_line(p: &mut Painter<'_>, area: Rect, (y, left): (u16, usize), line: &str, hit: bool) {
    let shown = skip(line, left);
    if hit {
        p.put(area, (1, y), &shown, p.theme.found);
        return;
    }
    // A key ends at the first colon that ends a word; what is scrolled away is not split again.
    let key = shown.find(": ").or_else(|| shown.ends_with(':').then(|| shown.len() - 1)).filter(|_| left == 0 && !shown.contains('"'));
    match key.and_then(|at| Some((shown.get(..at + 1)?, shown.get(at + 1..)?))) {
        Some((key, value)) => {
            let used = p.put(area, (1, y), key, p.theme.accent);
            p.put(area, (1 + used, y), value, p.theme.normal);
        }
        None => {
            p.put(area, (1, y), &shown, p.theme.normal);
        }
    }
}

/// The text without its first columns.
fn skip(s: &str, columns: usize) -> String {
    let mut gone = 0;
    s.graphemes(true)
        .skip_while(|g| {
            let skip = gone < columns;
            gone += text::width(g);
            skip
        })
        .collect()
}
