//! The minimal fixtures of the reference: each fires its row on its layer; composites head as the reference says; near misses don't fire.

use std::collections::BTreeMap;

use super::*;
use Layer::*;
use State as S;

const NS: &str = "tenant-acme";

fn now() -> Time {
    "2026-09-01T12:00:00Z".parse().unwrap()
}

/// The documents of each fixture, by name; a document without a name belongs to the one before.
fn all() -> BTreeMap<String, String> {
    let mut out: BTreeMap<String, String> = BTreeMap::new();
    let mut name = String::new();
    for doc in data("fixtures.yaml").split("\n---").skip(1) {
        let (head, body) = doc.split_once('\n').unwrap_or((doc, ""));
        if let Some(n) = head.trim().strip_prefix("# ") {
            name = n.split([' ', '+', ';']).next().unwrap().trim_end_matches('a').to_string();
        }
        if !body.trim().is_empty() {
            out.entry(name.clone()).or_default().push_str(&format!("---\n{body}\n"));
        }
    }
    out
}

fn judged(names: &[&str], complete: bool) -> Plane {
    let all = all();
    let yaml: String = names.iter().map(|n| all[*n].as_str()).collect();
    judge_asked(&world(&yaml, complete), NS, now(), &Deadlines::default())
}

/// Names, whether what isn't there doesn't exist, layer, state.
#[rustfmt::skip]
const ALONE: &[(&str, bool, Layer, State)] = &[
    ("F01", false, Module, S::Ready),
    ("F02", false, Cluster, S::StaleStatus),
    ("F03", false, Cluster, S::Progressing),
    ("F05", false, Module, S::RenderRejected),
    ("F06", false, Tenant, S::PackageMissing),
    ("F07", false, Pools, S::NameConflict),
    ("F08", false, Cluster, S::AwaitingEtcd),
    ("F10", false, Cluster, S::Suspended),
    ("F11", false, Tenant, S::Stalled),
    ("F12", false, Addons, S::Retrying),
    ("F13", false, Addons, S::DependencyWait),
    ("F16", false, Cluster, S::SourceNotReady),
    ("F17", false, ControlPlane, S::ControlPlaneProvisioning),
    ("F18", false, ControlPlane, S::ControlPlaneNotReady),
    ("F19", false, ControlPlane, S::ControlPlaneDegraded),
    ("F20", false, ControlPlane, S::ControlPlaneUpgrading),
    ("F24", false, ControlPlane, S::ControlPlaneProvisioning),
    ("F26", false, Workers, S::WorkersScalingUp),
    ("F27", false, Workers, S::WorkersDegraded),
    ("F28", false, Workers, S::WorkersBlocked),
    ("F29", false, Workers, S::WorkersNotJoined),
    ("F30", false, Workers, S::WorkersUnschedulable),
    ("F32", false, Workers, S::RemediationBlocked),
    ("F35", false, Pools, S::WrongCluster),
    ("F37", false, ControlPlane, S::ControlPlaneDegraded),
    ("F39", false, Cluster, S::DeletingStuck),
    ("F40", false, Workers, S::WorkersMissing),
];

