//! What a text points at: a pool, a field of `nodeGroups`, the objects of a wait list. Owns the extraction; must not classify.

use std::sync::LazyLock;

use regex::Regex;

/// Pool and field that a message names.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Pointer {
    /// Pool, as written in the text.
    pub pool: Option<String>,
    /// Field path in the ComputePlane's spec, e.g. `nodeGroups.gpu.instanceType`.
    pub field: Option<String>,
}

/// One object of a wait list.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs)] // as kstatus writes them
pub struct Waited {
    pub kind: String,
    pub namespace: String,
    pub name: String,
    pub status: String,
}

static JSON_PATH: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"(?:'/|\bat |^/)nodeGroups/([^/'\s:]+)((?:/[^'\s:]+)?)").ok());
static DOTTED: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"\bnodeGroups\.([A-Za-z0-9_-]+)((?:\.[A-Za-z0-9_\[\]]+)*)").ok());
static NAMED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r#"(?:\bnodeGroups?(?: key)?|\bnode group|\bpool) (?:"([^"]{1,63})"|'([^']{1,63})'|([A-Za-z0-9][A-Za-z0-9_-]*):)"#).ok()
});
static OBJECT: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let words = concat!(
        r#"(?:"kubernetes-nodes-computeplane-cluster-([^"]+)""#,
        r"|\b(?:kubernetes-nodes-computeplane-cluster-|computeplane-cluster-talos-reconcile-)([a-z0-9-]+?)(?:-[0-9a-f]{6})?(?:$|[^a-z0-9-])",
        r#"|\b(?:MachineDeployment|MachineHealthCheck|MachineSet|KubevirtMachineTemplate|TalosConfigTemplate|WorkloadMonitor)[a-z0-9./-]* "(?:kubernetes-)?computeplane-cluster-([^"]+?)(?:-[0-9a-f]{6})?")"#,
    );
    Regex::new(words).ok()
});
static WAIT: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"([A-Z][A-Za-z]+)/(?:([a-z0-9.-]+)/)?([A-Za-z0-9.:_-]+)(?:\.[a-z0-9.]+)? status: '([A-Za-z]+)'").ok());

/// Helm 4's own waiter words the same as `name: X, kind: K, status: S`.
static WAIT_NAMED: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"not ready,? name: ([A-Za-z0-9.:_-]+), kind: ([A-Za-z]+), status: ([A-Za-z]+)").ok());

/// Fields of a pool as messages write them; a longer name stands before a shorter one that it contains.
const FIELDS: &[(&str, &str)] = &[
    ("instanceType", "instanceType"),
    ("resources.cpu and resources.memory", "resources"),
    ("systemReservedMemory", "kubelet.systemReservedMemory"),
    ("kubeReservedMemory", "kubelet.kubeReservedMemory"),
    ("systemReservedCpu", "kubelet.systemReservedCpu"),
    ("kubeReservedCpu", "kubelet.kubeReservedCpu"),
    ("evictionHardMemory", "kubelet.evictionHardMemory"),
    ("evictionSoftMemory", "kubelet.evictionSoftMemory"),
    ("resources.cpu", "resources.cpu"),
    ("resources.memory", "resources.memory"),
    ("podCpuLimit", "podCpuLimit"),
    ("podCpuRequest", "podCpuRequest"),
    ("ephemeralStorage", "ephemeralStorage"),
    ("storageClass", "storageClass"),
    ("diskSize", "diskSize"),
    ("minReplicas", "minReplicas"),
    ("maxReplicas", "maxReplicas"),
    ("maxUnhealthy", "maxUnhealthy"),
    ("nodeStartupTimeout", "nodeStartupTimeout"),
    ("gpus", "gpus"),
    ("roles", "roles"),
];

/// The pool and field that a text names, as far as it does.
pub fn pointer(text: &str) -> Pointer {
    if let Some(c) = JSON_PATH.as_ref().and_then(|r| r.captures(text)) {
        let pool = c.get(1).map_or("", |m| m.as_str());
        let mut field = format!("nodeGroups.{pool}{}", dotted(c.get(2).map_or("", |m| m.as_str())));
        if let Some(missing) = missing_property(text) {
            field = format!("{field}.{missing}");
        }
        return Pointer { pool: Some(pool.to_string()), field: Some(field) };
    }
    if let Some(c) = DOTTED.as_ref().and_then(|r| r.captures(text)) {
        let whole = c.get(0).map_or("", |m| m.as_str());
        return Pointer { pool: c.get(1).map(|m| m.as_str().to_string()), field: Some(whole.to_string()) };
    }
    let named = NAMED
        .as_ref()
        .and_then(|r| r.captures(text))
        .and_then(|c| [1, 2, 3].iter().find_map(|&i| c.get(i)).map(|m| m.as_str().to_string()));
    let pool = named.or_else(|| {
        OBJECT
            .as_ref()
            .and_then(|r| r.captures(text))
            .and_then(|c| [1, 2, 3].iter().find_map(|&i| c.get(i)).map(|m| m.as_str().to_string()))
    });
    let field = FIELDS.iter().filter_map(|(word, path)| Some((text.find(word)?, path))).min_by_key(|f| f.0).map(|f| f.1);
    let field = match (&pool, field) {
        (Some(p), Some(f)) => Some(format!("nodeGroups.{p}.{f}")),
        (Some(p), None) if named_key(text) => Some(format!("nodeGroups.{p}")),
        (None, _) if text.contains("nodeGroup") => Some("nodeGroups".to_string()),
        _ => None,
    };
    Pointer { pool, field }
}

/// `/gpus/0/name` → `.gpus[0].name`.
fn dotted(path: &str) -> String {
    path.split('/').filter(|p| !p.is_empty()).map(|p| if p.parse::<u32>().is_ok() { format!("[{p}]") } else { format!(".{p}") }).collect()
}

fn missing_property(text: &str) -> Option<&str> {
    let rest = text.split_once("missing property '").or_else(|| text.split_once("missing properties '"))?.1;
    rest.split('\'').next().filter(|p| !p.is_empty())
}

/// The text is about a pool's key or about the pool as a whole.
fn named_key(text: &str) -> bool {
    text.contains("nodeGroup")
}

/// The objects of `timeout waiting for: [Kind/ns/name status: 'X', …]` and of `failed early due to stalled resources: […]`.
pub fn waits(text: &str) -> Vec<Waited> {
    let found = WAIT.as_ref().map(|r| r.captures_iter(text).take(20).collect::<Vec<_>>()).unwrap_or_default();
    let part = |c: &regex::Captures<'_>, i: usize| c.get(i).map_or(String::new(), |m| m.as_str().to_string());
    let mut all: Vec<Waited> =
        found.iter().map(|c| Waited { kind: part(c, 1), namespace: part(c, 2), name: part(c, 3), status: part(c, 4) }).collect();
    let named = WAIT_NAMED.as_ref().map(|r| r.captures_iter(text).take(20).collect::<Vec<_>>()).unwrap_or_default();
    all.extend(named.iter().map(|c| Waited { kind: part(c, 2), namespace: String::new(), name: part(c, 1), status: part(c, 3) }));
    all
}
