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
