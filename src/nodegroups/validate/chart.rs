//! The chart's arithmetic with its quirks (platform reference 3.3): truth, printing, `toFloat`, `cpuToMillicores`.
//! Copies what the templates compute, not what would be right; must not be used to read a quantity for any other purpose.

use serde_json::Value;

/// A decimal as the template library's `mulf` and `addf` use it: exact where a float would drift by a last digit.
#[derive(Debug, Clone, Copy)]
struct Dec {
    mantissa: i128,
    exponent: i32,
}

impl Dec {
    fn of(f: f64) -> Option<Dec> {
        let text = format!("{f:e}");
        let (digits, exponent) = text.split_once('e')?;
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        let mantissa = format!("{whole}{fraction}").parse().ok()?;
        let exponent: i32 = exponent.parse().ok()?;
        Some(Dec { mantissa, exponent: exponent - i32::try_from(fraction.len()).ok()? })
    }

    fn float(self) -> f64 {
        format!("{}e{}", self.mantissa, self.exponent).parse().unwrap_or(0.0)
    }
}

/// `mulf`.
pub fn mul(a: f64, b: f64) -> f64 {
    let exact = || {
        let (a, b) = (Dec::of(a)?, Dec::of(b)?);
        Some(Dec { mantissa: a.mantissa.checked_mul(b.mantissa)?, exponent: a.exponent + b.exponent }.float())
    };
    exact().unwrap_or(a * b)
}

/// `addf`.
pub fn add(a: f64, b: f64) -> f64 {
    let exact = || {
        let (a, b) = (Dec::of(a)?, Dec::of(b)?);
        let exponent = a.exponent.min(b.exponent);
        let at = |d: Dec| d.mantissa.checked_mul(10i128.checked_pow(u32::try_from(d.exponent - exponent).ok()?)?);
        Some(Dec { mantissa: at(a)?.checked_add(at(b)?)?, exponent }.float())
    };
    exact().unwrap_or(a + b)
}

/// A template's truth: null, false, 0, "" and empty lists and maps are false.
pub fn truthy(value: Option<&Value>) -> bool {
    match value {
        None | Some(Value::Null) => false,
        Some(Value::Bool(b)) => *b,
        Some(Value::Number(n)) => n.as_f64() != Some(0.0),
        Some(Value::String(s)) => !s.is_empty(),
        Some(Value::Array(a)) => !a.is_empty(),
        Some(Value::Object(o)) => !o.is_empty(),
    }
}

/// Go's shortest form turns to an exponent here (platform reference 3.3: from 1e6 up).
const GO_EXPONENT: i32 = 6;

/// A number as Go prints it: with an exponent from a million up and below a ten-thousandth.
pub fn go_float(f: f64) -> String {
    let text = format!("{f:e}");
    let Some((digits, exponent)) = text.split_once('e') else { return text };
    let power: i32 = exponent.parse().unwrap_or(0);
    if f != 0.0 && !(-4..GO_EXPONENT).contains(&power) {
        return format!("{digits}e{}{:02}", if power < 0 { '-' } else { '+' }, power.abs());
    }
    format!("{f}")
}

/// `toString`.
pub fn text(value: &Value) -> String {
    match value {
        Value::String(s) => s.clone(),
        // All numbers of the values arrive as floats.
        Value::Number(n) => go_float(n.as_f64().unwrap_or(0.0)),
        Value::Null => "<nil>".to_string(),
        v => v.to_string(),
    }
}

/// `float64`: what can't be read is 0, without a word.
fn float(s: &str) -> f64 {
    if !s.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'.' | b'e' | b'E' | b'+' | b'-')) {
        return 0.0;
    }
    s.parse().ok().filter(|f: &f64| f.is_finite()).unwrap_or(0.0)
}

