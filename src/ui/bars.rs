//! The lines around a screen: header (where, as whom, how fresh), subline (tabs, filter, counts), footer (keys, from the registry), notices.

use ratatui::{
    layout::{Position, Rect},
    style::Style,
};

use super::paint::{Painter, columns};
use crate::{
    model::{Problem, text},
    state::{
        State,
        doc::{Doc, Line, Role, span},
        overlays::Overlay,
        screens::{
            Screen, overview,
            plane::{PlaneScreen, Tab},
        },
        session::Live,
        table::Table,
        words,
    },
};

/// Pieces of a line, the least important last: those that don't fit are left out whole.
struct Pieces {
    list: Vec<(String, Style, u8)>,
}

impl Pieces {
    fn add(&mut self, s: impl Into<String>, style: Style, importance: u8) {
        let s = s.into();
        if !s.is_empty() {
            self.list.push((s, style, importance));
        }
    }

    /// Drops the least important until the rest fits; the last one is cut.
    fn fit(&mut self, p: &Painter<'_>, room: u16) {
        let width = |l: &[(String, Style, u8)]| l.iter().map(|(s, ..)| usize::from(columns(&p.theme.text(s))) + 2).sum::<usize>();
        while self.list.len() > 1 && width(&self.list) > usize::from(room) + 2 {
            let Some((i, _)) = self.list.iter().enumerate().rev().max_by_key(|(_, (.., importance))| *importance) else { return };
            self.list.remove(i);
        }
    }
}

/// Where one is, as whom, how fresh the data is, and whether anything can be changed.
pub fn header(p: &mut Painter<'_>, area: Rect, state: &State) {
    if area.height == 0 {
        return;
    }
    let t = *p.theme;
    let s = &state.session;
    let read_only = s.current.read_only || state.settings.read_only;
    let (live, live_style) = live(p, state);
    let mut right = Pieces { list: Vec::new() };
    right.add(live, live_style, 1);
    right.add(if read_only { "read-only" } else { "read-write" }, if read_only { t.accent } else { t.dim }, 2);
    right.fit(p, area.width / 2 + area.width / 4);
    let right_width: u16 = right.list.iter().map(|(s, ..)| columns(&p.theme.text(s)) + 2).sum();
    let mut left = Pieces { list: Vec::new() };
    left.add("planedeck", t.accent, 5);
    left.add(crate::model::text::line(&s.current.name), t.strong, 1);
    left.add(crate::model::text::line(&s.current.server), t.dim, 2);
    let whom = s.current.impersonate.as_ref().map_or(s.current.user.clone(), |i| format!("{} as {i}", s.current.user));
    left.add(crate::model::text::line(&whom), t.normal, 3);
    left.add(places(state), t.dim, 4);
    let room = area.width.saturating_sub(right_width + 2);
    left.fit(p, room);
    let mut x = 1;
    for (text, style, _) in &left.list {
        x += p.put_n(area, (x, 0, room.saturating_sub(x)), text, *style) + 2;
    }
    let mut x = area.width.saturating_sub(right_width.saturating_sub(1));
    for (text, style, _) in &right.list {
        x += p.put(area, (x, 0), text, *style) + 2;
    }
}

fn places(state: &State) -> String {
    let s = &state.session;
    match (s.all, s.namespaces.as_slice()) {
        (true, _) => "all namespaces".to_string(),
        (_, []) => String::new(),
        (_, [one]) => crate::model::text::line(one),
        (_, many) => format!("{} namespaces", many.len()),
    }
}

fn live(p: &Painter<'_>, state: &State) -> (String, Style) {
    let t = p.theme;
    let word = |problem: &Problem| {
        use crate::model::ProblemKind as K;
        match problem.kind {
            K::Unauthorized => "login refused",
            K::NotLoggedIn => "not logged in",
            K::Timeout => "no answer",
            K::Tls => "not trusted",
            K::TooManyRequests => "throttled",
            K::BadInput => "kubeconfig",
            K::ServerError => "server error",
            K::Unreadable => "unreadable",
            _ => "lost",
        }
    };
    match state.session.live(state.sphere().map(|s| &s.world)) {
        Live::Loading => ("◌ loading".to_string(), t.dim),
        Live::Live => ("● live".to_string(), t.ready),
        Live::Lost(at, problem) => {
            let age = at.map(|a| format!(" · {}", words::ago(a, state.now))).unwrap_or_default();
            (format!("○ {}{age}", word(&problem)), t.degraded)
        }
        Live::Failed(problem) => (format!("○ {}", word(&problem)), t.failing),
        Live::Recorded(at) => (format!("○ recorded {}", at.strftime("%Y-%m-%d %H:%M:%SZ")), t.accent),
    }
}

