//! Times, generations and uids in as few bytes as they need: hundreds of thousands stand in a fleet. Owns the packing and what it rounds;
//! must not know what they belong to.

use std::fmt;

use super::Time;

/// A time in whole seconds, as Kubernetes writes them (`metav1.Time`), from 1970 on; fractions are cut off. Four bytes instead of 24.
/// Earlier times, such as Go's year 1, are none; later ones than 2106 are that year's.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Stamp(u32);

impl Stamp {
    /// The time, if there is one.
    pub fn get(self) -> Option<Time> {
        Time::from_second(i64::from(self.0.checked_sub(1)?)).ok()
    }

    /// True where there is a time.
    pub fn is_some(self) -> bool {
        self.0 != 0
    }
}

impl From<Option<Time>> for Stamp {
    fn from(time: Option<Time>) -> Stamp {
        let seconds = time.map(Time::as_second).filter(|s| *s >= 0);
        Stamp(seconds.map_or(0, |s| u32::try_from(s).unwrap_or(u32::MAX).saturating_add(1)))
    }
}

impl fmt::Debug for Stamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.get().fmt(f)
    }
}

/// A generation: a small number that only grows. Four bytes instead of 16; a negative one is none, and none is beyond `u32`.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Generation(u32);

impl Generation {
    /// The number, if there is one.
    pub fn get(self) -> Option<i64> {
        self.0.checked_sub(1).map(i64::from)
    }
}

impl From<Option<i64>> for Generation {
    fn from(n: Option<i64>) -> Generation {
        let n = n.filter(|n| *n >= 0);
        Generation(n.map_or(0, |n| u32::try_from(n).unwrap_or(u32::MAX).saturating_add(1)))
    }
}

impl fmt::Debug for Generation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.get().fmt(f)
    }
}

/// A uid: 16 bytes where it is spelled as API servers spell them, else the text itself.
#[derive(Clone, PartialEq, Eq, Hash)]
pub enum Uid {
    /// The halves of a number, written with dashes in lower case.
    Canonical(u64, u64),
    /// Anything else, also nothing.
    Other(Box<str>),
}

impl Uid {
    /// True for an object without uid.
    pub fn is_empty(&self) -> bool {
        matches!(self, Uid::Other(s) if s.is_empty())
    }
}

impl Default for Uid {
    fn default() -> Uid {
        Uid::Other(Box::default())
    }
}

impl From<&str> for Uid {
    fn from(text: &str) -> Uid {
        let digits: String = if text.len() == 36 { text.split('-').collect() } else { String::new() };
        let half = |part: Option<&str>| part.and_then(|p| u64::from_str_radix(p, 16).ok());
        match (half(digits.get(..16)), half(digits.get(16..32))) {
            (Some(high), Some(low)) if Uid::Canonical(high, low).to_string() == text => Uid::Canonical(high, low),
            _ => Uid::Other(text.into()),
        }
    }
}

impl fmt::Display for Uid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Uid::Canonical(high, low) => {
                let (a, b, c) = (high >> 32, high >> 16 & 0xffff, high & 0xffff);
                write!(f, "{a:08x}-{b:04x}-{c:04x}-{:04x}-{:012x}", low >> 48, low & 0xffff_ffff_ffff)
            }
            Uid::Other(text) => f.write_str(text),
        }
    }
}

impl fmt::Debug for Uid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_does_not_fit_is_rounded_as_promised() {
        let stamp = |s: &str| Stamp::from(Some(s.parse().unwrap())).get().map(|t: Time| t.to_string());
        assert_eq!(stamp("2026-12-01T12:00:00.75Z").as_deref(), Some("2026-12-01T12:00:00Z"));
        assert_eq!(stamp("1970-01-01T00:00:00Z").as_deref(), Some("1970-01-01T00:00:00Z"));
        assert_eq!(stamp("0001-01-01T00:00:00Z"), None);
        assert_eq!(stamp("2200-01-01T00:00:00Z").as_deref(), Some("2106-02-07T06:28:14Z"));
        assert_eq!((Stamp::default().get(), Stamp::from(None).get()), (None, None));
        let generation = |n| Generation::from(n).get();
        assert_eq!([generation(None), generation(Some(-1)), generation(Some(0)), generation(Some(7))], [None, None, Some(0), Some(7)]);
    }

    #[test]
    fn a_uid_is_packed_only_where_it_comes_back_the_same() {
        for text in ["104b01b2-1be3-4bbd-829f-233337e00003", "00000000-0000-0000-0000-000000000000"] {
            assert!(matches!(Uid::from(text), Uid::Canonical(..)), "{text}");
        }
        let odd = [
            "",
            "x",
            "104B01B2-1be3-4bbd-829f-233337e00003",
            "104b01b21be34bbd829f233337e000030000",
            "+04b01b2-1be3-4bbd-829f-233337e00003",
        ];
        for text in odd {
            assert!(matches!(Uid::from(text), Uid::Other(_)), "{text}");
            assert_eq!(Uid::from(text).to_string(), text);
        }
        assert!(Uid::from("").is_empty() && Uid::default().is_empty());
    }

    proptest! {
        #[test]
        fn every_uid_comes_back_as_it_was(text in "[0-9a-fA-F+-]{0,40}|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|\\PC*") {
            prop_assert_eq!(Uid::from(text.as_str()).to_string(), text);
        }
    }
}
