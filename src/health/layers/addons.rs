//! L6: the addon releases, judged together: rows 36 and 37 over the release rows. Must not judge nodes; it only asks whether some are there.

use jiff::SignedDuration;

use super::{CLUSTER, Judgement, cluster, is_addon, module, nodes};
use crate::{
    health::{
        build::{self, Build, span},
        release::{self, Root},
        view::View,
    },
    model::{
        Kind, Object,
        projection::{cozystack::App, release::Release},
        verdict::{Layer, Severity, State, Who},
    },
};

/// Classes and states that no Node can heal: they hold whatever the workers do.
fn independent(v: &Judgement) -> bool {
    matches!(
        v.state,
        State::SourceNotReady | State::RenderRejected | State::NameConflict | State::Stalled | State::PackageMissing | State::StaleStatus
    ) || matches!(
        v.class.as_deref(),
        Some("DependencyMissing" | "ValuesError" | "Forbidden" | "ImmutableField" | "CRDMissing" | "AdmissionDenied")
    )
}

/// States that stand for themselves whatever the rest does.
fn heads(v: &Judgement) -> bool {
    matches!(v.state, State::DeletingUnowned | State::DeletingStuck | State::Deleting | State::Suspended)
}

/// The verdict of the layer.
pub fn judge(view: &View<'_>) -> Vec<Judgement> {
    vec![ingress_without_role(view, one(view))]
}

/// An ingress Service whose controller can't run anywhere: no pool carries the role. Told as a fact; the chart's guard refuses it in present versions.
fn ingress_without_role(view: &View<'_>, v: Judgement) -> Judgement {
    let Some(service) = super::ingress_service(view) else { return v };
    let app = module::application(view).and_then(|o| App::of(o)).and_then(|a| a.node_groups.as_ref());
    let Some(groups) = app.filter(|g| !g.is_empty()) else { return v };
    let carries = |g: &serde_json::Value| {
        let roles = g.get("roles").and_then(|r| r.as_array());
        let max = g.get("maxReplicas").and_then(|m| m.as_i64());
        roles.is_some_and(|r| r.iter().any(|x| x.as_str() == Some("ingress-nginx"))) && max.is_none_or(|m| m > 0)
    };
    if groups.values().any(carries) {
        return v;
    }
    v.evidence(build::fact(
        service,
        "spec.selector",
        "no pool carries the role ingress-nginx: nothing can stand behind this Service",
        service.meta.created.get(),
    ))
    .fix(Who::Tenant, "give one pool the role ingress-nginx and maxReplicas of at least 1", Some("nodeGroups".to_string()))
}

fn one(view: &View<'_>) -> Judgement {
    let addons: Vec<(&Object, Judgement)> = releases(view).map(|o| (o, release::judge(view, Layer::Addons, o))).collect();
    if addons.is_empty() {
        return none(view);
    }
    if let Some((_, v)) = addons.iter().filter(|a| heads(&a.1)).min_by_key(|a| a.1.severity) {
        return v.clone();
    }
    let ready = addons.iter().filter(|a| a.1.state == State::Ready).count();
    let broken: Vec<&(&Object, Judgement)> =
        addons.iter().filter(|a| a.1.severity <= Severity::Degraded || a.1.state == State::StaleStatus).collect();
    if broken.is_empty() {
        return calm(&addons, ready);
    }
    aggregate(view, &addons, &broken, ready)
}

/// Addon releases of this plane.
pub fn releases<'a>(view: &View<'a>) -> impl Iterator<Item = &'a Object> + use<'a> {
    view.list(Kind::HelmRelease).map(|o| &**o).filter(|o| is_addon(o))
}

fn calm(addons: &[(&Object, Judgement)], ready: usize) -> Judgement {
    let total = addons.len();
    match addons.iter().find(|a| a.1.state != State::Ready) {
        Some((o, v)) => {
            let cause = format!("{ready} of {total} ready; {}: {}", o.meta.name, v.cause);
            Judgement { cause, ..v.clone() }
        }
        None => build::verdict(Layer::Addons, State::Ready, format!("{ready}/{total} ready"))
            .since(addons.iter().filter_map(|a| a.1.since).max()),
    }
}

/// The addon that the others wait for: the root of the first chain, else the first that fails by itself.
fn root<'b, 'a>(view: &View<'a>, broken: &'b [&'b (&'a Object, Judgement)]) -> Option<&'b (&'a Object, Judgement)> {
    let by_chain = broken.iter().filter(|b| b.1.state == State::DependencyWait).find_map(|b| match release::root(view, b.0) {
        Root::Broken(o) => broken.iter().find(|x| x.0.meta.name == o.meta.name),
        _ => None,
    });
    let own = broken.iter().find(|b| b.1.state != State::DependencyWait);
    by_chain.or(own).or(broken.first()).copied()
}

