//! Scripts of observations: the edit lands, stops, is overtaken, or can't be seen.

use serde_json::{Value, json};

use super::*;

const WRITE: i64 = 1_764_547_200;

fn at(second: i64) -> Time {
    Time::from_second(WRITE + second).unwrap()
}

fn map(v: Value) -> Groups {
    v.as_object().cloned().unwrap()
}

fn baseline(generation: i64) -> Option<Baseline> {
    Some(Baseline { generation: Some(generation), ready_since: Some(at(-900)) })
}

/// A disk edit of `web`: 3 machines roll.
fn roll() -> Rollout {
    let pool = PoolEdit { change: Change::Roll, release: baseline(2), template: Some("t-old".into()), deployment: Some(5), bounds: (1, 8) };
    Rollout::new(Edit {
        before: map(json!({"web": {"diskSize": "20Gi", "maxReplicas": 8}})),
        desired: map(json!({"web": {"diskSize": "30Gi", "maxReplicas": 8}})),
        at: at(0),
        pools: BTreeMap::from([("web".to_string(), pool)]),
        module: baseline(4),
    })
}

fn release(generation: i64, attempted: i64, status: &str, reason: &str, since: i64) -> Option<ReleaseSeen> {
    let ready = ReadySeen {
        status: status.into(),
        reason: reason.into(),
        message: format!("{reason}!"),
        since: Some(at(since)),
        observed: Some(attempted),
    };
    Some(ReleaseSeen { generation: Some(generation), attempted: Some(attempted), suspended: false, ready: Some(ready) })
}

fn deployment(template: &str, updated: u32, ready: u32, replicas: u32) -> Option<DeploymentSeen> {
    Some(DeploymentSeen {
        generation: Some(6),
        observed: Some(6),
        template: Some(template.into()),
        bounds: Some((1, 8)),
        desired: 3,
        replicas,
        updated,
        ready,
    })
}

/// Before anything happened: all green, all old, values written.
fn seen(second: i64) -> Observation {
    let pool = PoolSeen { release: release(2, 2, "True", "UpgradeSucceeded", -900), deployment: deployment("t-old", 3, 3, 3) };
    Observation {
        at: Some(at(second)),
        groups: Some(map(json!({"web": {"diskSize": "30Gi", "maxReplicas": 8}}))),
        deleting: false,
        module: release(5, 4, "True", "UpgradeSucceeded", -900),
        pools: BTreeMap::from([("web".to_string(), pool)]),
        deployments_complete: true,
        releases_complete: true,
    }
}

fn states(p: &Progress) -> Vec<StepState> {
    p.steps.iter().map(|s| s.state).collect()
}

fn pool_of(o: &mut Observation) -> &mut PoolSeen {
    o.pools.get_mut("web").unwrap()
}

fn done(second: i64) -> Observation {
    let mut o = seen(second);
    o.module = release(5, 5, "True", "UpgradeSucceeded", 3);
    pool_of(&mut o).release = release(3, 3, "True", "UpgradeSucceeded", 6);
    pool_of(&mut o).deployment = deployment("t-new", 3, 3, 3);
    o
}

#[test]
fn an_edit_is_followed_stage_by_stage_to_landed() {
    use StepState::{Done, Running, Waiting};
    let mut r = roll();
    let p = r.observe(&seen(1));
    assert_eq!(states(&p), [Done, Waiting, Waiting, Waiting, Waiting], "an older True is not this edit's");
    let mut o = seen(2);
    o.module = release(5, 5, "Unknown", "Progressing", 2);
    assert_eq!(states(&r.observe(&o)), [Done, Running, Waiting, Waiting, Waiting]);
    o = seen(4);
    o.module = release(5, 5, "True", "UpgradeSucceeded", 3);
    assert_eq!(states(&r.observe(&o)), [Done, Done, Waiting, Waiting, Waiting]);
    o = done(7);
    pool_of(&mut o).deployment = deployment("t-old", 3, 3, 3);
    assert_eq!(states(&r.observe(&o))[3..], [Running, Waiting], "old machines, all ready, prove nothing");
    pool_of(&mut o).deployment = deployment("t-new", 2, 4, 5);
    let p = r.observe(&o);
    assert_eq!(states(&p), [Done, Done, Done, Running, Waiting]);
    assert_eq!(
        (p.steps[3].done, p.steps[3].total, p.steps[3].text.as_str()),
        (2, 3, "2 of 3 machines in the new form, 3 of the old remain")
    );
    pool_of(&mut o).deployment = deployment("t-new", 3, 2, 3);
    assert_eq!(states(&r.observe(&o))[3..], [Done, Running]);
    let p = r.observe(&done(90));
    assert_eq!((states(&p), p.outcome), (vec![Done; 5], Outcome::Landed));
    let mut later = done(99);
    later.module = release(6, 6, "False", "UpgradeFailed", 95);
    assert_eq!(r.observe(&later).outcome, Outcome::Landed, "what comes after landing is another story");
}

