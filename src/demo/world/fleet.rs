//! Fleets of any size: a few dozen planes are built in full, the rest are copies of their texts under other names.
//! Owns the copying; the planes themselves come from [`super::scenarios`].

use serde_json::Value;

use super::{managed_fields, scenarios};
use crate::{
    demo::{
        Platform,
        catalog::{self, Resource},
        store::{Store, Stored},
    },
    model::Time,
};

/// Different planes; their fates repeat every twenty.
const VARIANTS: usize = 40;
/// The namespace the originals are built for.
const ORIGINAL: &str = "tenant-f00000";

/// Puts `n` planes there.
pub(super) fn seed(platform: &Platform, n: usize, now: Time) {
    let originals: Vec<_> = (0..VARIANTS.min(n)).map(|v| original(v, now)).collect();
    let mut store = platform.shared().store();
    for number in 0..n {
        let Some(plane) = originals.get(number % VARIANTS) else { continue };
        let rename = |text: &str| renamed(text, number);
        for (resource, object) in plane {
            store.seed_copy(resource, object, &rename);
        }
    }
}

fn original(variant: usize, now: Time) -> Vec<(&'static Resource, Stored)> {
    let prepared = |mut value: Value| {
        let text = |k: &str| value.get(k).and_then(Value::as_str).unwrap_or("").to_string();
        let resource = catalog::of_kind(&text("apiVersion"), &text("kind"))?;
        managed_fields(&mut value);
        Some((resource, Store::prepared(resource, value, now)))
    };
    scenarios::fleet_plane(ORIGINAL, variant, now).into_iter().filter_map(prepared).collect()
}

/// The namespace, the host names made of it, and the end of every uid follow the plane's number.
fn renamed(text: &str, number: usize) -> String {
    let short = format!("f{number:05}");
    let text = text.replace("-f00000", &format!("-{short}")).replace("f00000.example", &format!("{short}.example"));
    let mut out = String::with_capacity(text.len());
    let mut rest = text.as_str();
    const UID: &str = "\"uid\":\"";
    while let Some(at) = rest.find(UID) {
        // A uid has 36 characters; the last five take the number.
        let cut = at + UID.len() + 31;
        let (Some(head), Some(tail)) = (rest.get(..cut), rest.get(cut + 5..)) else { break };
        out.push_str(head);
        out.push_str(&format!("{number:05x}"));
        rest = tail;
    }
    out.push_str(rest);
    out
}
