//! A scripted API server: answers by method and path, in order, the last one for ever; remembers everything that reached it.

use std::{
    collections::{BTreeMap, VecDeque},
    future::Future,
    pin::Pin,
    sync::{Arc, Mutex},
    task::{Context, Poll},
    time::Duration,
};

use bytes::Bytes;
use futures::StreamExt as _;
use http_body::Frame;
use http_body_util::{BodyExt as _, StreamBody, combinators::UnsyncBoxBody};
use kube::client::Body;
use planedeck::{
    cluster::{guard::Mode, layer::Guard, session::Session, trail::AuditTrail},
    model::{context::ContextInfo, kind::KINDS},
};
use serde_json::{Value, json};

type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// How the server behaves once.
#[derive(Clone, Debug)]
pub enum Answer {
    /// A JSON body.
    Json(u16, Value),
    /// A body that is no JSON, with headers.
    Page(u16, Vec<(&'static str, &'static str)>, String),
    /// Bytes, then the connection breaks.
    Torn(u16, String),
    /// Bytes, then silence with the connection open.
    Hang(u16, String),
    /// The connection breaks before a head comes.
    Reset,
    /// Nothing ever comes.
    Silent,
    /// A JSON body made from the request's.
    Made(fn(&Value) -> Value),
    /// The answer comes after a while.
    Late(Duration, Box<Answer>),
}

/// One request as it arrived.
#[derive(Clone, Debug)]
pub struct Asked {
    pub method: String,
    pub uri: String,
    pub content_type: Option<String>,
    pub body: String,
}

#[derive(Default)]
struct Shared {
    asked: Vec<Asked>,
    scripts: BTreeMap<(String, String), VecDeque<Answer>>,
}

/// The server; clones are the same one.
#[derive(Clone, Default)]
pub struct Server {
    shared: Arc<Mutex<Shared>>,
}

impl Server {
    /// Serves nothing at all: every path is a plain 404.
    pub fn empty() -> Server {
        Server::default()
    }

    /// Serves aggregated discovery with every kind of the model in its best version.
    pub fn new() -> Server {
        let server = Server::default();
        server.on("GET", "/api", [ok(groups(|g| g.is_empty()))]);
        server.on("GET", "/apis", [ok(groups(|g| !g.is_empty()))]);
        server
    }

    /// From now on `method` (`WATCH` for a watch) of `path` is answered by these in turn, the last one for ever.
    pub fn on(&self, method: &str, path: &str, answers: impl IntoIterator<Item = Answer>) {
        self.shared.lock().unwrap().scripts.insert((method.into(), path.into()), answers.into_iter().collect());
    }

    /// Everything that arrived.
    pub fn asked(&self) -> Vec<Asked> {
        self.shared.lock().unwrap().asked.clone()
    }

    /// How often a method and path arrived; the query doesn't count, but a watch is a `WATCH`.
    pub fn count(&self, method: &str, path: &str) -> usize {
        self.asked().iter().filter(|a| verb(&a.method, &a.uri) == method && a.uri.split('?').next() == Some(path)).count()
    }

    fn next(&self, method: &str, uri: &str) -> Answer {
        let path = uri.split('?').next().unwrap_or_default().to_string();
        let mut shared = self.shared.lock().unwrap();
        match shared.scripts.get_mut(&(verb(method, uri).to_string(), path)) {
            Some(script) if script.len() > 1 => script.pop_front().unwrap(),
            Some(script) => script.front().cloned().unwrap_or(Answer::Reset),
            None => page(404, "404 page not found\n"),
        }
    }
}

fn verb<'a>(method: &'a str, uri: &str) -> &'a str {
    if method == "GET" && (uri.contains("watch=true") || uri.contains("watch=1")) { "WATCH" } else { method }
}

impl tower::Service<http::Request<Body>> for Server {
    type Response = http::Response<UnsyncBoxBody<Bytes, BoxError>>;
    type Error = BoxError;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, BoxError>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        let server = self.clone();
        Box::pin(async move {
            let (head, body) = request.into_parts();
            let body = body.collect().await.map_err(|e| e.to_string())?.to_bytes();
            let asked = Asked {
                method: head.method.to_string(),
                uri: head.uri.to_string(),
                content_type: head.headers.get("content-type").map(|v| v.to_str().unwrap().to_string()),
                body: String::from_utf8_lossy(&body).into_owned(),
            };
            let mut answer = server.next(&asked.method, &asked.uri);
            let sent = serde_json::from_str(&asked.body).unwrap_or_default();
            server.shared.lock().unwrap().asked.push(asked);
            while let Answer::Late(wait, then) = answer {
                tokio::time::sleep(wait).await;
                answer = *then;
            }
            if let Answer::Made(make) = answer {
                answer = ok(make(&sent));
            }
            reply(answer).await
        })
    }
}

