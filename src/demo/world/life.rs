//! The life of a world: what controllers do after an edit, and machines that come and go. Owns the order and the (accelerated)
//! delays; every step is a function of the store and the time.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::{
    objects::{About, event},
    plane::{Machine, Pool, Stage, inventory, letters},
    release::{self, Attempt, Outcome},
    render,
    template::after,
};
use crate::{
    demo::{Platform, catalog},
    model::Time,
};

const FLUX: &str = "helm.toolkit.fluxcd.io/v2";
const CAPI: &str = "cluster.x-k8s.io/v1beta1";
const COZY: &str = "cozystack.io/v1alpha1";

/// Seconds each thing takes here; the real ones take minutes.
mod delay {
    pub(super) const NOTICE: i64 = 1;
    pub(super) const MODULE: i64 = 3;
    pub(super) const POOL: i64 = 2;
    pub(super) const PENDING: i64 = 8;
    pub(super) const IMPORT: i64 = 25;
    pub(super) const JOIN: i64 = 15;
    pub(super) const AUTOSCALER: i64 = 15;
    pub(super) const ADDONS: i64 = 10;
    pub(super) const IDLE: i64 = 90;
    pub(super) const DEMAND: i64 = 45;
    pub(super) const UNINSTALL: i64 = 12;
}

#[derive(Debug, Clone, PartialEq)]
enum Task {
    ModuleStart,
    ModuleDone,
    PoolStart(String),
    PoolDone(String),
    Advance(String, String),
    Raise(String),
    Scale(String, i64),
    Addons,
    Uninstall,
}

/// The controllers of one platform.
pub struct World {
    platform: Platform,
    position: u64,
    seen: BTreeMap<String, i64>,
    tasks: Vec<(Time, String, Task)>,
}

fn text<'a>(v: &'a Value, path: &str) -> &'a str {
    v.pointer(path).and_then(Value::as_str).unwrap_or("")
}

impl World {
    /// Takes the platform as it stands: only machines on their way are work.
    pub fn new(platform: &Platform) -> World {
        let mut world = World { platform: platform.clone(), position: 0, seen: BTreeMap::new(), tasks: Vec::new() };
        let now = platform.now();
        let store = platform.shared().store();
        world.position = store.head();
        if let Some(kind) = catalog::find(catalog::FLUX, "helmreleases") {
            for o in store.list(kind, None).iter().filter(|o| o.name == "computeplane") {
                world.seen.insert(o.namespace.clone(), generation(&o.value()));
            }
        }
        if let Some(kind) = catalog::find(catalog::CAPI, "machines") {
            for o in store.list(kind, None) {
                let v = o.value();
                if text(&v, "/status/phase") != "Running" && !o.namespace.starts_with("tenant-f") {
                    let task = Task::Advance(pool_of(&v), o.name.clone());
                    world.tasks.push((after(now, delay::IMPORT), o.namespace.clone(), task));
                }
            }
        }
        drop(store);
        world
    }

    /// Does everything due at `now`. Returns when there is more to do, if known.
    pub fn step(&mut self, now: Time) -> Option<Time> {
        self.notice(now);
        while let Some(i) = self.due(now) {
            let (at, ns, task) = self.tasks.swap_remove(i);
            self.run(&ns, task, at, now);
            self.notice(now);
        }
        self.tasks.iter().map(|(at, ..)| *at).min()
    }

    fn due(&self, now: Time) -> Option<usize> {
        let ripe = self.tasks.iter().enumerate().filter(|(_, (at, ..))| *at <= now);
        ripe.min_by_key(|(i, (at, ..))| (*at, *i)).map(|(i, _)| i)
    }

    fn later(&mut self, at: Time, seconds: i64, ns: &str, task: Task) {
        if !self.tasks.iter().any(|(_, n, t)| n == ns && *t == task) {
            self.tasks.push((after(at, seconds), ns.to_string(), task));
        }
    }

