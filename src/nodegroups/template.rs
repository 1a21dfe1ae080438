//! The identity of a pool's VM template: two equal [`Template`]s render the same text, get the same name, and keep the machines.
//! Owns which inputs are rendered and in which textual form (the chart's `kubevirtmachinetemplate`, `platform.md` 3.5 and 3.6).
//! Must not say what a difference means; that is the forecast's.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::Groups;

/// How the platform renders pools.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Layout {
    /// Each pool in a release of its own.
    #[default]
    Split,
    /// All pools inside the cluster release.
    Presplit,
}

impl std::str::FromStr for Layout {
    type Err = String;
    fn from_str(s: &str) -> Result<Self, String> {
        match s {
            "split" => Ok(Layout::Split),
            "presplit" => Ok(Layout::Presplit),
            _ => Err(format!("profile: found {s:?}; allowed are split, presplit")),
        }
    }
}

/// Disk when none is given; also for the number 0 and for empty text, but not for `"0"` (D-ZERO).
pub const DEFAULT_DISK: &str = "20Gi";
/// The application's own storage class, used where a pool names none.
pub const DEFAULT_CLASS: &str = "replicated";
/// Instance type shown and used where the field is absent.
pub const DEFAULT_INSTANCE_TYPE: &str = "u1.medium";
/// Lower bound where the field is absent.
pub const DEFAULT_MIN: i64 = 0;
/// Upper bound where the field is absent.
pub const DEFAULT_MAX: i64 = 10;
/// The pool that runs while no pool is set.
pub const DEFAULT_POOL: &str = "md0";
/// The role without which the platform refuses a map of pools.
pub const INGRESS_ROLE: &str = "ingress-nginx";

/// Fields of a group that reach the pool's release; all others are stored and ignored. After the split this is an explicit list
/// (`packages/extra/computeplane/templates/cluster.yaml` at 6a645043); before it the whole group was handed on, and these are what was read.
/// A platform that forwards fewer is met by taking them out here: what isn't forwarded isn't rendered.
pub const FORWARDED: &[&str] = &[
    "minReplicas",
    "maxReplicas",
    "instanceType",
    "diskSize",
    "storageClass",
    "roles",
    "resources",
    "gpus",
    "kubelet",
    "logSerialConsole",
    "maxUnhealthy",
    "nodeStartupTimeout",
    "readyUnknownTimeout",
    "readyFalseTimeout",
    "podCpuLimit",
    "podCpuRequest",
    "maxNodeProvisionTime",
];

/// The default pool, spelled out as the platform renders it.
pub fn default_pool() -> Groups {
    let group = json!({
        "minReplicas": DEFAULT_MIN, "maxReplicas": DEFAULT_MAX, "instanceType": DEFAULT_INSTANCE_TYPE,
        "diskSize": DEFAULT_DISK, "roles": [INGRESS_ROLE],
    });
    group.as_object().cloned().unwrap_or_default()
}

/// The pools that really run: null groups don't exist for Helm (G-NULL), an empty map means the default pool, and a group that is no
/// object is shown (and, after a PATCH, stored) as one with nothing set.
pub fn effective(groups: &Groups) -> Groups {
    let pools: Groups = groups
        .iter()
        .filter(|(_, group)| !group.is_null())
        .map(|(name, group)| (name.clone(), Value::Object(group.as_object().cloned().unwrap_or_default())))
        .collect();
    if pools.is_empty() { Groups::from_iter([(DEFAULT_POOL.to_string(), Value::Object(default_pool()))]) } else { pools }
}

/// What a pool's VM template is made of, each part in the form the chart writes it. Equal values never roll; unequal ones always do.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Template {
    /// Name of the instance type; `None` where the pool is sized by cpu and memory, or has none.
    pub instance_type: Option<String>,
    /// Size of the system disk.
    pub disk: String,
    /// Storage class; `None` leaves it to the cluster's default.
    pub storage_class: Option<String>,
    /// Roles, in order, repetitions included.
    pub roles: Vec<String>,
    /// GPU names, in order.
    pub gpus: Vec<String>,
    /// Cores.
    pub cpu: Option<String>,
    /// Guest memory.
    pub memory: Option<String>,
    /// CPU limit of the VM's pod; zero is a value.
    pub pod_cpu_limit: Option<String>,
    /// CPU request of the VM's pod; zero is a value.
    pub pod_cpu_request: Option<String>,
    /// Serial console streamed; an explicit `false` renders as nothing.
    pub log_serial_console: bool,
}