async fn reply(answer: Answer) -> Result<http::Response<UnsyncBoxBody<Bytes, BoxError>>, BoxError> {
    let (code, headers, text, end) = match answer {
        Answer::Json(code, v) => (code, vec![("content-type", "application/json")], v.to_string(), End::Clean),
        Answer::Page(code, headers, text) => (code, headers, text, End::Clean),
        Answer::Torn(code, text) => (code, vec![], text, End::Torn),
        Answer::Hang(code, text) => (code, vec![], text, End::Open),
        Answer::Reset => return Err(std::io::Error::from(std::io::ErrorKind::ConnectionReset).into()),
        Answer::Silent | Answer::Late(..) | Answer::Made(_) => std::future::pending().await,
    };
    // In pieces that end anywhere, as a network hands them over.
    let pieces: Vec<_> = text.as_bytes().chunks(1009).map(|c| Ok::<_, BoxError>(Frame::data(Bytes::copy_from_slice(c)))).collect();
    let first = futures::stream::iter(pieces);
    let body = match end {
        End::Clean => StreamBody::new(first).boxed_unsync(),
        End::Torn => StreamBody::new(first.chain(futures::stream::iter([Err("connection reset by peer".into())]))).boxed_unsync(),
        End::Open => StreamBody::new(first.chain(futures::stream::pending())).boxed_unsync(),
    };
    let mut response = http::Response::builder().status(code);
    for (k, v) in headers {
        response = response.header(k, v);
    }
    Ok(response.body(body)?)
}

enum End {
    Clean,
    Torn,
    Open,
}

/// 200 with JSON.
pub fn ok(v: Value) -> Answer {
    Answer::Json(200, v)
}

/// A page that is no JSON.
pub fn page(code: u16, text: &str) -> Answer {
    Answer::Page(code, vec![("content-type", "text/plain")], text.to_string())
}

/// A `Status` as the API server writes it.
pub fn status(code: u16, reason: &str, message: &str) -> Answer {
    Answer::Json(
        code,
        json!({"kind": "Status", "apiVersion": "v1", "status": "Failure", "message": message, "reason": reason, "code": code}),
    )
}

/// A list of pods with these names.
pub fn list(version: &str, names: &[&str]) -> Answer {
    let items: Vec<Value> = names.iter().map(|n| json!({"metadata": {"name": n, "namespace": "tenant-a", "uid": n}})).collect();
    ok(json!({"kind": "List", "metadata": {"resourceVersion": version}, "items": items}))
}

/// Aggregated discovery of the model's kinds in their best version, for the groups that are wanted.
pub fn groups(wanted: impl Fn(&str) -> bool) -> Value {
    let mut by: BTreeMap<(&str, &str), Vec<Value>> = BTreeMap::new();
    for k in KINDS.iter().filter(|k| wanted(k.group)) {
        by.entry((k.group, k.versions[0])).or_default().push(json!({"resource": k.plural}));
    }
    let items: Vec<Value> = by
        .into_iter()
        .map(|((g, v), resources)| json!({"metadata": {"name": g}, "versions": [{"version": v, "resources": resources, "freshness": "Current"}]}))
        .collect();
    json!({"kind": "APIGroupDiscoveryList", "apiVersion": "apidiscovery.k8s.io/v2", "items": items})
}

/// A session over the server, with its trail.
pub fn session(server: &Server, mode: Mode) -> (Session, AuditTrail) {
    let trail = AuditTrail::default();
    (over(server, mode, trail.clone()), trail)
}

/// A session over the server that writes into a given trail.
pub fn over(server: &Server, mode: Mode, trail: AuditTrail) -> Session {
    let info = ContextInfo { name: "c".into(), server: "s:6443".into(), namespace: Some("tenant-a".into()), ..ContextInfo::default() };
    Session::over(server.clone(), &Guard::new(mode, trail), info)
}
