//! Rows of the workers, each with a near miss, on recordings with a moved clock and on small objects.

mod counts;
mod holds;
mod tenant;
mod versions;

use jiff::SignedDuration;

use super::*;
use crate::{
    health::{deadlines::Deadlines, tests},
    model::{Time, World, verdict::LayerVerdict},
};
use State as S;

const NS: &str = "tenant-acme";
const OLD: &str = "2026-08-01T00:00:00Z";

fn now() -> Time {
    "2026-09-01T12:00:00Z".parse().unwrap()
}

fn judged_at(world: &World, namespace: &str, now: Time) -> Vec<LayerVerdict> {
    let deadlines = Deadlines::default();
    judge(&View { world, namespace, now, deadlines: &deadlines })
}

/// The layer's verdict on small objects; `complete` = what isn't there doesn't exist.
fn of(docs: &[String], complete: bool) -> LayerVerdict {
    judged_at(&tests::world(&docs.concat(), complete), NS, now()).remove(0)
}

fn views(docs: &[String], complete: bool) -> Vec<PoolView> {
    let (world, deadlines) = (tests::world(&docs.concat(), complete), Deadlines::default());
    pool_views(&View { world: &world, namespace: NS, now: now(), deadlines: &deadlines })
}

/// A recording, its clock moved on by minutes.
fn later(file: &str, namespace: &str, minutes: i64) -> Vec<LayerVerdict> {
    let yaml = tests::data(&format!("recorded/{file}.yaml"));
    let read: Time = yaml.split("# Read at: ").nth(1).unwrap().split(' ').next().unwrap().parse().unwrap();
    judged_at(&tests::world(&yaml, true), namespace, read + SignedDuration::from_mins(minutes))
}

fn doc(api: &str, kind: &str, name: &str, meta: &str, rest: &str) -> String {
    format!("---\n{{apiVersion: {api}, kind: {kind}, metadata: {{name: {name}, namespace: {NS}, {meta}}}, {rest}}}\n")
}

/// A MachineDeployment of v1beta1 with bounds 1-3.
fn md(pool: &str, replicas: i64, status: &str) -> String {
    let bounds = "cluster.x-k8s.io/cluster-api-autoscaler-node-group-min-size: '1', cluster.x-k8s.io/cluster-api-autoscaler-node-group-max-size: '3'";
    doc(
        "cluster.x-k8s.io/v1beta1",
        "MachineDeployment",
        &format!("computeplane-cluster-{pool}"),
        &format!("generation: 1, creationTimestamp: '{OLD}', annotations: {{{bounds}}}"),
        &format!("spec: {{clusterName: computeplane-cluster, replicas: {replicas}}}, status: {{observedGeneration: 1, {status}}}"),
    )
}

fn labels(pool: &str) -> String {
    format!(
        "labels: {{cluster.x-k8s.io/cluster-name: computeplane-cluster, cluster.x-k8s.io/deployment-name: computeplane-cluster-{pool}}}"
    )
}

/// A Machine of a pool.
fn machine(pool: &str, id: &str, created: &str, spec: &str, status: &str) -> String {
    doc(
        "cluster.x-k8s.io/v1beta1",
        "Machine",
        &format!("computeplane-cluster-{pool}-x1-{id}"),
        &format!("generation: 1, creationTimestamp: '{created}', {}", labels(pool)),
        &format!("spec: {{clusterName: computeplane-cluster, {spec}}}, status: {{{status}}}"),
    )
}

fn joined(pool: &str, id: &str, healthy: &str) -> String {
    machine(
        pool,
        id,
        OLD,
        "providerID: 'kubevirt://x'",
        &format!(
            "phase: Running, nodeRef: {{name: {id}}}, conditions: [{{type: NodeHealthy, status: '{healthy}', reason: NodeConditionsFailed, message: 'Node condition Ready is False', lastTransitionTime: '2026-09-01T11:58:00Z'}}]"
        ),
    )
}

fn infra(pool: &str, id: &str, reason: &str, message: &str) -> String {
    doc(
        "infrastructure.cluster.x-k8s.io/v1alpha1",
        "KubevirtMachine",
        &format!("computeplane-cluster-{pool}-x1-{id}"),
        &labels(pool),
        &format!(
            "status: {{ready: false, conditions: [{{type: VMProvisioned, status: 'False', severity: Info, reason: {reason}, lastTransitionTime: '2026-09-01T11:40:00Z', message: '{message}'}}]}}"
        ),
    )
}

#[test]
fn recorded_waits_get_old() {
    let state = |file: &str, ns: &str, minutes: i64| later(file, ns, minutes)[0].state;
    assert_eq!(state("38-machines-pending-bootstrap", "tenant-vega", 9), S::WorkersScalingUp);
    let late = &later("38-machines-pending-bootstrap", "tenant-vega", 12)[0];
    assert_eq!(late.state, S::WorkersNotJoined);
    assert!(late.cause.contains("bootstrap data is missing"), "{}", late.cause);
    assert_eq!(state("51-worker-disk-importing", "tenant-pavo", 5), S::WorkersScalingUp);
    assert_eq!(state("51-worker-disk-importing", "tenant-pavo", 15), S::WorkerDiskNotReady);
    let pools = later("39-machines-unschedulable-and-not-joined", "tenant-vega", 25);
    assert_eq!(pools[0].state, S::WorkersUnschedulable);
    assert!(pools[0].cause.contains("1 more haven't joined") || pools[0].cause.contains("more haven't joined"), "{}", pools[0].cause);
    assert_eq!(state("43-remediation-deletes-machine", "tenant-vega", 11), S::WorkersNotJoined);
}

#[test]
fn recorded_pools_stand_each_for_itself() {
    let pools = later("53-pool-rolling-out", "tenant-vega", 0);
    let of = |name: &str| pools.iter().skip(1).find(|p| p.pool.as_deref() == Some(name)).unwrap();
    assert_eq!((of("web").state, of("gpu").state), (S::WorkersRollingOut, S::WorkersScalingUp));
    assert!(of("gpu").cause.contains("100s of 10m"), "{}", of("gpu").cause);
    let healthy = later("40-healthy-three-workers", "tenant-vega", 0);
    assert_eq!(healthy[0].state, S::Ready);
    assert!(healthy[0].cause.contains("gpu 0/0 (0-2)") && healthy[0].cause.contains("web 3/3 ready (3-6)"), "{}", healthy[0].cause);
    let paused = later("45-cluster-paused", "tenant-vega", 0);
    assert!(paused.iter().all(|p| p.state == S::Paused));
}

#[test]
fn a_check_that_only_waits_for_young_machines_is_no_finding() {
    // `recorded/38` holds TooManyUnhealthy with "unhealthy: 0".
    assert!(later("38-machines-pending-bootstrap", "tenant-vega", 0).iter().all(|p| p.state != S::RemediationBlocked));
    assert_eq!(later("42-remediation-blocked", "tenant-vega", 0)[0].state, S::RemediationBlocked);
}
