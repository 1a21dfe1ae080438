//! What the charts refuse when they render or check values, with the texts of the real charts (`platform.md` 3).
//! Owns a small set of rules, enough to show each layer refusing; the full table is the validator's.

use serde_json::Value;

const OPTIONS: &str = include_str!("../../../assets/demo/options.yaml");

fn integer(v: Option<&Value>) -> bool {
    v.is_some_and(|v| v.is_i64() || v.is_u64())
}

fn kind(v: &Value) -> &'static str {
    match v {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// The module's chart: its schema, then the ingress guard. `None` if it renders.
pub(super) fn module(groups: &Value) -> Option<String> {
    let mut wrong = Vec::new();
    match groups {
        Value::Object(all) => {
            for (name, group) in all {
                schema(name, group, &mut wrong);
            }
        }
        Value::Null => {}
        other => wrong.push(format!("- at '/nodeGroups': got {}, want object", kind(other))),
    }
    if !wrong.is_empty() {
        let head = "values don't meet the specifications of the schema(s) in the following chart(s):\ncomputeplane:";
        return Some(format!("{head}\n{}\n", wrong.join("\n")));
    }
    let all = groups.as_object()?;
    let open = |g: &Value| {
        let roles = g.get("roles").and_then(Value::as_array);
        roles.into_iter().flatten().any(|r| r.as_str() == Some("ingress-nginx"))
            && g.get("maxReplicas").and_then(Value::as_i64).unwrap_or(0) > 0
    };
    if !all.is_empty() && !all.values().any(open) {
        return Some(
            "execution error at (computeplane/templates/cluster.yaml:50:4): computeplane: at least one nodeGroup must carry \
             roles: [ingress-nginx] with maxReplicas >= 1 — the module pins the ingress-nginx addon on, and its controller only \
             schedules onto ingress-nginx nodes"
                .into(),
        );
    }
    None
}

fn schema(name: &str, group: &Value, wrong: &mut Vec<String>) {
    let at = format!("/nodeGroups/{name}");
    let Some(g) = group.as_object() else {
        wrong.push(format!("- at '{at}': got {}, want object", kind(group)));
        return;
    };
    let missing: Vec<String> = ["diskSize", "instanceType", "maxReplicas", "minReplicas"]
        .iter()
        .filter(|k| !g.contains_key(**k))
        .map(|k| format!("'{k}'"))
        .collect();
    match missing.as_slice() {
        [] => {}
        [one] => wrong.push(format!("- at '{at}': missing property {one}")),
        many => wrong.push(format!("- at '{at}': missing properties {}", many.join(", "))),
    }
    for key in ["maxReplicas", "minReplicas"] {
        if let Some(v) = g.get(key).filter(|v| !integer(Some(v))) {
            wrong.push(format!("- at '{at}/{key}': got {}, want integer", kind(v)));
        }
    }
    for (key, want) in [("roles", "array"), ("gpus", "array"), ("kubelet", "object"), ("resources", "object"), ("instanceType", "string")] {
        if let Some(v) = g.get(key).filter(|v| kind(v) != want) {
            wrong.push(format!("- at '{at}/{key}': got {}, want {want}", kind(v)));
        }
    }
    let kubelet = g.get("kubelet").and_then(Value::as_object);
    for (key, v) in kubelet.into_iter().flatten().filter(|(_, v)| !v.is_string()) {
        wrong.push(format!("- at '{at}/kubelet/{key}': got {}, want string", kind(v)));
    }
}

/// The name of a pool's release, which the module has to create. `None` if it is allowed.
pub(super) fn pool_name(pool: &str) -> Option<String> {
    let release = super::release::pool_release_name(pool);
    let ends = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    let ok = !pool.is_empty() && release.ends_with(ends) && release.chars().all(|c| ends(c) || c == '-' || c == '.');
    if ok && release.len() <= 53 {
        return None;
    }
    let rule = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and \
                end with an alphanumeric character (e.g. 'example.com', regex used for validation is \
                '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
    let what = if ok { "must be no more than 53 characters".to_string() } else { rule.to_string() };
    Some(format!("HelmRelease.helm.toolkit.fluxcd.io \"{release}\" is invalid: metadata.name: Invalid value: \"{release}\": {what}"))
}

/// The chart of one pool. `None` if it renders.
pub(super) fn pool(name: &str, group: &Value) -> Option<String> {
    let at = |line: u32, text: String| Some(format!("execution error at (kubernetes-nodes/templates/nodegroup.yaml:{line}:8): {text}"));
    let set = |path: &str| group.pointer(path).is_some_and(|v| !matches!(v, Value::Null) && v != "" && v != 0);
    let itype = group.get("instanceType").and_then(Value::as_str).unwrap_or("");
    let (cpu, memory) = (set("/resources/cpu"), set("/resources/memory"));
    if !itype.is_empty() && cpu != memory {
        let text = format!(
            "nodeGroup {name}: resources.cpu and resources.memory must be set together, because KubeVirt rejects an instancetype \
             beside a single override"
        );
        return at(225, text);
    }
    if !(itype.is_empty() || cpu && memory) {
        if group.get("podCpuLimit").is_some() {
            let text = format!(
                "nodeGroup {name}: podCpuLimit cannot be combined with instanceType sizing, because KubeVirt rejects a \
                 VirtualMachine that references an instancetype and also sets domain.resources.limits.cpu. Set both \
                 resources.cpu and resources.memory, which drops the instancetype from the VM, or drop podCpuLimit."
            );
            return at(241, text);
        }
        if !known(itype) {
            return at(302, format!("nodeGroup {name}: specified instanceType {itype:?} not found in cluster"));
        }
    }
    let eviction = |key: &str, default: &str| {
        let v = group.pointer(&format!("/kubelet/{key}")).and_then(Value::as_str).unwrap_or("");
        if v.is_empty() { default.to_string() } else { v.to_string() }
    };
    let (hard, soft) = (eviction("evictionHardMemory", "7%"), eviction("evictionSoftMemory", "10%"));
    if hard.ends_with('%') != soft.ends_with('%') {
        let text = format!(
            "nodeGroup {name}: evictionHardMemory ({hard}) and evictionSoftMemory ({soft}) must use the same unit type (both \
             percentage or both absolute)"
        );
        return at(413, text);
    }
    let percent = |s: &str| s.strip_suffix('%').and_then(|n| n.parse::<f64>().ok());
    if let (Some(h), Some(s)) = (percent(&hard), percent(&soft))
        && h >= s
    {
        return at(404, format!("nodeGroup {name}: evictionHardMemory ({hard}) must be less than evictionSoftMemory ({soft})"));
    }
    None
}

/// True for an instance type the platform offers.
fn known(name: &str) -> bool {
    let all: Value = serde_yaml::from_str(OPTIONS).unwrap_or_default();
    let list = all.get("instancetype").and_then(Value::as_array);
    list.into_iter().flatten().any(|i| i.get("value").and_then(Value::as_str) == Some(name))
}
