//! Rows of the control plane, each with a near miss, on recordings with a moved clock and on small objects.

use jiff::SignedDuration;

use super::*;
use crate::{
    health::{deadlines::Deadlines, tests},
    model::{Time, World, verdict::LayerVerdict},
};
use State as S;

const NS: &str = "tenant-acme";

fn now() -> Time {
    "2026-09-01T12:00:00Z".parse().unwrap()
}

fn judged_at(world: &World, namespace: &str, now: Time) -> LayerVerdict {
    let deadlines = Deadlines::default();
    judge(&View { world, namespace, now, deadlines: &deadlines }).remove(0)
}

/// The verdict on small objects; `complete` = what isn't there doesn't exist.
fn of(docs: &[String], complete: bool) -> LayerVerdict {
    judged_at(&tests::world(&docs.concat(), complete), NS, now())
}

/// A recording, its clock moved on by minutes.
fn later(file: &str, namespace: &str, minutes: i64) -> LayerVerdict {
    let yaml = tests::data(&format!("recorded/{file}.yaml"));
    let read: Time = yaml.split("# Read at: ").nth(1).unwrap().split(' ').next().unwrap().parse().unwrap();
    judged_at(&tests::world(&yaml, true), namespace, read + SignedDuration::from_mins(minutes))
}

fn doc(api: &str, kind: &str, meta: &str, rest: &str) -> String {
    let name = if meta.starts_with("name:") { String::new() } else { "name: computeplane-cluster, ".to_string() };
    format!("---\n{{apiVersion: {api}, kind: {kind}, metadata: {{{name}namespace: {NS}, {meta}}}, {rest}}}\n")
}

fn tcp(created: &str, version: &str, status: &str, ready: i64) -> String {
    doc(
        "kamaji.clastix.io/v1alpha1",
        "TenantControlPlane",
        &format!("creationTimestamp: '{created}', generation: 1"),
        &format!(
            "spec: {{kubernetes: {{version: v1.34.0}}, dataStore: tenant-root, controlPlane: {{deployment: {{replicas: 2}}}}}}, status: {{observedGeneration: 1, kubernetesResources: {{version: {{version: '{version}', status: {status}}}, deployment: {{replicas: 2, readyReplicas: {ready}}}}}}}"
        ),
    )
}

const OLD: &str = "2026-08-01T00:00:00Z";

fn running(status: &str, ready: i64) -> String {
    tcp(OLD, "v1.33.1", status, ready)
}

fn monitor(available: i64) -> String {
    doc(
        "cozystack.io/v1alpha1",
        "WorkloadMonitor",
        &format!("creationTimestamp: '{OLD}'"),
        &format!(
            "spec: {{type: control-plane, minReplicas: 1, replicas: 2}}, status: {{operational: true, availableReplicas: {available}, observedReplicas: 2}}"
        ),
    )
}

fn provider(version: &str, conditions: &str, more: &str) -> String {
    doc(
        &format!("controlplane.cluster.x-k8s.io/{version}"),
        "KamajiControlPlane",
        "generation: 1, creationTimestamp: '2026-09-01T11:56:00Z', ownerReferences: [{kind: Cluster, name: computeplane-cluster, uid: u}]",
        &format!("spec: {{version: v1.36.0, replicas: 2, dataStoreName: tenant-root}}, status: {{{more}, conditions: [{conditions}]}}"),
    )
}

fn cluster(rest: &str) -> String {
    doc("cluster.x-k8s.io/v1beta1", "Cluster", &format!("generation: 1, creationTimestamp: '{OLD}'"), rest)
}