/// One part of the template, named by the field it is made from.
pub type Part = (&'static str, Option<String>);

impl Template {
    /// Renders one group (not null, see [`effective`]).
    pub fn of(group: &Groups, layout: Layout) -> Template {
        let resource = |key: &str| group.get("resources").and_then(|r| r.get(key)).filter(|v| truthy(v)).map(text);
        let (cpu, memory) = (resource("cpu"), resource("memory"));
        let instance_type = group.get("instanceType").filter(|v| !v.is_null()).map_or(DEFAULT_INSTANCE_TYPE.to_string(), text);
        let sized = cpu.is_some() && memory.is_some();
        // Presence decides here, not truth: a limit of zero is rendered.
        let forwarded = |key: &str| group.get(key).filter(|_| layout == Layout::Presplit || FORWARDED.contains(&key));
        let present = |key: &str| forwarded(key).filter(|v| !v.is_null()).map(text);
        Template {
            instance_type: Some(instance_type).filter(|t| !sized && !t.is_empty()),
            disk: group.get("diskSize").filter(|v| truthy(v)).map_or(DEFAULT_DISK.to_string(), text),
            storage_class: storage_class(group, layout),
            roles: items(group, "roles").map(text).collect(),
            gpus: items(group, "gpus").map(|gpu| gpu.get("name").map_or_else(String::new, text)).collect(),
            cpu,
            memory,
            pod_cpu_limit: present("podCpuLimit"),
            pod_cpu_request: present("podCpuRequest"),
            log_serial_console: forwarded("logSerialConsole").is_some_and(truthy),
        }
    }

    /// The parts, by the field that feeds each.
    pub fn parts(&self) -> [Part; 10] {
        let list = |l: &[String]| (!l.is_empty()).then(|| l.join("\n"));
        [
            ("instanceType", self.instance_type.clone()),
            ("diskSize", Some(self.disk.clone())),
            ("storageClass", self.storage_class.clone()),
            ("roles", list(&self.roles)),
            ("gpus", list(&self.gpus)),
            ("resources.cpu", self.cpu.clone()),
            ("resources.memory", self.memory.clone()),
            ("podCpuLimit", self.pod_cpu_limit.clone()),
            ("podCpuRequest", self.pod_cpu_request.clone()),
            ("logSerialConsole", self.log_serial_console.then(|| "true".to_string())),
        ]
    }

    /// True when cpu and memory size the machines, so that the instance type isn't rendered.
    pub fn sized_by_resources(&self) -> bool {
        self.cpu.is_some() && self.memory.is_some()
    }
}

/// Empty text means the application's default before the split (`default` takes it for unset), but overrides that default after it, which
/// leaves the class to the cluster. Absent is the application's default in both.
fn storage_class(group: &Groups, layout: Layout) -> Option<String> {
    match group.get("storageClass").filter(|v| !v.is_null()) {
        Some(class) if truthy(class) => Some(text(class)),
        Some(_) if layout == Layout::Split => None,
        _ => Some(DEFAULT_CLASS.to_string()),
    }
}

/// Items of a list; what isn't a list counts as empty, as it is shown by the API.
pub fn items<'a>(group: &'a Groups, key: &str) -> impl Iterator<Item = &'a Value> + use<'a> {
    group.get(key).and_then(Value::as_array).into_iter().flatten()
}

/// What a Go template takes for set: not null, not false, not zero, not empty.
pub fn truthy(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(b) => *b,
        Value::Number(n) => n.as_f64() != Some(0.0),
        Value::String(s) => !s.is_empty(),
        Value::Array(a) => !a.is_empty(),
        Value::Object(o) => !o.is_empty(),
    }
}

/// A value as a Go template prints it. Numbers arrive there as floats, whatever they looked like in the manifest.
pub fn text(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(s) => s.clone(),
        Value::Number(n) => n.as_f64().map_or_else(|| n.to_string(), float_text),
        other => other.to_string(),
    }
}

/// A float as Go's `%v`: plain below a million, with an exponent of at least two digits from there up and below 0.0001.
pub fn float_text(f: f64) -> String {
    let scientific = format!("{f:e}");
    let Some((mantissa, exponent)) = scientific.split_once('e') else { return scientific };
    match exponent.parse::<i32>() {
        Ok(e) if f != 0.0 && !(-4..GO_EXPONENT_FROM).contains(&e) => {
            format!("{mantissa}e{}{:02}", if e < 0 { '-' } else { '+' }, e.unsigned_abs())
        }
        _ => format!("{f}"),
    }
}

/// Go prints the shortest digits with an exponent from this power of ten up, however many digits there are.
const GO_EXPONENT_FROM: i32 = 6;

#[cfg(test)]
mod tests;
