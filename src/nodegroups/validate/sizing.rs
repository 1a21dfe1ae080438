//! Sizing (3.2): instance type, resources, Pod CPU, disk. Yields the group's effective size for the kubelet rules. Must not judge reservations.

use serde_json::Value;

use super::{
    super::finding::{Stage, show},
    Context, chart,
    plain::is_other_type,
    pool::Pool,
    sink::{Hit, Phase, Sink},
};
use crate::model::quantity::Quantity;

/// What the charts take as the size of a node.
#[derive(Debug, Clone, Default)]
pub struct Size {
    /// Effective memory as text.
    pub memory: Option<String>,
    /// Effective CPUs as text.
    pub cpu: Option<String>,
    /// A part comes from the bundled list.
    pub assumed: bool,
    /// The type exists or may exist, but its size can't be read: sums can't be checked.
    pub unknown: bool,
    /// Nothing can be said: the fields themselves are wrong.
    pub broken: bool,
}

/// Checks a group's size.
pub fn check(pool: &Pool<'_>, context: &Context, sink: &mut Sink) -> Size {
    disk(pool, sink);
    if pool.broken.contains("resources") || pool.text("instanceType").is_none() {
        return Size { broken: true, ..Size::default() };
    }
    let kind = pool.text("instanceType").unwrap_or_default();
    let (cpu, memory) = (pool.leaf("resources", "cpu"), pool.leaf("resources", "memory"));
    let (has_cpu, has_memory) = (chart::truthy(cpu), chart::truthy(memory));
    if !kind.is_empty() && has_cpu != has_memory {
        let (set, missing) = if has_cpu { ("cpu", "memory") } else { ("memory", "cpu") };
        let text = format!("{}: resources.{set} is set, resources.{missing} is not; beside an instance type both or neither", pool.named());
        let fix = format!("set resources.{missing} too, or remove resources.{set}");
        let hit = Hit::new("Z-PARTIAL", pool.field("resources"), text).fix(fix).at(Phase::Render, pool.index, 1);
        sink.push(pool.get("resources").map(show).into_iter().fold(hit, Hit::value));
    }
    if kind.is_empty() && !(has_cpu && has_memory) {
        let text =
            format!("{}: no instance type and not both of resources.cpu and resources.memory; KubeVirt refuses such a VM", pool.named());
        sink.push(Hit::new("Z-NONE", pool.path(), text).at(Phase::Late, pool.index, 0));
    }
    let by_resources = has_cpu && has_memory;
    let by_type = !kind.is_empty() && !by_resources;
    pod_cpu(pool, by_type, sink);
    cores(pool, cpu.filter(|_| has_cpu), sink);
    memory_text(pool, memory.filter(|_| has_memory), sink);
    let mut size = Size::default();
    if by_type {
        instance_type(pool, kind, context, sink, &mut size);
    }
    if has_memory {
        size.memory = memory.map(chart::text);
    }
    if has_cpu {
        size.cpu = cpu.map(chart::text);
    }
    size
}

fn instance_type(pool: &Pool<'_>, kind: &str, context: &Context, sink: &mut Sink, size: &mut Size) {
    let offer = &context.offer;
    if !offer.has(kind) {
        let names = offer.names();
        let mut near: Vec<(usize, &str)> = names.iter().map(|n| (strsim::damerau_levenshtein(kind, n), *n)).collect();
        near.sort();
        let near: Vec<&str> = near.into_iter().take(3).map(|(_, n)| n).collect();
        let text = format!("{}: instanceType {:?} is not among the {} types offered", pool.named(), show(&kind.into()), names.len());
        let fix = format!("choose an offered type, such as {}", near.join(", "));
        let hit = Hit::new("Z-INSTTYPE", pool.field("instanceType"), text).value(show(&kind.into())).fix(fix);
        sink.push(hit.assumed(offer.assumed()).at(Phase::Render, pool.index, 10));
        size.broken = true;
        return;
    }
    match offer.size(kind) {
        Some((cpu, memory)) => {
            size.cpu = Some(cpu.to_string());
            size.memory = Some(memory.to_string());
            size.assumed = true;
        }
        None => size.unknown = true,
    }
}

