//! What is known of each pool: its MachineDeployment, MachineSets, Machines with their VMs and disks, health checks, monitor, pods and declaration.
//! Owns joining them by label and reference, never by a name where there is a label; must not judge.

use std::{collections::BTreeMap, sync::Arc};

use serde_json::Value;

use crate::{
    health::{
        layers::{self, CLUSTER, cluster_name, module, pools},
        view::View,
    },
    model::{
        Kind, Object,
        projection::{
            capi::{self, DEPLOYMENT_LABEL, Machine, MachineDeployment, MachineHealthCheck, MachineSet},
            core::Pod,
            cozystack::{App, Conditioned, Monitor},
            kubevirt::{DataVolume, KubevirtMachine, VirtualMachine},
            release::Release,
        },
    },
};

/// What charts of layout D call the cluster (`status.md` 0.3).
pub const FOREIGN: &str = "kubernetes-computeplane-cluster";
/// The pool that charts make when none is declared, and its bounds.
const DEFAULT_POOL: (&str, i64, i64) = ("md0", 0, 10);

/// One worker, as far as its parts are seen.
#[derive(Default)]
pub struct Unit<'a> {
    pub name: Arc<str>,
    pub machine: Option<(&'a Object, &'a Machine)>,
    pub infra: Option<(&'a Object, &'a KubevirtMachine)>,
    pub vm: Option<(&'a Object, &'a VirtualMachine)>,
    pub instance: Option<(&'a Object, &'a VirtualMachine)>,
    pub disks: Vec<(&'a Object, &'a DataVolume)>,
    pub bootstrap: Option<(&'a Object, &'a Conditioned)>,
    pub pod: Option<(&'a Object, &'a Pod)>,
}

/// One pool.
#[derive(Default)]
pub struct Pool<'a> {
    /// `None` for parts that name no pool.
    pub name: Option<String>,
    pub deployment: Option<(&'a Object, &'a MachineDeployment)>,
    pub sets: Vec<(&'a Object, &'a MachineSet)>,
    pub units: Vec<Unit<'a>>,
    pub check: Option<(&'a Object, &'a MachineHealthCheck)>,
    pub monitor: Option<(&'a Object, &'a Monitor)>,
    /// The entry of `nodeGroups`; `Some(None)` for the implicit default pool.
    pub declared: Option<Option<&'a Value>>,
}

impl Unit<'_> {
    /// The object that stands for the worker: the Machine, else what there is of its VM.
    pub fn object(&self) -> Option<&Object> {
        let parts =
            [self.machine.map(|x| x.0), self.infra.map(|x| x.0), self.vm.map(|x| x.0), self.instance.map(|x| x.0), self.pod.map(|x| x.0)];
        parts.into_iter().chain([self.disks.first().map(|x| x.0)]).flatten().next()
    }
}

impl Pool<'_> {
    /// The bounds of the pool: the autoscaler's annotations, else what is declared, else the platform's defaults.
    pub fn bounds(&self) -> (Option<i64>, Option<i64>) {
        let (min, max) = self.deployment.map_or((None, None), |(o, _)| capi::bounds(&o.meta.annotations));
        let declared = |key: &str, default: i64| match self.declared {
            Some(Some(v)) => Some(v.get(key).and_then(Value::as_i64).unwrap_or(default)),
            Some(None) => Some(default),
            None => None,
        };
        let min = min.or_else(|| declared("minReplicas", DEFAULT_POOL.1)).or(self.monitor.and_then(|(_, m)| m.min));
        (min, max.or_else(|| declared("maxReplicas", DEFAULT_POOL.2)))
    }

    /// What is wanted now: the live value, which the autoscaler moves. The plane's spec states only bounds.
    pub fn desired(&self) -> Option<i64> {
        self.deployment.map(|(_, d)| d.replicas.unwrap_or(0))
    }

    /// Machines that are seen, in whatever state.
    pub fn machines(&self) -> usize {
        self.units.iter().filter(|u| u.machine.is_some()).count()
    }
}

/// True for an object of this plane's cluster, in any layout.
pub fn ours(o: &Object) -> bool {
    match cluster_name(o) {
        Some(c) => c == CLUSTER || c == FOREIGN,
        None => o.meta.name.starts_with("computeplane-cluster-"),
    }
}

fn label(o: &Object, key: &str) -> Option<Arc<str>> {
    o.meta.labels.get(key).cloned().filter(|v| !v.is_empty())
}

/// The display name of a pool, from its MachineDeployment's name.
fn display(deployment: &str) -> String {
    pools::pool_of(deployment).unwrap_or(deployment).to_string()
}

/// Collects pools under their display names; the empty name holds what names none.
struct Collected<'a> {
    pools: BTreeMap<String, Pool<'a>>,
}

