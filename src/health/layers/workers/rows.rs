//! Rows 27–31: why workers don't come, one arm each. Must not count them.

use super::{
    Case, Judgement, State, events,
    facts::Unit,
    scale,
    units::{self, Held, Hold, Stage},
    verdict, with,
};
use crate::{
    health::{
        build::{self, Build},
        events as told,
        layers::patience::patience,
        messages,
    },
    model::{
        Object,
        projection::{Condition, capi::MachineSet},
        verdict::{Evidence, Who},
    },
};

/// A condition's words on one line, list marks and all: what blocks may stand behind the first colon.
fn flat(c: &Condition) -> String {
    let text = if c.message.is_empty() { c.reason.to_string() } else { messages::flat(&c.message) };
    let text = text.replace("because: * ", "because ").replace(" * ", "; ");
    text.chars().take(400).collect()
}

/// Row 27: new machines are held back.
pub fn blocked(c: &Case<'_>) -> Option<Judgement> {
    let of_sets = c.pool.sets.iter().find_map(|(o, s)| Some((*o, blocked_set(o, s)?)));
    let own = || {
        let (o, d) = c.pool.deployment?;
        let new = d.conditions.recent("ScalingUp").filter(|x| fresh(o, x) && says_blocked(x));
        let old = d.conditions.old("MachineSetReady").filter(|x| &*x.status == "False" && failed_reason(&x.reason));
        let wants = scale::counts(c).have.is_none_or(|h| h < d.replicas.unwrap_or(0));
        Some((o, new.or(old).filter(|_| wants)?))
    };
    let Some((o, x)) = of_sets.or_else(own) else { return blocked_event(c) };
    let v = verdict(State::WorkersBlocked, flat(x)).since(x.since.get()).evidence(build::condition(o, x));
    Some(blocked_steps(v, &format!("{} {}", x.reason, x.message)))
}

fn blocked_set<'s>(o: &Object, s: &'s MachineSet) -> Option<&'s Condition> {
    let wants = s.replicas.is_none_or(|r| r > s.counters.replicas.unwrap_or(0));
    if o.meta.deleted.get().is_some() || !wants {
        return None;
    }
    let old = s.conditions.old("MachinesCreated").filter(|x| &*x.status == "False");
    old.or_else(|| s.conditions.recent("ScalingUp").filter(|x| fresh(o, x) && says_blocked(x)))
}

/// A new-style condition carries its own generation (capi#13738).
fn fresh(o: &Object, x: &Condition) -> bool {
    x.observed_generation.get().zip(o.meta.generation.get()).is_none_or(|(judged, now)| judged >= now)
}

fn says_blocked(x: &Condition) -> bool {
    x.message.contains("is blocked") || x.message.contains("preflight check failed")
}

fn failed_reason(reason: &str) -> bool {
    reason == "PreflightCheckFailed" || reason.ends_with("CloningFailed") || reason == "MachineCreationFailed"
}

fn blocked_steps(v: Judgement, text: &str) -> Judgement {
    let v = match messages::classify(text) {
        Some(row) if row.class != messages::CHILD_NOT_READY => v.class(Some(row.class)),
        _ => v,
    };
    if text.contains("KubernetesVersionSkew") {
        return v.next(Who::Platform, "bring the control plane to a version that the workers' version fits");
    }
    if text.contains("preflight") {
        return v.next(Who::Anyone, "look at the control plane: new machines come once it is stable");
    }
    if text.contains("TalosConfigTemplate") {
        return v.next(Who::Platform, "look at the Job computeplane-cluster-talos-reconcile-<pool>-…, which writes the TalosConfigTemplate (it vanishes 10 minutes after success)");
    }
    if text.contains("Template") {
        return v.next(Who::Platform, "the template that the text names is missing: reconcile the release of the pool");
    }
    v.next(Who::Platform, "mend what the text names")
}

