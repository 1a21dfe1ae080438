//! L1: the module, as HelmRelease `computeplane` or, second best, as the application that copies it. Owns the contradictions of the module; must not judge its child.

use super::{CLUSTER, Judgement, MODULE, tenant};
use crate::{
    health::{
        build::{self, Build},
        release,
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

/// Kinds whose presence without a living owner makes a leftover.
const REMAINS: &[Kind] =
    &[Kind::Cluster, Kind::VirtualMachine, Kind::VirtualMachineInstance, Kind::DataVolume, Kind::PersistentVolumeClaim];
/// Kinds that count as leftovers when they name a release that is gone.
const OWNED: &[Kind] = &[Kind::TenantControlPlane, Kind::KamajiControlPlane, Kind::MachineDeployment];

/// The verdict of the layer.
pub fn judge(view: &View<'_>) -> Vec<Judgement> {
    vec![one(view)]
}

fn one(view: &View<'_>) -> Judgement {
    if let Some(v) = shared_record(view) {
        return v;
    }
    let app = application(view);
    if let Some(release) = view.get(Kind::HelmRelease, MODULE) {
        return release::judge(view, Layer::Module, release);
    }
    if let Some(o) = app {
        let v = match deleting(view, o) {
            Some(v) => v,
            None => release::judge_app(view, Layer::Module, o),
        };
        return contradicted(view, o, v);
    }
    absent(view)
}

/// The ComputePlane, else the TenantModule of the same name.
pub fn application<'a>(view: &View<'a>) -> Option<&'a std::sync::Arc<Object>> {
    let named = view.get(Kind::ComputePlane, MODULE).or_else(|| view.list(Kind::ComputePlane).next());
    named.or_else(|| view.get(Kind::TenantModule, MODULE))
}

/// An application that goes away: its deletionTimestamp is the release's.
fn deleting(view: &View<'_>, o: &Object) -> Option<Judgement> {
    o.meta.deleted.get().is_some().then(|| release::judge_app(view, Layer::Module, o))
}

/// `WorkloadsReady` False beside Ready True: not Ready, and the monitors say which layer. Its own time is recomputed on every read and never shown.
fn contradicted(view: &View<'_>, o: &Object, v: Judgement) -> Judgement {
    let Some(workloads) = App::of(o).and_then(|a| a.condition("WorkloadsReady")).filter(|c| &*c.status == "False") else { return v };
    if v.state != State::Ready {
        return v;
    }
    let fact = build::fact(o, "status.conditions[WorkloadsReady]", format!("False/{}: {}", workloads.reason, workloads.message), None);
    let named = view.list(Kind::WorkloadMonitor).any(|m| Monitor::of(m).is_some_and(|b| b.operational == Some(false)));
    if named {
        // The monitor's own layer carries the verdict.
        return v.evidence(fact);
    }
    build::verdict(
        Layer::Module,
        State::Unknown,
        "the release reads Ready, but one or more workloads are not operational; which ones can't be seen",
    )
    .evidence(fact)
    .next(Who::Platform, "look at the WorkloadMonitors, the control plane and the pools")
}

/// Row 10 by storage: two objects that write one Helm record undo each other's work, and both may read Ready.
fn shared_record(view: &View<'_>) -> Option<Judgement> {
    let mut seen: Vec<(&Object, _)> = Vec::new();
    for o in view.list(Kind::HelmRelease).filter(|o| super::is_chain(&o.meta.name) || super::is_addon(o)) {
        let record = Release::of(o)?.record(&o.meta);
        if let Some((other, _)) = seen.iter().find(|s| s.1 == record) {
            let cause = format!("HelmReleases {} and {} write one Helm record: {}/{}", other.meta.name, o.meta.name, record.0, record.1);
            let v = build::verdict(Layer::Module, State::NameConflict, cause)
                .class(Some("NameConflict"))
                .evidence(build::fact(other, "spec.releaseName", &record.1, None))
                .evidence(build::fact(o, "spec.releaseName", &record.1, None))
                .next(Who::Platform, "give each HelmRelease its own spec.releaseName, and check which of them owns what runs");
            return Some(v);
        }
        seen.push((o, record));
    }
    None
}

fn absent(view: &View<'_>) -> Judgement {
    let reads = [Kind::HelmRelease, Kind::ComputePlane].map(|k| (k, view.read(k).state));
    if reads.iter().any(|r| matches!(r.1, ReadState::Complete | ReadState::Stale)) {
        if let Some(v) = orphaned(view) {
            return v;
        }
        return missing(view);
    }
    unread(Layer::Module, &reads)
}

