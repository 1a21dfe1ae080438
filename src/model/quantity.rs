//! Kubernetes quantities, read exactly as Go's `resource.Quantity` reads them: integers of one billionth, no floats.
//! Keeps the text as it was written (patches and diffs need it); must not hang or allocate by the size of an exponent.

use std::{cmp::Ordering, fmt, str::FromStr};

/// One unit in nanos.
pub const NANOS: i128 = 1_000_000_000;

/// Exponents beyond this can't give a value that fits, whatever stands before them.
const MAX_EXPONENT: i64 = 60;

/// An exact quantity. Equality and order go by value: `1000m` equals `1`.
#[derive(Debug, Clone)]
pub struct Quantity {
    text: String,
    nanos: i128,
}

/// Why a text is no quantity.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QuantityError {
    /// No digits, a stray character, or a blank.
    Format,
    /// Digits are fine, the suffix is not one of `n u m k M G T P E Ki Mi Gi Ti Pi Ei` or an exponent.
    Suffix,
    /// The value doesn't fit in 128 bits of nanos: nothing real is that large.
    TooLarge,
}

impl fmt::Display for QuantityError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            QuantityError::Format => "not a quantity: digits are expected, as in 500m, 4, 0.5 or 20Gi",
            QuantityError::Suffix => "unknown suffix: allowed are n, u, m, k, M, G, T, P, E, Ki, Mi, Gi, Ti, Pi, Ei or an exponent like e3",
            QuantityError::TooLarge => "the value is too large",
        })
    }
}

impl std::error::Error for QuantityError {}

/// What a suffix multiplies by.
enum Scale {
    Ten(i64),
    Two(u32),
}

fn scale(suffix: &str) -> Result<Scale, QuantityError> {
    Ok(match suffix {
        "" => Scale::Ten(0),
        "n" => Scale::Ten(-9),
        "u" => Scale::Ten(-6),
        "m" => Scale::Ten(-3),
        "k" => Scale::Ten(3),
        "M" => Scale::Ten(6),
        "G" => Scale::Ten(9),
        "T" => Scale::Ten(12),
        "P" => Scale::Ten(15),
        "E" => Scale::Ten(18),
        "Ki" => Scale::Two(10),
        "Mi" => Scale::Two(20),
        "Gi" => Scale::Two(30),
        "Ti" => Scale::Two(40),
        "Pi" => Scale::Two(50),
        "Ei" => Scale::Two(60),
        s => {
            let digits = s.strip_prefix(['e', 'E']).ok_or(QuantityError::Suffix)?;
            let bare = digits.strip_prefix(['+', '-']).unwrap_or(digits);
            if bare.is_empty() || !bare.bytes().all(|b| b.is_ascii_digit()) {
                return Err(QuantityError::Suffix);
            }
            // Saturated, not parsed at any length: 1e2147483648 kept kubectl busy for minutes.
            let magnitude = bare.trim_start_matches('0').get(..4).map_or_else(|| bare.parse().unwrap_or(0), |_| 10_000);
            Scale::Ten(if digits.starts_with('-') { -magnitude } else { magnitude })
        }
    })
}

/// `digits` and the number of them after the point, without needless zeros.
fn mantissa(whole: &str, fraction: &str) -> Result<(i128, i64), QuantityError> {
    let fraction = fraction.trim_end_matches('0');
    let mut value: i128 = 0;
    for b in whole.bytes().chain(fraction.bytes()) {
        value = value.checked_mul(10).and_then(|v| v.checked_add(i128::from(b - b'0'))).ok_or(QuantityError::TooLarge)?;
    }
    Ok((value, i64::try_from(fraction.len()).map_err(|_| QuantityError::TooLarge)?))
}

/// `value * 10^power`, rounded up where it ends below one.
fn shift(value: i128, power: i64) -> Result<i128, QuantityError> {
    if value == 0 {
        return Ok(0);
    }
    if power >= 0 {
        let power = u32::try_from(power.min(MAX_EXPONENT)).map_err(|_| QuantityError::TooLarge)?;
        return 10i128.checked_pow(power).and_then(|p| value.checked_mul(p)).ok_or(QuantityError::TooLarge);
    }
    match u32::try_from(-power).ok().and_then(|p| 10i128.checked_pow(p)) {
        Some(p) => Ok(value / p + i128::from(value % p != 0)),
        None => Ok(1),
    }
}

