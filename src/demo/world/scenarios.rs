//! The fixed worlds and the fleet generator. Owns which planes exist and how they stand at the start.

use serde_json::{Value, json};

use super::{
    objects::{self, About, event},
    plane::{Machine, Pool, Stage, chain, letters},
    release::{self, Attempt, Outcome},
    template::{File, Fill, after, objects as fill},
};
use crate::model::Time;

const MINUTE: i64 = 60;
const HOUR: i64 = 3600;
const DAY: i64 = 86400;

/// A machine that is `age` seconds old.
fn machines(pool: &Pool, stages: &[(Stage, i64)], now: Time) -> Vec<Machine> {
    let one = |(i, (stage, age)): (usize, &(Stage, i64))| Machine {
        set: pool.set(),
        id: letters(&pool.ns, &format!("{}{i}", pool.name)),
        stage: *stage,
        born: after(now, -age),
    };
    stages.iter().enumerate().map(one).collect()
}

fn pool(ns: &str, groups: &Value, name: &str, born: Time) -> Pool {
    let group = groups.get(name).cloned().unwrap_or(json!({}));
    Pool { ns: ns.into(), name: name.into(), group, born }
}

/// A pool with its release, machines and their surroundings.
fn standing(pool: &Pool, stages: &[(Stage, i64)], now: Time) -> Vec<Value> {
    let machines = machines(pool, stages, now);
    let mut out = vec![pool.release(&Outcome::Succeeded, after(pool.born, 30))];
    out.extend(pool.objects(&machines, machines.len() as i64, now));
    for m in &machines {
        out.extend(pool.machine(m, now));
    }
    out
}

fn tenant(ns: &str, etcd: &str, born: Time) -> Vec<Value> {
    vec![objects::namespace(ns, etcd, born), objects::quota(ns, "7", "22Gi", born)]
}

/// The default world.
pub(super) fn default(now: Time) -> Vec<Value> {
    let mut out = objects::cluster(after(now, -120 * DAY), now);
    out.push(objects::namespace("tenant-root", "tenant-root", after(now, -120 * DAY)));
    out.extend(acme(now));
    out.extend(acme_dev(now));
    out.extend(lab(now));
    out.extend(media(now));
    out.extend(nb(now));
    out
}

/// Healthy, with an idle GPU pool.
fn acme(now: Time) -> Vec<Value> {
    let (ns, born) = ("tenant-acme", after(now, -42 * DAY));
    let groups = json!({
        "web": {"diskSize": "20Gi", "instanceType": "u1.medium", "maxReplicas": 8, "minReplicas": 1, "roles": ["ingress-nginx"]},
        "gpu": {"diskSize": "100Gi", "gpus": [{"name": "nvidia.com/AD102GL_L40S"}], "instanceType": "u1.2xlarge",
            "maxReplicas": 2, "minReplicas": 0, "roles": []}});
    let mut out = tenant(ns, "tenant-root", born);
    out.extend(chain(ns, &groups, born, now));
    let up = [(Stage::Running, 9 * DAY), (Stage::Running, 9 * DAY - 40), (Stage::Running, 2 * DAY)];
    out.extend(standing(&pool(ns, &groups, "web", born), &up, now));
    out.extend(standing(&pool(ns, &groups, "gpu", born), &[], now));
    out
}

/// Scaling up from zero: the first machine is being provisioned, addons wait for it.
fn acme_dev(now: Time) -> Vec<Value> {
    let (ns, born) = ("tenant-acme-dev", after(now, -3 * DAY));
    let groups = json!({"md0": {"diskSize": "20Gi", "instanceType": "u1.medium", "maxReplicas": 10, "minReplicas": 0,
        "roles": ["ingress-nginx"]}});
    let mut out = tenant(ns, "tenant-root", born);
    out.extend(chain(ns, &groups, born, now));
    out.extend(standing(&pool(ns, &groups, "md0", born), &[(Stage::Provisioning, 4 * MINUTE)], now));
    for (suffix, needs) in release::ADDONS.iter().filter(|(s, n)| *s == "cilium" || n.contains(&"cilium")) {
        out.push(release::addon(ns, suffix, needs, false, born));
    }
    let about = About { ns, api: "cluster.x-k8s.io/v1beta1", kind: "MachineDeployment", name: "computeplane-cluster-md0" };
    let said = ("Normal", "ScaledUpGroup", "scaled node group from 0 to 1");
    out.push(event(&about, said, "cluster-autoscaler", after(now, -4 * MINUTE)));
    out
}

