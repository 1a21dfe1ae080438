//! Paints [`crate::state::State`]. Reads only, decides nothing, knows neither cluster nor runtime. Sizes come from `state::geometry`,
//! text is cut by display width, colours come from the theme alone.

mod bars;
mod body;
mod editor;
mod overlay;
mod paint;
pub mod theme;
pub mod themes;

pub use theme::Theme;

use ratatui::{Frame, layout::Rect};

use crate::state::{State, geometry};
use paint::Painter;

/// Paints one frame. Never fails, whatever the size.
pub fn draw(state: &State, theme: &Theme, frame: &mut Frame<'_>) {
    let area = frame.area();
    let g = geometry::divide((area.width, area.height));
    let cursor = {
        let mut p = Painter::new(frame.buffer_mut(), theme, state.now);
        let mut y = area.y;
        let mut part = |rows: u16| {
            let rect = Rect { x: area.x, y, width: area.width, height: rows };
            y = y.saturating_add(rows);
            rect
        };
        let (header, subline, main, footer) = (part(g.header), part(g.subline), part(g.body), part(g.footer));
        bars::header(&mut p, header, state);
        let mut cursor = bars::subline(&mut p, subline, state);
        cursor = body::draw(&mut p, main, state).or(cursor);
        bars::notice(&mut p, main, state);
        bars::footer(&mut p, footer, state);
        for overlay in &state.overlays {
            cursor = overlay::draw(&mut p, main, overlay);
        }
        cursor
    };
    if let Some(at) = cursor.filter(|at| area.contains(*at)) {
        frame.set_cursor_position(at);
    }
}
