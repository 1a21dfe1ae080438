//! From served JSON to the few fields that verdicts use. Owns the entry, metadata and conditions; one file a family of kinds.
//! Lenient by rule: a field of an unexpected type counts as absent, and nothing here panics or fails on odd JSON below the metadata.

use std::{ops::Deref, sync::Arc};

use serde_json::Value;

use super::{
    Generation, Kind, Meta, Object, Stamp, Time, Uid,
    intern::{self, Pool},
    object::Traits,
    redact,
};

pub mod capi;
pub mod core;
pub mod cozystack;
pub mod kamaji;
pub mod kubevirt;
pub mod release;

/// What a condition says but for its message. The same stands in thousands of objects, so it is held once.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
#[allow(missing_docs)] // the Kubernetes names
pub struct Head {
    pub kind: Arc<str>,
    pub status: Arc<str>,
    pub reason: Arc<str>,
    pub severity: Arc<str>,
}

/// All that a condition says, also held once: a message repeats more seldom than what heads it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
#[allow(missing_docs)] // the Kubernetes names
pub struct Words {
    head: Arc<Head>,
    pub message: Arc<str>,
}

static HEADS: Pool<Head> = Pool::new();
static WORDS: Pool<Words> = Pool::new();

impl Deref for Words {
    type Target = Head;

    fn deref(&self) -> &Head {
        &self.head
    }
}

/// The one copy of these words.
fn words(head: &Head, message: Arc<str>) -> Arc<Words> {
    let words = Words { head: HEADS.one(head, || Arc::new(head.clone())), message };
    WORDS.one(&words, || Arc::new(words.clone()))
}

/// One condition, of either style. `status` stays text: the enum is open. Its words are read (and changed) as its own fields.
#[derive(Debug, Clone, Default, PartialEq)]
#[allow(missing_docs)] // the Kubernetes names
pub struct Condition {
    words: Arc<Words>,
    pub observed_generation: Generation,
    pub since: Stamp,
}

impl Deref for Condition {
    type Target = Words;

    fn deref(&self) -> &Words {
        &self.words
    }
}

impl Condition {
    /// The same condition under another head.
    pub fn headed(mut self, change: impl FnOnce(&mut Head)) -> Condition {
        let mut head = (*self.words.head).clone();
        change(&mut head);
        self.words = words(&head, self.words.message.clone());
        self
    }
}

/// The projected part of an object, by family. All are boxed: the kinds of which there are most must not pay for the largest.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs)] // one variant a struct, documented there
pub enum Body {
    App(Box<cozystack::App>),
    TenantNamespace(Box<cozystack::TenantNamespace>),
    Options(Box<cozystack::Options>),
    Release(Box<release::Release>),
    Monitor(Box<cozystack::Monitor>),
    Workload(Box<cozystack::Workload>),
    Conditioned(Box<cozystack::Conditioned>),
    TenantControlPlane(Box<kamaji::TenantControlPlane>),
    DataStore(Box<kamaji::DataStore>),
    KamajiControlPlane(Box<kamaji::KamajiControlPlane>),
    Cluster(Box<capi::Cluster>),
    MachineDeployment(Box<capi::MachineDeployment>),
    MachineSet(Box<capi::MachineSet>),
    Machine(Box<capi::Machine>),
    MachineHealthCheck(Box<capi::MachineHealthCheck>),
    KubevirtMachine(Box<kubevirt::KubevirtMachine>),
    VirtualMachine(Box<kubevirt::VirtualMachine>),
    DataVolume(Box<kubevirt::DataVolume>),
    ConfigMap(Box<core::ConfigMap>),
    Pod(Box<core::Pod>),
    Service(Box<core::Service>),
    Event(Box<core::Event>),
    Quota(Box<core::Quota>),
    Job(Box<core::Job>),
    Deployment(Box<core::Deployment>),
    /// Only metadata matters.
    Plain,
}

