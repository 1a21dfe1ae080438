//! Follows one edit to its end: accepted, module release, pool releases, machines, nodes. Owns telling *this* edit's success from an older
//! success, a newer failure and somebody else's edit. Pure: fed with observations, reads no clock and no cluster.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{
    Groups,
    forecast::Change,
    path::{self, FieldPath},
};
use crate::model::Time;

mod judge;

/// What was written, and how the world stood just before.
#[derive(Debug, Clone)]
pub struct Edit {
    /// `nodeGroups` before the write.
    pub before: Groups,
    /// `nodeGroups` as written.
    pub desired: Groups,
    /// When the write was answered.
    pub at: Time,
    /// What it does to each pool that it touches (untouched ones left out).
    pub pools: BTreeMap<String, PoolEdit>,
    /// The module release before the write; `None` if it can't be seen.
    pub module: Option<Baseline>,
}

/// What an edit does to one pool, and how it stood before.
#[derive(Debug, Clone)]
pub struct PoolEdit {
    /// Forecast.
    pub change: Change,
    /// The release that renders the pool, before the write; `None` if there was none or it can't be seen.
    pub release: Option<Baseline>,
    /// Name of the machine template before the write, where it could be read.
    pub template: Option<String>,
    /// Generation of the MachineDeployment before the write.
    pub deployment: Option<i64>,
    /// Lower and upper bound as written.
    pub bounds: (i64, i64),
}

/// What tells a newer attempt of a release from an older one.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Baseline {
    /// `metadata.generation`; `None` where the API has none.
    pub generation: Option<i64>,
    /// `lastTransitionTime` of `Ready`.
    pub ready_since: Option<Time>,
}

/// One look at everything that matters. `None` and absent entries mean "not visible" unless said otherwise.
#[derive(Debug, Clone, Default)]
pub struct Observation {
    /// When.
    pub at: Option<Time>,
    /// `nodeGroups` as it reads now.
    pub groups: Option<Groups>,
    /// The plane is being deleted.
    pub deleting: bool,
    /// The module release, or the ComputePlane's own conditions where only they can be seen.
    pub module: Option<ReleaseSeen>,
    /// Pools by name: those whose release or MachineDeployment exists.
    pub pools: BTreeMap<String, PoolSeen>,
    /// MachineDeployments were listed completely, so a missing one is gone.
    pub deployments_complete: bool,
    /// Pool releases were listed completely (or pools have none of their own).
    pub releases_complete: bool,
}

/// A pool's objects.
#[derive(Debug, Clone, Default)]
pub struct PoolSeen {
    /// The release that renders it: its own, or the cluster release before the split.
    pub release: Option<ReleaseSeen>,
    /// Its MachineDeployment.
    pub deployment: Option<DeploymentSeen>,
}

/// A HelmRelease, or an application that shows one.
#[derive(Debug, Clone, Default)]
pub struct ReleaseSeen {
    /// `metadata.generation`.
    pub generation: Option<i64>,
    /// `status.lastAttemptedGeneration`.
    pub attempted: Option<i64>,
    /// `spec.suspend`.
    pub suspended: bool,
    /// `Ready`.
    pub ready: Option<ReadySeen>,
}

/// The `Ready` condition.
#[derive(Debug, Clone, Default)]
#[allow(missing_docs)] // the Kubernetes names
pub struct ReadySeen {
    pub status: String,
    pub reason: String,
    pub message: String,
    pub since: Option<Time>,
    /// The condition's own `observedGeneration`.
    pub observed: Option<i64>,
}

/// A MachineDeployment.
#[derive(Debug, Clone, Default)]
pub struct DeploymentSeen {
    /// `metadata.generation`.
    pub generation: Option<i64>,
    /// `status.observedGeneration`.
    pub observed: Option<i64>,
    /// Name of the machine template it asks for.
    pub template: Option<String>,
    /// Bounds from the autoscaler's annotations.
    pub bounds: Option<(i64, i64)>,
    /// `spec.replicas`.
    pub desired: u32,
    /// `status.replicas`.
    pub replicas: u32,
    /// `status.updatedReplicas` (v1beta2: up to date).
    pub updated: u32,
    /// `status.readyReplicas`.
    pub ready: u32,
}

/// The stages an edit passes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "camelCase")]
#[allow(missing_docs)] // the texts say it
pub enum StepKind {
    Accepted,
    Module,
    Pools,
    Machines,
    Nodes,
}

/// How far a stage is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum StepState {
    /// Not begun, as far as is known.
    Waiting,
    /// Under way.
    Running,
    /// Done for this edit.
    Done,
    /// Refused or failed.
    Failed,
    /// This identity can't see it.
    NotVisible,
}

/// One stage with its counts (pools, machines or nodes; 0 of 0 where the edit needs none).
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Step {
    /// Stage.
    pub kind: StepKind,
    /// How far.
    pub state: StepState,
    /// Done of ...
    pub done: u32,
    /// ... all.
    pub total: u32,
    /// In words.
    pub text: String,
}

/// How the edit stands.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Outcome {
    /// Under way.
    Following,
    /// These values are what runs. Final.
    Landed,
    /// Everything visible agrees, but the stages named can't be seen: not proven. May still become `Landed` or `Stopped`.
    LandedAsFarAsVisible(Vec<StepKind>),
    /// Refused or failed; the platform may retry, so a later observation can take this back.
    Stopped {
        /// Where.
        step: StepKind,
        /// The pool, where only one is concerned.
        pool: Option<String>,
        /// The platform's own words.
        text: String,
        /// Somebody changed other fields after this edit: the failure may be theirs.
        later_edit: bool,
    },
    /// Somebody else's values stand in fields of this edit. Final.
    Superseded(Vec<FieldPath>),
}

