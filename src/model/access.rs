//! What an identity may do: reading of rules reviews, the platform's level names, the credential boundary, the contract's `Access` document.
//! Pure; must not ask any server. A rules review is a hint, an access review is an answer.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{kind::Kind, verdict::Layer};

/// The Secret that a tenant must never read; only ever asked *about*.
pub const CREDENTIAL: &str = "computeplane-cluster-admin-kubeconfig";
/// The Role that grants it, contrary to what the module says (`platform.md` 6): its rule is the evidence.
pub const CREDENTIAL_ROLE: &str = "computeplane-cluster-dashboard-resources";

/// The ConfigMap that the cluster chart leaves where etcd is missing.
pub const BEACON: &str = "computeplane-cluster-awaiting-etcd";
/// Resources that the console reads only by one name: a role needs no more.
const BY_NAME: [(&str, &str, &str); 2] = [("", "configmaps", BEACON), ("rbac.authorization.k8s.io", "roles", CREDENTIAL_ROLE)];

/// Who the server says we are.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    /// User name.
    pub user: String,
    /// Groups, in the server's order.
    pub groups: Vec<String>,
}

impl Identity {
    /// Reads the status of a SelfSubjectReview.
    pub fn from_review(review: &Value) -> Identity {
        let info = review.get("status").and_then(|s| s.get("userInfo"));
        let user = info.and_then(|i| i.get("username")).and_then(Value::as_str).unwrap_or_default().to_string();
        let groups = info.and_then(|i| i.get("groups")).and_then(Value::as_array).into_iter().flatten();
        Identity { user, groups: groups.filter_map(Value::as_str).map(str::to_string).collect() }
    }
}

/// The levels of `platform.md` 2, from least to most.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[allow(missing_docs)]
pub enum Level {
    View,
    Use,
    Admin,
    SuperAdmin,
    ServiceAccount,
    ClusterAdmin,
}

impl Level {
    /// The platform's own word.
    pub fn word(self) -> &'static str {
        match self {
            Level::View => "view",
            Level::Use => "use",
            Level::Admin => "admin",
            Level::SuperAdmin => "super-admin",
            Level::ServiceAccount => "tenant service account",
            Level::ClusterAdmin => "cluster-admin",
        }
    }
}

/// Tenant namespaces from `namespace` up to the root: `tenant-a-b` → itself, `tenant-a`, `tenant-root`.
pub fn ancestors(namespace: &str) -> Vec<String> {
    let mut out = vec![namespace.to_string()];
    let mut rest = namespace;
    while let Some((parent, _)) = rest.rsplit_once('-') {
        if !parent.contains('-') {
            break;
        }
        out.push(parent.to_string());
        rest = parent;
    }
    if namespace.starts_with("tenant-") && namespace != "tenant-root" {
        out.push("tenant-root".to_string());
    }
    out
}

/// The level that the identity's own names tell for a namespace; the highest one wins.
pub fn level_by_name(identity: &Identity, namespace: &str) -> Option<Level> {
    if identity.groups.iter().any(|g| g == "system:masters") {
        return Some(Level::ClusterAdmin);
    }
    let mut best = None;
    for ns in ancestors(namespace) {
        if identity.user == format!("system:serviceaccount:{ns}:{ns}") {
            best = best.max(Some(Level::ServiceAccount));
        }
        for (suffix, level) in [("view", Level::View), ("use", Level::Use), ("admin", Level::Admin), ("super-admin", Level::SuperAdmin)] {
            if identity.groups.contains(&format!("{ns}-{suffix}")) {
                best = best.max(Some(level));
            }
        }
    }
    best
}

/// What a SelfSubjectRulesReview said about one namespace.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rules {
    rules: Vec<Rule>,
    /// The server could not tell everything: absence proves nothing.
    pub incomplete: bool,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Rule {
    verbs: Vec<String>,
    groups: Vec<String>,
    resources: Vec<String>,
    names: Vec<String>,
}

/// One request as RBAC sees it. An empty `name` means any.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct Question<'a> {
    pub verb: &'a str,
    pub group: &'a str,
    pub resource: &'a str,
    pub name: &'a str,
}