impl Object {
    /// Projects one served object. `None` when `apiVersion`, `kind` or `metadata.name` is missing or the kind isn't ours.
    pub fn from_value(value: &Value) -> Option<Object> {
        let api_version = value.get("apiVersion")?.as_str()?;
        let kind = Kind::of(api_version, value.get("kind")?.as_str()?)?;
        Self::of_kind(kind, api_version, value)
    }

    /// The same for an item of a list, where `apiVersion` and `kind` are the list's.
    pub fn of_kind(kind: Kind, api_version: &str, value: &Value) -> Option<Object> {
        let meta = meta(value.get("metadata")?)?;
        let body = match kind {
            Kind::ComputePlane | Kind::KubernetesNodes | Kind::Tenant | Kind::TenantModule => {
                Body::App(Box::new(cozystack::App::project(value)))
            }
            Kind::TenantNamespace | Kind::Namespace => Body::TenantNamespace(Box::new(cozystack::TenantNamespace::project(value))),
            Kind::OptionList => Body::Options(Box::new(cozystack::Options::project(value))),
            Kind::HelmRelease => Body::Release(Box::new(release::Release::project(value))),
            Kind::WorkloadMonitor => Body::Monitor(Box::new(cozystack::Monitor::project(value))),
            Kind::Workload => Body::Workload(Box::new(cozystack::Workload::project(value))),
            Kind::Package | Kind::PackageSource | Kind::ExternalArtifact | Kind::TalosConfig | Kind::KubevirtCluster => {
                Body::Conditioned(Box::new(cozystack::Conditioned::project(value)))
            }
            Kind::TenantControlPlane => Body::TenantControlPlane(Box::new(kamaji::TenantControlPlane::project(value))),
            Kind::DataStore => Body::DataStore(Box::new(kamaji::DataStore::project(value))),
            Kind::KamajiControlPlane => Body::KamajiControlPlane(Box::new(kamaji::KamajiControlPlane::project(value))),
            Kind::Cluster => Body::Cluster(Box::new(capi::Cluster::project(api_version, value))),
            Kind::MachineDeployment => Body::MachineDeployment(Box::new(capi::MachineDeployment::project(api_version, value))),
            Kind::MachineSet => Body::MachineSet(Box::new(capi::MachineSet::project(api_version, value))),
            Kind::Machine => Body::Machine(Box::new(capi::Machine::project(api_version, value))),
            Kind::MachineHealthCheck => Body::MachineHealthCheck(Box::new(capi::MachineHealthCheck::project(api_version, value))),
            Kind::KubevirtMachine => Body::KubevirtMachine(Box::new(kubevirt::KubevirtMachine::project(value))),
            Kind::VirtualMachine | Kind::VirtualMachineInstance => Body::VirtualMachine(Box::new(kubevirt::VirtualMachine::project(value))),
            Kind::DataVolume => Body::DataVolume(Box::new(kubevirt::DataVolume::project(value))),
            Kind::ConfigMap => Body::ConfigMap(Box::new(core::ConfigMap::project(value))),
            Kind::Pod => Body::Pod(Box::new(core::Pod::project(value))),
            Kind::Service => Body::Service(Box::new(core::Service::project(value))),
            Kind::Event => Body::Event(Box::new(core::Event::project(value))),
            Kind::ResourceQuota => Body::Quota(Box::new(core::Quota::project(value))),
            Kind::Job => Body::Job(Box::new(core::Job::project(value))),
            Kind::Deployment => Body::Deployment(Box::new(core::Deployment::project(value))),
            Kind::PersistentVolumeClaim | Kind::StorageClass | Kind::ApplicationDefinition | Kind::Role => Body::Plain,
        };
        Some(Object { kind, api_version: intern::intern(api_version), meta, body })
    }
}

static TRAITS: Pool<Traits> = Pool::new();

