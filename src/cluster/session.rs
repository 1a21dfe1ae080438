//! One context, connected: two guarded clients, what the server serves, and the questions the console asks. Owns time limits and the mapping
//! of answers to problems; must not retry a write, and knows no screens.

use std::{
    sync::{
        Arc, PoisonError, RwLock,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use bytes::Bytes;
use http_body::Body as HttpBody;
use http_body_util::BodyExt as _;
use kube::{Client, client::Body, core::Status};
use serde_json::{Value, json};
use tokio::{sync::Mutex, time::Instant};
use tower::{BoxError, Layer as _, Service};

use super::{
    ask::{Ask, Place, Stream},
    discovery::{AGGREGATED, Discovered},
    errors::{problem_of, problem_of_status},
    layer::Guard,
};
use crate::model::{
    Kind, ObjectRef, Problem, ProblemKind,
    access::{Identity, Question, Rules},
    context::ContextInfo,
};

/// The longest wait for one short answer unless settings say otherwise.
pub const TIME_LIMIT: Duration = Duration::from_secs(30);
/// An error page is read up to this many bytes.
const MAX_ERROR: usize = 256 << 10;
/// A single object, or a review, has at most this many bytes.
const MAX_OBJECT: usize = 32 << 20;

/// What the server serves is asked again at most this often, and only when something turned out to be absent.
const DISCOVERY_AGE: Duration = Duration::from_secs(60);

/// A connected context. Clones share everything.
#[derive(Clone)]
pub struct Session {
    clients: Arc<RwLock<Pair>>,
    info: Arc<ContextInfo>,
    limit: Duration,
    discovered: Arc<Mutex<Option<Served>>>,
    /// Something that discovery had named was not there: versions come and go with upgrades.
    doubted: Arc<AtomicBool>,
}

/// What the server served, and when it said so.
type Served = (Instant, Arc<Discovered>);

/// One client for short calls, with a read timeout, and one for watches, without.
#[derive(Clone)]
struct Pair {
    short: Client,
    long: Client,
}

impl Session {
    /// Over two clients that already stand behind the guard.
    pub fn new(short: Client, long: Client, info: ContextInfo, limit: Duration) -> Session {
        let clients = Arc::new(RwLock::new(Pair { short, long }));
        Session { clients, info: Arc::new(info), limit, discovered: Arc::default(), doubted: Arc::default() }
    }

    /// Takes the clients of another session: the login was renewed. Requests under way end with the old one.
    pub fn renew(&self, other: &Session) {
        let new = other.pair();
        *self.clients.write().unwrap_or_else(PoisonError::into_inner) = new;
    }

    fn pair(&self) -> Pair {
        self.clients.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Over any service, put behind the guard here: the embedded platform and tests.
    pub fn over<S, B>(service: S, guard: &Guard, info: ContextInfo) -> Session
    where
        S: Service<http::Request<Body>, Response = http::Response<B>> + Clone + Send + 'static,
        S::Future: Send + 'static,
        S::Error: Into<BoxError>,
        B: HttpBody<Data = Bytes> + Send + 'static,
        B::Error: Into<BoxError>,
    {
        let client = |s: S| Client::new(guard.layer(s), "default");
        Session::new(client(service.clone()), client(service), info, TIME_LIMIT)
    }

    /// Over two kube configurations, put behind the guard here.
    ///
    /// # Errors
    /// When a configuration can't become a client (certificates above all).
    pub fn connect(short: kube::Config, long: kube::Config, guard: &Guard, info: ContextInfo, limit: Duration) -> Result<Session, Problem> {
        let client = |c: kube::Config| Ok(kube::client::ClientBuilder::try_from(c)?.with_layer(guard).build());
        let both = client(short).and_then(|s| Ok((s, client(long)?)));
        let (short, long) = both.map_err(|e: kube::Error| problem_of(&e))?;
        Ok(Session::new(short, long, info, limit))
    }

    /// Which context, as whom.
    pub fn info(&self) -> &ContextInfo {
        &self.info
    }

    /// What the server serves; asked once, and again after a failure or when an API it had named was not there.
    ///
    /// # Errors
    /// When even the list of groups can't be had.
    pub async fn discovered(&self) -> Result<Arc<Discovered>, Problem> {
        let doubted = self.doubted.load(Ordering::Relaxed);
        self.discovered_within(doubted.then_some(DISCOVERY_AGE)).await
    }

    /// The answer at hand if it is young enough (any age will do for `None`), else a new one. The lock makes all callers share one question.
    async fn discovered_within(&self, age: Option<Duration>) -> Result<Arc<Discovered>, Problem> {
        let mut held = self.discovered.lock().await;
        if let Some((_, known)) = held.as_ref().filter(|(at, _)| age.is_none_or(|a| at.elapsed() < a)) {
            return Ok(Arc::clone(known));
        }
        let fresh = Arc::new(self.discover().await?);
        self.doubted.store(false, Ordering::Relaxed);
        *held = Some((Instant::now(), Arc::clone(&fresh)));
        Ok(fresh)
    }

    async fn discover(&self) -> Result<Discovered, Problem> {
        let mut found = Discovered::default();
        for path in ["/api", "/apis"] {
            match self.json(get(path, AGGREGATED)?).await {
                Ok(answer) => _ = found.read(&answer),
                // A cluster may keep discovery from tenants: then each kind is tried in the version that we read best.
                Err(p) if p.kind == ProblemKind::Forbidden => found.assume(path == "/api"),
                Err(p) => return Err(p),
            }
        }
        for (group, version) in found.missing() {
            let path = if group.is_empty() { format!("/api/{version}") } else { format!("/apis/{group}/{version}") };
            match self.json(get(&path, "application/json")?).await {
                Ok(answer) => found.read_resources(&group, &version, &answer),
                // One broken aggregated API must not hide the others.
                Err(_) => found.fail(&group, &version),
            }
        }
        Ok(found)
    }

    /// GETs one object for reading, as served.
    ///
    /// # Errors
    /// As the server says.
    pub async fn fetch(&self, object: &ObjectRef) -> Result<Value, Problem> {
        let namespace = (!object.namespace.is_empty()).then_some(object.namespace.as_str());
        let place = self.locate(object.kind, namespace).await?;
        self.json(get(&format!("{}/{}", place.path, segment(&object.name)?), "application/json")?).await
    }

    /// Who the server says we are.
    ///
    /// # Errors
    /// As the server says; servers before 1.28 don't know the question.
    pub async fn identity(&self) -> Result<Identity, Problem> {
        let body = json!({"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"});
        Ok(Identity::from_review(&self.json(post("/apis/authentication.k8s.io/v1/selfsubjectreviews", &body)?).await?))
    }

    /// The rules of a namespace, as a hint.
    ///
    /// # Errors
    /// As the server says.
    pub async fn rules(&self, namespace: &str) -> Result<Rules, Problem> {
        let body = json!({"apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectRulesReview", "spec": {"namespace": namespace}});
        Ok(Rules::from_review(&self.json(post("/apis/authorization.k8s.io/v1/selfsubjectrulesreviews", &body)?).await?))
    }

    /// Whether a request would be allowed, and the server's reason. Without a namespace: in all of them.
    ///
    /// # Errors
    /// As the server says; an evaluation error without an answer counts as unreadable.
    pub async fn may(&self, namespace: Option<&str>, q: Question<'_>) -> Result<(bool, String), Problem> {
        let (resource, subresource) = q.resource.split_once('/').unwrap_or((q.resource, ""));
        let attributes = json!({"verb": q.verb, "group": q.group, "resource": resource, "subresource": subresource, "name": q.name, "namespace": namespace.unwrap_or_default()});
        let body =
            json!({"apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview", "spec": {"resourceAttributes": attributes}});
        let answer = self.json(post("/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", &body)?).await?;
        let status = answer.get("status").unwrap_or(&Value::Null);
        let text = |k: &str| status.get(k).and_then(Value::as_str).map(crate::model::text::line).unwrap_or_default();
        match status.get("allowed").and_then(Value::as_bool) {
            Some(allowed) if allowed || text("evaluationError").is_empty() => Ok((allowed, text("reason"))),
            _ => Err(Problem::new(ProblemKind::Unreadable, "the access review has no answer").detail(text("evaluationError"))),
        }
    }

    /// The server's version, e.g. `v1.33.1`.
    ///
    /// # Errors
    /// As the server or the network says.
    pub async fn server_version(&self) -> Result<String, Problem> {
        let answer = self.json(get("/version", "application/json")?).await?;
        Ok(answer.get("gitVersion").and_then(Value::as_str).map(crate::model::text::line).unwrap_or_default())
    }

    /// Sends a short request and reads its JSON answer, all within the time limit.
    ///
    /// # Errors
    /// As the server or the network says; `Unreadable` when the answer is no JSON.
    pub async fn json(&self, request: http::Request<Vec<u8>>) -> Result<Value, Problem> {
        let path = request.uri().path().to_string();
        let work = async {
            let answer = self.send(request, false).await?;
            let bytes = collect(answer.into_body(), MAX_OBJECT).await?;
            serde_json::from_slice(&bytes)
                .map_err(|e| Problem::new(ProblemKind::Unreadable, format!("{path}: the answer is no JSON")).detail(e.to_string()))
        };
        tokio::time::timeout(self.limit, work)
            .await
            .unwrap_or_else(|_| Err(Problem::new(ProblemKind::Timeout, format!("{path}: no answer within {} s", self.limit.as_secs()))))
    }
}

impl Ask for Session {
    async fn send(&self, request: http::Request<Vec<u8>>, long: bool) -> Result<http::Response<Stream>, Problem> {
        let pair = self.pair();
        let client = if long { &pair.long } else { &pair.short };
        let names_objects = !is_discovery(request.uri().path());
        let answer = client.send(request.map(Body::from)).await.map_err(|e| problem_of(&e))?;
        let (head, body) = answer.into_parts();
        let body: Stream = body.map_err(boxed).boxed_unsync();
        // A redirect counts as a refusal: it is a login page in front of the server, and its body is no answer of it.
        if head.status.is_success() {
            return Ok(http::Response::from_parts(head, body));
        }
        let retry_after = head.headers.get(http::header::RETRY_AFTER).and_then(|v| v.to_str().ok()).and_then(|v| v.parse().ok());
        let page = tokio::time::timeout(self.limit, collect(body, MAX_ERROR)).await.ok().and_then(Result::ok).unwrap_or_default();
        let mut problem = refusal(head.status.as_u16(), &page);
        problem.retry_after = problem.retry_after.or(retry_after);
        if names_objects && problem.kind == ProblemKind::AbsentApi {
            self.doubted.store(true, Ordering::Relaxed);
        }
        Err(problem)
    }

    async fn locate(&self, kind: Kind, namespace: Option<&str>) -> Result<Place, Problem> {
        let info = kind.info();
        let version = match self.discovered().await?.version(kind) {
            // It may have been installed since.
            Err(p) if matches!(p.kind, ProblemKind::AbsentApi | ProblemKind::UnsupportedVersion) => {
                self.discovered_within(Some(DISCOVERY_AGE)).await?.version(kind)?
            }
            found => found?,
        };
        let base = if info.group.is_empty() { format!("/api/{version}") } else { format!("/apis/{}/{version}", info.group) };
        let path = match namespace.filter(|_| info.namespaced) {
            Some(ns) => format!("{base}/namespaces/{}/{}", segment(ns)?, info.plural),
            None => format!("{base}/{}", info.plural),
        };
        let api_version = if info.group.is_empty() { version.to_string() } else { format!("{}/{version}", info.group) };
        Ok(Place { path, api_version })
    }
}

/// A name as one part of a path. Names come from flags, files and servers: what would reach another path is no name. (The guard would
/// refuse it too, but not in words that help with a typo, and a `#` never reaches it: parsing a URI drops what follows.)
pub(super) fn segment(name: &str) -> Result<&str, Problem> {
    let plain = name.bytes().all(|b| b.is_ascii_alphanumeric() || b"-._:".contains(&b));
    if plain && !name.is_empty() && name != "." && name != ".." {
        return Ok(name);
    }
    Err(Problem::new(ProblemKind::BadInput, format!("{:?} is no name of an object or a namespace", crate::model::text::line(name)))
        .hint("allowed: letters, digits, '-', '.', '_', ':'"))
}

/// Paths down to `/api/VERSION` and `/apis/GROUP/VERSION` tell what is served; deeper ones name objects.
fn is_discovery(path: &str) -> bool {
    let depth = path.split('/').skip(1).count();
    depth <= if path.starts_with("/apis") { 3 } else { 2 }
}

/// A named function: a closure here makes the compiler ask for a lifetime that an async trait method can't give.
fn boxed(e: kube::Error) -> BoxError {
    e.into()
}

/// The problem behind an answer from 400 up: a `Status`, or whatever a proxy put there.
fn refusal(code: u16, page: &[u8]) -> Problem {
    let status = serde_json::from_slice::<Status>(page).ok().filter(|s| s.code != 0 || !s.message.is_empty());
    let mut status = status.unwrap_or_else(|| Status {
        reason: super::errors::NOT_A_STATUS.to_string(),
        message: String::from_utf8_lossy(page).into_owned(),
        ..Status::default()
    });
    status.code = code;
    problem_of_status(&status)
}

async fn collect(mut body: Stream, limit: usize) -> Result<Bytes, Problem> {
    let mut all = bytes::BytesMut::new();
    while let Some(frame) = body.frame().await {
        let frame = frame
            .map_err(|e| Problem::new(ProblemKind::Unreachable, "the answer broke off").detail(crate::model::text::line(&e.to_string())))?;
        if let Ok(data) = frame.into_data() {
            if all.len() + data.len() > limit {
                return Err(Problem::new(ProblemKind::Unreadable, format!("an answer of more than {limit} bytes")));
            }
            all.extend_from_slice(&data);
        }
    }
    Ok(all.freeze())
}

fn bad(e: http::Error) -> Problem {
    Problem::new(ProblemKind::BadInput, format!("no usable request: {e}"))
}

fn get(path: &str, accept: &str) -> Result<http::Request<Vec<u8>>, Problem> {
    http::Request::get(path).header("accept", accept).body(Vec::new()).map_err(bad)
}

fn post(path: &str, body: &Value) -> Result<http::Request<Vec<u8>>, Problem> {
    http::Request::post(path).header("content-type", "application/json").body(body.to_string().into_bytes()).map_err(bad)
}