/// Only an event tells that a machine couldn't be made, and one is still missing.
fn blocked_event(c: &Case<'_>) -> Option<Judgement> {
    let desired = c.pool.desired()?;
    if scale::counts(c).have.is_some_and(|h| h >= desired) {
        return None;
    }
    let made = |e: &&&crate::model::projection::core::Event| {
        &*e.reason == "FailedCreate" && matches!(&*e.involved_kind, "MachineSet" | "MachineDeployment" | "Machine")
    };
    let warnings = events::warnings(c);
    let e = warnings.iter().find(made)?;
    if messages::classify(&e.message).is_some_and(|r| r.class == "QuotaBlocked") {
        return None;
    }
    let v = verdict(State::WorkersBlocked, events::sentence(c.view, e)).since(e.first).evidence(told::evidence(c.view, e));
    Some(blocked_steps(v, &e.message))
}

/// Workers that are held up in one way, with their words.
fn held<'u, 'a>(c: &'u Case<'a>, hold: Hold) -> Vec<(&'u Unit<'a>, Held)> {
    let of = |u: &'u Unit<'a>| units::held(u).filter(|h| h.hold == hold).map(|h| (u, h));
    let alive = |u: &&Unit<'_>| u.object().is_some_and(|o| o.meta.deleted.get().is_none());
    c.pool.units.iter().filter(alive).filter_map(of).collect()
}

/// `2 of 3 machines: text`.
fn told(c: &Case<'_>, list: &[(&Unit<'_>, Held)]) -> String {
    let (n, all) = (list.len(), c.pool.units.len());
    let what = if c.pool.units.iter().any(|u| u.machine.is_some() || u.infra.is_some()) { "machines" } else { "VMs" };
    let text = list.first().map_or("", |(_, h)| h.text.as_str());
    if all > 1 { format!("{n} of {all} {what}: {text}") } else { text.to_string() }
}

