//! Tables for counts, causes, spelling, renames, roles, quota and notices.

use serde_json::json;

use super::*;

fn map(v: Value) -> Groups {
    v.as_object().cloned().unwrap()
}

fn web(extra: Value) -> Value {
    let mut group =
        json!({"minReplicas": 1, "maxReplicas": 8, "instanceType": "u1.medium", "diskSize": "20Gi", "roles": ["ingress-nginx", "x"]});
    for (key, value) in extra.as_object().unwrap() {
        group[key] = value.clone();
    }
    group
}

fn size(name: &str) -> Option<Size> {
    let gib = (1i128 << 30) * 1_000_000_000;
    match name {
        "u1.medium" => Some(Size { cpu: 1_000_000_000, memory: 4 * gib }),
        "u1.large" => Some(Size { cpu: 2_000_000_000, memory: 8 * gib }),
        _ => None,
    }
}

fn run(before: Value, after: Value, machines: &[(&str, u32)], quotas: &[QuotaFact]) -> Forecast {
    let machines = machines.iter().map(|(n, c)| (n.to_string(), *c)).collect();
    forecast(&map(before), &map(after), &Facts { layout: Layout::Split, machines: &machines, size: &size, quotas })
}

fn one(before: Value, after: Value, now: u32) -> PoolForecast {
    run(json!({"web": before}), json!({"web": after}), &[("web", now)], &[]).pools.remove(0)
}

fn counts(p: &PoolForecast) -> (Option<u32>, Option<u32>, Option<u32>) {
    (p.machines.now, p.machines.recreated, p.machines.peak)
}

#[test]
fn every_field_has_its_change() {
    for (extra, change, fields) in [
        (json!({}), Change::None, vec![]),
        (json!({"minReplicas": 1.0}), Change::None, vec![]),
        (json!({"minReplicas": 2}), Change::Scale, vec!["minReplicas"]),
        (json!({"maxReplicas": 9, "maxUnhealthy": "1"}), Change::Scale, vec!["maxReplicas"]),
        (json!({"kubelet": {"systemReservedCpu": "100m"}}), Change::Metadata, vec!["kubelet"]),
        (json!({"maxUnhealthy": "50%"}), Change::Metadata, vec!["maxUnhealthy"]),
        (json!({"nodeStartupTimeout": "30m"}), Change::Metadata, vec!["nodeStartupTimeout"]),
        (json!({"image": "x"}), Change::Metadata, vec!["image"]),
        (json!({"logSerialConsole": false}), Change::Metadata, vec!["logSerialConsole"]),
        (json!({"diskSize": 0}), Change::Metadata, vec!["diskSize"]),
        (json!({"diskSize": "30Gi", "maxReplicas": 9}), Change::Roll, vec!["diskSize"]),
        (json!({"instanceType": "u1.large"}), Change::Roll, vec!["instanceType"]),
        (json!({"resources": {"cpu": 4, "memory": "8Gi"}}), Change::Roll, vec!["resources.cpu", "resources.memory"]),
        (json!({"roles": ["x", "ingress-nginx"]}), Change::Roll, vec!["roles"]),
        (json!({"gpus": [{"name": "a/b"}]}), Change::Roll, vec!["gpus"]),
        (json!({"storageClass": "local"}), Change::Roll, vec!["storageClass"]),
        (json!({"podCpuRequest": 0}), Change::Roll, vec!["podCpuRequest"]),
        (json!({"logSerialConsole": true}), Change::Roll, vec!["logSerialConsole"]),
    ] {
        let found = one(web(json!({})), web(extra.clone()), 3);
        assert_eq!((found.change, found.fields.clone()), (change, fields.iter().map(|f| f.to_string()).collect()), "{extra}: {found:?}");
    }
}

#[test]
fn what_changed_besides_the_cause_is_named_apart() {
    let found = one(web(json!({})), web(json!({"maxReplicas": 9, "resources": {"cpu": 4, "memory": "8Gi"}, "image": "x"})), 3);
    assert_eq!((found.fields.len(), found.also), (2, vec!["maxReplicas".to_string(), "image".to_string()]));
}

#[test]
fn sentences() {
    for (extra, now, text) in [
        (json!({"image": "x"}), 3, "image: nothing happens to machines; stored, ignored by this platform"),
        (json!({"maxUnhealthy": "1"}), 3, "maxUnhealthy: nothing happens to machines"),
        (
            json!({"kubelet": {"evictionHardMemory": "5%"}}),
            3,
            "kubelet: nothing happens to machines; kubelet settings never reach nodes of an existing pool",
        ),
        (json!({"minReplicas": 4}), 3, "bounds 1-8 become 4-8, in place; the autoscaler raises 3 to 4"),
        (
            json!({"maxReplicas": 2}),
            3,
            "bounds 1-8 become 1-2, in place; the 3 machines stay until the autoscaler or you remove some, though only 2 are allowed",
        ),
        (json!({"diskSize": "30Gi"}), 0, "diskSize \"20Gi\" → \"30Gi\": recreates no machine (it has none); new machines get the new form"),
        (
            json!({"diskSize": "20480Mi"}),
            1,
            "diskSize \"20Gi\" → \"20480Mi\": recreates its 1 machine, up to 2 at once; what is on their own disks is lost; \
             the change is only spelling: keep the old text and nothing is recreated",
        ),
    ] {
        assert_eq!(one(web(json!({})), web(extra.clone()), now).text, text, "{extra}");
    }
}

