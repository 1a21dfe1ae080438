//! L0: is the module wanted and does the tenant's own release work? Rows 6 and the release rows for `tenant-X`, plus the namespace's `etcd` release.
//! Must not judge the module itself.

use std::sync::Arc;

use super::{CLUSTER, Judgement, MODULE};
use crate::{
    health::{
        build::{self, Build},
        release,
        view::View,
    },
    model::{
        Kind, Object,
        projection::{
            cozystack::{App, Conditioned},
            release::Release,
        },
        verdict::{Layer, Severity, State, Who},
        world::ReadState,
    },
};

/// The package that ships the module, and the one whose charts the module installs.
const PACKAGES: [&str; 2] = ["cozystack.computeplane-application", "cozystack.kubernetes-application"];

/// Where the Tenant of a namespace may stand: (parent namespace, name without the `tenant-` prefix), the likeliest first.
/// `tenant-X` in `tenant-root` speaks for `tenant-X`; in any other namespace P for `P-X`.
pub fn parents(namespace: &str) -> impl Iterator<Item = (&str, &str)> {
    let own = namespace.strip_prefix("tenant-").filter(|x| !x.is_empty() && namespace != "tenant-root");
    let nested = namespace.rmatch_indices('-').filter_map(move |(at, _)| {
        let (parent, name) = (namespace.get(..at)?, namespace.get(at + 1..)?);
        (parent.starts_with("tenant-") && !name.is_empty()).then_some((parent, name))
    });
    own.map(|x| ("tenant-root", x)).into_iter().chain(nested)
}

/// The namespace that a tenant release speaks for.
pub fn child_of(parent: &str, release_name: &str) -> Option<String> {
    let name = release_name.strip_prefix("tenant-").filter(|n| !n.is_empty())?;
    Some(if parent == "tenant-root" { format!("tenant-{name}") } else { format!("{parent}-{name}") })
}

/// The Tenant's HelmRelease for a namespace, if one is seen.
pub fn release_of<'a>(view: &View<'a>) -> Option<&'a Arc<Object>> {
    // By name, never by listing: the root tenant holds one release for each of thousands of tenants.
    parents(view.namespace).find_map(|(parent, name)| view.world.get(Kind::HelmRelease, parent, &format!("tenant-{name}")))
}

/// The Tenant application for a namespace, if one is seen.
fn app_of<'a>(view: &View<'a>) -> Option<&'a Arc<Object>> {
    parents(view.namespace).find_map(|(parent, name)| view.world.get(Kind::Tenant, parent, name))
}

/// What the Tenant says about the module; `None` where no Tenant is seen.
pub fn wants_plane(view: &View<'_>) -> Option<bool> {
    let by_release = release_of(view).and_then(|o| Release::of(o)).and_then(|r| r.computeplane);
    let by_app = app_of(view).and_then(|o| App::of(o)).map(|a| a.computeplane.unwrap_or(false));
    by_release.or(by_app).or_else(|| release_of(view).map(|_| false))
}

/// The verdict of the layer.
pub fn judge(view: &View<'_>) -> Vec<Judgement> {
    let own = own(view);
    let all = [own, package(view), etcd(view)];
    let mut found: Vec<Judgement> = all.into_iter().flatten().collect();
    // The tenant's own state first, unless something beside it is worse.
    let worst = found.iter().map(|v| v.severity).min();
    let at = found.iter().position(|v| Some(v.severity) == worst && v.severity < Severity::Progressing).unwrap_or(0);
    if at < found.len() && !found.is_empty() {
        return vec![found.swap_remove(at)];
    }
    vec![nothing(view)]
}

fn own(view: &View<'_>) -> Option<Judgement> {
    let release = release_of(view);
    let object = release.or_else(|| app_of(view))?;
    let mut v = match release {
        Some(o) => release::judge(view, Layer::Tenant, o),
        None => release::judge_app(view, Layer::Tenant, object),
    };
    if v.state == State::PackageMissing {
        v = v
            .next(Who::ParentTenant, "until the package is there, no other change of this Tenant takes effect: or set computeplane: false");
    }
    let plane = view.get(Kind::ComputePlane, MODULE).or_else(|| view.get(Kind::HelmRelease, MODULE));
    if v.state == State::Ready && plane.is_some() && wants_plane(view) == Some(false) {
        v.cause = format!("self-provisioned: Tenant {} has computeplane off, the plane was made beside it", object.meta.name);
    }
    Some(v)
}

/// Row 6 by the Package itself: believed when packages can be read and this one is missing or not Ready, and the plane isn't simply running.
fn package(view: &View<'_>) -> Option<Judgement> {
    let mut packages = view.world.list(Kind::Package, "").peekable();
    packages.peek()?;
    let running = |name: &str| view.get(Kind::HelmRelease, name).is_some_and(|o| release::healthy(o));
    if running(MODULE) && running(CLUSTER) {
        return None;
    }
    PACKAGES.iter().find_map(|name| match view.world.get(Kind::Package, "", name) {
        Some(o) => broken_package(o),
        None if view.world.read_in(Kind::Package, "").state == ReadState::Complete && *name == PACKAGES[0] => {
            let v = build::verdict(Layer::Tenant, State::PackageMissing, format!("package {name} is not installed"));
            Some(v.evidence(build::absence("Package", "", name)).next(Who::Platform, "enable the iaas bundle (bundles.iaas.enabled: true)"))
        }
        None => None,
    })
}

fn broken_package(o: &Object) -> Option<Judgement> {
    let body = Conditioned::of(o)?;
    let ready = body.condition("Ready").filter(|c| &*c.status == "False")?;
    let unmet: Vec<&str> = body.dependencies.iter().filter(|d| !d.1).map(|d| &*d.0).collect();
    let on = if unmet.is_empty() { String::new() } else { format!("; unmet: {}", unmet.join(", ")) };
    let v = build::verdict(Layer::Tenant, State::PackageMissing, format!("package {} is not ready: {}{on}", o.meta.name, ready.reason));
    Some(v.since(ready.since.get()).evidence(build::condition(o, ready)).next(Who::Platform, "mend the package or the dependency named"))
}

/// The namespace's own etcd release: with it broken no control plane of this tenant can work.
fn etcd(view: &View<'_>) -> Option<Judgement> {
    let v = release::judge(view, Layer::Tenant, view.get(Kind::HelmRelease, "etcd")?);
    let cause = format!("etcd: {}", v.cause);
    Some(Judgement { cause, ..v })
}

fn nothing(view: &View<'_>) -> Judgement {
    let parent = parents(view.namespace).next().map_or("", |p| p.0);
    let reads = [Kind::Tenant, Kind::HelmRelease].map(|k| view.world.read_in(k, parent).state);
    let why = if reads.contains(&ReadState::Forbidden) { "not permitted to look there" } else { "no Tenant seen" };
    let v = build::verdict(Layer::Tenant, State::Unknown, format!("the parent's Tenant in {parent} is unknown: {why}"));
    v.evidence(build::absence("Tenant", parent, view.namespace.trim_start_matches("tenant-")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tenants_nest() {
        assert_eq!(parents("tenant-acme").next(), Some(("tenant-root", "acme")));
        assert!(parents("tenant-acme-dev").any(|p| p == ("tenant-acme", "dev")));
        assert_eq!(parents("tenant-root").count(), 0);
        assert_eq!(child_of("tenant-root", "tenant-acme").as_deref(), Some("tenant-acme"));
        assert_eq!(child_of("tenant-acme", "tenant-dev").as_deref(), Some("tenant-acme-dev"));
        assert_eq!(child_of("tenant-acme", "postgres"), None);
    }
}