/// Tabs, the filter or counts; answers with the place of the text cursor, if there is one.
pub fn subline(p: &mut Painter<'_>, area: Rect, state: &State) -> Option<Position> {
    if area.height == 0 {
        return None;
    }
    match state.screen()? {
        Screen::Planes(s) => filter_line(p, area, &s.table).unwrap_or_else(|| {
            counts(p, area, state);
            None
        }),
        Screen::Plane(s) => plane(p, area, s),
        Screen::Access(s) => {
            let x = p.put(area, (1, 0), "Access", p.theme.strong);
            let what = match s.asked.as_slice() {
                [one] => crate::model::text::line(one),
                many => format!("{} namespaces", many.len()),
            };
            p.put(area, (x + 3, 0), &what, p.theme.dim);
            None
        }
        Screen::Editor(e) => {
            p.spans(area, 0, &e.view.title);
            None
        }
        Screen::Requests(s) => filter_line(p, area, &s.table).unwrap_or_else(|| {
            let r = &state.requests;
            let x = p.put(area, (1, 0), "Requests", p.theme.strong);
            let text = format!("{} asked for · {} refused before they left", r.asked, r.refused);
            p.put(area, (x + 3, 0), &text, p.theme.dim);
            None
        }),
    }
}

/// The filter of a list, if it has one: painted, with the cursor's place while it is typed.
fn filter_line(p: &mut Painter<'_>, area: Rect, table: &Table) -> Option<Option<Position>> {
    let f = &table.filter;
    if !f.editing && !f.is_set() {
        return None;
    }
    let count = format!("{} of {}", table.rows.len(), table.all.len());
    let room = area.width.saturating_sub(columns(&count) + 3);
    field(p, area, room, f.field.text(), f.editing);
    let x = area.width.saturating_sub(columns(&count) + 1);
    p.put(area, (x, 0), &count, p.theme.dim);
    let column = u16::try_from(f.field.column()).unwrap_or(u16::MAX).saturating_add(2);
    Some(f.editing.then(|| Position { x: area.x.saturating_add(column.min(room)), y: area.y }))
}

fn field(p: &mut Painter<'_>, area: Rect, room: u16, text: &str, editing: bool) {
    p.put(area, (1, 0), "/", p.theme.accent);
    let style = if editing { p.theme.strong } else { p.theme.normal };
    p.put_n(area, (2, 0, room.saturating_sub(2)), text, style);
}

fn counts(p: &mut Painter<'_>, area: Rect, state: &State) {
    let Some(Screen::Planes(s)) = state.screen() else { return };
    if s.page.is_some() {
        return;
    }
    let total: usize = s.counts.iter().map(|(_, n)| n).sum();
    let mut x = 1 + p.put(area, (1, 0), &format!("{total} {}", if total == 1 { "plane" } else { "planes" }), p.theme.strong);
    for (severity, n) in &s.counts {
        let text = format!("{} {n} {}", overview::glyph(*severity), words::severity(*severity));
        if x + 2 + columns(&p.theme.text(&text)) > area.width {
            break;
        }
        let style = p.theme.severity(*severity);
        x += 2 + p.put(area, (x + 2, 0), &text, style);
    }
    if s.without > 0 {
        let text = format!("{} without a plane", s.without);
        if x + 2 + columns(&text) <= area.width {
            x += 2 + p.put(area, (x + 2, 0), &text, p.theme.dim);
        }
    }
    if let Live::Lost(_, problem) = state.session.live(state.sphere().map(|s| &s.world)) {
        p.put(area, (x + 3, 0), &crate::model::text::line(&problem.summary), p.theme.degraded);
    }
}

