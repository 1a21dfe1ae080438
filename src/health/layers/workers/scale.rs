//! Rows 32–35 and 40: wanted, there and ready, compared. Must not look for reasons, which stand above.

use super::{
    CLUSTER, Case, Judgement, State,
    facts::{Pool, Unit},
    units::{self, Stage},
    verdict, with,
};
use crate::{
    health::{
        build::{self, Build, span},
        layers::patience::{Patience, patience},
        messages,
        view::View,
    },
    model::{
        Kind, Object, Time,
        projection::{Condition, capi::MachineDeployment, core::Deployment, kamaji::TenantControlPlane, release::Release},
        verdict::{Evidence, Who},
    },
};

/// What there is and what of it is ready.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Machines, in whatever state.
    pub have: Option<i64>,
    /// Machines with a healthy Node.
    pub ready: Option<i64>,
    /// Machines that are of the present template.
    pub updated: Option<i64>,
}

/// From Machines where they are seen, else from the MachineDeployment's counters.
/// A list of Machines that is empty beside counters that aren't is no source.
pub fn counts(c: &Case<'_>) -> Counts {
    of_pool(c.view, c.pool)
}

/// The same for a pool that isn't being judged.
pub fn of_pool(view: &View<'_>, pool: &Pool<'_>) -> Counts {
    let machines = pool.machines() as i64;
    let counters = pool.deployment.map(|(_, d)| d.counters).unwrap_or_default();
    let listed = machines > 0 || view.complete(Kind::Machine) && counters.replicas.unwrap_or(0) == 0 && pool.deployment.is_some();
    if !listed {
        return Counts { have: counters.replicas, ready: counters.ready, updated: counters.updated };
    }
    let ready = pool.units.iter().filter(|u| units::stage(u) == Some(Stage::Ready)).count();
    Counts { have: Some(machines), ready: Some(ready as i64), updated: counters.updated }
}

fn number(n: Option<i64>) -> String {
    n.map_or("?".to_string(), |n| n.to_string())
}

/// `2/3 ready (1-8)`.
fn summary(c: &Case<'_>) -> String {
    let (min, max) = c.pool.bounds();
    let bounds = if min.is_none() && max.is_none() { String::new() } else { format!(" ({}-{})", number(min), number(max)) };
    format!("{}/{} ready{bounds}", number(counts(c).ready), number(c.pool.desired()))
}

/// Counters of the MachineDeployment as evidence.
pub fn fact(c: &Case<'_>) -> Option<Evidence> {
    let (o, d) = c.pool.deployment?;
    let counts = counts(c);
    let phase = if d.phase.is_empty() { String::new() } else { format!(", phase {}", d.phase) };
    let value = format!("{} wanted, {} there, {} ready{phase}", number(c.pool.desired()), number(counts.have), number(counts.ready));
    Some(build::fact(o, "spec.replicas", value, since(c)))
}

/// Since when the pool wants more than it has, by the newest word of its controllers; else its creation.
pub fn since(c: &Case<'_>) -> Option<Time> {
    let (o, d) = c.pool.deployment?;
    scaling_since(c, d).or(o.meta.created.get())
}

fn scaling_since(c: &Case<'_>, d: &MachineDeployment) -> Option<Time> {
    let up = d.conditions.recent("ScalingUp").filter(|x| &*x.status == "True");
    let waiting = |x: Option<&Condition>| x.filter(|x| &*x.status == "False").and_then(|x| x.since.get());
    let sets = c.pool.sets.iter().filter_map(|(_, s)| waiting(s.conditions.old("Resized"))).max();
    up.and_then(|x| x.since.get())
        .or_else(|| waiting(d.conditions.old("MachineSetReady")))
        .or(sets)
        .or_else(|| waiting(d.conditions.recent("MachinesReady")))
}

