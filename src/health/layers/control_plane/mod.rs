//! L4: the control plane, from TenantControlPlane, KamajiControlPlane and Cluster, else from what a tenant may read. Rows 3, 5, 8 and 18–24 of `status.md` 2.2.
//! Owns the order of the rows; must not judge workers or the release that makes the control plane.

mod boot;
mod halted;
mod inferred;
mod reach;
mod running;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use super::{CLUSTER, Judgement, module};
use crate::{
    health::{
        build::{self, Build},
        view::View,
    },
    model::{
        Kind, Object,
        projection::{
            capi::Cluster,
            cozystack::Monitor,
            kamaji::{KamajiControlPlane, TenantControlPlane},
        },
        verdict::{ControlPlaneView, Evidence, Layer, Severity, State},
        world::ReadState,
    },
};

/// What the arms look at: the three objects of a control plane, as far as they are seen.
struct Case<'a> {
    view: &'a View<'a>,
    cluster: Option<(&'a Object, &'a Cluster)>,
    provider: Option<(&'a Object, &'a KamajiControlPlane)>,
    tenant: Option<(&'a Object, &'a TenantControlPlane)>,
}

type Arm = fn(&Case<'_>) -> Option<Judgement>;

/// Rows that stand above everything a status says.
const HALTED: &[Arm] = &[halted::shell, halted::deleting];
/// The rows below a pause, first match wins. A TenantControlPlane is believed before its provider, the provider before the Cluster,
/// and all of them before what is only inferred.
const ARMS: &[Arm] = &[
    halted::stale,
    boot::cluster_missing,
    boot::refused,
    boot::not_made,
    boot::data_store_unavailable,
    boot::not_processed,
    reach::without_address,
    boot::first_boot,
    running::not_ready,
    running::degraded,
    running::upgrading,
    running::asleep,
    running::write_limited,
    running::data_store_leaving,
    reach::unreachable,
    reach::provider_stuck,
    halted::stale_cluster,
    running::ready,
    running::odd,
    inferred::by_provider,
    inferred::by_cluster,
    inferred::by_monitor,
    inferred::by_pods,
    inferred::by_events,
];

/// The verdict of the layer.
pub fn judge(view: &View<'_>) -> Vec<Judgement> {
    let case = Case::of(view);
    if let Some(v) = HALTED.iter().find_map(|arm| arm(&case)) {
        return vec![v];
    }
    let below = || ARMS.iter().find_map(|arm| arm(&case)).unwrap_or_else(|| unseen(&case));
    vec![match halted::paused(&case) {
        Some(paused) => halted::over(paused, below()),
        None => below(),
    }]
}

fn find<'a>(view: &View<'a>, kind: Kind) -> Option<&'a Arc<Object>> {
    view.get(kind, CLUSTER).or_else(|| view.list(kind).find(|o| super::cluster_name(o) == Some(CLUSTER)))
}

impl<'a> Case<'a> {
    fn of(view: &'a View<'a>) -> Self {
        Case {
            view,
            cluster: find(view, Kind::Cluster).and_then(|o| Some((&**o, Cluster::of(o)?))),
            provider: find(view, Kind::KamajiControlPlane).and_then(|o| Some((&**o, KamajiControlPlane::of(o)?))),
            tenant: find(view, Kind::TenantControlPlane).and_then(|o| Some((&**o, TenantControlPlane::of(o)?))),
        }
    }

    fn monitor(&self) -> Option<(&'a Object, &'a Monitor)> {
        self.view.get(Kind::WorkloadMonitor, CLUSTER).and_then(|o| Some((&**o, Monitor::of(o)?)))
    }

    /// Ready and wanted replicas, from the best source that tells.
    fn replicas(&self) -> (Option<i64>, Option<i64>) {
        if let Some((_, t)) = self.tenant.filter(|(_, t)| t.processed) {
            let wanted = t.replicas.or(t.deployment.as_ref().map(|d| d.replicas));
            return (Some(t.deployment.as_ref().map_or(0, |d| d.ready)), wanted);
        }
        if let Some((_, p)) = self.provider {
            return (p.ready_replicas, p.replicas);
        }
        if let Some((_, m)) = self.monitor() {
            return (m.available, m.replicas);
        }
        let pods = inferred::pods(self.view);
        if pods.is_empty() { (None, None) } else { (Some(pods.iter().filter(|p| p.1.ready()).count() as i64), None) }
    }

    /// `1/2 ready`.
    fn counts(&self) -> String {
        let word = |n: Option<i64>| n.map_or("?".to_string(), |n| n.to_string());
        let (ready, wanted) = self.replicas();
        format!("{}/{} ready", word(ready), word(wanted))
    }

    /// The step that the provider is at, as evidence.
    fn open_step(&self) -> Option<Evidence> {
        let (o, p) = self.provider?;
        p.first_open().map(|c| build::condition(o, c))
    }
}

/// A verdict of this layer.
fn verdict(state: State, cause: impl AsRef<str>) -> Judgement {
    build::verdict(Layer::ControlPlane, state, cause)
}

/// Adds evidence where there is some.
fn with(mut v: Judgement, evidence: impl IntoIterator<Item = Evidence>) -> Judgement {
    v.evidence.extend(evidence);
    v
}

/// Nothing speaks: the deciding kind is refused, unread, or there is no control plane and no reason to expect one.
fn unseen(case: &Case<'_>) -> Judgement {
    let state = case.view.read(Kind::TenantControlPlane).state;
    if state != ReadState::Complete {
        return module::unread(Layer::ControlPlane, &[(Kind::TenantControlPlane, state)]);
    }
    verdict(State::Unknown, "no control plane here, as the cluster release hasn't made one").evidence(build::absence(
        "TenantControlPlane",
        case.view.namespace,
        CLUSTER,
    ))
}

/// The control plane in numbers.
pub fn summary(view: &View<'_>) -> ControlPlaneView {
    let case = Case::of(view);
    let (ready, desired) = case.replicas();
    let text = |s: &str| (!s.is_empty()).then(|| crate::model::text::line(s));
    let version = case.tenant.and_then(|(_, t)| text(&t.version)).or_else(|| case.provider.and_then(|(_, p)| text(&p.version)));
    let endpoint = case.tenant.and_then(|(_, t)| text(&t.endpoint)).or_else(|| case.cluster.and_then(|(_, c)| text(&c.endpoint)));
    ControlPlaneView { version, ready, desired, endpoint }
}

/// True for a verdict that tells of trouble.
fn broken(v: &Judgement) -> bool {
    v.severity < Severity::Unknown
}