fn meta(m: &Value) -> Option<Meta> {
    let name = m.get("name")?.as_str()?;
    let pairs = |key: &str| {
        let map = m.get(key).and_then(Value::as_object);
        map.into_iter().flatten().filter_map(|(k, v)| Some((k.as_str(), v.as_str()?)))
    };
    let traits = Traits {
        finalizers: intern::list(array(m, "finalizers").filter_map(Value::as_str)),
        labels: pairs("labels").filter(|(k, v)| redact::key_stays(k) || names_plane(v)).collect(),
        annotations: pairs("annotations").filter(|(k, _)| redact::key_stays(k)).collect(),
        owners: intern::pairs(array(m, "ownerReferences").map(|o| (text(o, "kind"), text(o, "name")))),
    };
    Some(Meta {
        namespace: text(m, "namespace"),
        name: intern::intern(name),
        uid: Uid::from(m.get("uid").and_then(Value::as_str).unwrap_or_default()),
        generation: Generation::from(m.get("generation").and_then(Value::as_i64)),
        created: stamp(m, "creationTimestamp"),
        deleted: stamp(m, "deletionTimestamp"),
        traits: TRAITS.one(&traits, || Arc::new(traits.clone())),
    })
}

/// Prefixes that name something of a plane (contract, "What is a plane").
const PLANE_PREFIXES: [&str; 3] = ["computeplane", "kubernetes-nodes-computeplane-cluster-", "kubernetes-computeplane-cluster"];

/// True for a name, label value or cluster name that belongs to a plane.
pub fn names_plane(name: &str) -> bool {
    PLANE_PREFIXES.iter().any(|p| name.starts_with(p))
}

impl Object {
    /// True for an object or Event that is named, labelled or `clusterName`d as something of a plane. Option lists are the platform's catalogue.
    pub fn names_plane(&self) -> bool {
        match &self.body {
            Body::Options(_) => false,
            Body::Event(e) => names_plane(&e.involved_name) || names_plane(&self.meta.name),
            _ => {
                let labelled = |(k, v): (&Arc<str>, &Arc<str>)| names_plane(v) || &**k == "internal.cozystack.io/computeplane";
                names_plane(&self.meta.name) || self.meta.labels.iter().any(labelled) || capi::cluster_name(self).is_some_and(names_plane)
            }
        }
    }
}

/// The string under `key`, empty when absent or of another type.
pub fn text(v: &Value, key: &str) -> Arc<str> {
    intern::intern(v.get(key).and_then(Value::as_str).unwrap_or_default())
}

/// The time under `key`, `None` when absent or unparsable.
pub fn time(v: &Value, key: &str) -> Option<Time> {
    v.get(key).and_then(Value::as_str).and_then(|s| s.parse().ok())
}

/// The time under `key` in whole seconds.
pub fn stamp(v: &Value, key: &str) -> Stamp {
    Stamp::from(time(v, key))
}

/// The items of the array under `key`, none when absent or of another type.
pub fn array<'a>(v: &'a Value, key: &str) -> impl Iterator<Item = &'a Value> + use<'a> {
    v.get(key).and_then(Value::as_array).into_iter().flatten()
}

/// The value at a path of keys.
pub fn at<'a>(v: &'a Value, path: &[&str]) -> Option<&'a Value> {
    path.iter().try_fold(v, |v, key| v.get(key))
}

/// The conditions of a list that stands at `path`.
pub fn conditions(v: &Value, path: &[&str]) -> Box<[Condition]> {
    at(v, path).and_then(Value::as_array).into_iter().flatten().filter_map(condition).collect()
}

fn condition(c: &Value) -> Option<Condition> {
    let kind = text(c, "type");
    if kind.is_empty() {
        return None;
    }
    let head = Head { kind, status: text(c, "status"), reason: text(c, "reason"), severity: text(c, "severity") };
    Some(Condition {
        words: words(&head, text(c, "message")),
        observed_generation: Generation::from(c.get("observedGeneration").and_then(Value::as_i64)),
        since: stamp(c, "lastTransitionTime"),
    })
}

/// The condition of one type.
pub fn find<'a>(conditions: &'a [Condition], kind: &str) -> Option<&'a Condition> {
    conditions.iter().find(|c| &*c.kind == kind)
}
