//! Who may do what: the platform's ClusterRoles and their bindings in tenants and ancestors (`platform.md` 2, `roles.csv`).
//! Owns the rule table and the decision; must not look at objects.

use serde_json::{Value, json};

use super::{
    answer::{Refusal, about},
    catalog::Resource,
    identity::{Identity, Level},
};

/// One rule of a role. `*` stands for all.
pub(crate) struct Rule {
    verbs: &'static [&'static str],
    groups: &'static [&'static str],
    resources: &'static [&'static str],
    names: &'static [&'static str],
}

/// What is asked: one verb on one resource.
#[derive(Debug, Clone, Default)]
pub(crate) struct Asked {
    pub verb: String,
    pub group: String,
    pub resource: String,
    pub subresource: String,
    /// Empty for the cluster scope.
    pub namespace: String,
    pub name: String,
}

const READ: &[&str] = &["get", "list", "watch"];
const WRITE: &[&str] = &["create", "update", "patch", "delete"];
const ALL: &[&str] = &["*"];
const NONE: &[&str] = &[];

const fn rule(verbs: &'static [&'static str], groups: &'static [&'static str], resources: &'static [&'static str]) -> Rule {
    Rule { verbs, groups, resources, names: NONE }
}
const fn named(
    verbs: &'static [&'static str],
    groups: &'static [&'static str],
    resources: &'static [&'static str],
    names: &'static [&'static str],
) -> Rule {
    Rule { verbs, groups, resources, names }
}

/// Every authenticated user, in the whole cluster.
static BASIC: &[Rule] = &[
    rule(READ, &["core.cozystack.io"], &["tenantnamespaces"]),
    rule(READ, &["cozystack.io"], &["applicationdefinitions"]),
    rule(READ, &["backups.cozystack.io"], &["backupclasses"]),
    rule(READ, &["storage.k8s.io"], &["storageclasses"]),
    rule(&["create"], &["authorization.k8s.io"], &["selfsubjectaccessreviews", "selfsubjectrulesreviews"]),
    rule(&["create"], &["authentication.k8s.io"], &["selfsubjectreviews"]),
];
static VIEW: &[Rule] = &[
    rule(READ, &["backups.cozystack.io"], &["plans", "backupjobs", "restorejobs", "backups", "backupclasses"]),
    rule(READ, &["cozystack.io"], &["schedulingclasses"]),
    rule(&["get"], &["rbac.authorization.k8s.io"], &["roles"]),
    rule(READ, &["apps.cozystack.io"], &["*"]),
    rule(READ, &["sdn.cozystack.io"], &["securitygroups"]),
    rule(READ, &[""], &["pods", "services", "persistentvolumes", "endpoints", "events", "resourcequotas"]),
    rule(READ, &["discovery.k8s.io"], &["endpointslices"]),
    rule(READ, &["networking.k8s.io"], &["ingresses"]),
    rule(READ, &["cozystack.io"], &["workloadmonitors", "workloads"]),
    rule(READ, &["core.cozystack.io"], &["options"]),
];
static USE: &[Rule] = &[
    rule(READ, &["core.cozystack.io"], &["tenantmodules", "tenantsecrets"]),
    rule(&["get", "list"], &["subresources.kubevirt.io"], &["virtualmachineinstances/console", "virtualmachineinstances/vnc"]),
    rule(&["get", "update"], &["subresources.kubevirt.io"], &["virtualmachineinstances/portforward"]),
    rule(&["update"], &["subresources.kubevirt.io"], &["virtualmachines/start", "virtualmachines/stop", "virtualmachines/restart"]),
];
/// Enumerates kinds, and `computeplanes` is not among them.
static ADMIN: &[Rule] = &[
    rule(WRITE, &["apps.cozystack.io"], &["kuberneteses", "infos", "buckets", "postgreses", "redises", "vminstances"]),
    rule(&["delete"], &[""], &["pods", "services", "events"]),
    rule(&["get", "list"], &["kubevirt.io"], &["virtualmachines"]),
];
static SUPER: &[Rule] = &[rule(ALL, &["apps.cozystack.io"], &["*"]), rule(ALL, &["kubevirt.io"], &["virtualmachines"])];
static INFO: &[Rule] = &[named(&["get"], &[""], &["secrets"], &["$OIDC"])];
/// The Role that gives away the credential (`platform.md` 6).
static RESOURCES: &[Rule] = &[
    named(READ, &["networking.k8s.io"], &["ingresses"], &["computeplane-cluster"]),
    named(READ, &[""], &["secrets"], &["computeplane-cluster-admin-kubeconfig"]),
    named(READ, &[""], &["services"], &["computeplane-cluster"]),
    named(READ, &["cozystack.io"], &["workloadmonitors"], &["computeplane-cluster", "computeplane-cluster-md0"]),
];
static EVERYTHING: &[Rule] = &[rule(ALL, ALL, ALL)];
static PLANES: &[Rule] = &[rule(READ, &["apps.cozystack.io"], &["computeplanes"])];
/// What the demo's operator reads of the cluster scope.
static CLUSTER_READ: &[Rule] =
    &[rule(READ, &["kamaji.clastix.io"], &["datastores"]), rule(READ, &["cozystack.io"], &["packages", "packagesources"])];

