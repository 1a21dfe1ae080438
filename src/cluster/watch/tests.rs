//! The follower against a scripted server, with a clock that only moves when everything waits.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex},
    time::Duration,
};

use bytes::Bytes;
use http_body_util::{BodyExt as _, StreamBody};
use tokio::{
    sync::{Notify, mpsc},
    time::Instant,
};

use super::*;
use crate::{
    cluster::ask::{Ask, Place, Stream},
    model::{
        Kind, Problem, ProblemKind, Scope, Selector,
        feed::{Feed, FeedEvent, Subscription},
    },
};

/// What the server does next.
enum Step {
    /// Answers with these pieces and ends; `None` in the middle breaks the stream off.
    Say(Vec<Option<&'static str>>),
    /// Answers and then stays silent for ever.
    Hang(&'static str),
    /// Refuses.
    Fail(Problem),
}

#[derive(Clone, Default)]
struct Script {
    steps: Arc<Mutex<VecDeque<Step>>>,
    asked: Arc<Mutex<Vec<(Instant, String)>>>,
    last: Arc<Mutex<Option<&'static str>>>,
}

impl Script {
    fn of(steps: Vec<Step>) -> Script {
        Script { steps: Arc::new(Mutex::new(steps.into())), ..Script::default() }
    }

    fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().iter().map(|(_, p)| p.clone()).collect()
    }
}

fn pieces(list: Vec<Option<&'static str>>, hang: bool) -> Stream {
    let items = list.into_iter().map(|p| match p {
        Some(text) => Ok(http_body::Frame::data(Bytes::from_static(text.as_bytes()))),
        None => Err("connection reset".into()),
    });
    let stream = futures::stream::iter(items);
    if hang {
        StreamBody::new(futures::StreamExt::chain(stream, futures::stream::pending())).boxed_unsync()
    } else {
        StreamBody::new(stream).boxed_unsync()
    }
}

impl Ask for Script {
    async fn send(&self, request: http::Request<Vec<u8>>, _long: bool) -> Result<http::Response<Stream>, Problem> {
        self.asked.lock().unwrap().push((Instant::now(), request.uri().to_string()));
        let step = self.steps.lock().unwrap().pop_front();
        match step {
            Some(Step::Say(list)) => Ok(http::Response::new(pieces(list, false))),
            Some(Step::Hang(text)) => Ok(http::Response::new(pieces(vec![Some(text)], true))),
            Some(Step::Fail(p)) => Err(p),
            // The script is over: the server ends everything at once, or says again what it said last.
            None => Ok(http::Response::new(pieces(self.last.lock().unwrap().iter().map(|t| Some(*t)).collect(), false))),
        }
    }

