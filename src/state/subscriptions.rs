//! Which sources are followed, from what is on screen: the fleet's kinds always and narrowly, an open plane's kinds only in its namespace
//! (design 5, "Watches"). Pure; must not know how watching works. Order matters: what the home list needs comes first.

use crate::health::layers::{CLUSTER, MODULE};
use crate::model::access::BEACON;
use crate::model::{Kind, Scope, Selector, feed::Subscription};

const OF_CLUSTER: &str = "cluster.x-k8s.io/cluster-name=computeplane-cluster";
const ADDONS: &str = "cozystack.io/target-cluster-name=computeplane-cluster";
const POOL_RELEASES: &str = "apps.cozystack.io/application.kind=KubernetesNodes";

/// What is looked at.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Looking<'a> {
    /// Namespaces asked for or found; unused with `all`.
    pub namespaces: &'a [String],
    /// The whole cluster was asked for.
    pub all: bool,
    /// Namespace of the plane that is open.
    pub open: Option<&'a str>,
}

/// Up to this many namespaces everything about each is followed; above, details come only with an open plane.
const FEW: usize = 3;

/// The whole wish list.
pub fn wanted(looking: &Looking<'_>) -> Vec<Subscription> {
    let mut out = Vec::new();
    if looking.all {
        fleet(&mut out);
    } else {
        for ns in looking.namespaces {
            namespace(&mut out, ns);
        }
        for ns in parents(looking.namespaces) {
            let scope = Scope::Namespace(ns);
            out.push(Subscription { kind: Kind::Tenant, scope: scope.clone(), selector: Selector::all() });
            for child in looking.namespaces.iter().filter(|c| Some(scope_name(&scope)) == parent_of(c).as_deref()) {
                out.push(Subscription { kind: Kind::HelmRelease, scope: scope.clone(), selector: Selector::name(&tenant_release(child)) });
            }
        }
        out.push(Subscription { kind: Kind::TenantNamespace, scope: Scope::All, selector: Selector::all() });
    }
    let few = !looking.all && looking.namespaces.len() <= FEW;
    let detailed: Vec<&str> =
        if few { looking.namespaces.iter().map(String::as_str).collect() } else { looking.open.into_iter().collect() };
    for ns in &detailed {
        details(&mut out, ns);
    }
    if let Some(ns) = looking.open.filter(|ns| !detailed.contains(ns)) {
        details(&mut out, ns);
    }
    // Choices of the editor; only where one may be opened, since they are polled.
    out.extend(looking.open.map(|ns| plain(Kind::OptionList, &Scope::Namespace(ns.to_string()))));
    out
}

fn plain(kind: Kind, scope: &Scope) -> Subscription {
    Subscription { kind, scope: scope.clone(), selector: Selector::all() }
}

/// The fleet's kinds in the whole cluster, each narrowed to what belongs to planes.
fn fleet(out: &mut Vec<Subscription>) {
    let scope = Scope::All;
    let narrowed = |kind, selector| Subscription { kind, scope: Scope::All, selector };
    out.push(plain(Kind::ComputePlane, &scope));
    out.push(narrowed(Kind::HelmRelease, Selector::name(MODULE)));
    out.push(narrowed(Kind::HelmRelease, Selector::name(CLUSTER)));
    out.push(narrowed(Kind::Cluster, Selector::name(CLUSTER)));
    out.push(narrowed(Kind::TenantControlPlane, Selector::name(CLUSTER)));
    out.push(narrowed(Kind::KamajiControlPlane, Selector::name(CLUSTER)));
    out.push(plain(Kind::MachineDeployment, &scope));
    out.push(narrowed(Kind::ConfigMap, Selector::name(BEACON)));
    out.push(narrowed(Kind::HelmRelease, Selector::labels(POOL_RELEASES)));
    out.push(narrowed(Kind::HelmRelease, Selector::labels(ADDONS)));
    out.push(narrowed(Kind::Machine, Selector::labels(OF_CLUSTER)));
    out.push(plain(Kind::WorkloadMonitor, &scope));
    out.push(plain(Kind::Tenant, &scope));
    out.push(plain(Kind::TenantNamespace, &scope));
    out.push(plain(Kind::DataStore, &scope));
    out.push(narrowed(Kind::MachineSet, Selector::labels(OF_CLUSTER)));
    out.push(narrowed(Kind::MachineHealthCheck, Selector::labels(OF_CLUSTER)));
}