/// The state of following.
#[derive(Debug, Clone)]
pub struct Rollout {
    edit: Edit,
    /// The written values were read back once; from then on other values are somebody's edit, not a stale read.
    accepted: bool,
    module_done: Option<Time>,
    ended: Option<Outcome>,
}

/// What one observation leads to.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Progress {
    /// All five stages.
    pub steps: Vec<Step>,
    /// Result.
    pub outcome: Outcome,
}

/// Reads may lag behind a write by some milliseconds; after this long, other values are no lag.
const STALE_READ_MILLIS: i64 = 1_000;

impl Rollout {
    /// Starts to follow.
    pub fn new(edit: Edit) -> Rollout {
        Rollout { edit, accepted: false, module_done: None, ended: None }
    }

    /// The edit that is followed.
    pub fn edit(&self) -> &Edit {
        &self.edit
    }

    /// Takes the next observation. `Landed` and `Superseded` are final; the steps go on showing what is seen.
    pub fn observe(&mut self, seen: &Observation) -> Progress {
        let accepted = self.accept(seen);
        let module = judge::module(&self.edit, seen, self.accepted);
        if module.state == StepState::Done && self.module_done.is_none() {
            self.module_done = seen.at;
        }
        let since_module = self.module_done.zip(seen.at).map(|(done, now)| now.duration_since(done).as_secs());
        let (pools, failed_pool) = judge::pools(&self.edit, seen, module.state, since_module);
        let [machines, nodes] = judge::machines(&self.edit, seen, pools.state);
        let steps = vec![accepted, module, pools, machines, nodes];
        let outcome = self.ended.clone().unwrap_or_else(|| self.outcome(&steps, seen, failed_pool));
        if matches!(outcome, Outcome::Landed | Outcome::Superseded(_)) {
            self.ended = Some(outcome.clone());
        }
        Progress { steps, outcome }
    }

    fn accept(&mut self, seen: &Observation) -> Step {
        let step = |state, text: &str| Step { kind: StepKind::Accepted, state, done: 0, total: 0, text: text.to_string() };
        let Some(groups) = &seen.groups else {
            let state = if self.accepted { StepState::Done } else { StepState::NotVisible };
            return step(state, "the plane can't be read");
        };
        let off = self.overwritten(groups);
        if off.is_empty() {
            self.accepted = true;
            return step(StepState::Done, "the platform holds these values");
        }
        let fresh = seen.at.is_none_or(|at| at.duration_since(self.edit.at).as_millis() < i128::from(STALE_READ_MILLIS));
        if !self.accepted && fresh {
            return step(StepState::Waiting, "not read back yet");
        }
        if self.ended.is_none() {
            self.ended = Some(Outcome::Superseded(off));
        }
        step(StepState::Failed, "other values stand there now")
    }

    /// Fields of this edit that hold something else.
    fn overwritten(&self, groups: &Groups) -> Vec<FieldPath> {
        let mine = path::differences(&self.edit.before, &self.edit.desired);
        let holds = |path: &FieldPath| match (path.get(&self.edit.desired), path.get(groups)) {
            (None, None) => true,
            // A pool that was added reads back with defaults beside what was written.
            (Some(serde_json::Value::Object(w)), Some(serde_json::Value::Object(r))) => {
                w.iter().all(|(k, v)| r.get(k).is_some_and(|x| path::same(v, x)))
            }
            (Some(w), Some(r)) => path::same(w, r),
            _ => false,
        };
        mine.into_iter().map(|d| d.path).filter(|p| !holds(p)).collect()
    }

    fn outcome(&self, steps: &[Step], seen: &Observation, failed_pool: Option<String>) -> Outcome {
        if seen.deleting {
            let text = "the plane is being deleted".to_string();
            return Outcome::Stopped { step: StepKind::Accepted, pool: None, text, later_edit: true };
        }
        if let Some(failed) = steps.iter().find(|s| s.state == StepState::Failed) {
            let later_edit = seen.groups.as_ref().is_some_and(|g| self.edited_besides(g));
            let pool = failed_pool.filter(|_| failed.kind == StepKind::Pools);
            return Outcome::Stopped { step: failed.kind, pool, text: failed.text.clone(), later_edit };
        }
        let unseen: Vec<StepKind> = steps.iter().filter(|s| s.state == StepState::NotVisible).map(|s| s.kind).collect();
        match steps.iter().all(|s| matches!(s.state, StepState::Done | StepState::NotVisible)) {
            // What was never read back can't be called landed, nor even visible.
            true if !self.accepted => Outcome::Following,
            true if unseen.is_empty() => Outcome::Landed,
            true => Outcome::LandedAsFarAsVisible(unseen),
            false => Outcome::Following,
        }
    }

    /// Somebody changed fields that this edit didn't touch.
    fn edited_besides(&self, groups: &Groups) -> bool {
        let filled = |d: &path::Difference| d.old.is_none() && d.path.keys().len() > 1 && !self.edit.before.contains_key(d.path.pool());
        path::differences(&self.edit.desired, groups).iter().any(|d| !filled(d))
    }
}

#[cfg(test)]
mod tests;
