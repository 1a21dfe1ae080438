//! From seven layer verdicts to one plane: who heads, what is only a consequence, and what may be said when not all could be seen (`status.md` 2.1).
//! Owns the combination; the rows are the layers'.

use super::{
    build::{self, Build},
    coverage, events,
    layers::{self, Judgement, addons, cluster, control_plane, module, pools, tenant, workers},
    messages::CHILD_NOT_READY,
    release,
    view::View,
};
use crate::model::{
    Kind,
    projection::release::Release,
    verdict::{Guest, Layer, Plane, PoolView, Severity, State, Who},
};

/// How the head was found.
enum Head {
    /// A layer's own verdict.
    Layer(usize),
    /// Everything required is healthy; the layer that tells most.
    Healthy(usize),
    /// Not all could be seen: what the visible part says, if it says anything, and the first dark layer.
    Dark(Option<State>, usize),
}

/// Judges one plane of which something is known to exist, or that was asked for.
pub fn assemble(view: &View<'_>) -> Plane {
    let judged = [
        tenant::judge(view),
        module::judge(view),
        cluster::judge(view),
        pools::judge(view),
        control_plane::judge(view),
        workers::judge(view),
        addons::judge(view),
    ];
    let mut layers = Vec::with_capacity(7);
    let mut per_pool = Vec::new();
    for (layer, verdicts) in Layer::ALL.into_iter().zip(judged) {
        let mut verdicts = verdicts.into_iter();
        let first = verdicts.next().unwrap_or_else(|| build::verdict(layer, State::Unknown, "not judged"));
        layers.push(doubted(view, first));
        per_pool.extend(verdicts);
    }
    parents(&mut layers);
    contradictions(&mut layers);
    let head = head(view, &layers);
    consequences(&mut layers, &head);
    plane(view, layers, &head, &per_pool)
}

/// A healthy verdict over sources that can't be believed any more is no verdict.
fn doubted(view: &View<'_>, v: Judgement) -> Judgement {
    if v.severity != Severity::Ready || v.inferred || v.state == State::NotEnabled || coverage::lit(view, v.layer) {
        return v;
    }
    let cause = format!("last seen {}: {}", v.state.words().to_lowercase(), v.cause);
    Judgement { state: State::Unknown, severity: Severity::Unknown, cause, ..v }
}

fn broken(v: &Judgement) -> bool {
    v.severity < Severity::Unknown
}

fn at(layer: Layer) -> usize {
    Layer::ALL.iter().position(|l| *l == layer).unwrap_or(0)
}

/// A parent that fails or runs only because it waits for its child is the child's consequence.
fn parents(layers: &mut [Judgement]) {
    for (parent, child, name) in [(Layer::Module, Layer::Cluster, layers::CLUSTER), (Layer::Tenant, Layer::Module, layers::MODULE)] {
        let explained = layers.get(at(child)).is_some_and(|c| broken(c) || c.consequence_of.is_some());
        if let Some(p) = layers.get_mut(at(parent)).filter(|p| explained && waits_for(p, name)) {
            p.consequence_of = Some(child);
        }
    }
}

/// A module that reads Ready over a failing child is a contradiction (trap 3: its wait was point-in-time); the child's verdict quotes it.
fn contradictions(layers: &mut [Judgement]) {
    let quoted = layers.get(at(Layer::Module)).filter(|m| m.state == State::Ready).and_then(|m| m.evidence.first().cloned());
    if let (Some(e), Some(c)) = (quoted, layers.get_mut(at(Layer::Cluster)).filter(|c| broken(c) && !c.inferred)) {
        c.evidence.push(e);
    }
}

fn waits_for(parent: &Judgement, child: &str) -> bool {
    let named = || parent.evidence.iter().any(|e| mentions(&e.value, child));
    match parent.state {
        State::Progressing | State::StuckReconciling => parent.layer == Layer::Module || named(),
        State::Retrying | State::InstallLoop | State::Stalled => match parent.class.as_deref() {
            Some(CHILD_NOT_READY) => named(),
            // The wait ended without a list (`status.md` 8.9): the broken child explains it.
            Some("WaitTimeout") => parent.layer == Layer::Module,
            _ => false,
        },
        _ => false,
    }
}

/// The text names exactly this object, not one whose name only begins or ends like it.
fn mentions(text: &str, name: &str) -> bool {
    let part = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '.';
    text.match_indices(name).any(|(at, _)| {
        let before = text.get(..at).and_then(|s| s.chars().next_back());
        let after = text.get(at + name.len()..).and_then(|s| s.chars().next());
        !before.is_some_and(part) && !after.is_some_and(part)
    })
}

fn masks(v: &Judgement) -> u8 {
    match v.state {
        State::DeletingUnowned | State::DeletingStuck | State::Deleting if v.layer != Layer::Workers => 2,
        State::Suspended | State::Paused => 1,
        _ => 0,
    }
}

