//! L2: the cluster release `computeplane-cluster`, its awaiting-etcd shell (row 11, 11t), and what a tenant can tell about it from monitors, pods and events.
//! Must not judge the control plane that the release makes.

use super::{CLUSTER, Judgement, MODULE, module};
use crate::{
    health::{
        build::{self, Build, span},
        events, messages, release,
        view::View,
    },
    model::{
        Kind, Object,
        projection::{
            cozystack::{App, Monitor},
            release::Release,
        },
        verdict::{Layer, Severity, State, Who},
        world::ReadState,
    },
};

/// The ConfigMap that a cluster chart renders instead of a cluster while no ancestor provides etcd.
pub use crate::model::access::BEACON;
/// The namespace label that names the provider of the DataStore.
const ETCD_LABEL: &str = "namespace.cozystack.io/etcd";
/// States that stand above row 11 in the table.
const ABOVE_ETCD: &[State] = &[
    State::DeletingUnowned,
    State::DeletingStuck,
    State::Deleting,
    State::Suspended,
    State::PackageMissing,
    State::SourceNotReady,
    State::RenderRejected,
    State::NameConflict,
];

/// The verdict of the layer.
pub fn judge(view: &View<'_>) -> Vec<Judgement> {
    vec![one(view)]
}

fn one(view: &View<'_>) -> Judgement {
    let Some(object) = view.get(Kind::HelmRelease, CLUSTER) else { return without_release(view) };
    let own = release::judge(view, Layer::Cluster, object);
    if ABOVE_ETCD.contains(&own.state) {
        return own;
    }
    awaiting_etcd(view).map_or(own, |v| with_mask(v, object))
}

/// What the shell's release says is kept as evidence: it may read True, False or Unknown (`status.md` 8.15).
fn with_mask(v: Judgement, object: &Object) -> Judgement {
    match Release::of(object).and_then(|r| r.condition("Ready")) {
        Some(ready) => v.evidence(build::condition(object, ready)),
        None => v,
    }
}

/// Row 11: the beacon stands where a cluster should be. Needs no Ready=True.
pub fn awaiting_etcd(view: &View<'_>) -> Option<Judgement> {
    if view.get(Kind::Cluster, CLUSTER).is_some() || view.get(Kind::TenantControlPlane, CLUSTER).is_some() {
        return None;
    }
    let beacon = view.get(Kind::ConfigMap, BEACON);
    let evidence = match beacon {
        Some(o) => {
            let status = crate::model::projection::core::ConfigMap::of(o).and_then(|c| c.data.get("status").cloned());
            build::fact(o, "data.status", status.as_deref().unwrap_or("present"), o.meta.created.get())
        }
        None => {
            // The release's own inventory tells it in one read (`status.md` 1.1).
            let o = view.get(Kind::HelmRelease, CLUSTER)?;
            let r = Release::of(o)?;
            let shell = r.inventory.iter().any(|id| id.contains(BEACON));
            if !shell || r.owns_kind("Cluster") {
                return None;
            }
            build::fact(o, "status.inventory", format!("{BEACON}, no Cluster"), None)
        }
    };
    let v = build::verdict(
        Layer::Cluster,
        State::AwaitingEtcd,
        "no tenant above provides etcd: the cluster release holds an empty shell, no cluster was made",
    )
    .since(beacon.and_then(|b| b.meta.created.get()))
    .evidence(evidence)
    .evidence(build::absence("Cluster", view.namespace, CLUSTER));
    Some(etcd_steps(ingress_alone(view, v)))
}

/// An ingress Service is rendered with the shell too: it takes traffic and has nothing behind it.
fn ingress_alone(view: &View<'_>, v: Judgement) -> Judgement {
    match super::ingress_service(view) {
        Some(s) => v.evidence(build::fact(
            s,
            "spec.selector",
            "no ingress controller behind this Service: there is no cluster",
            s.meta.created.get(),
        )),
        None => v,
    }
}

fn etcd_steps(v: Judgement) -> Judgement {
    v.next(Who::ParentTenant, "set etcd: true on an ancestor Tenant; the plane heals by itself within its next 5 minute loop")
}

/// Row 11t: what a tenant sees of the same: no monitor, no control plane pod, and no provider named on the namespace.
fn awaiting_inferred(view: &View<'_>) -> Option<Judgement> {
    let app = module::application(view)?;
    let namespace =
        view.world.get(Kind::TenantNamespace, "", view.namespace).or_else(|| view.world.get(Kind::Namespace, "", view.namespace))?;
    let provider = namespace.meta.labels.get(ETCD_LABEL).is_some_and(|v| !v.is_empty());
    let ready = App::of(app).and_then(|a| a.condition("Ready")).is_some_and(|c| &*c.status == "True");
    if provider
        || !ready
        || !view.complete(Kind::WorkloadMonitor)
        || view.get(Kind::WorkloadMonitor, CLUSTER).is_some()
        || control_plane_pods(view) > 0
    {
        return None;
    }
    let v = build::verdict(
        Layer::Cluster,
        State::AwaitingEtcd,
        "the module reads Ready, but nothing of a cluster exists and no tenant above provides etcd",
    )
    .inferred()
    .evidence(build::fact(namespace, &format!("metadata.labels[{ETCD_LABEL}]"), "empty", None))
    .evidence(build::absence("WorkloadMonitor", view.namespace, CLUSTER))
    .evidence(build::absence("Pod", view.namespace, "kamaji.clastix.io/name=computeplane-cluster"));
    Some(etcd_steps(v).next(Who::Platform, "to confirm: ConfigMap computeplane-cluster-awaiting-etcd exists"))
}

