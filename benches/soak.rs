//! A long watch in compressed time: events through the embedded platform, real watches and the real state, with a frame drawn after each burst.
//! Memory must stay flat, and at the end nothing may differ from the server, compared object by object. Fails where it doesn't hold.
//! `cargo bench --bench soak -- 1000000`; `PLANES=100` sets the fleet.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

mod support;

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use planedeck::{
    cluster::{
        guard::Mode,
        layer::Guard,
        session::Session,
        trail::AuditTrail,
        watch::{
            WatchSet,
            request::{MAX_OBJECTS, list},
        },
    },
    demo::{Identity, Platform, Scenario},
    keys::Keymap,
    model::{Object, context::ContextInfo, world::Source},
    state::{Connected, Effect, Judge, Msg, Settings, State, settle, update},
    ui::{self, Theme},
};
use ratatui::{Terminal, backend::TestBackend};
use serde_json::{Value, json};
use tokio::sync::{Notify, mpsc};

/// Kinds that change; with the versions that the platform serves.
const CHANGING: [(&str, &str); 3] = [
    ("helm.toolkit.fluxcd.io/v2", "HelmRelease"),
    ("cluster.x-k8s.io/v1beta1", "Machine"),
    ("cluster.x-k8s.io/v1beta1", "MachineDeployment"),
];
/// Versions are forgotten this often, as etcd's compaction does: watches that are late must list again.
const COMPACT: usize = 50_000;
/// Memory is compared from this event on.
const WARM: usize = 60_000;
/// One event in so many deletes its object; it comes back later under another uid.
const DELETE: u64 = 10;

fn main() {
    let events: usize = std::env::args().skip(1).find_map(|a| a.parse().ok()).unwrap_or(2_000);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(soak(events));
}

fn planes() -> usize {
    std::env::var("PLANES").ok().and_then(|n| n.parse().ok()).unwrap_or(100)
}

/// The console without its terminal: feeds in, frames out.
struct Console {
    state: State,
    watches: WatchSet,
    session: Session,
    terminal: Terminal<TestBackend>,
    theme: Theme,
    frames: usize,
    longest: Duration,
}

impl Console {
    fn carry_out(&mut self, effects: Vec<Effect>) {
        for effect in effects {
            if let Effect::Subscribe { generation, wanted } = effect {
                self.watches.reconcile(&self.session, generation, &wanted);
            }
        }
    }

    fn send(&mut self, msg: Msg) {
        let effects = update(&mut self.state, msg);
        self.carry_out(effects);
    }

    fn frame(&mut self) {
        let begin = Instant::now();
        let effects = settle(&mut self.state);
        self.carry_out(effects);
        self.terminal.draw(|frame| ui::draw(&self.state, &self.theme, frame)).unwrap();
        self.frames += 1;
        self.longest = self.longest.max(begin.elapsed());
    }

    /// Objects that differ from the server's, of all sources that are followed, each listed as it is watched.
    async fn differences(&self) -> (usize, Vec<String>) {
        let (mut compared, mut wrong) = (0, Vec::new());
        let world = &self.state.sphere().unwrap().world;
        let mut seen: Vec<Object> = Vec::new();
        for source in self.state.session.wanted.keys() {
            let Ok(truth) = list(&self.session, source, MAX_OBJECTS).await else { continue };
            for object in &truth.objects {
                let held = world.get(object.kind, &object.meta.namespace, &object.meta.name);
                compared += 1;
                if held.is_none_or(|h| **h != *object) {
                    wrong.push(format!("{:?} {}/{} is another or missing", object.kind, object.meta.namespace, object.meta.name));
                }
            }
            seen.extend(truth.objects);
        }
        let known: std::collections::BTreeSet<_> = seen.iter().map(Object::reference).collect();
        for source in self.state.session.wanted.keys() {
            let all = world.namespaces().map(|n| &**n).chain([""]).flat_map(|ns| world.list(source.kind, ns));
            wrong.extend(all.filter(|o| !known.contains(&o.reference())).map(|o| format!("ghost {:?}", o.reference())));
        }
        (compared, wrong)
    }
}

