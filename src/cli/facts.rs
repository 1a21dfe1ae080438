//! What is known beside the values: from files nothing, from a cluster machines, quotas and the offer. Owns the collecting; rules and forecast judge.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

use serde_json::Value;

use super::{args::ProfileArg, offline};
use crate::{
    model::{
        Kind, Problem, ProblemKind, World,
        projection::{Body, core::Quota},
        quantity::Quantity,
    },
    nodegroups::{
        Groups,
        document::{self, Document, Name, documents},
        finding::{Findings, Profile},
        forecast::{QuotaFact, Size},
        instance_types::Offer,
        validate::{Context, validate},
    },
};

/// The layout to judge for: forced, or seen, or the default.
pub fn profile(forced: Option<ProfileArg>, world: Option<(&World, &str)>) -> Profile {
    match forced {
        Some(ProfileArg::Split) => Profile::Split,
        Some(ProfileArg::Presplit) => Profile::Presplit,
        None => world.and_then(|(w, ns)| seen_layout(w, ns)).unwrap_or_default(),
    }
}

/// Pools in their own releases, or owned by the cluster release (`status.md` 0.3); `None` where nothing tells.
fn seen_layout(world: &World, namespace: &str) -> Option<Profile> {
    let prefix = crate::health::layers::POOL_RELEASE;
    if world.list(Kind::HelmRelease, namespace).any(|o| o.meta.name.starts_with(prefix))
        || world.list(Kind::KubernetesNodes, namespace).next().is_some()
    {
        return Some(Profile::Split);
    }
    let owner = |o: &crate::model::Object| o.meta.annotations.get("meta.helm.sh/release-name").map(|v| v.to_string());
    let mut owners = world.list(Kind::MachineDeployment, namespace).filter_map(|o| owner(o));
    owners.any(|o| o == crate::health::layers::CLUSTER).then_some(Profile::Presplit)
}

/// One file with wanted or former values.
pub struct Input {
    /// Its one document.
    pub document: Document,
    /// The node groups, empty where the document has none that can be read.
    pub groups: Groups,
    /// Namespace and UID that the document names.
    pub namespace: Option<String>,
    /// UID that the document names.
    pub uid: Option<String>,
}

impl Input {
    /// Reads a file that must hold exactly one document.
    ///
    /// # Errors
    /// `BadInput` when it can't be opened or holds several.
    pub fn read(path: &Path) -> Result<Input, Problem> {
        let bytes = offline::read(path)?;
        let mut all = documents(&path.display().to_string(), &bytes);
        let document = match (all.pop(), all.len()) {
            (Some(d), 0) => d,
            (_, more) => {
                return Err(Problem::new(
                    ProblemKind::BadInput,
                    format!("{}: {} documents; exactly one is wanted", path.display(), more + 1),
                ));
            }
        };
        let groups = match &document.body {
            document::Body::Values(v) => v.node_groups.as_ref().and_then(Value::as_object).cloned().unwrap_or_default(),
            document::Body::Unreadable(_) => Groups::new(),
        };
        let meta = metadata(&bytes);
        Ok(Input { document, groups, namespace: meta("namespace"), uid: meta("uid") })
    }

    /// The name that the document gives the plane.
    pub fn name(&self) -> Option<String> {
        match &self.document.body {
            document::Body::Values(v) => match &v.name {
                Name::Is(Value::String(s)) => Some(s.clone()),
                _ => None,
            },
            document::Body::Unreadable(_) => None,
        }
    }

    /// Findings of the document.
    pub fn findings(&self, context: &Context) -> Findings {
        validate(&self.document, context)
    }
}

/// Reads plain strings of the object's metadata; the rules have read the rest already.
fn metadata(bytes: &[u8]) -> impl Fn(&str) -> Option<String> {
    let value = serde_yaml::from_slice::<serde_yaml::Value>(bytes).ok();
    move |key| value.as_ref()?.get("metadata")?.get(key)?.as_str().map(str::to_string)
}

/// Size of a stock instance type.
pub fn size(name: &str) -> Option<Size> {
    let stock = crate::nodegroups::instance_types::stock(name)?;
    let memory = Quantity::parse(stock.memory).ok()?.nanos();
    Some(Size { cpu: i128::from(stock.vcpu) * crate::model::quantity::NANOS, memory })
}

/// Machines that exist now, by pool.
pub fn machines(views: &[crate::model::verdict::PoolView]) -> BTreeMap<String, u32> {
    views.iter().filter_map(|p| Some((p.name.clone(), u32::try_from(p.machines?).ok()?))).collect()
}

/// Quotas of a namespace, each line with its limit and use.
pub fn quotas(world: &World, namespace: &str) -> Vec<QuotaFact> {
    let nanos = |s: &str| Quantity::parse(s).ok().map(|q| q.nanos());
    let of = |o: &crate::model::Object| -> Vec<QuotaFact> {
        let Some(q) = Quota::of(o) else { return Vec::new() };
        let line = |(resource, hard): (&std::sync::Arc<str>, &std::sync::Arc<str>)| {
            let used = q.used.get(resource).and_then(|u| nanos(u));
            Some(QuotaFact { quota: o.meta.name.to_string(), resource: resource.to_string(), hard: nanos(hard)?, used })
        };
        q.hard.iter().filter_map(line).collect()
    };
    world.list(Kind::ResourceQuota, namespace).flat_map(|o| of(o)).collect()
}

/// The instance types that the platform offers here, if it told.
pub fn offer(world: &World, namespace: &str) -> Offer {
    let names: BTreeSet<String> = choices(world, namespace, "instancetype").collect();
    if names.is_empty() { Offer::Bundled } else { Offer::Live(names) }
}

/// The GPU names that the platform offers here, if it told.
pub fn gpus(world: &World, namespace: &str) -> Option<BTreeSet<String>> {
    world.get(Kind::OptionList, namespace, "gpu")?;
    Some(choices(world, namespace, "gpu").collect())
}

fn choices<'a>(world: &'a World, namespace: &str, source: &str) -> impl Iterator<Item = String> + use<'a> {
    let items = world.get(Kind::OptionList, namespace, source).and_then(|o| match &o.body {
        Body::Options(options) => Some(&options.items),
        _ => None,
    });
    items.into_iter().flatten().map(|c| c.value.to_string())
}

/// What the rules may know.
pub fn context(profile: Profile, world: Option<(&World, &str)>, previous: Option<Groups>) -> Context {
    let (offer, gpus) = world.map(|(w, ns)| (offer(w, ns), gpus(w, ns))).unwrap_or_default();
    Context { profile, offer, storage: None, gpus, quota: None, previous }
}
