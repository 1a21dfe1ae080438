//! What is refused when the rendered manifest is parsed and applied: roles, GPU names, replicas, health checks (3.1, 3.4, 3.6).
//! Must not look at sizes.

use std::{collections::BTreeSet, sync::LazyLock};

use regex::Regex;

use super::{
    super::finding::{Severity, Stage, show},
    plain::{self, Reading},
    pool::Pool,
    sink::{Hit, Phase, Sink},
};

const ROLE: &str = "node-role.kubernetes.io/";

static LABEL: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"\A([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]\z").ok());
static DURATION: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"([0-9]+\.?[0-9]*|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h)").ok());

/// Checks one group.
pub fn check(pool: &Pool<'_>, sink: &mut Sink) {
    roles(pool, sink);
    gpus(pool, sink);
    replicas(pool, sink);
    max_unhealthy(pool, sink);
    startup(pool, sink);
}

fn roles(pool: &Pool<'_>, sink: &mut Sink) {
    let mut seen = BTreeSet::new();
    for (i, role) in pool.roles().into_iter().enumerate() {
        let at = pool.item("roles", i);
        let named = pool.named();
        let hit = |id, why: String| Hit::new(id, &at, format!("{named}: role {role:?} {why}")).value(role);
        let label = match plain::key(ROLE, role) {
            Reading::Same => format!("{ROLE}{role}"),
            Reading::Altered(key) => {
                sink.push(hit("G-CTRL", format!("is changed by YAML, the label becomes {key:?}")).stage(Stage::Runtime));
                key
            }
            Reading::Other | Reading::Broken => {
                sink.push(hit("G-CTRL", "holds characters that break the rendered manifest".into()).at(Phase::Post, pool.index, 1));
                continue;
            }
        };
        let name = label.strip_prefix(ROLE).unwrap_or_default();
        if name.len() > 63 || !LABEL.as_ref().is_some_and(|r| r.is_match(name)) {
            let why = "can't be part of a label; allowed are 1 to 63 letters, digits, dots, dashes, underscores, alphanumeric at both ends";
            sink.push(hit("R-LABEL", why.into()).at(Phase::Apply, pool.index, 23));
        }
        if !seen.insert(label.clone()) {
            sink.push(hit("R-DUP", "is there twice; labels can't be".into()).at(Phase::Post, pool.index, 2));
        }
    }
}

fn gpus(pool: &Pool<'_>, sink: &mut Sink) {
    for (i, name) in pool.gpus().into_iter().enumerate() {
        let at = format!("{}.name", pool.item("gpus", i));
        let hit = |id, why: String| Hit::new(id, &at, format!("{}: GPU name {name:?} {why}", pool.named())).value(name);
        match plain::value("", name, "") {
            Reading::Same => {}
            Reading::Other => {
                sink.push(hit("G-GPUYAML", "is read by YAML as another type than text".into()).at(Phase::Apply, pool.index, 11));
            }
            Reading::Altered(read) => {
                sink.push(
                    hit("G-CTRL", format!("is changed by YAML: {read:?} is what arrives, perhaps with more fields")).stage(Stage::Runtime),
                );
            }
            Reading::Broken => {
                // A leading sign of YAML's own is a known kind; everything else is text that breaks out.
                let id = if name.starts_with(['@', '*', '&', '!', '%', '|', '>', '`', '{', '[', ']', '}', ',', '"', '\'', '?', '-']) {
                    "G-GPUYAML"
                } else {
                    "G-CTRL"
                };
                let stage = if sink.split() { Stage::Pool } else { Stage::Cluster };
                sink.push(hit(id, "breaks the rendered manifest".into()).stage(stage).at(Phase::Post, pool.index, 3));
            }
        }
    }
}

fn replicas(pool: &Pool<'_>, sink: &mut Sink) {
    let (min, max) = (pool.number("minReplicas"), pool.number("maxReplicas"));
    for (name, value) in [("minReplicas", min), ("maxReplicas", max)] {
        let Some(n) = value else { continue };
        let text = pool.get(name).map(show).unwrap_or_default();
        if n.abs() >= 1e6 {
            let why =
                format!("{}: {name} {text} is rendered with an exponent and refused; allowed are numbers below 1000000", pool.named());
            sink.push(Hit::new("A-HUGE", pool.field(name), why).value(&text).at(Phase::Apply, pool.index, 20));
        }
        if n < 0.0 {
            let why = format!("{}: {name} is {text}; allowed are 0 and more", pool.named());
            let hit = Hit::new("A-NEG", pool.field(name), why).value(text);
            sink.push(match name {
                "minReplicas" => hit.at(Phase::Apply, pool.index, 40),
                // Accepted by everything, then the autoscaler stops for all groups.
                _ => hit.stage(Stage::Runtime),
            });
        }
    }
    if let (Some(min), Some(max)) = (min, max)
        && min > max
    {
        let why = format!(
            "{}: minReplicas {min} is above maxReplicas {max}; the autoscaler then stops for every group of the plane",
            pool.named()
        );
        sink.push(Hit::new("A-MINMAX", pool.field("minReplicas"), why).value(min.to_string()).at(Phase::Late, pool.index, 1));
    }
}