fn aggregate(view: &View<'_>, addons: &[(&Object, Judgement)], broken: &[&(&Object, Judgement)], ready: usize) -> Judgement {
    let total = addons.len();
    let nodes = nodes::nodes(view);
    let Some((root, why)) = root(view, broken) else {
        return build::verdict(Layer::Addons, State::Unknown, "addons can't be judged");
    };
    let counts = format!("{ready} of {total} ready");
    let waiting = nodes.known && nodes.ready_since.is_none();
    let for_kubeconfig = broken.iter().any(|b| b.1.class.as_deref() == Some("WaitingForKubeconfig"));
    let patience = nodes.ready_since.map(|t| view.age(t));
    // Long after the control plane serves, a missing kubeconfig Secret was lost, and no Node brings it back (row 24).
    let lost = for_kubeconfig && nodes.control_plane_up && why.since.is_some_and(|t| view.age(t) > view.deadlines.addons);
    let mut v = if lost {
        let v = build::verdict(
            Layer::Addons,
            State::AddonsFailing,
            format!("{counts}; the kubeconfig Secret is missing though the control plane serves: {}", why.cause),
        );
        v.next(Who::Platform, "let the control plane provider write its kubeconfig Secret again")
    } else if waiting && nodes.control_plane_down || for_kubeconfig && patience.is_none_or(|p| p < view.deadlines.addons) {
        build::verdict(
            Layer::Addons,
            State::AddonsWaiting,
            format!("{counts}; waiting for the control plane: {}: {}", root.meta.name, why.cause),
        )
    } else if let Some((o, own)) = broken.iter().find(|b| independent(&b.1)).filter(|_| patience.is_none()) {
        Judgement { cause: format!("{}: {}", o.meta.name, own.cause), ..own.clone() }
    } else if waiting {
        build::verdict(
            Layer::Addons,
            State::AddonsWaiting,
            format!("{counts}; waiting for the first node (root {}): {}", root.meta.name, why.cause),
        )
    } else if !nodes.known {
        return first_row(broken, root);
    } else if patience.is_some_and(|p| p > view.deadlines.addons) {
        let cause = format!("{counts}; {}: {}", root.meta.name, why.cause);
        let v = build::verdict(Layer::Addons, State::AddonsFailing, cause).since(why.since);
        v.next(Who::Platform, format!("look at {}; what depends on it follows", root.meta.name))
    } else {
        let limit = view.deadlines.addons;
        let of = format!("{} of {}", span(patience.unwrap_or(SignedDuration::ZERO)), span(limit));
        let until = nodes.ready_since.and_then(|t| t.checked_add(limit).ok());
        let cause = format!("{counts}; nodes are young ({of}); {}: {}", root.meta.name, why.cause);
        build::verdict(Layer::Addons, State::AddonsWaiting, cause).deadline(until)
    };
    if v.class.is_none() {
        v.class = why.class.clone();
    }
    if v.since.is_none() {
        v.since = why.since;
    }
    v.evidence = std::iter::once(why)
        .chain(broken.iter().map(|b| &b.1).filter(|b| !std::ptr::eq(*b, why)))
        .flat_map(|b| b.evidence.first().cloned())
        .take(8)
        .collect();
    if v.next.is_empty() {
        v = v.next(Who::Anyone, "nothing by itself: addons follow the first node");
    }
    v
}

/// Nothing is known about nodes: the row of the table that stands highest among the addons' own, with the root's name.
fn first_row(broken: &[&(&Object, Judgement)], root: &Object) -> Judgement {
    let order = |s: State| match s {
        State::SourceNotReady => 0,
        State::StaleStatus => 1,
        State::RenderRejected => 2,
        State::NameConflict => 3,
        State::DependencyWait => 4,
        State::LockedPending => 5,
        State::Stalled => 6,
        State::InstallLoop => 7,
        _ => 8,
    };
    let Some((o, v)) = broken.iter().min_by_key(|b| order(b.1.state)).copied() else {
        return build::verdict(Layer::Addons, State::Unknown, "addons can't be judged");
    };
    let cause = if o.meta.name == root.meta.name || v.cause.contains(&*root.meta.name) {
        format!("{}: {}", o.meta.name, v.cause)
    } else {
        format!("{}: {} (root {})", o.meta.name, v.cause, root.meta.name)
    };
    Judgement { cause, ..v.clone() }
}

fn none(view: &View<'_>) -> Judgement {
    if !view.complete(Kind::HelmRelease) {
        return module::unread(Layer::Addons, &[(Kind::HelmRelease, view.read(Kind::HelmRelease).state)]);
    }
    let cluster = view.get(Kind::HelmRelease, CLUSTER).and_then(|o| Release::of(o));
    if cluster.is_none_or(|r| {
        r.deployed().is_none() && !r.history.is_empty()
            || r.condition("Ready").is_some_and(|c| &*c.status == "False") && r.deployed().is_none()
    }) {
        return build::verdict(Layer::Addons, State::Unknown, "no addon releases, as the cluster release isn't there");
    }
    if cluster::awaiting_etcd(view).is_some() {
        return build::verdict(Layer::Addons, State::Unknown, "no addon releases yet: the cluster release holds an empty shell");
    }
    build::verdict(Layer::Addons, State::Ready, "no addon releases here")
}
