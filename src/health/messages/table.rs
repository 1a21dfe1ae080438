//! The classifier: text → class → state of the release, who can act, and what to do. A flat table, first match wins. Owns nothing else.

use crate::model::verdict::{State, Who};

/// One row of the classifier.
#[derive(Debug, Clone, Copy)]
pub struct Row {
    /// Class, as the contract's `class`.
    pub class: &'static str,
    /// State of a release that failed with such a text; `None` = Retrying.
    pub state: Option<State>,
    /// Any of these groups matches when all of its fragments stand in the text (compared without case).
    pub any: &'static [&'static [&'static str]],
    /// Who can act.
    pub who: Who,
    /// What to do.
    pub hint: &'static str,
}

const fn row(class: &'static str, state: Option<State>, any: &'static [&'static [&'static str]], who: Who, hint: &'static str) -> Row {
    Row { class, state, any, who, hint }
}

/// All rows. Narrow texts stand before the wide ones that would swallow them.
#[rustfmt::skip]
pub const TABLE: &[Row] = &[
    row("PackageMissing", Some(State::PackageMissing), &[&["cozystack.", "package is not installed"]], Who::Platform,
        "install the package, for ComputePlanes the iaas bundle (bundles.iaas.enabled: true); until then no change of this Tenant takes effect"),
    row("NotPermitted", None, &[&["is not permitted in permittedhostdevices"], &["gpu", "has invalid value"], &["hostdevice", "is not permitted"]], Who::Tenant,
        "name a GPU that the platform permits (options gpu), or ask the platform to permit this one"),
    row("QuotaBlocked", Some(State::QuotaBlocked), &[&["exceeded quota"], &["exceeds quota"], &["failed quota"]], Who::ParentTenant,
        "raise the quota named in the text, or shrink the pool"),
    row("NameConflict", Some(State::NameConflict), &[
        &["is already managed by release"], &["invalid ownership metadata"], &["cannot be imported into the current release"],
        &["not owned by their kubernetes-nodes child release"], &["refusing to render cluster"], &["conflict with", "field manager"],
    ], Who::Platform, "finish the adoption or rename the pool; don't delete the MachineDeployment, that would kill its workers"),
    row("WebhookUnreachable", None, &[&["failed calling webhook"], &["failed to call webhook"], &["conversion webhook", "failed"], &["no endpoints available for service"]], Who::Platform,
        "bring the webhook named in the text back; no value of the plane is wrong"),
    row("RenderRejected", Some(State::RenderRejected), &[
        &["the name of the release must be"], &["execution error at ("], &["template:", "executing"], &["nil pointer evaluating"],
        &["values don't meet the specifications"], &["values don't satisfy"], &["parse error at ("], &["yaml parse error"], &["malformedyamlerror"],
        &["error converting yaml"], &["mapping key", "already defined"], &["error while running post render"], &["error merging manifests"],
        &["chart requires kubeversion"], &["error calling include"],
    ], Who::Tenant, "change the value that the message names"),
    row("ImmutableField", None, &[&["field is immutable"], &["is immutable"], &["updates to statefulset spec for fields other than"]], Who::Platform,
        "every retry fails alike: delete the named object so that it is created anew, or undo the change"),
    row("InvalidName", None, &[
        &["rfc 1123"], &["rfc-1123"], &["dns-1123"], &["dns-1035"], &["must be no more than", "characters"], &["must be no more than", "bytes"],
        &["invalid resource name"], &["release name", "exceeds max length"], &["invalid release name"],
    ], Who::Tenant, "rename the pool: at most 15 characters, lower case letters, digits and dashes"),
    row("AdmissionDenied", None, &[&["admission webhook", "denied"], &["validatingadmissionpolicy", "denied"], &["denied the request"], &["denied request"],
        &["violates podsecurity"]], Who::Platform, "satisfy or change the policy that the text names"),
    row("CRDMissing", None, &[&["no matches for kind"], &["ensure crds are installed first"], &["could not find the requested resource"]], Who::Platform,
        "install what brings this kind: a dependency release or a package"),
    row("Forbidden", None, &[&["is forbidden: user"], &["cannot impersonate"], &["attempting to grant rbac permissions not currently held"], &["cannot", "resource", "at the cluster scope"],
        &["cannot", "resource", "in api group"]],
        Who::Platform, "give the release's account the right that the text names"),
    row("ValuesError", None, &[&["chart values reference"], &["could not resolve", "values"], &["unable to merge values"], &["unable to parse values"], &["unable to set values"]], Who::Platform,
        "create the object that the values are read from, or mend its key"),
    row("WaitingForKubeconfig", None, &[&["could not get kubeconfig secret"], &["kubeconfig secret", "does not contain"]], Who::Anyone,
        "wait for the control plane's first boot; if it is long past, the kubeconfig Secret was lost"),
    row("SourceNotReady", Some(State::SourceNotReady), &[
        &["could not get source object"], &["source not ready"], &["does not have an artifact"], &["artifact not found"], &["externalartifact", "is not ready"],
        &["failed to download artifact"], &["failed to get artifact"], &["helmchart", "is not ready"], &["chart pull error"], &["failed to download archive"],
        &["failed to load chart"], &["chart not found"], &["no chart version found"],
    ], Who::Platform, "check the ExternalArtifact, its PackageSource and the package that ships the chart"),
    row("DependencyMissing", Some(State::DependencyWait), &[&["unable to get", "dependency", "not found"]], Who::Platform, "the dependency doesn't exist: enable what creates it"),
    row("DependencyWait", Some(State::DependencyWait), &[&["dependency", "is not ready"], &["unable to get", "dependency"]], Who::Anyone, "look at the dependency"),
    row("TwoControllers", None, &[&["release: already exists"], &["cannot re-use a name that is still in use"]], Who::Platform,
        "two controllers work on this release: check the shards"),
    row("LockedPending", Some(State::LockedPending), &[&["another operation"]], Who::Platform,
        "controllers of the 1.x series unlock by themselves; otherwise force or reset the release, or restart the controller"),
    row("SelfHealing", None, &[&["has no deployed releases"]], Who::Platform,
        "only failed revisions are left; the platform repairs releases stored in the management cluster within minutes, others need an operator"),
    row("HookFailed", Some(State::RemoteHookFailed), &[
        &["hooks failed"], &["backofflimitexceeded"], &["failed pre-install"], &["failed post-install"], &["failed pre-upgrade"], &["failed post-upgrade"],
        &["failed pre-delete"], &["failed post-delete"], &["failed pre-rollback"], &["failed post-rollback"], &["hook", "job", "failed"],
    ], Who::Platform, "read the log of the hook Job's Pod"),
    row(super::CHILD_NOT_READY, None, &[&["timeout waiting for: ["], &["failed early due to stalled resources"], &["resources not ready"], &["resource not ready, name:"]], Who::Anyone,
        "look at the object in the wait list"),
    row("DrainBlocked", None, &[&["cannot evict pod"], &["disruption budget"]], Who::Tenant, "relax the PodDisruptionBudget that the text names, or add a replica"),
    row("TooLarge", None, &[&["request is too large"], &["request entity too large"], &["too long: must have at most"], &["trying to send message larger than"]], Who::Platform,
        "the release or one of its objects is larger than the API stores: fewer or smaller values, or split pools"),
    row("FieldConflict", None, &[&["apply failed with", "conflict"]], Who::Platform,
        "another writer owns the field that the text names: let one of them go"),
    row("WriteConflict", None, &[&["the object has been modified"], &["operation cannot be fulfilled on"], &["storageerror: invalid object"]], Who::Anyone,
        "two writers met; the next try usually passes"),
    row("Interrupted", None, &[&["context canceled"]], Who::Anyone, "the controller was stopped in the middle; it goes on by itself"),
    row("NamespaceMissing", None, &[&["namespaces \"", "\" not found"], &["because it is being terminated"]], Who::Platform,
        "create the namespace that the text names, or wait until its deletion has ended"),
    row("APIUnavailable", None, &[&["server is currently unable to handle the request"], &["unable to retrieve the complete list of server apis"], &["etcdserver:"],
        &["apiserver not ready"], &["too many requests"], &["the server was unable to return a response in the time allotted"]], Who::Platform,
        "the API server, its etcd or one of its extensions didn't answer; the next try may pass"),
    row("CredentialsRefused", None, &[&["asked for the client to provide credentials"], &["unauthorized"]], Who::Platform,
        "the account that the release uses there is not known any more: renew its kubeconfig or token"),
    row("CertificateProblem", None, &[&["x509:"], &["tls: "], &["certificate signed by unknown authority"]], Who::Platform, "check the certificates of the control plane"),
    row("WaitTimeout", None, &[&["would exceed context deadline"], &["timed out waiting for the condition"], &["termination timeout"]], Who::Anyone,
        "something that the release waits for did not become ready in time"),
    row("EndpointUnreachable", None, &[
        &["kubernetes cluster unreachable"], &["connection refused"], &["no route to host"], &["i/o timeout"], &["no such host"], &["connection reset"],
        &["network is unreachable"], &["tls handshake timeout"], &["context deadline exceeded"], &["server misbehaving"], &["unexpected eof"], &[": eof"],
    ], Who::Platform, "check the control plane's Service, its address and the network in between"),
    row("InvalidObject", None, &[&[" is invalid: "], &["failed to create typed patch object"], &["strict decoding error"], &["unknown field"], &["json: cannot unmarshal"],
        &["validation failed"]], Who::Tenant, "change the value that the message names"),
];

/// The class of a text: the first row that matches.
pub fn classify(text: &str) -> Option<&'static Row> {
    let lower = text.to_lowercase();
    TABLE.iter().find(|r| r.any.iter().any(|all| all.iter().all(|part| lower.contains(part))))
}

/// Classes that a condition's reason tells where its text has none of the known words.
const REASONS: &[(&str, &str)] = &[
    ("ValuesError", "ValuesError"),
    ("RESTClientError", "WaitingForKubeconfig"),
    ("SourceNotReady", "SourceNotReady"),
    ("ArtifactFailed", "SourceNotReady"),
    ("DependencyNotReady", "DependencyWait"),
    ("AccessDenied", "Forbidden"),
];

/// The row for a reason, the second choice after the text.
pub fn of_reason(reason: &str) -> Option<&'static Row> {
    let class = REASONS.iter().find(|r| r.0 == reason)?.1;
    TABLE.iter().find(|r| r.class == class)
}
