//! The server: authentication, faults, authorization and dispatch, as a tower Service. Owns the order of those steps;
//! what a resource answers stands in its own file.

use std::{
    future::Future,
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll},
    time::Duration,
};

use bytes::Bytes;
use futures::StreamExt;
use http_body_util::BodyExt;
use kube::client::Body;
use serde_json::{Value, json};
use tokio::sync::watch;
use tower::BoxError;

use super::{
    answer::{Answer, Payload, Refusal, ResponseBody},
    apps, catalog,
    catalog::Manner,
    discovery,
    faults::{Fault, Faults},
    identity::Identity,
    ordinary,
    rbac::{self, Asked},
    reviews,
    route::{Query, Route, Target, route},
    store::Store,
    synthesized,
};
use crate::model::Time;

/// Where the platform takes its time from.
pub type Clock = Arc<dyn Fn() -> Time + Send + Sync>;

/// What all clones of a platform share.
pub(crate) struct Shared {
    store: Mutex<Store>,
    pub faults: Faults,
    pub wake: watch::Sender<u64>,
    pub clock: Clock,
}

impl Shared {
    /// The objects.
    pub fn store(&self) -> MutexGuard<'_, Store> {
        self.store.lock().unwrap_or_else(PoisonError::into_inner)
    }
    /// Wakes the watches after a change.
    pub fn changed(&self) {
        self.wake.send_modify(|n| *n = n.wrapping_add(1));
    }
    /// The time now.
    pub fn now(&self) -> Time {
        (self.clock)()
    }
}

/// The embedded platform. Clones share one world; each clone speaks for one identity.
#[derive(Clone)]
pub struct Platform {
    shared: Arc<Shared>,
    identity: Option<Identity>,
}

/// One request, with everything an answer needs.
pub(crate) struct Request {
    pub shared: Arc<Shared>,
    pub who: Identity,
    pub asked: Asked,
    pub query: Query,
    pub headers: http::HeaderMap,
    pub body: Bytes,
    pub now: Time,
    /// Faults that concern the write itself.
    pub faults: Vec<Fault>,
}

impl Request {
    fn header(&self, name: http::HeaderName) -> &str {
        self.headers.get(name).and_then(|v| v.to_str().ok()).unwrap_or("")
    }
    /// The Accept header.
    pub fn accept(&self) -> &str {
        self.header(http::header::ACCEPT)
    }
    /// The Content-Type header.
    pub fn content_type(&self) -> &str {
        self.header(http::header::CONTENT_TYPE)
    }
    /// True for `dryRun=All`.
    pub fn dry_run(&self) -> bool {
        self.query.get("dryRun").is_some()
    }
    /// The body as JSON (or YAML, as kubectl may send it).
    pub fn json_body(&self) -> Result<Value, Refusal> {
        let value: Result<Value, String> = if self.content_type().contains("yaml") {
            serde_yaml::from_slice(&self.body).map_err(|e| e.to_string())
        } else {
            serde_json::from_slice(&self.body).map_err(|e| e.to_string())
        };
        match value {
            Ok(v) if v.is_object() => Ok(v),
            Ok(_) => Err(Refusal::new(400, "BadRequest", "the object provided is unrecognized (must be of type Object)")),
            Err(e) => Err(Refusal::new(400, "BadRequest", format!("error decoding the body: {e}"))),
        }
    }
}

impl Platform {
    /// An empty platform for one identity. [`super::world`] fills it.
    pub fn empty(clock: Clock, identity: Identity) -> Platform {
        let (wake, _) = watch::channel(0);
        let faults = Faults::new(wake.clone());
        let shared = Shared { store: Mutex::new(Store::new()), faults, wake, clock };
        Platform { shared: Arc::new(shared), identity: Some(identity) }
    }

    /// A platform with the world of a scenario.
    pub fn new(scenario: super::Scenario, clock: Clock, identity: Identity) -> Platform {
        let platform = Platform::empty(clock, identity);
        super::world::seed(&platform, scenario);
        platform
    }