/// The module is absent for a fact: wanted and gone, not made yet, or never asked for.
fn missing(view: &View<'_>) -> Judgement {
    let absence = build::absence("HelmRelease", view.namespace, MODULE);
    let tenant = tenant::release_of(view);
    if view.complete(Kind::HelmRelease) && tenant::wants_plane(view) == Some(true) {
        let healthy = tenant.is_some_and(|t| release::healthy(t));
        let above = tenant.map(|t| release::judge(view, Layer::Tenant, t).severity);
        let v = if healthy {
            let v = build::verdict(
                Layer::Module,
                State::ControlPlaneMissing,
                "the Tenant has computeplane on and reads Ready, but HelmRelease computeplane is gone",
            );
            v.next(
                Who::ParentTenant,
                "the module comes back only when the tenant release is applied anew: change the Tenant, or request a forced reconcile",
            )
        } else if above == Some(Severity::Progressing) {
            build::verdict(Layer::Module, State::Progressing, "not made yet by the tenant release")
        } else {
            build::verdict(Layer::Module, State::Unknown, "not made yet: the tenant release doesn't get there")
        };
        return v.evidence(absence);
    }
    if view.list(Kind::HelmRelease).any(|o| super::is_chain(&o.meta.name) || super::is_addon(o))
        || crate::health::planes::is_plane(view.world, view.namespace)
    {
        return build::verdict(
            Layer::Module,
            State::Unknown,
            "no ComputePlane and no HelmRelease computeplane here, though parts of a plane are",
        )
        .evidence(absence);
    }
    let (parent, name) = tenant::parents(view.namespace).next().unwrap_or(("the parent namespace", view.namespace));
    build::verdict(Layer::Module, State::NotEnabled, "no ComputePlane and no HelmRelease computeplane here")
        .evidence(absence)
        .next(Who::ParentTenant, format!("set spec.computeplane: true on Tenant {name} in {parent}"))
}

/// The verdict where a layer's own kinds can't be read and nothing else speaks: NoPermission when all of them are refused, else Unknown.
pub fn unread(layer: Layer, reads: &[(Kind, ReadState)]) -> Judgement {
    let forbidden = reads.iter().find(|r| r.1 == ReadState::Forbidden);
    let name = |r: &(Kind, ReadState)| r.0.resource();
    match forbidden {
        Some(r) => {
            let v = build::verdict(layer, State::NoPermission, format!("cannot list {}", name(r)));
            v.next(Who::Platform, format!("grant list on {}, or run with a wider role", name(r)))
        }
        None => {
            let list = reads.iter().map(|r| format!("{} ({})", name(r), reason(r.1))).collect::<Vec<_>>().join(", ");
            build::verdict(layer, State::Unknown, format!("not read: {list}")).next(Who::Anyone, "try again, or look with more rights")
        }
    }
}

/// A read state in words.
pub fn reason(state: ReadState) -> &'static str {
    match state {
        ReadState::Complete => "read",
        ReadState::Forbidden => "forbidden",
        ReadState::AbsentApi => "not served here",
        ReadState::UnsupportedVersion => "unsupported version",
        ReadState::Unreadable => "read failed",
        ReadState::NotRead => "not read",
        ReadState::Stale => "stale",
    }
}

/// Row 38 and the leftovers of `status.md` 7: what a plane made is still here, and no release that would care for it.
fn orphaned(view: &View<'_>) -> Option<Judgement> {
    if view.read(Kind::HelmRelease).state != ReadState::Complete && view.read(Kind::ComputePlane).state != ReadState::Complete {
        return None;
    }
    if view.list(Kind::HelmRelease).any(|o| super::is_chain(&o.meta.name) && o.meta.deleted.get().is_none()) {
        return None;
    }
    let ours = |o: &Object| o.names_plane();
    let owned = |o: &Object| {
        o.meta.annotations.contains_key("meta.helm.sh/release-name") || o.meta.labels.contains_key("helm.toolkit.fluxcd.io/name")
    };
    let remains: Vec<&Object> = REMAINS.iter().flat_map(|k| view.list(*k)).map(|o| &**o).filter(|o| ours(o)).collect();
    let kept: Vec<&Object> =
        OWNED.iter().flat_map(|k| view.list(*k)).map(|o| &**o).filter(|o| ours(o) && (owned(o) || !remains.is_empty())).collect();
    let all: Vec<&Object> = remains.into_iter().chain(kept).collect();
    let first = all.first()?;
    let more = if all.len() > 1 { format!(" and {} more objects", all.len() - 1) } else { String::new() };
    let kind = first.kind.info().name;
    let mut v = build::verdict(
        Layer::Module,
        State::Orphaned,
        format!("{kind} {}{more} left behind: no HelmRelease {MODULE} or {CLUSTER} owns them", first.meta.name),
    );
    v.evidence.push(build::absence("HelmRelease", view.namespace, MODULE));
    v.evidence.extend(all.iter().take(8).map(|o| build::fact(o, "metadata.name", &*o.meta.name, o.meta.created.get())));
    Some(v.next(Who::Platform, "drain and remove what is left, or bring the release back"))
}
