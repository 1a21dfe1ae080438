//! One observation against one edit, stage by stage. Owns "is this attempt mine"; keeps no state.

use super::{Baseline, DeploymentSeen, Edit, Observation, PoolEdit, PoolSeen, ReadySeen, ReleaseSeen, Step, StepKind, StepState};
use crate::{model::Time, nodegroups::forecast::Change};

/// `False` with these reasons is waiting, not a failed attempt.
const NOT_AN_ATTEMPT: &[&str] = &["DependencyNotReady", "SourceNotReady", "ArtifactFailed", "Progressing", "ProgressingWithRetry"];

/// After the module release is done, a pool release whose generation hasn't moved for this many seconds isn't touched by the edit.
const UNTOUCHED_AFTER_SECS: i64 = 5;

/// How an attempt of a release stands to an edit.
enum Attempt {
    /// No attempt of this edit yet: whatever stands there is older.
    Older,
    Running(String),
    Succeeded,
    Failed(String),
}

fn attempt(baseline: Option<&Baseline>, release: &ReleaseSeen, written: Time) -> Attempt {
    if release.suspended {
        return Attempt::Running("suspended: nothing is applied until it is resumed".to_string());
    }
    let Some(ready) = &release.ready else { return Attempt::Older };
    if !is_newer(baseline, release, ready, written) {
        return Attempt::Older;
    }
    let words = if ready.message.is_empty() { ready.reason.clone() } else { ready.message.clone() };
    match ready.status.as_str() {
        "True" => Attempt::Succeeded,
        "False" if !NOT_AN_ATTEMPT.contains(&ready.reason.as_str()) => Attempt::Failed(words),
        _ => Attempt::Running(words),
    }
}

/// Whether `Ready` speaks of this edit (or a later one). Generations decide where there are any: the condition's own must be above the
/// baseline. For a success the attempted one must be as well, since the condition's can advance alone; a failure may come before any attempt
/// (bad values). `status.observedGeneration` proves nothing: it stays behind after a failed upgrade (`status.md` 0.4). Without generations
/// only the moment of the last flip tells; it has whole seconds, so a flip within the second of the write counts only if it isn't the known one.
fn is_newer(baseline: Option<&Baseline>, release: &ReleaseSeen, ready: &ReadySeen, written: Time) -> bool {
    let before = baseline.and_then(|b| b.generation);
    match (before, ready.observed.or(release.attempted)) {
        (Some(before), Some(judged)) => judged > before && (ready.status != "True" || release.attempted.is_none_or(|a| a > before)),
        _ => {
            let second = written.as_second();
            let known = baseline.and_then(|b| b.ready_since);
            let flipped = |since: Time| since.as_second() > second || (since.as_second() == second && known.is_some_and(|k| k != since));
            ready.since.is_some_and(flipped)
        }
    }
}

fn step(kind: StepKind, state: StepState, (done, total): (u32, u32), text: impl Into<String>) -> Step {
    Step { kind, state, done, total, text: text.into() }
}

/// The module release.
pub fn module(edit: &Edit, seen: &Observation, accepted: bool) -> Step {
    let kind = StepKind::Module;
    let Some(release) = &seen.module else { return step(kind, StepState::NotVisible, (0, 1), "the module release can't be seen") };
    match attempt(edit.module.as_ref(), release, edit.at) {
        _ if !accepted => step(kind, StepState::Waiting, (0, 1), "waits until the values are read back"),
        Attempt::Older => step(kind, StepState::Waiting, (0, 1), "no attempt with these values yet"),
        Attempt::Running(text) => step(kind, StepState::Running, (0, 1), text),
        Attempt::Succeeded => step(kind, StepState::Done, (1, 1), "rendered and applied"),
        Attempt::Failed(text) => step(kind, StepState::Failed, (0, 1), text),
    }
}

/// The releases that render the pools, and the first pool whose release failed.
///
/// They are judged while the module release still runs: it waits for them, so their refusal would otherwise be told only when it times out.
pub fn pools(edit: &Edit, seen: &Observation, module: StepState, since_module: Option<i64>) -> (Step, Option<String>) {
    let kind = StepKind::Pools;
    let touched: Vec<(&String, &PoolEdit)> = edit.pools.iter().filter(|(_, p)| p.change != Change::None).collect();
    let total = u32::try_from(touched.len()).unwrap_or(u32::MAX);
    let early = matches!(module, StepState::Waiting | StepState::Running);
    let (mut done, mut unseen, mut running) = (0, 0, None);
    for (name, pool) in touched {
        match pool_release(pool, seen.pools.get(name), seen, (edit.at, since_module)) {
            Attempt::Succeeded => done += 1,
            Attempt::Failed(text) => return (step(kind, StepState::Failed, (done, total), text), Some(name.clone())),
            Attempt::Running(text) => running = running.or(Some(format!("{name}: {text}"))),
            Attempt::Older if !seen.releases_complete && seen.pools.get(name).is_none_or(|p| p.release.is_none()) => unseen += 1,
            Attempt::Older => {}
        }
    }
    let state = match () {
        () if done == total && !(early && total == 0) => StepState::Done,
        () if done + unseen == total && !early => StepState::NotVisible,
        () if running.is_some() || done > 0 => StepState::Running,
        () => StepState::Waiting,
    };
    let text = running.unwrap_or_else(|| format!("{done} of {total} pool releases carry these values"));
    (step(kind, state, (done, total), text), None)
}

