//! Between releases: the root of a dependency chain, parents that delete what they made. Owns walking; must not judge.

use std::{collections::BTreeSet, sync::Arc};

use crate::{
    health::{
        freshness::{self, Freshness},
        view::View,
    },
    model::{Kind, Object, projection::release::Release, world::ReadState},
};

/// Where a chain of `dependsOn` really hangs.
#[derive(Debug, Clone, PartialEq)]
pub enum Root<'a> {
    /// This release exists and isn't fine.
    Broken(&'a Arc<Object>),
    /// This one (namespace, name) doesn't exist.
    Missing(Arc<str>, Arc<str>),
    /// This one (namespace, name) can't be seen.
    Hidden(Arc<str>, Arc<str>),
    /// All are Ready; the one given lags in `status.observedGeneration` (helm-controller#946).
    Lagging(&'a Arc<Object>),
    /// Nothing explains the wait.
    None,
}

/// True for a release that reads Ready about its present spec and is neither suspended nor going away.
pub fn healthy(object: &Object) -> bool {
    let Some(release) = Release::of(object) else { return false };
    let ready = release.condition("Ready");
    !release.suspend
        && object.meta.deleted.get().is_none()
        && ready.is_some_and(|c| &*c.status == "True")
        && freshness::of(&object.meta, release, ready) == Freshness::Current
}

/// Walks `dependsOn` down to the release that everything above waits for.
pub fn root<'a>(view: &View<'a>, object: &Object) -> Root<'a> {
    let mut seen = BTreeSet::new();
    let mut lagging = Root::None;
    let mut hidden = Root::None;
    let mut at: Option<&'a Arc<Object>> = None;
    'walk: for _ in 0..64 {
        let (meta, body) = match at {
            Some(o) => (&o.meta, Release::of(o)),
            None => (&object.meta, Release::of(object)),
        };
        for (ns, name) in body.iter().flat_map(|r| r.depends_on.iter()) {
            let ns = if ns.is_empty() { meta.namespace.clone() } else { ns.clone() };
            if !seen.insert((ns.clone(), name.clone())) {
                continue;
            }
            match view.world.get(Kind::HelmRelease, &ns, name) {
                Some(dep) if healthy(dep) => {
                    if Release::of(dep).is_some_and(|r| r.observed_generation.zip(dep.meta.generation.get()).is_some_and(|(s, g)| s < g)) {
                        lagging = Root::Lagging(dep);
                    }
                }
                Some(dep) => {
                    at = Some(dep);
                    continue 'walk;
                }
                None if view.world.read_in(Kind::HelmRelease, &ns).state == ReadState::Complete => return Root::Missing(ns, name.clone()),
                None => hidden = Root::Hidden(ns, name.clone()),
            }
        }
        break;
    }
    match (at, hidden) {
        (Some(o), _) => Root::Broken(o),
        (None, Root::None) => lagging,
        (None, hidden) => hidden,
    }
}

/// True when an object being deleted is only torn down by its parent's uninstall remediation: the parent lives and will make it anew (`status.md` 0.5b).
pub fn under_remediation(view: &View<'_>, object: &Object) -> bool {
    let label = |key: &str| object.meta.labels.get(key).map(|v| &**v);
    let name = label("helm.toolkit.fluxcd.io/name").unwrap_or("computeplane");
    let namespace = label("helm.toolkit.fluxcd.io/namespace").unwrap_or(&object.meta.namespace);
    if name == &*object.meta.name {
        return false;
    }
    let Some(parent) = view.world.get(Kind::HelmRelease, namespace, name).filter(|p| p.meta.deleted.get().is_none()) else { return false };
    let Some(release) = Release::of(parent) else { return false };
    let failed_install = release.condition("Ready").is_some_and(|c| &*c.status != "True") && release.deployed().is_none();
    let uninstalling = release.condition("Reconciling").is_some_and(|c| c.message.contains("'uninstall'"));
    let remediated = release.condition("Remediated").is_some_and(|c| c.reason.starts_with("Uninstall"));
    failed_install && (uninstalling || remediated)
}
