//! How long a wait has lasted and may last (`status.md` 2.1 rule 5). Owns the arithmetic and its wording; must not decide what is waited for.

use jiff::SignedDuration;

use crate::{
    health::{build::span, view::View},
    model::Time,
};

/// One wait, measured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Patience {
    /// Longer than it may last. Never true where no source tells since when.
    pub over: bool,
    /// `4m of 20m`; empty where no source tells since when.
    pub text: String,
    /// When it turns into a problem; `None` once it has, or where no source tells since when.
    pub until: Option<Time>,
}

/// Measures a wait. A moment in the future (clock skew) counts as now.
pub fn patience(view: &View<'_>, since: Option<Time>, limit: SignedDuration) -> Patience {
    let Some(since) = since else { return Patience { over: false, text: String::new(), until: None } };
    let age = view.age(since);
    let over = age > limit;
    let until = since.checked_add(limit).ok().filter(|_| !over);
    Patience { over, text: format!("{} of {}", span(age), span(limit)), until }
}

impl Patience {
    /// `, 4m of 20m`, or nothing.
    pub fn suffix(&self) -> String {
        if self.text.is_empty() { String::new() } else { format!(", {}", self.text) }
    }
}
