//! The seam between what asks (watches, reads, writes) and what answers (a session over a guarded client). Owns the two questions; must not
//! know clients.

use std::future::Future;

use bytes::Bytes;
use http_body_util::combinators::UnsyncBoxBody;

use crate::model::{Kind, Problem};

/// A body that arrives in pieces.
pub type Stream = UnsyncBoxBody<Bytes, Box<dyn std::error::Error + Send + Sync>>;

/// Where a kind is served.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// URL path of the collection.
    pub path: String,
    /// `apiVersion` of its objects.
    pub api_version: String,
}

/// Who can be asked.
pub trait Ask: Clone + Send + Sync + 'static {
    /// Sends a request through the guard. `long` takes the client without a read timeout. Answers from 400 up come as problems.
    ///
    /// # Errors
    /// Whatever keeps the answer from coming.
    fn send(&self, request: http::Request<Vec<u8>>, long: bool) -> impl Future<Output = Result<http::Response<Stream>, Problem>> + Send;

    /// Where a kind is served, in a version that the projections can read.
    ///
    /// # Errors
    /// `AbsentApi`, `UnsupportedVersion`, or what kept discovery from answering.
    fn locate(&self, kind: Kind, namespace: Option<&str>) -> impl Future<Output = Result<Place, Problem>> + Send;
}
