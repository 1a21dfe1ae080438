//! All recordings: the verdict of their README stands on its layer, and heads the plane where the whole chain is in the file.

use super::*;
use Layer::*;
use State as S;

/// File number, namespace, layer, accepted states, and whether that layer heads the plane.
type Row = (&'static str, &'static str, Layer, &'static [State], bool);

#[rustfmt::skip]
const TABLE: &[Row] = &[
    ("01", "tenant-acme-dev", Cluster, &[S::AwaitingEtcd], true),
    ("02", "tenant-acme", Module, &[S::RenderRejected], true),
    ("02", "tenant-acme", Cluster, &[S::AwaitingEtcd], false),
    ("03", "tenant-acme", Module, &[S::Ready], false),
    ("04", "tenant-lab", Cluster, &[S::RenderRejected], true),
    ("05", "tenant-lab", Cluster, &[S::RenderRejected], true),
    ("05", "tenant-lab", Module, &[S::Retrying, S::InstallLoop], false),
    ("06", "tenant-lab", Cluster, &[S::RenderRejected], true),
    ("06", "tenant-lab", Module, &[S::InstallLoop], false),
    ("07", "tenant-blue", Module, &[S::RenderRejected], true),
    ("08", "tenant-acme", Tenant, &[S::PackageMissing], true),
    ("09", "tenant-teal", Addons, &[S::Progressing], false),
    ("10", "tenant-teal", Addons, &[S::Retrying, S::InstallLoop, S::AddonsFailing, S::AddonsWaiting], true),
    ("11", "tenant-rose", Addons, &[S::DependencyWait], true),
    ("12", "tenant-gold", Tenant, &[S::Stalled], true),
    ("13", "tenant-plum", Cluster, &[S::Retrying], true),
    ("14", "tenant-sand", Addons, &[S::DependencyWait], true),
    ("15", "tenant-fern", Cluster, &[S::Suspended], true),
    ("16", "tenant-opal", Cluster, &[S::SourceNotReady], true),
    ("17", "tenant-onyx", Module, &[S::Retrying], true),
    ("18", "tenant-pine", Pools, &[S::NameConflict], false),
    ("19", "tenant-coal", Cluster, &[S::QuotaBlocked], true),
    ("20", "tenant-flax", Cluster, &[S::Retrying], true),
    ("21", "tenant-wren", Cluster, &[S::Retrying], true),
    ("22", "tenant-lark-two", Cluster, &[S::Deleting], true),
    ("23", "tenant-reed", Cluster, &[S::Ready], false),
    ("24", "tenant-ibis", Addons, &[S::AddonsWaiting], false),
    ("25", "tenant-bark", Cluster, &[S::Stalled], true),
    ("25", "tenant-bark", Module, &[S::Retrying, S::InstallLoop], false),
    ("26", "tenant-oak", Tenant, &[S::Ready], false),
    ("27", "tenant-violet", Cluster, &[S::AwaitingEtcd], true),
    ("28", "tenant-lark-two", Cluster, &[S::DeletingStuck], true),
    ("29", "tenant-frost", Cluster, &[S::Progressing], false),
    ("30", "tenant-flint", Cluster, &[S::Progressing], false),
    ("31", "tenant-slate", Cluster, &[S::StaleStatus], false),
    ("33", "tenant-finch", Addons, &[S::DeletingStuck], true),
    ("34", "tenant-orion", ControlPlane, &[S::ControlPlaneProvisioning], true),
    ("34", "tenant-orion", Workers, &[S::WorkersBlocked], false),
    ("34", "tenant-orion", Addons, &[S::AddonsWaiting], false),
    ("35", "tenant-orion", ControlPlane, &[S::ControlPlaneProvisioning], true),
    ("35", "tenant-orion", Workers, &[S::WorkersBlocked], false),
    ("36", "tenant-orion", ControlPlane, &[S::ControlPlaneProvisioning], true),
    ("37", "tenant-vega", ControlPlane, &[S::ControlPlaneProvisioning], true),
    ("37", "tenant-vega", Workers, &[S::WorkersBlocked], false),
    ("38", "tenant-vega", Workers, &[S::WorkersScalingUp], true),
    ("39", "tenant-vega", Workers, &[S::WorkersUnschedulable], true),
    ("40", "tenant-vega", Workers, &[S::Ready], true),
    ("41", "tenant-vega", Workers, &[S::WorkersDegraded], true),
    ("42", "tenant-vega", Workers, &[S::RemediationBlocked], true),
    ("43", "tenant-vega", Workers, &[S::WorkersScalingUp], true),
    ("44", "tenant-vega", ControlPlane, &[S::ControlPlaneNotReady], true),
    ("45", "tenant-vega", ControlPlane, &[S::Paused, S::Ready], false),
    ("46", "tenant-orion", ControlPlane, &[S::DataStoreUnavailable, S::ControlPlaneProvisioning], true),
    ("47", "tenant-orion", ControlPlane, &[S::ControlPlaneProvisioning], true),
    ("48", "tenant-orion", ControlPlane, &[S::EndpointUnreachable, S::Progressing, S::ControlPlaneProvisioning], true),
    ("49", "tenant-orion", ControlPlane, &[S::ControlPlaneDegraded], true),
    ("50", "tenant-orion", ControlPlane, &[S::StaleStatus], true),
    ("51", "tenant-pavo", Workers, &[S::WorkerDiskNotReady, S::WorkersScalingUp], true),
    ("52", "tenant-pavo", Workers, &[S::WorkersUnschedulable], true),
    ("53", "tenant-vega", Workers, &[S::WorkersRollingOut, S::WorkersScalingUp], true),
    ("54", "tenant-lupus", Pools, &[S::WrongCluster], true),
    ("55", "tenant-vega", Workers, &[S::WorkersScalingUp], false),
    ("56", "tenant-orion", Module, &[S::Deleting], true),
    ("57", "tenant-vega", ControlPlane, &[S::EndpointUnreachable], true),
    ("58", "tenant-pavo", ControlPlane, &[S::ControlPlaneMissing], true),
];

fn load(number: &str) -> (World, Time) {
    let folder = format!("{}/tests/data/recorded", env!("CARGO_MANIFEST_DIR"));
    let name =
        std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).find(|n| n.starts_with(number)).unwrap();
    let yaml = data(&format!("recorded/{name}"));
    let now = yaml.split("# Read at: ").nth(1).unwrap().split(' ').next().unwrap().parse().unwrap();
    (world(&yaml, true), now)
}