fn pool_release(pool: &PoolEdit, seen: Option<&PoolSeen>, all: &Observation, (written, since_module): (Time, Option<i64>)) -> Attempt {
    let release = seen.and_then(|s| s.release.as_ref());
    match (pool.change, release) {
        (Change::Remove, None) if all.releases_complete => Attempt::Succeeded,
        (_, None) => Attempt::Older,
        // Before the split the cluster release renders all pools and stays when one is removed: then its attempt counts.
        (Change::Remove, Some(release)) if pool.release.as_ref().is_some_and(|b| b.generation == release.generation) => Attempt::Older,
        (Change::Metadata, Some(release)) if untouched(pool, release, since_module) => Attempt::Succeeded,
        (_, Some(release)) => attempt(pool.release.as_ref(), release, written),
    }
}

/// A field that the platform stores and ignores never reaches the pool's release.
fn untouched(pool: &PoolEdit, release: &ReleaseSeen, since_module: Option<i64>) -> bool {
    let same = pool.release.as_ref().is_some_and(|b| b.generation.is_some() && b.generation == release.generation);
    same && since_module.is_some_and(|s| s >= UNTOUCHED_AFTER_SECS) && release.ready.as_ref().is_some_and(|r| r.status == "True")
}

/// Machines in their new form, and nodes ready, over all pools that the edit moves.
pub fn machines(edit: &Edit, seen: &Observation, pools: StepState) -> [Step; 2] {
    let moved: Vec<_> = edit.pools.iter().filter(|(_, p)| !matches!(p.change, Change::None | Change::Metadata)).collect();
    let blank = |state, text: &str| [StepKind::Machines, StepKind::Nodes].map(|kind| step(kind, state, (0, 0), text));
    if moved.is_empty() {
        let state = if matches!(pools, StepState::Done | StepState::NotVisible) { StepState::Done } else { StepState::Waiting };
        return blank(state, "no machine is touched");
    }
    if !matches!(pools, StepState::Done | StepState::NotVisible) {
        return blank(StepState::Waiting, "waits for the pool releases");
    }
    let mut sum = Counts::default();
    for (name, pool) in moved {
        match seen.pools.get(name).and_then(|p| p.deployment.as_ref()) {
            Some(deployment) => sum.add(pool, deployment),
            None if !seen.deployments_complete => return blank(StepState::NotVisible, "machines can't be seen"),
            None if pool.change == Change::Remove => {}
            None => sum.pending = true,
        }
    }
    let machines = format!("{} of {} machines in the new form{}", sum.formed, sum.wanted, old_text(sum.old));
    let nodes = format!("{} of {} nodes ready", sum.ready, sum.wanted);
    let formed = !sum.pending && sum.old == 0 && sum.formed >= sum.wanted;
    let ready = formed && sum.ready >= sum.wanted;
    let state = |done| if done { StepState::Done } else { StepState::Running };
    [
        step(StepKind::Machines, state(formed), (sum.formed, sum.wanted), machines),
        step(StepKind::Nodes, if formed { state(ready) } else { StepState::Waiting }, (sum.ready, sum.wanted), nodes),
    ]
}

fn old_text(old: u32) -> String {
    if old == 0 { String::new() } else { format!(", {old} of the old remain") }
}

#[derive(Default)]
struct Counts {
    wanted: u32,
    formed: u32,
    ready: u32,
    old: u32,
    /// A pool's controller hasn't taken the change up, so its counts are about before.
    pending: bool,
}

impl Counts {
    fn add(&mut self, pool: &PoolEdit, d: &DeploymentSeen) {
        let min = u32::try_from(pool.bounds.0.max(0)).unwrap_or(u32::MAX);
        if pool.change == Change::Remove {
            self.pending = true;
            self.old = self.old.saturating_add(d.replicas);
            return;
        }
        // The autoscaler raises a pool below its minimum; nobody lowers one above its maximum (`platform.md` 3.6).
        let wanted = d.desired.max(min);
        let stale = matches!((d.generation, d.observed), (Some(g), Some(o)) if o < g) || d.observed.is_none() && d.generation.is_some();
        self.pending |= stale || !taken_up(pool, d);
        self.wanted = self.wanted.saturating_add(wanted);
        self.formed = self.formed.saturating_add(d.updated.min(wanted));
        self.ready = self.ready.saturating_add(d.ready.min(wanted));
        self.old = self.old.saturating_add(d.replicas.saturating_sub(d.updated));
    }
}

/// Whether the MachineDeployment already asks for what was written.
fn taken_up(pool: &PoolEdit, d: &DeploymentSeen) -> bool {
    let bounds = d.bounds.is_none_or(|b| b == pool.bounds);
    let form = match (pool.change, &pool.template, &d.template) {
        (Change::Roll, Some(before), Some(now)) => before != now,
        (Change::Roll, _, _) => matches!((pool.deployment, d.generation), (Some(before), Some(now)) if now > before),
        _ => true,
    };
    bounds && form
}