    /// Sees edits and deletions of planes since the last look.
    fn notice(&mut self, now: Time) {
        let store = self.platform.shared().store();
        let changes = store.since(self.position).unwrap_or_default();
        self.position = store.head();
        drop(store);
        for c in changes.iter().filter(|c| c.resource.plural == "helmreleases") {
            let Some(new) = c.new.as_ref().filter(|o| o.name == "computeplane") else { continue };
            let v = new.value();
            let ns = new.namespace.clone();
            if v.pointer("/metadata/deletionTimestamp").is_some() {
                self.later(now, delay::UNINSTALL, &ns, Task::Uninstall);
            } else if self.seen.insert(ns.clone(), generation(&v)) != Some(generation(&v)) {
                self.tasks.retain(|(_, n, t)| *n != ns || !matches!(t, Task::ModuleStart | Task::ModuleDone));
                self.later(now, delay::NOTICE, &ns, Task::ModuleStart);
            }
        }
    }

    fn run(&mut self, ns: &str, task: Task, at: Time, now: Time) {
        match task {
            Task::ModuleStart => {
                self.attempt(ns, "computeplane", "computeplane", &Outcome::Running, at);
                self.later(at, delay::MODULE, ns, Task::ModuleDone);
            }
            Task::ModuleDone => self.module(ns, at),
            Task::PoolStart(pool) => {
                let name = release::pool_release_name(&pool);
                self.attempt(ns, &name, "kubernetes-nodes", &Outcome::Running, at);
                self.later(at, delay::POOL, ns, Task::PoolDone(pool));
            }
            Task::PoolDone(pool) => self.pool(ns, &pool, at, now),
            Task::Advance(pool, machine) => self.advance(ns, &pool, &machine, at),
            Task::Raise(pool) => {
                if let Some((p, desired)) = self.load(ns, &pool)
                    && desired < p.min()
                {
                    self.scale(ns, &pool, p.min(), at);
                }
            }
            Task::Scale(pool, to) => {
                self.scale(ns, &pool, to, at);
                if to == 0 && ns == "tenant-acme-dev" {
                    self.later(at, delay::DEMAND, ns, Task::Scale(pool, 1));
                }
            }
            Task::Addons => {
                let born = self.born(ns).unwrap_or(at);
                for (suffix, needs) in release::ADDONS {
                    self.platform.put(release::addon(ns, suffix, needs, true, born));
                }
            }
            Task::Uninstall => self.uninstall(ns),
        }
    }

    fn get(&self, api: &str, kind: &str, ns: &str, name: &str) -> Option<Value> {
        self.platform.object(api, kind, ns, name)
    }

    fn born(&self, ns: &str) -> Option<Time> {
        let v = self.get(FLUX, "HelmRelease", ns, "computeplane")?;
        text(&v, "/metadata/creationTimestamp").parse().ok()
    }

    /// Writes the status of an attempt into a release, gives it back its finalizer, and says the event.
    fn attempt(&mut self, ns: &str, name: &str, chart: &str, outcome: &Outcome, at: Time) {
        let Some(mut v) = self.get(FLUX, "HelmRelease", ns, name) else { return };
        let last = v.pointer("/status/history/0/version").and_then(Value::as_u64).unwrap_or(0);
        let attempt = Attempt { ns, name, chart, revision: last + 1, generation: generation(&v), at };
        let mut status = attempt.status(outcome, v.get("status"));
        if let (Outcome::Failed(_, n), Some(o)) = (outcome, status.as_object_mut()) {
            let before = v.pointer("/status/failures").and_then(Value::as_u64).unwrap_or(0);
            o.insert("failures".into(), json!(before + n));
        }
        if let Some(m) = v.get_mut("metadata").and_then(Value::as_object_mut) {
            m.insert("finalizers".into(), json!(["finalizers.fluxcd.io"]));
        }
        if let Some(o) = v.as_object_mut() {
            o.insert("status".into(), status);
        }
        self.platform.put(v);
        if let Some(said) = attempt.event(outcome) {
            self.platform.put(said);
        }
    }

