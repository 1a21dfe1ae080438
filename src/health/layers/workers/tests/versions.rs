//! The same recordings as Cluster API 1.11 and later would serve them: every verdict stays.

use serde_json::{Value, json};

use super::*;
use crate::model::{
    Object, Scope,
    kind::KINDS,
    world::{Read, ReadState},
};

/// A Cluster API object of v1beta1 as v1beta2 serves it: the new block moves up, the old one under `deprecated`.
fn modern(mut v: Value) -> Value {
    if v["apiVersion"] != "cluster.x-k8s.io/v1beta1" {
        return v;
    }
    v["apiVersion"] = "cluster.x-k8s.io/v1beta2".into();
    let Some(old) = v.get_mut("status").map(Value::take) else { return v };
    let new = old.get("v1beta2").cloned().unwrap_or_else(|| json!({}));
    let mut status = json!({});
    for key in ["phase", "observedGeneration", "nodeRef", "replicas", "expectedMachines", "currentHealthy"] {
        if let Some(x) = old.get(key) {
            status[key] = x.clone();
        }
    }
    for (key, x) in new.as_object().unwrap() {
        status[key] = x.clone();
    }
    let flag = |key: &str| old.get(key).cloned().unwrap_or(Value::Bool(false));
    status["initialization"] = match v["kind"].as_str() {
        Some("Cluster") => {
            json!({"infrastructureProvisioned": flag("infrastructureReady"), "controlPlaneInitialized": flag("controlPlaneReady")})
        }
        _ => json!({"infrastructureProvisioned": flag("infrastructureReady"), "bootstrapDataSecretCreated": flag("bootstrapReady")}),
    };
    if let Some(c) = old.get("conditions") {
        status["deprecated"] = json!({"v1beta1": {"conditions": c}});
    }
    v["status"] = status;
    v
}

fn world(yaml: &str, old_conditions: bool) -> World {
    let mut world = World::default();
    for k in KINDS {
        world.set_read(k.kind, Scope::All, Read { state: ReadState::Complete, at: None, problem: None });
    }
    for doc in serde_yaml::Deserializer::from_str(yaml) {
        let value: Value = serde::Deserialize::deserialize(doc).unwrap();
        let mut value = modern(value);
        if !old_conditions && let Some(s) = value.get_mut("status").and_then(Value::as_object_mut) {
            s.remove("deprecated");
        }
        if let Some(o) = Object::from_value(&value) {
            world.apply(o);
        }
    }
    world
}

#[test]
fn every_recording_reads_the_same_in_the_new_version() {
    for (file, ns) in [
        ("34-first-boot-provider-silent", "tenant-orion"),
        ("35-workers-blocked-preflight", "tenant-orion"),
        ("38-machines-pending-bootstrap", "tenant-vega"),
        ("39-machines-unschedulable-and-not-joined", "tenant-vega"),
        ("40-healthy-three-workers", "tenant-vega"),
        ("41-one-node-not-ready", "tenant-vega"),
        ("42-remediation-blocked", "tenant-vega"),
        ("43-remediation-deletes-machine", "tenant-vega"),
        ("45-cluster-paused", "tenant-vega"),
        ("51-worker-disk-importing", "tenant-pavo"),
        ("52-worker-unschedulable", "tenant-pavo"),
        ("53-pool-rolling-out", "tenant-vega"),
        ("57-endpoint-lost", "tenant-vega"),
    ] {
        let yaml = tests::data(&format!("recorded/{file}.yaml"));
        let read: Time = yaml.split("# Read at: ").nth(1).unwrap().split(' ').next().unwrap().parse().unwrap();
        let states = |w: &World| judged_at(w, ns, read).into_iter().map(|v| (v.pool, v.state)).collect::<Vec<_>>();
        let control = |w: &World| {
            let deadlines = Deadlines::default();
            crate::health::layers::control_plane::judge(&View { world: w, namespace: ns, now: read, deadlines: &deadlines })[0].state
        };
        let plain = tests::world(&yaml, true);
        for old_conditions in [true, false] {
            let new = world(&yaml, old_conditions);
            assert_eq!(states(&new), states(&plain), "{file}, old conditions kept: {old_conditions}");
            assert_eq!(control(&new), control(&plain), "{file}, old conditions kept: {old_conditions}");
        }
    }
}