/// The guards of podCpuLimit and podCpuRequest, in the template's order.
fn pod_cpu(pool: &Pool<'_>, by_type: bool, sink: &mut Sink) {
    let present = |name: &str| pool.get(name).filter(|v| !v.is_null());
    let (limit, request) = (present("podCpuLimit"), present("podCpuRequest"));
    for (name, value) in [("podCpuLimit", limit), ("podCpuRequest", request)] {
        if let Some(Value::String(s)) = value
            && Quantity::parse(s).is_err()
        {
            let text = format!("{}: {name} {s:?} is no quantity; the chart reads it as 0", pool.named());
            let hit = Hit::new("G-QTY", pool.field(name), text).value(s.as_str()).stage(Stage::Runtime);
            sink.push(hit);
        }
    }
    let mut push = |id, name: &str, step, text: String| {
        let value = present(name).map(show).unwrap_or_default();
        let hit = Hit::new(id, pool.field(name), format!("{}: {text}", pool.named())).value(value);
        sink.push(hit.at(Phase::Render, pool.index, step));
    };
    for (name, value, step) in [("podCpuLimit", limit, 2), ("podCpuRequest", request, 3)] {
        if value.is_some() && by_type {
            push("Z-PODCPU-IT", name, step, format!("{name} is set beside an instance type; it needs resources.cpu and resources.memory"));
        }
    }
    for (name, value, step) in [("podCpuLimit", limit, 4), ("podCpuRequest", request, 5)] {
        if value.is_some_and(|v| chart::to_float(v) < 0.0) {
            push("Z-PODCPU-NEG", name, step, format!("{name} is negative"));
        }
    }
    match (limit.map(chart::to_float), request.map(chart::to_float)) {
        (Some(0.0), None) => push("Z-PODCPU-0LIM", "podCpuLimit", 6, "podCpuLimit 0 needs podCpuRequest 0 beside it".into()),
        (Some(_), None) if !by_type => {
            push("Z-PODCPU-LONE", "podCpuLimit", 9, "podCpuLimit alone is also taken as the request; the worker may find no host".into());
        }
        (Some(l), Some(r)) => {
            if r == 0.0 && l != 0.0 {
                push("Z-PODCPU-0REQ", "podCpuRequest", 7, "podCpuRequest 0 beside a limit becomes the limit".into());
            }
            if r > l {
                push("Z-PODCPU-GT", "podCpuRequest", 8, "podCpuRequest is above podCpuLimit".into());
            }
        }
        _ => {}
    }
}

/// `cores:` of the VM: unquoted, a whole number that fits 32 bits.
fn cores(pool: &Pool<'_>, cpu: Option<&Value>, sink: &mut Sink) {
    let Some(cpu) = cpu else { return };
    let text = chart::text(cpu);
    let at = pool.leaf_path("resources", "cpu");
    let number: Option<f64> = text.parse().ok().filter(|_| !text.ends_with(|c: char| c.is_ascii_alphabetic()));
    let suffix = text.trim_start_matches(|c: char| !c.is_ascii_alphabetic());
    if number.is_none() && suffix != "m" && Quantity::parse(&text).is_ok() {
        let why = format!("{}: resources.cpu {text:?} has a suffix; the chart reads it as 0 cores", pool.named());
        sink.push(Hit::new("Z-CPUSUFFIX", &at, why).value(&text).at(Phase::Render, pool.index, 52));
    }
    if chart::to_float(cpu) == 0.0 && Quantity::parse(&text).is_ok_and(|q| q.nanos() == 0) {
        let why = format!("{}: resources.cpu is zero, as text it counts as set", pool.named());
        sink.push(Hit::new("Z-CPUZERO", &at, why).value(&text).at(Phase::Render, pool.index, 52));
    }
    let whole = number.is_some_and(|n| n.fract() == 0.0 && (0.0..=4_294_967_295.0).contains(&n));
    if !whole {
        let why = format!("{}: resources.cpu {text:?} becomes the number of cores and must be a whole number", pool.named());
        sink.push(Hit::new("Z-CPUINT", at, why).value(&text).at(Phase::Apply, pool.index, 12));
    }
}

/// `guest:` memory is rendered unquoted too: what YAML reads as a fraction is no quantity for the API.
fn memory_text(pool: &Pool<'_>, memory: Option<&Value>, sink: &mut Sink) {
    let Some(Value::String(text)) = memory else { return };
    let fraction = is_other_type(text) && text.parse::<f64>().is_ok_and(|f| f.fract() != 0.0);
    if fraction || Quantity::parse(text).is_err() {
        let why = format!("{}: resources.memory {text:?} is rendered without quotes and is no quantity there", pool.named());
        let hit = Hit::new("G-QTY", pool.leaf_path("resources", "memory"), why).value(text);
        sink.push(hit.stage(Stage::Admission).at(Phase::Apply, pool.index, 13));
    }
}

fn disk(pool: &Pool<'_>, sink: &mut Sink) {
    let Some(value) = pool.get("diskSize") else { return };
    let text = chart::text(value);
    let at = pool.field("diskSize");
    let named = pool.named();
    let hit = |id, why: &str| Hit::new(id, &at, format!("{named}: diskSize {text} {why}")).value(&text);
    let Ok(size) = Quantity::parse(&text) else {
        sink.push(hit("G-QTY", "passes the schema but is no quantity; the volume is refused later").stage(Stage::Runtime));
        return;
    };
    let gib = i128::from(1u32 << 30) * crate::model::quantity::NANOS;
    match size.nanos() {
        0 if value.is_number() => sink.push(hit("D-ZERO", "counts as not set and becomes 20Gi")),
        0 => sink.push(hit("D-ZERO", "is rendered as it stands: no machine can start from it")),
        n if n < 0 => sink.push(hit("D-NEG", "is negative; no volume is ever made")),
        n if n < 5 * gib => sink.push(hit("D-SMALL", "is too small for the operating system and images")),
        _ => {}
    }
}
