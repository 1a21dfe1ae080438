//! How long to wait before asking a source again: capped, jittered, also for streams that end at once. Pure arithmetic over a given clock and dice.

use std::time::Duration;

use crate::model::{Problem, ProblemKind};

const FIRST: Duration = Duration::from_millis(500);
const CAP: Duration = Duration::from_secs(30);
/// Refusals are tried again at minute scale: rights change by hand.
const REFUSED: Duration = Duration::from_secs(60);
/// An API that isn't served appears only by an installation.
const ABSENT: Duration = Duration::from_secs(300);
/// A server that asks for more than this is asked again anyway: somebody is looking at the screen.
const RETRY_AFTER_CAP: u64 = 120;
/// A stream that lived at least this long was a good one: the next start is free.
const HEALTHY: Duration = Duration::from_secs(10);

/// Waiting of one source.
#[derive(Debug, Clone, Default)]
pub struct Backoff {
    failures: u32,
}

impl Backoff {
    /// After a failure: how long to wait. `dice` lies in 0..1 and spreads the wait over 75–125 %.
    pub fn failed(&mut self, problem: &Problem, dice: f64) -> Duration {
        let asked = problem.retry_after.map(|s| Duration::from_secs(s.min(RETRY_AFTER_CAP)));
        let base = match problem.kind {
            ProblemKind::Forbidden | ProblemKind::Refused | ProblemKind::NotLoggedIn => REFUSED,
            ProblemKind::AbsentApi | ProblemKind::UnsupportedVersion => ABSENT,
            _ => {
                let step = FIRST.saturating_mul(1 << self.failures.min(10)).min(CAP);
                self.failures = self.failures.saturating_add(1);
                step
            }
        };
        asked.unwrap_or_default().max(base.mul_f64(0.75 + dice.clamp(0.0, 1.0) / 2.0))
    }

    /// After a stream that ended by itself: nothing to wait for if it lived well, else as after a failure. A server that ends
    /// every watch at once would otherwise be asked thousands of times a second (`stack.md` 0.6).
    pub fn ended(&mut self, lived: Duration, dice: f64) -> Duration {
        if self.lived(lived) {
            return Duration::ZERO;
        }
        self.failed(&Problem::new(ProblemKind::Unreachable, ""), dice).max(Duration::from_secs(1))
    }

    /// A stream lived this long before it ended or failed: only a long life proves that the source is well. Lists and first events don't,
    /// since a server that ends every watch at once answers those too.
    pub fn lived(&mut self, lived: Duration) -> bool {
        let well = lived >= HEALTHY;
        if well {
            self.failures = 0;
        }
        well
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn p(kind: ProblemKind) -> Problem {
        Problem::new(kind, "")
    }

    #[test]
    fn waits_grow_to_a_cap_and_start_again_after_success() {
        let mut b = Backoff::default();
        let waits: Vec<u128> = (0..9).map(|_| b.failed(&p(ProblemKind::Timeout), 0.5).as_millis()).collect();
        assert_eq!(waits, [500, 1000, 2000, 4000, 8000, 16000, 30000, 30000, 30000]);
        b.lived(HEALTHY);
        assert_eq!(b.failed(&p(ProblemKind::Timeout), 0.5).as_millis(), 500);
    }

    #[test]
    fn a_stream_that_ends_at_once_never_spins() {
        let mut b = Backoff::default();
        let total: Duration = (0..10).map(|_| b.ended(Duration::from_millis(1), 0.0)).sum();
        assert!(total >= Duration::from_secs(60), "{total:?}");
        assert_eq!(b.ended(Duration::from_secs(50), 0.0), Duration::ZERO);
    }

    #[test]
    fn refusals_wait_a_minute_and_the_servers_wish_counts_within_reason() {
        assert!(Backoff::default().failed(&p(ProblemKind::Forbidden), 0.5) >= Duration::from_secs(60));
        let busy = |s| Problem { retry_after: Some(s), ..p(ProblemKind::TooManyRequests) };
        assert_eq!(Backoff::default().failed(&busy(7), 0.5), Duration::from_secs(7));
        assert_eq!(Backoff::default().failed(&busy(99_999), 0.5), Duration::from_secs(RETRY_AFTER_CAP));
    }
}
