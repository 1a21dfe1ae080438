//! What one worker's parts say about it: on its way, stuck, joined, unhealthy. Owns reading the provider's reasons; the rows are the pool's.

use super::facts::Unit;
use crate::{
    health::{
        build,
        layers::patience::{Patience, patience},
        messages,
        view::View,
    },
    model::{
        Object, Time,
        projection::{Condition, capi::MachineHealthCheck, kubevirt::VirtualMachine},
        verdict::Evidence,
    },
};

/// What holds a worker up, in the order of the table's rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hold {
    /// Its VM was refused when it was to be created.
    Refused,
    /// No host takes it.
    Unschedulable,
    /// Its disk failed.
    DiskFailed,
    /// Its disk isn't there yet.
    Disk,
    /// Anything else: its provider waits, or says something unknown.
    Other,
}

/// A hold with its words.
pub struct Held {
    pub hold: Hold,
    /// The decisive sentence.
    pub text: String,
    pub since: Option<Time>,
    pub evidence: Evidence,
}

/// Provider reasons of which the first boot is full: they hold nothing up by themselves.
const WAITING: [&str; 7] = [
    "WaitingForClusterInfrastructure",
    "WaitingForControlPlaneAvailable",
    "WaitingForBootstrapData",
    "WaitingForInfrastructure",
    "NotReady",
    "Provisioning",
    "Starting",
];

/// Printable states of a VM whose disk isn't there.
const DISK_FAILED: [&str; 3] = ["DataVolumeError", "ErrorPvcNotFound", "ErrorDataVolumeNotFound"];

/// What a worker waits for; `None` when its infrastructure is up or nothing tells.
pub fn held(u: &Unit<'_>) -> Option<Held> {
    if stage(u) == Some(Stage::Ready) {
        // Its Node is there and well: what a second pod (a migration's) or an old word says holds nothing up.
        return None;
    }
    let (object, c) = infra(u).map_or((None, None), |(o, c)| (Some(o), Some(c)));
    if let Some(h) = refused(u, object.zip(c)) {
        return Some(h);
    }
    if let Some(h) = disk_failed(u, object.zip(c)) {
        return Some(h);
    }
    if let Some((o, c)) = object.zip(c) {
        return Some(from_condition(u, o, c));
    }
    from_pod(u).or_else(|| from_vm(u))
}

/// The condition that tells why the infrastructure isn't up: the provider's own, else its copy on the Machine (`status.md` 7).
fn infra<'u>(u: &'u Unit<'_>) -> Option<(&'u Object, &'u Condition)> {
    let own = u.infra.and_then(|(o, k)| k.condition("VMProvisioned").or_else(|| k.condition("Ready")).map(|c| (o, c)));
    let copy = || u.machine.and_then(|(o, m)| m.conditions.either("InfrastructureReady", "InfrastructureReady").map(|c| (o, c)));
    own.or_else(copy).filter(|(_, c)| &*c.status != "True")
}

fn refused(u: &Unit<'_>, infra: Option<(&Object, &Condition)>) -> Option<Held> {
    let failure = u.vm.and_then(|(o, v)| v.condition("Failure").filter(|c| &*c.status == "True").map(|c| (o, c)));
    let created = infra.filter(|(_, c)| &*c.reason == "VMCreateFailed");
    let (o, c) = failure.or(created)?;
    Some(hold(Hold::Refused, o, c))
}

fn hold(hold: Hold, o: &Object, c: &Condition) -> Held {
    let text = if c.message.is_empty() { c.reason.to_string() } else { messages::decisive(&c.message) };
    Held { hold, text, since: c.since.get(), evidence: build::condition(o, c) }
}

fn disk_failed(u: &Unit<'_>, infra: Option<(&Object, &Condition)>) -> Option<Held> {
    if let Some((o, c)) = infra.filter(|(_, c)| matches!(&*c.reason, "DVFailed" | "DVImagePullFailed")) {
        return Some(hold(Hold::DiskFailed, o, c));
    }
    if let Some((o, d)) = u.disks.iter().find(|(_, d)| &*d.phase == "Failed") {
        let why = d.conditions.iter().find(|c| &*c.status == "False" && !c.message.is_empty());
        let text =
            format!("DataVolume {} failed{}", o.meta.name, why.map_or(String::new(), |c| format!(": {}", messages::decisive(&c.message))));
        let evidence = build::fact(o, "status.phase", &*d.phase, why.and_then(|c| c.since.get()));
        return Some(Held { hold: Hold::DiskFailed, text, since: why.and_then(|c| c.since.get()), evidence });
    }
    let (o, v) = u.vm.filter(|(_, v)| DISK_FAILED.contains(&&*v.status))?;
    let text = format!("VM {} reports {}", o.meta.name, v.status);
    Some(Held { hold: Hold::DiskFailed, text, since: None, evidence: build::fact(o, "status.printableStatus", &*v.status, None) })
}

