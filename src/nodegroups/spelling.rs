//! Whether two spellings mean one quantity, for "this change is only spelling". Owns that one question; must not judge a quantity.

use serde_json::Value;

/// True when both are readable quantities of exactly the same value: `20Gi`, `20480Mi` and 21474836480. Unreadable text is never the same.
pub fn same_quantity(a: &Value, b: &Value) -> bool {
    matches!((exact(a), exact(b)), (Some(a), Some(b)) if a == b)
}

/// A quantity (text or number) in exact billionths of its unit; `None` when it is no quantity, or too large or too fine to be held.
pub fn exact(value: &Value) -> Option<i128> {
    match value {
        Value::String(text) => parse(text),
        // Through the shortest text: 0.1 means a tenth, not its binary neighbour.
        Value::Number(number) => parse(&number.to_string()),
        _ => None,
    }
}

/// Scale of the results: billionths, the finest unit a quantity has (`n`).
pub const SCALE: i128 = 1_000_000_000;

fn parse(text: &str) -> Option<i128> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let end = digits.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(digits.len());
    let (number, suffix) = digits.split_at(end);
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if fraction.contains('.') || (whole.is_empty() && fraction.is_empty()) {
        return None;
    }
    let fraction = fraction.trim_end_matches('0');
    let mantissa: i128 = format!("0{whole}{fraction}").parse().ok()?;
    let (two, ten) = unit(suffix)?;
    let scaled = mantissa.checked_mul(1i128.checked_shl(two)?)?;
    let exponent = ten.checked_add(9)?.checked_sub(i32::try_from(fraction.len()).ok()?)?;
    let power = 10i128.checked_pow(exponent.unsigned_abs());
    let value = match (scaled, power) {
        (0, _) => 0,
        (s, Some(p)) if exponent >= 0 => s.checked_mul(p)?,
        (s, Some(p)) if s % p == 0 => s / p,
        _ => return None,
    };
    Some(if negative { -value } else { value })
}

/// Powers of two and of ten that a suffix stands for.
fn unit(suffix: &str) -> Option<(u32, i32)> {
    Some(match suffix {
        "" => (0, 0),
        "n" => (0, -9),
        "u" => (0, -6),
        "m" => (0, -3),
        "k" => (0, 3),
        "M" => (0, 6),
        "G" => (0, 9),
        "T" => (0, 12),
        "P" => (0, 15),
        "E" => (0, 18),
        "Ki" => (10, 0),
        "Mi" => (20, 0),
        "Gi" => (30, 0),
        "Ti" => (40, 0),
        "Pi" => (50, 0),
        "Ei" => (60, 0),
        _ => (0, suffix.strip_prefix(['e', 'E']).filter(|e| !e.is_empty())?.parse().ok()?),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn one_value_many_spellings() {
        for (a, b) in [
            (json!("20Gi"), json!("20480Mi")),
            (json!("20Gi"), json!(21474836480u64)),
            (json!("+20.0Gi"), json!("20Gi")),
            (json!("4.0"), json!(4)),
            (json!("4000m"), json!("4")),
            (json!("1e1"), json!(10.0)),
            (json!("0.5"), json!("500m")),
            (json!("-0"), json!("0Gi")),
            (json!("1E3"), json!("1k")),
            (json!("00.500"), json!(".5")),
        ] {
            assert!(same_quantity(&a, &b), "{a} {b}");
        }
        for (a, b) in [
            (json!("20Gi"), json!("20G")),
            (json!("x"), json!("x")),
            (json!(""), json!("")),
            (json!("1e1.5"), json!("1e1.5")),
            (json!("1e2147483648"), json!("1e2147483648")),
            (json!("1"), json!("-1")),
            (json!("1 Gi"), json!("1 Gi")),
            (json!(true), json!(true)),
        ] {
            assert!(!same_quantity(&a, &b), "{a} {b}");
        }
    }
}
