//! Watches over a real session: rights that come and go, logins that end, APIs that vanish, servers that stumble. Nothing is shown that isn't
//! there, nothing stays that is gone, and nobody is hammered.

use std::{sync::Arc, time::Duration};

use planedeck::{
    cluster::{guard::Mode, session::Session, watch::WatchSet},
    model::{
        Kind, Scope, Selector,
        feed::{Feed, FeedEvent, Subscription},
    },
};
use serde_json::json;
use tokio::{
    sync::{Notify, mpsc},
    time::Instant,
};

use crate::server::{Answer, Server, groups, list, ok, page, session, status};

const PODS: &str = "/api/v1/namespaces/tenant-a/pods";
const PLANES: &str = "/apis/apps.cozystack.io/v1alpha1/namespaces/tenant-a/computeplanes";
const KAMAJI: &str = "/apis/kamaji.clastix.io/v1alpha1/namespaces/tenant-a/tenantcontrolplanes";

struct Watched {
    set: WatchSet,
    rx: mpsc::Receiver<Feed>,
    unauthorized: Arc<Notify>,
    session: Session,
}

fn watch(server: &Server, kind: Kind, room: usize) -> Watched {
    let (session, _) = session(server, Mode::ReadOnly);
    let (tx, rx) = mpsc::channel(room);
    let unauthorized = Arc::new(Notify::new());
    let mut set = WatchSet::new("c", tx, unauthorized.clone());
    let wanted = Subscription { kind, scope: Scope::Namespace("tenant-a".into()), selector: Selector::all() };
    set.reconcile(&session, 1, &[wanted]);
    Watched { set, rx, unauthorized, session }
}

impl Watched {
    async fn next(&mut self) -> String {
        match self.rx.recv().await.unwrap().event {
            FeedEvent::Listed(o) => format!("listed {}", o.iter().map(|o| o.meta.name.to_string()).collect::<Vec<_>>().join(" ")),
            FeedEvent::Applied(o) => format!("applied {}", o.meta.name),
            FeedEvent::Deleted(_, n) => format!("deleted {n}"),
            FeedEvent::Alive => "alive".into(),
            FeedEvent::Lost(p) => format!("lost {:?}", p.kind),
        }
    }

    async fn take<const N: usize>(&mut self) -> [String; N] {
        let mut out = [const { String::new() }; N];
        for slot in &mut out {
            *slot = self.next().await;
        }
        out
    }
}

fn line(what: &str, name: &str, version: u64) -> String {
    json!({"type": what, "object": {"metadata": {"name": name, "namespace": "tenant-a", "resourceVersion": version.to_string()}}})
        .to_string()
        + "\n"
}

fn quiet() -> Answer {
    Answer::Hang(200, String::new())
}

#[tokio::test(start_paused = true)]
async fn a_right_taken_away_is_told_and_found_again_when_given_back() {
    let server = Server::new();
    server.on("GET", PODS, [list("1", &["a"]), status(403, "Forbidden", "no"), status(403, "Forbidden", "no"), list("9", &["a", "b"])]);
    server.on("WATCH", PODS, [Answer::Torn(200, line("MODIFIED", "a", 2)), quiet()]);
    let mut w = watch(&server, Kind::Pod, 64);
    assert_eq!(w.take().await, ["listed a", "applied a", "lost Unreachable", "lost Forbidden"]);
    let begin = Instant::now();
    assert_eq!(w.take().await, ["lost Forbidden", "listed a b"]);
    let waited = begin.elapsed();
    assert!((Duration::from_secs(80)..Duration::from_secs(180)).contains(&waited), "minute scale, twice: {waited:?}");
}

#[tokio::test(start_paused = true)]
async fn a_login_that_ends_is_told_and_a_renewed_one_goes_on_at_once() {
    let server = Server::new();
    server.on("GET", PODS, [list("1", &["a"]), status(401, "Unauthorized", "Unauthorized")]);
    let expired = json!({"type": "ERROR", "object": {"kind": "Status", "code": 401, "reason": "Unauthorized", "message": "expired"}});
    server.on("WATCH", PODS, [Answer::Page(200, vec![], expired.to_string() + "\n")]);
    let mut w = watch(&server, Kind::Pod, 64);
    assert_eq!(w.take().await, ["listed a", "lost Unauthorized"]);
    w.unauthorized.notified().await;
    let fresh = Server::new();
    fresh.on("GET", PODS, [list("5", &["a", "b"])]);
    fresh.on("WATCH", PODS, [quiet()]);
    w.session.renew(&session(&fresh, Mode::ReadOnly).0);
    tokio::task::yield_now().await;
    let begin = Instant::now();
    w.set.retry_now();
    assert_eq!(w.take().await, ["listed a b"]);
    assert!(begin.elapsed() < Duration::from_millis(100), "{:?}", begin.elapsed());
}

