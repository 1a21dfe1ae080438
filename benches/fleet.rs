//! How long the console's own work takes on a fleet: reading, storing, judging. `cargo bench --bench fleet`; `FLEET=200` for a small one.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing)]

mod support;

use std::sync::LazyLock;

use divan::{Bencher, black_box};
use planedeck::{
    cluster::watch::{items::Splitter, lines::Lines},
    health::{self, deadlines::Deadlines},
    model::{Kind, Object, Scope, Selector, World, prune, world::Source},
};
use serde_json::Value;

static FLEET: LazyLock<support::Fleet> = LazyLock::new(support::Fleet::new);
static WORLD: LazyLock<World> = LazyLock::new(|| {
    let mut world = World::default();
    let all = FLEET.common.iter().map(support::Item::copy).chain((0..size()).flat_map(|n| FLEET.plane(n)));
    all.for_each(|i| world.apply(object(&i)));
    world
});

/// Planes: 5,000 unless told otherwise.
fn size() -> usize {
    std::env::var("FLEET").ok().and_then(|n| n.parse().ok()).unwrap_or(5000)
}

fn object(i: &support::Item) -> Object {
    Object::from_slice(i.kind, &i.api_version, i.json.as_bytes()).unwrap()
}

const KINDS: [&str; 7] = ["ComputePlane", "HelmRelease", "TenantControlPlane", "Cluster", "MachineDeployment", "Machine", "Pod"];

fn sample(kind: &str) -> support::Item {
    FLEET.plane(3).find(|i| format!("{:?}", i.kind) == kind).expect(kind)
}

/// As it was: everything becomes a tree first.
#[divan::bench(args = KINDS)]
fn project_whole(b: Bencher, kind: &str) {
    let i = sample(kind);
    b.counter(divan::counter::BytesCount::new(i.json.len())).bench(|| {
        let v: Value = serde_json::from_slice(black_box(i.json.as_bytes())).unwrap();
        Object::of_kind(i.kind, &i.api_version, &v)
    });
}

#[divan::bench(args = KINDS)]
fn project_pruned(b: Bencher, kind: &str) {
    let i = sample(kind);
    b.counter(divan::counter::BytesCount::new(i.json.len())).bench(|| object(black_box(&i)));
}

fn list(kind: Kind) -> Vec<u8> {
    let items: Vec<String> = (0..size()).flat_map(|n| FLEET.plane(n)).filter(|i| i.kind == kind).map(|i| i.json).collect();
    format!(r#"{{"kind":"XList","apiVersion":"v1","metadata":{{"resourceVersion":"7"}},"items":[{}]}}"#, items.join(",")).into_bytes()
}

fn source(kind: Kind) -> Source {
    Source { kind, scope: Scope::All, selector: Selector::all() }
}

#[divan::bench(sample_count = 5)]
fn list_to_world_clusters(b: Bencher) {
    let bytes = list(Kind::Cluster);
    b.counter(divan::counter::BytesCount::new(bytes.len())).bench(|| {
        let mut objects = Vec::new();
        let mut splitter = Splitter::default();
        for chunk in bytes.chunks(16 << 10) {
            splitter.feed(chunk, &mut |i| objects.extend(Object::from_slice(Kind::Cluster, "cluster.x-k8s.io/v1beta1", i))).unwrap();
        }
        let mut world = World::default();
        world.replace(&source(Kind::Cluster), objects, support::now());
        world
    });
}

#[divan::bench(sample_count = 5)]
fn relist_unchanged_clusters(b: Bencher) {
    let objects = || WORLD.namespaces().flat_map(|ns| WORLD.list(Kind::Cluster, ns)).map(|o| (**o).clone()).collect::<Vec<_>>();
    let mut world = World::default();
    world.replace(&source(Kind::Cluster), objects(), support::now());
    b.with_inputs(objects).bench_local_values(|o| world.replace(&source(Kind::Cluster), o, support::now()));
}

/// A line of a watch until its namespace is dirty, in a full world.
#[divan::bench]
fn event_to_dirty(b: Bencher) {
    let i = sample("Machine");
    let event = format!("{{\"type\":\"MODIFIED\",\"object\":{}}}\n", i.json);
    let mut world = WORLD.clone();
    b.bench_local(|| {
        let mut lines = Lines::default();
        lines.feed(event.as_bytes());
        let v = prune::event(i.kind, lines.next().unwrap()).unwrap();
        world.apply(Object::of_kind(i.kind, &i.api_version, &v["object"]).unwrap());
        world.take_dirty()
    });
}

#[divan::bench]
fn judge_one(b: Bencher) {
    let deadlines = Deadlines::default();
    b.bench(|| health::judge(black_box(&WORLD), "tenant-f00003", support::now(), &deadlines));
}

#[divan::bench]
fn find_planes(b: Bencher) {
    b.bench(|| health::planes(black_box(&WORLD)).len());
}

#[divan::bench(sample_count = 5)]
fn judge_all(b: Bencher) {
    let deadlines = Deadlines::default();
    b.bench(|| health::planes(&WORLD).iter().filter_map(|ns| health::judge(&WORLD, ns, support::now(), &deadlines)).count());
}

fn main() {
    divan::main();
}