#[test]
fn each_word_of_kamaji() {
    for (status, ready, state) in [
        ("Ready", 2, S::Ready),
        ("NotReady", 0, S::ControlPlaneNotReady),
        ("Unknown", 1, S::ControlPlaneDegraded),
        ("Upgrading", 1, S::ControlPlaneUpgrading),
        ("Migrating", 1, S::ControlPlaneUpgrading),
        ("CertificateAuthorityRotating", 1, S::ControlPlaneUpgrading),
        ("Sleeping", 0, S::ControlPlaneSleeping),
        ("WriteLimited", 2, S::ControlPlaneWriteLimited),
        ("SomethingNew", 2, S::Unknown),
    ] {
        let v = of(&[running(status, ready)], false);
        assert_eq!(v.state, state, "{status}: {}", v.cause);
        assert!(!v.evidence.is_empty() && (state == S::Ready || !v.next.is_empty()), "{status}");
    }
    assert!(of(&[running("SomethingNew", 2)], false).cause.contains("SomethingNew"));
}

#[test]
fn a_first_boot_has_ten_minutes() {
    let at = |t: &str, status: &str| of(&[tcp(t, "", status, 0)], false);
    let young = at("2026-09-01T11:56:00Z", "NotReady");
    assert_eq!((young.state, young.deadline), (S::ControlPlaneProvisioning, "2026-09-01T12:06:00Z".parse().ok()));
    assert!(young.cause.contains("4m of 10m"), "{}", young.cause);
    assert_eq!(at("2026-09-01T11:49:00Z", "NotReady").state, S::ControlPlaneNotReady);
    assert_eq!(at("2026-09-01T11:49:00Z", "Provisioning").state, S::ControlPlaneNotReady);
}

#[test]
fn recorded_boots_get_old() {
    assert_eq!(later("37-control-plane-first-boot", "tenant-vega", 0).state, S::ControlPlaneProvisioning);
    assert_eq!(later("37-control-plane-first-boot", "tenant-vega", 12).state, S::ControlPlaneNotReady);
    assert_eq!(later("34-first-boot-provider-silent", "tenant-orion", 12).state, S::ControlPlaneMissing);
    assert_eq!(later("36-kcp-pending-benign", "tenant-orion", 4).state, S::ControlPlaneProvisioning);
    assert_eq!(later("36-kcp-pending-benign", "tenant-orion", 6).state, S::DataStoreUnavailable);
    assert_eq!(later("48-kamaji-ready", "tenant-orion", 4).state, S::Progressing);
    assert_eq!(later("48-kamaji-ready", "tenant-orion", 6).state, S::EndpointUnreachable);
}

fn store(rest: &str) -> String {
    format!("---\n{{apiVersion: kamaji.clastix.io/v1alpha1, kind: DataStore, metadata: {{name: tenant-root{rest}\n")
}

#[test]
fn the_datastore_tells_two_silences_apart() {
    let silent = |t: &str| {
        doc(
            "kamaji.clastix.io/v1alpha1",
            "TenantControlPlane",
            &format!("creationTimestamp: '{t}'"),
            "spec: {dataStore: tenant-root}, status: {}",
        )
    };
    let ready = store("}, status: {ready: true}}");
    assert_eq!(of(&[silent("2026-09-01T11:45:00Z"), ready.clone()], true).state, S::ControlPlaneNotProcessed);
    assert_eq!(of(&[silent("2026-09-01T11:55:00Z"), ready], true).state, S::ControlPlaneProvisioning, "near miss");
    let bad = store("}, status: {ready: false}}");
    assert_eq!(of(&[silent("2026-09-01T11:45:00Z"), bad.clone()], true).state, S::DataStoreUnavailable);
    assert_eq!(of(&[silent("2026-09-01T11:58:00Z"), bad.clone()], true).state, S::ControlPlaneProvisioning, "near miss");
    // Under a running control plane it is a degradation before anything breaks.
    assert_eq!(of(&[running("Ready", 2), bad], true).state, S::ControlPlaneDegraded);
    let leaving = store(", deletionTimestamp: '2026-09-01T11:59:00Z'}, status: {ready: true}}");
    assert_eq!(of(&[running("Ready", 2), leaving], true).state, S::ControlPlaneDegraded);
    assert_eq!(of(&[running("Ready", 2), store("}, status: {ready: true}}")], true).state, S::Ready, "near miss");
}

