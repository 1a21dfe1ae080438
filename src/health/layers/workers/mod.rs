//! L5: the workers, pool by pool: rows 3b, 5, 8, 26–35 and 40 of `status.md` 2.2, and what a tenant can tell of them without Cluster API.
//! Owns the order of the rows and the combination of pools; must not judge releases or the control plane.

mod events;
mod facts;
mod halted;
mod inferred;
mod quota;
mod rows;
mod scale;
#[cfg(test)]
mod tests;
mod units;
mod views;

use super::{CLUSTER, Judgement, cluster, module};
use crate::{
    health::{
        build::{self, Build},
        view::View,
    },
    model::{
        Kind, Object,
        projection::capi::Cluster,
        verdict::{Evidence, Layer, PoolView, Severity, State},
        world::ReadState,
    },
};

use facts::Pool;

/// What the arms look at: one pool and what holds for all of them.
struct Case<'a> {
    view: &'a View<'a>,
    pool: &'a Pool<'a>,
    /// Names of all pools, to tell whose an object without labels is.
    names: &'a [String],
    cluster: Option<(&'a Object, &'a Cluster)>,
    /// The awaiting-etcd beacon stands where a cluster should be.
    shell: bool,
}

type Arm = fn(&Case<'_>) -> Option<Judgement>;

/// The rows of one pool, first match wins.
const ARMS: &[Arm] = &[
    halted::shell,
    halted::wrong_cluster,
    halted::deleting,
    halted::paused,
    rows::blocked,
    rows::create_refused,
    rows::unschedulable,
    quota::blocked,
    rows::disk,
    rows::paused_io,
    rows::not_joined,
    rows::remediation_blocked,
    halted::stale,
    scale::missing,
    scale::degraded,
    scale::moving,
    scale::zero,
    scale::ready,
    inferred::by_events,
    inferred::by_monitor,
    inferred::by_pods,
    inferred::not_made,
];

/// The verdict of the layer, then one a pool.
pub fn judge(view: &View<'_>) -> Vec<Judgement> {
    let pools = facts::pools(view);
    let mut out = each(view, &pools);
    let all = whole(view, &pools, &out);
    out.insert(0, all);
    out
}

fn each(view: &View<'_>, pools: &[Pool<'_>]) -> Vec<Judgement> {
    let names: Vec<String> = pools.iter().filter_map(|p| p.name.clone()).collect();
    let cluster = view.get(Kind::Cluster, CLUSTER).and_then(|o| Some((&**o, Cluster::of(o)?)));
    let shell = cluster::awaiting_etcd(view).is_some();
    let one = |pool: &Pool<'_>| {
        let case = Case { view, pool, names: &names, cluster, shell };
        let v = ARMS.iter().find_map(|arm| arm(&case)).unwrap_or_else(|| unseen(view));
        v.pool(pool.name.clone())
    };
    pools.iter().map(one).collect()
}

/// A verdict of this layer.
fn verdict(state: State, cause: impl AsRef<str>) -> Judgement {
    build::verdict(Layer::Workers, state, cause)
}

/// Adds evidence where there is some.
fn with(mut v: Judgement, evidence: impl IntoIterator<Item = Evidence>) -> Judgement {
    v.evidence.extend(evidence);
    v
}

/// Nothing speaks of a pool.
fn unseen(view: &View<'_>) -> Judgement {
    let state = view.read(Kind::MachineDeployment).state;
    if state == ReadState::Complete {
        return verdict(State::Unknown, "nothing tells of its machines");
    }
    module::unread(Layer::Workers, &[(Kind::MachineDeployment, state)])
}

/// The worst pool decides; where all are well, the layer says so with their numbers.
fn whole(view: &View<'_>, pools: &[Pool<'_>], judged: &[Judgement]) -> Judgement {
    let bad = |v: &&Judgement| v.severity < Severity::Ready;
    if let Some(worst) = judged.iter().filter(bad).min_by_key(|v| v.severity) {
        return headed(worst, judged);
    }
    let Some(first) = judged.first() else { return none(view) };
    let state = if judged.iter().all(|v| v.state == State::ScaledToZero) { State::ScaledToZero } else { State::Ready };
    if let Some(v) = scale::not_happening(view, pools).filter(|_| state == State::ScaledToZero) {
        return v;
    }
    let name = |v: &Judgement| v.pool.clone().unwrap_or_default();
    let cause = judged.iter().map(|v| format!("{} {}", name(v), v.cause)).collect::<Vec<_>>().join(", ");
    let v = verdict(state, cause).since(judged.iter().filter_map(|v| v.since).max());
    let mut v = with(v, judged.iter().flat_map(|v| v.evidence.first().cloned()).take(8));
    v.inferred = judged.iter().any(|v| v.inferred);
    v.next = first.next.clone();
    v
}

/// The worst pool's verdict, named, with the others that are in trouble too.
fn headed(worst: &Judgement, judged: &[Judgement]) -> Judgement {
    let mut v = worst.clone();
    if judged.len() > 1 && judged.iter().all(|o| o.state == worst.state && o.cause == worst.cause) {
        // One cause for all of them, such as a pause of the whole cluster: no pool's own.
        v.pool = None;
        v.evidence = judged.iter().flat_map(|o| o.evidence.iter().cloned()).take(8).collect();
        v.evidence.dedup();
    } else if let Some(pool) = &worst.pool {
        let also = judged.iter().filter(|o| o.severity < Severity::Unknown && o.pool != worst.pool && o.pool.is_some());
        let also = also.map(|o| format!("{} {}", o.pool.as_deref().unwrap_or_default(), o.state.words().to_lowercase()));
        let also = also.collect::<Vec<_>>().join(", ");
        v.cause = format!("pool {pool}: {}", worst.cause);
        if !also.is_empty() {
            v.cause = format!("{}; also {also}", v.cause);
        }
    }
    v.deadline = judged.iter().filter_map(|j| j.deadline).min().or(v.deadline);
    v
}

/// No pool is declared, made or told of.
fn none(view: &View<'_>) -> Judgement {
    let state = view.read(Kind::MachineDeployment).state;
    if state == ReadState::Complete {
        return verdict(State::Unknown, "no workers here: there is no MachineDeployment");
    }
    module::unread(Layer::Workers, &[(Kind::MachineDeployment, state)])
}

/// The pools as the plane shows them.
pub fn pool_views(view: &View<'_>) -> Vec<PoolView> {
    lines(view, &judge(view))
}

/// The same from verdicts that are there already, so that no pool is judged twice.
pub fn lines(view: &View<'_>, judged: &[Judgement]) -> Vec<PoolView> {
    let of = |name: &str| judged.iter().rev().find(|v| v.layer == Layer::Workers && v.pool.as_deref() == Some(name)).map(|v| v.state);
    let line = |pool: &Pool<'_>| views::of(view, pool, of(pool.name.as_ref()?).unwrap_or(State::Unknown));
    facts::pools(view).iter().filter_map(line).collect()
}