struct Binding {
    name: String,
    role: String,
    subject: String,
    rules: &'static [Rule],
}

/// Namespaces above a tenant, nearest first: `tenant-a-b` lies in `tenant-a`, every tenant in `tenant-root`.
pub(crate) fn ancestors(namespace: &str) -> Vec<String> {
    let mut out = Vec::new();
    let mut rest = namespace;
    while let Some((parent, _)) = rest.rsplit_once('-') {
        if parent == "tenant" {
            break;
        }
        out.push(parent.to_string());
        rest = parent;
    }
    if namespace.starts_with("tenant-") && namespace != "tenant-root" {
        out.push("tenant-root".into());
    }
    out
}

/// The bindings of a namespace that name the caller.
fn bindings(who: &Identity, namespace: &str) -> Vec<Binding> {
    let mut out = Vec::new();
    if who.is_operator() && namespace.starts_with("tenant-") {
        let (name, rules) = if namespace == "tenant-nb" { ("planes-only", PLANES) } else { ("operators", EVERYTHING) };
        let subject = format!("Group \"{}\"", super::identity::OPERATORS);
        out.push(Binding { name: name.into(), role: format!("ClusterRole \"{name}\""), subject, rules });
    }
    for tenant in std::iter::once(namespace.to_string()).chain(ancestors(namespace)) {
        let sa = who.user == format!("system:serviceaccount:{tenant}:{tenant}");
        let level = [Level::SuperAdmin, Level::Admin, Level::Use, Level::View]
            .into_iter()
            .find(|l| who.groups.iter().any(|g| *g == format!("{tenant}-{}", l.suffix())));
        let (level, subject) = match (sa, level) {
            (true, _) => (Level::SuperAdmin, format!("ServiceAccount \"{tenant}/{tenant}\"")),
            (_, Some(level)) => (level, format!("Group \"{tenant}-{}\"", level.suffix())),
            _ => continue,
        };
        let mut add = |name: String, role: String, rules| {
            out.push(Binding { name, role, subject: subject.clone(), rules });
        };
        let graded = [(Level::View, VIEW), (Level::Use, USE), (Level::Admin, ADMIN), (Level::SuperAdmin, SUPER)];
        for (at, rules) in graded.into_iter().filter(|(at, _)| *at <= level) {
            let name = format!("cozy:tenant:{}", at.suffix());
            add(name.clone(), format!("ClusterRole \"{name}\""), rules);
        }
        if level >= Level::Use {
            let name = "computeplane-cluster-dashboard-resources";
            add(name.into(), format!("Role \"{name}\""), RESOURCES);
        }
        // Without the doubled prefix bug the info Role reaches the tenant's own groups only.
        if tenant == namespace || level >= Level::View {
            add("info-dashboard-resources".into(), "Role \"info-dashboard-resources\"".into(), INFO);
        }
    }
    out
}

