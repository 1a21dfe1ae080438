//! `plan`: puts files or the live plane, the rules and the forecast together. Owns the choice of what is compared; printing is [`super::plan`]'s.

use serde_json::Value;

use super::{
    args::PlanArgs,
    exit::Exit,
    facts::{self, Input},
    gather::{self, Seen},
    output::{Format, Out},
    plan::{self, Before, PlanDocument},
    settle::Effective,
};
use crate::{
    model::{Kind, ObjectRef, Problem, ProblemKind},
    nodegroups::{Groups, finding::Findings, forecast::Facts},
};

/// Name of every plane (`platform.md` 3.1, N-NAME).
pub const PLANE: &str = "computeplane";

/// The live plane and everything that bears on an edit of it.
pub struct Live {
    /// What was seen around it.
    pub seen: Seen,
    /// Its identity.
    pub plane: ObjectRef,
    /// The object as just read.
    pub object: Value,
}

/// Plans and prints.
///
/// # Errors
/// Files that can't be opened, a cluster that can't be reached, a plane that can't be patched.
pub async fn plan(args: &PlanArgs, e: &Effective, out: &mut Out) -> Result<Exit, Problem> {
    let format = Format::choose(e.global.output.as_deref(), plan::FORMATS)?;
    let after = Input::read(&args.file)?;
    let document = match &args.against {
        Some(path) => {
            let before = Input::read(path)?;
            let profile = facts::profile(args.profile, None);
            let findings = after.findings(&facts::context(profile, None, Some(before.groups.clone())));
            let none = Default::default();
            let facts = Facts { layout: profile, machines: &none, size: &facts::size, quotas: &[] };
            let namespace = after.namespace.clone().or(before.namespace).unwrap_or_default();
            make(&after, &namespace, Before::File(&before.groups), &facts, &findings)?
        }
        None => {
            let live = read_live(e, &after).await?;
            live.plan(args.profile, &after)?
        }
    };
    plan::print(out, format, &document);
    Ok(if plan::refused(&document) { Exit::Bad } else { Exit::Ok })
}

/// Reads the live plane that a document speaks of, with what surrounds it.
///
/// # Errors
/// No namespace, no cluster, no plane; `Conflict` when the document names another UID.
pub async fn read_live(e: &Effective, after: &Input) -> Result<Live, Problem> {
    if e.global.from.is_some() {
        return Err(Problem::new(ProblemKind::BadInput, "without --against the live plane is read; that can't be done on a dump (--from)"));
    }
    let named = match e.global.namespace.as_slice() {
        [one] => Some(one.clone()),
        _ => after.namespace.clone(),
    };
    let mut seen = gather::gather(e, named.as_deref()).await?;
    let online = seen.online.as_ref().ok_or_else(|| Problem::new(ProblemKind::NotFound, "no connection"))?;
    let namespace = match (named, online.namespaces.as_slice()) {
        (Some(ns), _) => ns,
        (None, [one]) => one.clone(),
        (None, several) => {
            return Err(Problem::new(ProblemKind::BadInput, format!("the document names no namespace, and {} are in view", several.len()))
                .hint("name one with -n"));
        }
    };
    let plane = ObjectRef { kind: Kind::ComputePlane, namespace: namespace.clone(), name: PLANE.into() };
    let object = online.link.session.fetch(&plane).await?;
    // Options come by a poll of their own and are not among the watches of a fleet.
    let options = crate::model::world::Source {
        kind: Kind::OptionList,
        scope: crate::model::Scope::Namespace(namespace),
        selector: crate::model::Selector::all(),
    };
    if let Ok(listed) =
        crate::cluster::watch::request::list(&online.link.session, &options, crate::cluster::watch::request::MAX_OBJECTS).await
    {
        seen.world.replace(&options, listed.objects, seen.now);
    }
    let uid = object.pointer("/metadata/uid").and_then(Value::as_str);
    if let (Some(asked), Some(is)) = (after.uid.as_deref(), uid)
        && asked != is
    {
        return Err(Problem::new(
            ProblemKind::Conflict,
            format!("the document speaks of a plane with UID {asked}; the one there has {is}"),
        )
        .hint("it was deleted and made anew: start from what is there now"));
    }
    Ok(Live { seen, plane, object })
}

impl Live {
    /// The node groups as the API shows them.
    pub fn groups(&self) -> Groups {
        self.object.pointer("/spec/nodeGroups").and_then(Value::as_object).cloned().unwrap_or_default()
    }

    /// The plan of an edit.
    ///
    /// # Errors
    /// `Refused` when the plane can't be patched at all.
    pub fn plan(&self, profile: Option<super::args::ProfileArg>, after: &Input) -> Result<PlanDocument<Value>, Problem> {
        let (world, ns) = (&self.seen.world, self.plane.namespace.as_str());
        let profile = facts::profile(profile, Some((world, ns)));
        let stored = world
            .get(Kind::HelmRelease, ns, PLANE)
            .and_then(|o| crate::model::projection::release::Release::of(o))
            .and_then(|r| r.node_groups.as_ref().map(|g| (***g).clone()));
        let findings = after.findings(&facts::context(profile, Some((world, ns)), Some(stored.clone().unwrap_or_else(|| self.groups()))));
        let view = crate::health::view::View { world, namespace: ns, now: self.seen.now, deadlines: &Default::default() };
        let machines = facts::machines(&crate::health::layers::workers::pool_views(&view));
        let quotas = facts::quotas(world, ns);
        let facts = Facts { layout: profile, machines: &machines, size: &facts::size, quotas: &quotas };
        make(after, ns, Before::Live { object: &self.object, stored: stored.as_ref() }, &facts, &findings)
    }
}

/// Findings in front, then what only the comparison tells; one finding an id and path.
fn make(
    after: &Input,
    namespace: &str,
    before: Before<'_>,
    facts: &Facts<'_>,
    findings: &Findings,
) -> Result<PlanDocument<Value>, Problem> {
    let name = after.name().unwrap_or_else(|| PLANE.into());
    let input = plan::Input { namespace, name: &name, before, after: &after.groups };
    let mut document = plan::plan(&input, facts).map_err(|e| Problem::new(ProblemKind::Invalid, format!("{namespace}/{name}: {e}")))?;
    let mut warnings: Vec<Value> = findings.findings.iter().filter_map(|f| serde_json::to_value(f).ok()).collect();
    let key = |w: &Value| (w.get("id").cloned(), w.get("path").cloned());
    for notice in std::mem::take(&mut document.warnings) {
        if !warnings.iter().any(|w| key(w) == key(&notice)) {
            warnings.push(notice);
        }
    }
    document.warnings = warnings;
    Ok(document)
}
