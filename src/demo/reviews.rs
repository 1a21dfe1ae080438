//! The self-reviews, answered from the roles. Owns their documents; the decision is [`rbac`]'s.

use serde_json::{Value, json};

use super::{
    answer::{Answer, Refusal},
    catalog::Resource,
    platform::Request,
    rbac::{self, Asked},
    store::{short, uid},
};

/// Answers a review.
pub(crate) fn answer(r: &Request, resource: &Resource) -> Result<Answer, Refusal> {
    let body = r.json_body()?;
    let value = match resource.plural {
        "selfsubjectaccessreviews" => access(r, &body)?,
        "selfsubjectrulesreviews" => rules(r, &body)?,
        _ => review(r),
    };
    Ok(Answer::json(201, &value))
}

fn access(r: &Request, body: &Value) -> Result<Value, Refusal> {
    let mut spec = body.get("spec").cloned().unwrap_or_default();
    // Empty attributes aren't written back.
    if let Some(attributes) = spec.get_mut("resourceAttributes").and_then(Value::as_object_mut) {
        attributes.retain(|_, v| v != "");
    }
    let mut status = json!({"allowed": false});
    let reason = match (spec.get("resourceAttributes"), spec.get("nonResourceAttributes")) {
        (Some(attributes), _) => {
            let text = |k: &str| attributes.get(k).and_then(Value::as_str).unwrap_or("").to_string();
            let asked = Asked {
                verb: text("verb"),
                group: text("group"),
                resource: text("resource"),
                subresource: text("subresource"),
                namespace: text("namespace"),
                name: text("name"),
            };
            rbac::allowed(&r.who, &asked)
        }
        (None, Some(_)) => Some("RBAC: allowed by ClusterRoleBinding \"system:discovery\"".to_string()),
        (None, None) => {
            let text = "spec.resourceAttributes: Invalid value: null: exactly one of nonResourceAttributes or \
                        resourceAttributes must be specified";
            return Err(Refusal::new(422, "Invalid", text));
        }
    };
    if let (Some(reason), Some(o)) = (reason, status.as_object_mut()) {
        o.insert("allowed".into(), json!(true));
        o.insert("reason".into(), json!(reason));
    }
    Ok(json!({"kind": "SelfSubjectAccessReview", "apiVersion": "authorization.k8s.io/v1", "metadata": {}, "spec": spec,
        "status": status}))
}

fn rules(r: &Request, body: &Value) -> Result<Value, Refusal> {
    let namespace = body.pointer("/spec/namespace").and_then(Value::as_str).unwrap_or("");
    if namespace.is_empty() {
        return Err(Refusal::new(400, "BadRequest", "no namespace on request"));
    }
    let paths = json!(["/api", "/api/*", "/apis", "/apis/*", "/healthz", "/livez", "/openapi", "/openapi/*", "/readyz", "/version"]);
    Ok(json!({"kind": "SelfSubjectRulesReview", "apiVersion": "authorization.k8s.io/v1", "metadata": {}, "spec": {},
        "status": {"resourceRules": rbac::rules(&r.who, namespace),
            "nonResourceRules": [{"verbs": ["get"], "nonResourceURLs": paths}], "incomplete": false}}))
}

fn review(r: &Request) -> Value {
    let user = json!({"username": r.who.user, "uid": uid("User", "", &r.who.user), "groups": r.who.all_groups()});
    json!({"kind": "SelfSubjectReview", "apiVersion": "authentication.k8s.io/v1",
        "metadata": {"creationTimestamp": short(r.now)}, "status": {"userInfo": user}})
}
