//! The resources the embedded platform serves: groups, plurals, versions and which manners answer for them.
//! Owns the table; must not hold objects.

/// Who answers for a resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Manner {
    /// Stored and watched like any custom resource.
    Ordinary,
    /// Shown out of the HelmRelease (`platform.md` 4).
    Plane,
    /// An application kind nobody uses here: lists are empty.
    NoApps,
    /// The applications behind pool releases, read-only here.
    Pools,
    /// Namespaces filtered by the caller.
    TenantNamespaces,
    /// Choices for form fields.
    Options,
    /// HelmReleases of modules, read-only.
    TenantModules,
    /// Secrets with their values. Here so that a guard can be shown to refuse them.
    TenantSecrets,
    /// Only `create`, answered from the roles.
    Review,
}

/// One resource.
#[derive(Debug)]
pub(crate) struct Resource {
    pub group: &'static str,
    pub version: &'static str,
    pub plural: &'static str,
    pub kind: &'static str,
    pub namespaced: bool,
    pub manner: Manner,
}

impl PartialEq for Resource {
    fn eq(&self, other: &Self) -> bool {
        self.group == other.group && self.plural == other.plural
    }
}

impl Resource {
    /// `apiVersion` as objects carry it.
    pub fn api_version(&self) -> String {
        if self.group.is_empty() { self.version.to_string() } else { format!("{}/{}", self.group, self.version) }
    }

    /// `plural.group` as messages of the API server write it.
    pub fn qualified(&self) -> String {
        if self.group.is_empty() { self.plural.to_string() } else { format!("{}.{}", self.plural, self.group) }
    }

    /// The verbs discovery offers.
    pub fn verbs(&self) -> &'static [&'static str] {
        match self.manner {
            Manner::Ordinary => &["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"],
            Manner::Plane | Manner::NoApps | Manner::Pools | Manner::TenantSecrets => {
                &["create", "delete", "get", "list", "patch", "update", "watch"]
            }
            Manner::TenantNamespaces | Manner::Options | Manner::TenantModules => &["get", "list", "watch"],
            Manner::Review => &["create"],
        }
    }

    /// Singular name.
    pub fn singular(&self) -> String {
        self.kind.to_lowercase()
    }
}

const fn ns(group: &'static str, version: &'static str, plural: &'static str, kind: &'static str) -> Resource {
    Resource { group, version, plural, kind, namespaced: true, manner: Manner::Ordinary }
}
const fn cl(group: &'static str, version: &'static str, plural: &'static str, kind: &'static str) -> Resource {
    Resource { group, version, plural, kind, namespaced: false, manner: Manner::Ordinary }
}
const fn odd(group: &'static str, plural: &'static str, kind: &'static str, manner: Manner) -> Resource {
    let namespaced = !matches!(manner, Manner::TenantNamespaces);
    Resource { group, version: "v1alpha1", plural, kind, namespaced, manner }
}
const fn review(group: &'static str, plural: &'static str, kind: &'static str) -> Resource {
    Resource { group, version: "v1", plural, kind, namespaced: false, manner: Manner::Review }
}

pub(crate) const APPS: &str = "apps.cozystack.io";
pub(crate) const CORE: &str = "core.cozystack.io";
pub(crate) const FLUX: &str = "helm.toolkit.fluxcd.io";
pub(crate) const CAPI: &str = "cluster.x-k8s.io";

