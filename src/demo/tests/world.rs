//! The worlds and their life, by a clock that tests move.

use super::*;
use crate::demo::world::World;

const CAPI: &str = "cluster.x-k8s.io/v1beta1";
const FLUX: &str = "helm.toolkit.fluxcd.io/v2";

struct Life {
    hand: Hand,
    p: Platform,
    world: World,
}

impl Life {
    fn new() -> Life {
        let hand = Hand::new();
        let p = Platform::new(Scenario::Default, hand.clock(), Identity::sre());
        let world = World::new(&p);
        Life { hand, p, world }
    }
    fn pass(&mut self, seconds: i64) {
        for _ in 0..seconds {
            let now = self.hand.pass(1);
            self.world.step(now);
        }
    }
    async fn edit(&mut self, ns: &str, ops: Value) {
        let path = format!("/apis/apps.cozystack.io/v1alpha1/namespaces/{ns}/computeplanes/computeplane");
        let (status, body) = text(send(&self.p, "PATCH", &path, "application/json-patch+json", &ops.to_string()).await).await;
        assert_eq!(status, 200, "{body}");
    }
    fn phases(&self, ns: &str, pool: &str) -> Vec<String> {
        let store = self.p.shared().store();
        let kind = crate::demo::catalog::find("cluster.x-k8s.io", "machines").unwrap();
        store
            .list(kind, Some(ns))
            .iter()
            .filter(|o| o.name.starts_with(&format!("computeplane-cluster-{pool}-")))
            .map(|o| o.value()["status"]["phase"].as_str().unwrap().to_string())
            .collect()
    }
    fn ready(&self, ns: &str, release: &str) -> (String, String) {
        let v = self.p.object(FLUX, "HelmRelease", ns, release).unwrap();
        let all = v["status"]["conditions"].as_array().unwrap().clone();
        let c = all.iter().find(|c| c["type"] == "Ready").unwrap();
        (c["status"].as_str().unwrap().into(), c["message"].as_str().unwrap().into())
    }
}

#[test]
fn no_placeholder_is_left_in_any_object() {
    for scenario in [Scenario::Default, Scenario::Fleet(40), Scenario::Empty] {
        let p = Platform::new(scenario, Hand::new().clock(), Identity::sre());
        let store = p.shared().store();
        for kind in crate::demo::catalog::RESOURCES {
            for o in store.list(kind, None) {
                let text = String::from_utf8(o.json.to_vec()).unwrap();
                for mark in ["$NS", "$POOL", "$SET", "$ID", "$SHORT", "$TEMPLATE", "\"@", "vega"] {
                    assert!(!text.contains(mark), "{mark} in {}/{}: {text}", kind.plural, o.name);
                }
            }
        }
    }
}

#[test]
fn every_object_has_a_unique_identity_and_no_time_is_in_the_future() {
    let p = default();
    let store = p.shared().store();
    let mut seen = std::collections::BTreeSet::new();
    for kind in crate::demo::catalog::RESOURCES {
        for o in store.list(kind, None) {
            let v = o.value();
            assert!(seen.insert(v["metadata"]["uid"].as_str().unwrap().to_string()), "{} {}", kind.plural, o.name);
            let created: Time = v["metadata"]["creationTimestamp"].as_str().unwrap().parse().unwrap();
            assert!(created <= p.now(), "{} {}", kind.plural, o.name);
        }
    }
    assert!(seen.len() > 100, "{}", seen.len());
}

#[test]
fn a_fleet_is_the_same_each_time_and_has_the_promised_size() {
    let fleet = || Platform::new(Scenario::Fleet(20), Hand::new().clock(), Identity::sre());
    let (a, b) = (fleet(), fleet());
    let kind = crate::demo::catalog::find("helm.toolkit.fluxcd.io", "helmreleases").unwrap();
    let (la, lb) = (a.shared().store().list(kind, None), b.shared().store().list(kind, None));
    assert!(la.iter().zip(&lb).all(|(x, y)| x.json == y.json) && la.len() == lb.len());
    let different = Platform::new(Scenario::Fleet(45), Hand::new().clock(), Identity::sre());
    let mut seen = std::collections::BTreeSet::new();
    for o in different.shared().store().list(kind, None) {
        let v = o.value();
        assert_eq!(v["metadata"]["namespace"], o.namespace.as_str());
        assert!(seen.insert(v["metadata"]["uid"].as_str().unwrap().to_string()), "{}/{}", o.namespace, o.name);
    }
    let full = |ns: &str| la.iter().filter(|o| o.namespace == ns).count();
    assert_eq!((0..20).map(|i| full(&format!("tenant-f{i:05}"))).max(), Some(12));
}

