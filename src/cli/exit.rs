//! Exit codes, once. The contract's: nothing may exit with another number.

use crate::model::{Problem, ProblemKind};

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// 0: healthy, valid, done.
    Ok,
    /// 1: unhealthy, invalid, refused, not reached.
    Bad,
    /// 2: wrong usage or unreadable input.
    Usage,
    /// 3: can't reach the cluster, or not allowed.
    NoAccess,
    /// 4: conflict.
    Conflict,
    /// 128 and the number of the signal that ended the screens.
    Signal(u8),
}

impl Exit {
    /// The number.
    pub fn code(self) -> u8 {
        match self {
            Exit::Ok => 0,
            Exit::Bad => 1,
            Exit::Usage => 2,
            Exit::NoAccess => 3,
            Exit::Conflict => 4,
            Exit::Signal(code) => code,
        }
    }

    /// The code that a failure ends with, before anything was judged.
    pub fn of(problem: &Problem) -> Exit {
        match problem.kind {
            ProblemKind::BadInput | ProblemKind::Refused => Exit::Usage,
            ProblemKind::Conflict => Exit::Conflict,
            ProblemKind::Invalid => Exit::Bad,
            _ => Exit::NoAccess,
        }
    }
}