/// Everything served. Versions are those of the recorded platform (`status.md` 0.1, `recorded/README.md`).
#[rustfmt::skip]
pub(crate) static RESOURCES: &[Resource] = &[
    ns("", "v1", "configmaps", "ConfigMap"),
    ns("", "v1", "endpoints", "Endpoints"),
    ns("", "v1", "events", "Event"),
    ns("", "v1", "limitranges", "LimitRange"),
    cl("", "v1", "namespaces", "Namespace"),
    cl("", "v1", "nodes", "Node"),
    ns("", "v1", "persistentvolumeclaims", "PersistentVolumeClaim"),
    cl("", "v1", "persistentvolumes", "PersistentVolume"),
    ns("", "v1", "pods", "Pod"),
    ns("", "v1", "resourcequotas", "ResourceQuota"),
    ns("", "v1", "secrets", "Secret"),
    ns("", "v1", "serviceaccounts", "ServiceAccount"),
    ns("", "v1", "services", "Service"),
    odd(APPS, "computeplanes", "ComputePlane", Manner::Plane),
    odd(APPS, "etcds", "Etcd", Manner::NoApps),
    odd(APPS, "infos", "Info", Manner::NoApps),
    odd(APPS, "kuberneteses", "Kubernetes", Manner::NoApps),
    odd(APPS, "kubernetesnodeses", "KubernetesNodes", Manner::Pools),
    odd(APPS, "tenants", "Tenant", Manner::NoApps),
    odd(CORE, "options", "Option", Manner::Options),
    odd(CORE, "tenantmodules", "TenantModule", Manner::TenantModules),
    odd(CORE, "tenantnamespaces", "TenantNamespace", Manner::TenantNamespaces),
    odd(CORE, "tenantsecrets", "TenantSecret", Manner::TenantSecrets),
    ns("apps", "v1", "deployments", "Deployment"),
    review("authentication.k8s.io", "selfsubjectreviews", "SelfSubjectReview"),
    review("authorization.k8s.io", "selfsubjectaccessreviews", "SelfSubjectAccessReview"),
    review("authorization.k8s.io", "selfsubjectrulesreviews", "SelfSubjectRulesReview"),
    ns("batch", "v1", "jobs", "Job"),
    ns("bootstrap.cluster.x-k8s.io", "v1alpha3", "talosconfigs", "TalosConfig"),
    ns("cdi.kubevirt.io", "v1beta1", "datavolumes", "DataVolume"),
    ns(CAPI, "v1beta1", "clusters", "Cluster"),
    ns(CAPI, "v1beta1", "machinedeployments", "MachineDeployment"),
    ns(CAPI, "v1beta1", "machinehealthchecks", "MachineHealthCheck"),
    ns(CAPI, "v1beta1", "machines", "Machine"),
    ns(CAPI, "v1beta1", "machinesets", "MachineSet"),
    ns("controlplane.cluster.x-k8s.io", "v1alpha1", "kamajicontrolplanes", "KamajiControlPlane"),
    cl("cozystack.io", "v1alpha1", "applicationdefinitions", "ApplicationDefinition"),
    cl("cozystack.io", "v1alpha1", "packages", "Package"),
    cl("cozystack.io", "v1alpha1", "packagesources", "PackageSource"),
    ns("cozystack.io", "v1alpha1", "workloadmonitors", "WorkloadMonitor"),
    ns("cozystack.io", "v1alpha1", "workloads", "Workload"),
    ns(FLUX, "v2", "helmreleases", "HelmRelease"),
    ns("infrastructure.cluster.x-k8s.io", "v1alpha1", "kubevirtclusters", "KubevirtCluster"),
    ns("infrastructure.cluster.x-k8s.io", "v1alpha1", "kubevirtmachines", "KubevirtMachine"),
    cl("kamaji.clastix.io", "v1alpha1", "datastores", "DataStore"),
    ns("kamaji.clastix.io", "v1alpha1", "tenantcontrolplanes", "TenantControlPlane"),
    ns("kubevirt.io", "v1", "virtualmachineinstances", "VirtualMachineInstance"),
    ns("kubevirt.io", "v1", "virtualmachines", "VirtualMachine"),
    ns("rbac.authorization.k8s.io", "v1", "rolebindings", "RoleBinding"),
    ns("rbac.authorization.k8s.io", "v1", "roles", "Role"),
    ns("source.toolkit.fluxcd.io", "v1", "externalartifacts", "ExternalArtifact"),
    cl("storage.k8s.io", "v1", "storageclasses", "StorageClass"),
];

/// The resource behind a group and plural.
pub(crate) fn find(group: &str, plural: &str) -> Option<&'static Resource> {
    RESOURCES.iter().find(|r| r.group == group && r.plural == plural)
}

/// The resource behind `apiVersion` and `kind` of an object.
pub(crate) fn of_kind(api_version: &str, kind: &str) -> Option<&'static Resource> {
    let group = api_version.split_once('/').map_or("", |(g, _)| g);
    RESOURCES.iter().find(|r| r.group == group && r.kind == kind)
}

/// The named groups with their version, in order, without the core group.
pub(crate) fn groups() -> Vec<(&'static str, &'static str)> {
    let mut all: Vec<_> = RESOURCES.iter().filter(|r| !r.group.is_empty()).map(|r| (r.group, r.version)).collect();
    all.dedup();
    all
}
