//! The README's pictures are real frames: painted by the console itself from a fixed world and a fixed clock, and compared with what is checked in.
//! `PLANEDECK_BLESS=1 cargo test --test pictures` paints them anew.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic)]

#[path = "fixtures/console.rs"]
mod console;
#[path = "fixtures/svg.rs"]
mod svg;

use console::Console;
use planedeck::{
    state::Msg,
    ui::{self, Theme},
};
use ratatui::{Terminal, backend::TestBackend};

fn compare(name: &str, title: &str, c: &mut Console, (width, height): (u16, u16)) {
    c.send(Msg::Resize(width, height));
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    terminal.draw(|f| ui::draw(&c.state, &Theme::ansi(), f)).unwrap();
    let painted = svg::picture(terminal.backend().buffer(), title);
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("assets").join(name);
    if std::env::var_os("PLANEDECK_BLESS").is_some() {
        return std::fs::write(&path, painted).unwrap();
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(kept == painted, "assets/{name} isn't what the console paints; PLANEDECK_BLESS=1 cargo test --test pictures paints it anew");
}

#[test]
fn planes() {
    let mut c = Console::with_fleet();
    compare("planes.svg", "The list of planes: one row each, the worst first, with state, pools, nodes and the reason", &mut c, (110, 14));
}

#[test]
fn plane() {
    let mut c = Console::with_fleet();
    c.keys("enter");
    compare("plane.svg", "One plane: its layers with evidence and the next step", &mut c, (110, 26));
}

/// The writer itself: wide characters keep their two columns, markup is escaped, inversion swaps colours.
#[test]
fn a_buffer_becomes_a_picture() {
    use ratatui::{
        buffer::Buffer,
        layout::Rect,
        style::{Color, Modifier, Style},
    };
    let mut buffer = Buffer::empty(Rect::new(0, 0, 8, 1));
    buffer.set_string(0, 0, "東<&", Style::new().fg(Color::Red).add_modifier(Modifier::REVERSED));
    let svg = svg::picture(&buffer, "a & b");
    assert!(svg.contains("<title>a &amp; b</title>"), "{svg}");
    assert!(svg.contains("width=\"33.6\" height=\"18\" fill=\"#f2777a\""), "{svg}");
    assert!(svg.contains("fill=\"#16181d\">東&lt;&amp;</text>"), "{svg}");
}
