//! Kubelet reservations and eviction (3.3), in the template's order and with its arithmetic. Must not use a better parser for judging:
//! where the kubelet reads a text differently, that is a finding of its own.

use std::sync::LazyLock;

use regex::Regex;
use serde_json::Value;

use super::{
    super::finding::Severity,
    chart,
    pool::Pool,
    sink::{Hit, Phase, Sink},
    sizing::Size,
};

static MEMORY: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"\A[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?(Ki|Mi|Gi|Ti|Pi|Ei|k|M|G|T|P|E)?\z").ok());
static CPU: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"\A([0-9]+m|[0-9]+(\.[0-9]+)?)\z").ok());
static PERCENT: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"\A[0-9]+(\.[0-9]+)?\z").ok());
static EXPONENT_AND_SUFFIX: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"\A[0-9.]+[eE][+-]?[0-9]+[A-Za-z]+\z").ok());

fn matches(regex: &LazyLock<Option<Regex>>, text: &str) -> bool {
    regex.as_ref().is_some_and(|r| r.is_match(text))
}

const MEMORIES: [&str; 2] = ["systemReservedMemory", "kubeReservedMemory"];
const CPUS: [&str; 2] = ["systemReservedCpu", "kubeReservedCpu"];
const HARD: &str = "evictionHardMemory";
const SOFT: &str = "evictionSoftMemory";

/// Reads of one group's kubelet map: an empty text is not set.
struct Kubelet<'p, 'a> {
    pool: &'p Pool<'a>,
}

impl<'a> Kubelet<'_, 'a> {
    fn get(&self, name: &str) -> Option<&'a str> {
        self.pool.leaf("kubelet", name).and_then(Value::as_str).filter(|s| !s.is_empty())
    }

    fn hit(&self, id: &'static str, name: &str, step: usize, why: &str) -> Hit {
        let hit = Hit::new(id, self.pool.leaf_path("kubelet", name), format!("{}: kubelet.{name} {why}", self.pool.named()));
        self.get(name).into_iter().fold(hit, Hit::value).at(Phase::Render, self.pool.index, step)
    }
}

/// Checks one group.
pub fn check(pool: &Pool<'_>, size: &Size, sink: &mut Sink) {
    if pool.broken.contains("kubelet") {
        return;
    }
    let kubelet = Kubelet { pool };
    let formats = reservations(&kubelet, sink);
    let eviction = evictions(&kubelet, sink);
    if size.broken {
        return;
    }
    if size.unknown {
        for (id, path, what) in [("E-SUM-MEM", "memory", "memory"), ("E-SUM-CPU", "cpu", "CPU")] {
            let text =
                format!("{}: not evaluated: the size of its instance type can't be read, so the {what} sum is unchecked", pool.named());
            if pool.leaf("resources", path).is_none() {
                let fix = "check the sum by hand, or ask the operator for the size";
                sink.push(Hit::new(id, pool.path(), text).severity(Severity::Info).fix(fix).at(Phase::Late, pool.index, 0));
            }
        }
        return;
    }
    memory(&kubelet, size, formats && eviction, sink);
    cpu(&kubelet, size, formats, sink);
}

/// Formats and E-POS; true when all can be read.
fn reservations(kubelet: &Kubelet<'_, '_>, sink: &mut Sink) -> bool {
    let mut fine = true;
    for (i, name) in MEMORIES.into_iter().enumerate() {
        let Some(text) = kubelet.get(name) else { continue };
        if !matches(&MEMORY, text) {
            let why = format!("is {text:?}; allowed are digits with one of Ki Mi Gi Ti Pi Ei k M G T P E");
            sink.push(kubelet.hit("E-MEMFMT", name, 20 + i, &why));
            fine = false;
            continue;
        }
        if chart::to_float_text(text) <= 0.0 {
            sink.push(kubelet.hit("E-POS", name, 24 + i, &format!("is {text}; it must be above zero")));
        }
        exponent(kubelet, name, text, sink);
    }
    for (i, name) in CPUS.into_iter().enumerate() {
        let Some(text) = kubelet.get(name) else { continue };
        if !matches(&CPU, text) {
            let why = format!("is {text:?}; allowed are whole millicores such as 100m, or cores such as 0.5");
            sink.push(kubelet.hit("E-CPUFMT", name, 22 + i, &why));
            fine = false;
        } else if chart::millicores(text) <= 0.0 {
            sink.push(kubelet.hit("E-POS", name, 26 + i, &format!("is {text}; it must be at least one millicore")));
        }
    }
    fine
}

fn exponent(kubelet: &Kubelet<'_, '_>, name: &str, text: &str, sink: &mut Sink) {
    if matches(&EXPONENT_AND_SUFFIX, text) {
        let why = format!("is {text}: the chart accepts exponent and suffix together, the kubelet doesn't");
        sink.push(kubelet.hit("E-EXPSUF", name, 0, &why));
    }
}

fn resolved<'a>(kubelet: &Kubelet<'_, 'a>) -> (&'a str, &'a str) {
    (kubelet.get(HARD).unwrap_or("7%"), kubelet.get(SOFT).unwrap_or("10%"))
}

