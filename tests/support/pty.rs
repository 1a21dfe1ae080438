//! The real binary in a pseudo terminal with a screen model. Waits for states, never for durations. Must not hold assertions about the product.

use std::{
    io::{Read as _, Write as _},
    num::NonZeroU16,
    path::Path,
    sync::{Arc, Condvar, Mutex},
    time::{Duration, Instant},
};

use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};

/// Longest wait for a state before a test fails: generous, since machines are shared.
const PATIENCE: Duration = Duration::from_secs(30);

struct Model {
    parser: vt100::Parser,
    raw: Vec<u8>,
    ended: bool,
}

/// A running console.
pub struct Pty {
    master: Box<dyn MasterPty + Send>,
    writer: Box<dyn std::io::Write + Send>,
    child: Box<dyn Child + Send + Sync>,
    model: Arc<(Mutex<Model>, Condvar)>,
}

fn size(columns: u16, rows: u16) -> PtySize {
    PtySize { rows, cols: columns, pixel_width: 0, pixel_height: 0 }
}

fn nz(n: u16) -> NonZeroU16 {
    NonZeroU16::new(n.max(1)).unwrap()
}

impl Pty {
    /// Starts `planedeck` with arguments in a terminal of this size, with a home of its own and no kubeconfig from outside.
    pub fn start(args: &[&str], columns: u16, rows: u16, home: &Path) -> Pty {
        let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_planedeck"));
        command.args(args);
        Self::run(command, columns, rows, home)
    }

    /// Starts any command the same way (a shell that starts `planedeck`, for suspend tests).
    pub fn run(command: CommandBuilder, columns: u16, rows: u16, home: &Path) -> Pty {
        Self::run_with(command, (columns, rows), home, &[])
    }

    /// The same with more variables.
    pub fn run_with(mut command: CommandBuilder, (columns, rows): (u16, u16), home: &Path, variables: &[(&str, &str)]) -> Pty {
        let pair = native_pty_system().openpty(size(columns, rows)).unwrap();
        command.env_clear();
        for (k, v) in [("TERM", "xterm-256color"), ("PATH", "/usr/local/bin:/usr/bin:/bin"), ("LANG", "C.UTF-8"), ("EDITOR", "true")] {
            command.env(k, v);
        }
        command.env("HOME", home);
        variables.iter().for_each(|(k, v)| command.env(k, v));
        command.cwd(home);
        let child = pair.slave.spawn_command(command).unwrap();
        drop(pair.slave);
        let model = Arc::new((
            Mutex::new(Model { parser: vt100::Parser::new(nz(rows), nz(columns), 0), raw: Vec::new(), ended: false }),
            Condvar::new(),
        ));
        let mut reader = pair.master.try_clone_reader().unwrap();
        let shared = Arc::clone(&model);
        std::thread::spawn(move || {
            let mut buffer = [0u8; 8192];
            loop {
                let n = reader.read(&mut buffer).unwrap_or(0);
                let Ok(mut m) = shared.0.lock() else { return };
                if n == 0 {
                    m.ended = true;
                } else {
                    m.parser.process(&buffer[..n]);
                    m.raw.extend_from_slice(&buffer[..n]);
                }
                shared.1.notify_all();
                if n == 0 {
                    return;
                }
            }
        });
        Pty { writer: pair.master.take_writer().unwrap(), master: pair.master, child, model }
    }

    /// Types bytes.
    pub fn keys(&mut self, keys: &str) {
        self.writer.write_all(keys.as_bytes()).unwrap();
        self.writer.flush().unwrap();
    }

    /// The screen's text now.
    pub fn text(&self) -> String {
        self.model.0.lock().unwrap().parser.screen().contents()
    }

    /// Everything the program wrote.
    pub fn raw(&self) -> Vec<u8> {
        self.model.0.lock().unwrap().raw.clone()
    }

    /// Waits until the screen satisfies a condition, or fails showing it.
    pub fn wait(&self, what: &str, condition: impl Fn(&vt100::Screen) -> bool) {
        let deadline = Instant::now() + PATIENCE;
        let mut m = self.model.0.lock().unwrap();
        loop {
            if condition(m.parser.screen()) {
                return;
            }
            let left = deadline.saturating_duration_since(Instant::now());
            assert!(
                !left.is_zero() && !m.ended,
                "waited for {what} (ended: {}); the screen shows:\n{}",
                m.ended,
                m.parser.screen().contents()
            );
            m = self.model.1.wait_timeout(m, left).unwrap().0;
        }
    }

    /// Waits until some text stands on the screen.
    pub fn see(&self, text: &str) {
        self.wait(&format!("{text:?}"), |s| s.contents().contains(text));
    }

    /// Waits until some text is gone from the screen.
    pub fn gone(&self, text: &str) {
        self.wait(&format!("{text:?} to vanish"), |s| !s.contents().contains(text));
    }

    /// Waits until more than so many bytes were written.
    pub fn wait_raw(&self, what: &str, more_than: usize) {
        let deadline = Instant::now() + PATIENCE;
        let mut m = self.model.0.lock().unwrap();
        while m.raw.len() <= more_than {
            let left = deadline.saturating_duration_since(Instant::now());
            assert!(!left.is_zero() && !m.ended, "waited for {what}; the screen shows:\n{}", m.parser.screen().contents());
            m = self.model.1.wait_timeout(m, left).unwrap().0;
        }
    }

    /// Waits until everything that the ended program wrote was read.
    pub fn ended(&self) {
        let deadline = Instant::now() + PATIENCE;
        let mut m = self.model.0.lock().unwrap();
        while !m.ended {
            let left = deadline.saturating_duration_since(Instant::now());
            assert!(!left.is_zero(), "the terminal isn't closed");
            m = self.model.1.wait_timeout(m, left).unwrap().0;
        }
    }

    /// Changes the terminal's size.
    pub fn resize(&mut self, columns: u16, rows: u16) {
        self.model.0.lock().unwrap().parser.screen_mut().set_size(nz(rows), nz(columns));
        self.master.resize(size(columns, rows)).unwrap();
    }

    /// The child's process id.
    pub fn pid(&self) -> u32 {
        self.child.process_id().unwrap()
    }

    /// Waits for the end and returns the exit code.
    pub fn exit_code(&mut self) -> u32 {
        let deadline = Instant::now() + PATIENCE;
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status.exit_code();
            }
            assert!(Instant::now() < deadline, "the program doesn't end; the screen shows:\n{}", self.text());
            // The poll of a state, bounded by the deadline.
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// True when no mode that the console sets is left on.
    pub fn modes_are_off(&self) -> bool {
        let m = self.model.0.lock().unwrap();
        let s = m.parser.screen();
        !s.alternate_screen() && !s.hide_cursor() && !s.bracketed_paste() && s.mouse_protocol_mode() == vt100::MouseProtocolMode::None
    }
}

impl Drop for Pty {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
