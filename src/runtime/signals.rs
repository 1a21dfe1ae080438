//! Signals that end or pause the console. Owns waiting for them; must not touch the terminal.

use tokio::signal::unix::{Signal, SignalKind, signal};

/// The signals that mean "leave now, and leave the terminal as it was".
pub struct Signals {
    term: Signal,
    hangup: Signal,
    interrupt: Signal,
}

impl Signals {
    /// Starts listening.
    ///
    /// # Errors
    /// When the system refuses a handler.
    pub fn listen() -> std::io::Result<Signals> {
        Ok(Signals {
            term: signal(SignalKind::terminate())?,
            hangup: signal(SignalKind::hangup())?,
            interrupt: signal(SignalKind::interrupt())?,
        })
    }

    /// Waits for any of them and returns its exit code: 128 and its number, as shells expect.
    pub async fn next(&mut self) -> u8 {
        tokio::select! {
            _ = self.term.recv() => 143,
            _ = self.hangup.recv() => 129,
            _ = self.interrupt.recv() => 130,
        }
    }
}

/// Stops this process as Ctrl-Z does; returns when it is continued, at once where no shell could continue it.
pub fn stop_self() {
    // The signal itself, which nobody here handles: where there is no shell with job control the kernel drops it. The library's emulation
    // of its default would send SIGSTOP, which freezes such a console for ever.
    let _ = signal_hook::low_level::raise(signal_hook::consts::SIGTSTP);
}