#[test]
fn a_reason_is_no_severity() {
    for (version, kind) in [("v1alpha1", "TenantcontrolPlaneAddressReady"), ("v1alpha2", "TenantControlPlaneAddressReady")] {
        for (reason, message) in [
            ("Pending", "Control Plane Endpoint is not yet available since unprocessed by Kamaji"),
            ("Failed", "TenantControlPlane in Provisioning status, enqueue back"),
        ] {
            let c = format!(
                "{{type: {kind}, status: 'False', reason: {reason}, lastTransitionTime: '2026-09-01T11:57:00Z', message: '{message}'}}"
            );
            let v = of(&[provider(version, &c, "ready: false")], false);
            assert_eq!(v.state, S::ControlPlaneProvisioning, "{version} {reason}: {}", v.cause);
        }
    }
}

#[test]
fn a_refused_version_stays_as_it_was() {
    let c = |message: &str| {
        format!(
            "{{type: TenantControlPlaneCreated, status: 'False', reason: Pending, lastTransitionTime: '2026-09-01T11:57:00Z', message: '{message}'}}"
        )
    };
    let refused =
        "admission webhook \"vtenantcontrolplane.kb.io\" denied the request: unable to upgrade to minor version not yet supported";
    let v = of(&[running("Ready", 2), provider("v1alpha1", &c(refused), "ready: true, initialized: true, version: v1.33.1")], false);
    assert_eq!(v.state, S::ControlPlaneUpgradeRefused);
    assert!(v.cause.contains("v1.33.1 → v1.36.0") && v.cause.contains("running version stays"), "{}", v.cause);
    for near in ["failed calling webhook \"vtenantcontrolplane.kb.io\": connection refused", "the object has been modified, enqueue back"] {
        let v = of(&[running("Ready", 2), provider("v1alpha1", &c(near), "ready: true, initialized: true")], false);
        assert_ne!(v.state, S::ControlPlaneUpgradeRefused, "{near}");
    }
}

#[test]
fn a_provider_that_does_not_take_a_ready_control_plane() {
    let c = "{type: TenantControlPlaneAddressReady, status: 'False', reason: Pending, lastTransitionTime: '2026-09-01T11:57:00Z', message: 'cannot retrieve the Cluster: no kind registered'}";
    let v = of(&[running("Ready", 2), provider("v1alpha1", c, "ready: false")], false);
    assert_eq!(v.state, S::ControlPlaneProvisioning, "{}", v.cause);
    let old = provider("v1alpha1", &c.replace("11:57", "11:40"), "ready: false").replace("11:56:00", "11:30:00");
    assert_eq!(of(&[running("Ready", 2), old], false).state, S::ControlPlaneNotReady);
}

#[test]
fn a_status_about_an_older_spec_is_not_believed() {
    let stale = running("Ready", 2).replace("generation: 1}", "generation: 3}");
    let v = of(std::slice::from_ref(&stale), false);
    assert_eq!(v.state, S::StaleStatus);
    assert!(v.cause.contains("v1.33.1 → v1.34.0"), "{}", v.cause);
    assert_eq!(of(&[stale, monitor(0)], false).state, S::ControlPlaneNotReady, "a second source isn't old");
    let cluster = cluster("status: {phase: Provisioned, observedGeneration: 0}");
    assert_eq!(of(&[running("Ready", 2), cluster.clone()], false).state, S::StaleStatus);
    assert_eq!(of(&[running("NotReady", 0), cluster], false).state, S::ControlPlaneNotReady);
}

#[test]
fn pauses_show_what_they_mask() {
    let paused = cluster("spec: {paused: true}, status: {observedGeneration: 1}");
    let v = of(&[paused.clone(), running("NotReady", 0)], false);
    assert_eq!(v.state, S::Paused);
    assert!(v.cause.contains("beneath: control plane not ready"), "{}", v.cause);
    let kamaji = running("Ready", 2).replace("generation: 1}", "generation: 1, annotations: {kamaji.clastix.io/paused: 'true'}}");
    assert_eq!(of(&[kamaji], false).state, S::Paused);
    assert_eq!(of(&[cluster("spec: {paused: false}, status: {observedGeneration: 1}"), running("Ready", 2)], false).state, S::Ready);
}

