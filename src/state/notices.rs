//! Messages to the user. Short ones leave by themselves; those that matter stay until put away. None takes the focus.

use jiff::SignedDuration;

use crate::model::{Time, text};

/// How long a short message stays.
const SHOWN: SignedDuration = SignedDuration::from_secs(6);
/// Messages kept.
const KEPT: usize = 20;

/// One message, safe to paint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notice {
    /// The sentence.
    pub text: String,
    /// When it leaves by itself; `None`: when it is put away.
    pub until: Option<Time>,
}

/// All messages, oldest first.
#[derive(Debug, Clone, Default)]
pub struct Notices {
    list: Vec<Notice>,
}

impl Notices {
    /// Says something that may be missed.
    pub fn say(&mut self, s: impl AsRef<str>, now: Time) {
        self.push(Notice { text: text::line(s.as_ref()), until: now.checked_add(SHOWN).ok() });
    }

    /// Says something that must be read.
    pub fn keep(&mut self, s: impl AsRef<str>) {
        self.push(Notice { text: text::line(s.as_ref()), until: None });
    }

    fn push(&mut self, notice: Notice) {
        self.list.retain(|n| n.text != notice.text);
        self.list.push(notice);
        let extra = self.list.len().saturating_sub(KEPT);
        self.list.drain(..extra);
    }

    /// Lets go of what has been there long enough.
    pub fn expire(&mut self, now: Time) {
        self.list.retain(|n| n.until.is_none_or(|u| u > now));
    }

    /// Puts all away.
    pub fn dismiss(&mut self) {
        self.list.clear();
    }

    /// The newest, and how many more there are.
    pub fn newest(&self) -> Option<(&Notice, usize)> {
        self.list.last().map(|n| (n, self.list.len() - 1))
    }

    /// When the next one leaves.
    pub fn next_change(&self) -> Option<Time> {
        self.list.iter().filter_map(|n| n.until).min()
    }
}
