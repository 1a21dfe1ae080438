//! The allowlist: every request that the console can ever make, one row each, with what it is for. What has no row is refused.
//! The README's table is generated from here. Rows only: the reading of requests is the guard's.

use crate::model::{Kind, kind::KINDS, verdict::Layer};

/// Which objects of a resource a row speaks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Names {
    /// Any.
    Any,
    /// Only this one: by path, or by a field selector on the name.
    Only(&'static str),
}

/// One row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Row {
    /// Verbs, as RBAC names them.
    pub verbs: &'static [&'static str],
    /// API group; empty for core.
    pub group: &'static str,
    /// Plural resource.
    pub resource: &'static str,
    /// Subresource; empty for none.
    pub subresource: &'static str,
    /// Which names.
    pub names: Names,
    /// Only outside read-only mode.
    pub writes: bool,
    /// What the console uses it for.
    pub used_for: &'static str,
    /// The layer that goes dark or dim without it.
    pub layer: Option<Layer>,
}

const READ: &[&str] = &["get", "list", "watch"];

const fn read(group: &'static str, resource: &'static str, used_for: &'static str, layer: Layer) -> Row {
    Row { verbs: READ, group, resource, subresource: "", names: Names::Any, writes: false, used_for, layer: Some(layer) }
}

const fn review(group: &'static str, resource: &'static str, used_for: &'static str) -> Row {
    Row { verbs: &["create"], group, resource, subresource: "", names: Names::Any, writes: false, used_for, layer: None }
}

pub use crate::model::access::BEACON;

/// Every row.
#[rustfmt::skip]
pub const ROWS: &[Row] = &[
    read("apps.cozystack.io", "computeplanes", "the planes and their nodeGroups", Layer::Module),
    Row { verbs: &["patch"], writes: true, ..read("apps.cozystack.io", "computeplanes", "writing a confirmed edit of nodeGroups", Layer::Module) },
    read("apps.cozystack.io", "kubernetesnodeses", "pools as applications (split layout)", Layer::Pools),
    read("apps.cozystack.io", "tenants", "whether the tenant has the module switched on", Layer::Tenant),
    read("core.cozystack.io", "tenantmodules", "the module as the tenant's list shows it", Layer::Module),
    read("core.cozystack.io", "tenantnamespaces", "which namespaces are yours, and which etcd serves them", Layer::Tenant),
    read("core.cozystack.io", "options", "instance types, storage classes and GPUs on offer", Layer::Pools),
    read("helm.toolkit.fluxcd.io", "helmreleases", "the releases behind module, cluster, pools and addons", Layer::Cluster),
    read("cozystack.io", "workloadmonitors", "second-best evidence for control plane and workers", Layer::Workers),
    read("cozystack.io", "workloads", "second-best evidence for workers", Layer::Workers),
    read("cozystack.io", "packages", "whether the platform has the module's package", Layer::Tenant),
    read("cozystack.io", "packagesources", "where a package comes from", Layer::Tenant),
    read("cozystack.io", "applicationdefinitions", "the served schema of nodeGroups", Layer::Module),
    read("source.toolkit.fluxcd.io", "externalartifacts", "whether a chart can be loaded", Layer::Cluster),
    read("kamaji.clastix.io", "tenantcontrolplanes", "the control plane", Layer::ControlPlane),
    read("kamaji.clastix.io", "datastores", "the etcd behind the control plane", Layer::ControlPlane),
    read("controlplane.cluster.x-k8s.io", "kamajicontrolplanes", "the control plane's progress", Layer::ControlPlane),
    read("cluster.x-k8s.io", "clusters", "the cluster", Layer::ControlPlane),
    read("cluster.x-k8s.io", "machinedeployments", "the pools' machines, wanted and ready", Layer::Workers),
    read("cluster.x-k8s.io", "machinesets", "rollouts and blocked machines", Layer::Workers),
    read("cluster.x-k8s.io", "machines", "single machines", Layer::Workers),
    read("cluster.x-k8s.io", "machinehealthchecks", "whether broken machines are replaced", Layer::Workers),
    read("infrastructure.cluster.x-k8s.io", "kubevirtclusters", "the infrastructure object", Layer::Workers),
    read("infrastructure.cluster.x-k8s.io", "kubevirtmachines", "why a VM isn't there", Layer::Workers),
    read("kubevirt.io", "virtualmachines", "the VMs of workers", Layer::Workers),
    read("kubevirt.io", "virtualmachineinstances", "running VMs", Layer::Workers),
    read("cdi.kubevirt.io", "datavolumes", "the disks of workers", Layer::Workers),
    Row { names: Names::Only(BEACON), ..read("", "configmaps", "the awaiting-etcd beacon, by its name only", Layer::Cluster) },
    read("", "pods", "second-best evidence for control plane and workers", Layer::Workers),
    read("", "services", "the control plane's address", Layer::ControlPlane),
    read("", "events", "what happened to objects that may not be read", Layer::Cluster),
    read("", "resourcequotas", "whether the tenant's quota is used up", Layer::Workers),
    read("", "persistentvolumeclaims", "the disks of workers", Layer::Workers),
    Row { verbs: &["list", "watch"], ..read("", "namespaces", "namespaces, only with -A", Layer::Tenant) },
    read("batch", "jobs", "hooks of the cluster release", Layer::Cluster),
    read("apps", "deployments", "the control plane's deployment", Layer::ControlPlane),
    read("storage.k8s.io", "storageclasses", "storage classes on offer", Layer::Pools),
    Row { verbs: &["get"], names: Names::Only(crate::model::access::CREDENTIAL_ROLE), layer: None, ..read("rbac.authorization.k8s.io", "roles", "evidence about the credential boundary (holds names only)", Layer::Tenant) },
    review("authorization.k8s.io", "selfsubjectaccessreviews", "asking what this identity may do"),
    review("authorization.k8s.io", "selfsubjectrulesreviews", "asking what this identity may do"),
    review("authentication.k8s.io", "selfsubjectreviews", "asking who this identity is"),
];

/// The row that a kind's reads go through; every kind of the model that is followed has one.
pub fn row_of(kind: Kind) -> Option<&'static Row> {
    let info = KINDS.iter().find(|k| k.kind == kind)?;
    ROWS.iter().find(|r| r.group == info.group && r.resource == info.plural && !r.writes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_a_row_and_no_row_is_a_secret() {
        for k in KINDS {
            // A TalosConfig carries a credential in its status: it is understood in dumps and never asked for.
            assert_eq!(row_of(k.kind).is_some(), k.kind != Kind::TalosConfig, "{:?}", k.kind);
        }
        for r in ROWS {
            assert!(!r.resource.contains("secret"), "{r:?}");
            assert!(r.subresource.is_empty(), "{r:?}");
            assert!(r.writes == r.verbs.contains(&"patch"), "{r:?}");
        }
    }
}