/// Both releases are Ready over an empty shell, since no ancestor has etcd.
fn lab(now: Time) -> Vec<Value> {
    let (ns, born) = ("tenant-lab", after(now, -HOUR));
    let mut out = tenant(ns, "", born);
    out.extend(fill(File::AwaitingEtcd, &Fill { names: &[("$NS", ns)], born, now }));
    out
}

/// The GPU pool names an instance type that doesn't exist; the rest runs.
fn media(now: Time) -> Vec<Value> {
    let (ns, born) = ("tenant-media", after(now, -15 * DAY));
    let groups = json!({
        "gpu": {"diskSize": "100Gi", "instanceType": "u9.huge", "maxReplicas": 2, "minReplicas": 0, "roles": []},
        "web": {"diskSize": "20Gi", "instanceType": "u1.large", "maxReplicas": 4, "minReplicas": 2, "roles": ["ingress-nginx"]}});
    let mut out = tenant(ns, "tenant-root", born);
    out.extend(chain(ns, &groups, born, now));
    out.extend(standing(&pool(ns, &groups, "web", born), &[(Stage::Running, 15 * DAY), (Stage::Running, 15 * DAY)], now));
    let gpu = pool(ns, &groups, "gpu", after(now, -9 * MINUTE));
    if let Some(why) = super::render::pool("gpu", &gpu.group) {
        let (outcome, at) = (Outcome::Failed(why, 6), after(now, -3 * MINUTE));
        out.push(gpu.release(&outcome, at));
        let name = release::pool_release_name("gpu");
        let attempt = Attempt { ns, name: &name, chart: "kubernetes-nodes", revision: 1, generation: 1, at };
        out.extend(attempt.event(&outcome));
    }
    out
}

/// Nobody may look inside; only the aggregated API shows it.
fn nb(now: Time) -> Vec<Value> {
    let (ns, born) = ("tenant-nb", after(now, -11 * DAY));
    let groups = json!({"web": {"diskSize": "20Gi", "instanceType": "u1.medium", "maxReplicas": 4, "minReplicas": 1,
        "roles": ["ingress-nginx"]}});
    let mut out = tenant(ns, "tenant-root", born);
    out.extend(chain(ns, &groups, born, now));
    out.extend(standing(&pool(ns, &groups, "web", born), &[(Stage::Running, 11 * DAY), (Stage::Running, 11 * DAY)], now));
    out
}

/// A step of a small generator: the same seed makes the same fleet.
fn roll(seed: &mut u64, sides: u64) -> u64 {
    *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*seed >> 33) % sides.max(1)
}

/// One plane of a fleet: three pools with three machines each, twelve releases. Every twentieth awaits etcd, one in twenty
/// is rejected by render, one in twenty has a machine that hasn't joined.
pub(super) fn fleet_plane(ns: &str, variant: usize, now: Time) -> Vec<Value> {
    let mut seed = (variant as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let born = after(now, -(DAY + roll(&mut seed, 90 * DAY as u64) as i64));
    let group =
        |itype: &str, roles: Value| json!({"diskSize": "20Gi", "instanceType": itype, "maxReplicas": 6, "minReplicas": 1, "roles": roles});
    let mut groups = json!({"batch": group("u1.xlarge", json!([])), "db": group("cx1.large", json!([])),
        "web": group("u1.medium", json!(["ingress-nginx"]))});
    let fate = variant % 20;
    if fate == 0 {
        let mut out = tenant(ns, "", born);
        out.extend(fill(File::AwaitingEtcd, &Fill { names: &[("$NS", ns)], born, now }));
        return out;
    }
    if fate == 1
        && let Some(t) = groups.pointer_mut("/batch/instanceType")
    {
        *t = json!("u9.huge");
    }
    let mut out = tenant(ns, "tenant-root", born);
    // Twelve releases: two, three pools, seven addons.
    let dropped = ["computeplane-cluster-vsnap-crd", "computeplane-cluster-csi"];
    let name = |v: &Value| v.pointer("/metadata/name").and_then(Value::as_str).unwrap_or("").to_string();
    out.extend(chain(ns, &groups, born, now).into_iter().filter(|v| !dropped.contains(&name(v).as_str())));
    for key in ["batch", "db", "web"] {
        let p = pool(ns, &groups, key, born);
        if let Some(why) = super::render::pool(key, &p.group) {
            out.push(p.release(&Outcome::Failed(why, 6), after(now, -5 * MINUTE)));
            continue;
        }
        let age = 60 + roll(&mut seed, 20 * DAY as u64) as i64;
        let last = if fate == 2 && key == "db" { (Stage::Provisioned, 7 * MINUTE) } else { (Stage::Running, age) };
        out.extend(standing(&p, &[(Stage::Running, age), (Stage::Running, age), last], now));
    }
    out
}
