//! What a key costs on a fleet: settling, filtering, sorting, drawing, and a draft's findings and forecast. `cargo bench --bench console`;
//! `FLEET=200` for a small one.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing)]

mod support;

use std::{
    collections::BTreeMap,
    sync::{LazyLock, Mutex},
};

use divan::{Bencher, black_box};
use planedeck::{
    keys::{Chord, Keymap},
    model::{
        Kind, Object,
        context::ContextInfo,
        feed::{Feed, FeedEvent},
    },
    nodegroups::{
        Groups,
        finding::Profile,
        forecast::{self, Facts},
        validate::{Context, validate_groups},
    },
    state::{Connected, Judge, Msg, Settings, State, settle, update},
    ui::{self, Theme},
};
use ratatui::{Terminal, backend::TestBackend};
use serde_json::json;

/// Kinds that a list of all namespaces follows.
const FOLLOWED: [Kind; 10] = [
    Kind::ComputePlane,
    Kind::HelmRelease,
    Kind::Cluster,
    Kind::TenantControlPlane,
    Kind::KamajiControlPlane,
    Kind::MachineDeployment,
    Kind::Machine,
    Kind::WorkloadMonitor,
    Kind::MachineSet,
    Kind::MachineHealthCheck,
];

fn size() -> usize {
    std::env::var("FLEET").ok().and_then(|n| n.parse().ok()).unwrap_or(5000)
}

/// A console that follows the whole fleet, not yet judged.
fn fed() -> State {
    let mut state = State::new(Judge::engine(), Settings::default(), Keymap::new(&[]).0, support::now());
    let info = ContextInfo { name: "prod".into(), ..ContextInfo::default() };
    let connected = Connected { info, namespaces: vec![], source: "flag".into(), all: true };
    update(&mut state, Msg::Connected(Box::new(connected)));
    let mut objects: BTreeMap<Kind, Vec<Object>> = BTreeMap::new();
    let fleet = support::Fleet::new();
    for i in (0..size()).flat_map(|n| fleet.plane(n)).filter(|i| FOLLOWED.contains(&i.kind)) {
        objects.entry(i.kind).or_default().push(Object::from_slice(i.kind, &i.api_version, i.json.as_bytes()).unwrap());
    }
    let sources: Vec<_> = state.session.wanted.iter().map(|(s, g)| (s.clone(), *g)).collect();
    for (source, generation) in sources {
        let mine = objects.get(&source.kind).into_iter().flatten().filter(|o| source.selector.matches(o)).cloned().collect();
        let feed = Feed { generation, context: "prod".into(), source, event: FeedEvent::Listed(mine) };
        update(&mut state, Msg::Feed(Box::new(feed)));
    }
    state
}

fn judged() -> State {
    let mut state = fed();
    let start = std::time::Instant::now();
    let (mut frames, mut longest) = (0, std::time::Duration::ZERO);
    while state.is_unsettled() {
        let frame = std::time::Instant::now();
        settle(&mut state);
        (frames, longest) = (frames + 1, longest.max(frame.elapsed()));
    }
    eprintln!("first judgement of all: {:?} in {frames} frames, the longest {longest:?}", start.elapsed());
    state
}

static STATE: LazyLock<Mutex<State>> = LazyLock::new(|| Mutex::new(judged()));

fn key(state: &mut State, text: &str) {
    update(state, Msg::Key(text.parse::<Chord>().unwrap()));
}

/// A filter typed and removed again: four keys.
#[divan::bench]
fn filter_four_keys(b: Bencher) {
    let mut state = STATE.lock().unwrap();
    key(&mut state, "/");
    b.bench_local(|| ["a", "1", "backspace", "backspace"].iter().for_each(|k| key(&mut state, k)));
    key(&mut state, "esc");
}

#[divan::bench]
fn sort_by_the_next_column(b: Bencher) {
    let mut state = STATE.lock().unwrap();
    b.bench_local(|| key(&mut state, "s"));
}

#[divan::bench]
fn move_down(b: Bencher) {
    let mut state = STATE.lock().unwrap();
    b.bench_local(|| key(&mut state, "j"));
}

#[divan::bench(args = [(80, 24), (200, 50)])]
fn draw(b: Bencher, (width, height): (u16, u16)) {
    let mut state = STATE.lock().unwrap();
    update(&mut state, Msg::Resize(width, height));
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    let theme = Theme::ansi();
    b.bench_local(|| {
        terminal.draw(|frame| ui::draw(&state, &theme, frame)).unwrap();
    });
}

/// An event of one machine until its plane's row is new.
#[divan::bench]
fn event_to_row(b: Bencher) {
    let mut state = STATE.lock().unwrap();
    let fleet = support::Fleet::new();
    let i = fleet.plane(3).find(|i| i.kind == Kind::Machine).unwrap();
    let wanted = state.session.wanted.iter().find(|(s, _)| s.kind == Kind::Machine).map(|(s, g)| (s.clone(), *g));
    let (source, generation) = wanted.unwrap();
    b.bench_local(|| {
        let object = Object::from_slice(i.kind, &i.api_version, i.json.as_bytes()).unwrap();
        let event = FeedEvent::Applied(Box::new(object));
        update(&mut state, Msg::Feed(Box::new(Feed { generation, context: "prod".into(), source: source.clone(), event })));
        settle(&mut state)
    });
}

fn draft(pools: usize) -> Groups {
    let pool = |n: usize| {
        let group = json!({"minReplicas": 1, "maxReplicas": 6, "instanceType": "u1.medium", "diskSize": "20Gi",
            "resources": {"cpu": "4", "memory": "8Gi"}, "kubelet": {"maxPods": 110}, "roles": if n == 0 { vec!["ingress-nginx"] } else { vec![] }});
        (format!("pool{n}"), group)
    };
    (0..pools).map(pool).collect()
}

/// Findings and forecast of a draft, as the editor makes them with every keystroke.
#[divan::bench(args = [3, 50])]
fn validate_and_forecast(b: Bencher, pools: usize) {
    let before = draft(pools);
    let mut after = before.clone();
    after["pool1"]["instanceType"] = json!("u1.xlarge");
    let context = Context { previous: Some(before.clone()), ..Context::default() };
    let machines = Default::default();
    let facts = Facts { layout: Profile::default(), machines: &machines, size: &|_| None, quotas: &[] };
    b.bench_local(|| (validate_groups(black_box(&after), &context), forecast::forecast(&before, black_box(&after), &facts)));
}

fn main() {
    divan::main();
}
