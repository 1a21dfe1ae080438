//! What a judgement looks like: states, severities, layers, evidence, next steps. The serialised names are the machine contract's.
//! Owns shapes and the severity table; must not decide which state applies.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize, Serializer};

use super::{Time, world::ReadState};

/// How bad, from worst to best. Order is the lattice of `status.md` 2.1 rule 4: the smallest is the worst.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs)]
pub enum Severity {
    Blocked,
    Failing,
    Degraded,
    Unknown,
    Progressing,
    Ready,
}

/// The seven layers of a plane, in dependency order of display.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[allow(missing_docs)]
pub enum Layer {
    Tenant,
    Module,
    Cluster,
    Pools,
    ControlPlane,
    Workers,
    Addons,
}

impl Layer {
    /// All layers, L0 to L6 as the contract lists them.
    pub const ALL: [Layer; 7] =
        [Layer::Tenant, Layer::Module, Layer::Cluster, Layer::Pools, Layer::ControlPlane, Layer::Workers, Layer::Addons];
    /// The order in which a broken layer heads the plane: L0, L1, L2, L4, L3, L5, L6 (`status.md` 2.1 rule 3).
    pub const DEPENDENCY: [Layer; 7] =
        [Layer::Tenant, Layer::Module, Layer::Cluster, Layer::ControlPlane, Layer::Pools, Layer::Workers, Layer::Addons];
}

macro_rules! states {
    ($($severity:ident: $($name:ident),+;)+) => {
        /// A verdict name of `status.md` 2.2. An open set: new rows add names.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[allow(missing_docs)]
        pub enum State { $($($name),+),+ }

        impl State {
            /// Every state.
            pub const ALL: &'static [State] = &[$($(State::$name),+),+];

            /// Severity of the state, as fixed by the contract.
            pub fn severity(self) -> Severity {
                match self { $($(State::$name)|+ => Severity::$severity),+ }
            }

            /// The name, as in JSON.
            pub fn name(self) -> &'static str {
                match self { $($(State::$name => stringify!($name)),+),+ }
            }
        }
    };
}

states! {
    Blocked: DeletingUnowned, DeletingStuck, PackageMissing, RenderRejected, NameConflict, AwaitingEtcd, Stalled, LockedPending, ControlPlaneMissing,
        ControlPlaneNotProcessed, ControlPlaneUpgradeRefused, DataStoreUnavailable, PoolsNotRendered, WrongCluster, WorkersBlocked,
        WorkerCreateRefused, QuotaBlocked, RemediationBlocked;
    Degraded: Suspended, Paused, ControlPlaneDegraded, ControlPlaneSleeping, ControlPlaneWriteLimited, WorkersDegraded, WorkerPausedIO,
        ScaleUpNotHappening, Orphaned;
    Unknown: NoPermission, StaleStatus, Unknown;
    Progressing: Deleting, ControlPlaneProvisioning, ControlPlaneUpgrading, WorkersScalingUp, WorkersScalingDown, WorkersRollingOut, AddonsWaiting, Progressing;
    Ready: Ready, ScaledToZero, NotEnabled;
    Failing: SourceNotReady, DependencyWait, InstallLoop, Retrying, StuckReconciling, RemoteHookFailed, ControlPlaneNotReady, EndpointUnreachable,
        WorkersUnschedulable, WorkerDiskNotReady, WorkersNotJoined, WorkersMissing, AddonsFailing;
}

impl State {
    /// The name as words for a person: `RenderRejected` → `Render rejected`.
    pub fn words(self) -> String {
        let name = self.name();
        let mut out = String::with_capacity(name.len() + 4);
        let chars: Vec<char> = name.chars().collect();
        for (i, &c) in chars.iter().enumerate() {
            let starts_word = c.is_uppercase() && i > 0 && !chars.get(i - 1).is_some_and(|p| p.is_uppercase());
            let acronym = c.is_uppercase()
                && (chars.get(i + 1).is_none_or(|n| n.is_uppercase()) || chars.get(i.wrapping_sub(1)).is_some_and(|p| p.is_uppercase()));
            if starts_word {
                out.push(' ');
            }
            if i > 0 && !acronym { out.extend(c.to_lowercase()) } else { out.push(c) }
        }
        out
    }
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for State {
    type Err = String;
    fn from_str(s: &str) -> Result<Self, String> {
        State::ALL.iter().copied().find(|x| x.name().eq_ignore_ascii_case(s)).ok_or_else(|| format!("{s}: no such state"))
    }
}

/// One fact a verdict rests on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Evidence {
    /// Kind of the object, by its own name (open: events and absent kinds too).
    pub kind: String,
    /// Namespace; empty for cluster-scoped.
    pub namespace: String,
    /// Name.
    pub name: String,
    /// Path of the field, e.g. `status.conditions[Ready]`.
    pub path: String,
    /// What stood there.
    pub value: String,
    /// When it came to be so; unknown is `null`.
    pub time: Option<Time>,
}