/// Evidence of held workers; what else is behind a worker than what the tenant sees marks the verdict as inferred.
fn from(v: Judgement, list: &[(&Unit<'_>, Held)]) -> Judgement {
    let seen = list.iter().any(|(u, _)| u.machine.is_some() || u.infra.is_some());
    let since = list.iter().filter_map(|(u, h)| h.since.or(u.object()?.meta.created.get())).min();
    let v = with(v.since(since), list.iter().map(|(_, h)| h.evidence.clone()).take(4));
    if seen { v } else { v.inferred().next(Who::Platform, "to confirm: the Machines and KubevirtMachines of the pool") }
}

/// Row 27b: the VM is refused when it is created.
pub fn create_refused(c: &Case<'_>) -> Option<Judgement> {
    let list = held(c, Hold::Refused);
    let (_, first) = list.first()?;
    let row = messages::classify(&first.evidence.value);
    let v = verdict(State::WorkerCreateRefused, told(c, &list)).class(row.map(|r| r.class));
    let field = |name: &str| c.pool.name.as_ref().map(|n| format!("nodeGroups.{n}.{name}"));
    let v = match row {
        Some(r) if r.class == "NotPermitted" => v.fix(r.who, r.hint, field("gpus")),
        Some(r) if r.class == "QuotaBlocked" => v.fix(r.who, r.hint, field("maxReplicas")),
        Some(r) => v.next(r.who, r.hint),
        None => v.next(Who::Platform, "mend what the text names"),
    };
    Some(from(v, &list))
}

/// Row 28: no host takes the workers.
pub fn unschedulable(c: &Case<'_>) -> Option<Judgement> {
    let list = held(c, Hold::Unschedulable);
    list.first()?;
    let field = c.pool.name.as_ref().map(|n| format!("nodeGroups.{n}.instanceType"));
    let v = verdict(State::WorkersUnschedulable, told(c, &list)).fix(
        Who::Tenant,
        "a smaller instance type, other GPUs or fewer machines",
        field,
    );
    let v = v.next(Who::Platform, "or more capacity on the hosts that the text counts");
    let also = late(c).len();
    let mut v = from(v, &list);
    if also > 0 {
        v.cause = format!("{}; {also} more haven't joined", v.cause);
    }
    Some(v)
}

/// Row 29: a disk failed, or isn't there long after its machine was made. A young import is progress.
pub fn disk(c: &Case<'_>) -> Option<Judgement> {
    let old = |u: &Unit<'_>| {
        let made = u.object().and_then(|o| o.meta.created.get());
        let since = made.or(units::held(u).and_then(|h| h.since));
        since.is_none() || patience(c.view, since, c.view.deadlines.machine_provider_id).over
    };
    let mut list = held(c, Hold::DiskFailed);
    let failed = !list.is_empty();
    if !failed {
        list = held(c, Hold::Disk).into_iter().filter(|(u, _)| old(u)).collect();
    }
    list.first()?;
    let class = messages::classify(&list.first()?.1.evidence.value).map(|r| r.class).filter(|x| *x == "QuotaBlocked");
    let age = list.iter().filter_map(|(u, _)| u.object()?.meta.created.get()).min();
    let wait = if failed { String::new() } else { patience(c.view, age, c.view.deadlines.machine_provider_id).suffix() };
    let v = verdict(State::WorkerDiskNotReady, format!("{}{wait}", told(c, &list))).class(class);
    let field = c.pool.name.as_ref().map(|n| format!("nodeGroups.{n}.storageClass"));
    let v = v.next(Who::Platform, "look at the image import and the storage class's provisioner");
    Some(from(v.fix(Who::Tenant, "check that the storage class exists and that the quota has room for the disk", field), &list))
}

/// Row 29b: a VM stands still because its disk fails, while its phase stays Running. No pause of Cluster API.
pub fn paused_io(c: &Case<'_>) -> Option<Judgement> {
    let hit = c.pool.units.iter().find_map(|u| Some((u, units::paused_io(u)?)));
    let (u, (o, x)) = hit?;
    let n = c.pool.units.iter().filter(|u| units::paused_io(u).is_some()).count();
    let v = verdict(State::WorkerPausedIO, format!("{n} of {} VMs stand still after I/O errors, first {}", c.pool.units.len(), u.name));
    Some(
        v.since(x.since.get())
            .evidence(build::condition(o, x))
            .next(Who::Platform, "look at the storage behind that disk; the VM goes on by itself once it answers"),
    )
}

/// Machines beyond the time in which their VM or their Node should have come, or that failed for good; with words and evidence.
fn late<'u, 'a>(c: &'u Case<'a>) -> Vec<(&'u Unit<'a>, String, Evidence)> {
    let check = c.pool.check.map(|x| x.1);
    let mut out = Vec::new();
    for u in &c.pool.units {
        if let Some((text, e)) = unbooted(c, u) {
            out.push((u, text, e));
        }
        let (Some((o, m)), Some(stage @ (Stage::Making | Stage::Joining))) = (u.machine, units::stage(u)) else { continue };
        if let Some((text, e)) = units::failed(u) {
            out.push((u, format!("machine {} failed: {text}", u.name), e));
            continue;
        }
        let Some(wait) = units::progress(c.view, u, check).filter(|w| w.over) else { continue };
        if stage == Stage::Joining {
            let x = m.conditions.either("NodeHealthy", "NodeHealthy");
            let e = x.map_or_else(|| build::fact(o, "status.nodeRef", "absent", o.meta.created.get()), |x| build::condition(o, x));
            let id = if m.is_provided() { format!(" (no Node with {})", m.provider_id()) } else { String::new() };
            out.push((u, format!("machine {} runs and its Node hasn't joined, {}{id}", u.name, wait.text), e));
        } else {
            let e = build::fact(o, "status.phase", &*m.phase, o.meta.created.get());
            let e = units::held(u).map_or(e, |h| h.evidence);
            out.push((u, format!("machine {} has no VM yet, {}: {}", u.name, wait.text, units::waiting_for(u)), e));
        }
    }
    out
}

/// A VM of which only the provider's object is seen, and which has not booted into the cluster. Beside a Machine the Machine tells:
/// the provider's check by SSH doesn't fit Talos.
fn unbooted(c: &Case<'_>, u: &Unit<'_>) -> Option<(String, Evidence)> {
    let (o, k) = u.infra.filter(|(_, k)| u.machine.is_none() && !k.ready)?;
    let up = k.condition("VMProvisioned").filter(|x| &*x.status == "True")?;
    let x = k.condition("BootstrapExecSucceeded").filter(|x| &*x.status == "False")?;
    let wait = patience(c.view, x.since.get().or(up.since.get()), c.view.deadlines.machine_node);
    let text = if x.message.is_empty() { x.reason.to_string() } else { messages::decisive(&x.message) };
    wait.over.then(|| (format!("VM {} runs and hasn't booted into the cluster, {}: {text}", u.name, wait.text), build::condition(o, x)))
}

/// Row 30: they run, or should, and their Nodes don't join.
pub fn not_joined(c: &Case<'_>) -> Option<Judgement> {
    let late = late(c);
    let (first, text, _) = late.first()?;
    // Condemned by the health check, and yet not replaced: that it may not act is the verdict (row 31).
    if too_many(c).is_some() && late.iter().all(|(u, ..)| condemned(u)) {
        return None;
    }
    let n = if late.len() > 1 { format!("{} of {} machines, first: ", late.len(), c.pool.units.len()) } else { String::new() };
    let since = late.iter().filter_map(|(u, ..)| u.object()?.meta.created.get()).min();
    let v = verdict(State::WorkersNotJoined, format!("{n}{text}")).since(since);
    let v = with(v, late.iter().map(|(.., e)| e.clone()).take(4));
    let v = with(v, too_many(c).map(|(o, x)| build::condition(o, x)));
    Some(match units::stage(first) {
        Some(Stage::Making) => v.next(Who::Platform, "look at the machine's bootstrap data (Talos bootstrap provider) and its VM"),
        _ => v.next(
            Who::Platform,
            "look at the VM's console: bootstrap token in the cluster, Talos configuration, the way to the cluster's endpoint, and the cloud controller that sets the provider id",
        ),
    })
}

/// The health check has given up on it.
fn condemned(u: &Unit<'_>) -> bool {
    u.machine
        .is_some_and(|(_, m)| m.conditions.either("HealthCheckSucceeded", "HealthCheckSucceeded").is_some_and(|x| &*x.status == "False"))
}

/// The health check's refusal to act. It reads the same while machines merely start (unhealthy: 0), which is no finding.
fn too_many<'u>(c: &'u Case<'_>) -> Option<(&'u Object, &'u Condition)> {
    let (o, m) = c.pool.check?;
    let x = m
        .conditions
        .either("RemediationAllowed", "RemediationAllowed")
        .filter(|x| &*x.status == "False" && &*x.reason == "TooManyUnhealthy")?;
    let told = x.message.split("unhealthy: ").nth(1).map(|t| t.chars().take_while(char::is_ascii_digit).collect::<String>());
    let unhealthy = match told.and_then(|n| n.parse::<i64>().ok()) {
        Some(n) => n > 0,
        None => m.expected.zip(m.healthy).is_some_and(|(all, healthy)| all > healthy),
    };
    let machines = c.pool.machines() > 0;
    let any = c.pool.units.iter().any(|u| condemned(u) || units::stage(u) == Some(Stage::Unhealthy));
    (unhealthy && (any || !machines)).then_some((o, x))
}