/// A release of the pool was applied so lately that the autoscaler needn't have seen its new bounds.
fn just_applied(c: &Case<'_>) -> bool {
    let names = c.pool.deployment.and_then(|(o, _)| o.meta.annotations.get("meta.helm.sh/release-name")).map(|n| &**n).unwrap_or(CLUSTER);
    let release = c.view.get(Kind::HelmRelease, names).and_then(|o| Release::of(o)).and_then(|r| r.deployed());
    release.and_then(|r| r.last_deployed.get()).is_some_and(|t| c.view.age(t) <= c.view.deadlines.routine_check)
}

/// Row 32: fewer machines than wanted long after they should be there, or fewer wanted than the minimum.
pub fn missing(c: &Case<'_>) -> Option<Judgement> {
    let desired = c.pool.desired()?;
    let (min, _) = c.pool.bounds();
    let have = counts(c).have?;
    let low = min.filter(|m| desired < *m);
    let wait = patience(c.view, since(c), c.view.deadlines.scale_up);
    let cause = match low {
        Some(m) if !just_applied(c) => format!("{desired} wanted where at least {m} should be, {have} there"),
        None if have < desired && (wait.over || wait.text.is_empty()) => {
            format!("{desired} wanted, {have} there, and nothing says why{}", wait.suffix())
        }
        _ => return None,
    };
    let v = with(verdict(State::WorkersMissing, cause).since(since(c)), fact(c));
    let v = with(
        v,
        low.and_then(|m| Some(build::fact(c.pool.deployment?.0, "metadata.annotations[…node-group-min-size]", m.to_string(), None))),
    );
    Some(v.next(Who::Platform, "look at the cluster's autoscaler (Deployment computeplane-cluster-cluster-autoscaler) and at the Cluster API controllers and webhooks"))
}

fn staged<'u, 'a>(c: &'u Case<'a>, wanted: &[Stage]) -> Vec<&'u Unit<'a>> {
    c.pool.units.iter().filter(|u| units::stage(u).is_some_and(|s| wanted.contains(&s))).collect()
}

/// Row 34: all are there and not all are ready. A MachineDeployment may read Available with none ready (trap 9).
pub fn degraded(c: &Case<'_>) -> Option<Judgement> {
    let bad = staged(c, &[Stage::Unhealthy]);
    if let Some(first) = bad.first() {
        return Some(unhealthy(c, first, bad.len()));
    }
    let (o, d) = c.pool.deployment?;
    let (desired, counts) = (c.pool.desired()?, counts(c));
    let (have, ready) = (counts.have?, counts.ready?);
    if c.pool.machines() > 0 || have < desired || ready >= desired || desired == 0 || rolling(c) {
        return None;
    }
    // Only counters: machines that have just been made read the same.
    let began = scaling_since(c, d).or(o.meta.created.get());
    if began.is_some_and(|t| !patience(c.view, Some(t), c.view.deadlines.machine_node).over) {
        return None;
    }
    let word = d.conditions.recent("MachinesReady").or(d.conditions.old("MachineSetReady")).filter(|x| &*x.status == "False");
    let text = word.filter(|x| !x.message.is_empty()).map_or(String::new(), |x| format!(": {}", messages::decisive(&x.message)));
    let v = verdict(State::WorkersDegraded, format!("{}{text}", summary(c))).since(word.and_then(|x| x.since.get()));
    let v = with(with(v, word.map(|x| build::condition(o, x))), fact(c));
    Some(v.next(Who::Platform, "look at the Nodes of the machines that aren't ready"))
}

fn unhealthy(c: &Case<'_>, first: &Unit<'_>, n: usize) -> Judgement {
    let node = first.machine.and_then(|(_, m)| m.node.clone()).unwrap_or_else(|| first.name.clone());
    let found = units::unhealthy(first);
    let text = units::complaint(first).or_else(|| units::failed(first).map(|f| f.0)).unwrap_or_else(|| "failed".to_string());
    let since = found.and_then(|(_, x)| x.since.get());
    let age = since.map_or(String::new(), |t| format!(" for {}", span(c.view.age(t))));
    let limit = c.pool.check.and_then(|(_, m)| m.unready).map_or(String::new(), |d| format!("; replaced after {}", span(d)));
    let more = if n > 1 { format!(" and {} more", n - 1) } else { String::new() };
    let v = verdict(State::WorkersDegraded, format!("{}; node {node}{more}{age}: {text}{limit}", summary(c))).since(since);
    let all = c.pool.units.iter().filter_map(|u| units::unhealthy(u)).map(|(o, x)| build::condition(o, x)).take(4);
    let v = with(with(v, all), c.pool.check.map(|(o, m)| health(o, m.healthy, m.expected)));
    v.next(Who::Platform, "look at the conditions of the named Nodes")
}