/// Decides. The text is the reason of an access review.
pub(crate) fn allowed(who: &Identity, asked: &Asked) -> Option<String> {
    if who.is_admin() {
        return Some("RBAC: allowed by ClusterRoleBinding \"cluster-admin\" of ClusterRole \"cluster-admin\"".into());
    }
    if !asked.namespace.is_empty()
        && let Some(b) = bindings(who, &asked.namespace).into_iter().find(|b| grants(b.rules, asked))
    {
        let at = format!("{}/{}", b.name, asked.namespace);
        return Some(format!("RBAC: allowed by RoleBinding \"{at}\" of {} to {}", b.role, b.subject));
    }
    if who.is_operator() && grants(CLUSTER_READ, asked) {
        return Some("RBAC: allowed by ClusterRoleBinding \"operators\"".into());
    }
    if who.authenticated() && grants(BASIC, asked) {
        let to = "to Group \"system:authenticated\"";
        return Some(format!("RBAC: allowed by ClusterRoleBinding \"system:basic-user\" {to}"));
    }
    None
}

/// True if any RoleBinding of the namespace names the caller: what `tenantnamespaces` shows.
pub(crate) fn bound(who: &Identity, namespace: &str) -> bool {
    who.is_admin() || !bindings(who, namespace).is_empty()
}

fn grants(rules: &[Rule], asked: &Asked) -> bool {
    let has = |list: &[&str], what: &str| list.iter().any(|x| *x == "*" || *x == what);
    let full = if asked.subresource.is_empty() { asked.resource.clone() } else { format!("{}/{}", asked.resource, asked.subresource) };
    rules.iter().any(|r| {
        let name = r.names.is_empty()
            || r.names.iter().any(|n| *n == asked.name || (*n == "$OIDC" && asked.name == format!("kubeconfig-{}", asked.namespace)));
        has(r.verbs, &asked.verb) && has(r.groups, &asked.group) && has(r.resources, &full) && name
    })
}

/// The refusal of a request, worded as the API server does.
pub(crate) fn forbidden(who: &Identity, asked: &Asked, resource: Option<&Resource>) -> Refusal {
    let qualified = if asked.group.is_empty() { asked.resource.clone() } else { format!("{}.{}", asked.resource, asked.group) };
    let name = if asked.name.is_empty() { String::new() } else { format!(" \"{}\"", asked.name) };
    let full = if asked.subresource.is_empty() { asked.resource.clone() } else { format!("{}/{}", asked.resource, asked.subresource) };
    let scope =
        if asked.namespace.is_empty() { "at the cluster scope".to_string() } else { format!("in the namespace \"{}\"", asked.namespace) };
    let text = format!(
        "{qualified}{name} is forbidden: User \"{}\" cannot {} resource \"{full}\" in API group \"{}\" {scope}",
        who.user, asked.verb, asked.group
    );
    let details = match resource {
        Some(r) => about(r, Some(&asked.name)),
        None => {
            let mut d = serde_json::Map::new();
            if !asked.name.is_empty() {
                d.insert("name".into(), json!(asked.name));
            }
            if !asked.group.is_empty() {
                d.insert("group".into(), json!(asked.group));
            }
            d.insert("kind".into(), json!(asked.resource));
            Value::Object(d)
        }
    };
    Refusal::new(403, "Forbidden", text).with(details)
}

/// The rules of a `SelfSubjectRulesReview`.
pub(crate) fn rules(who: &Identity, namespace: &str) -> Vec<Value> {
    let mut sets: Vec<&'static [Rule]> = Vec::new();
    if who.is_admin() {
        sets.push(EVERYTHING);
    }
    if who.authenticated() {
        sets.push(BASIC);
    }
    if who.is_operator() {
        sets.push(CLUSTER_READ);
    }
    for b in bindings(who, namespace) {
        if !sets.iter().any(|s| std::ptr::eq(*s, b.rules)) {
            sets.push(b.rules);
        }
    }
    let oidc = format!("kubeconfig-{namespace}");
    let one = |r: &Rule| {
        let mut v = json!({"verbs": r.verbs, "apiGroups": r.groups, "resources": r.resources});
        if !r.names.is_empty()
            && let Some(o) = v.as_object_mut()
        {
            let names: Vec<&str> = r.names.iter().map(|n| if *n == "$OIDC" { oidc.as_str() } else { n }).collect();
            o.insert("resourceNames".into(), json!(names));
        }
        v
    };
    sets.into_iter().flatten().map(one).collect()
}