#[test]
fn the_machine_of_acme_dev_comes_and_goes() {
    let mut life = Life::new();
    assert_eq!(life.phases("tenant-acme-dev", "md0"), ["Provisioning"]);
    life.pass(30);
    assert_eq!(life.phases("tenant-acme-dev", "md0"), ["Provisioned"]);
    life.pass(30);
    assert_eq!(life.phases("tenant-acme-dev", "md0"), ["Running"]);
    assert_eq!(life.ready("tenant-acme-dev", "computeplane-cluster-cilium").0, "True");
    life.pass(90);
    assert_eq!(life.phases("tenant-acme-dev", "md0"), [""; 0]);
    life.pass(50);
    assert_eq!(life.phases("tenant-acme-dev", "md0").len(), 1);
}

#[tokio::test]
async fn a_good_edit_heals_the_rejected_pool() {
    let mut life = Life::new();
    let gpu = "kubernetes-nodes-computeplane-cluster-gpu";
    assert!(life.ready("tenant-media", gpu).1.contains("instanceType \"u9.huge\" not found in cluster"));
    life.edit(
        "tenant-media",
        json!([{"op": "replace", "path": "/spec/nodeGroups/gpu/instanceType", "value": "u1.2xlarge"},
        {"op": "replace", "path": "/spec/nodeGroups/gpu/minReplicas", "value": 2}]),
    )
    .await;
    life.pass(2);
    assert_eq!(life.ready("tenant-media", "computeplane").0, "Unknown");
    life.pass(10);
    assert_eq!(life.ready("tenant-media", gpu).0, "True");
    assert_eq!(life.phases("tenant-media", "gpu").len(), 2);
    life.pass(80);
    assert_eq!(life.phases("tenant-media", "gpu"), ["Running", "Running"]);
    let md = life.p.object(CAPI, "MachineDeployment", "tenant-media", "computeplane-cluster-gpu").unwrap();
    assert_eq!((md["status"]["readyReplicas"].clone(), md["status"]["phase"].clone()), (json!(2), json!("Running")));
}

#[tokio::test]
async fn bad_edits_are_refused_where_the_platform_refuses_them() {
    let mut life = Life::new();
    life.edit("tenant-acme", json!([{"op": "replace", "path": "/spec/nodeGroups/web/roles", "value": []}])).await;
    life.pass(10);
    let (status, text) = life.ready("tenant-acme", "computeplane");
    assert_eq!(status, "False");
    assert!(text.contains("at least one nodeGroup must carry roles: [ingress-nginx]"), "{text}");
    life.edit(
        "tenant-acme",
        json!([{"op": "replace", "path": "/spec/nodeGroups/web/roles", "value": ["ingress-nginx"]},
        {"op": "replace", "path": "/spec/nodeGroups/web/minReplicas", "value": "one"}]),
    )
    .await;
    life.pass(10);
    assert!(life.ready("tenant-acme", "computeplane").1.contains("got string, want integer"));
}

#[tokio::test]
async fn a_changed_template_rolls_the_pool_and_a_removed_pool_goes() {
    let mut life = Life::new();
    life.edit(
        "tenant-acme",
        json!([{"op": "replace", "path": "/spec/nodeGroups/web/instanceType", "value": "u1.large"},
        {"op": "remove", "path": "/spec/nodeGroups/gpu"}]),
    )
    .await;
    life.pass(12);
    assert_eq!(life.phases("tenant-acme", "web").len(), 6, "surge");
    assert!(life.p.object(CAPI, "MachineDeployment", "tenant-acme", "computeplane-cluster-gpu").is_none());
    life.pass(100);
    assert_eq!(life.phases("tenant-acme", "web"), ["Running", "Running", "Running"]);
    let store = life.p.shared().store();
    let sets = crate::demo::catalog::find("cluster.x-k8s.io", "machinesets").unwrap();
    assert_eq!(store.list(sets, Some("tenant-acme")).len(), 1);
}

#[tokio::test]
async fn deleting_a_plane_takes_everything_with_it() {
    let mut life = Life::new();
    let path = "/apis/apps.cozystack.io/v1alpha1/namespaces/tenant-acme/computeplanes/computeplane";
    text(send(&life.p, "DELETE", path, "", "").await).await;
    life.pass(5);
    assert_eq!(get(&life.p, path).await.0, 200);
    life.pass(20);
    assert_eq!(get(&life.p, path).await.0, 404);
    assert!(life.phases("tenant-acme", "web").is_empty());
}

#[test]
fn scenario_names_are_read() {
    assert_eq!("fleet-200".parse(), Ok(Scenario::Fleet(200)));
    assert_eq!("".parse(), Ok(Scenario::Default));
    assert!("fleet-0".parse::<Scenario>().unwrap_err().contains("fleet-N"));
}