#[test]
fn peaks_follow_the_new_maximum() {
    for (now, max, peak) in [(3, 8, 6), (3, 2, 5), (3, 0, 3), (0, 8, 1), (1, 1, 2), (10, 4, 14)] {
        let found = one(web(json!({})), web(json!({"diskSize": "30Gi", "maxReplicas": max})), now);
        assert_eq!(counts(&found), (Some(now), Some(now), Some(peak)), "now {now} max {max}");
    }
    let scaled = one(web(json!({})), web(json!({"minReplicas": 5})), 3);
    assert_eq!(counts(&scaled), (Some(3), Some(0), Some(5)));
    let lowered = one(web(json!({})), web(json!({"maxReplicas": 4})), 6);
    assert_eq!(counts(&lowered), (Some(6), Some(0), Some(6)), "no clamp");
    let unknown = run(json!({"web": web(json!({}))}), json!({"web": web(json!({"diskSize": "1Ti"}))}), &[], &[]);
    assert_eq!(counts(&unknown.pools[0]), (None, None, None));
    assert_eq!((unknown.destroyed(), unknown.is_destructive()), (None, true));
    assert!(!run(json!({"web": web(json!({}))}), json!({"web": web(json!({"maxReplicas": 9}))}), &[], &[]).is_destructive());
}

#[test]
fn only_spelling_offers_the_old_text() {
    for (old, new, path, keep) in [
        (json!({}), json!({"diskSize": "20480Mi"}), "nodeGroups.web.diskSize", Some(json!("20Gi"))),
        (json!({"diskSize": 0}), json!({"diskSize": "20480Mi"}), "nodeGroups.web.diskSize", Some(json!(0))),
        (json!({}), json!({"roles": ["x", "ingress-nginx"]}), "nodeGroups.web.roles", Some(json!(["ingress-nginx", "x"]))),
        (json!({"podCpuLimit": "2"}), json!({"podCpuLimit": "2000m"}), "nodeGroups.web.podCpuLimit", Some(json!("2"))),
        (
            json!({"resources": {"cpu": 4, "memory": "8Gi"}}),
            json!({"resources": {"cpu": "4.0", "memory": "8Gi"}}),
            "nodeGroups.web.resources.cpu",
            Some(json!(4)),
        ),
    ] {
        let found = one(web(old), web(new.clone()), 3);
        let fix = found.keep_spelling.first().unwrap_or_else(|| panic!("{new}: no fix"));
        assert_eq!((found.only_spelling, fix.path.dotted(), fix.keep.clone()), (true, path.to_string(), keep), "{new}");
    }
    let mixed = one(web(json!({})), web(json!({"diskSize": "20480Mi", "instanceType": "u1.large"})), 3);
    assert!(!mixed.only_spelling && mixed.keep_spelling.len() == 1);
    assert!(one(web(json!({})), web(json!({"diskSize": "21Gi"})), 3).keep_spelling.is_empty());
}

#[test]
fn renames_are_recognised_but_stay_remove_and_add() {
    let found =
        run(json!({"web": web(json!({}))}), json!({"front": web(json!({})), "other": web(json!({"maxReplicas": 2}))}), &[("web", 3)], &[]);
    let named: Vec<_> = found.pools.iter().map(|p| (p.name.as_str(), p.change, p.renamed_from.as_deref())).collect();
    assert_eq!(named, [("front", Change::Add, Some("web")), ("other", Change::Add, None), ("web", Change::Remove, None)]);
    assert_eq!(found.destroyed(), Some(3));
    assert!(found.pools[2].loses_local_disks && found.pools[2].text.contains("all 3 machines"));
}

#[test]
fn the_default_pool_takes_part() {
    let emptied = run(json!({"web": web(json!({}))}), json!({}), &[("web", 2)], &[]);
    let named: Vec<_> = emptied.pools.iter().map(|p| (p.name.as_str(), p.change)).collect();
    assert_eq!(named, [("md0", Change::Add), ("web", Change::Remove)]);
    assert!(emptied.notices.iter().any(|n| n.id == "A-EMPTY"));
    let nulled = run(json!({"web": web(json!({}))}), json!({"web": null}), &[("web", 2)], &[]);
    assert_eq!(nulled.notices.iter().map(|n| n.id).collect::<Vec<_>>(), ["A-EMPTY", "A-LASTINGRESS", "G-NULL"]);
    assert!(run(json!({}), json!({}), &[], &[]).notices.is_empty());
}