#[test]
fn the_verdict_of_the_readme_stands() {
    let mut wrong = Vec::new();
    for (number, namespace, layer, states, heads) in TABLE {
        let (world, now) = load(number);
        let plane = judge_asked(&world, namespace, now, &Deadlines::default());
        let own = at(&plane, *layer);
        if !states.contains(&own.state) {
            wrong.push(format!("{number}: {layer:?} is {} ({}), wanted {states:?}", own.state, own.cause));
        }
        if *heads && (plane.layer != *layer || !states.contains(&plane.state)) {
            wrong.push(format!("{number}: headed by {:?} {} ({}), wanted {layer:?} {states:?}", plane.layer, plane.state, plane.cause));
        }
        assert_eq!(plane.layers.iter().map(|v| v.layer).collect::<Vec<_>>(), Layer::ALL);
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn every_recording_is_found_as_a_plane() {
    for (number, namespace, ..) in TABLE.iter().filter(|r| !["12", "26"].contains(&r.0)) {
        let (world, _) = load(number);
        let found = planes(&world);
        assert!(found.contains(*namespace), "{number}: {found:?}");
        assert_eq!(found.len(), 1, "{number}: {found:?}");
    }
}

#[test]
fn old_waits_become_problems() {
    let later = |number: &str, minutes: i64| {
        let (world, now) = load(number);
        let namespace = TABLE.iter().find(|r| r.0 == number).unwrap().1;
        judge_asked(&world, namespace, now + jiff::SignedDuration::from_mins(minutes), &Deadlines::default())
    };
    assert_eq!(at(&later("29", 120), Cluster).state, S::StuckReconciling);
    assert_eq!(at(&later("30", 11), Cluster).state, S::StuckReconciling);
    assert_eq!(at(&later("22", 11), Cluster).state, S::DeletingStuck);
    assert_eq!(at(&later("30", 5), Cluster).state, S::Progressing, "near miss");
}

#[test]
fn causes_are_the_decisive_sentences() {
    for (number, cause, field) in [
        (
            "02",
            "at least one nodeGroup must carry roles: [ingress-nginx] with maxReplicas >= 1; the running cluster keeps revision 1",
            Some("nodeGroups"),
        ),
        ("04", "nodeGroup gpu: specified instanceType \"u9.huge\" not found in cluster", Some("nodeGroups.gpu.instanceType")),
        ("07", "at nodeGroups/web: missing property 'diskSize'", Some("nodeGroups.web.diskSize")),
        ("08", "the cozystack.computeplane-application package is not installed", None),
        ("13", "rolled back, the running cluster keeps revision 1 (as revision 3)", None),
        ("14", "dependency tenant-sand/computeplane-cluster-vsnap-crd doesn't exist", None),
        ("17", "secrets \"cozystack-values\" not found", None),
        ("20", "spec.template: field is immutable", None),
    ] {
        let (world, now) = load(number);
        let namespace = TABLE.iter().find(|r| r.0 == number).unwrap().1;
        let plane = judge_asked(&world, namespace, now, &Deadlines::default());
        assert!(plane.cause.contains(cause), "{number}: {}", plane.cause);
        assert!(plane.cause.chars().count() < 330, "{number}: {}", plane.cause);
        assert!(!plane.next.is_empty(), "{number}");
        if let Some(f) = field {
            assert!(plane.next.iter().any(|n| n.field.as_deref() == Some(f)), "{number}: {:?}", plane.next);
        }
    }
}

#[test]
fn classes_are_told() {
    for (number, class) in [
        ("17", "ValuesError"),
        ("18", "NameConflict"),
        ("19", "QuotaBlocked"),
        ("20", "ImmutableField"),
        ("21", "AdmissionDenied"),
        ("24", "WaitingForKubeconfig"),
    ] {
        let (world, now) = load(number);
        let (_, namespace, layer, ..) = TABLE.iter().find(|r| r.0 == number).unwrap();
        let plane = judge_asked(&world, namespace, now, &Deadlines::default());
        assert_eq!(at(&plane, *layer).class.as_deref(), Some(class), "{number}");
    }
}

#[test]
fn failures_are_dated_by_themselves() {
    let (world, now) = load("05");
    let plane = judge_asked(&world, "tenant-lab", now, &Deadlines::default());
    assert_eq!(plane.since, "2026-11-30T21:11:51Z".parse().ok(), "Released's age, not the last attempt's");
    assert_eq!(at(&plane, Module).consequence_of, Some(Cluster));
}
