//! What the embedded server answers: status objects, plain text, JSON, streams. Owns the texts every API server shares;
//! decides nothing.

use bytes::Bytes;
use futures::{StreamExt, stream::BoxStream};
use http::StatusCode;
use http_body_util::{BodyExt, combinators::UnsyncBoxBody};
use serde_json::{Value, json};

/// The body of a response, as `kube::Client::new` and hyper take it.
pub type ResponseBody = UnsyncBoxBody<Bytes, std::io::Error>;

/// A body: complete, or flowing.
pub(crate) enum Payload {
    Whole(Bytes),
    Flow(BoxStream<'static, Result<Bytes, std::io::Error>>),
}

/// One answer before it becomes an HTTP response.
pub(crate) struct Answer {
    pub status: u16,
    pub content_type: &'static str,
    pub headers: Vec<(&'static str, String)>,
    pub payload: Payload,
}

const JSON: &str = "application/json";
const TEXT: &str = "text/plain; charset=utf-8";

impl Answer {
    /// A JSON document.
    pub fn json(status: u16, value: &Value) -> Answer {
        Answer::bytes(status, Bytes::from(value.to_string()))
    }
    /// JSON that is text already.
    pub fn bytes(status: u16, body: Bytes) -> Answer {
        Answer { status, content_type: JSON, headers: Vec::new(), payload: Payload::Whole(body) }
    }
    /// Plain text, as proxies and an absent group answer.
    pub fn text(status: u16, body: &str) -> Answer {
        let payload = Payload::Whole(Bytes::from(body.to_string()));
        Answer { status, content_type: TEXT, headers: Vec::new(), payload }
    }
    /// A page of a proxy in front.
    pub fn html(status: u16, body: &str) -> Answer {
        Answer { content_type: "text/html", ..Answer::text(status, body) }
    }
    /// A watch.
    pub fn flow(stream: BoxStream<'static, Result<Bytes, std::io::Error>>) -> Answer {
        Answer { status: 200, content_type: JSON, headers: Vec::new(), payload: Payload::Flow(stream) }
    }
    /// As an HTTP response.
    pub fn into_response(self) -> http::Response<ResponseBody> {
        let body = match self.payload {
            Payload::Whole(b) => http_body_util::Full::new(b).map_err(|never| match never {}).boxed_unsync(),
            Payload::Flow(s) => http_body_util::StreamBody::new(s.map(|chunk| chunk.map(http_body::Frame::data))).boxed_unsync(),
        };
        let mut response = http::Response::new(body);
        *response.status_mut() = StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let headers = response.headers_mut();
        headers.insert(http::header::CONTENT_TYPE, http::HeaderValue::from_static(self.content_type));
        for (name, value) in self.headers {
            if let Ok(value) = http::HeaderValue::from_str(&value) {
                headers.insert(http::HeaderName::from_static(name), value);
            }
        }
        response
    }
}

/// A refusal: becomes a `Status` object.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Refusal {
    pub code: u16,
    /// Absent for errors the aggregated API wrapped as text.
    pub reason: Option<&'static str>,
    pub message: String,
    pub details: Option<Value>,
}

impl Refusal {
    /// A refusal without details.
    pub fn new(code: u16, reason: &'static str, message: impl Into<String>) -> Refusal {
        Refusal { code, reason: Some(reason), message: message.into(), details: None }
    }
    /// 500 without a reason: how the aggregated API hands on everything (`platform.md` 4.1, `post-exists`).
    pub fn wrapped(message: impl Into<String>) -> Refusal {
        Refusal { code: 500, reason: None, message: message.into(), details: None }
    }
    /// With details.
    pub fn with(mut self, details: Value) -> Refusal {
        self.details = Some(details);
        self
    }
    /// 404 for one object.
    pub fn not_found(resource: &super::catalog::Resource, name: &str) -> Refusal {
        Refusal::new(404, "NotFound", format!("{} \"{name}\" not found", resource.qualified())).with(about(resource, Some(name)))
    }
    /// The `Status` object.
    pub fn status(&self) -> Value {
        let mut v = json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "message": self.message});
        if let Some(o) = v.as_object_mut() {
            if let Some(reason) = self.reason {
                o.insert("reason".into(), json!(reason));
            }
            if let Some(details) = &self.details {
                o.insert("details".into(), details.clone());
            }
            o.insert("code".into(), json!(self.code));
        }
        v
    }
}

impl From<Refusal> for Answer {
    fn from(r: Refusal) -> Answer {
        Answer::json(r.code, &r.status())
    }
}

/// `details` that name a resource, and an object of it.
pub(crate) fn about(resource: &super::catalog::Resource, name: Option<&str>) -> Value {
    let mut d = serde_json::Map::new();
    if let Some(name) = name.filter(|n| !n.is_empty()) {
        d.insert("name".into(), json!(name));
    }
    if !resource.group.is_empty() {
        d.insert("group".into(), json!(resource.group));
    }
    d.insert("kind".into(), json!(resource.plural));
    Value::Object(d)
}