#[test]
fn roles_that_nobody_carries_through() {
    let pool = |roles: Value, max: i64| web(json!({"roles": roles, "maxReplicas": max}));
    let both = json!({"a": pool(json!(["ingress-nginx"]), 2), "b": pool(json!(["worker"]), 2)});
    let gaps = |after: Value| -> Vec<(String, Vec<String>)> {
        run(both.clone(), after, &[], &[]).role_gaps.into_iter().map(|g| (g.role, g.after)).collect()
    };
    let is = |role: &str, after: &[&str]| vec![(role.to_string(), after.iter().map(|s| s.to_string()).collect::<Vec<_>>())];
    assert_eq!(gaps(both.clone()), []);
    assert_eq!(gaps(json!({"a": pool(json!(["ingress-nginx"]), 0), "b": pool(json!(["worker"]), 2)})), is("ingress-nginx", &[]));
    assert_eq!(gaps(json!({"b": pool(json!(["worker", "ingress-nginx"]), 2)})), is("ingress-nginx", &["b"]));
    assert_eq!(gaps(json!({"a": pool(json!(["ingress-nginx"]), 2), "c": pool(json!(["worker"]), 2)})), is("worker", &["c"]));
    let moved = run(both, json!({"b": pool(json!(["worker", "ingress-nginx"]), 2)}), &[], &[]);
    assert!(moved.notices.iter().any(|n| n.id == "A-LASTINGRESS" && n.message.contains("moves from a to b")), "{:?}", moved.notices);
}

fn quota(resource: &str, hard: i128, used: Option<i128>) -> QuotaFact {
    let scale = |n: i128| n * 1_000_000_000;
    QuotaFact { quota: "tenant".into(), resource: resource.into(), hard: scale(hard), used: used.map(scale) }
}

#[test]
fn quota_is_held_against_the_surge_and_the_maximum() {
    let lines = |hard, used| {
        let quotas = [quota("limits.cpu", hard, used)];
        let (before, after) = (json!({"web": web(json!({}))}), json!({"web": web(json!({"instanceType": "u1.large"}))}));
        run(before, after, &[("web", 3)], &quotas).quota.remove(0)
    };
    let line = lines(100, Some(5));
    let shown = (line.maximum_before.as_deref(), line.maximum_after.as_deref(), line.surge.as_deref());
    assert_eq!(shown, (Some("8"), Some("16"), Some("6")), "3 more of 2 cores at the peak");
    assert_eq!(line.fit, Fit::Fits);
    assert_eq!(lines(10, Some(5)).fit, Fit::ShortNow);
    assert_eq!(lines(12, Some(5)).fit, Fit::ShortAtMaximum);
    assert_eq!(lines(18, Some(5)).fit, Fit::Fits, "2 used by others and 16 at the maximum");
    assert_eq!(lines(17, Some(5)).fit, Fit::ShortAtMaximum);
    assert_eq!(lines(10, None).fit, Fit::NotEvaluated);
}

use super::quota::Fit;

#[test]
fn unknown_sizes_are_not_evaluated_and_other_resources_are_left_out() {
    let quotas = [quota("requests.memory", 100, Some(1)), quota("services", 1, Some(0)), quota("pods", 10, Some(2))];
    let after = json!({"web": web(json!({"instanceType": "own.type"}))});
    let found = run(json!({"web": web(json!({}))}), after, &[("web", 2)], &quotas).quota;
    let fits: Vec<_> = found.iter().map(|l| (l.resource.as_str(), l.fit)).collect();
    assert_eq!(fits, [("requests.memory", Fit::NotEvaluated), ("pods", Fit::Fits)]);
    let disk = [quota("requests.storage", 200 << 30, Some(0))];
    let line = run(json!({}), json!({"web": web(json!({"diskSize": "1.5Gi"}))}), &[], &disk).quota.remove(0);
    assert_eq!((line.maximum_before.as_deref(), line.maximum_after.as_deref()), (Some("200Gi"), Some("12Gi")));
}

#[test]
fn notices_that_need_both_sides() {
    let ids = |old: Value, new: Value, now: u32| -> Vec<&'static str> {
        run(json!({"web": web(old)}), json!({"web": web(new)}), &[("web", now)], &[]).notices.iter().map(|n| n.id).collect()
    };
    assert_eq!(ids(json!({"diskSize": "30Gi"}), json!({"diskSize": "20Gi"}), 1), ["D-SHRINK"]);
    assert!(ids(json!({"diskSize": "20Gi"}), json!({"diskSize": "20480Mi"}), 1).is_empty());
    assert_eq!(ids(json!({}), json!({"kubelet": {"evictionHardMemory": "5%"}}), 1), ["E-FROZEN"]);
    assert!(ids(json!({}), json!({"kubelet": {"evictionHardMemory": ""}}), 1).is_empty());
    assert_eq!(ids(json!({}), json!({"maxReplicas": 2}), 3), ["A-LOWERMAX"]);
    assert!(ids(json!({}), json!({"maxReplicas": 4}), 3).is_empty());
    assert_eq!(ids(json!({}), json!({"minReplicas": 4}), 3), ["A-RAISEMIN"]);
    assert_eq!(ids(json!({}), json!({"gpus": [{"name": "n/A"}]}), 3), ["GPU-LATE"]);
}
