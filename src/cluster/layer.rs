//! The guard and the trail as one tower layer in front of a client. Owns the wiring; the decision is the guard's, the record the trail's.

use std::{
    future::Future,
    pin::Pin,
    task::{Context, Poll},
};

use bytes::Bytes;
use http_body::{Body, Frame};
use http_body_util::BodyExt as _;
use tower::{BoxError, Layer, Service};

use super::{
    ask::Stream,
    errors::Refused,
    guard::{Mode, decide},
    trail::{self, AuditTrail},
};
use crate::model::audit::{AuditRecord, Decision};

/// Put in front of every client, once.
#[derive(Clone)]
pub struct Guard {
    mode: Mode,
    trail: AuditTrail,
}

impl Guard {
    /// The mode is set here and nowhere else.
    pub fn new(mode: Mode, trail: AuditTrail) -> Guard {
        Guard { mode, trail }
    }
}

impl<S> Layer<S> for Guard {
    type Service = Guarded<S>;

    fn layer(&self, inner: S) -> Guarded<S> {
        Guarded { inner, guard: self.clone() }
    }
}

/// A service behind the guard.
#[derive(Clone)]
pub struct Guarded<S> {
    inner: S,
    guard: Guard,
}

type Answer = Pin<Box<dyn Future<Output = Result<http::Response<Stream>, BoxError>> + Send>>;

impl<S, R, B> Service<http::Request<R>> for Guarded<S>
where
    S: Service<http::Request<R>, Response = http::Response<B>>,
    S::Future: Send + 'static,
    S::Error: Into<BoxError>,
    B: Body<Data = Bytes> + Send + 'static,
    B::Error: Into<BoxError>,
{
    type Response = http::Response<Stream>;
    type Error = BoxError;
    type Future = Answer;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.inner.poll_ready(cx).map_err(Into::into)
    }

    fn call(&mut self, request: http::Request<R>) -> Answer {
        // The whole URI: one that names a server of its own isn't a plain path and is refused as such.
        let target = request.uri().to_string();
        // More than one content type, or one that is no text, counts as none.
        let mut types = request.headers().get_all(http::header::CONTENT_TYPE).iter();
        let content_type = match (types.next(), types.next()) {
            (Some(one), None) => one.to_str().unwrap_or_default().to_string(),
            _ => String::new(),
        };
        let decision = decide(self.guard.mode, request.method().as_str(), &target, &content_type);
        let verdict = match self.guard.trail.stopped() {
            Some(why) => Err(why),
            None => decision.verdict.map(str::to_string),
        };
        let a = decision.attributes;
        let record = AuditRecord {
            time: trail::now(),
            verb: a.verb,
            group: a.group,
            version: a.version,
            resource: a.resource,
            subresource: a.subresource,
            namespace: a.namespace,
            name: a.name,
            decision: if verdict.is_ok() { Decision::Sent } else { Decision::Refused },
            status: None,
            bytes: 0,
            millis: 0,
            purpose: match &verdict {
                Ok(used_for) => used_for.clone(),
                Err(reason) => reason.clone(),
            },
        };
        let seq = self.guard.trail.ask(record);
        if let Err(reason) = verdict {
            return Box::pin(std::future::ready(Err(Refused { reason }.into())));
        }
        let flight = Flight { trail: self.guard.trail.clone(), seq };
        let answer = self.inner.call(request);
        Box::pin(async move {
            let response = answer.await.map_err(Into::into)?;
            flight.trail.answered(seq, response.status().as_u16());
            Ok(response.map(|b| Counted { inner: b.map_err(Into::into).boxed_unsync(), flight }.boxed_unsync()))
        })
    }
}

/// A request on its way; its record is closed when this is dropped, however that comes about.
struct Flight {
    trail: AuditTrail,
    seq: u64,
}

impl Drop for Flight {
    fn drop(&mut self) {
        self.trail.done(self.seq);
    }
}

/// A body that counts what arrives.
struct Counted {
    inner: Stream,
    flight: Flight,
}

impl Body for Counted {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        let polled = Pin::new(&mut self.inner).poll_frame(cx);
        if let Poll::Ready(Some(Ok(frame))) = &polled {
            let bytes = frame.data_ref().map_or(0, Bytes::len);
            self.flight.trail.received(self.flight.seq, bytes as u64);
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> http_body::SizeHint {
        self.inner.size_hint()
    }
}
