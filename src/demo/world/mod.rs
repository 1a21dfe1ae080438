//! The worlds the platform can hold, and their life. Owns the scenarios' names and the entry points; how objects look and
//! how they change stands in the files below.

mod fleet;
mod life;
mod objects;
mod plane;
mod release;
mod render;
mod scenarios;
mod template;

use std::str::FromStr;

use serde_json::{Value, json};

use super::{Platform, catalog};
pub use life::World;

/// A named world.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Scenario {
    /// Five tenants: healthy, scaling up, awaiting etcd, rejected by render, and one nobody may look into.
    #[default]
    Default,
    /// The default world, to be seen through the eyes of a tenant with level view.
    Tenant,
    /// Tenants without planes.
    Empty,
    /// So many planes, made from a seed.
    Fleet(usize),
}

impl Scenario {
    /// Who looks at this world unless told otherwise.
    pub fn identity(self) -> super::Identity {
        match self {
            Scenario::Default | Scenario::Empty => super::Identity::operator(),
            Scenario::Tenant => super::Identity::tenant("tenant-acme", super::Level::View),
            Scenario::Fleet(_) => super::Identity::sre(),
        }
    }
}

impl FromStr for Scenario {
    type Err = String;

    /// `default`, `tenant`, `empty` or `fleet-N`.
    fn from_str(s: &str) -> Result<Scenario, String> {
        match s {
            "" | "default" => Ok(Scenario::Default),
            "tenant" => Ok(Scenario::Tenant),
            "empty" => Ok(Scenario::Empty),
            _ => {
                let n = s.strip_prefix("fleet-").and_then(|n| n.parse().ok()).filter(|n| (1..=10_000).contains(n));
                n.map(Scenario::Fleet).ok_or_else(|| {
                    format!("scenario {s:?} is not known; allowed are default, tenant, empty and fleet-N with N from 1 to 10000")
                })
            }
        }
    }
}

/// Puts the objects of a scenario there, before anyone looks.
pub(crate) fn seed(platform: &Platform, scenario: Scenario) {
    let now = platform.now();
    match scenario {
        Scenario::Default | Scenario::Tenant => fill(platform, scenarios::default(now)),
        Scenario::Empty => {
            let born = template::after(now, -86400);
            fill(platform, objects::cluster(born, now));
            fill(platform, ["tenant-root", "tenant-acme"].map(|n| objects::namespace(n, "tenant-root", born)).into());
        }
        Scenario::Fleet(n) => {
            fill(platform, objects::cluster(template::after(now, -100 * 86400), now));
            fleet::seed(platform, n, now);
        }
    }
}

fn fill(platform: &Platform, objects: Vec<Value>) {
    let now = platform.now();
    let mut store = platform.shared().store();
    for mut value in objects {
        let text = |k: &str| value.get(k).and_then(Value::as_str).unwrap_or("").to_string();
        if let Some(resource) = catalog::of_kind(&text("apiVersion"), &text("kind")) {
            managed_fields(&mut value);
            store.seed(resource, value, now);
        }
    }
}

/// Adds the bookkeeping of field managers, which real objects carry and nobody should look at.
fn managed_fields(value: &mut Value) {
    fn tree(v: &Value) -> Value {
        match v {
            Value::Object(o) => Value::Object(o.iter().map(|(k, v)| (format!("f:{k}"), tree(v))).collect()),
            _ => json!({}),
        }
    }
    let fields: serde_json::Map<String, Value> =
        ["spec", "status"].iter().filter_map(|k| Some((format!("f:{k}"), tree(value.get(*k)?)))).collect();
    let api = value.get("apiVersion").cloned().unwrap_or_default();
    if let Some(meta) = value.get_mut("metadata").and_then(Value::as_object_mut) {
        let time = meta.get("creationTimestamp").cloned().unwrap_or_default();
        meta.insert(
            "managedFields".into(),
            json!([{"apiVersion": api, "fieldsType": "FieldsV1", "fieldsV1": fields,
            "manager": "controller", "operation": "Update", "time": time}]),
        );
    }
}

/// Lets the world of a platform live until the task is dropped: reconciles edits and moves machines, by the platform's clock.
pub async fn live(platform: Platform) {
    let mut wake = platform.shared().wake.subscribe();
    let mut world = World::new(&platform);
    loop {
        wake.mark_unchanged();
        let next = world.step(platform.now());
        let now = platform.now();
        let pause = match next {
            Some(due) => std::time::Duration::try_from(due.duration_since(now)).unwrap_or_default(),
            None => std::time::Duration::from_secs(3600),
        };
        tokio::select! {
            () = tokio::time::sleep(pause) => {}
            woken = wake.changed() => if woken.is_err() { return },
        }
    }
}