    /// The module's release: refuses, or makes one release per pool and removes those without a pool.
    fn module(&mut self, ns: &str, at: Time) {
        let Some(v) = self.get(FLUX, "HelmRelease", ns, "computeplane") else { return };
        let stored = v.pointer("/spec/values/nodeGroups").cloned().unwrap_or_default();
        let groups = without_nulls(&stored);
        let names = groups.as_object().into_iter().flatten().find_map(|(name, _)| render::pool_name(name));
        if let Some(why) = render::module(&groups).or(names) {
            self.attempt(ns, "computeplane", "computeplane", &Outcome::Failed(why, 1), at);
            return;
        }
        let groups = or_default(groups);
        self.attempt(ns, "computeplane", "computeplane", &Outcome::Succeeded, at);
        if let Some(mut v) = self.get(FLUX, "HelmRelease", ns, "computeplane") {
            inventory(&mut v, ns, &groups);
            self.platform.put(v);
        }
        for (name, group) in groups.as_object().into_iter().flatten() {
            let wanted = release::pool(ns, name, group, at);
            let held = self.get(FLUX, "HelmRelease", ns, &release::pool_release_name(name));
            if held.as_ref().and_then(|h| h.pointer("/spec/values")) == wanted.pointer("/spec/values") {
                continue;
            }
            self.platform.put(wanted);
            self.later(at, delay::NOTICE, ns, Task::PoolStart(name.clone()));
        }
        for name in self.names("helmreleases", ns) {
            let Some(pool) = name.strip_prefix("kubernetes-nodes-computeplane-cluster-") else { continue };
            if groups.get(pool).is_none() {
                self.remove_pool(ns, pool);
            }
        }
    }

    fn names(&self, plural: &str, ns: &str) -> Vec<String> {
        let Some(kind) = catalog::RESOURCES.iter().find(|r| r.plural == plural) else { return Vec::new() };
        self.platform.shared().store().list(kind, Some(ns)).iter().map(|o| o.name.clone()).collect()
    }

    /// A pool's release: refuses, or makes the pool's objects.
    fn pool(&mut self, ns: &str, name: &str, at: Time, now: Time) {
        let release = release::pool_release_name(name);
        let Some(v) = self.get(FLUX, "HelmRelease", ns, &release) else { return };
        let group = v.pointer("/spec/values").cloned().unwrap_or_default();
        if let Some(why) = render::pool(name, &group) {
            self.attempt(ns, &release, "kubernetes-nodes", &Outcome::Failed(why, 1), at);
            return;
        }
        self.attempt(ns, &release, "kubernetes-nodes", &Outcome::Succeeded, at);
        if self.get(CAPI, "Cluster", ns, "computeplane-cluster").is_none() {
            return;
        }
        let fresh = Pool { ns: ns.into(), name: name.into(), group, born: at };
        let Some((pool, desired)) = self.load(ns, name) else {
            // Only creation takes the minimum.
            self.write(&fresh, &[], fresh.min(), at);
            self.scale(ns, name, fresh.min(), at);
            return;
        };
        let machines = self.machines(&pool);
        self.write(&pool, &machines, desired, now);
        let old = machines.iter().filter(|m| m.set != pool.set()).count();
        for n in 0..old {
            self.birth(&pool, &format!("{}{n}", at.as_second()), at);
        }
        if old > 0 {
            let machines = self.machines(&pool);
            self.write(&pool, &machines, desired, now);
        }
        if desired < pool.min() {
            self.later(at, delay::AUTOSCALER, ns, Task::Raise(name.into()));
        }
    }

    /// A pool out of its release and MachineDeployment, and the replicas it asks for.
    fn load(&self, ns: &str, name: &str) -> Option<(Pool, i64)> {
        let release = self.get(FLUX, "HelmRelease", ns, &release::pool_release_name(name))?;
        let deployment = self.get(CAPI, "MachineDeployment", ns, &format!("computeplane-cluster-{name}"))?;
        let group = release.pointer("/spec/values").cloned().unwrap_or_default();
        let born = text(&deployment, "/metadata/creationTimestamp").parse().ok()?;
        let desired = deployment.pointer("/spec/replicas").and_then(Value::as_i64).unwrap_or(0);
        Some((Pool { ns: ns.into(), name: name.into(), group, born }, desired))
    }