fn head(view: &View<'_>, layers: &[Judgement]) -> Head {
    let order = || Layer::DEPENDENCY.into_iter().map(at).filter_map(|i| layers.get(i).map(|v| (i, v)));
    for rank in [2, 1] {
        if let Some((i, _)) = order().filter(|(_, v)| masks(v) == rank).min_by_key(|(_, v)| v.severity) {
            return Head::Layer(i);
        }
    }
    // Leftovers without an owner head only where nothing else is wrong with them.
    let worse = |v: &Judgement| broken(v) && v.consequence_of.is_none();
    let first = order().find(|(_, v)| worse(v) && v.state != State::Orphaned).or_else(|| order().find(|(_, v)| worse(v)));
    if let Some((i, v)) = first {
        let booting = order().find(|(_, c)| explains(c, v));
        return Head::Layer(booting.map_or(i, |b| b.0));
    }
    if let Some((i, _)) = order().find(|(_, v)| v.state == State::StaleStatus) {
        return Head::Layer(i);
    }
    let dark = |v: &Judgement| matches!(v.state, State::Unknown | State::NoPermission) && v.layer != Layer::Tenant;
    let progress = order().find(|(_, v)| v.severity == Severity::Progressing && !benign(v, layers));
    let healthy = order().any(|(_, v)| v.severity == Severity::Ready && v.state != State::NotEnabled && v.layer != Layer::Tenant);
    if let Some((i, _)) = order().find(|(_, v)| dark(v) && !coverage::lit(view, v.layer)) {
        let seen = progress.map(|p| p.1.state).or(healthy.then_some(State::Ready));
        return Head::Dark(seen, progress.map_or(i, |p| p.0));
    }
    if let Some((i, _)) = progress {
        return Head::Layer(i);
    }
    match order().find(|(_, v)| dark(v)) {
        Some((i, _)) => Head::Dark(healthy.then_some(State::Ready), i),
        None => Head::Healthy(order().find(|(_, v)| v.state == State::ScaledToZero).map_or(at(Layer::Workers), |z| z.0)),
    }
}

/// A control plane on its way explains what can't work before it is there.
fn explains(control_plane: &Judgement, later: &Judgement) -> bool {
    match control_plane.state {
        State::ControlPlaneProvisioning => matches!(later.layer, Layer::Workers | Layer::Addons),
        State::ControlPlaneUpgrading => later.state == State::WorkersBlocked || later.layer == Layer::Addons,
        _ => false,
    }
}

/// Addons that wait for a first node beneath a plane that rests at zero are no progress to speak of (row 36).
fn benign(v: &Judgement, layers: &[Judgement]) -> bool {
    v.state == State::AddonsWaiting && layers.get(at(Layer::Workers)).is_some_and(|w| w.severity == Severity::Ready)
}

fn consequences(layers: &mut [Judgement], head: &Head) {
    let Head::Layer(i) = head else { return };
    let Some(head) = layers.get(*i).cloned() else { return };
    let rank = |l: Layer| Layer::DEPENDENCY.iter().position(|d| *d == l).unwrap_or(0);
    for v in layers.iter_mut().filter(|v| v.layer != head.layer && v.consequence_of.is_none() && masks(v) == 0) {
        let later = rank(v.layer) > rank(head.layer);
        let follows = match masks(&head) {
            // Addons that wait for a broken control plane or its nodes wait because of it.
            0 if broken(&head) => later && (v.severity <= Severity::Unknown || v.state == State::AddonsWaiting),
            0 => explains(&head, v) && broken(v),
            _ => false,
        };
        if follows {
            v.consequence_of = Some(head.layer);
        }
    }
}

fn plane(view: &View<'_>, layers: Vec<Judgement>, head: &Head, per_pool: &[Judgement]) -> Plane {
    let coverage = coverage::of(view, &layers);
    let top = match head {
        Head::Layer(i) => masked(&layers, *i),
        Head::Healthy(i) => healthy(&layers, *i),
        Head::Dark(seen, i) => dark(&layers, *seen, *i, coverage.visible.len()),
    };
    let visible_state = match head {
        Head::Dark(seen, _) => *seen,
        _ => None,
    };
    let app = module::application(view);
    let release = view.get(Kind::HelmRelease, layers::MODULE);
    let mut evidence = top.evidence;
    if top.severity < Severity::Progressing {
        evidence.extend(events::for_layer(view, top.layer, 3));
    }
    let asked = app.filter(|o| o.kind == Kind::ComputePlane);
    Plane {
        kind: (),
        namespace: view.namespace.to_string(),
        name: asked.map_or(layers::MODULE.to_string(), |o| o.meta.name.to_string()),
        state: top.state,
        visible_state,
        severity: top.state.severity(),
        layer: top.layer,
        pool: top.pool,
        cause: top.cause,
        since: top.since,
        evidence,
        next: top.next,
        deadline: layers.iter().filter_map(|v| v.deadline).filter(|t| *t > view.now).min(),
        layers,
        pools: pool_views(view, per_pool),
        control_plane: control_plane::summary(view),
        coverage,
        class: top.class,
        inferred: top.inferred,
        created: asked.or(release).and_then(|o| o.meta.created.get()),
        uid: asked.map(|o| o.meta.uid.to_string()).filter(|u| !u.is_empty()),
        guests: guests(view),
    }
}

