//! Control planes that aren't there yet: rows 18, 19, 19b, 19c and 19d. Must not judge those that were Ready once.

use jiff::SignedDuration;

use super::{CLUSTER, Case, Judgement, State, inferred, verdict, with};
use crate::{
    health::{
        build::{self, Build},
        layers::patience::{Patience, patience},
        messages, release,
    },
    model::{
        Kind, Time,
        projection::kamaji::{DataStore, KamajiControlPlane, STEPS, TenantControlPlane},
        verdict::{Evidence, Who},
        world::ReadState,
    },
};

/// Row 18: the release reads Ready and there is no Cluster, or no provider object, to be ready.
pub fn cluster_missing(c: &Case<'_>) -> Option<Judgement> {
    let release = c.view.get(Kind::HelmRelease, CLUSTER).filter(|o| release::healthy(o));
    let gone = |kind: Kind, seen: bool| !seen && c.view.complete(kind);
    let absent = if gone(Kind::Cluster, c.cluster.is_some()) {
        Kind::Cluster
    } else if gone(Kind::KamajiControlPlane, c.provider.is_some()) && c.tenant.is_none() {
        Kind::KamajiControlPlane
    } else {
        return None;
    };
    let Some(release) = release else { return not_expected(c, absent) };
    let name = absent.info().name;
    let v = verdict(State::ControlPlaneMissing, format!("the cluster release reads Ready, but there is no {name} {CLUSTER}"))
        .evidence(build::absence(name, c.view.namespace, CLUSTER))
        .evidence(build::fact(release, "status.conditions[Ready]", "True", None));
    let v = with(v, c.tenant.map(|(o, t)| build::fact(o, "status.kubernetesResources.version.status", &*t.status, o.meta.created.get())));
    Some(v.next(
        Who::Platform,
        "find out who deleted it; then reconcile the cluster release with force, so that it is applied anew (workers are made anew too)",
    ))
}

/// No release vouches for the Cluster: its absence is then the release's matter, unless a control plane runs all the same.
fn not_expected(c: &Case<'_>, absent: Kind) -> Option<Judgement> {
    if c.tenant.is_some() || absent != Kind::Cluster || c.provider.is_some() || !c.view.complete(Kind::TenantControlPlane) {
        return None;
    }
    let v = verdict(State::Unknown, "no control plane here, as the cluster release hasn't made one");
    Some(v.evidence(build::absence("Cluster", c.view.namespace, CLUSTER)))
}

/// Texts by which a version is refused; a webhook that can't be reached refuses nothing.
const REFUSALS: [&str; 10] = [
    "denied",
    "not supported",
    "unsupported",
    "not yet supported",
    "downgrade",
    "minor version",
    "greater than the supported",
    "is invalid",
    "forbidden",
    "skip",
];

/// Row 19d: the provider's change of the TenantControlPlane is refused. Its reasons (`Failed`, `Pending`) are no severity: the text decides.
pub fn refused(c: &Case<'_>) -> Option<Judgement> {
    let (o, p) = c.provider?;
    let step = p.condition("TenantControlPlaneCreated").filter(|s| &*s.status != "True" && !benign(&s.message))?;
    let lower = step.message.to_lowercase();
    if lower.contains("failed calling webhook") || !REFUSALS.iter().any(|r| lower.contains(r)) {
        return None;
    }
    let running = c.tenant.map(|(_, t)| &t.version).filter(|v| !v.is_empty()).unwrap_or(&p.version);
    let change = match (running.is_empty(), p.wanted.is_empty()) {
        (false, false) if running != &p.wanted => format!("{running} → {} refused", p.wanted),
        (true, false) => format!("{} refused", p.wanted),
        _ => "the control plane's change is refused".to_string(),
    };
    let keeps = if running.is_empty() { "" } else { "; the running version stays" };
    let v = verdict(State::ControlPlaneUpgradeRefused, format!("{change}: {}{keeps}", messages::decisive(&step.message)))
        .since(step.since.get())
        .class(messages::classify(&step.message).map(|r| r.class))
        .evidence(build::condition(o, step))
        .evidence(build::fact(o, "spec.version", &*p.wanted, None));
    let v = with(v, c.tenant.map(|(o, t)| build::fact(o, "status.kubernetesResources.version.version", &*t.version, None)));
    Some(v.next(
        Who::Platform,
        "go up one minor version at a time, to one that this Kamaji supports, or bring a newer Kamaji; new machines may be held by the version skew meanwhile",
    ))
}