impl Quantity {
    /// Reads a quantity as the API server would.
    ///
    /// # Errors
    /// [`QuantityError`]: what is wrong with the text. `.` and `+` alone are refused, although Go reads them as 0.
    pub fn parse(text: &str) -> Result<Self, QuantityError> {
        let (negative, rest) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text.strip_prefix('+').unwrap_or(text)),
        };
        let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        let (whole, rest) = rest.split_at(end);
        let (fraction, suffix) = match rest.strip_prefix('.') {
            Some(rest) => rest.split_at(rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len())),
            None => ("", rest),
        };
        if whole.is_empty() && fraction.is_empty() {
            return Err(QuantityError::Format);
        }
        let scale = scale(suffix)?;
        let whole = whole.trim_start_matches('0');
        // A fraction of thousands of digits only rounds up; what lies beyond 30 digits can't matter more than one digit there.
        let (fraction, tail) = fraction.split_at(fraction.len().min(30));
        let sticky = tail.bytes().any(|b| b != b'0');
        let (value, decimals) = mantissa(whole, fraction)?;
        let magnitude = match scale {
            Scale::Ten(power) => shift(value, 9 + power - decimals)?,
            Scale::Two(bits) => binary(value, bits, decimals)?,
        };
        let magnitude = if sticky && magnitude == 0 { 1 } else { magnitude };
        Ok(Quantity { text: text.to_string(), nanos: if negative { -magnitude } else { magnitude } })
    }

    /// The text as it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The exact value, in billionths.
    pub fn nanos(&self) -> i128 {
        self.nanos
    }

    /// Whole units (bytes, cores), rounded up as Go's `Value()` does, capped at the 64-bit range.
    pub fn whole(&self) -> i64 {
        Self::up(self.nanos, NANOS)
    }

    /// Thousandths (millicores), rounded up, capped at the 64-bit range.
    pub fn millis(&self) -> i64 {
        Self::up(self.nanos, 1_000_000)
    }

    fn up(nanos: i128, unit: i128) -> i64 {
        let whole = nanos.div_euclid(unit) + i128::from(nanos.rem_euclid(unit) != 0);
        i64::try_from(whole).unwrap_or(if whole < 0 { i64::MIN } else { i64::MAX })
    }
}

/// `value * 2^bits * 10^(9 - decimals)`. Divides before it multiplies where that is exact enough to stay inside 128 bits.
fn binary(value: i128, bits: u32, decimals: i64) -> Result<i128, QuantityError> {
    if decimals <= 9 {
        return shift(value.checked_mul(1i128 << bits).ok_or(QuantityError::TooLarge)?, 9 - decimals);
    }
    match value.checked_mul(1i128 << bits) {
        Some(v) => shift(v, 9 - decimals),
        None => shift(value, 9 - decimals)?.checked_mul(1i128 << bits).ok_or(QuantityError::TooLarge),
    }
}

impl FromStr for Quantity {
    type Err = QuantityError;
    fn from_str(s: &str) -> Result<Self, Self::Err> {
        Self::parse(s)
    }
}

impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl PartialEq for Quantity {
    fn eq(&self, other: &Self) -> bool {
        self.nanos == other.nanos
    }
}

impl Eq for Quantity {}

impl PartialOrd for Quantity {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Quantity {
    fn cmp(&self, other: &Self) -> Ordering {
        self.nanos.cmp(&other.nanos)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn nanos(s: &str) -> i128 {
        Quantity::parse(s).unwrap_or_else(|e| panic!("{s}: {e}")).nanos()
    }

    #[test]
    fn the_table_of_kubectl() {
        let k = NANOS;
        for (text, want) in [
            ("1e3", 1000 * k),
            ("1.5e3", 1500 * k),
            ("12e6", 12_000_000 * k),
            ("1E3", 1000 * k),
            ("1e-3", k / 1000),
            ("1E", 1_000_000_000_000_000_000 * k),
            ("1Ei", (1i128 << 60) * k),
            ("9Ei", 9 * (1i128 << 60) * k),
            ("500m", k / 2),
            ("1n", 1),
            ("1u", 1000),
            ("0.5Gi", 512 * (1i128 << 20) * k),
            (".5", k / 2),
            ("5.", 5 * k),
            ("+1", k),
            ("-1Gi", -(1i128 << 30) * k),
            ("1Ki", 1024 * k),
            ("1k", 1000 * k),
            ("1000000000000000000000", 1_000_000_000_000_000_000_000 * k),
            ("0.1n", 1),
            ("-0.1n", -1),
            ("0", 0),
            ("-0", 0),
            ("1e-99", 1),
            ("0e99", 0),
            ("007", 7 * k),
        ] {
            assert_eq!(nanos(text), want, "{text}");
        }
        for text in [
            "",
            " 1",
            "1 ",
            "1GiB",
            "1K",
            "1e",
            "1 Gi",
            "1mi",
            "1e3Ki",
            ".",
            "+",
            "-",
            "--1",
            "1e2147483648",
            "1e+",
            "1.2.3",
            "١",
            "0x1",
            "1e1.5",
        ] {
            assert!(Quantity::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn whole_units_round_up_and_stay_in_range() {
        let q = |s: &str| Quantity::parse(s).unwrap();
        assert_eq!((q("1500m").whole(), q("1500m").millis()), (2, 1500));
        assert_eq!((q("-1500m").whole(), q("0.0001").millis()), (-1, 1));
        assert_eq!(q("9Ei").whole(), i64::MAX);
        assert_eq!(q("1000m"), q("1"));
        assert!(q("1Gi") > q("1G"));
        assert_eq!(q("0.5Gi").text(), "0.5Gi");
    }

    proptest! {
        #[test]
        fn never_panics_or_hangs(s in "\\PC{0,40}", t in "[-+]?[0-9.]{0,60}[a-zA-Z]{0,3}[-+]?[0-9]{0,30}") {
            let _ = Quantity::parse(&s);
            let _ = Quantity::parse(&t);
        }

        #[test]
        fn suffixes_mean_what_they_say(n in 0i64..1_000_000) {
            prop_assert_eq!(nanos(&format!("{n}k")), nanos(&format!("{n}000")));
            prop_assert_eq!(nanos(&format!("{n}Mi")), nanos(&format!("{n}Ki")) * 1024);
            prop_assert_eq!(nanos(&format!("{n}m")), nanos(&format!("{n}e-3")));
            prop_assert_eq!(nanos(&format!("-{n}G")), -nanos(&format!("{n}e9")));
        }
    }
}