#[test]
fn each_fires_its_row() {
    let mut wrong = Vec::new();
    for (name, complete, layer, state) in ALONE {
        let plane = judged(&[name], *complete);
        let v = at(&plane, *layer);
        if v.state != *state {
            wrong.push(format!("{name}: {layer:?} is {} ({}), wanted {state}", v.state, v.cause));
        }
        if state.severity() < Severity::Unknown && (plane.state, plane.layer) != (*state, *layer) {
            wrong.push(format!("{name}: headed by {:?} {} ({})", plane.layer, plane.state, plane.cause));
        }
        if plane.state == S::Ready {
            wrong.push(format!("{name}: Ready with unread layers"));
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn the_shell_heads_over_two_ready_releases() {
    let plane = judged(&["F01", "F08"], true);
    assert_eq!((plane.state, plane.layer), (S::AwaitingEtcd, Cluster));
    assert_eq!(at(&plane, Module).state, S::Ready);
    let near = judged(&["F01", "F02"], true);
    assert_eq!(near.state, S::StaleStatus, "{}", near.cause);
}

#[test]
fn a_suspended_release_shows_what_it_masks() {
    let plane = judged(&["F10", "F18"], false);
    assert_eq!((plane.state, plane.layer), (S::Suspended, Cluster));
    assert!(plane.cause.contains("control plane not ready"), "{}", plane.cause);
}

#[test]
fn a_rejected_module_tells_what_keeps_running() {
    let plane = judged(&["F05"], false);
    assert!(plane.cause.ends_with("the running cluster keeps revision 4"), "{}", plane.cause);
}

#[test]
fn the_outage_heads_and_the_rest_follows() {
    let plane = judged(&["F18", "F29", "F12"], false);
    assert_eq!((plane.state, plane.layer), (S::ControlPlaneNotReady, ControlPlane));
    assert_eq!(at(&plane, Workers).consequence_of, Some(ControlPlane));
    assert_eq!(at(&plane, Addons).consequence_of, Some(ControlPlane));
}

#[test]
fn addons_fail_only_once_nodes_are_there() {
    let plane = judged(&["F12", "F44"], false);
    assert_eq!((plane.state, plane.layer), (S::AddonsFailing, Addons), "{}", plane.cause);
    let zero = judged(&["F12", "F13", "F25"], false);
    assert_eq!(at(&zero, Addons).state, S::AddonsWaiting);
    assert!(at(&zero, Addons).cause.contains("cilium"), "the root is named: {}", at(&zero, Addons).cause);
    assert_eq!(at(&zero, Workers).state, S::ScaledToZero);
}

#[test]
fn a_refused_list_is_no_permission() {
    let plane = judged(&["F38", "F36", "F37"], false);
    assert_ne!(plane.state, S::Ready);
    assert!(plane.coverage.hidden.iter().any(|h| h.layer == Cluster && h.reason == crate::model::world::ReadState::Forbidden));
    let app = judged(&["F38", "F36"], false);
    assert_ne!(app.state, S::Ready, "WorkloadsReady contradicts Ready");
    let alone = judged(&["F38"], false);
    assert_eq!((alone.state, at(&alone, Cluster).state), (S::NoPermission, S::NoPermission));
}

#[test]
fn ready_as_far_as_visible() {
    let app = all()["F36"].replace("status: 'False', reason: WorkloadMonitorCheck", "status: 'True', reason: WorkloadMonitorCheck");
    let plane = judge_asked(&world(&format!("{app}{}", all()["F38"]), false), NS, now(), &Deadlines::default());
    assert_eq!((plane.state, plane.visible_state), (S::Unknown, Some(S::Ready)), "{}", plane.cause);
    assert!(plane.cause.starts_with("Ready as far as you may see"), "{}", plane.cause);
}

#[test]
fn etcd_is_inferred_by_a_tenant() {
    let app = all()["F36"].lines().filter(|l| !l.contains("WorkloadsReady")).collect::<Vec<_>>().join("\n") + "]}}\n";
    let other = "---\n{apiVersion: cozystack.io/v1alpha1, kind: WorkloadMonitor, metadata: {name: postgres, namespace: tenant-acme}}\n";
    let yaml = format!("{}{app}{other}", all()["F09"]).replace("Helm upgrade succeeded},\n]", "Helm upgrade succeeded}]");
    let plane = judge_asked(&world(&yaml, false), NS, now(), &Deadlines::default());
    assert_eq!((plane.state, plane.inferred), (S::AwaitingEtcd, true), "{}", plane.cause);
    let provided = yaml.replace("etcd: ''", "etcd: tenant-root");
    let near = judge_asked(&world(&provided, false), NS, now(), &Deadlines::default());
    assert_ne!(near.state, S::AwaitingEtcd, "near miss");
}

#[test]
fn the_clock_turns_progress_into_a_problem() {
    let yaml = all()["F03"].replace("11:58:00", "10:00:00");
    let plane = judge_asked(&world(&yaml, false), NS, now(), &Deadlines::default());
    assert_eq!((plane.state, plane.layer), (S::StuckReconciling, Cluster));
    let fresh = judged(&["F03"], false);
    let v = at(&fresh, Cluster);
    assert!(v.cause.contains("of 35m"), "{}", v.cause);
    assert_eq!(v.deadline, "2026-09-01T12:33:00Z".parse().ok());
}

#[test]
fn deletion_while_suspended_is_urgent() {
    let yaml = all()["F10"]
        .replace("generation: 6}", "generation: 6, deletionTimestamp: '2026-09-01T11:59:00Z', finalizers: [finalizers.fluxcd.io]}");
    assert_eq!(judge_asked(&world(&yaml, false), NS, now(), &Deadlines::default()).state, S::DeletingUnowned);
}

#[test]
fn an_automatic_suspension_is_no_verdict() {
    let managed = |time: &str| {
        all()["F10"].replace(
            "generation: 6}",
            &format!("generation: 6, managedFields: [{{manager: flux-client-side-apply, time: '{time}', fieldsV1: {{'f:spec': {{'f:suspend': {{}}}}}}}}]}}"),
        )
    };
    let state = |t: &str| at(&judge_asked(&world(&managed(t), false), NS, now(), &Deadlines::default()), Cluster).state;
    assert_eq!(state("2026-09-01T11:59:00Z"), S::Progressing);
    assert_eq!(state("2026-09-01T11:50:00Z"), S::Suspended, "near miss: too long for a repair");
}

#[test]
fn two_objects_on_one_record_are_a_conflict() {
    let second = all()["F08"].replace("generation: 1}", "generation: 1}, spec: {releaseName: computeplane}");
    let yaml = format!("{}{second}", all()["F01"]);
    let plane = judge_asked(&world(&yaml, false), NS, now(), &Deadlines::default());
    assert_eq!((plane.state, plane.layer), (S::NameConflict, Module), "{}", plane.cause);
}

#[test]
fn leftovers_are_not_not_enabled() {
    let cluster = "---\n{apiVersion: cluster.x-k8s.io/v1beta1, kind: Cluster, metadata: {name: computeplane-cluster, namespace: tenant-acme}, status: {phase: Provisioned}}\n";
    let plane = judge_asked(&world(cluster, true), NS, now(), &Deadlines::default());
    assert_eq!(at(&plane, Module).state, S::Orphaned);
    let nothing = judge_asked(&World::default(), "tenant-none", now(), &Deadlines::default());
    assert_ne!(nothing.state, S::NotEnabled, "nothing was read");
    let other = "---\n{apiVersion: helm.toolkit.fluxcd.io/v2, kind: HelmRelease, metadata: {name: postgres, namespace: tenant-acme}}\n";
    assert_eq!(judge_asked(&world(other, true), NS, now(), &Deadlines::default()).state, S::NotEnabled);
    assert!(judge(&world(other, true), NS, now(), &Deadlines::default()).is_none());
}

#[test]
fn an_event_speaks_for_a_release_that_may_not_be_read() {
    let event = |reason: &str, kind: &str, at: &str| {
        format!(
            "---\n{{apiVersion: v1, kind: Event, metadata: {{name: e{reason}, namespace: tenant-acme}}, type: {kind}, reason: {reason}, lastTimestamp: '{at}', involvedObject: {{kind: HelmRelease, name: computeplane-cluster, namespace: tenant-acme}}, message: 'Helm upgrade failed for release a/b with chart c@1: execution error at (kubernetes/templates/cluster.yaml:637:8): nodeGroup gpu: specified instanceType \"u9.huge\" not found in cluster'}}\n"
        )
    };
    let failed = format!("{}{}", all()["F38"], event("UpgradeFailed", "Warning", "2026-09-01T11:56:00Z"));
    let plane = judge_asked(&world(&failed, false), NS, now(), &Deadlines::default());
    assert_eq!((plane.state, plane.inferred, plane.pool.as_deref()), (S::RenderRejected, true, Some("gpu")));
    assert!(plane.cause.contains("seen 4m ago"), "{}", plane.cause);
    let healed = format!("{failed}{}", event("UpgradeSucceeded", "Normal", "2026-09-01T11:58:00Z"));
    assert_ne!(judge_asked(&world(&healed, false), NS, now(), &Deadlines::default()).state, S::RenderRejected, "near miss");
}

#[test]
fn texts_hold_the_verdict_and_no_markup_of_strangers() {
    let mut plane = judged(&["F05"], false);
    plane.cause.push_str(" <script>@all\u{1b}[31m");
    let text = explain::text(&plane, 80);
    assert!(text.contains("Render rejected") && text.lines().all(|l| crate::model::text::width(l) <= 80), "{text}");
    let md = explain::ticket_markdown(&plane);
    assert!(md.contains("\\<script\\>\\@all") && !md.contains('\u{1b}'), "{md}");
}

#[test]
fn a_changed_verdict_is_told() {
    let (a, b) = (judged(&["F01"], false), judged(&["F05"], false));
    let changes = diff(&a, &b);
    assert!(changes.iter().any(|c| c.starts_with("module: Ready → RenderRejected")), "{changes:?}");
    assert!(diff(&a, &a).is_empty());
}

#[test]
fn a_wanted_module_that_is_gone_is_a_contradiction() {
    let tenant = |status: &str| {
        format!(
            "---\n{{apiVersion: helm.toolkit.fluxcd.io/v2, kind: HelmRelease, metadata: {{name: tenant-acme, namespace: tenant-root, generation: 1}}, spec: {{values: {{computeplane: true}}}}, status: {{conditions: [{{type: Ready, status: '{status}', reason: Progressing, message: \"Running 'install' action\", observedGeneration: 1, lastTransitionTime: '2026-09-01T11:59:00Z'}}]}}}}\n"
        )
    };
    let of = |status: &str| judge(&world(&tenant(status), true), NS, now(), &Deadlines::default()).unwrap();
    assert_eq!((of("True").state, of("True").layer), (S::ControlPlaneMissing, Module));
    assert_eq!(of("Unknown").state, S::Progressing, "near miss: on its way");
    assert_eq!(planes(&world(&tenant("True"), true)).iter().map(|n| n.to_string()).collect::<Vec<_>>(), [NS], "the parent is no plane");
}

#[test]
fn guests_are_listed_with_their_state() {
    let guest = all()["F12"]
        .replace("computeplane-cluster-cilium", "wordpress")
        .replace("labels: {cozystack.io/target-cluster-name: computeplane-cluster}", "labels: {}");
    let guest = guest.replace("spec: {", "spec: {kubeConfig: {secretRef: {name: computeplane-cluster-admin-kubeconfig}}, ");
    let plane = judge_asked(&world(&format!("{guest}{}", all()["F01"]), false), NS, now(), &Deadlines::default());
    assert_eq!(plane.guests.iter().map(|g| (g.name.as_str(), g.state)).collect::<Vec<_>>(), [("wordpress", S::Retrying)]);
    assert_ne!(at(&plane, Addons).state, S::Retrying, "a guest is no addon");
}

#[test]
fn a_self_made_plane_is_marked() {
    let tenant = "---\n{apiVersion: apps.cozystack.io/v1alpha1, kind: Tenant, metadata: {name: acme, namespace: tenant-root}, spec: {computeplane: false}, status: {conditions: [{type: Ready, status: 'True', reason: UpgradeSucceeded}]}}\n";
    let plane = judge_asked(&world(&format!("{tenant}{}", all()["F01"]), false), NS, now(), &Deadlines::default());
    assert!(at(&plane, Tenant).cause.contains("self-provisioned"), "{}", at(&plane, Tenant).cause);
}
