//! The only file that writes: one JSON Patch of one ComputePlane, then reading back until it has settled. Never retries a write: the API has no
//! idempotence to lean on (`platform.md` 4.1), so a second try is a new decision.

use std::time::Duration;

use serde_json::Value;

use super::{ask::Ask as _, guard::JSON_PATCH, session::Session};
use crate::model::{Kind, ObjectRef, Problem, ProblemKind};

/// When to read back: an immediate GET is stale now and then, and of two racing patches both can be answered 200.
pub const READ_BACK: [Duration; 2] = [Duration::from_millis(50), Duration::from_secs(1)];

/// What came of a write.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// The server took it; the plane as read back, oldest first.
    Written(Vec<Value>),
    /// A `test` failed or the server lost a race: nothing was written; the plane as it is now, if it could be read.
    Conflict(Option<Box<Value>>, Problem),
    /// The server refused it; nothing was written.
    Refused(Problem),
    /// No answer came: whether it was written, only reading tells. The plane as it is now, if it could be read.
    Unknown(Option<Box<Value>>, Problem),
}

impl Session {
    /// Sends a patch and reads back after each of `delays`.
    pub async fn write(&self, plane: &ObjectRef, patch: &Value, delays: &[Duration]) -> Outcome {
        match self.patch(plane, patch).await {
            Ok(answer) => {
                let mut seen = vec![answer];
                for delay in delays {
                    tokio::time::sleep(*delay).await;
                    if let Ok(v) = self.fetch(plane).await {
                        seen.push(v);
                    }
                }
                Outcome::Written(seen)
            }
            Err(p) => {
                let now = || async { self.fetch(plane).await.ok().map(Box::new) };
                match p.kind {
                    ProblemKind::Conflict => Outcome::Conflict(now().await, p),
                    // The fixed text of a failed test is also that of a missing path: only the live object tells which.
                    ProblemKind::Invalid if patch_did_not_fit(&p) => Outcome::Conflict(now().await, p),
                    ProblemKind::Unreachable | ProblemKind::Timeout | ProblemKind::Unreadable => Outcome::Unknown(now().await, p),
                    _ => Outcome::Refused(p),
                }
            }
        }
    }

    async fn patch(&self, plane: &ObjectRef, patch: &Value) -> Result<Value, Problem> {
        let place = self.locate(Kind::ComputePlane, Some(&plane.namespace)).await?;
        let request = http::Request::patch(format!("{}/{}", place.path, plane.name))
            .header("content-type", JSON_PATCH)
            .body(patch.to_string().into_bytes())
            .map_err(|e| Problem::new(ProblemKind::BadInput, e.to_string()))?;
        self.json(request).await
    }
}

fn patch_did_not_fit(p: &Problem) -> bool {
    p.detail.contains("rejected our request due to an error in our request")
}
