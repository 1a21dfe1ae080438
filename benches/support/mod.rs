//! Fleets of any size for benches, as the bytes of single items: a few dozen planes of the demo's fleet, copied under other names.
//! Owns the copying; holds one copy at a time, so that what is measured is the console's memory and not the fleet's.

#![allow(dead_code)] // each bench uses its part

use bytes::Bytes;
use http_body_util::BodyExt as _;
use planedeck::{
    cluster::watch::items::Splitter,
    demo::{Identity, Platform, Scenario},
    model::{Kind, Time, kind::KINDS},
};

/// Different planes; every further one is a copy of one of these.
pub const VARIANTS: usize = 40;

/// One served object.
pub struct Item {
    pub kind: Kind,
    pub api_version: String,
    pub json: String,
}

impl Item {
    pub fn copy(&self) -> Item {
        Item { kind: self.kind, api_version: self.api_version.clone(), json: self.json.clone() }
    }
}

/// The originals by plane, and what belongs to no plane.
pub struct Fleet {
    planes: Vec<Vec<Item>>,
    pub common: Vec<Item>,
}

pub fn now() -> Time {
    "2026-12-01T12:00:00Z".parse().expect("a time")
}

impl Fleet {
    pub fn new() -> Fleet {
        let platform = Platform::new(Scenario::Fleet(VARIANTS), std::sync::Arc::new(now), Identity::sre());
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let mut fleet = Fleet { planes: (0..VARIANTS).map(|_| Vec::new()).collect(), common: Vec::new() };
        for info in KINDS {
            let Some((api_version, items)) = info.versions.iter().find_map(|v| runtime.block_on(list(&platform, info, v))) else {
                continue;
            };
            for json in items {
                let owner = (0..VARIANTS).find(|v| json.contains(&short(*v)));
                let item = Item { kind: info.kind, api_version: api_version.clone(), json };
                owner.map_or(&mut fleet.common, |v| &mut fleet.planes[v]).push(item);
            }
        }
        fleet
    }

    /// The items of plane `number`, with their names, namespaces and uids its own.
    pub fn plane(&self, number: usize) -> impl Iterator<Item = Item> + '_ {
        let variant = number % VARIANTS;
        self.planes[variant].iter().map(move |i| Item {
            kind: i.kind,
            api_version: i.api_version.clone(),
            json: renumbered(&i.json.replace(&short(variant), &short(number)), number),
        })
    }
}

fn short(number: usize) -> String {
    format!("f{number:05}")
}

/// Resident memory of this process, in MiB.
pub fn resident() -> f64 {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    text.split_whitespace().nth(1).and_then(|p| p.parse::<f64>().ok()).unwrap_or(0.0) * 4096.0 / 1048576.0
}

/// The last five digits of every uid take the plane's number; so does one bound of every pool, since few planes of a fleet ask for the same.
fn renumbered(text: &str, number: usize) -> String {
    const UID: &str = "\"uid\":\"";
    let mut out = String::with_capacity(text.len());
    let bounds = text.replace("\"maxReplicas\":6", &format!("\"maxReplicas\":{}", 6 + number));
    let mut rest = bounds.as_str();
    while let Some(at) = rest.find(UID) {
        let cut = (at + UID.len() + 31).min(rest.len());
        out.push_str(&rest[..cut]);
        out.push_str(&format!("{number:05x}"));
        rest = rest.get(cut + 5..).unwrap_or_default();
    }
    out + rest
}

async fn list(platform: &Platform, info: &planedeck::model::kind::KindInfo, version: &str) -> Option<(String, Vec<String>)> {
    let api_version = if info.group.is_empty() { version.to_string() } else { format!("{}/{version}", info.group) };
    let root = if info.group.is_empty() { "api" } else { "apis" };
    let request = http::Request::get(format!("/{root}/{api_version}/{}", info.plural)).body(Bytes::new()).ok()?;
    let answer = platform.handle(request).await.ok()?;
    if !answer.status().is_success() {
        return None;
    }
    let body = answer.into_body().collect().await.ok()?.to_bytes();
    let mut items = Vec::new();
    Splitter::default().feed(&body, &mut |i| items.push(String::from_utf8_lossy(i).into_owned())).ok()?;
    Some((api_version, items))
}
