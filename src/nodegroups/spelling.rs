//! Whether two spellings mean one quantity, for "this change is only spelling". Owns that one question; must not judge a quantity.

use serde_json::Value;

use crate::model::quantity::{NANOS, Quantity};

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
pub const SCALE: i128 = NANOS;

fn parse(text: &str) -> Option<i128> {
    Quantity::parse(text).ok().map(|q| q.nanos())
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
