//! The only file that writes: one JSON Patch of one ComputePlane, then reading back until it has settled. Never retries a write: the API has no
//! idempotence to lean on (`platform.md` 4.1), so a second try is a new decision.

use std::time::Duration;

use serde_json::Value;

use super::{
    ask::Ask as _,
    guard::JSON_PATCH,
    session::{Session, segment},
};
use crate::model::{Kind, ObjectRef, Problem, ProblemKind};

/// When to read back: an immediate GET is stale now and then, and of two racing patches both can be answered 200.
pub const READ_BACK: [Duration; 2] = [Duration::from_millis(50), Duration::from_secs(1)];

/// Where a patch of ours may change something. The platform drops changed metadata silently, and everything else isn't the console's to edit.
const EDITABLE: &str = "/spec/nodeGroups";

/// What came of a write.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// The server took it: its answer first, then the plane as read back, oldest first. At least one reading succeeded, if any was asked for.
    Written(Vec<Value>),
    /// A `test` failed or the server lost a race: nothing was written; the plane as it is now, if it could be read.
    Conflict(Option<Box<Value>>, Problem),
    /// Nothing was written: it wasn't sent, or the server said no.
    Refused(Problem),
    /// No answer that settles it: whether it was written, only reading tells. The plane as it is now, if it could be read.
    Unknown(Option<Box<Value>>, Problem),
}

impl Session {
    /// Sends a patch and reads back after each of `delays`; after a conflict or an unclear answer, once after all of them.
    pub async fn write(&self, plane: &ObjectRef, patch: &Value, delays: &[Duration]) -> Outcome {
        let request = match self.patch_request(plane, patch).await {
            Ok(request) => request,
            Err(p) => return Outcome::Refused(p),
        };
        match self.json(request).await {
            Ok(answer) => {
                let mut seen = vec![answer];
                let mut failed = None;
                for delay in delays {
                    tokio::time::sleep(*delay).await;
                    match self.fetch(plane).await {
                        Ok(now) => seen.push(now),
                        Err(p) => failed = Some(p),
                    }
                }
                match failed {
                    // A 200 alone proves little here: of two racing patches both get one.
                    Some(p) if seen.len() < 2 => Outcome::Unknown(None, p),
                    _ => Outcome::Written(seen),
                }
            }
            Err(p) => match meaning(&p) {
                Meaning::Refused => Outcome::Refused(p),
                Meaning::Conflict => Outcome::Conflict(self.settle(plane, delays).await, p),
                Meaning::Unknown => Outcome::Unknown(self.settle(plane, delays).await, p),
            },
        }
    }

    /// The plane once the dust has settled: a patch whose answer was lost may still be on its way.
    async fn settle(&self, plane: &ObjectRef, delays: &[Duration]) -> Option<Box<Value>> {
        tokio::time::sleep(delays.iter().sum()).await;
        self.fetch(plane).await.ok().map(Box::new)
    }

    async fn patch_request(&self, plane: &ObjectRef, patch: &Value) -> Result<http::Request<Vec<u8>>, Problem> {
        if let Some(path) = foreign(patch) {
            let path = crate::model::text::line(&path);
            return Err(Problem::new(ProblemKind::Refused, format!("a patch may only change {EDITABLE}")).detail(path));
        }
        let place = self.locate(Kind::ComputePlane, Some(&plane.namespace)).await?;
        http::Request::patch(format!("{}/{}", place.path, segment(&plane.name)?))
            .header("content-type", JSON_PATCH)
            .body(patch.to_string().into_bytes())
            .map_err(|e| Problem::new(ProblemKind::BadInput, e.to_string()))
    }
}

/// The first operation that would change something else than node groups, by its path.
fn foreign(patch: &Value) -> Option<String> {
    let Some(operations) = patch.as_array() else { return Some("no list of operations".into()) };
    let text = |op: &Value, k: &str| op.get(k).and_then(Value::as_str).unwrap_or_default().to_string();
    let within = |path: &str| path.strip_prefix(EDITABLE).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    let ours = |op: &Value| {
        let (what, path) = (text(op, "op"), text(op, "path"));
        // Where the object has no spec at all, one is added that holds nothing else.
        let only_groups = |v: &Value| v.as_object().is_some_and(|o| o.keys().all(|k| k == "nodeGroups"));
        what == "test"
            || (["add", "replace", "remove"].contains(&what.as_str()) && within(&path))
            || (what == "add" && path == "/spec" && op.get("value").is_some_and(only_groups))
    };
    operations.iter().find(|op| !ours(op)).map(|op| format!("{} {}", text(op, "op"), text(op, "path")))
}

/// What a failure says about the write.
enum Meaning {
    Conflict,
    Refused,
    Unknown,
}

fn meaning(p: &Problem) -> Meaning {
    match p.kind {
        ProblemKind::Conflict => Meaning::Conflict,
        // The fixed text of a failed test is also that of a missing path: only the live object tells which.
        ProblemKind::Invalid if p.detail.contains("rejected our request due to an error in our request") => Meaning::Conflict,
        ProblemKind::Unreachable | ProblemKind::Timeout | ProblemKind::Unreadable => Meaning::Unknown,
        // A gateway's page, or a server that ran out of time behind the API, says nothing about what was stored.
        ProblemKind::ServerError if !says_no(&p.detail) => Meaning::Unknown,
        _ => Meaning::Refused,
    }
}

/// Texts of a policy or a check that the aggregated API wraps in a 500 (`platform.md` 4.1).
fn says_no(detail: &str) -> bool {
    [" is forbidden", "denied request", "denied the request", " is invalid"].iter().any(|t| detail.contains(t))
}