    /// The same platform, spoken to by someone else.
    pub fn speaking_as(&self, identity: Identity) -> Platform {
        Platform { shared: self.shared.clone(), identity: Some(identity) }
    }

    /// The same platform, with the identity from each request's bearer token ([`Identity::of_token`]), or anonymous.
    pub fn by_token(&self) -> Platform {
        Platform { shared: self.shared.clone(), identity: None }
    }

    /// The switchboard of faults.
    pub fn faults(&self) -> Faults {
        self.shared.faults.clone()
    }

    /// The platform's time.
    pub fn now(&self) -> Time {
        self.shared.now()
    }

    pub(crate) fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    /// One object as a cluster administrator would read it, for tests and the world.
    pub fn object(&self, api_version: &str, kind: &str, namespace: &str, name: &str) -> Option<Value> {
        let resource = catalog::of_kind(api_version, kind)?;
        Some(self.shared.store().get(resource, namespace, name)?.value())
    }

    /// Puts an object, creating or replacing it with its status, as a controller would. False if the kind isn't served.
    pub fn put(&self, mut object: Value) -> bool {
        let text = |k: &str| object.get(k).and_then(Value::as_str).unwrap_or("").to_string();
        let Some(resource) = catalog::of_kind(&text("apiVersion"), &text("kind")) else { return false };
        let now = self.now();
        if let Some(m) = object.get_mut("metadata").and_then(Value::as_object_mut) {
            m.shift_remove("resourceVersion");
            m.shift_remove("uid");
        }
        {
            let mut store = self.shared.store();
            if store.update(resource, object.clone(), now).is_err() {
                let _exists = store.create(resource, object, now);
            }
        }
        self.shared.changed();
        true
    }

    /// Deletes an object by force or by its finalizers, as a controller or `kubectl delete` would. False if it isn't there.
    pub fn delete(&self, api_version: &str, kind: &str, namespace: &str, name: &str) -> bool {
        let Some(resource) = catalog::of_kind(api_version, kind) else { return false };
        let done = self.shared.store().delete(resource, namespace, name, self.now()).is_ok();
        self.shared.changed();
        done
    }

    /// Removes an object whatever its finalizers say, as their controllers would at last. False if it isn't there.
    pub fn remove(&self, api_version: &str, kind: &str, namespace: &str, name: &str) -> bool {
        let Some(resource) = catalog::of_kind(api_version, kind) else { return false };
        let now = self.now();
        {
            let mut store = self.shared.store();
            if store.delete(resource, namespace, name, now).is_err() {
                return false;
            }
            if let Some(left) = store.get(resource, namespace, name) {
                let mut value = left.value();
                if let Some(m) = value.get_mut("metadata").and_then(Value::as_object_mut) {
                    m.shift_remove("finalizers");
                }
                let _gone = store.update(resource, value, now);
            }
        }
        self.shared.changed();
        true
    }

    /// Forgets all versions so far: watches and pages that start from them get 410.
    pub fn compact(&self) {
        self.shared.store().compact();
    }

    /// Sets the version counter back, as a restored etcd would.
    pub fn rewind_versions(&self, by: u64) {
        self.shared.store().rewind(by);
        self.shared.changed();
    }

    /// Freezes what the aggregated API reads at this moment, or lets it follow again.
    pub fn freeze_cache(&self, frozen: bool) {
        let head = self.shared.store().head();
        self.shared.faults.freeze(frozen.then_some(head));
    }

    /// Answers one request. Errors are those of the connection.
    pub async fn handle(&self, request: http::Request<Bytes>) -> Result<http::Response<ResponseBody>, BoxError> {
        let (parts, body) = request.into_parts();
        let query = Query::parse(parts.uri.query().unwrap_or(""));
        let route = route(&parts.method, parts.uri.path(), &query);
        let asked = match &route {
            Route::Object(t) => t.asked.clone(),
            Route::Url(path) => Asked { verb: "get".into(), resource: path.clone(), group: "-".into(), ..Asked::default() },
        };
        let faults = self.shared.faults.strike(&asked);
        if let Some(answer) = network(&faults).await? {
            return Ok(answer.into_response());
        }
        let who = self.caller(&parts.headers);
        let r = Request {
            shared: self.shared.clone(),
            who,
            asked,
            query,
            headers: parts.headers,
            body,
            now: self.now(),
            faults: faults.clone(),
        };
        let answer = respond(&r, &route).unwrap_or_else(Answer::from);
        Ok(spoil(answer, &faults).into_response())
    }