/// The head's verdict; under a mask, with the worst of what it masks.
fn masked(layers: &[Judgement], i: usize) -> Judgement {
    let Some(mut top) = layers.get(i).cloned() else { return build::verdict(Layer::Module, State::Unknown, "not judged") };
    if masks(&top) > 0 {
        let masked = |v: &&Judgement| v.layer != top.layer && v.state != top.state && broken(v) && v.consequence_of.is_none();
        let beneath = layers.iter().filter(masked).min_by_key(|v| v.severity);
        if let Some(b) = beneath {
            top.cause = format!("{}; beneath: {}: {}", top.cause, b.state.words().to_lowercase(), b.cause);
            top.evidence.extend(b.evidence.iter().take(2).cloned());
        }
    }
    top.consequence_of = None;
    top
}

fn healthy(layers: &[Judgement], i: usize) -> Judgement {
    let state = layers.get(i).filter(|v| v.state == State::ScaledToZero).map_or(State::Ready, |v| v.state);
    let of = |l: Layer| layers.get(at(l)).map_or("", |v| v.cause.as_str());
    let since = layers.iter().filter(|v| v.layer != Layer::Tenant).filter_map(|v| v.since).max();
    let cause = format!("workers {}; control plane {}; addons {}", of(Layer::Workers), of(Layer::ControlPlane), of(Layer::Addons));
    let mut v = build::verdict(layers.get(i).map_or(Layer::Workers, |v| v.layer), state, cause).since(since);
    v.evidence = layers.iter().flat_map(|l| l.evidence.first().cloned()).collect();
    v.inferred = layers.iter().any(|l| l.inferred);
    v
}

fn dark(layers: &[Judgement], seen: Option<State>, i: usize, visible: usize) -> Judgement {
    let Some(own) = layers.get(i) else { return build::verdict(Layer::Module, State::Unknown, "not judged") };
    let hidden = layers.iter().filter(|v| matches!(v.state, State::Unknown | State::NoPermission) && v.layer != Layer::Tenant);
    let list = hidden.map(|v| format!("{} ({})", name(v.layer), v.cause)).collect::<Vec<_>>().join("; ");
    let refused = layers.iter().any(|v| v.state == State::NoPermission);
    let (state, cause) = match seen {
        Some(State::Ready) if visible == layers.len() => (State::Unknown, format!("Ready but for {list}")),
        Some(State::Ready) => (State::Unknown, format!("Ready as far as you may see ({visible} of 7 layers visible); not seen: {list}")),
        Some(s) => (State::Unknown, format!("{}: {}; not seen: {list}", s.words(), own.cause)),
        None if refused => (State::NoPermission, own.cause.clone()),
        None => (State::Unknown, own.cause.clone()),
    };
    let since = seen.filter(|s| *s != State::Ready).and(own.since);
    let mut v = build::verdict(own.layer, state, cause).since(since);
    v.evidence = layers.iter().filter(|l| l.severity != Severity::Unknown).flat_map(|l| l.evidence.first().cloned()).take(6).collect();
    v.next = own.next.clone();
    if v.next.is_empty() {
        v = v.next(Who::Anyone, "try again, or look with more rights");
    }
    v
}

/// A layer's name, as in the contract.
pub fn name(layer: Layer) -> &'static str {
    match layer {
        Layer::Tenant => "tenant",
        Layer::Module => "module",
        Layer::Cluster => "cluster",
        Layer::Pools => "pools",
        Layer::ControlPlane => "controlPlane",
        Layer::Workers => "workers",
        Layer::Addons => "addons",
    }
}

/// Pools with what the pools layer knows against them: a pool that was refused never shows the state of its old machines alone.
fn pool_views(view: &View<'_>, per_pool: &[Judgement]) -> Vec<PoolView> {
    let mut views = workers::lines(view, per_pool);
    for v in per_pool.iter().filter(|v| v.layer == Layer::Pools) {
        let Some(pool) = &v.pool else { continue };
        match views.iter_mut().find(|p| p.name == *pool) {
            Some(p) if broken(v) && v.severity < p.state.severity() => p.state = v.state,
            Some(_) => {}
            None => views.push(PoolView {
                name: pool.clone(),
                state: v.state,
                min: None,
                max: None,
                desired: None,
                ready: None,
                machines: None,
                instance_type: None,
            }),
        }
    }
    views
}

/// Releases of other applications that target this plane through its kubeconfig; only the reference is read, never the Secret.
fn guests(view: &View<'_>) -> Vec<Guest> {
    let ours = |r: &Release| r.kubeconfig.as_deref() == Some(layers::KUBECONFIG);
    let releases = view.list(Kind::HelmRelease).filter(|o| !layers::is_addon(o) && !layers::is_chain(&o.meta.name));
    let mut out = Vec::new();
    for o in releases.filter(|o| Release::of(o).is_some_and(ours)) {
        let v = release::judge(view, Layer::Addons, o);
        out.push(Guest { namespace: o.meta.namespace.to_string(), name: o.meta.name.to_string(), state: v.state, cause: v.cause });
    }
    out
}