async fn soak(events: usize) {
    let platform = Platform::new(Scenario::Fleet(planes()), Arc::new(support::now), Identity::sre());
    let info = ContextInfo { name: "soak".into(), ..ContextInfo::default() };
    let session = Session::over(platform.clone(), &Guard::new(Mode::ReadOnly, AuditTrail::default()), info.clone());
    let (tx, mut rx) = mpsc::channel(1024);
    let mut console = Console {
        state: State::new(Judge::engine(), Settings::default(), Keymap::new(&[]).0, support::now()),
        watches: WatchSet::new("soak", tx, Arc::new(Notify::new())),
        session: session.clone(),
        terminal: Terminal::new(TestBackend::new(200, 50)).unwrap(),
        theme: Theme::ansi(),
        frames: 0,
        longest: Duration::ZERO,
    };
    console.send(Msg::Resize(200, 50));
    console.send(Msg::Connected(Box::new(Connected { info, namespaces: vec![], source: "flag".into(), all: true })));
    let targets = targets(&platform, &session, &console.state).await;
    let written = Arc::new(AtomicUsize::new(0));
    let writer = tokio::spawn(write(platform.clone(), targets, events, written.clone()));
    let (mut feeds, begin, cpu) = (0usize, Instant::now(), cpu_seconds());
    let mut samples: Vec<(usize, f64)> = Vec::new();
    loop {
        match tokio::time::timeout(Duration::from_secs(3), rx.recv()).await {
            Ok(Some(feed)) => {
                console.send(Msg::Feed(Box::new(feed)));
                feeds += 1;
                for _ in 0..512 {
                    let Ok(feed) = rx.try_recv() else { break };
                    console.send(Msg::Feed(Box::new(feed)));
                    feeds += 1;
                }
                console.frame();
            }
            _ if writer.is_finished() && !console.state.is_unsettled() => break,
            _ => console.frame(),
        }
        let done = written.load(Ordering::Relaxed);
        if done * 10 / events.max(1) > samples.len() {
            samples.push((done, support::resident()));
            println!("  {done} events, {feeds} feeds, {:.1} MiB", support::resident());
        }
    }
    writer.await.unwrap();
    let took = begin.elapsed();
    println!(
        "{} planes, {events} events, {feeds} feeds, {} frames (longest {:?}) in {took:?}, {:.0} s of CPU (the platform's included)",
        planes(),
        console.frames,
        console.longest,
        cpu_seconds() - cpu
    );
    let (compared, wrong) = console.differences().await;
    wrong.iter().take(10).for_each(|w| println!("  {w}"));
    println!(
        "{compared} objects compared with the server's, {} differ; {} verdicts",
        wrong.len(),
        console.state.sphere().unwrap().planes.len()
    );
    assert!(compared > 0 && wrong.is_empty(), "the world isn't the server's");
    // The platform's own log and the console's pools and tables are as large as they get by then.
    let early = samples.iter().find(|s| s.0 >= WARM);
    if let (Some(early), Some(late)) = (early, samples.last()) {
        let growth = (late.1 / early.1 - 1.0) * 100.0;
        println!("memory from {} to {} events: {:.1} to {:.1} MiB ({growth:+.1} %)", early.0, late.0, early.1, late.1);
        assert!(growth < 5.0, "memory grows");
    }
}

/// What is changed, as the server has it.
async fn targets(platform: &Platform, session: &Session, state: &State) -> Vec<Value> {
    let mut out = Vec::new();
    for (api, kind) in CHANGING {
        let found = state.session.wanted.keys().find(|s| s.kind.info().name == kind).unwrap();
        let source = Source { selector: planedeck::model::Selector::all(), ..found.clone() };
        let listed = list(session, &source, MAX_OBJECTS).await.unwrap();
        out.extend(listed.objects.iter().filter_map(|o| platform.object(api, kind, &o.meta.namespace, &o.meta.name)));
    }
    assert!(!out.is_empty());
    out
}

/// Changes conditions at random (the same at random every time), deletes, and brings back.
async fn write(platform: Platform, mut targets: Vec<Value>, events: usize, written: Arc<AtomicUsize>) {
    let mut seed = 0x2545_f491_4f6c_dd1d_u64;
    let text = |v: &Value, path: &str| v.pointer(path).and_then(Value::as_str).unwrap_or_default().to_string();
    for n in 0..events {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        let count = targets.len() as u64;
        let object = &mut targets[(seed % count) as usize];
        if (seed >> 40).is_multiple_of(DELETE) {
            let of = |path| text(object, path);
            platform.remove(&of("/apiVersion"), &of("/kind"), &of("/metadata/namespace"), &of("/metadata/name"));
        } else {
            if let Some(c) = object.pointer_mut("/status/conditions/0").and_then(Value::as_object_mut) {
                let up = (seed >> 20) & 1 == 0;
                c.insert("status".into(), json!(if up { "True" } else { "False" }));
                c.insert("message".into(), json!(format!("event {n} says so")));
            }
            platform.put(object.clone());
        }
        written.store(n + 1, Ordering::Relaxed);
        if n % COMPACT == COMPACT - 1 {
            platform.compact();
        }
        if n % 64 == 63 {
            // Lets the watches and the console have their turn.
            tokio::task::yield_now().await;
        }
    }
}

/// Processor time of this process so far.
fn cpu_seconds() -> f64 {
    let text = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<f64> = text.rsplit(')').next().unwrap_or_default().split_whitespace().filter_map(|f| f.parse().ok()).collect();
    // The state's letter isn't among the numbers: utime and stime are the 11th and 12th of them.
    fields.get(10).zip(fields.get(11)).map_or(0.0, |(u, s)| (u + s) / 100.0)
}
