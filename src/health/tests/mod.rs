//! The whole engine on recordings of real controllers and on the minimal fixtures of the reference.

mod fixtures;
mod property;
mod recorded;

use super::*;
use crate::model::dump::Dump;

/// The folder of test data.
pub(in crate::health) fn data(name: &str) -> String {
    std::fs::read_to_string(format!("{}/tests/data/{name}", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

/// A world from YAML text; with `complete`, what isn't there doesn't exist.
pub(in crate::health) fn world(yaml: &str, complete: bool) -> World {
    let mut dump = Dump::default();
    dump.add("test", yaml.as_bytes()).unwrap();
    let dump = dump.finish(complete);
    assert!(dump.notes.is_empty(), "{:?}", dump.notes);
    dump.world
}

fn at(plane: &Plane, layer: Layer) -> &crate::model::verdict::LayerVerdict {
    plane.layers.iter().find(|v| v.layer == layer).unwrap()
}

/// Prints how long one judgement takes; for a look by hand, since clocks of shared machines prove nothing.
#[test]
#[ignore = "prints a timing"]
fn timing() {
    for name in ["40-healthy-three-workers", "56-plane-deleting-hook", "34-first-boot-provider-silent", "53-pool-rolling-out"] {
        let world = world(&data(&format!("recorded/{name}.yaml")), true);
        let ns = planes(&world).into_iter().next().unwrap();
        let now = "2026-11-30T22:00:00Z".parse().unwrap();
        let start = std::time::Instant::now();
        for _ in 0..200 {
            std::hint::black_box(judge(&world, &ns, now, &Deadlines::default()));
        }
        println!("{name}: {:?}", start.elapsed() / 200);
    }
}