impl Rules {
    /// Reads the status of a SelfSubjectRulesReview.
    pub fn from_review(review: &Value) -> Rules {
        let status = review.get("status").unwrap_or(&Value::Null);
        let list = |v: &Value, k: &str| -> Vec<String> {
            v.get(k).and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).map(str::to_string).collect()
        };
        let rules = status.get("resourceRules").and_then(Value::as_array).into_iter().flatten();
        Rules {
            rules: rules
                .map(|r| Rule {
                    verbs: list(r, "verbs"),
                    groups: list(r, "apiGroups"),
                    resources: list(r, "resources"),
                    names: list(r, "resourceNames"),
                })
                .collect(),
            incomplete: status.get("incomplete").and_then(Value::as_bool).unwrap_or(false),
        }
    }

    /// Whether the rules allow a request: `None` where the review is incomplete and no rule speaks for it.
    pub fn allows(&self, q: Question<'_>) -> Option<bool> {
        match self.rule_for(q) {
            Some(_) => Some(true),
            None if self.incomplete => None,
            None => Some(false),
        }
    }

    /// The rule that allows a request, in words: the evidence for an open boundary.
    pub fn rule_in_words(&self, q: Question<'_>) -> Option<String> {
        let r = self.rule_for(q)?;
        let names = if r.names.is_empty() { String::new() } else { format!(", names [{}]", r.names.join(", ")) };
        Some(format!("verbs [{}], groups [{}], resources [{}]{names}", r.verbs.join(", "), r.groups.join(", "), r.resources.join(", ")))
    }

    fn rule_for(&self, q: Question<'_>) -> Option<&Rule> {
        let has = |list: &[String], x: &str| list.iter().any(|l| l == "*" || l == x);
        let sub = q.resource.split_once('/').map(|(_, s)| format!("*/{s}"));
        self.rules.iter().find(|r| {
            has(&r.verbs, q.verb)
                && has(&r.groups, q.group)
                && (has(&r.resources, q.resource) || sub.as_ref().is_some_and(|s| r.resources.contains(s)))
                && (r.names.is_empty() || r.names.iter().any(|n| n == q.name))
        })
    }

    /// The level that the rights themselves tell, where names don't: by what only that level may do (`platform.md` 2).
    pub fn level(&self) -> Option<Level> {
        let may = |verb, group, resource| self.allows(Question { verb, group, resource, name: "" }) == Some(true);
        if may("list", "helm.toolkit.fluxcd.io", "helmreleases") && may("get", "", "secrets") {
            return Some(Level::ClusterAdmin);
        }
        if !may("list", "apps.cozystack.io", "computeplanes") {
            return None;
        }
        Some(if may("patch", "apps.cozystack.io", "computeplanes") {
            Level::SuperAdmin
        } else if may("get", "kubevirt.io", "virtualmachines") {
            Level::Admin
        } else if may("list", "core.cozystack.io", "tenantmodules") {
            Level::Use
        } else {
            Level::View
        })
    }
}

/// The contract's `Access`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Access {
    /// Always `Access`.
    pub kind: String,
    /// Who the server says we are; `None` when it won't tell.
    pub identity: Option<Identity>,
    /// One entry a namespace.
    pub namespaces: Vec<NamespaceAccess>,
    /// The worst of the namespaces' boundaries.
    pub boundary: Boundary,
}

/// What this identity may do in one namespace.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct NamespaceAccess {
    /// Namespace.
    pub namespace: String,
    /// The platform's name for the level, if it can be told.
    pub level: Option<String>,
    /// What the console uses, and whether it may.
    pub rules: Vec<RuleAccess>,
    /// May this identity read the plane's admin credential?
    pub boundary: Boundary,
    /// The smallest Role that would light what is dark, as YAML to copy; `None` when nothing is dark.
    pub missing_role: Option<String>,
}

/// One thing the console uses.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[allow(missing_docs)] // named as in the contract
pub struct RuleAccess {
    pub verb: String,
    pub group: String,
    pub resource: String,
    pub allowed: Option<bool>,
    pub used_for: String,
    /// Layer that goes dark or dim without it.
    pub layer: Option<Layer>,
}

/// Whether the credential is within reach.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MayRead {
    /// Open for this identity.
    Yes,
    /// Closed for this identity.
    No,
    /// The server could not be asked.
    Unknown,
}

