//! Messages as real controllers and charts write them, and near misses.

use super::*;

#[test]
fn the_guard_sentence_is_cut_out() {
    for (text, want) in [
        (
            "Helm install failed for release tenant-lab/computeplane-cluster with chart kubernetes@0.0.0+4b57: execution error at (kubernetes/templates/cluster.yaml:637:8): nodeGroup gpu: specified instanceType \"u9.huge\" not found in cluster",
            "nodeGroup gpu: specified instanceType \"u9.huge\" not found in cluster",
        ),
        (
            "Helm upgrade failed: execution error at (tenant/templates/computeplane.yaml:24:4): computeplane module is enabled, but the cozystack.computeplane-application package is not installed — it ships in the iaas bundle (set x)",
            "computeplane module is enabled, but the cozystack.computeplane-application package is not installed",
        ),
        (
            "Helm install failed for release tenant-blue/computeplane with chart computeplane@0.0.0+2: values don't meet the specifications of the schema(s) in the following chart(s):\ncomputeplane:\n- at '/nodeGroups/web': missing property 'diskSize'",
            "at nodeGroups/web: missing property 'diskSize'",
        ),
        (
            "Helm rollback to previous release tenant-flax/computeplane-cluster.v1 with chart kubernetes@0.1.0+d1 failed: release computeplane-cluster failed: client rate limiter Wait returned an error: rate: Wait(n=1) would exceed context deadline",
            "client rate limiter Wait returned an error: rate: Wait(n=1) would exceed context deadline",
        ),
        (
            "Helm upgrade failed for release a/b with chart c@1: template: kubernetes/templates/x.yaml:12:4: executing \"kubernetes/templates/x.yaml\" at <.Values.a.b.c>: nil pointer evaluating interface {}.c",
            "nil pointer evaluating interface {}.c (.Values.a.b.c in kubernetes/templates/x.yaml:12)",
        ),
        (
            "Helm upgrade failed: rendered manifests contain a resource that already exists. Unable to continue with update: ServiceAccount \"x\" in namespace \"y\" exists and cannot be imported into the current release: invalid ownership metadata",
            "ServiceAccount \"x\" in namespace \"y\" exists and cannot be imported into the current release: invalid ownership metadata",
        ),
        ("Helm install succeeded", "Helm install succeeded"),
        ("", ""),
    ] {
        assert_eq!(decisive(text), want);
    }
}

#[test]
fn struct_dumps_vanish() {
    let dump = format!("{{\"labels\":{{\"a\":\"b\"}},\"Spec\":{{{}}}}}", "\"X\":null,".repeat(3000));
    let text = format!(
        "Helm upgrade failed for release t/c with chart k@1: Job.batch \"computeplane-cluster-talos-reconcile-web\" is invalid: spec.template: Invalid value: {dump}: field is immutable"
    );
    assert_eq!(decisive(&text), "Job.batch \"computeplane-cluster-talos-reconcile-web\" is invalid: spec.template: field is immutable");
    assert_eq!(classify(&text).map(|r| r.class), Some("ImmutableField"));
    assert_eq!(pointer(&decisive(&text)).pool.as_deref(), Some("web"));
}

#[test]
fn event_noise_is_cleaned() {
    assert_eq!(flat("50%!c(MISSING) of\tx\n\ny\n\nLast Helm logs:\n\nz"), "50%c of x y");
}