    fn machines(&self, pool: &Pool) -> Vec<Machine> {
        let Some(kind) = catalog::find(catalog::CAPI, "machines") else { return Vec::new() };
        let all = self.platform.shared().store().list(kind, Some(&pool.ns));
        let mine = all.iter().filter(|o| o.label("cluster.x-k8s.io/deployment-name").as_deref() == Some(&pool.deployment()));
        mine.filter_map(|o| {
            let (set, id) = o.name.strip_prefix(&format!("{}-", pool.deployment()))?.split_once('-')?;
            let v = o.value();
            Some(Machine {
                set: set.into(),
                id: id.into(),
                stage: Stage::of_phase(text(&v, "/status/phase"))?,
                born: text(&v, "/metadata/creationTimestamp").parse().ok()?,
            })
        })
        .collect()
    }

    fn write(&self, pool: &Pool, machines: &[Machine], desired: i64, now: Time) {
        for v in pool.objects(machines, desired, now) {
            self.put_observed(v);
        }
    }

    /// Writes an object whose controller has seen what it writes: `status.observedGeneration` is the generation that results.
    fn put_observed(&self, v: Value) {
        let text = |path: &str| v.pointer(path).and_then(Value::as_str).unwrap_or_default().to_string();
        let (api, kind, ns, name) = (text("/apiVersion"), text("/kind"), text("/metadata/namespace"), text("/metadata/name"));
        let tells = v.pointer("/status/observedGeneration").is_some();
        self.platform.put(v);
        let Some(mut now) = self.platform.object(&api, &kind, &ns, &name).filter(|_| tells) else { return };
        let generation = now.pointer("/metadata/generation").cloned().unwrap_or_default();
        if now.pointer("/status/observedGeneration") == Some(&generation) {
            return;
        }
        if let Some(observed) = now.pointer_mut("/status/observedGeneration") {
            *observed = generation;
        }
        self.platform.put(now);
    }

    fn birth(&mut self, pool: &Pool, seed: &str, at: Time) {
        let m = Machine { set: pool.set(), id: letters(&pool.ns, &format!("{}{seed}", pool.name)), stage: Stage::Pending, born: at };
        for v in pool.machine(&m, at) {
            self.platform.put(v);
        }
        let name = pool.machine_name(&m);
        self.later(at, delay::PENDING, &pool.ns, Task::Advance(pool.name.clone(), name));
    }

    /// Moves a machine one stage on; a new one that runs replaces an old one of a rolling pool.
    fn advance(&mut self, ns: &str, name: &str, machine: &str, at: Time) {
        let Some((pool, desired)) = self.load(ns, name) else { return };
        let all = self.machines(&pool);
        let Some(m) = all.iter().find(|m| pool.machine_name(m) == machine) else { return };
        let next = Machine { stage: m.stage.next(), ..m.clone() };
        for v in pool.machine(&next, at) {
            self.platform.put(v);
        }
        match next.stage {
            Stage::Running => {
                let about = About { ns, api: CAPI, kind: "Machine", name: machine };
                self.platform.put(event(&about, ("Normal", "SuccessfulSetNodeRef", machine), "machine-controller", at));
                if let Some(old) = all.iter().find(|o| o.set != pool.set()) {
                    self.remove_machine(ns, &pool.machine_name(old));
                }
                self.later(at, delay::ADDONS, ns, Task::Addons);
                if ns == "tenant-acme-dev" && pool.min() == 0 {
                    self.later(at, delay::IDLE, ns, Task::Scale(name.into(), 0));
                }
            }
            stage => {
                let wait = if stage == Stage::Provisioning { delay::IMPORT } else { delay::JOIN };
                self.later(at, wait, ns, Task::Advance(name.into(), machine.into()));
            }
        }
        let machines = self.machines(&pool);
        self.write(&pool, &machines, desired, at);
        self.sweep_sets(&pool, &machines);
    }

    /// Removes MachineSets of old templates that have no machine left.
    fn sweep_sets(&self, pool: &Pool, machines: &[Machine]) {
        for set in self.names("machinesets", &pool.ns) {
            let Some(suffix) = set.strip_prefix(&format!("{}-", pool.deployment())) else { continue };
            if suffix != pool.set() && !suffix.contains('-') && !machines.iter().any(|m| m.set == suffix) {
                self.platform.remove(CAPI, "MachineSet", &pool.ns, &set);
            }
        }
    }

