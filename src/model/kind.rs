//! The kinds the console may read, with their groups, plural names and the versions it can parse, newest wish first.
//! Owns the table; must not decide who watches what.

use serde::{Deserialize, Serialize};

/// Every kind of object that planedeck knows how to project.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[allow(missing_docs)] // the names are the platform's own
pub enum Kind {
    ComputePlane,
    KubernetesNodes,
    Tenant,
    TenantModule,
    TenantNamespace,
    OptionList,
    HelmRelease,
    WorkloadMonitor,
    Workload,
    Package,
    PackageSource,
    ExternalArtifact,
    TenantControlPlane,
    DataStore,
    KamajiControlPlane,
    Cluster,
    MachineDeployment,
    MachineSet,
    Machine,
    MachineHealthCheck,
    KubevirtCluster,
    KubevirtMachine,
    TalosConfig,
    VirtualMachine,
    VirtualMachineInstance,
    DataVolume,
    ConfigMap,
    Pod,
    Service,
    Event,
    ResourceQuota,
    PersistentVolumeClaim,
    Namespace,
    Job,
    Deployment,
    StorageClass,
    ApplicationDefinition,
    Role,
}

/// One row of the kind table.
#[derive(Debug, Clone, Copy)]
pub struct KindInfo {
    /// The kind.
    pub kind: Kind,
    /// API group; empty for core.
    pub group: &'static str,
    /// Plural resource name, as in URLs.
    pub plural: &'static str,
    /// `kind:` as it stands in objects.
    pub name: &'static str,
    /// Versions the projections can parse, preferred first.
    pub versions: &'static [&'static str],
    /// False for cluster-scoped kinds.
    pub namespaced: bool,
    /// True for the aggregated API, whose watch loses deletions (`platform.md` 4): re-list on every connect.
    pub synthesized: bool,
}

const fn row(
    kind: Kind,
    group: &'static str,
    (plural, name): (&'static str, &'static str),
    versions: &'static [&'static str],
    namespaced: bool,
) -> KindInfo {
    KindInfo { kind, group, plural, name, versions, namespaced, synthesized: false }
}
const fn synth(kind: Kind, group: &'static str, plural: &'static str, name: &'static str, namespaced: bool) -> KindInfo {
    KindInfo { kind, group, plural, name, versions: &["v1alpha1"], namespaced, synthesized: true }
}