fn health(o: &Object, healthy: Option<i64>, expected: Option<i64>) -> Evidence {
    build::fact(o, "status.currentHealthy", format!("{} of {}", healthy.unwrap_or(0), expected.unwrap_or(0)), None)
}

/// Machines of two templates, by the controller's word or by the MachineSets.
fn rolling(c: &Case<'_>) -> bool {
    let Some((_, d)) = c.pool.deployment else { return false };
    let told = d.conditions.recent("RollingOut").is_some_and(|x| &*x.status == "True");
    let sets = c.pool.sets.iter().filter(|(_, s)| s.replicas.unwrap_or(0) > 0 || s.counters.replicas.unwrap_or(0) > 0).count();
    let behind = d.counters.updated.zip(d.counters.replicas).is_some_and(|(u, r)| u < r && sets != 1);
    told || sets > 1 || behind
}

/// Row 33: on its way, within its time.
pub fn moving(c: &Case<'_>) -> Option<Judgement> {
    let desired = c.pool.desired();
    let counts = counts(c);
    let coming = staged(c, &[Stage::Making, Stage::Joining]);
    let leaving = staged(c, &[Stage::Leaving]);
    let less = desired.zip(counts.have).is_some_and(|(d, h)| h < d);
    let more = desired.zip(counts.have).is_some_and(|(d, h)| h > d);
    let unready = desired.zip(counts.ready).is_some_and(|(d, r)| r < d);
    let low = c.pool.bounds().0.zip(desired).is_some_and(|(m, d)| d < m);
    let state = if rolling(c) {
        State::WorkersRollingOut
    } else if !coming.is_empty() || less || low || unready && leaving.is_empty() {
        State::WorkersScalingUp
    } else if !leaving.is_empty() || more {
        State::WorkersScalingDown
    } else {
        return None;
    };
    let oldest = coming.iter().copied().min_by_key(|u| u.object().and_then(|o| o.meta.created.get()));
    let wait = oldest.and_then(|u| units::progress(c.view, u, c.pool.check.map(|x| x.1)));
    let since =
        oldest.and_then(|u| u.object()?.meta.created.get()).or_else(|| leaving.iter().filter_map(|u| u.object()?.meta.deleted.get()).min());
    let since = since.or_else(|| self::since(c));
    let whole = patience(c.view, since, c.view.deadlines.scale_up);
    let cause = format!("{}{}", summary(c), step(state, !less && !more && !low, oldest.zip(wait.as_ref()), &leaving, &whole));
    let until = coming.iter().filter_map(|u| units::progress(c.view, u, c.pool.check.map(|x| x.1))?.until).min();
    let v = verdict(state, cause).since(since).deadline(until.or(whole.until));
    let v = with(v, fact(c));
    let v = with(
        v,
        coming
            .iter()
            .chain(&leaving)
            .filter_map(|u| u.machine)
            .map(|(o, m)| build::fact(o, "status.phase", &*m.phase, o.meta.created.get()))
            .take(4),
    );
    Some(v.next(Who::Anyone, "wait"))
}

/// What the oldest of the machines on their way is at.
fn step(state: State, there: bool, oldest: Option<(&Unit<'_>, &Patience)>, leaving: &[&Unit<'_>], whole: &Patience) -> String {
    if let Some((u, wait)) = oldest {
        let what = if units::stage(u) == Some(Stage::Joining) { "joining".to_string() } else { units::waiting_for(u) };
        return format!("; machine {}: {what}{}", u.name, wait.suffix());
    }
    if let Some(first) = leaving.first() {
        return format!("; {} leaving, first {}", leaving.len(), first.name);
    }
    match state {
        _ if there => format!("; not all that are there are ready yet{}", whole.suffix()),
        State::WorkersScalingDown => "; more than wanted are there".to_string(),
        _ => format!("; the next machine is to come{}", whole.suffix()),
    }
}