#[tokio::test(start_paused = true)]
async fn a_server_that_asks_for_time_gets_it() {
    let server = Server::new();
    server.on("GET", PODS, [Answer::Page(429, vec![("retry-after", "7")], "slow down".into()), list("1", &["a"])]);
    server.on("WATCH", PODS, [quiet()]);
    let mut w = watch(&server, Kind::Pod, 64);
    let begin = Instant::now();
    assert_eq!(w.take().await, ["lost TooManyRequests", "listed a"]);
    assert!((7..9).contains(&begin.elapsed().as_secs()), "{:?}", begin.elapsed());
}

#[tokio::test(start_paused = true)]
async fn an_api_that_vanishes_is_named_and_found_when_it_is_back() {
    let server = Server::new();
    let without = || ok(groups(|g| !g.is_empty() && g != "kamaji.clastix.io"));
    server.on("GET", "/apis", [ok(groups(|g| !g.is_empty())), without(), ok(groups(|g| !g.is_empty()))]);
    server.on("GET", KAMAJI, [list("1", &["a"]), page(404, "404 page not found\n"), list("9", &["b"])]);
    server.on("WATCH", KAMAJI, [Answer::Reset, quiet()]);
    let mut w = watch(&server, Kind::TenantControlPlane, 64);
    assert_eq!(w.take().await, ["listed a", "lost Unreachable", "lost AbsentApi"]);
    let begin = Instant::now();
    assert_eq!(w.take().await, ["lost AbsentApi", "listed b"]);
    assert!(begin.elapsed() < Duration::from_secs(800), "{:?}", begin.elapsed());
    assert!(server.count("GET", "/apis") <= 4, "{}", server.count("GET", "/apis"));
}

#[tokio::test(start_paused = true)]
async fn pages_of_gateways_and_broken_lines_never_end_a_watch() {
    let server = Server::new();
    server.on("GET", PODS, [page(502, "<html>502</html>"), page(200, "<html>portal</html>"), list("1", &["a"])]);
    server.on(
        "WATCH",
        PODS,
        [
            page(503, "<html>503</html>"),
            page(200, "garbage\n"),
            page(200, "{\"type\":\"ADDED\",\"object\":null}\n"),
            page(200, "{\"type\":\"SURPRISE\",\"object\":{}}\n"),
            Answer::Torn(200, "{\"type\":\"ADD".into()),
            Answer::Hang(200, line("ADDED", "z", 2)),
        ],
    );
    let mut w = watch(&server, Kind::Pod, 64);
    assert_eq!(w.take().await, ["lost ServerError", "lost Unreadable"]);
    for lost in ["ServerError", "Unreadable", "Unreadable", "Unreadable", "Unreachable"] {
        assert_eq!(w.take().await, ["listed a".to_string(), format!("lost {lost}")]);
    }
    assert_eq!(w.take().await, ["listed a", "applied z"]);
}

#[tokio::test(start_paused = true)]
async fn an_item_that_cannot_be_read_is_not_taken_for_a_deletion() {
    let server = Server::new();
    let torn = r#"{"kind":"PodList","metadata":{"resourceVersion":"2"},"items":[{"metadata":{"name":"a"}},{"metadata":{"name":"b"},}]}"#;
    server.on("GET", PODS, [page(200, torn), list("3", &["a", "b"])]);
    server.on("WATCH", PODS, [quiet()]);
    let mut w = watch(&server, Kind::Pod, 64);
    assert_eq!(w.take().await, ["lost Unreadable", "listed a b"]);
}