#[test]
fn deletion_gets_stuck_by_its_age() {
    let going = |t: &str| {
        cluster("status: {phase: Deleting}")
            .replace("generation: 1,", &format!("generation: 1, deletionTimestamp: '{t}', finalizers: [cluster.cluster.x-k8s.io],"))
    };
    let v = of(&[going("2026-09-01T11:55:00Z"), running("Ready", 2)], false);
    assert_eq!((v.state, v.deadline), (S::Deleting, "2026-09-01T12:05:00Z".parse().ok()));
    let v = of(&[going("2026-09-01T11:45:00Z"), running("Ready", 2)], false);
    assert_eq!(v.state, S::DeletingStuck);
    assert!(v.evidence.iter().any(|e| e.value.contains("cluster.cluster.x-k8s.io")));
}

const RELEASE: &str = "---\n{apiVersion: helm.toolkit.fluxcd.io/v2, kind: HelmRelease, metadata: {name: computeplane-cluster, namespace: tenant-acme, generation: 1}, status: {observedGeneration: 1, lastAttemptedGeneration: 1, conditions: [{type: Ready, status: 'True', reason: InstallSucceeded, observedGeneration: 1, lastTransitionTime: '2026-09-01T10:00:00Z'}]}}\n";
const BEACON: &str = "---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: computeplane-cluster-awaiting-etcd, namespace: tenant-acme}, data: {status: awaiting-etcd}}\n";

#[test]
fn what_a_ready_release_should_have_made() {
    let v = of(&[RELEASE.to_string()], true);
    assert_eq!(v.state, S::ControlPlaneMissing);
    assert_eq!(of(&[RELEASE.to_string(), BEACON.to_string()], true).state, S::Unknown, "near miss: awaiting etcd");
    assert_eq!(of(&[RELEASE.replace("'True'", "'False'")], true).state, S::Unknown, "near miss: not applied");
    assert_eq!(of(&[RELEASE.to_string()], false).state, S::Unknown, "near miss: nobody looked for the Cluster");
    assert_eq!(of(&[RELEASE.to_string(), cluster("status: {}")], true).state, S::ControlPlaneMissing, "no provider object");
    let young = provider("v1alpha1", "", "ready: false");
    assert_eq!(of(&[RELEASE.to_string(), cluster("status: {}"), young], true).state, S::ControlPlaneProvisioning);
}

#[test]
fn a_lost_endpoint() {
    let probe = |message: &str, since: &str| {
        cluster(&format!(
            "status: {{controlPlaneReady: true, observedGeneration: 1, v1beta2: {{conditions: [{{type: RemoteConnectionProbe, status: 'False', reason: ProbeFailed, observedGeneration: 1, lastTransitionTime: '{since}', message: '{message}'}}]}}}}"
        ))
    };
    let never = "Remote connection probe failed";
    let lost = "Remote connection probe failed, probe last succeeded at 2026-09-01T11:58:00Z";
    assert_eq!(of(&[probe(never, "2026-09-01T11:50:00Z")], false).state, S::EndpointUnreachable, "F42 alone");
    assert_eq!(of(&[probe(never, "2026-09-01T11:50:00Z"), running("Ready", 2)], false).state, S::EndpointUnreachable);
    assert_eq!(of(&[probe(lost, "2026-09-01T11:59:00Z"), running("Ready", 2)], false).state, S::EndpointUnreachable);
    assert_eq!(of(&[probe(never, "2026-09-01T11:59:00Z"), running("Ready", 2)], false).state, S::Progressing, "near miss: young");
    assert_eq!(of(&[probe(lost, "2026-09-01T11:59:00Z"), running("NotReady", 0)], false).state, S::ControlPlaneNotReady, "near miss: down");
    let addon = "---\n{apiVersion: helm.toolkit.fluxcd.io/v2, kind: HelmRelease, metadata: {name: computeplane-cluster-cilium, namespace: tenant-acme}, status: {conditions: [{type: Ready, status: 'False', reason: StateError, message: 'Could not determine release state: dial tcp 10.0.0.1:6443: connect: connection refused'}]}}\n";
    assert_eq!(of(&[addon.to_string(), running("Ready", 2)], false).state, S::EndpointUnreachable);
    assert_eq!(of(&[addon.replace("StateError", "InstallFailed"), running("Ready", 2)], false).state, S::Ready, "near miss");
}