/// Row 35: it rests at zero, as it may.
pub fn zero(c: &Case<'_>) -> Option<Judgement> {
    let (o, _) = c.pool.deployment?;
    let (min, _) = c.pool.bounds();
    if c.pool.desired() != Some(0) || counts(c).have.unwrap_or(0) > 0 || min.unwrap_or(0) > 0 {
        return None;
    }
    let v = verdict(State::ScaledToZero, summary(c).replace(" ready", "")).since(zero_since(c.pool));
    Some(with(v, fact(c)).next(Who::Anyone, format!("nothing: the first pending pod wakes {}", o.meta.name)))
}

fn zero_since(pool: &Pool<'_>) -> Option<Time> {
    let (o, d) = pool.deployment?;
    let none = d.conditions.recent("MachinesReady").filter(|x| &*x.reason == "NoReplicas").and_then(|x| x.since.get());
    none.or(d.conditions.old("MachineSetReady").and_then(|x| x.since.get())).or(o.meta.created.get())
}

/// Row 40 for a pool.
pub fn ready(c: &Case<'_>) -> Option<Judgement> {
    let (_, d) = c.pool.deployment?;
    let desired = c.pool.desired()?;
    let counts = counts(c);
    if counts.ready? < desired || counts.have? != desired {
        return None;
    }
    let above = c.pool.bounds().1.filter(|m| desired > *m).map_or(String::new(), |m| format!(", above the maximum of {m}"));
    let since = d
        .conditions
        .recent("MachinesReady")
        .or(d.conditions.old("MachineSetReady"))
        .filter(|x| &*x.status == "True")
        .and_then(|x| x.since.get());
    Some(with(verdict(State::Ready, format!("{}{above}", summary(c))).since(since), fact(c)))
}

/// The nuance of row 35: everything rests at zero for long while the addons that need a Node fail.
pub fn not_happening(view: &View<'_>, pools: &[Pool<'_>]) -> Option<Judgement> {
    let since = pools.iter().filter_map(zero_since).max().filter(|t| view.age(*t) > view.deadlines.scale_up)?;
    let down = view.get(Kind::TenantControlPlane, CLUSTER).and_then(|o| TenantControlPlane::of(o)).is_some_and(|t| &*t.status != "Ready");
    if down || pools.iter().all(|p| p.bounds().1 == Some(0)) {
        return None;
    }
    let failing = ["computeplane-cluster-cilium", "computeplane-cluster-coredns"].into_iter().find_map(|name| {
        let o = view.get(Kind::HelmRelease, name)?;
        let x = Release::of(o)?.condition("Ready").filter(|x| &*x.status == "False" && &*x.reason != "DependencyNotReady")?;
        Some((o, x))
    });
    let (o, x) = failing?;
    let cause = format!("every pool rests at zero for {}, though {} waits for a node", span(view.age(since)), o.meta.name);
    let v = verdict(State::ScaleUpNotHappening, cause).since(Some(since)).evidence(build::condition(o, x));
    let autoscaler = view.get(Kind::Deployment, "computeplane-cluster-cluster-autoscaler");
    let v = with(v, autoscaler.and_then(|o| Some(build::fact(o, "status.readyReplicas", Deployment::of(o)?.ready.to_string(), None))));
    let hints = |o: &Object| o.meta.annotations.keys().any(|k| k.starts_with("capacity.cluster-autoscaler.kubernetes.io/"));
    let bare = pools.iter().filter_map(|p| p.deployment).find(|(o, _)| !hints(o));
    let v = with(v, bare.map(|(o, _)| build::fact(o, "metadata.annotations[capacity.cluster-autoscaler.kubernetes.io/*]", "absent", None)));
    Some(v.next(
        Who::Platform,
        "look at the autoscaler's Deployment and log, the capacity annotations, and node labels that its template lacks; or raise a pool's minimum to 1",
    ))
}