#[tokio::test(start_paused = true)]
async fn what_was_deleted_in_a_gap_is_gone_after_it() {
    // Ordinary kinds: the version is too old. The synthesized API never says so: it is listed anew.
    let gone = json!({"type": "ERROR", "object": {"kind": "Status", "code": 410, "reason": "Expired"}}).to_string() + "\n";
    for (kind, path, end) in [(Kind::Pod, PODS, gone), (Kind::ComputePlane, PLANES, String::new())] {
        let server = Server::new();
        server.on("GET", path, [list("5", &["a", "b"]), list("9", &["b"])]);
        server.on("WATCH", path, [Answer::Page(200, vec![], end), quiet()]);
        let mut w = watch(&server, kind, 64);
        assert_eq!(w.take().await, ["listed a b", "listed b"], "{kind:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_restored_server_with_older_versions_is_believed() {
    let server = Server::new();
    server.on("GET", PODS, [list("900", &["a", "b"]), list("5", &["a"])]);
    server.on("WATCH", PODS, [Answer::Reset, Answer::Hang(200, line("MODIFIED", "a", 6))]);
    let mut w = watch(&server, Kind::Pod, 64);
    assert_eq!(w.take().await, ["listed a b", "lost Unreachable", "listed a", "applied a"]);
}

#[tokio::test(start_paused = true)]
async fn a_storm_comes_through_a_narrow_channel_whole_and_in_order() {
    let server = Server::new();
    // Short lines behind long ones, so that a reader which loses its place among the pieces loses a line.
    let long = json!({"type": "BOOKMARK", "object": {"metadata": {"annotations": {"x": "y".repeat(3000)}}}}).to_string();
    let storm: String =
        (1..=10_000).map(|i| line("MODIFIED", &format!("p{i}"), i) + if i % 100 == 0 { long.as_str() } else { "" } + "\n").collect();
    server.on("GET", PODS, [list("0", &[])]);
    server.on("WATCH", PODS, [Answer::Hang(200, storm)]);
    let mut w = watch(&server, Kind::Pod, 1);
    assert_eq!(w.next().await, "listed ");
    for i in 1..=10_000 {
        assert_eq!(w.next().await, format!("applied p{i}"));
        if i % 100 == 0 {
            assert_eq!(w.next().await, "alive");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn objects_of_megabytes_pass_and_a_line_without_end_does_not() {
    let server = Server::new();
    let big = json!({"type": "ADDED", "object": {"metadata": {"name": "big", "namespace": "tenant-a", "annotations": {"x": "y".repeat(5 << 20)}}}});
    server.on("GET", PODS, [list("1", &[])]);
    server.on("WATCH", PODS, [Answer::Torn(200, big.to_string() + "\n"), Answer::Hang(200, "x".repeat(17 << 20))]);
    let mut w = watch(&server, Kind::Pod, 64);
    assert_eq!(w.take().await, ["listed ", "applied big", "lost Unreachable", "listed ", "lost Unreadable"]);
}

#[tokio::test(start_paused = true)]
async fn a_silent_server_is_noticed_at_every_step() {
    let server = Server::new();
    server.on("GET", PODS, [list("1", &["a"])]);
    server.on("WATCH", PODS, [Answer::Silent, quiet()]);
    let mut w = watch(&server, Kind::Pod, 64);
    assert_eq!(w.next().await, "listed a");
    for _ in 0..3 {
        let begin = Instant::now();
        assert_eq!(w.take().await, ["lost Timeout", "listed a"]);
        assert!(begin.elapsed() < Duration::from_secs(65), "{:?}", begin.elapsed());
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_that_answers_everything_wrongly_at_once_is_not_hammered() {
    for answer in
        [Answer::Reset, page(500, "x"), page(200, "x"), page(200, ""), status(410, "Expired", "x"), Answer::Torn(200, String::new())]
    {
        for kind in [Kind::Pod, Kind::ComputePlane] {
            let server = Server::new();
            for path in [PODS, PLANES] {
                server.on("WATCH", path, [answer.clone()]);
                server.on("GET", path, [list("1", &["a"])]);
            }
            let mut w = watch(&server, kind, 64);
            let until = Instant::now() + Duration::from_secs(600);
            let _ = tokio::time::timeout_at(until, async { while w.rx.recv().await.is_some() {} }).await;
            let asked = server.asked().len();
            assert!((20..200).contains(&asked), "{answer:?} {kind:?}: {asked} requests in ten minutes");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn nobody_asks_once_nobody_listens() {
    let server = Server::new();
    server.on("GET", PODS, [list("1", &["a"])]);
    server.on("WATCH", PODS, [page(200, "")]);
    let w = watch(&server, Kind::Pod, 64);
    tokio::time::sleep(Duration::from_secs(60)).await;
    drop(w.rx);
    tokio::time::sleep(Duration::from_secs(60)).await;
    let asked = server.asked().len();
    tokio::time::sleep(Duration::from_secs(600)).await;
    assert_eq!(server.asked().len(), asked);
    drop(w.set);
}