#[test]
fn monitors_and_deployments_correct_a_healthy_word() {
    assert_eq!(of(&[running("Ready", 2), monitor(1)], false).state, S::ControlPlaneDegraded);
    assert_eq!(of(&[running("Ready", 2), monitor(2)], false).state, S::Ready, "near miss");
    assert_eq!(of(&[running("Sleeping", 0), monitor(0)], false).state, S::ControlPlaneSleeping);
    let zero = doc("apps/v1", "Deployment", "", "spec: {replicas: 0}, status: {}");
    let v = of(&[running("NotReady", 0), zero.clone()], false);
    assert!(v.cause.contains("scaled to zero outside Kamaji"), "{}", v.cause);
    assert_eq!(of(&[running("Ready", 2), zero], false).state, S::ControlPlaneNotReady);
    let sibling = doc("apps/v1", "Deployment", "name: computeplane-cluster-kccm", "spec: {replicas: 1}, status: {readyReplicas: 1}");
    assert_eq!(of(&[running("Ready", 2), sibling], true).state, S::ControlPlaneNotReady, "its Deployment is gone");
}

fn pod(name: &str, status: &str) -> String {
    doc("v1", "Pod", &format!("name: {name}, creationTimestamp: '{OLD}', labels: {{kamaji.clastix.io/name: computeplane-cluster}}"), status)
}

const REFUSED: &str = "---\n{apiVersion: v1, kind: Status, status: Failure, reason: Forbidden, code: 403, details: {group: kamaji.clastix.io, kind: tenantcontrolplanes}}\n";

#[test]
fn what_a_tenant_can_tell() {
    let quota = "---\n{apiVersion: v1, kind: Event, metadata: {name: e1, namespace: tenant-acme}, type: Warning, reason: FailedCreate, lastTimestamp: '2026-09-01T11:55:00Z', involvedObject: {kind: ReplicaSet, name: computeplane-cluster-6d9f, namespace: tenant-acme}, message: 'pods \"x\" is forbidden: exceeded quota: tenant-quota, requested: requests.memory=1Gi, used: requests.memory=8Gi, limited: requests.memory=8Gi'}\n";
    let ready = "status: {phase: Running, conditions: [{type: Ready, status: 'True'}]}";
    let crashing = "status: {phase: Running, conditions: [{type: Ready, status: 'False'}], containerStatuses: [{name: kube-apiserver, ready: false, restartCount: 7, state: {waiting: {reason: CrashLoopBackOff}}}]}";
    for (docs, state) in [
        (vec![monitor(2)], S::Ready),
        (vec![monitor(1)], S::ControlPlaneDegraded),
        (vec![monitor(0)], S::ControlPlaneNotReady),
        (vec![monitor(0).replace(OLD, "2026-09-01T11:56:00Z")], S::ControlPlaneProvisioning),
        (vec![pod("a", ready), pod("b", crashing)], S::ControlPlaneDegraded),
        (vec![pod("a", crashing)], S::ControlPlaneNotReady),
        (vec![quota.to_string()], S::QuotaBlocked),
        (vec![quota.to_string(), monitor(0)], S::ControlPlaneNotReady),
    ] {
        let mut all = vec![REFUSED.to_string()];
        all.extend(docs);
        let v = of(&all, false);
        assert_eq!((v.state, v.inferred), (state, true), "{}", v.cause);
        assert!(v.next.iter().any(|n| n.text.contains("confirm") || n.text.contains("proves")), "{state}: {:?}", v.next);
    }
    let down = of(&[REFUSED.to_string(), quota.to_string(), monitor(0)], false);
    assert!(down.cause.contains("exceeded quota") && down.cause.contains("seen 5m ago"), "{}", down.cause);
    let crash = of(&[REFUSED.to_string(), pod("a", crashing)], false);
    assert!(crash.cause.contains("kube-apiserver CrashLoopBackOff, 7 restarts"), "{}", crash.cause);
    assert_eq!(of(&[REFUSED.to_string(), quota.replace("11:55", "09:55")], false).state, S::NoPermission, "near miss: long ago");
    assert_eq!(of(&[REFUSED.to_string()], false).state, S::NoPermission);
    assert_eq!(of(&[], false).state, S::Unknown);
    let never = monitor(2).replace("operational: true, availableReplicas: 2, observedReplicas: 2", "");
    assert_eq!(of(&[REFUSED.to_string(), never], false).state, S::NoPermission, "never evaluated says nothing");
}

