//! A reading of requests of its own, written without the guard's table: why one should never have arrived. Must not know the product.

/// Paths of a resource may end in these only.
const RESOURCES: &str = "computeplanes kubernetesnodeses tenants tenantmodules tenantnamespaces options helmreleases workloadmonitors workloads \
    packages packagesources applicationdefinitions externalartifacts tenantcontrolplanes datastores kamajicontrolplanes clusters \
    machinedeployments machinesets machines machinehealthchecks kubevirtclusters kubevirtmachines virtualmachines virtualmachineinstances \
    datavolumes configmaps pods services events resourcequotas persistentvolumeclaims namespaces jobs deployments storageclasses roles \
    selfsubjectaccessreviews selfsubjectrulesreviews selfsubjectreviews";

/// Why a request should never have arrived.
pub fn fault(method: &str, uri: &str) -> Option<String> {
    let (path, query) = uri.split_once('?').unwrap_or((uri, ""));
    let parts: Vec<&str> = path.split('/').skip(1).collect();
    let odd = |p: &&str| p.is_empty() || *p == "." || *p == ".." || !p.bytes().all(|b| b.is_ascii_alphanumeric() || b"-._:".contains(&b));
    if parts.iter().any(odd) {
        return Some(format!("odd path {path}"));
    }
    let rest = match parts.as_slice() {
        ["api" | "apis" | "version"] | ["api", _] | ["apis", _, _] if method == "GET" => return None,
        ["api", _, rest @ ..] | ["apis", _, _, rest @ ..] => rest,
        _ => return Some(format!("no API path {path}")),
    };
    let (resource, name) = match rest {
        ["namespaces", _, resource] | [resource] => (*resource, None),
        ["namespaces", _, resource, name] | [resource, name] => (*resource, Some(*name)),
        _ => return Some(format!("too deep {path}")),
    };
    if !RESOURCES.split_whitespace().any(|r| r == resource) {
        return Some(format!("resource {resource}"));
    }
    if query.to_ascii_lowercase().contains("dryrun") || query.to_ascii_lowercase().contains("%64ryrun") {
        return Some(format!("query {query}"));
    }
    let beacon = name == Some("computeplane-cluster-awaiting-etcd");
    let selectors: Vec<&str> = query.split('&').filter(|p| p.to_ascii_lowercase().contains("fieldselector")).collect();
    if resource == "configmaps" && !beacon && selectors != ["fieldSelector=metadata.name%3Dcomputeplane-cluster-awaiting-etcd"] {
        return Some("configmaps other than the beacon".into());
    }
    if resource == "roles" && name != Some("computeplane-cluster-dashboard-resources") {
        return Some("roles other than the credential's".into());
    }
    match method {
        "GET" => None,
        "POST" if resource.starts_with("selfsubject") && name.is_none() => None,
        "PATCH" if resource == "computeplanes" && name.is_some() && parts.contains(&"namespaces") => None,
        other => Some(format!("{other} {path}")),
    }
}