fn max_unhealthy(pool: &Pool<'_>, sink: &mut Sink) {
    let field = "maxUnhealthy";
    let at = pool.field(field);
    if sink.split() && pool.fields.get(field).is_some_and(serde_json::Value::is_null) {
        let why = format!("{}: null removes the chart's default, and the render fails without a value", pool.named());
        sink.push(Hit::new("H-MAXUNH", at, why).value("null").at(Phase::Render, pool.index, 71));
        return;
    }
    let Some(text) = pool.text(field) else { return };
    let hit = |id, why: String| Hit::new(id, &at, format!("{}: maxUnhealthy {text:?} {why}", pool.named())).value(text);
    let digits = text.strip_suffix('%').unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        let why = "is neither a whole number (\"1\") nor a whole percentage (\"50%\")";
        sink.push(hit("H-MAXUNH", why.into()).at(Phase::Render, pool.index, 71));
        return;
    }
    let percent = text.ends_with('%');
    // A percentage is handed on as text; a bare number goes through the template's `int`.
    let number = if percent { digits.parse().ok() } else { super::chart::int(digits) };
    let refused = match (&number, percent) {
        (Some(n), false) => *n > i64::from(i32::MAX),
        (Some(_), true) => false,
        // A number beyond 64 bits becomes 0 in the template; as a percentage the webhook can't read it.
        (None, percent) => percent,
    };
    if refused {
        sink.push(hit("H-MAXUNH", "is beyond 2147483647".into()).stage(Stage::Admission).at(Phase::Apply, pool.index, 30));
        return;
    }
    let most = pool.number("maxReplicas").unwrap_or(0.0).clamp(0.0, 1e6);
    let effective = number.map_or(0.0, |n| if percent { (n as f64 * most / 100.0).floor() } else { n as f64 });
    if effective < 1.0 {
        sink.push(hit("H-MAXUNH0", "comes to zero machines: sick ones are never replaced".into()));
    }
}

/// Nanoseconds of a Go duration; `None` when it is none, or beyond 64 bits.
fn go_duration(text: &str) -> Option<f64> {
    let (negative, rest) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    if rest == "0" {
        return Some(0.0);
    }
    let (mut total, mut end) = (0.0, 0);
    for c in DURATION.as_ref()?.captures_iter(rest) {
        let whole = c.get(0)?;
        if whole.start() != end {
            return None;
        }
        end = whole.end();
        let unit = match c.get(2)?.as_str() {
            "ns" => 1.0,
            "us" | "µs" | "μs" => 1e3,
            "ms" => 1e6,
            "s" => 1e9,
            "m" => 6e10,
            _ => 3.6e12,
        };
        total += c.get(1)?.as_str().parse::<f64>().ok()? * unit;
    }
    (end == rest.len() && end > 0 && total < 9.223_372_036_854_775e18).then_some(if negative { -total } else { total })
}

fn startup(pool: &Pool<'_>, sink: &mut Sink) {
    let Some(text) = pool.text("nodeStartupTimeout") else { return };
    let at = pool.field("nodeStartupTimeout");
    let hit = |id, why: String| Hit::new(id, &at, format!("{}: nodeStartupTimeout {text:?} {why}", pool.named())).value(text);
    let read = match plain::value("", text, "") {
        Reading::Same => text.to_string(),
        Reading::Altered(read) => {
            sink.push(hit("G-CTRL", format!("is changed by YAML to {read:?}, perhaps with more fields")).stage(Stage::Runtime));
            read
        }
        Reading::Other => {
            sink.push(hit("H-STARTUP", "is no duration; write it as 10m".into()).at(Phase::Apply, pool.index, 31));
            return;
        }
        Reading::Broken => {
            sink.push(hit("G-CTRL", "breaks the rendered manifest".into()).at(Phase::Post, pool.index, 4));
            return;
        }
    };
    let why = match go_duration(&read) {
        None => "is no duration; allowed are 600s, 10m, 1h30m",
        Some(n) if n != 0.0 && n < 30e9 => "is below 30s, the least that is allowed (0s switches it off)",
        Some(_) => return,
    };
    sink.push(hit("H-STARTUP", why.into()).severity(Severity::Error).at(Phase::Apply, pool.index, 31));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_go_durations() {
        for (text, want) in [
            ("10m", Some(6e11)),
            ("1h30m", Some(5.4e12)),
            ("-5s", Some(-5e9)),
            ("+1.5s", Some(1.5e9)),
            ("0", Some(0.0)),
            (".5s", Some(5e8)),
        ] {
            assert_eq!(go_duration(text), want, "{text}");
        }
        for text in ["", "10", "m", "10x", "1 m", "1m ", "1e3s", "9999999999h", "-"] {
            assert_eq!(go_duration(text), None, "{text}");
        }
    }
}
