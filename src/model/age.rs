//! Ages as people read them: `45s`, `12m`, `3h`, `42d`. Owns the notation; must not read a clock.

use jiff::SignedDuration;

/// A duration in its largest whole unit, from seconds to days; negative ones (clock skew) read `0s`.
pub fn short(d: SignedDuration) -> String {
    let s = d.as_secs().max(0);
    match s {
        0..=119 => format!("{s}s"),
        120..=7_199 => format!("{}m", s / 60),
        7_200..=172_799 => format!("{}h", s / 3_600),
        _ => format!("{}d", s / 86_400),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_unit_grows_with_the_age() {
        for (secs, text) in
            [(-5, "0s"), (0, "0s"), (119, "119s"), (120, "2m"), (7_199, "119m"), (7_200, "2h"), (172_800, "2d"), (3_628_800, "42d")]
        {
            assert_eq!(short(SignedDuration::from_secs(secs)), text);
        }
    }
}