/// The provider exists and hasn't made the TenantControlPlane: progress while young, row 18 when old.
pub fn not_made(c: &Case<'_>) -> Option<Judgement> {
    let (o, p) = c.provider.filter(|_| c.tenant.is_none() && c.view.complete(Kind::TenantControlPlane))?;
    let wait = patience(c.view, o.meta.created.get(), c.view.deadlines.control_plane_boot);
    let absence = build::absence("TenantControlPlane", c.view.namespace, CLUSTER);
    let text = p.first_open().map(|s| format!(": {}", messages::decisive(&s.message))).unwrap_or_default();
    let owned = o.meta.owners.iter().any(|(kind, ..)| &**kind == "Cluster");
    let ignored = !owned && o.meta.created.get().is_none() && p.conditions.is_empty();
    if !wait.over && !ignored {
        let cause = format!("first boot: the TenantControlPlane isn't made yet{}{text}", wait.suffix());
        let v = verdict(State::ControlPlaneProvisioning, cause).since(o.meta.created.get()).deadline(wait.until).evidence(absence);
        return Some(with(v, c.open_step()).next(Who::Anyone, "wait"));
    }
    let hint = if owned { "" } else { "; it has no Cluster as its owner, so its controller ignores it" };
    let v = verdict(
        State::ControlPlaneMissing,
        format!("KamajiControlPlane {} has made no TenantControlPlane{}{hint}{text}", o.meta.name, wait.suffix()),
    )
    .since(o.meta.created.get())
    .evidence(absence)
    .evidence(build::fact(o, "status.ready", p.ready.to_string(), o.meta.created.get()));
    Some(with(v, c.open_step()).next(Who::Platform, "look at the Kamaji control plane provider's log"))
}

/// What is known of the DataStore that this control plane names.
enum Store {
    Usable,
    Unknown,
    Unusable(Evidence),
}

fn store(c: &Case<'_>) -> Store {
    let named = c.tenant.map(|(_, t)| &t.data_store).filter(|n| !n.is_empty());
    let Some(name) = named.or(c.provider.map(|(_, p)| &p.data_store)).filter(|n| !n.is_empty()) else { return Store::Unknown };
    match c.view.world.get(Kind::DataStore, "", name).and_then(|o| Some((o, DataStore::of(o)?))) {
        Some((o, _)) if o.meta.deleted.get().is_some() => {
            Store::Unusable(build::fact(o, "metadata.deletionTimestamp", "set", o.meta.deleted.get()))
        }
        Some((o, d)) if d.ready == Some(false) => Store::Unusable(build::fact(o, "status.ready", "false", None)),
        Some(_) => Store::Usable,
        None if c.view.world.read_in(Kind::DataStore, "").state == ReadState::Complete => {
            Store::Unusable(build::absence("DataStore", "", name))
        }
        None => Store::Unknown,
    }
}

/// A TenantControlPlane that was never Ready.
fn booting<'a>(c: &Case<'a>) -> Option<(&'a crate::model::Object, &'a TenantControlPlane)> {
    c.tenant.filter(|(_, t)| t.version.is_empty() && matches!(&*t.status, "" | "Provisioning" | "NotReady"))
}