    fn scale(&mut self, ns: &str, name: &str, to: i64, at: Time) {
        let Some((pool, _)) = self.load(ns, name) else { return };
        let machines = self.machines(&pool);
        for n in machines.len() as i64..to {
            self.birth(&pool, &format!("{}{n}", at.as_second()), at);
        }
        for m in machines.iter().skip(to.max(0) as usize) {
            self.remove_machine(ns, &pool.machine_name(m));
        }
        let machines = self.machines(&pool);
        self.write(&pool, &machines, to, at);
        let about = About { ns, api: CAPI, kind: "MachineDeployment", name: &pool.deployment() };
        let word = format!("scaled node group to {to}");
        self.platform.put(event(&about, ("Normal", "ScaledUpGroup", &word), "cluster-autoscaler", at));
    }

    fn remove_machine(&self, ns: &str, name: &str) {
        self.platform.remove(CAPI, "Machine", ns, name);
        self.platform.remove("bootstrap.cluster.x-k8s.io/v1alpha3", "TalosConfig", ns, name);
        self.platform.remove("infrastructure.cluster.x-k8s.io/v1alpha1", "KubevirtMachine", ns, name);
        for pod in self.names("pods", ns).iter().filter(|p| p.starts_with(&format!("virt-launcher-{name}-"))) {
            self.platform.remove("v1", "Pod", ns, pod);
            self.platform.remove(COZY, "Workload", ns, &format!("pod-{pod}"));
        }
    }

    fn remove_pool(&self, ns: &str, name: &str) {
        if let Some((pool, _)) = self.load(ns, name) {
            for m in self.machines(&pool) {
                self.remove_machine(ns, &pool.machine_name(&m));
            }
            self.platform.remove(CAPI, "MachineSet", ns, &format!("{}-{}", pool.deployment(), pool.set()));
            for kind in ["MachineDeployment", "MachineHealthCheck"] {
                self.platform.remove(CAPI, kind, ns, &pool.deployment());
            }
            self.platform.remove(COZY, "WorkloadMonitor", ns, &pool.deployment());
        }
        self.platform.remove(FLUX, "HelmRelease", ns, &release::pool_release_name(name));
    }

    /// A plane that is deleted with its finalizer in place takes everything with it.
    fn uninstall(&mut self, ns: &str) {
        self.tasks.retain(|(_, n, _)| n != ns);
        self.seen.remove(ns);
        let pools: Vec<String> = self.names("machinedeployments", ns);
        for pool in pools.iter().filter_map(|p| p.strip_prefix("computeplane-cluster-")) {
            self.remove_pool(ns, pool);
        }
        for r in catalog::RESOURCES.iter().filter(|r| r.namespaced && !matches!(r.plural, "resourcequotas" | "events")) {
            for name in self.names(r.plural, ns) {
                self.platform.remove(&r.api_version(), r.kind, ns, &name);
            }
        }
    }
}

fn generation(v: &Value) -> i64 {
    v.pointer("/metadata/generation").and_then(Value::as_i64).unwrap_or(0)
}

fn pool_of(machine: &Value) -> String {
    let name = text(machine, "/metadata/labels/cluster.x-k8s.io~1deployment-name");
    name.strip_prefix("computeplane-cluster-").unwrap_or(name).to_string()
}

/// Helm drops keys whose value is null.
fn without_nulls(groups: &Value) -> Value {
    match groups.as_object() {
        Some(all) => Value::Object(all.iter().filter(|(_, g)| !g.is_null()).map(|(k, g)| (k.clone(), g.clone())).collect()),
        None => groups.clone(),
    }
}

/// Without pools the chart makes its default one.
fn or_default(groups: Value) -> Value {
    if groups.as_object().is_some_and(|g| !g.is_empty()) {
        return groups;
    }
    let md0 = json!({"diskSize": "20Gi", "instanceType": "u1.medium", "maxReplicas": 10, "minReplicas": 0,
        "roles": ["ingress-nginx"]});
    let mut all = Map::new();
    all.insert("md0".into(), md0);
    Value::Object(all)
}