#[test]
fn a_controller_that_has_not_looked_yet_counts_for_nothing() {
    let mut r = roll();
    let mut o = done(9);
    if let Some(d) = &mut pool_of(&mut o).deployment {
        d.observed = Some(5);
    }
    assert_eq!(r.observe(&o).outcome, Outcome::Following);
    for (judged, attempted, status, state) in [
        (4, 4, "True", StepState::Waiting),
        (5, 4, "True", StepState::Waiting),
        (5, 5, "True", StepState::Done),
        (6, 6, "True", StepState::Done),
        (4, 5, "True", StepState::Waiting),
        (4, 5, "False", StepState::Waiting),
        (5, 4, "False", StepState::Failed),
        (5, 5, "Unknown", StepState::Running),
    ] {
        let mut o = seen(9);
        let ready = ReadySeen { status: status.into(), reason: "ValuesError".into(), observed: Some(judged), ..ReadySeen::default() };
        o.module = Some(ReleaseSeen { generation: Some(6), attempted: Some(attempted), suspended: false, ready: Some(ready) });
        assert_eq!(roll().observe(&o).steps[1].state, state, "judged {judged}, attempted {attempted}, {status}");
    }
    let mut o = done(9);
    if let Some(m) = &mut o.module {
        m.suspended = true;
    }
    assert_eq!(roll().observe(&o).outcome, Outcome::Following);
}

#[test]
fn a_failed_attempt_of_this_edit_stops_it_and_an_older_one_does_not() {
    let mut r = roll();
    let mut o = seen(1);
    o.module = release(5, 4, "False", "UpgradeFailed", -60);
    assert_eq!(r.observe(&o).outcome, Outcome::Following);
    o.module = release(5, 5, "False", "DependencyNotReady", 2);
    assert_eq!(r.observe(&o).outcome, Outcome::Following);
    o.module = release(5, 5, "False", "UpgradeFailed", 2);
    let stopped = Outcome::Stopped { step: StepKind::Module, pool: None, text: "UpgradeFailed!".into(), later_edit: false };
    assert_eq!(r.observe(&o).outcome, stopped);
    o = done(20);
    pool_of(&mut o).release = release(3, 3, "False", "UpgradeFailed", 8);
    let stopped = Outcome::Stopped { step: StepKind::Pools, pool: Some("web".into()), text: "UpgradeFailed!".into(), later_edit: false };
    assert_eq!(r.observe(&o).outcome, stopped);
    assert_eq!(r.observe(&done(60)).outcome, Outcome::Landed, "a retry of the platform may still succeed");
    let mut r = roll();
    o = seen(9);
    o.module = release(5, 5, "Unknown", "Progressing", 2);
    pool_of(&mut o).release = release(3, 3, "False", "UpgradeFailed", 8);
    assert!(
        matches!(r.observe(&o).outcome, Outcome::Stopped { step: StepKind::Pools, .. }),
        "told at once, not when the module release times out waiting for it"
    );
}

#[test]
fn a_failure_after_somebody_elses_edit_says_so() {
    let mut r = roll();
    let mut o = seen(9);
    o.groups = Some(map(json!({"web": {"diskSize": "30Gi", "maxReplicas": 99}})));
    o.module = release(6, 6, "False", "UpgradeFailed", 8);
    assert!(matches!(r.observe(&o).outcome, Outcome::Stopped { later_edit: true, .. }));
}

#[test]
fn other_values_are_a_stale_read_first_and_then_somebodys_edit() {
    let stale = || {
        let mut o = seen(0);
        o.groups = Some(map(json!({"web": {"diskSize": "20Gi", "maxReplicas": 8}})));
        o
    };
    let mut r = roll();
    assert_eq!(r.observe(&stale()).outcome, Outcome::Following);
    let mut late = stale();
    late.at = Some(at(2));
    let superseded = Outcome::Superseded(vec![FieldPath::new(["web", "diskSize"])]);
    assert_eq!(r.observe(&late).outcome, superseded);
    assert_eq!(r.observe(&done(60)).outcome, superseded, "final");
    let mut r = roll();
    r.observe(&seen(0));
    assert_eq!(r.observe(&stale()).outcome, superseded, "once accepted, other values are no lag");
}