fn plane(p: &mut Painter<'_>, area: Rect, s: &PlaneScreen) -> Option<Position> {
    if let Some(o) = s.objects.opened.as_ref().filter(|o| s.tab == Tab::Yaml && (o.finding || !o.find.text().is_empty())) {
        field(p, area, area.width, o.find.text(), o.finding);
        let column = u16::try_from(o.find.column()).unwrap_or(u16::MAX).saturating_add(2);
        return o.finding.then(|| Position { x: area.x.saturating_add(column.min(area.width.saturating_sub(1))), y: area.y });
    }
    if let Some(cursor) = s.table_ref().and_then(|t| filter_line(p, area, t)) {
        return cursor;
    }
    let tabs_width: u16 = Tab::ALL.iter().map(|t| columns(t.title()) + 2).sum();
    let title = crate::model::text::line(&s.namespace);
    let wide = area.width >= tabs_width + 12;
    let room = if wide { area.width - tabs_width } else { area.width.saturating_sub(14) };
    let x = 1 + p.put_n(area, (1, 0, room.saturating_sub(3)), &title, p.theme.strong);
    if !wide {
        let at = Tab::ALL.iter().position(|t| *t == s.tab).unwrap_or(0) + 1;
        p.put(area, (x + 2, 0), &format!("{at}/{} {}", Tab::ALL.len(), s.tab.title()), p.theme.accent);
        return None;
    }
    let mut x = (x + 2).max(area.width - tabs_width);
    for tab in Tab::ALL {
        let style = if tab == s.tab { p.theme.accent.add_modifier(ratatui::style::Modifier::UNDERLINED) } else { p.theme.dim };
        x += p.put(area, (x, 0), tab.title(), style) + 2;
    }
    None
}

/// The keys that matter here, from the registry.
pub fn footer(p: &mut Painter<'_>, area: Rect, state: &State) {
    if area.height == 0 {
        return;
    }
    let mut x = 1;
    for (key, word) in state.keymap.footer(state.context()) {
        let need = columns(key) + 1 + columns(word);
        if x + need > area.width {
            break;
        }
        x += p.put(area, (x, 0), key, p.theme.key) + 1;
        x += p.put(area, (x, 0), word, p.theme.dim) + 2;
    }
}

/// Lines of a notice at most; never more than half of the screen.
const NOTICE: u16 = 6;

/// The newest notice, over the last lines of the screen, whole where there is room: it takes no key. What was said may be the only place where
/// a refusal's reason stands.
pub fn notice(p: &mut Painter<'_>, area: Rect, state: &State) {
    let Some((notice, more)) = state.notices.newest() else { return };
    if area.height < 2 || state.overlays.iter().any(|o| matches!(o, Overlay::Picker(_))) {
        return;
    }
    let more = if more > 0 { format!("  (+{more} more)") } else { String::new() };
    let kept = if notice.until.is_none() { "  x: put away" } else { "" };
    let tail = format!("{more}{kept}");
    let width = usize::from(area.width.saturating_sub(1));
    let mut doc = Doc::new(area.width);
    doc.wrapped(vec![span(Role::Normal, " "), span(Role::Accent, "■ ")], Role::Accent, &notice.text);
    let most = usize::from(NOTICE.min(area.height / 2).max(1));
    let whole = doc.lines.len() <= most;
    doc.lines.truncate(most);
    let taken = |l: &Line| l.iter().map(|s| text::width(&s.text)).sum::<usize>();
    if whole && doc.lines.len() < most && doc.lines.last().is_some_and(|l| taken(l) + tail.len() > width) {
        doc.lines.push(Line::new());
    }
    if let Some(last) = doc.lines.last_mut() {
        let said: String = last.iter().map(|s| s.text.as_str()).collect();
        let room = width.saturating_sub(tail.len());
        let shown = if whole || text::width(&said) > room { said } else { format!("{said}…") };
        *last = vec![span(Role::Accent, format!("{}{tail}", text::cut(&shown, room, "…")))];
    }
    let height = u16::try_from(doc.lines.len()).unwrap_or(1).min(area.height);
    let below = Rect { y: area.y + area.height - height, height, ..area };
    p.clear(below);
    p.lines(below, &doc.lines, 0);
}