#[test]
fn the_provider_alone_never_makes_it_ready() {
    let c = |status: &str, message: &str| {
        format!("{{type: KamajiControlPlaneIsReady, status: '{status}', reason: Failed, message: '{message}'}}")
    };
    let of = |c: &str, more: &str| of(&[provider("v1alpha2", c, more)], false);
    assert_eq!(of(&c("True", ""), "ready: true, initialization: {controlPlaneInitialized: true}").state, S::Unknown);
    let more = "ready: false, initialization: {controlPlaneInitialized: true}";
    assert_eq!(of(&c("False", "TenantControlPlane in NotReady status, enqueue back"), more).state, S::ControlPlaneNotReady);
    assert_eq!(of(&c("False", "TenantControlPlane in Unknown status, enqueue back"), more).state, S::ControlPlaneDegraded);
}

#[test]
fn the_summary_counts() {
    let world = tests::world(&format!("{}{}", running("Unknown", 1), cluster("spec: {controlPlaneEndpoint: {host: h, port: 443}}")), false);
    let deadlines = Deadlines::default();
    let s = summary(&View { world: &world, namespace: NS, now: now(), deadlines: &deadlines });
    assert_eq!((s.version.as_deref(), s.ready, s.desired, s.endpoint.as_deref()), (Some("v1.33.1"), Some(1), Some(2), Some("h:443")));
}

#[test]
fn a_load_balancer_without_an_address() {
    let service = |kind: &str, created: &str, status: &str| {
        doc(
            "v1",
            "Service",
            &format!("name: computeplane-cluster, creationTimestamp: '{created}'"),
            &format!("spec: {{type: {kind}}}, status: {{{status}}}"),
        )
    };
    let old = service("LoadBalancer", OLD, "");
    assert_eq!(of(&[old.clone(), running("Ready", 2)], false).state, S::EndpointUnreachable);
    assert_eq!(of(&[old.clone(), tcp(OLD, "", "Provisioning", 0)], false).state, S::EndpointUnreachable);
    assert_eq!(of(&[old, running("NotReady", 0)], false).state, S::ControlPlaneNotReady, "near miss: it is down");
    let with = service("LoadBalancer", OLD, "loadBalancer: {ingress: [{ip: 10.0.0.1}]}");
    let young = service("LoadBalancer", "2026-09-01T11:58:00Z", "");
    for near in [with, young, service("ClusterIP", OLD, "")] {
        assert_eq!(of(&[near.clone(), running("Ready", 2)], false).state, S::Ready, "near miss: {near}");
    }
    let infra = |status: &str| {
        doc(
            "infrastructure.cluster.x-k8s.io/v1alpha1",
            "KubevirtCluster",
            "generation: 1",
            &format!(
                "status: {{ready: false, conditions: [{{type: LoadBalancerAvailable, status: '{status}', message: 'Load balancer address is not available', lastTransitionTime: '{OLD}'}}]}}"
            ),
        )
    };
    assert_eq!(of(&[infra("False"), running("Ready", 2)], false).state, S::EndpointUnreachable);
    assert_eq!(of(&[infra("True"), running("Ready", 2)], false).state, S::Ready, "near miss");
}
