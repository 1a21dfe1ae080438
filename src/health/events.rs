//! Events joined to a plane: by involved object, deduplicated, newest first. An event proves that something happened, never that it still holds.
//! Owns the selection and wording; must not judge.

use std::{collections::BTreeMap, sync::Arc};

use jiff::SignedDuration;

use super::{
    build::{self, span},
    layers, messages,
    view::View,
};
use crate::model::{
    Kind, Object, Time,
    projection::core::Event,
    text,
    verdict::{Evidence, Layer},
};

/// Events older than this tell nothing about now: their usual lifetime in the cluster.
const LIFETIME: SignedDuration = SignedDuration::from_hours(1);

/// One happening, all its repetitions folded.
#[derive(Debug, Clone, PartialEq)]
pub struct Happening {
    /// Kind of the object it is about.
    pub kind: Arc<str>,
    /// Name of that object.
    pub name: Arc<str>,
    /// Reason.
    pub reason: Arc<str>,
    /// The decisive sentence.
    pub text: String,
    /// `Warning` or `Normal`, as sent; remediations are bad news of type Normal.
    pub warning: bool,
    /// How often.
    pub count: i64,
    /// First and last time seen.
    pub first: Option<Time>,
    /// Last time seen.
    pub last: Option<Time>,
}

/// What makes two events one happening: kind, name, reason, sentence.
type Key = (Arc<str>, Arc<str>, Arc<str>, String);

/// Reasons of type Normal that are bad news all the same (recorded/README).
const BAD_NORMAL: [&str; 4] = ["RollbackSucceeded", "UninstallSucceeded", "DependencyNotReady", "PendingRelease"];

/// All happenings of a plane's namespace, newest first.
pub fn of_plane(view: &View<'_>) -> Vec<Happening> {
    let mut folded: BTreeMap<Key, Happening> = BTreeMap::new();
    for e in view.list(Kind::Event).filter_map(|o| Event::of(o)).filter(|e| !noise(e)) {
        let sentence = messages::decisive(&e.message);
        let key = (e.involved_kind.clone(), e.involved_name.clone(), e.reason.clone(), sentence.clone());
        let h = folded.entry(key).or_insert_with(|| Happening {
            kind: e.involved_kind.clone(),
            name: e.involved_name.clone(),
            reason: e.reason.clone(),
            text: sentence,
            warning: &*e.type_ == "Warning" || BAD_NORMAL.contains(&&*e.reason),
            count: 0,
            first: e.first,
            last: e.last,
        });
        h.count += e.count.max(1);
        h.first = h.first.into_iter().chain(e.first).min();
        h.last = h.last.max(e.last);
    }
    let mut all: Vec<Happening> = folded.into_values().collect();
    all.sort_by(|a, b| b.last.cmp(&a.last).then_with(|| a.name.cmp(&b.name)));
    all
}

/// `DetectedUnhealthy` without a Node's name is emitted for every new Machine (`status.md` 8.29).
fn noise(e: &Event) -> bool {
    &*e.reason == "DetectedUnhealthy" && e.message.trim_end().ends_with("unhealthy Node")
}

/// The newest failure told of an object within the events' lifetime, unless a newer event of the same object tells of success.
pub fn last_failure<'a>(view: &View<'a>, kind: &str, name: &str) -> Option<&'a Event> {
    let about = view.list(Kind::Event).filter_map(|o| Event::of(o)).filter(|e| &*e.involved_kind == kind && &*e.involved_name == name);
    let newest = about.filter(|e| e.last.is_some_and(|t| view.age(t) <= LIFETIME)).max_by_key(|e| (e.last, &*e.type_ == "Warning"))?;
    (&*newest.type_ == "Warning").then_some(newest)
}

/// An event as evidence: `seen 4m ago, 3 times: …`.
pub fn evidence(view: &View<'_>, e: &Event) -> Evidence {
    let ago = e.last.map_or("at an unknown time".to_string(), |t| format!("{} ago", span(view.age(t))));
    let times = if e.count > 1 { format!(", {} times", e.count) } else { String::new() };
    let ns = if e.involved_namespace.is_empty() { view.namespace } else { &e.involved_namespace };
    Evidence {
        kind: "Event".to_string(),
        namespace: text::line(ns),
        name: text::line(&format!("{}/{}", e.involved_kind, e.involved_name)),
        path: text::line(&e.reason),
        value: text::line(&format!("seen {ago}{times}: {}", messages::decisive(&e.message))),
        time: e.last,
    }
}

/// Recent warnings about the objects of one layer, at most `limit`, newest first.
pub fn for_layer(view: &View<'_>, layer: Layer, limit: usize) -> Vec<Evidence> {
    let fits = |e: &Event| layer_of(&e.involved_kind, &e.involved_name) == Some(layer);
    let recent = |e: &Event| e.last.is_some_and(|t| view.age(t) <= LIFETIME);
    let bad = |e: &Event| &*e.type_ == "Warning" || BAD_NORMAL.contains(&&*e.reason);
    let mut all: Vec<&Event> =
        view.list(Kind::Event).filter_map(|o| Event::of(o)).filter(|e| bad(e) && fits(e) && recent(e) && !noise(e)).collect();
    all.sort_by_key(|e| std::cmp::Reverse(e.last));
    all.dedup_by(|a, b| a.involved_name == b.involved_name && a.reason == b.reason);
    all.into_iter().take(limit).map(|e| evidence(view, e)).collect()
}

/// The layer that an object belongs to, by its kind and name.
pub fn layer_of(kind: &str, name: &str) -> Option<Layer> {
    match kind {
        "HelmRelease" if name == layers::MODULE => Some(Layer::Module),
        "HelmRelease" if name == layers::CLUSTER => Some(Layer::Cluster),
        "HelmRelease" if name.starts_with(layers::POOL_RELEASE) => Some(Layer::Pools),
        "HelmRelease" if name.starts_with(layers::CLUSTER) => Some(Layer::Addons),
        "HelmRelease" if name == "etcd" || name.starts_with("tenant-") => Some(Layer::Tenant),
        "ComputePlane" | "TenantModule" => Some(Layer::Module),
        "Cluster" | "KamajiControlPlane" | "TenantControlPlane" | "DataStore" | "KubevirtCluster" => Some(Layer::ControlPlane),
        "ReplicaSet" | "Deployment" | "Job" if name.starts_with(layers::CLUSTER) => Some(Layer::ControlPlane),
        "Pod" if name.starts_with("virt-launcher-") || name.starts_with("importer-") => Some(Layer::Workers),
        "Pod" if name.starts_with(layers::CLUSTER) => Some(Layer::ControlPlane),
        "Machine"
        | "MachineSet"
        | "MachineDeployment"
        | "MachineHealthCheck"
        | "KubevirtMachine"
        | "VirtualMachine"
        | "VirtualMachineInstance"
        | "DataVolume"
        | "PersistentVolumeClaim"
        | "TalosConfig" => Some(Layer::Workers),
        _ => None,
    }
}

/// An event object as a fact with its own name, for lists that must link to it.
pub fn as_fact(object: &Object) -> Option<Evidence> {
    let e = Event::of(object)?;
    Some(build::fact(object, &e.reason, messages::decisive(&e.message), e.last))
}