#[test]
fn without_generations_only_the_last_flip_tells() {
    let app = |status: &str, since: i64| {
        let ready = ReadySeen {
            status: status.into(),
            reason: "UpgradeSucceeded".into(),
            message: String::new(),
            since: Some(at(since)),
            observed: None,
        };
        Some(ReleaseSeen { ready: Some(ready), ..ReleaseSeen::default() })
    };
    let state = |known: Option<i64>, since: i64| {
        let mut r = roll();
        r.edit.module = Some(Baseline { generation: None, ready_since: known.map(at) });
        let mut o = seen(30);
        o.module = app("True", since);
        r.observe(&o).steps[1].state
    };
    assert_eq!(state(Some(-900), -900), StepState::Waiting);
    assert_eq!(state(Some(-900), 5), StepState::Done);
    assert_eq!(state(Some(-900), 0), StepState::Done, "within the second, but not the flip known before");
    assert_eq!(state(Some(0), 0), StepState::Waiting);
    assert_eq!(state(None, 0), StepState::Waiting);
}

#[test]
fn what_cannot_be_seen_is_never_called_landed() {
    let mut r = roll();
    let mut o = done(60);
    o.pools.clear();
    (o.deployments_complete, o.releases_complete) = (false, false);
    let unseen = vec![StepKind::Pools, StepKind::Machines, StepKind::Nodes];
    assert_eq!(r.observe(&o).outcome, Outcome::LandedAsFarAsVisible(unseen));
    assert_eq!(r.observe(&done(61)).outcome, Outcome::Landed);
    let mut blind = Observation { at: Some(at(5)), ..Observation::default() };
    assert_eq!(roll().observe(&blind).outcome, Outcome::Following);
    blind.deleting = true;
    assert!(matches!(roll().observe(&blind).outcome, Outcome::Stopped { .. }));
}

fn with_change(change: Change, bounds: (i64, i64)) -> Rollout {
    let mut r = roll();
    if let Some(p) = r.edit.pools.get_mut("web") {
        (p.change, p.bounds) = (change, bounds);
        if change == Change::Add {
            (p.release, p.template, p.deployment) = (None, None, None);
        }
    }
    r
}

#[test]
fn scaling_waits_for_the_bounds_and_for_the_minimum() {
    let mut r = with_change(Change::Scale, (5, 8));
    let mut o = done(20);
    let set = |o: &mut Observation, bounds, n: u32| {
        if let Some(d) = &mut pool_of(o).deployment {
            (d.bounds, d.desired, d.replicas, d.updated, d.ready) = (Some(bounds), n, n, n, n);
        }
    };
    set(&mut o, (1, 8), 5);
    assert_eq!(r.observe(&o).outcome, Outcome::Following, "the old bounds still stand");
    set(&mut o, (5, 8), 3);
    assert_eq!(r.observe(&o).steps[4].total, 5);
    set(&mut o, (5, 8), 5);
    assert_eq!(r.observe(&o).outcome, Outcome::Landed);
    let mut r = with_change(Change::Scale, (1, 2));
    set(&mut o, (1, 2), 6);
    assert_eq!(r.observe(&o).outcome, Outcome::Landed, "nobody lowers a pool above its maximum");
}

#[test]
fn a_removed_pool_must_be_gone_and_a_new_one_there() {
    let mut r = with_change(Change::Remove, (0, 0));
    r.edit.desired = Groups::new();
    let mut o = done(20);
    o.groups = Some(Groups::new());
    assert_eq!(r.observe(&o).outcome, Outcome::Following);
    o.pools.clear();
    o.deployments_complete = false;
    assert!(matches!(r.observe(&o).outcome, Outcome::LandedAsFarAsVisible(_)));
    o.deployments_complete = true;
    assert_eq!(r.observe(&o).outcome, Outcome::Landed);

    let mut r = with_change(Change::Add, (1, 8));
    let mut o = done(20);
    let full = std::mem::take(&mut o.pools);
    assert_eq!(r.observe(&o).outcome, Outcome::Following);
    o.pools = full;
    assert_eq!(r.observe(&o).outcome, Outcome::Landed);
}

#[test]
fn a_field_that_the_platform_ignores_lands_with_the_module() {
    let mut r = with_change(Change::Metadata, (1, 8));
    let mut o = done(4);
    pool_of(&mut o).release = release(2, 2, "True", "UpgradeSucceeded", -900);
    assert_eq!(r.observe(&o).outcome, Outcome::Following, "the pool release may only be late");
    o.at = Some(at(10));
    assert_eq!(r.observe(&o).outcome, Outcome::Landed);
}
