//! Values that flags and settings share: durations and the colour rule. Owns their notation.

use jiff::SignedDuration;

/// When colour is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ColorWhen {
    /// On a terminal, unless NO_COLOR is set.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// A duration as kubectl and people write it: `30s`, `5m`, `1h30m`, or whole seconds. Zero means no limit.
pub fn duration(s: &str) -> Result<SignedDuration, String> {
    let parsed = match s.parse::<i64>() {
        Ok(n) => SignedDuration::from_secs(n),
        Err(_) => s.parse::<SignedDuration>().map_err(|_| format!("{s:?} is no duration; allowed: 30s, 5m, 1h30m or whole seconds"))?,
    };
    if parsed.is_negative() { Err(format!("{s:?} is negative")) } else { Ok(parsed) }
}
