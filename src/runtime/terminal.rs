//! The terminal, taken and always given back: quit, error, panic, suspend. Owns modes and the panic hook; must not draw or read keys.

use std::io::{IsTerminal as _, Write as _, stdout};

use color_eyre::eyre::{Result, WrapErr as _};
use crossterm::{
    cursor::Show,
    event::{DisableBracketedPaste, DisableFocusChange, DisableMouseCapture, EnableBracketedPaste, EnableFocusChange, EnableMouseCapture},
    execute,
    terminal::{EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode},
};
use ratatui::{Terminal, backend::CrosstermBackend};

/// The terminal while the screens are up. Dropping it gives the terminal back.
pub struct Screen {
    /// Where frames are drawn.
    pub terminal: Terminal<CrosstermBackend<std::io::Stdout>>,
    mouse: bool,
}

/// Why the screens can't open here, if they can't: told instead of touching any mode.
pub fn unusable() -> Option<&'static str> {
    if !std::io::stdin().is_terminal() || !stdout().is_terminal() {
        return Some("no terminal here: use `planedeck get`, `explain` or `watch`, or run it in a terminal");
    }
    if in_background() {
        return Some("started in the background: bring it to the foreground with `fg`, or use `planedeck get`");
    }
    None
}

/// True when another process group owns the terminal: setting modes would stop us with SIGTTOU.
fn in_background() -> bool {
    // Field 5 is our process group, field 8 the terminal's foreground group; the name in field 2 may hold blanks and parentheses.
    let Ok(stat) = std::fs::read_to_string("/proc/self/stat") else { return false };
    let Some((_, rest)) = stat.rsplit_once(')') else { return false };
    let fields: Vec<&str> = rest.split_whitespace().collect();
    match (fields.get(2), fields.get(5)) {
        (Some(own), Some(foreground)) => *foreground != "-1" && own != foreground,
        _ => false,
    }
}

impl Screen {
    /// Takes the terminal. Nothing is left changed when it fails.
    ///
    /// # Errors
    /// When the terminal refuses a mode.
    pub fn open(mouse: bool) -> Result<Screen> {
        install_panic_hook();
        let terminal = enter(mouse)
            .and_then(|()| Terminal::new(CrosstermBackend::new(stdout())))
            .inspect_err(|_| restore())
            .wrap_err("the terminal refused a mode")?;
        Ok(Screen { terminal, mouse })
    }

    /// Takes the terminal again after [`restore`] and a suspension.
    ///
    /// # Errors
    /// When the terminal refuses a mode.
    pub fn resume(&mut self) -> Result<()> {
        enter(self.mouse).wrap_err("the terminal refused a mode after resuming")?;
        // Not `clear`: that asks the terminal where its cursor is and fails when nobody answers in time.
        let size = self.terminal.size().wrap_err("the terminal doesn't tell its size")?;
        self.terminal
            .resize(ratatui::layout::Rect::from((ratatui::layout::Position::ORIGIN, size)))
            .wrap_err("the terminal can't be cleared")?;
        Ok(())
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        restore();
    }
}

fn enter(mouse: bool) -> std::io::Result<()> {
    enable_raw_mode()?;
    execute!(stdout(), EnterAlternateScreen, EnableBracketedPaste, EnableFocusChange)?;
    if mouse {
        execute!(stdout(), EnableMouseCapture)?;
    }
    Ok(())
}

/// Gives the terminal back. May be called twice and from a panic; failures are ignored, since there is nobody left to tell.
pub fn restore() {
    let _ = execute!(stdout(), DisableMouseCapture, DisableFocusChange, DisableBracketedPaste, LeaveAlternateScreen, Show);
    let _ = disable_raw_mode();
    let _ = stdout().flush();
}

/// A panic in any task ends the process: a half-dead console that draws over the shell is worse than none (`stack.md` 0.9).
fn install_panic_hook() {
    use std::sync::Once;
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            restore();
            before(info);
            std::process::exit(101);
        }));
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    const CHILD: &str = "PLANEDECK_TEST_PANICS";

    /// This test starts itself again as a child that panics in a thread of its own and would then go on for ever.
    #[test]
    fn a_panic_in_any_thread_ends_the_process_with_the_terminal_given_back() {
        if std::env::var_os(CHILD).is_some() {
            install_panic_hook();
            let _ = std::thread::spawn(|| panic!("boom")).join();
            loop {
                std::thread::park();
            }
        }
        let name = "runtime::terminal::tests::a_panic_in_any_thread_ends_the_process_with_the_terminal_given_back";
        let mut child = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", name, "--nocapture"])
            .env(CHILD, "1")
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let deadline = std::time::Instant::now() + std::time::Duration::from_secs(20);
        while child.try_wait().unwrap().is_none() {
            if std::time::Instant::now() > deadline {
                child.kill().unwrap();
                panic!("the process lives on after a panic");
            }
            std::thread::yield_now();
        }
        let ended = child.wait_with_output().unwrap();
        assert_eq!(ended.status.code(), Some(101));
        assert!(String::from_utf8_lossy(&ended.stdout).contains("\u{1b}[?1049l"), "the alternate screen is left");
        assert!(String::from_utf8_lossy(&ended.stderr).contains("boom"));
    }
}