    async fn locate(&self, kind: Kind, _namespace: Option<&str>) -> Result<Place, Problem> {
        Ok(Place { path: format!("/{}", kind.info().plural), api_version: "v1".into() })
    }
}

fn source(kind: Kind) -> Subscription {
    Subscription { kind, scope: Scope::Namespace("t".into()), selector: Selector::all() }
}

fn start(script: &Script, kind: Kind) -> (WatchSet, mpsc::Receiver<Feed>, Arc<Notify>) {
    let (tx, rx) = mpsc::channel(64);
    let unauthorized = Arc::new(Notify::new());
    let mut set = WatchSet::new("c", tx, unauthorized.clone());
    set.reconcile(script, 1, &[source(kind)]);
    (set, rx, unauthorized)
}

fn short(f: &Feed) -> String {
    match &f.event {
        FeedEvent::Listed(o) => format!("listed {}", o.iter().map(|o| o.meta.name.to_string()).collect::<Vec<_>>().join(" ")),
        FeedEvent::Applied(o) => format!("applied {}", o.meta.name),
        FeedEvent::Deleted(_, n) => format!("deleted {n}"),
        FeedEvent::Alive => "alive".into(),
        FeedEvent::Lost(p) => format!("lost {:?}", p.kind),
    }
}

async fn take(rx: &mut mpsc::Receiver<Feed>, n: usize) -> Vec<String> {
    let mut out = Vec::new();
    while out.len() < n {
        out.push(short(&rx.recv().await.unwrap()));
    }
    out
}

const LIST_A: &str = r#"{"kind":"PodList","metadata":{"resourceVersion":"5"},"items":[{"metadata":{"name":"a","namespace":"t"}}]}"#;
const LIST_NONE: &str = r#"{"kind":"PodList","metadata":{"resourceVersion":"9"},"items":[]}"#;
const ADD_B: &str = "{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"name\":\"b\",\"namespace\":\"t\",\"resourceVersion\":\"6\"}}}\n";

fn say(text: &'static str) -> Step {
    Step::Say(vec![Some(text)])
}

#[tokio::test(start_paused = true)]
async fn an_ordinary_watch_goes_on_from_its_last_version_without_listing() {
    let script = Script::of(vec![
        say(LIST_A),
        say(ADD_B),
        Step::Hang("{\"type\":\"BOOKMARK\",\"object\":{\"metadata\":{\"resourceVersion\":\"8\"}}}\n"),
    ]);
    let (_set, mut rx, _) = start(&script, Kind::Pod);
    assert_eq!(take(&mut rx, 4).await, ["listed a", "applied b", "alive", "alive"]);
    let asked = script.asked();
    assert!(asked[1].contains("resourceVersion=5") && asked[1].contains("watch=true"), "{asked:?}");
    assert!(asked[2].contains("resourceVersion=6") && asked[2].contains("watch=true"), "{asked:?}");
}

#[tokio::test(start_paused = true)]
async fn the_synthesized_api_is_listed_anew_after_every_watch() {
    let script = Script::of(vec![say(LIST_A), say(ADD_B), say(LIST_NONE), Step::Hang("")]);
    let (_set, mut rx, _) = start(&script, Kind::ComputePlane);
    // What was deleted in the gap is gone with the second list: nothing else would tell.
    assert_eq!(take(&mut rx, 3).await, ["listed a", "applied b", "listed "]);
    assert!(script.asked().iter().filter(|p| !p.contains("watch")).all(|p| !p.contains("limit")), "limit is ignored there: never sent");
}

#[tokio::test(start_paused = true)]
async fn gone_means_a_new_list_in_both_spellings() {
    let in_stream = Step::Say(vec![Some("{\"type\":\"ERROR\",\"object\":{\"code\":410,\"reason\":\"Expired\"}}\n")]);
    let script = Script::of(vec![
        say(LIST_A),
        in_stream,
        say(LIST_A),
        Step::Fail(Problem::new(ProblemKind::Gone, "")),
        say(LIST_NONE),
        Step::Hang(""),
    ]);
    let (_set, mut rx, _) = start(&script, Kind::Pod);
    assert_eq!(take(&mut rx, 3).await, ["listed a", "listed a", "listed "]);
}

#[tokio::test(start_paused = true)]
async fn half_a_list_and_half_a_line_are_told_and_tried_again() {
    let script = Script::of(vec![
        Step::Say(vec![Some(&LIST_A[..40]), None]),
        Step::Say(vec![Some(&LIST_A[..60])]),
        say(LIST_A),
        Step::Say(vec![Some(&ADD_B[..30])]),
        Step::Say(vec![Some("<html>502</html>")]),
        say(LIST_NONE),
        Step::Hang(""),
    ]);
    let (_set, mut rx, _) = start(&script, Kind::Pod);
    let got = take(&mut rx, 6).await;
    assert_eq!(got, ["lost Unreachable", "lost Unreadable", "listed a", "lost Unreadable", "lost Unreadable", "listed "]);
}

#[tokio::test(start_paused = true)]
async fn a_server_that_ends_everything_at_once_is_not_hammered() {
    let script = Script::default();
    *script.last.lock().unwrap() = Some(LIST_NONE);
    let (_set, mut rx, _) = start(&script, Kind::ComputePlane);
    let until = Instant::now() + Duration::from_secs(600);
    let _ = tokio::time::timeout_at(until, async { while rx.recv().await.is_some() {} }).await;
    let asked = script.asked().len();
    assert!((10..120).contains(&asked), "{asked} requests in 10 minutes");
}

#[tokio::test(start_paused = true)]
async fn a_silent_connection_is_noticed_within_a_minute() {
    let script = Script::of(vec![say(LIST_A), Step::Hang(""), say(LIST_NONE), Step::Hang("")]);
    let (_set, mut rx, _) = start(&script, Kind::Pod);
    let begin = Instant::now();
    assert_eq!(take(&mut rx, 2).await, ["listed a", "lost Timeout"]);
    assert!(begin.elapsed() <= Duration::from_secs(60), "{:?}", begin.elapsed());
    assert_eq!(take(&mut rx, 1).await, ["listed "]);
}

#[tokio::test(start_paused = true)]
async fn a_refusal_waits_a_minute_unless_poked_and_a_dead_login_is_told() {
    let no = |k| Step::Fail(Problem::new(k, ""));
    let script = Script::of(vec![no(ProblemKind::Forbidden), no(ProblemKind::Unauthorized), say(LIST_A), Step::Hang("")]);
    let (set, mut rx, unauthorized) = start(&script, Kind::Pod);
    let begin = Instant::now();
    assert_eq!(take(&mut rx, 1).await, ["lost Forbidden"]);
    tokio::task::yield_now().await;
    set.retry_now();
    assert_eq!(take(&mut rx, 1).await, ["lost Unauthorized"]);
    assert!(begin.elapsed() < Duration::from_secs(30), "the poke cut the wait short");
    unauthorized.notified().await;
    assert_eq!(take(&mut rx, 1).await, ["listed a"]);
}

#[tokio::test(start_paused = true)]
async fn unwanted_watches_end_and_kept_ones_carry_the_new_number() {
    let script = Script::of(vec![say(LIST_A), Step::Hang(""), say(LIST_NONE), Step::Hang("")]);
    let (mut set, mut rx, _) = start(&script, Kind::Pod);
    assert_eq!(rx.recv().await.unwrap().generation, 1);
    set.reconcile(&script, 2, &[source(Kind::Pod), source(Kind::Service)]);
    let next = rx.recv().await.unwrap();
    assert_eq!((next.generation, next.source.kind), (2, Kind::Service));
    assert_eq!(
        script.asked().iter().filter(|p| p.starts_with("/pods") && !p.contains("watch")).count(),
        1,
        "the kept watch wasn't started again"
    );
    drop(set);
    while rx.recv().await.is_some() {}
}

/// A follower that may hold one object.
fn narrow(script: &Script) -> mpsc::Receiver<Feed> {
    let (out, rx) = mpsc::channel(64);
    let setting = engine::Setting {
        context: "c".into(),
        generation: Arc::default(),
        out,
        poke: Arc::default(),
        unauthorized: Arc::default(),
        most: 1,
    };
    tokio::spawn(engine::run(script.clone(), source(Kind::Pod), setting));
    rx
}

#[tokio::test(start_paused = true)]
async fn a_list_without_end_is_refused_and_told() {
    let two = r#"{"kind":"PodList","metadata":{"continue":"x"},"items":[{"metadata":{"name":"a"}},{"metadata":{"name":"b"}}]}"#;
    let mut rx = narrow(&Script::of(vec![say(two), say(LIST_A), Step::Hang("")]));
    assert_eq!(take(&mut rx, 2).await, ["lost Unreadable", "listed a"]);
}

#[tokio::test(start_paused = true)]
async fn a_stream_of_ever_new_objects_ends_in_a_new_list() {
    let script = Script::of(vec![say(LIST_A), Step::Say(vec![Some(ADD_B), Some(ADD_B), Some(ADD_B)]), say(LIST_NONE), Step::Hang("")]);
    let mut rx = narrow(&script);
    assert_eq!(take(&mut rx, 4).await, ["listed a", "applied b", "applied b", "listed "]);
}

#[tokio::test(start_paused = true)]
async fn an_object_too_large_to_read_is_not_taken_for_deleted() {
    let huge: &'static str = format!(
        r#"{{"kind":"PodList","metadata":{{}},"items":[{{"metadata":{{"name":"a","x":"{}"}}}}]}}"#,
        "y".repeat(super::items::MAX_ITEM)
    )
    .leak();
    let (_set, mut rx, _) = start(&Script::of(vec![say(huge), say(LIST_NONE), Step::Hang("")]), Kind::Pod);
    assert_eq!(take(&mut rx, 1).await, ["lost Unreadable"]);
}
