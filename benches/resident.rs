//! Prints what a fleet costs in resident memory: its world, then its verdicts. `cargo bench --bench resident -- 200 5000`; `WATCHED=1` for what
//! the list of planes follows (without the objects of single open planes), `ONLY=Machine,Pod` for some kinds, `KINDS=1` to list them.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing)]

mod support;

use std::{
    collections::BTreeMap,
    io::{BufRead as _, Write as _},
    process::{Command, Stdio},
};

use planedeck::{
    health::deadlines::Deadlines,
    model::{Kind, Object, World, kind::KINDS, projection::Body},
    state::{Judge, store::Sphere},
};

/// What `state/subscriptions.rs` follows of a whole fleet.
const WATCHED: &str = "ComputePlane,HelmRelease,Cluster,TenantControlPlane,KamajiControlPlane,MachineDeployment,ConfigMap,Machine,WorkloadMonitor,\
    Tenant,TenantNamespace,DataStore,MachineSet,MachineHealthCheck";

fn main() {
    if std::env::args().any(|a| a == "--hold") {
        return hold();
    }
    let sizes: Vec<usize> = std::env::args().skip(1).filter_map(|a| a.parse().ok()).collect();
    let fleet = support::Fleet::new();
    let watched = std::env::var_os("WATCHED").map(|_| WATCHED.to_string());
    let only = std::env::var("ONLY").ok().or(watched);
    for n in if sizes.is_empty() { vec![20] } else { sizes } {
        println!("fleet-{n}");
        // A process of its own: nothing that made the fleet may lend its memory to what is measured.
        let mut child = Command::new(std::env::current_exe().unwrap()).arg("--hold").stdin(Stdio::piped()).spawn().unwrap();
        let mut pipe = std::io::BufWriter::new(child.stdin.take().unwrap());
        for item in fleet.common.iter().map(support::Item::copy).chain((0..n).flat_map(|p| fleet.plane(p))) {
            let at = KINDS.iter().position(|k| k.kind == item.kind).unwrap();
            if only.as_deref().is_none_or(|o| o.split(',').any(|o| o == format!("{:?}", item.kind))) {
                writeln!(pipe, "{at} {} {}", item.api_version, item.json).unwrap();
            }
        }
        drop(pipe);
        child.wait().unwrap();
    }
}

/// Reads objects, holds their world, and tells.
fn hold() {
    let before = support::resident();
    let mut world = World::default();
    let mut counts: BTreeMap<Kind, (usize, usize)> = BTreeMap::new();
    let mut input = std::io::stdin().lock();
    let mut line = String::new();
    while input.read_line(&mut line).unwrap() > 0 {
        let mut parts = line.trim_end().splitn(3, ' ');
        let kind = KINDS[parts.next().unwrap().parse::<usize>().unwrap()].kind;
        let (api_version, json) = (parts.next().unwrap(), parts.next().unwrap());
        let at = counts.entry(kind).or_default();
        (at.0, at.1) = (at.0 + 1, at.1 + json.len());
        world.apply(Object::from_slice(kind, api_version, json.as_bytes()).unwrap());
        line.clear();
    }
    let (objects, bytes) = counts.values().fold((0, 0), |a, c| (a.0 + c.0, a.1 + c.1));
    let held = support::resident() - before;
    let each = held * 1048576.0 / objects as f64;
    println!(
        "  {objects} objects, {} MB of JSON: {held:.1} MiB for the world ({each:.0} bytes an object), {:.1} MiB for the process",
        bytes / 1_000_000,
        support::resident()
    );
    let mut sphere = Sphere::default();
    sphere.show(world);
    while sphere.is_unsettled() {
        sphere.settle(&Judge::engine(), support::now(), &Deadlines::default());
    }
    println!(
        "  {} verdicts and their rows: {:.1} MiB more, {:.1} MiB for the process",
        sphere.planes.len(),
        support::resident() - before - held,
        support::resident()
    );
    if std::env::var_os("KINDS").is_some() {
        println!("  an Object has {} bytes, a Body {}", size_of::<Object>(), size_of::<Body>());
        counts.iter().for_each(|(k, (c, b))| println!("  {k:?}: {c} of {} bytes", b / c));
    }
}
