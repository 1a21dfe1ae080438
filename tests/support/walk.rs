//! Through the console by every key and every command. Must not hold assertions about the product.

use std::collections::BTreeSet;

use planedeck::keys::{ACTIONS, Action};

use super::pty::Pty;

const ESC: &str = "\x1b[27u";
/// From the list of planes to each screen.
const SCREENS: [&str; 12] = ["", "\r1", "\r2", "\r3", "\r4", "\r5", "\r6", "\r6\r", "r", ":", "?", "n"];

/// What a terminal sends for a chord in our notation.
fn bytes(chord: &str) -> String {
    match chord {
        "up" => "\x1b[A".into(),
        "down" => "\x1b[B".into(),
        "right" => "\x1b[C".into(),
        "left" => "\x1b[D".into(),
        "home" => "\x1b[H".into(),
        "end" => "\x1b[F".into(),
        "pageup" => "\x1b[5~".into(),
        "pagedown" => "\x1b[6~".into(),
        "esc" => ESC.into(),
        "enter" => "\r".into(),
        "tab" => "\t".into(),
        "backtab" => "\x1b[Z".into(),
        "space" => " ".into(),
        "f1" => "\x1bOP".into(),
        "f5" => "\x1b[15~".into(),
        c if c.starts_with("ctrl-") => char::from(c.as_bytes()[5] & 0x1f).to_string(),
        c => c.to_string(),
    }
}

/// Presses every key of the table on every screen. Leaving and suspending are other tests'.
pub fn every_key(pty: &mut Pty) {
    let harmless = || ACTIONS.iter().filter(|a| !matches!(a.action, Action::Quit | Action::Suspend));
    let chords: BTreeSet<&str> = harmless().flat_map(|a| a.keys).flat_map(|(_, chords)| chords.iter().copied()).collect();
    assert!(chords.len() > 30);
    let home = format!("{ESC}{ESC}H");
    for (n, screen) in SCREENS.iter().enumerate() {
        for chord in &chords {
            pty.keys(&format!("{home}{screen}{}", bytes(chord)));
        }
        // What is typed into the palette is echoed: all keys before it were answered.
        pty.keys(&format!("{home}:zq{n}zq"));
        pty.see(&format!("zq{n}zq"));
    }
    pty.keys(&format!("{home}:zqzq"));
    pty.see("zqzq");
    pty.keys(&home);
    pty.gone("zqzq");
}

/// Runs every command of the palette, on the list and on a plane. Leaving is another test's.
pub fn every_command(pty: &mut Pty) {
    let commands: Vec<&str> = ACTIONS.iter().filter(|a| a.action != Action::Quit).map(|a| a.doc).collect();
    assert!(commands.len() > 40);
    let home = format!("{ESC}{ESC}{ESC}H");
    for screen in ["", "\r"] {
        for (n, command) in commands.iter().enumerate() {
            pty.keys(&format!("{home}{screen}:{command}\r"));
            // The command before what is typed here was carried out.
            pty.keys(&format!("{home}:zq{n}zq"));
            pty.see(&format!("zq{n}zq"));
        }
    }
    pty.keys(&home);
    pty.gone("zq");
}
