//! What this identity may do, asked of the server: one rules review a namespace as a hint, access reviews where only an answer counts.
//! Owns which questions are asked; the Secret itself is never requested, only asked about.

use super::{
    allow::{Names, ROWS},
    session::Session,
};
use crate::model::access::{Access, Boundary, CREDENTIAL, NamespaceAccess, Question, RuleAccess, Rules, level_by_name, smallest_role};

/// Verbs that each open the credential: a list or a watch holds the data as well as a get.
const VERBS: [&str; 3] = ["get", "list", "watch"];

impl Session {
    /// The whole access document for these namespaces.
    pub async fn access(&self, namespaces: &[String]) -> Access {
        let identity = self.identity().await.ok();
        let mut out = Vec::new();
        for ns in namespaces {
            let rules = self.rules(ns).await.ok();
            let boundary = self.boundary(ns, rules.as_ref()).await;
            let matrix = self.matrix(ns, rules.as_ref()).await;
            let named = identity.as_ref().and_then(|i| level_by_name(i, ns));
            let level = named.or_else(|| rules.as_ref().and_then(Rules::level)).map(|l| l.word().to_string());
            let missing_role = smallest_role(ns, &matrix.iter().filter(|r| r.verb != "patch").cloned().collect::<Vec<_>>());
            out.push(NamespaceAccess { namespace: ns.clone(), level, rules: matrix, boundary, missing_role });
        }
        let boundary = Boundary::worst(out.iter().map(|n| &n.boundary));
        Access { kind: "Access".into(), identity, namespaces: out, boundary }
    }

    /// May this identity read the plane's admin credential, by its name or by a right over all Secrets? Access reviews only.
    pub async fn boundary(&self, namespace: &str, rules: Option<&Rules>) -> Boundary {
        let mut answers = Vec::new();
        for name in [CREDENTIAL, ""] {
            for verb in VERBS {
                let q = Question { verb, group: "", resource: "secrets", name };
                let what = if name.is_empty() { format!("{verb} secrets") } else { format!("{verb} secrets/{name}") };
                let (allowed, reason) = match self.may(Some(namespace), q).await {
                    Ok((allowed, reason)) => (Some(allowed), reason),
                    Err(p) => (None, p.summary),
                };
                let rule = rules.filter(|_| allowed == Some(true)).and_then(|r| r.rule_in_words(q));
                let how = [Some(reason).filter(|r| !r.is_empty()), rule.map(|r| format!("rule: {r}"))]
                    .into_iter()
                    .flatten()
                    .collect::<Vec<_>>()
                    .join("; ");
                answers.push((what, allowed, how));
            }
        }
        Boundary::fold(&answers)
    }

    /// Every row of the allowlist against this identity's rights in a namespace.
    async fn matrix(&self, namespace: &str, rules: Option<&Rules>) -> Vec<RuleAccess> {
        let mut out = Vec::new();
        for row in ROWS.iter().filter(|r| !r.verbs.contains(&"create")) {
            let name = match row.names {
                Names::Only(n) => n,
                Names::Any => "",
            };
            for verb in row.verbs {
                let q = Question { verb, group: row.group, resource: row.resource, name };
                let clustered = crate::model::Kind::of_resource(row.group, row.resource).is_some_and(|k| !k.info().namespaced);
                let hint = rules.and_then(|r| r.allows(q));
                // Rules of a namespace say nothing about cluster scope, and an incomplete review nothing about what it leaves out.
                let allowed = match hint {
                    Some(allowed) if !clustered => Some(allowed),
                    _ => self.may((!clustered).then_some(namespace), q).await.ok().map(|(a, _)| a),
                };
                out.push(RuleAccess {
                    verb: (*verb).to_string(),
                    group: row.group.to_string(),
                    resource: row.resource.to_string(),
                    allowed,
                    used_for: row.used_for.to_string(),
                    layer: row.layer,
                });
            }
        }
        out
    }
}