/// The credential boundary: by access reviews only, the Secret itself is never requested.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Boundary {
    /// Name of the Secret.
    pub secret: String,
    /// The answer.
    pub may_read: MayRead,
    /// What the answer rests on, in words: verb, reason, rule.
    pub how: String,
}

impl Boundary {
    /// Folds the answers to get, list and watch (with and without the name): one yes opens it, one missing answer leaves it unknown.
    pub fn fold(answers: &[(String, Option<bool>, String)]) -> Boundary {
        let listed = |wanted: Option<bool>| {
            let mut by_reason: Vec<(&str, Vec<&str>)> = Vec::new();
            for a in answers.iter().filter(|a| a.1 == wanted) {
                match by_reason.iter_mut().find(|(reason, _)| *reason == a.2) {
                    Some((_, what)) => what.push(&a.0),
                    None => by_reason.push((&a.2, vec![&a.0])),
                }
            }
            let words = |(reason, what): &(&str, Vec<&str>)| {
                if reason.is_empty() { what.join(", ") } else { format!("{} ({reason})", what.join(", ")) }
            };
            by_reason.iter().map(words).collect::<Vec<_>>().join("; ")
        };
        let (open, dark) = (listed(Some(true)), listed(None));
        let (may_read, how) = if !open.is_empty() {
            (MayRead::Yes, format!("allowed: {open}"))
        } else if !dark.is_empty() || answers.is_empty() {
            (MayRead::Unknown, format!("not answered: {dark}"))
        } else {
            (MayRead::No, format!("denied: {}", answers.iter().map(|a| a.0.as_str()).collect::<Vec<_>>().join(", ")))
        };
        Boundary { secret: CREDENTIAL.to_string(), may_read, how }
    }

    /// The worst of several: open before unknown before closed.
    pub fn worst<'a>(all: impl Iterator<Item = &'a Boundary>) -> Boundary {
        let rank = |b: &Boundary| match b.may_read {
            MayRead::Yes => 0,
            MayRead::Unknown => 1,
            MayRead::No => 2,
        };
        all.min_by_key(|b| rank(b)).cloned().unwrap_or_else(|| Boundary::fold(&[]))
    }
}

/// The smallest Role that allows these (verb, group, resource), as YAML to read and copy; never applied by the console.
/// What has no namespace can't be given by a Role and stands in a ClusterRole after it.
pub fn smallest_role(namespace: &str, missing: &[RuleAccess]) -> Option<String> {
    let is_clustered = |r: &&RuleAccess| Kind::of_resource(&r.group, &r.resource).is_some_and(|k| !k.info().namespaced);
    let (clustered, namespaced): (Vec<&RuleAccess>, Vec<&RuleAccess>) =
        missing.iter().filter(|r| r.allowed == Some(false)).partition(is_clustered);
    let role = role_rules(&namespaced).map(|rules| role_head("Role", Some(namespace)) + &rules);
    let cluster_role = role_rules(&clustered).map(|rules| role_head("ClusterRole", None) + &rules);
    let documents: Vec<String> = [role, cluster_role].into_iter().flatten().collect();
    (!documents.is_empty()).then(|| documents.join("---\n"))
}

fn role_head(kind: &str, namespace: Option<&str>) -> String {
    let place = namespace.map(|n| format!("  namespace: {n}\n")).unwrap_or_default();
    format!("apiVersion: rbac.authorization.k8s.io/v1\nkind: {kind}\nmetadata:\n  name: planedeck-reader\n{place}rules:\n")
}

