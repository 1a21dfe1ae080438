//! Prints what a fleet costs in resident memory when nothing but its world is held. `cargo bench --bench resident -- 200 5000`.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing)]

mod support;

use std::collections::BTreeMap;

use planedeck::model::{Kind, Object, World};

fn resident() -> f64 {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    text.split_whitespace().nth(1).and_then(|p| p.parse::<f64>().ok()).unwrap_or(0.0) * 4096.0 / 1048576.0
}

fn main() {
    let sizes: Vec<usize> = std::env::args().skip(1).filter_map(|a| a.parse().ok()).collect();
    let fleet = support::Fleet::new();
    for n in if sizes.is_empty() { vec![20] } else { sizes } {
        let before = resident();
        let mut world = World::default();
        let mut counts: BTreeMap<Kind, (usize, usize)> = BTreeMap::new();
        for number in 0..n {
            for i in fleet.plane(number) {
                let at = counts.entry(i.kind).or_default();
                (at.0, at.1) = (at.0 + 1, at.1 + i.json.len());
                world.apply(Object::from_slice(i.kind, &i.api_version, i.json.as_bytes()).unwrap());
            }
        }
        let (objects, bytes) = counts.values().fold((0, 0), |a, c| (a.0 + c.0, a.1 + c.1));
        let held = resident() - before;
        println!(
            "fleet-{n}: {objects} objects, {} MB of JSON, {held:.1} MiB resident, {:.0} bytes an object",
            bytes / 1_000_000,
            held * 1048576.0 / objects as f64
        );
        if std::env::var_os("KINDS").is_some() {
            counts.iter().for_each(|(k, (c, b))| println!("  {k:?}: {c} of {} bytes", b / c));
        }
        println!("  an Object has {} bytes, a Body {}", size_of::<Object>(), size_of::<planedeck::model::projection::Body>());
        drop(world);
    }
}