/// All kinds. Versions: `status.md` 0.1.
#[rustfmt::skip]
pub const KINDS: &[KindInfo] = &[
    synth(Kind::ComputePlane, "apps.cozystack.io", "computeplanes", "ComputePlane", true),
    synth(Kind::KubernetesNodes, "apps.cozystack.io", "kubernetesnodeses", "KubernetesNodes", true),
    synth(Kind::Tenant, "apps.cozystack.io", "tenants", "Tenant", true),
    synth(Kind::TenantModule, "core.cozystack.io", "tenantmodules", "TenantModule", true),
    synth(Kind::TenantNamespace, "core.cozystack.io", "tenantnamespaces", "TenantNamespace", false),
    synth(Kind::OptionList, "core.cozystack.io", "options", "Option", true),
    row(Kind::HelmRelease, "helm.toolkit.fluxcd.io", ("helmreleases", "HelmRelease"), &["v2", "v2beta2"], true),
    row(Kind::WorkloadMonitor, "cozystack.io", ("workloadmonitors", "WorkloadMonitor"), &["v1alpha1"], true),
    row(Kind::Workload, "cozystack.io", ("workloads", "Workload"), &["v1alpha1"], true),
    row(Kind::Package, "cozystack.io", ("packages", "Package"), &["v1alpha1"], false),
    row(Kind::PackageSource, "cozystack.io", ("packagesources", "PackageSource"), &["v1alpha1"], false),
    row(Kind::ApplicationDefinition, "cozystack.io", ("applicationdefinitions", "ApplicationDefinition"), &["v1alpha1"], false),
    row(Kind::ExternalArtifact, "source.toolkit.fluxcd.io", ("externalartifacts", "ExternalArtifact"), &["v1"], true),
    row(Kind::TenantControlPlane, "kamaji.clastix.io", ("tenantcontrolplanes", "TenantControlPlane"), &["v1alpha1"], true),
    row(Kind::DataStore, "kamaji.clastix.io", ("datastores", "DataStore"), &["v1alpha1"], false),
    row(Kind::KamajiControlPlane, "controlplane.cluster.x-k8s.io", ("kamajicontrolplanes", "KamajiControlPlane"), &["v1alpha2", "v1alpha1"], true),
    row(Kind::Cluster, "cluster.x-k8s.io", ("clusters", "Cluster"), &["v1beta2", "v1beta1"], true),
    row(Kind::MachineDeployment, "cluster.x-k8s.io", ("machinedeployments", "MachineDeployment"), &["v1beta2", "v1beta1"], true),
    row(Kind::MachineSet, "cluster.x-k8s.io", ("machinesets", "MachineSet"), &["v1beta2", "v1beta1"], true),
    row(Kind::Machine, "cluster.x-k8s.io", ("machines", "Machine"), &["v1beta2", "v1beta1"], true),
    row(Kind::MachineHealthCheck, "cluster.x-k8s.io", ("machinehealthchecks", "MachineHealthCheck"), &["v1beta2", "v1beta1"], true),
    row(Kind::KubevirtCluster, "infrastructure.cluster.x-k8s.io", ("kubevirtclusters", "KubevirtCluster"), &["v1alpha1"], true),
    row(Kind::KubevirtMachine, "infrastructure.cluster.x-k8s.io", ("kubevirtmachines", "KubevirtMachine"), &["v1alpha1"], true),
    row(Kind::TalosConfig, "bootstrap.cluster.x-k8s.io", ("talosconfigs", "TalosConfig"), &["v1beta1", "v1alpha3", "v1alpha2"], true),
    row(Kind::VirtualMachine, "kubevirt.io", ("virtualmachines", "VirtualMachine"), &["v1"], true),
    row(Kind::VirtualMachineInstance, "kubevirt.io", ("virtualmachineinstances", "VirtualMachineInstance"), &["v1"], true),
    row(Kind::DataVolume, "cdi.kubevirt.io", ("datavolumes", "DataVolume"), &["v1beta1"], true),
    row(Kind::ConfigMap, "", ("configmaps", "ConfigMap"), &["v1"], true),
    row(Kind::Pod, "", ("pods", "Pod"), &["v1"], true),
    row(Kind::Service, "", ("services", "Service"), &["v1"], true),
    row(Kind::Event, "", ("events", "Event"), &["v1"], true),
    row(Kind::ResourceQuota, "", ("resourcequotas", "ResourceQuota"), &["v1"], true),
    row(Kind::PersistentVolumeClaim, "", ("persistentvolumeclaims", "PersistentVolumeClaim"), &["v1"], true),
    row(Kind::Namespace, "", ("namespaces", "Namespace"), &["v1"], false),
    row(Kind::Job, "batch", ("jobs", "Job"), &["v1"], true),
    row(Kind::Deployment, "apps", ("deployments", "Deployment"), &["v1"], true),
    row(Kind::StorageClass, "storage.k8s.io", ("storageclasses", "StorageClass"), &["v1"], false),
    row(Kind::Role, "rbac.authorization.k8s.io", ("roles", "Role"), &["v1"], true),
];

impl Kind {
    /// The table row of this kind.
    pub fn info(self) -> &'static KindInfo {
        // Every variant has a row (a test holds it); this is the harmless answer for a table broken by an edit.
        static FALLBACK: KindInfo = row(Kind::Namespace, "", ("namespaces", "Namespace"), &["v1"], false);
        KINDS.iter().find(|k| k.kind == self).unwrap_or(&FALLBACK)
    }

    /// The kind that `apiVersion` and `kind` of an object name, whatever its version.
    pub fn of(api_version: &str, name: &str) -> Option<Kind> {
        let group = api_version.split_once('/').map_or("", |(g, _)| g);
        KINDS.iter().find(|k| k.group == group && k.name == name).map(|k| k.kind)
    }

    /// The kind behind a group and plural resource name, as in `details` of a `Status`.
    pub fn of_resource(group: &str, plural: &str) -> Option<Kind> {
        KINDS.iter().find(|k| k.group == group && k.plural == plural).map(|k| k.kind)
    }

    /// `plural.group`, as kubectl and the coverage line write it; only the plural for core kinds.
    pub fn resource(self) -> String {
        let i = self.info();
        if i.group.is_empty() { i.plural.to_string() } else { format!("{}.{}", i.plural, i.group) }
    }
}

/// Where a list or watch looks.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Scope {
    /// The whole cluster (only when the user asked for all namespaces, or the kind has no namespace).
    All,
    /// One namespace.
    Namespace(String),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_variant_has_a_row() {
        // The last variant of the enum: its number is the count of the others.
        assert_eq!(KINDS.len(), Kind::Role as usize + 1);
    }

    #[test]
    fn every_row_is_found_by_its_names() {
        for k in KINDS {
            assert_eq!(k.kind.info().plural, k.plural);
            let av = if k.group.is_empty() { "v1".to_string() } else { format!("{}/{}", k.group, k.versions[0]) };
            assert_eq!(Kind::of(&av, k.name), Some(k.kind));
            assert_eq!(Kind::of_resource(k.group, k.plural), Some(k.kind));
        }
    }
}