#[test]
fn every_class_of_the_reference() {
    for (text, class) in [
        ("The name of the release MUST BE computeplane", "RenderRejected"),
        ("MachineDeployment \"x\" in namespace \"y\" is already managed by release \"z\"", "NameConflict"),
        ("refusing to render cluster", "NameConflict"),
        ("HelmChart 'cozy-system/tenant-a-x' is not ready: failed to download archive: 404 Not Found", "SourceNotReady"),
        ("chart pull error: failed to download chart for remote reference: could not get 'oci://r/x': denied", "SourceNotReady"),
        ("conversion webhook for cluster.x-k8s.io/v1beta1, Kind=Cluster failed: Post \"https://capi\": EOF", "WebhookUnreachable"),
        ("Internal error occurred: no endpoints available for service \"capi-webhook-service\"", "WebhookUnreachable"),
        ("create: failed to create: etcdserver: request is too large", "TooLarge"),
        ("Secret \"sh.helm.release.v1.x.v1\" is invalid: data: Too long: must have at most 1048576 bytes", "TooLarge"),
        ("create: failed to create: etcdserver: leader changed", "APIUnavailable"),
        ("the server is currently unable to handle the request (get apis)", "APIUnavailable"),
        (
            "Operation cannot be fulfilled on deployments.apps \"x\": the object has been modified; please apply your changes",
            "WriteConflict",
        ),
        ("Apply failed with 1 conflict: conflict with \"kubectl\" using apps/v1: .spec.replicas", "FieldConflict"),
        ("release x failed, and has been uninstalled due to atomic being set: context canceled", "Interrupted"),
        ("namespaces \"cozy-x\" not found", "NamespaceMissing"),
        ("unable to create new content in namespace x because it is being terminated", "NamespaceMissing"),
        ("Kubernetes cluster unreachable: the server has asked for the client to provide credentials", "CredentialsRefused"),
        ("Kubernetes cluster unreachable: Get \"https://x\": dial tcp: lookup x: no such host", "EndpointUnreachable"),
        ("timeout waiting for: [Deployment/a/b status: 'InProgress']", "ChildNotReady"),
        ("failed early due to stalled resources: [HelmRelease/a/b status: 'Failed']", "ChildNotReady"),
        ("failed post-install: failed early due to stalled resources: [Job/a/b status: 'Failed']", "HookFailed"),
        ("\"cilium\" has no deployed releases", "SelfHealing"),
        ("pre-upgrade hooks failed: job failed: BackoffLimitExceeded", "HookFailed"),
        ("Internal error occurred: failed calling webhook \"v.cdi.io\": Post \"https://x\": connection refused", "WebhookUnreachable"),
        (
            "admission webhook \"v\" denied the request: GPU nvidia.com/X is not permitted in permittedHostDevices configuration",
            "NotPermitted",
        ),
        ("admission webhook \"v\" denied the request: no", "AdmissionDenied"),
        ("configmaps \"x\" is forbidden: ValidatingAdmissionPolicy 'd' with binding 'd' denied request: no", "AdmissionDenied"),
        ("release: already exists", "TwoControllers"),
        ("another operation (install/upgrade/rollback) is in progress", "LockedPending"),
        ("could not get KubeConfig secret 'a/b': secrets \"b\" not found", "WaitingForKubeconfig"),
        ("Could not determine release state: Get \"https://x\": dial tcp: connect: connection refused", "EndpointUnreachable"),
        ("tls: failed to verify certificate: x509: certificate signed by unknown authority", "CertificateProblem"),
        ("pods \"x\" is forbidden: exceeded quota: q, requested: a=1", "QuotaBlocked"),
        ("no matches for kind \"X\" in version \"y\"", "CRDMissing"),
        ("could not resolve Secret chart values reference 'a/b' with key 'c': secrets \"b\" not found", "ValuesError"),
        (
            "configmaps is forbidden: User \"system:serviceaccount:a:b\" cannot create resource \"configmaps\" in API group \"\"",
            "Forbidden",
        ),
        (
            "Job.batch \"a_b\" is invalid: metadata.name: Invalid value: \"a_b\": a lowercase RFC 1123 subdomain must consist of",
            "InvalidName",
        ),
        ("client rate limiter Wait returned an error: rate: Wait(n=1) would exceed context deadline", "WaitTimeout"),
        ("could not get Source object: ExternalArtifact \"x\" not found", "SourceNotReady"),
        ("dependency 'a/b' is not ready", "DependencyWait"),
        ("unable to get 'a/b' dependency: helmreleases.helm.toolkit.fluxcd.io \"b\" not found", "DependencyMissing"),
    ] {
        assert_eq!(classify(text).map(|r| r.class), Some(class), "{text}");
    }
    assert!(classify("Helm install succeeded").is_none());
    assert!(classify("something new").is_none());
}

#[test]
fn pools_and_fields_are_named() {
    for (text, pool, field) in [
        ("nodeGroup gpu: specified instanceType \"u9.huge\" not found in cluster", Some("gpu"), Some("nodeGroups.gpu.instanceType")),
        ("computeplane: - at '/nodeGroups/web': missing property 'diskSize'", Some("web"), Some("nodeGroups.web.diskSize")),
        ("- at '/nodeGroups/web/gpus/0': got string, want object", Some("web"), Some("nodeGroups.web.gpus[0]")),
        ("nodeGroups.web.maxUnhealthy must be a bare integer", Some("web"), Some("nodeGroups.web.maxUnhealthy")),
        ("nodeGroup big-mem: invalid kubeReservedCpu value \"1e1\"", Some("big-mem"), Some("nodeGroups.big-mem.kubelet.kubeReservedCpu")),
        ("nodeGroup \"web\": ephemeralStorage is no longer supported", Some("web"), Some("nodeGroups.web.ephemeralStorage")),
        ("nodeGroup key \"aaa\" is 63 characters, at most 15 allowed", Some("aaa"), Some("nodeGroups.aaa")),
        ("computeplane: at least one nodeGroup must carry roles: [ingress-nginx] with maxReplicas >= 1", None, Some("nodeGroups")),
        ("HelmRelease \"kubernetes-nodes-computeplane-cluster-under_score\" is invalid: metadata.name", Some("under_score"), None),
        (
            "WorkloadMonitor.cozystack.io \"computeplane-cluster-db\" is invalid: spec.minReplicas: Invalid value: -2",
            Some("db"),
            Some("nodeGroups.db.minReplicas"),
        ),
        ("KubevirtMachineTemplate.infrastructure.cluster.x-k8s.io \"computeplane-cluster-web-18c63d\" is invalid", Some("web"), None),
        ("connection refused", None, None),
    ] {
        let p = pointer(text);
        assert_eq!((p.pool.as_deref(), p.field.as_deref()), (pool, field), "{text}");
    }
}

#[test]
fn wait_lists_become_objects() {
    let w = waits(
        "timeout waiting for: [HelmRelease/tenant-lab/computeplane-cluster status: 'InProgress', Deployment/cozy-cilium/cilium-operator status: 'Unknown']",
    );
    assert_eq!(
        w.iter().map(|x| (x.kind.as_str(), x.name.as_str(), x.status.as_str())).collect::<Vec<_>>(),
        [("HelmRelease", "computeplane-cluster", "InProgress"), ("Deployment", "cilium-operator", "Unknown")]
    );
    assert!(waits("timeout waiting for: []").is_empty());
    let named = waits("resource not ready, name: computeplane-cluster, kind: HelmRelease, status: InProgress context deadline exceeded");
    assert_eq!(named.iter().map(|w| (w.kind.as_str(), w.name.as_str())).collect::<Vec<_>>(), [("HelmRelease", "computeplane-cluster")]);
}