/// Row 31: too many are unhealthy, so none is replaced.
pub fn remediation_blocked(c: &Case<'_>) -> Option<Judgement> {
    let (o, x) = too_many(c)?;
    let bad: Vec<&Unit<'_>> = c.pool.units.iter().filter(|u| condemned(u) || units::stage(u) == Some(Stage::Unhealthy)).collect();
    let why = bad.iter().find_map(|u| Some((u, units::complaint(u)?)));
    let counts = match x.message.split_once('(') {
        Some((_, rest)) => rest.trim_end_matches(')').to_string(),
        None => c.pool.check.map_or(String::new(), |(_, m)| format!("maxUnhealthy: {}", m.max_unhealthy)),
    };
    let first = why.map_or(String::new(), |(u, text)| format!("; {}: {text}", u.name));
    let never = bad.iter().filter(|u| units::stage(u) == Some(Stage::Joining)).count();
    let never = if never > 0 { format!("; {never} never became Nodes") } else { String::new() };
    let v = verdict(
        State::RemediationBlocked,
        format!("unhealthy machines aren't replaced, because they are too many ({counts}){never}{first}"),
    );
    let v = v.since(x.since.get()).evidence(build::condition(o, x));
    let v = with(v, bad.iter().filter_map(|u| units::unhealthy(u)).map(|(o, x)| build::condition(o, x)).take(3));
    let v = v.next(Who::Platform, "find the common cause (network, image, control plane); replacing resumes by itself below the limit");
    let field = c.pool.name.as_ref().map(|n| format!("nodeGroups.{n}.maxUnhealthy"));
    Some(v.fix(Who::Tenant, "or raise the limit for a while; 50% of one machine is none", field))
}