/// Eviction thresholds; true when the hard one can be used in the sum.
fn evictions(kubelet: &Kubelet<'_, '_>, sink: &mut Sink) -> bool {
    let (hard, soft) = resolved(kubelet);
    let mut fine = true;
    for (i, (name, text)) in [(HARD, hard), (SOFT, soft)].into_iter().enumerate() {
        if !text.ends_with('%') && !matches(&MEMORY, text) {
            let why = format!("is {text:?}; allowed are a percentage such as 7% or an amount such as 500Mi");
            sink.push(kubelet.hit("E-ABSFMT", name, 30 + i, &why));
            fine = false;
        } else if !text.ends_with('%') {
            exponent(kubelet, name, text, sink);
        }
    }
    match (hard.strip_suffix('%'), soft.strip_suffix('%')) {
        (Some(h), Some(s)) => fine &= percentages(kubelet, h, s, sink),
        (None, None) if fine => {
            let (h, s) = (chart::to_float_text(hard), chart::to_float_text(soft));
            if h >= s {
                sink.push(kubelet.hit("E-ORDER-ABS", HARD, 40, &format!("({hard}) must be strictly below evictionSoftMemory ({soft})")));
            } else if h == 0.0 {
                sink.push(kubelet.hit("E-ABS0", HARD, 0, "is zero, which switches hard eviction off"));
            }
        }
        (None, None) => {}
        _ => {
            let why = format!("({hard}) and evictionSoftMemory ({soft}) must both be percentages or both be amounts");
            let fix = format!(
                "write both as percentages or both as amounts; the one that isn't set counts as {}",
                if kubelet.get(HARD).is_some() { "10%" } else { "7%" }
            );
            sink.push(kubelet.hit("E-MIXED", HARD, 41, &why).fix(fix).value(format!("{hard} / {soft}")));
            // The platform stops here; the sum is still worth checking where the hard one can be read.
            fine &= hard.strip_suffix('%').is_none_or(|h| matches(&PERCENT, h));
        }
    }
    fine
}

fn percentages(kubelet: &Kubelet<'_, '_>, hard: &str, soft: &str, sink: &mut Sink) -> bool {
    let mut numbers = true;
    for (i, (name, text)) in [(HARD, hard), (SOFT, soft)].into_iter().enumerate() {
        if !matches(&PERCENT, text) {
            sink.push(kubelet.hit("E-PCTNUM", name, 32 + i, &format!("is {text:?} before the percent sign, which is not a number")));
            numbers = false;
        }
    }
    if !numbers {
        return false;
    }
    let (h, s): (f64, f64) = (hard.parse().unwrap_or(0.0), soft.parse().unwrap_or(0.0));
    let mut fine = true;
    for (i, (name, text, p)) in [(HARD, hard, h), (SOFT, soft, s)].into_iter().enumerate() {
        if p <= 0.0 || p > 100.0 {
            sink.push(kubelet.hit("E-PCTRANGE", name, 34 + i, &format!("is {text}%; it must be above 0 and at most 100")));
            fine = false;
        }
    }
    if h >= s {
        sink.push(kubelet.hit("E-ORDER-PCT", HARD, 36, &format!("({hard}%) must be strictly below evictionSoftMemory ({soft}%)")));
    }
    fine
}

fn memory(kubelet: &Kubelet<'_, '_>, size: &Size, readable: bool, sink: &mut Sink) {
    let pool = kubelet.pool;
    let Some(effective) = &size.memory else {
        if MEMORIES.into_iter().chain([HARD, SOFT]).any(|n| kubelet.get(n).is_some()) {
            let text = format!(
                "{}: kubelet memory settings need a known memory: set an instanceType, or resources.cpu and resources.memory",
                pool.named()
            );
            sink.push(Hit::new("E-NOMEM", pool.field("kubelet"), text).at(Phase::Render, pool.index, 60));
        }
        return;
    };
    if !readable {
        return;
    }
    let auto = format!("{}Mi", chart::auto_memory_mi(effective));
    let [system, kube] = MEMORIES.map(|n| kubelet.get(n).unwrap_or(&auto));
    let (hard, _) = resolved(kubelet);
    let total = chart::to_float_text(effective);
    let evicted = match hard.strip_suffix('%') {
        Some(p) => chart::mul(total, chart::mul(p.parse().unwrap_or(0.0), 0.01)),
        None => chart::to_float_text(hard),
    };
    let reserved = chart::add(chart::add(chart::to_float_text(system), chart::to_float_text(kube)), evicted);
    if reserved >= total {
        let text = format!(
            "{}: reserved memory (system {system} + kube {kube} + hard eviction {hard}) must stay below the node's {effective}",
            pool.named()
        );
        sink.push(Hit::new("E-SUM-MEM", pool.path(), text).value(effective).assumed(size.assumed).at(Phase::Render, pool.index, 50));
    }
}

fn cpu(kubelet: &Kubelet<'_, '_>, size: &Size, readable: bool, sink: &mut Sink) {
    let pool = kubelet.pool;
    let Some(effective) = &size.cpu else {
        if CPUS.into_iter().any(|n| kubelet.get(n).is_some()) {
            let text = format!(
                "{}: kubelet CPU reservations need known CPUs: set an instanceType, or resources.cpu and resources.memory",
                pool.named()
            );
            sink.push(Hit::new("E-NOCPU", pool.field("kubelet"), text).at(Phase::Render, pool.index, 61));
        }
        return;
    };
    if !readable {
        return;
    }
    let auto = format!("{}m", chart::auto_millicores(effective));
    let [system, kube] = CPUS.map(|n| kubelet.get(n).unwrap_or(&auto));
    if chart::add(chart::millicores(system), chart::millicores(kube)) >= chart::millicores_int(effective) {
        let text = format!("{}: reserved CPU (system {system} + kube {kube}) must stay below the node's {effective} cores", pool.named());
        sink.push(Hit::new("E-SUM-CPU", pool.path(), text).value(effective).assumed(size.assumed).at(Phase::Render, pool.index, 51));
    }
}