/// A disk that is still on its way; the provider looks at the scheduler before the disk, so its `Unschedulable` may only mean this (kubevirt#7697).
fn importing<'u>(u: &'u Unit<'_>) -> Option<(&'u Object, String)> {
    let going = |phase: &str| !matches!(phase, "" | "Succeeded" | "Failed");
    u.disks.iter().find(|(_, d)| going(&d.phase)).map(|(o, d)| {
        let progress = if d.progress.is_empty() { String::new() } else { format!(" {}", d.progress) };
        (*o, format!("DataVolume {} {}{progress}", o.meta.name, d.phase))
    })
}

/// A scheduler text that only waits for a volume.
fn for_volume(message: &str) -> bool {
    message.contains("unbound immediate PersistentVolumeClaims")
}

fn from_condition(u: &Unit<'_>, o: &Object, c: &Condition) -> Held {
    let no_host = &*c.reason == "Unschedulable" || c.message.contains("ErrorUnschedulable");
    let disk = matches!(&*c.reason, "DVPending" | "DVNotReady");
    if no_host || disk {
        if let Some((d, text)) = importing(u) {
            return Held { text, evidence: build::fact(d, "status.phase", phase(u, d), c.since.get()), ..hold(Hold::Disk, o, c) };
        }
        let kind = if disk || for_volume(&c.message) { Hold::Disk } else { Hold::Unschedulable };
        return hold(kind, o, c);
    }
    let scheduled = from_pod(u).or_else(|| from_vm(u)).filter(|h| h.hold != Hold::Other);
    scheduled.unwrap_or_else(|| hold(Hold::Other, o, c))
}

fn phase<'u>(u: &'u Unit<'_>, disk: &Object) -> &'u str {
    u.disks.iter().find(|(o, _)| std::ptr::eq(*o, disk)).map_or("", |(_, d)| &d.phase)
}

fn from_pod(u: &Unit<'_>) -> Option<Held> {
    let (o, p) = u.pod?;
    let c = p.condition("PodScheduled").filter(|c| &*c.status == "False")?;
    let kind = if for_volume(&c.message) || importing(u).is_some() { Hold::Disk } else { Hold::Unschedulable };
    Some(hold(kind, o, c))
}

fn from_vm(u: &Unit<'_>) -> Option<Held> {
    for (o, v) in [u.vm, u.instance].into_iter().flatten() {
        let pod = v.condition("PodScheduled").filter(|c| &*c.status == "False");
        if let Some(c) = pod.or_else(|| v.condition("Ready").filter(|c| &*c.reason == "Unschedulable")) {
            let kind = if for_volume(&c.message) || importing(u).is_some() { Hold::Disk } else { Hold::Unschedulable };
            return Some(hold(kind, o, c));
        }
    }
    let Some((o, v)) = u.vm else { return from_disk(u) };
    let evidence = build::fact(o, "status.printableStatus", &*v.status, None);
    let kind = match &*v.status {
        "ErrorUnschedulable" if importing(u).is_none() => Hold::Unschedulable,
        "WaitingForVolumeBinding" | "Provisioning" | "ErrorUnschedulable" => Hold::Disk,
        _ => return from_disk(u),
    };
    let text = importing(u).map_or_else(|| format!("VM {} reports {}", o.meta.name, v.status), |(_, t)| t);
    Some(Held { hold: kind, text, since: None, evidence })
}

fn from_disk(u: &Unit<'_>) -> Option<Held> {
    let (o, text) = importing(u)?;
    Some(Held {
        hold: Hold::Disk,
        text,
        since: o.meta.created.get(),
        evidence: build::fact(o, "status.phase", phase(u, o), o.meta.created.get()),
    })
}

/// A pause by I/O errors while the phase stays Running (row 29b).
pub fn paused_io<'u>(u: &'u Unit<'_>) -> Option<(&'u Object, &'u Condition)> {
    let paused = |x: Option<(&'u Object, &'u VirtualMachine)>| {
        let (o, v) = x?;
        v.condition("Paused").filter(|c| &*c.status == "True" && &*c.reason == "PausedIOError").map(|c| (o, c))
    };
    paused(u.instance).or_else(|| paused(u.vm))
}

/// Where a Machine stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stage {
    /// Going away.
    Leaving,
    /// No VM yet.
    Making,
    /// The VM runs and its Node hasn't joined.
    Joining,
    /// Its Node is there and healthy, or nothing says otherwise.
    Ready,
    /// Its Node is there and unhealthy.
    Unhealthy,
}

/// The stage of a worker that has a Machine.
pub fn stage(u: &Unit<'_>) -> Option<Stage> {
    let (o, m) = u.machine?;
    if o.meta.deleted.get().is_some() {
        return Some(Stage::Leaving);
    }
    if m.node.is_none() {
        let up = m.is_provided() || matches!(&*m.phase, "Provisioned" | "Running");
        return Some(if up { Stage::Joining } else { Stage::Making });
    }
    Some(if unhealthy(u).is_some() || &*m.phase == "Failed" { Stage::Unhealthy } else { Stage::Ready })
}