/// Row 19b: there is no Deployment because the DataStore can't be used. Nothing else says so: no status, no event (`status.md` 8.17).
pub fn data_store_unavailable(c: &Case<'_>) -> Option<Judgement> {
    let (o, _) = booting(c).filter(|(_, t)| t.deployment.is_none())?;
    let Store::Unusable(evidence) = store(c) else { return None };
    let wait = patience(c.view, o.meta.created.get(), c.view.deadlines.data_store);
    let what = if evidence.path.is_empty() { "doesn't exist" } else { "isn't usable" };
    let name = evidence.name.clone();
    let v = if wait.over || o.meta.created.get().is_none() {
        let cause =
            format!("DataStore {name} {what}, so no control plane has been made{}", super::halted::lasting(c, o.meta.created.get()));
        let v = verdict(State::DataStoreUnavailable, cause);
        v.next(
            Who::Platform,
            format!(
                "look at the etcd of tenant {name}; once DataStore {name} is there, poke the TenantControlPlane: it isn't retried by itself"
            ),
        )
    } else {
        let cause = format!("first boot: DataStore {name} {what} yet{}", wait.suffix());
        verdict(State::ControlPlaneProvisioning, cause).deadline(wait.until).next(Who::Anyone, "wait for the tenant's etcd")
    };
    Some(with(v.since(o.meta.created.get()).evidence(evidence), c.open_step()))
}

/// Row 19c: Kamaji hasn't touched it, and its DataStore isn't why.
pub fn not_processed(c: &Case<'_>) -> Option<Judgement> {
    let (o, _) = booting(c).filter(|(_, t)| !t.processed)?;
    let wait = patience(c.view, o.meta.created.get(), c.view.deadlines.control_plane_boot);
    if !wait.over {
        return None;
    }
    let seen = if matches!(store(c), Store::Usable) { "its DataStore is ready" } else { "its DataStore can't be seen" };
    let v = verdict(
        State::ControlPlaneNotProcessed,
        format!("Kamaji hasn't touched the TenantControlPlane{}; {seen}", super::halted::lasting(c, o.meta.created.get())),
    )
    .since(o.meta.created.get())
    .evidence(build::fact(o, "status", "empty", o.meta.created.get()));
    Some(with(v, c.open_step()).next(Who::Platform, "look at the Kamaji controller's log and restart it; check that the DataStore exists"))
}

/// When the boot last got on: the newest of its creation and the steps done. Old objects whose datastore came late boot from then.
pub fn boot_began(created: Option<Time>, provider: Option<&KamajiControlPlane>) -> Option<Time> {
    let early = STEPS.iter().filter(|s| **s != "KamajiControlPlaneIsReady");
    let steps = early.filter_map(|s| provider?.condition(s)).filter(|s| &*s.status == "True").filter_map(|s| s.since.get());
    steps.chain(created).max()
}

/// Row 19, and the part of row 20 that is a first boot beyond its time.
pub fn first_boot(c: &Case<'_>) -> Option<Judgement> {
    let (o, t) = booting(c)?;
    let began = boot_began(o.meta.created.get(), c.provider.map(|p| p.1));
    let wait = patience(c.view, began, c.view.deadlines.control_plane_boot);
    let status = if t.status.is_empty() { "not processed" } else { &*t.status };
    let fact = build::fact(o, "status.kubernetesResources.version.status", status, began);
    let reason = inferred::reason(c.view).map(|r| format!("; {r}")).unwrap_or_default();
    let v = first_boot_verdict(&c.counts(), &wait, &reason).since(o.meta.created.get()).evidence(fact);
    Some(with(with(v, c.open_step()), inferred::trouble(c.view)))
}

/// The verdict on a first boot, by how long it has lasted.
pub fn first_boot_verdict(counts: &str, wait: &Patience, reason: &str) -> Judgement {
    if wait.over {
        let v = verdict(State::ControlPlaneNotReady, format!("the first boot doesn't end: {counts}{}{reason}", wait.suffix()));
        return v.next(Who::Platform, "look at the control plane's pods (reason, quota) and at its datastore's certificates");
    }
    let v = verdict(State::ControlPlaneProvisioning, format!("first boot: {counts}{}{reason}", wait.suffix()));
    v.deadline(wait.until).next(Who::Anyone, "wait")
}

/// Texts with which the provider says only "not yet", whatever their reason is.
pub fn benign(message: &str) -> bool {
    message.is_empty() || message.trim_end().ends_with("enqueue back") || message.contains("unprocessed by Kamaji")
}

/// How long a provider's step may be open beside a healthy TenantControlPlane.
pub const STEP_GRACE: SignedDuration = SignedDuration::from_mins(2);
