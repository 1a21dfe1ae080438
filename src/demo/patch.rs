//! The patch formats. Owns applying one to a document and the server's fixed texts for what can't be applied; stores nothing.

use serde_json::Value;

use super::answer::Refusal;

/// 422 for every JSON Patch that can't be applied: failed test, missing path and unknown op look alike (`platform.md` 4.1).
fn rejected() -> Refusal {
    Refusal::new(422, "Invalid", "the server rejected our request due to an error in our request").with(serde_json::json!({}))
}

/// Applies a patch by its content type. Strategic merge is taken as merge, which is right for what the console sends.
pub(crate) fn apply(document: &Value, content_type: &str, body: &[u8]) -> Result<Value, Refusal> {
    let mut out = document.clone();
    match content_type.split(';').next().unwrap_or("").trim() {
        "application/json-patch+json" => {
            let ops: Value = serde_json::from_slice(body).map_err(|e| undecodable(&e))?;
            let ops = ops.as_array().ok_or_else(rejected)?;
            for op in ops {
                step(&mut out, op)?;
            }
        }
        "application/merge-patch+json" | "application/strategic-merge-patch+json" => {
            let patch: Value = serde_json::from_slice(body).map_err(|e| undecodable(&e))?;
            json_patch::merge(&mut out, &patch);
        }
        "application/apply-patch+yaml" => {
            let patch: Value =
                serde_yaml::from_slice(body).map_err(|e| Refusal::new(400, "BadRequest", format!("error decoding YAML: {e}")))?;
            json_patch::merge(&mut out, &patch);
        }
        other => {
            let text = format!(
                "the body of the request was in an unknown format - accepted media types include: application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml (got {other:?})"
            );
            return Err(Refusal::new(415, "UnsupportedMediaType", text));
        }
    }
    Ok(out)
}

fn undecodable(e: &serde_json::Error) -> Refusal {
    Refusal::new(400, "BadRequest", format!("error decoding patch: {e}"))
}

/// One operation. `test` of null on a path that isn't there passes.
fn step(document: &mut Value, op: &Value) -> Result<(), Refusal> {
    let path = op.get("path").and_then(Value::as_str).unwrap_or("");
    let is_test = op.get("op").and_then(Value::as_str) == Some("test");
    if is_test && op.get("value") == Some(&Value::Null) && document.pointer(path).is_none() {
        return Ok(());
    }
    let patch: json_patch::Patch = serde_json::from_value(Value::Array(vec![op.clone()])).map_err(|_| rejected())?;
    json_patch::patch(document, &patch).map_err(|_| rejected())
}