impl<'a> Collected<'a> {
    fn pool(&mut self, name: &str) -> &mut Pool<'a> {
        let pool = self.pools.entry(name.to_string()).or_default();
        if pool.name.is_none() && !name.is_empty() {
            pool.name = Some(name.to_string());
        }
        pool
    }
}

/// All pools of the plane, by name; parts that name no pool come last.
pub fn pools<'a>(view: &View<'a>) -> Vec<Pool<'a>> {
    let mut all = Collected { pools: BTreeMap::new() };
    deployments(view, &mut all);
    let mut units = units(view);
    for u in std::mem::take(&mut units) {
        let name = pool_of_unit(view, &u).unwrap_or_default();
        all.pool(&name).units.push(u);
    }
    for o in view.list(Kind::WorkloadMonitor) {
        let worker = Monitor::of(o).filter(|m| &*m.type_ == "worker");
        if let (Some(m), Some(name)) = (worker, pools::pool_of(&o.meta.name)) {
            all.pool(name).monitor = Some((o, m));
        }
    }
    for (name, group) in declared(view).into_iter().flatten() {
        // The default pool is only a guess from silence: pools that are seen speak against it.
        if group.is_some() || all.pools.contains_key(name) || all.pools.keys().all(String::is_empty) {
            all.pool(name).declared = Some(group);
        }
    }
    let nameless = all.pools.remove("");
    all.pools.into_values().chain(nameless).collect()
}

fn deployments<'a>(view: &View<'a>, all: &mut Collected<'a>) {
    for o in view.list(Kind::MachineDeployment).filter(|o| ours(o)) {
        let Some(d) = MachineDeployment::of(o) else { continue };
        let slot = &mut all.pool(&display(&o.meta.name)).deployment;
        // Of two with one pool's name (an unfinished move between layouts) the one in this plane's cluster counts.
        if slot.is_none() || cluster_name(o) == Some(CLUSTER) {
            *slot = Some((o, d));
        }
    }
    for o in view.list(Kind::MachineSet).filter(|o| ours(o)) {
        let name = label(o, DEPLOYMENT_LABEL).map(|d| display(&d)).unwrap_or_default();
        if let Some(s) = MachineSet::of(o) {
            all.pool(&name).sets.push((o, s));
        }
    }
    for o in view.list(Kind::MachineHealthCheck).filter(|o| ours(o)) {
        let Some(m) = MachineHealthCheck::of(o) else { continue };
        let deployment = if m.deployment.is_empty() { &o.meta.name } else { &m.deployment };
        all.pool(&display(deployment)).check = Some((o, m));
    }
}

/// The pools that somebody declared, with their entries: the ComputePlane's, else the releases' values.
pub fn declared<'a>(view: &View<'a>) -> Option<Vec<(&'a str, Option<&'a Value>)>> {
    let app = module::application(view).and_then(|o| App::of(o));
    let release = |name: &str| view.get(Kind::HelmRelease, name).and_then(|o| Release::of(o));
    let groups = app.map(|a| a.node_groups.as_ref()).or_else(|| release(layers::MODULE).map(|r| r.node_groups.as_ref()));
    let groups = groups.or_else(|| release(CLUSTER).map(|r| r.node_groups.as_ref()))?;
    // A group that is null is dropped by Helm (rule G-NULL).
    let list: Vec<_> =
        groups.into_iter().flat_map(|g| g.iter()).filter(|(_, v)| !v.is_null()).map(|(k, v)| (k.as_str(), Some(v))).collect();
    Some(if list.is_empty() { vec![(DEFAULT_POOL.0, None)] } else { list })
}

