//! What each verdict means, for `planedeck rule` and the help: a flat table, one row a state. Must not judge.
//! `row` is the number in the decision table of the status reference.

use crate::model::verdict::State;

/// The explanation of one state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    /// The state.
    pub state: State,
    /// Row of the decision table.
    pub row: &'static str,
    /// What it says about the plane.
    pub meaning: &'static str,
    /// What it is read from.
    pub signals: &'static str,
    /// What helps.
    pub remedy: &'static str,
}

const fn e(state: State, row: &'static str, meaning: &'static str, signals: &'static str, remedy: &'static str) -> Entry {
    Entry { state, row, meaning, signals, remedy }
}

use State::*;

/// Every state.
#[rustfmt::skip]
pub const CATALOG: &[Entry] = &[
    e(NotEnabled, "1", "The tenant has no ComputePlane.", "no ComputePlane, no HelmRelease computeplane, no leftovers", "the parent tenant's owner sets computeplane: true on the Tenant"),
    e(NoPermission, "2", "The deciding objects may not be read with this identity, and nothing else speaks.", "403 on the layer's own kind", "ask for the verb named in the coverage line, or let somebody with more rights look"),
    e(Deleting, "3", "The plane is being deleted.", "deletionTimestamp on the app, a release or the Cluster", "wait; what is still there is listed as evidence"),
    e(DeletingUnowned, "3a", "A suspended release is being deleted: its finalizer will go without an uninstall, and Cluster, control plane and VMs stay without an owner.", "deletionTimestamp together with spec.suspend", "a platform operator resumes the release at once, before the finalizer is dropped"),
    e(DeletingStuck, "3b", "Deletion doesn't get on.", "deletion older than its deadline, UninstallFailed, or a failed clean-up hook", "mend what the last message names (API or datastore out of reach, a drain); removing finalizers is the last resort"),
    e(Suspended, "4", "Somebody suspended a release: nothing is applied and its conditions are history.", "spec.suspend: true", "a platform operator resumes the release"),
    e(Paused, "5", "Cluster API or Kamaji is paused for this plane; counters are stale.", "Cluster.spec.paused or a paused annotation", "remove the pause; look first at what the autoscaler has done meanwhile"),
    e(PackageMissing, "6", "The platform lacks the package behind the module; the whole tenant release is refused until that ends.", "the guard's message on the tenant release, or the Package", "the platform's operator enables the package, or the module is switched off on the Tenant"),
    e(SourceNotReady, "7", "The chart of a release can't be loaded.", "Ready False with ArtifactFailed or SourceNotReady", "the platform's operator looks at the ExternalArtifact and its PackageSource"),
    e(StaleStatus, "8", "The spec changed and nobody has judged it yet: what the status says is about the past.", "observedGeneration behind generation", "wait an interval; then look at the controller"),
    e(RenderRejected, "9", "The chart refuses the values. What runs keeps running as it was.", "InstallFailed or UpgradeFailed with a template or schema error", "change the value that the message names"),
    e(NameConflict, "10", "Two releases claim one object.", "ownership texts, or an owner annotation of another release", "a platform operator finishes the adoption; don't delete the MachineDeployment, that kills its workers"),
    e(AwaitingEtcd, "11", "No tenant above offers etcd, so the cluster release holds an empty shell, whatever it reports.", "the awaiting-etcd beacon and no Cluster (or, inferred, nothing where a control plane should be)", "the owner of an ancestor tenant sets etcd: true there; the plane heals by itself"),
    e(DependencyWait, "12", "A release waits for another one.", "DependencyNotReady", "look at the root of the chain, named in the cause"),
    e(LockedPending, "13", "Helm holds a lock of an action that no longer runs.", "pending release record or 'another operation in progress'", "a platform operator forces or resets the release"),
    e(Stalled, "14", "The controller gave up until something changes.", "condition Stalled", "mend the cause, then a platform operator resets the release"),
    e(InstallLoop, "15", "A release is installed, fails, is uninstalled and installed again.", "Remediated or repeated install failures with unlimited retries", "find the object that the install waits for"),
    e(Retrying, "16", "An action failed and is tried again.", "Ready False, not stalled", "read the class and the message: that cause has to go"),
    e(StuckReconciling, "17", "A release has been in progress for longer than it may.", "Ready Unknown beyond timeout and interval, or never reconciled", "request a reconcile; look at the controller or its shard"),
    e(RemoteHookFailed, "17b", "A hook Job of the release fails.", "hooks failed, BackoffLimitExceeded", "read the Job's log in the cluster named"),
    e(ControlPlaneMissing, "18", "The release is applied and there is no control plane.", "release True, no beacon, no Cluster or control plane objects", "a platform operator reconciles the cluster release"),
    e(ControlPlaneProvisioning, "19", "The control plane boots for the first time.", "TenantControlPlane Provisioning, or NotReady without a version", "wait until the deadline"),
    e(DataStoreUnavailable, "19b", "The datastore of the control plane is missing or unusable.", "no Deployment, DataStore absent or not ready", "look at the etcd of the tenant that provides it"),
    e(ControlPlaneNotProcessed, "19c", "Kamaji has not touched the control plane although its datastore is there.", "empty status past the deadline", "a platform operator looks at the Kamaji controller"),
    e(ControlPlaneUpgradeRefused, "19d", "The wanted version is refused; the old one keeps running.", "refusal text on the KamajiControlPlane", "one minor version at a time, and one that Kamaji supports"),
    e(ControlPlaneNotReady, "20", "The control plane was there and is down.", "TenantControlPlane NotReady with a version, or no available replica", "look at its pods, quota and datastore certificates"),
    e(ControlPlaneDegraded, "21", "Part of the control plane is down; it still serves.", "TenantControlPlane Unknown, or 1 of 2 available", "look at the replica that isn't ready"),
    e(ControlPlaneUpgrading, "22", "The control plane changes version, datastore or certificates.", "TenantControlPlane Upgrading, Migrating, CertificateAuthorityRotating", "wait; new machines are held meanwhile"),
    e(ControlPlaneSleeping, "23", "The control plane is scaled to zero on purpose.", "TenantControlPlane Sleeping", "undo the scaling if it wasn't meant"),
    e(ControlPlaneWriteLimited, "23", "The cluster's API is read-only.", "TenantControlPlane WriteLimited", "lift the write limitation"),
    e(EndpointUnreachable, "24", "The control plane runs, and the cluster's API can't be reached; what is known about nodes is old, not bad.", "failing connection probe, ConnectionDown, StateError of addons", "look at service, load balancer and network"),
    e(PoolsNotRendered, "25", "Pools are declared and none exists: the platform's charts don't fit each other.", "nodeGroups without any MachineDeployment under successful releases", "the platform's operator upgrades or rolls back; don't recreate the pools"),
    e(WrongCluster, "26", "A pool belongs to a cluster that doesn't exist.", "MachineDeployment with a foreign clusterName", "the platform's operator mends the chart version"),
    e(WorkersBlocked, "27", "New machines are held back.", "preflight checks, missing templates, FailedCreate", "mend what the message names; often the control plane comes first"),
    e(WorkerCreateRefused, "27b", "The VM of a worker is refused when it is created.", "VMCreateFailed, or a Failure condition on the VirtualMachine", "read the quoted text: quota, admission or a GPU that isn't permitted"),
    e(WorkersUnschedulable, "28", "No host has room for the workers.", "Unschedulable on the machine or its pod", "a smaller type, fewer machines, or more capacity"),
    e(QuotaBlocked, "28b", "The tenant's quota is used up.", "exceeded quota in a message or event, used at the hard limit", "raise the quota or shrink a pool"),
    e(WorkerDiskNotReady, "29", "A worker's disk isn't there yet.", "DataVolume pending, importing or failed", "look at the storage class and the import"),
    e(WorkerPausedIO, "29b", "A VM is paused because its disk fails.", "PausedIOError", "look at the storage behind the disk"),
    e(WorkersNotJoined, "30", "VMs run and their nodes don't join.", "Machine Provisioned without a node past the deadline", "look at bootstrap token, Talos configuration and the way to the endpoint"),
    e(RemediationBlocked, "31", "Too many machines are unhealthy, so none is replaced.", "MachineHealthCheck TooManyUnhealthy", "mend the common cause; replacing resumes by itself"),
    e(WorkersMissing, "32", "Fewer machines exist than are wanted, and nothing says why.", "wanted replicas above machines", "look at the autoscaler and the Cluster API controllers"),
    e(WorkersScalingUp, "33", "Machines are being added.", "wanted above ready, within the deadline", "wait"),
    e(WorkersScalingDown, "33", "Machines are being removed.", "machines above wanted, or deleting", "wait"),
    e(WorkersRollingOut, "33", "Machines are being replaced by new ones.", "two generations of MachineSets", "wait"),
    e(WorkersDegraded, "34", "All machines are there and not all are ready.", "machines equal wanted, ready below", "look at the node's conditions"),
    e(ScaleUpNotHappening, "35", "A pool stays at zero although something waits for it.", "zero machines for long while addons fail", "look at the autoscaler and the pool's capacity hints"),
    e(ScaledToZero, "35", "A pool rests at zero, as it may.", "min 0, no machines, control plane ready", "nothing; the first pending pod wakes it"),
    e(AddonsWaiting, "36", "Addons wait for the first nodes.", "addon releases waiting while no node is ready", "nothing; they follow the nodes"),
    e(AddonsFailing, "37", "An addon fails although nodes are there.", "addon release False with ready nodes", "look at the root addon; the others depend on it"),
    e(Orphaned, "38", "Something is left that no living owner cares for.", "pools that the spec no longer names, or a Cluster without releases", "a platform operator removes it after a drain"),
    e(Progressing, "39", "Something is being done and is within its time.", "Reconciling, or Ready Unknown, within the deadline", "wait"),
    e(Ready, "40", "Every layer is judged healthy on fresh evidence.", "all layers", "nothing"),
    e(Unknown, "41", "Nothing decisive could be read.", "the coverage line names what is missing and why", "try again, or look with more rights"),
];

/// The entry of a state.
pub fn entry(state: State) -> Option<&'static Entry> {
    CATALOG.iter().find(|e| e.state == state)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_state_is_explained_once() {
        for s in State::ALL {
            assert_eq!(CATALOG.iter().filter(|e| e.state == *s).count(), 1, "{s}");
        }
    }
}