    fn caller(&self, headers: &http::HeaderMap) -> Identity {
        let text = |name: &str| headers.get(name).and_then(|v| v.to_str().ok()).unwrap_or("").to_string();
        let who = match &self.identity {
            Some(identity) => identity.clone(),
            None => match text("authorization").strip_prefix("Bearer ") {
                Some(token) => Identity::of_token(token.trim()),
                None => Identity::anonymous(),
            },
        };
        let user = text("impersonate-user");
        if user.is_empty() || !who.is_admin() {
            return who;
        }
        let groups = headers.get_all("impersonate-group").iter().filter_map(|v| v.to_str().ok().map(str::to_string));
        Identity { user, groups: groups.collect(), known: true }
    }
}

/// Faults of the way to the server and of what stands before its authentication.
async fn network(faults: &[Fault]) -> Result<Option<Answer>, BoxError> {
    for fault in faults {
        match fault {
            Fault::Delay(by) => tokio::time::sleep(*by).await,
            Fault::HalfOpen => std::future::pending::<()>().await,
            Fault::Refuse => {
                let text = "tcp connect error: Connection refused (os error 111)";
                return Err(std::io::Error::new(std::io::ErrorKind::ConnectionRefused, text).into());
            }
            Fault::TooMany(seconds) => {
                let text = "Too many requests, please try again later.";
                let mut a = Answer::text(429, text);
                a.headers.push(("retry-after", seconds.to_string()));
                return Ok(Some(a));
            }
            Fault::BadGateway => {
                let page = "<html>\r\n<head><title>502 Bad Gateway</title></head>\r\n<body>\r\n<center><h1>502 Bad Gateway</h1>\
                            </center>\r\n<hr><center>nginx</center>\r\n</body>\r\n</html>\r\n";
                return Ok(Some(Answer::html(502, page)));
            }
            _ => {}
        }
    }
    Ok(None)
}

fn respond(r: &Request, route: &Route) -> Result<Answer, Refusal> {
    if !r.who.known || r.faults.contains(&Fault::Unauthorized) {
        return Err(Refusal::new(401, "Unauthorized", "Unauthorized"));
    }
    let target = match route {
        Route::Url(path) => {
            if let Some(answer) = broken(&r.faults) {
                return Ok(answer);
            }
            return discovery::answer(r, path);
        }
        Route::Object(target) => target,
    };
    if r.faults.contains(&Fault::Forbidden) || rbac::allowed(&r.who, &r.asked).is_none() {
        return Err(rbac::forbidden(&r.who, &r.asked, target.resource));
    }
    let absent = r.faults.contains(&Fault::Absent) || r.shared.faults.on_group(&r.asked.group, &Fault::Absent);
    if !target.group_known || absent {
        return Ok(Answer::text(404, "404 page not found\n"));
    }
    if let Some(answer) = broken(&r.faults) {
        return Ok(answer);
    }
    dispatch(r, target)
}

/// Faults of the server behind authorization.
fn broken(faults: &[Fault]) -> Option<Answer> {
    faults.iter().find_map(|f| match f {
        Fault::Internal(text) => {
            let refusal = Refusal::new(500, "InternalError", format!("Internal error occurred: {text}"));
            Some(refusal.with(json!({"causes": [{"message": text}]})).into())
        }
        Fault::Unavailable => Some(Answer::text(503, "service unavailable\n")),
        _ => None,
    })
}