fn role_rules(missing: &[&RuleAccess]) -> Option<String> {
    use std::collections::BTreeMap;
    /// What must be alike for resources to share a rule: group, verbs, the one name.
    type Shared<'a> = (&'a str, Vec<&'a str>, Option<&'a str>);
    let mut by_group: BTreeMap<Shared<'_>, Vec<&str>> = BTreeMap::new();
    let mut verbs: BTreeMap<(&str, &str), Vec<&str>> = BTreeMap::new();
    for r in missing {
        verbs.entry((&r.group, &r.resource)).or_default().push(&r.verb);
    }
    for ((group, resource), mut v) in verbs {
        v.sort_unstable();
        v.dedup();
        let name = BY_NAME.iter().find(|(g, r, _)| (*g, *r) == (group, resource)).map(|(.., n)| *n);
        by_group.entry((group, v, name)).or_default().push(resource);
    }
    let mut out = String::new();
    for ((group, verbs, name), resources) in by_group {
        let name = name.map(|n| format!("  resourceNames: [{n}]\n")).unwrap_or_default();
        let (resources, verbs) = (resources.join(", "), verbs.join(", "));
        out.push_str(&format!("- apiGroups: [\"{group}\"]\n  resources: [{resources}]\n{name}  verbs: [{verbs}]\n"));
    }
    (!out.is_empty()).then_some(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn rules(list: Value) -> Rules {
        Rules::from_review(&json!({"status": {"resourceRules": list, "incomplete": false}}))
    }

    #[test]
    fn parents_are_told_by_name() {
        assert_eq!(ancestors("tenant-a-b"), ["tenant-a-b", "tenant-a", "tenant-root"]);
        assert_eq!(ancestors("tenant-root"), ["tenant-root"]);
        let id = Identity { user: "u".into(), groups: vec!["tenant-a-view".into(), "tenant-root-admin".into()] };
        assert_eq!(level_by_name(&id, "tenant-a-b"), Some(Level::Admin));
        let sa = Identity { user: "system:serviceaccount:tenant-a:tenant-a".into(), groups: vec![] };
        assert_eq!(level_by_name(&sa, "tenant-a"), Some(Level::ServiceAccount));
        assert_eq!(level_by_name(&sa, "tenant-b"), None);
    }

    #[test]
    fn names_in_a_rule_count_only_for_that_name() {
        let r = rules(json!([{"verbs": ["get"], "apiGroups": [""], "resources": ["secrets"], "resourceNames": [CREDENTIAL]}]));
        let q = |name| Question { verb: "get", group: "", resource: "secrets", name };
        assert_eq!(r.allows(q(CREDENTIAL)), Some(true));
        assert_eq!(r.allows(q("other")), Some(false));
        assert_eq!(r.allows(q("")), Some(false));
        assert!(r.rule_in_words(q(CREDENTIAL)).unwrap().contains(CREDENTIAL));
    }

    #[test]
    fn an_incomplete_review_denies_nothing() {
        let r = Rules::from_review(&json!({"status": {"resourceRules": [], "incomplete": true}}));
        assert_eq!(r.allows(Question { verb: "get", group: "", resource: "pods", name: "" }), None);
    }

    #[test]
    fn one_yes_opens_the_boundary_and_one_gap_leaves_it_unknown() {
        let a = |v: &str, x| (v.to_string(), x, String::new());
        assert_eq!(Boundary::fold(&[a("get", Some(false)), a("list", Some(true)), a("watch", None)]).may_read, MayRead::Yes);
        assert_eq!(Boundary::fold(&[a("get", Some(false)), a("list", None)]).may_read, MayRead::Unknown);
        assert_eq!(Boundary::fold(&[a("get", Some(false)), a("list", Some(false))]).may_read, MayRead::No);
        assert_eq!(Boundary::fold(&[]).may_read, MayRead::Unknown);
    }

    #[test]
    fn the_smallest_role_joins_what_it_can() {
        let r = |verb: &str, resource: &str| RuleAccess {
            verb: verb.into(),
            group: "g".into(),
            resource: resource.into(),
            allowed: Some(false),
            used_for: String::new(),
            layer: None,
        };
        let y = smallest_role("t", &[r("list", "a"), r("watch", "a"), r("list", "b"), r("watch", "b")]).unwrap();
        assert!(y.contains("resources: [a, b]\n  verbs: [list, watch]"), "{y}");
        let named = RuleAccess { group: String::new(), ..r("get", "configmaps") };
        let wide = RuleAccess { group: "storage.k8s.io".into(), ..r("list", "storageclasses") };
        let y = smallest_role("t", &[named, wide]).unwrap();
        assert!(y.contains(&format!("resources: [configmaps]\n  resourceNames: [{BEACON}]\n")), "{y}");
        let (role, cluster_role) = y.split_once("---\n").unwrap();
        assert!(role.contains("namespace: t") && !role.contains("storageclasses"), "{y}");
        assert!(cluster_role.contains("kind: ClusterRole") && !cluster_role.contains("namespace:"), "{y}");
        assert_eq!(smallest_role("t", &[]), None);
    }
}