/// Workers by name: a Machine with its infrastructure, or whatever part of one is seen alone.
fn units<'a>(view: &View<'a>) -> Vec<Unit<'a>> {
    let mut by_infra: BTreeMap<Arc<str>, Unit<'a>> = BTreeMap::new();
    for o in view.list(Kind::Machine).filter(|o| ours(o)) {
        let Some(m) = Machine::of(o) else { continue };
        let key = if m.infrastructure.is_empty() { o.meta.name.clone() } else { m.infrastructure.clone() };
        let unit = by_infra.entry(key).or_default();
        unit.name = o.meta.name.clone();
        unit.machine = Some((o, m));
        if !m.bootstrap.is_empty() {
            unit.bootstrap = view.get(Kind::TalosConfig, &m.bootstrap).and_then(|o| Some((&**o, Conditioned::of(o)?)));
        }
    }
    for o in view.list(Kind::KubevirtMachine).filter(|o| ours(o)) {
        slot(&mut by_infra, &o.meta.name).infra = KubevirtMachine::of(o).map(|k| (&**o, k));
    }
    for o in view.list(Kind::VirtualMachine).filter(|o| ours(o)) {
        slot(&mut by_infra, &machine_of_vm(o)).vm = VirtualMachine::of(o).map(|v| (&**o, v));
    }
    for o in view.list(Kind::VirtualMachineInstance).filter(|o| ours(o)) {
        slot(&mut by_infra, &machine_of_vm(o)).instance = VirtualMachine::of(o).map(|v| (&**o, v));
    }
    for o in view.list(Kind::DataVolume) {
        let owner = o.meta.owners.iter().find(|(kind, ..)| &**kind == "VirtualMachine").map(|(_, name)| name.clone());
        let owner = owner.filter(|n| by_infra.contains_key(n)).or_else(|| before_disk(&by_infra, &o.meta.name));
        let Some(d) = DataVolume::of(o) else { continue };
        match owner.and_then(|n| by_infra.get_mut(&n)) {
            Some(unit) => unit.disks.push((o, d)),
            // A disk of which nothing else is seen still tells that a worker waits for it.
            None if ours(o) && &*d.phase != "Succeeded" => slot(&mut by_infra, &o.meta.name).disks.push((o, d)),
            None => {}
        }
    }
    for o in view.list(Kind::Pod).filter(|o| worker_pod(o)) {
        let name = label(o, "vm.kubevirt.io/name").or_else(|| label(o, "kubevirt.io/vm")).unwrap_or_else(|| o.meta.name.clone());
        let unit = slot(&mut by_infra, &name);
        // Of a migration's two pods the one that runs counts.
        if unit.pod.is_none_or(|(_, p)| !p.ready()) {
            unit.pod = Pod::of(o).map(|p| (&**o, p));
        }
    }
    by_infra.into_values().collect()
}

fn slot<'m, 'a>(units: &'m mut BTreeMap<Arc<str>, Unit<'a>>, name: &Arc<str>) -> &'m mut Unit<'a> {
    let unit = units.entry(name.clone()).or_default();
    if unit.name.is_empty() {
        unit.name = name.clone();
    }
    unit
}

fn machine_of_vm(o: &Object) -> Arc<str> {
    label(o, "capk.cluster.x-k8s.io/kubevirt-machine-name").unwrap_or_else(|| o.meta.name.clone())
}

/// The provider names a disk `<vm>-<template>`.
fn before_disk(units: &BTreeMap<Arc<str>, Unit<'_>>, disk: &str) -> Option<Arc<str>> {
    units.keys().find(|k| disk.strip_prefix(&***k).is_some_and(|rest| rest.starts_with('-'))).cloned()
}

/// A virt-launcher pod of a worker, by the labels that its VM carries.
fn worker_pod(o: &Object) -> bool {
    let ours = o.meta.labels.get(capi::CLUSTER_LABEL).is_some_and(|c| &**c == CLUSTER || &**c == FOREIGN);
    ours && (o.meta.labels.contains_key(DEPLOYMENT_LABEL) || o.meta.labels.get("cluster.x-k8s.io/role").is_some_and(|r| &**r == "worker"))
}

/// The pool of a worker, by label of any of its parts; else by the MachineSet or Machine that owns it.
fn pool_of_unit(view: &View<'_>, u: &Unit<'_>) -> Option<String> {
    let parts = [u.machine.map(|x| x.0), u.infra.map(|x| x.0), u.vm.map(|x| x.0), u.instance.map(|x| x.0), u.pod.map(|x| x.0)];
    let parts: Vec<&Object> = parts.into_iter().flatten().collect();
    if let Some(d) = parts.iter().find_map(|o| label(o, DEPLOYMENT_LABEL)) {
        return Some(display(&d));
    }
    let set = parts.iter().find_map(|o| label(o, "cluster.x-k8s.io/set-name").or_else(|| owner(o, "MachineSet")));
    let set =
        set.and_then(|s| view.get(Kind::MachineSet, &s)).and_then(|o| label(o, DEPLOYMENT_LABEL).or_else(|| owner(o, "MachineDeployment")));
    if let Some(d) = set {
        return Some(display(&d));
    }
    let machine = parts.iter().find_map(|o| owner(o, "Machine")).and_then(|m| view.get(Kind::Machine, &m));
    if let Some(d) = machine.and_then(|o| label(o, DEPLOYMENT_LABEL)) {
        return Some(display(&d));
    }
    // No label at all: the longest MachineDeployment (or monitor) whose name begins the worker's.
    let begins = |name: &str| u.name.strip_prefix(name).is_some_and(|rest| rest.starts_with('-'));
    let known = [Kind::MachineDeployment, Kind::WorkloadMonitor].into_iter().flat_map(|k| view.list(k)).map(|o| &*o.meta.name);
    known.filter(|n| begins(n) && pools::pool_of(n).is_some()).max_by_key(|n| n.len()).map(display)
}

fn owner(o: &Object, kind: &str) -> Option<Arc<str>> {
    o.meta.owners.iter().find(|(k, ..)| &**k == kind).map(|(_, name)| name.clone())
}