fn dispatch(r: &Request, target: &Target) -> Result<Answer, Refusal> {
    let unknown = || {
        let text = "the server could not find the requested resource";
        Refusal::new(404, "NotFound", text).with(json!({}))
    };
    let resource = target.resource.ok_or_else(unknown)?;
    let status = r.asked.subresource == "status" && matches!(resource.manner, Manner::Ordinary | Manner::Plane);
    if !r.asked.subresource.is_empty() && !status {
        return Err(unknown());
    }
    if !resource.verbs().contains(&r.asked.verb.as_str()) {
        let text = "the server does not allow this method on the requested resource";
        return Err(Refusal::new(405, "MethodNotAllowed", text).with(json!({})));
    }
    match resource.manner {
        Manner::Ordinary => ordinary::answer(r, resource),
        Manner::Plane => apps::answer(r, resource),
        Manner::NoApps => synthesized::empty(r, resource),
        Manner::Pools => synthesized::pools(r, resource),
        Manner::TenantNamespaces => synthesized::namespaces(r, resource),
        Manner::Options => synthesized::options(r, resource),
        Manner::TenantModules => synthesized::modules(r, resource),
        Manner::TenantSecrets => synthesized::secrets(r, resource),
        Manner::Review => reviews::answer(r, resource),
    }
}

/// Faults of the body.
fn spoil(answer: Answer, faults: &[Fault]) -> Answer {
    let mut answer = answer;
    for fault in faults {
        answer = match fault {
            Fault::Truncate(limit) => truncate(answer, *limit),
            Fault::EndAtOnce => match answer.payload {
                Payload::Flow(_) => Answer { payload: Payload::Whole(Bytes::new()), ..answer },
                Payload::Whole(_) => answer,
            },
            Fault::Slow(piece, pause) => slow(answer, (*piece).max(1), *pause),
            _ => answer,
        };
    }
    answer
}

fn chunks(payload: Payload) -> futures::stream::BoxStream<'static, Result<Bytes, std::io::Error>> {
    match payload {
        Payload::Whole(b) => futures::stream::iter([Ok(b)]).boxed(),
        Payload::Flow(s) => s,
    }
}

fn truncate(answer: Answer, limit: usize) -> Answer {
    let broken = || std::io::Error::new(std::io::ErrorKind::UnexpectedEof, "connection closed before message completed");
    let body = chunks(answer.payload).scan(Some(limit), move |left, chunk| {
        let step = match (*left, chunk) {
            (Some(n), Ok(b)) if b.len() <= n => {
                *left = Some(n - b.len());
                Some(Ok(b))
            }
            (Some(n), Ok(b)) if n > 0 => {
                *left = Some(0);
                Some(Ok(b.slice(..n)))
            }
            (Some(_), _) => {
                *left = None;
                Some(Err(broken()))
            }
            (None, _) => None,
        };
        std::future::ready(step)
    });
    // A body that was cut in its only chunk still has to break off.
    let body = body.chain(futures::stream::once(std::future::ready(Err(broken()))));
    Answer { payload: Payload::Flow(body.boxed()), ..answer }
}

fn slow(answer: Answer, piece: usize, pause: Duration) -> Answer {
    let body = chunks(answer.payload).flat_map(move |chunk| match chunk {
        Err(e) => futures::stream::iter(vec![Err(e)]).boxed(),
        Ok(bytes) => {
            let pieces: Vec<Bytes> = bytes.chunks(piece).map(Bytes::copy_from_slice).collect();
            futures::stream::iter(pieces)
                .then(move |p| async move {
                    tokio::time::sleep(pause).await;
                    Ok(p)
                })
                .boxed()
        }
    });
    Answer { payload: Payload::Flow(body.boxed()), ..answer }
}

impl tower::Service<http::Request<Body>> for Platform {
    type Response = http::Response<ResponseBody>;
    type Error = BoxError;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, BoxError>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        let platform = self.clone();
        Box::pin(async move {
            let (parts, body) = request.into_parts();
            let bytes = body.collect().await?.to_bytes();
            platform.handle(http::Request::from_parts(parts, bytes)).await
        })
    }
}