/// `cozy-lib.resources.toFloat` of a text: one suffix off, the rest as a float, 0 when unreadable.
pub fn to_float_text(s: &str) -> f64 {
    const UNITS: [(&str, f64); 13] = [
        ("Ki", 1024.0),
        ("Mi", 1_048_576.0),
        ("Gi", 1_073_741_824.0),
        ("Ti", 1_099_511_627_776.0),
        ("Pi", 1_125_899_906_842_624.0),
        ("Ei", 1_152_921_504_606_846_976.0),
        ("m", 1e-3),
        ("k", 1e3),
        ("M", 1e6),
        ("G", 1e9),
        ("T", 1e12),
        ("P", 1e15),
        ("E", 1e18),
    ];
    match UNITS.iter().find_map(|(suffix, unit)| s.strip_suffix(suffix).map(|rest| (rest, *unit))) {
        Some((rest, unit)) => mul(float(rest), unit),
        None => float(s),
    }
}

/// `cozy-lib.resources.toFloat` of a value.
pub fn to_float(value: &Value) -> f64 {
    match value {
        Value::Number(n) => n.as_f64().unwrap_or(0.0),
        Value::String(s) => to_float_text(s),
        _ => 0.0,
    }
}

/// `kubernetes.cpuToMillicores`: whole millicores; what can't be read is 0.
pub fn millicores(s: &str) -> f64 {
    match s.strip_suffix('m') {
        Some(rest) => float(rest),
        None => mul(float(s), 1000.0).trunc(),
    }
}

/// `int` of a text that is only digits: a leading zero makes it octal, as in Go's source; what is none, or too large, becomes 0 there.
pub fn int(digits: &str) -> Option<i64> {
    match digits.strip_prefix('0').filter(|rest| !rest.is_empty()) {
        Some(octal) => i64::from_str_radix(octal, 8).ok(),
        None => digits.parse().ok(),
    }
}

/// The same through `int`: only a whole number survives.
pub fn millicores_int(s: &str) -> f64 {
    match s.strip_suffix('m') {
        Some(rest) => int(rest.strip_suffix(".0").unwrap_or(rest)).map_or(0.0, |n| n as f64),
        None => millicores(s),
    }
}

/// Memory reserved when nothing is set: 5 % within 256..1024 Mi.
pub fn auto_memory_mi(effective: &str) -> i64 {
    let mi = (to_float_text(effective) / 1_048_576.0) as i64;
    (mi.saturating_mul(5) / 100).clamp(256, 1024)
}

/// CPU reserved when nothing is set: 5 % within 50..500 m.
pub fn auto_millicores(effective: &str) -> i64 {
    ((millicores_int(effective) as i64).saturating_mul(5) / 100).clamp(50, 500)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_print_as_go_prints_them() {
        for (f, want) in [
            (0.0, "0"),
            (1.0, "1"),
            (-3.0, "-3"),
            (0.5, "0.5"),
            (100_000.0, "100000"),
            (999_999.0, "999999"),
            (1_000_000.0, "1e+06"),
            (21_474_836_480.0, "2.147483648e+10"),
            (8_589_934_592.0, "8.589934592e+09"),
            (0.00001, "1e-05"),
            (0.0001, "0.0001"),
        ] {
            assert_eq!(go_float(f), want);
        }
    }

    #[test]
    fn conversions_copy_the_quirks() {
        assert_eq!(to_float_text("1e3Mi"), 1_048_576_000.0);
        assert_eq!((to_float_text("5u"), to_float_text("1e1.5"), to_float_text("1e999")), (0.0, 0.0, 0.0));
        assert_eq!(to_float_text("-1Gi"), -1_073_741_824.0);
        assert_eq!((millicores("0.0001"), millicores("0.57"), millicores("1.5m"), millicores("4k")), (0.0, 570.0, 1.5, 0.0));
        assert_eq!((millicores_int("0900m"), millicores_int("0400m"), millicores_int("0m")), (0.0, 256.0, 0.0));
        assert_eq!((int("017777777777"), int("08"), int("0"), int("99999999999999999999")), (Some(2_147_483_647), None, Some(0), None));
        assert_eq!((millicores_int("1.5m"), millicores_int("4000m"), millicores_int("1000000")), (0.0, 4000.0, 1e9));
        assert_eq!((auto_memory_mi("4Gi"), auto_memory_mi("64Gi"), auto_memory_mi("16Gi")), (256, 1024, 819));
        assert_eq!((auto_millicores("1"), auto_millicores("8"), auto_millicores("64")), (50, 400, 500));
        assert_eq!(add(mul(576_716_800.0, 0.07), 536_870_912.0), 577_241_088.0);
    }
}
