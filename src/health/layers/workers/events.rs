//! Events about the objects of one pool. An event proves that something happened, never that it still holds. Owns telling whose event it is; must not judge.

use jiff::SignedDuration;

use super::Case;
use crate::{
    health::{build::span, messages, view::View},
    model::{Kind, projection::core::Event},
};

/// Events older than this say nothing about now.
const RECENT: SignedDuration = SignedDuration::from_hours(1);
/// What KubeVirt and CDI put before the name of a VM or disk.
const PREFIXES: [&str; 5] = ["virt-launcher-", "importer-prime-", "importer-", "prime-", "hp-volume-"];

/// The pool that an object's name stands for; for objects that can't be read, events name nothing else. The longest name wins.
fn pool_of<'n>(name: &str, pools: &'n [String]) -> Option<&'n str> {
    let bare = PREFIXES.iter().find_map(|p| name.strip_prefix(p)).unwrap_or(name);
    let rest = ["kubernetes-computeplane-cluster-", "computeplane-cluster-"].iter().find_map(|p| bare.strip_prefix(p))?;
    let fits = |p: &&String| rest.strip_prefix(p.as_str()).is_some_and(|tail| tail.is_empty() || tail.starts_with('-'));
    pools.iter().filter(fits).max_by_key(|p| p.len()).map(String::as_str)
}

/// Kinds of whose events a worker's fate can be read.
const KINDS: [&str; 10] = [
    "MachineDeployment",
    "MachineSet",
    "Machine",
    "MachineHealthCheck",
    "KubevirtMachine",
    "VirtualMachine",
    "VirtualMachineInstance",
    "DataVolume",
    "PersistentVolumeClaim",
    "Pod",
];

/// Recent warnings about the pool's objects, newest first, without those that a newer good event about the same object answers.
pub fn warnings<'a>(c: &Case<'a>) -> Vec<&'a Event> {
    let ours = |e: &Event| {
        KINDS.contains(&&*e.involved_kind) && c.pool.name.is_some() && pool_of(&e.involved_name, c.names) == c.pool.name.as_deref()
    };
    let recent = |e: &Event| e.last.is_some_and(|t| c.view.age(t) <= RECENT);
    let all: Vec<&Event> = c.view.list(Kind::Event).filter_map(|o| Event::of(o)).filter(|e| recent(e) && ours(e)).collect();
    let answered = |e: &Event| {
        let newer = |o: &&&Event| o.involved_kind == e.involved_kind && o.involved_name == e.involved_name && o.last > e.last;
        all.iter().filter(newer).any(|o| &*o.type_ == "Normal" && o.reason.starts_with("Successful"))
    };
    let mut out: Vec<&Event> = all.iter().copied().filter(|e| &*e.type_ == "Warning" && !answered(e)).collect();
    out.sort_by_key(|e| std::cmp::Reverse(e.last));
    out
}

/// `… (seen 4m ago)`: the decisive sentence with its age.
pub fn sentence(view: &View<'_>, e: &Event) -> String {
    let ago = e.last.map_or(String::new(), |t| format!(" (seen {} ago)", span(view.age(t))));
    format!("{}{ago}", messages::decisive(&e.message))
}