/// A terminal failure of a worker: it ends only with its Machine. `UpdateError` on the provider's object can be a planned drain (`status.md` 7).
pub fn failed(u: &Unit<'_>) -> Option<(String, Evidence)> {
    let word = |reason: &str, message: &str| match message {
        "" => reason.to_string(),
        m => format!("{reason}: {}", messages::decisive(m)),
    };
    if let Some((o, m)) = u.machine.filter(|(_, m)| !m.failure_reason.is_empty() || &*m.phase == "Failed") {
        let reason = if m.failure_reason.is_empty() { "Failed" } else { &m.failure_reason };
        let text = word(reason, &m.failure_message);
        return Some((text.clone(), build::fact(o, "status.failureReason", text, None)));
    }
    let (o, k) = u.infra.filter(|(_, k)| !k.failure_reason.is_empty() && &*k.failure_reason != "UpdateError")?;
    let text = word(&k.failure_reason, &k.failure_message);
    Some((text.clone(), build::fact(o, "status.failureReason", text, None)))
}

/// The condition that tells of an unhealthy Node. A lost connection or a failed inspection says nothing about the Node itself.
pub fn unhealthy<'u>(u: &'u Unit<'_>) -> Option<(&'u Object, &'u Condition)> {
    let (o, m) = u.machine?;
    if let Some(old) = m.conditions.old("NodeHealthy") {
        return (&*old.status != "True").then_some((o, old));
    }
    let fresh = |c: &&Condition| c.observed_generation.get().zip(o.meta.generation.get()).is_none_or(|(judged, now)| judged >= now);
    let lost = |c: &Condition| matches!(&*c.reason, "ConnectionDown" | "InspectionFailed");
    let own = [m.conditions.recent("NodeHealthy"), m.conditions.recent("NodeReady")].into_iter().flatten();
    let bad = own.filter(fresh).find(|c| &*c.status != "True" && !lost(c)).map(|c| (o, c));
    let check = m.conditions.either("HealthCheckSucceeded", "HealthCheckSucceeded").filter(|c| &*c.status == "False");
    bad.or(check.map(|c| (o, c)))
}

/// How long a Machine has been on its way to a VM, or its VM to a Node.
pub fn progress(view: &View<'_>, u: &Unit<'_>, check: Option<&MachineHealthCheck>) -> Option<Patience> {
    let (o, m) = u.machine?;
    match stage(u)? {
        Stage::Making => Some(patience(view, o.meta.created.get(), view.deadlines.machine_provider_id)),
        Stage::Joining => {
            let up = m.conditions.old("InfrastructureReady").filter(|c| &*c.status == "True");
            let waiting = m.conditions.either("NodeHealthy", "NodeHealthy");
            let since = up.or(waiting).and_then(|c| c.since.get()).or(o.meta.created.get());
            Some(patience(view, since, check.and_then(|c| c.startup).unwrap_or(view.deadlines.machine_node)))
        }
        _ => None,
    }
}

/// Why a Machine that has no VM yet waits, in a few words.
pub fn waiting_for(u: &Unit<'_>) -> String {
    let Some((_, m)) = u.machine else { return String::new() };
    let boot = m.conditions.either("BootstrapReady", "BootstrapConfigReady").filter(|c| &*c.status != "True");
    if !m.bootstrap_ready && boot.is_some() {
        let failure = u.bootstrap.map(|(_, b)| &b.failure_message).filter(|f| !f.is_empty());
        let talos =
            u.bootstrap.and_then(|(_, b)| b.condition("DataSecretAvailable")).filter(|c| &*c.status != "True" && !c.message.is_empty());
        return match failure.or(talos.map(|c| &c.message)) {
            Some(text) => format!("its bootstrap data is missing: {}", messages::decisive(text)),
            None => "its bootstrap data is missing".to_string(),
        };
    }
    match held(u) {
        Some(h) if !WAITING.contains(&h.text.as_str()) => h.text,
        _ => "its VM isn't up".to_string(),
    }
}

/// What is wrong with a Node, in the fullest words: the new style quotes the kubelet, the old one only names the condition.
pub fn complaint(u: &Unit<'_>) -> Option<String> {
    let (_, found) = unhealthy(u)?;
    let (_, m) = u.machine?;
    let new = [m.conditions.recent("NodeHealthy"), m.conditions.recent("NodeReady")].into_iter().flatten();
    let full = new.filter(|c| &*c.status != "True" && !c.message.is_empty()).map(|c| messages::flat(&c.message)).next();
    let own = if found.message.is_empty() { found.reason.to_string() } else { messages::flat(&found.message) };
    let text = full.unwrap_or(own);
    let text = text.trim_start_matches("* ").trim_start_matches("Node.Ready: ").replace(" * ", "; ");
    Some(text.chars().take(240).collect())
}