/// Who can take a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Who {
    /// Somebody with write rights in this tenant.
    Tenant,
    /// The owner of the parent tenant.
    ParentTenant,
    /// The platform's operators.
    Platform,
    /// Whoever reads this: wait, or look again.
    Anyone,
}

/// One thing to do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NextStep {
    /// Who can do it.
    pub who: Who,
    /// What to do, in one sentence.
    pub text: String,
    /// The field of the ComputePlane to change, e.g. `nodeGroups.gpu.instanceType`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub field: Option<String>,
}

/// The judgement of one layer (or of one pool within a layer).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LayerVerdict {
    /// Layer.
    pub layer: Layer,
    /// State.
    pub state: State,
    /// Severity of the state.
    pub severity: Severity,
    /// The pool concerned, if only one is.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub pool: Option<String>,
    /// The decisive sentence.
    pub cause: String,
    /// Since when; `None` where no source tells.
    pub since: Option<Time>,
    /// Facts.
    pub evidence: Vec<Evidence>,
    /// What to do about it.
    pub next: Vec<NextStep>,
    /// The layer whose trouble explains this one.
    pub consequence_of: Option<Layer>,
    /// Class of the message (`status.md` 2.3), where one applies.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub class: Option<String>,
    /// Deduced from second-best sources.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub inferred: bool,
    /// When progress turns into a problem; the moment to judge again.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub deadline: Option<Time>,
}

/// One pool as the plane shows it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[allow(missing_docs)] // named as in the contract
pub struct PoolView {
    pub name: String,
    pub state: State,
    pub min: Option<i64>,
    pub max: Option<i64>,
    pub desired: Option<i64>,
    pub ready: Option<i64>,
    pub machines: Option<i64>,
    pub instance_type: Option<String>,
}

/// The control plane as the plane shows it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct ControlPlaneView {
    pub version: Option<String>,
    pub ready: Option<i64>,
    pub desired: Option<i64>,
    pub endpoint: Option<String>,
}

/// One source that could not be used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hidden {
    /// Layer that goes dark or dim without it.
    pub layer: Layer,
    /// `plural.group`.
    pub resource: String,
    /// Why.
    pub reason: ReadState,
}

/// What could be read, and why not the rest.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Coverage {
    /// Layers judged from their own sources or inferred.
    pub visible: Vec<Layer>,
    /// Sources that could not be used.
    pub hidden: Vec<Hidden>,
}

/// The judgement of a whole plane: the contract's `Plane`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[allow(missing_docs)] // named as in the contract
pub struct Plane {
    #[serde(serialize_with = "plane_kind", skip_deserializing, default)]
    pub kind: (),
    pub namespace: String,
    pub name: String,
    pub state: State,
    /// "Ready as far as you may see" is `Unknown` with this set to `Ready`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub visible_state: Option<State>,
    pub severity: Severity,
    pub layer: Layer,
    pub pool: Option<String>,
    pub cause: String,
    pub since: Option<Time>,
    pub evidence: Vec<Evidence>,
    pub next: Vec<NextStep>,
    pub layers: Vec<LayerVerdict>,
    pub pools: Vec<PoolView>,
    pub control_plane: ControlPlaneView,
    pub coverage: Coverage,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub class: Option<String>,
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub inferred: bool,
    /// Creation of the ComputePlane, for the age column.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub created: Option<Time>,
    /// The ComputePlane's UID, where it could be read: what selection holds on to.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub uid: Option<String>,
    /// The earliest moment at which waiting turns into a problem.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub deadline: Option<Time>,
    /// HelmReleases of other applications that live in this plane, with their state.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub guests: Vec<Guest>,
}

/// A release of another application that targets this plane.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct Guest {
    pub namespace: String,
    pub name: String,
    pub state: State,
    pub cause: String,
}

fn plane_kind<S: Serializer>(_: &(), s: S) -> Result<S::Ok, S::Error> {
    s.serialize_str("Plane")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_read_like_words() {
        assert_eq!(State::RenderRejected.words(), "Render rejected");
        assert_eq!(State::WorkerPausedIO.words(), "Worker paused IO");
        assert_eq!(State::Ready.words(), "Ready");
    }

    #[test]
    fn severity_is_the_contracts() {
        assert_eq!(State::Stalled.severity(), Severity::Blocked);
        assert_eq!(State::DependencyWait.severity(), Severity::Failing);
        assert_eq!(State::NoPermission.severity(), Severity::Unknown);
        assert!(Severity::Blocked < Severity::Ready);
    }
}