fn control_plane_pods(view: &View<'_>) -> usize {
    view.list(Kind::Pod).filter(|p| p.meta.labels.get("kamaji.clastix.io/name").is_some_and(|v| &**v == CLUSTER)).count()
}

fn without_release(view: &View<'_>) -> Judgement {
    if let Some(v) = awaiting_etcd(view).or_else(|| awaiting_inferred(view)) {
        return v;
    }
    if view.complete(Kind::HelmRelease) {
        return missing(view);
    }
    seen_failing(view)
        .or_else(|| applied(view))
        .unwrap_or_else(|| module::unread(Layer::Cluster, &[(Kind::HelmRelease, view.read(Kind::HelmRelease).state)]))
}

/// The release is absent for a fact. Beneath a healthy module that is a contradiction; beneath any other it is only not there yet.
fn missing(view: &View<'_>) -> Judgement {
    let absence = build::absence("HelmRelease", view.namespace, CLUSTER);
    match view.get(Kind::HelmRelease, MODULE) {
        Some(parent) if release::healthy(parent) && owns_child(parent) => build::verdict(
            Layer::Cluster,
            State::ControlPlaneMissing,
            "the module reads Ready, but its HelmRelease computeplane-cluster is gone",
        )
        .evidence(absence)
        .evidence(build::fact(parent, "status.inventory", CLUSTER, None))
        .next(Who::Platform, "request a reconcile of the module with force, so that it is applied anew"),
        Some(parent) if !release::healthy(parent) => {
            let v = release::judge(view, Layer::Module, parent);
            let state = if v.severity == Severity::Progressing { State::Progressing } else { State::Unknown };
            build::verdict(Layer::Cluster, state, "not made yet by the module").evidence(absence)
        }
        _ => build::verdict(Layer::Cluster, State::Unknown, "no HelmRelease computeplane-cluster here").evidence(absence),
    }
}

fn owns_child(module: &Object) -> bool {
    Release::of(module).is_some_and(|r| r.inventory.iter().any(|id| id.contains("_computeplane-cluster_") && id.ends_with("_HelmRelease")))
}

/// What events tell a reader who sees no HelmRelease: that it failed, when, and with which words; believed until a newer success.
fn seen_failing(view: &View<'_>) -> Option<Judgement> {
    let e = events::last_failure(view, "HelmRelease", CLUSTER)?;
    let row = messages::classify(&e.message);
    let state = row.and_then(|r| r.state).unwrap_or(State::Retrying);
    let sentence = messages::decisive(&e.message);
    let ago = e.last.map_or(String::new(), |t| format!(" (seen {} ago)", span(view.age(t))));
    let pointer = messages::pointer(&sentence);
    let mut v = build::verdict(Layer::Cluster, state, format!("{sentence}{ago}"))
        .inferred()
        .since(e.first)
        .class(row.map(|r| r.class))
        .pool(pointer.pool)
        .evidence(events::evidence(view, e));
    if let Some(row) = row {
        v = v.fix(row.who, row.hint, pointer.field);
    }
    Some(v.next(Who::Platform, "an event proves that it happened, not that it still holds: HelmRelease computeplane-cluster tells"))
}

/// The monitors and pods that only an applied cluster release makes.
fn applied(view: &View<'_>) -> Option<Judgement> {
    let monitor = view.get(Kind::WorkloadMonitor, CLUSTER);
    let pods = control_plane_pods(view);
    let evidence = match monitor {
        Some(m) => {
            let b = Monitor::of(m);
            let said = b.and_then(|b| b.available).map_or("exists".to_string(), |a| format!("{a} available"));
            build::fact(m, "status.availableReplicas", said, m.meta.created.get())
        }
        None if pods > 0 => build::absence("Pod", view.namespace, &format!("{pods} control plane pods exist")),
        None => return None,
    };
    let v = build::verdict(Layer::Cluster, State::Ready, "applied, as its control plane's monitor and pods show").inferred();
    Some(v.evidence(evidence).next(Who::Platform, "to confirm: HelmRelease computeplane-cluster"))
}

/// True when neither the release nor anything it makes could be looked at.
pub fn hidden(view: &View<'_>) -> bool {
    view.read(Kind::HelmRelease).state != ReadState::Complete
}