/// What the home list needs of one namespace.
fn namespace(out: &mut Vec<Subscription>, ns: &str) {
    let scope = Scope::Namespace(ns.to_string());
    let kinds = [
        Kind::ComputePlane,
        Kind::HelmRelease,
        Kind::Cluster,
        Kind::TenantControlPlane,
        Kind::KamajiControlPlane,
        Kind::MachineDeployment,
        Kind::WorkloadMonitor,
        Kind::Machine,
        Kind::MachineSet,
        Kind::MachineHealthCheck,
    ];
    out.extend(kinds.into_iter().map(|k| plain(k, &scope)));
    out.push(Subscription { kind: Kind::ConfigMap, scope, selector: Selector::name(BEACON) });
}

/// What only an open plane needs.
fn details(out: &mut Vec<Subscription>, ns: &str) {
    let scope = Scope::Namespace(ns.to_string());
    let kinds = [
        Kind::KubevirtMachine,
        Kind::Pod,
        Kind::Event,
        Kind::ResourceQuota,
        Kind::Workload,
        Kind::VirtualMachine,
        Kind::DataVolume,
        Kind::TenantModule,
    ];
    out.extend(kinds.into_iter().map(|k| plain(k, &scope)));
}

fn scope_name(scope: &Scope) -> &str {
    match scope {
        Scope::All => "",
        Scope::Namespace(ns) => ns,
    }
}

/// The parent of a tenant namespace: `tenant-a-b` → `tenant-a`, `tenant-a` → `tenant-root`.
pub fn parent_of(namespace: &str) -> Option<String> {
    let name = namespace.strip_prefix("tenant-")?;
    match name.rsplit_once('-') {
        Some((parent, _)) => Some(format!("tenant-{parent}")),
        None if name != "root" => Some("tenant-root".to_string()),
        None => None,
    }
}

/// The release in the parent's namespace that speaks for a tenant namespace: `tenant-a-b` → `tenant-b`.
fn tenant_release(namespace: &str) -> String {
    let last = namespace.rsplit('-').next().unwrap_or(namespace);
    format!("tenant-{last}")
}

fn parents(namespaces: &[String]) -> Vec<String> {
    let mut out: Vec<String> = namespaces.iter().filter_map(|n| parent_of(n)).collect();
    out.sort();
    out.dedup();
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(l: &Looking<'_>) -> Vec<(Kind, Scope)> {
        wanted(l).into_iter().map(|s| (s.kind, s.scope)).collect()
    }

    #[test]
    fn cluster_scope_only_when_asked_for() {
        let names = vec!["tenant-a".to_string()];
        let narrow = kinds(&Looking { namespaces: &names, all: false, open: None });
        let wide: Vec<Kind> = narrow.iter().filter(|(_, s)| *s == Scope::All).map(|(k, _)| *k).collect();
        assert_eq!(wide, [Kind::TenantNamespace], "the filtered list that any tenant may read is the only exception");
        assert!(kinds(&Looking { namespaces: &[], all: true, open: None }).iter().all(|(_, s)| *s == Scope::All));
    }

    #[test]
    fn details_follow_the_open_plane_in_a_fleet() {
        let open = kinds(&Looking { namespaces: &[], all: true, open: Some("tenant-x") });
        assert!(open.contains(&(Kind::Event, Scope::Namespace("tenant-x".into()))));
        assert!(!kinds(&Looking { namespaces: &[], all: true, open: None }).iter().any(|(k, _)| *k == Kind::Event));
    }

    #[test]
    fn nothing_is_followed_twice() {
        let names: Vec<String> = ["tenant-a", "tenant-a-b", "tenant-c"].map(String::from).to_vec();
        for open in [None, Some("tenant-a")] {
            let all = wanted(&Looking { namespaces: &names, all: false, open });
            let set: std::collections::BTreeSet<_> = all.iter().collect();
            assert_eq!(set.len(), all.len());
        }
    }

    #[test]
    fn parents_by_name() {
        assert_eq!(parent_of("tenant-a-b").as_deref(), Some("tenant-a"));
        assert_eq!(parent_of("tenant-a").as_deref(), Some("tenant-root"));
        assert_eq!(parent_of("tenant-root"), None);
        assert_eq!(parent_of("default"), None);
        assert_eq!(tenant_release("tenant-a-b"), "tenant-b");
    }
}
