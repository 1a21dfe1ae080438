//! Names and shape (3.1): the envelope, the map, schema types, unknown fields, group keys, the ingress guard. Must not look at sizes.

use std::{collections::BTreeMap, sync::LazyLock};

use regex::Regex;
use serde_json::{Map, Value};

use super::{
    super::{
        document::{Name, Values},
        finding::{Profile, Seg, Severity, Stage, path, show},
        schema::{Schema, Wrong, kind_of},
    },
    plain::{self, Reading},
    pool::Pool,
    sink::{Hit, Phase, Sink},
};

const CLUSTER: &str = "computeplane-cluster-";
const RELEASE: &str = "kubernetes-nodes-computeplane-cluster-";

static SUBDOMAIN: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"\A[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*\z").ok());
static DNS1035: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"\A[a-z]([-a-z0-9]*[a-z0-9])?\z").ok());

fn matches(regex: &LazyLock<Option<Regex>>, text: &str) -> bool {
    regex.as_ref().is_some_and(|r| r.is_match(text))
}

/// The object around the values: its name and its other keys.
pub fn envelope(values: &Values, sink: &mut Sink) {
    match &values.name {
        Name::Unknown => {}
        Name::Missing => {
            sink.push(Hit::new("N-DNS1035", "metadata.name", "metadata.name is missing; the object must be called computeplane"))
        }
        Name::Is(Value::String(name)) => name_of(name, sink),
        Name::Is(v) => sink.push(
            Hit::new("N-DNS1035", "metadata.name", format!("metadata.name is {}, a text is wanted: computeplane", kind_of(v)))
                .value(show(v)),
        ),
    }
    for key in &values.other_keys {
        let at = path(values.root, &[Seg::Key(key.clone())]);
        let hit = if key.starts_with('_') {
            Hit::new("N-RESERVED", at, format!("key {key:?} starts with an underscore; such keys are the platform's and refused with 400"))
        } else {
            Hit::new("G-SPECKEY", at, format!("key {key:?} is stored and ignored; only nodeGroups is read"))
        };
        sink.push(hit);
    }
}

fn name_of(name: &str, sink: &mut Sink) {
    let hit = |id, text: String| Hit::new(id, "metadata.name", text).value(name);
    if !matches(&DNS1035, name) || name.len() > 63 {
        let text = "allowed are a lowercase letter first, then letters, digits, dashes, no dash at the end, at most 63";
        sink.push(hit("N-DNS1035", format!("name {name:?} is refused at create; {text}")));
    }
    if name.len() > 53 {
        sink.push(hit("N-LEN53", format!("the name has {} characters; Helm releases end at 53", name.len())));
    }
    if name != "computeplane" {
        let text = format!("the object is called {name:?}; the chart renders only for the name computeplane");
        sink.push(hit("N-NAME", text).at(Phase::ParentRender, 0, 8));
    }
}

/// The map of groups, if it is one. Nulls and wrong types in it are named here.
pub fn map<'a>(value: Option<&'a Value>, sink: &mut Sink) -> Option<&'a Map<String, Value>> {
    let map = match value {
        None => return None,
        Some(Value::Null) => {
            let text = "nodeGroups is null: that means the default md0 (0..10, u1.medium), not \"no groups\"";
            sink.push(Hit::new("G-NULL", "nodeGroups", text).value("null"));
            return None;
        }
        Some(Value::Object(map)) => map,
        Some(other) => {
            let text = format!("nodeGroups is {}; a map of groups is wanted", kind_of(other));
            sink.push(Hit::new("G-TYPE", "nodeGroups", text).value(show(other)).at(Phase::ParentSchema, 0, 0));
            sink.push(Hit::new("G-HIDDEN", "nodeGroups", "a GET shows {} here while Helm refuses the value").value(show(other)));
            return None;
        }
    };
    for (key, group) in map {
        let at = path("nodeGroups", &[Seg::Key(key.clone())]);
        match group {
            Value::Object(_) => {}
            Value::Null => {
                let text =
                    format!("node group {key:?} is null: Helm drops it, but a GET shows a default pool and the next PATCH makes it real");
                sink.push(Hit::new("G-NULL", at, text).value("null"));
            }
            other => {
                let text = format!("node group {key:?} is {}; a map of fields is wanted", kind_of(other));
                sink.push(Hit::new("G-TYPE", &at, text).value(show(other)).at(Phase::ParentSchema, 0, 0));
                sink.push(Hit::new("G-HIDDEN", at, "a GET shows a default pool here while Helm refuses the value").value(show(other)));
            }
        }
    }
    Some(map)
}

/// Schema and unknown fields of one group.
pub fn fields(pool: &Pool<'_>, profile: Profile, sink: &mut Sink) {
    let group = Value::Object(pool.fields.clone());
    if let Some(schema) = Schema::module().property("nodeGroups").and_then(|g| g.property("")) {
        for v in schema.check(&group) {
            sink.push(violation(pool, &v.at, &v.wrong).at(Phase::ParentSchema, pool.index, v.at.len()));
        }
        unlisted(pool, schema, profile, sink);
    }
    for v in Schema::passed().check(&group) {
        let found = at(&group, &v.at);
        // Split: these fields have defaults in the pool's chart, so Helm drops the null there.
        let defaulted =
            matches!(v.at.first(), Some(Seg::Key(k)) if ["logSerialConsole", "maxUnhealthy", "nodeStartupTimeout"].contains(&k.as_str()));
        if profile == Profile::Split && found.is_some_and(Value::is_null) && defaulted {
            continue;
        }
        let text = format!("{}: {}, noticed only in the release below", pool.named(), wrong_text(&v.at, &v.wrong, found));
        let hit = Hit::new("G-PASSTYPE", path(&pool.path(), &v.at), text).at(Phase::ChildSchema, pool.index, 0);
        sink.push(found.map(show).into_iter().fold(hit, Hit::value));
    }
    let text = "is no longer supported and was replaced by diskSize";
    if let Some(v) = pool.fields.get("ephemeralStorage") {
        let hit =
            Hit::new("G-EPHEMERAL", pool.field("ephemeralStorage"), format!("{}: ephemeralStorage {text}", pool.named())).value(show(v));
        let hit = if profile == Profile::Split {
            hit.severity(Severity::Warning).stage(Stage::Runtime)
        } else {
            hit.at(Phase::Render, pool.index, 70)
        };
        sink.push(hit);
    }
}

fn at<'v>(value: &'v Value, segs: &[Seg]) -> Option<&'v Value> {
    segs.iter().try_fold(value, |v, seg| match seg {
        Seg::Key(k) => v.get(k),
        Seg::Index(i) => v.get(i),
    })
}

fn wrong_text(segs: &[Seg], wrong: &Wrong, found: Option<&Value>) -> String {
    let name = path("", segs);
    match wrong {
        Wrong::Type(want, got) => format!("{name} is {got}, wanted is {want}"),
        Wrong::Pattern => format!("{name} is {:?}, wanted is a quantity such as 4, 500m, 20Gi", found.map(show).unwrap_or_default()),
        Wrong::Missing(key) => format!("{} has no {key}, which is required", if name.is_empty() { "the group" } else { &name }),
    }
}

fn violation(pool: &Pool<'_>, segs: &[Seg], wrong: &Wrong) -> Hit {
    let group = Value::Object(pool.fields.clone());
    let found = at(&group, segs);
    let text = format!("{}: {}", pool.named(), wrong_text(segs, wrong, found));
    let place = path(&pool.path(), segs);
    match wrong {
        Wrong::Missing(key) if segs.is_empty() => {
            let fix = format!("add {key}{}", default_of(key).map(|d| format!(", for example {key}: {d}")).unwrap_or_default());
            Hit::new("G-REQ", pool.field(key), text).fix(fix)
        }
        Wrong::Missing(key) => Hit::new("G-GPUNAME", path(&place, &[Seg::Key(key.clone())]), text),
        Wrong::Pattern => Hit::new("G-QTY", place, text).value(found.map(show).unwrap_or_default()),
        Wrong::Type(want, got) => {
            let id = if *got == "number" && want.contains("string") { "G-QTY" } else { "G-TYPE" };
            let fix = match want.as_str() {
                "integer" => "write a whole number without quotes",
                "string" => "put the value in quotes",
                "integer or string" => "write a whole number, or a quantity in quotes",
                "array" => "write a list: [...]",
                "object" => "write a map, or remove the field",
                _ => "write the wanted type",
            };
            Hit::new(id, place, text).value(found.map(show).unwrap_or_default()).fix(fix)
        }
    }
}

fn default_of(key: &str) -> Option<&'static str> {
    [("diskSize", "20Gi"), ("instanceType", "u1.medium"), ("minReplicas", "0"), ("maxReplicas", "10")]
        .into_iter()
        .find_map(|(k, d)| (k == key).then_some(d))
}

fn unlisted(pool: &Pool<'_>, schema: &Schema, profile: Profile, sink: &mut Sink) {
    let mut tell = |place: String, name: &str, value: &Value, near: Option<&str>| {
        let passed = Schema::passed().lists(name);
        let effect = match (passed, profile) {
            (true, _) => "is not in the module's schema; it is passed on unchecked, and other platform versions may drop it",
            (false, Profile::Split) => "is unknown: stored, then dropped",
            (false, Profile::Presplit) => "is unknown: stored and without effect",
        };
        let hit = Hit::new("G-UNLISTED", place, format!("{}: {name:?} {effect}", pool.named())).value(show(value));
        let hit = if passed { hit.severity(Severity::Info) } else { hit };
        sink.push(match near {
            Some(near) => hit.fix(format!("did you mean {near}? otherwise remove the field")),
            None => hit,
        });
    };
    for (name, value) in pool.fields {
        match schema.property(name) {
            None if name == "ephemeralStorage" => {}
            None => tell(pool.field(name), name, value, near(name, schema.keys().chain(Schema::passed().keys()))),
            Some(inner) => {
                let objects = match value {
                    Value::Object(o) if inner.keys().next().is_some() => vec![(pool.field(name), inner, o)],
                    Value::Array(items) => {
                        items.iter().enumerate().filter_map(|(i, v)| Some((pool.item(name, i), inner.item()?, v.as_object()?))).collect()
                    }
                    _ => vec![],
                };
                for (place, inner, object) in objects {
                    for (leaf, value) in object.iter().filter(|(k, _)| !inner.lists(k)) {
                        tell(path(&place, &[Seg::Key(leaf.clone())]), leaf, value, near(leaf, inner.keys()));
                    }
                }
            }
        }
    }
}

fn near<'s>(name: &str, known: impl Iterator<Item = &'s str>) -> Option<&'s str> {
    let lower = name.to_lowercase();
    known
        .map(|k| (strsim::damerau_levenshtein(&lower, &k.to_lowercase()), k))
        .min()
        .filter(|(d, k)| *d <= 2.max(k.len() / 4))
        .map(|(_, k)| k)
}

/// The ingress guard of the module's chart.
pub fn ingress(map: &Map<String, Value>, sink: &mut Sink) {
    let groups: Vec<&Value> = map.values().filter(|v| !v.is_null()).collect();
    if groups.is_empty() {
        return;
    }
    let roles = |g: &&Value| g.get("roles").and_then(Value::as_array).is_some_and(|r| r.iter().any(|x| x == "ingress-nginx"));
    let max = |g: &&Value| g.get("maxReplicas").and_then(Value::as_f64);
    // Beyond 64 bits the template's `int` turns negative.
    if groups.iter().any(|g| roles(g) && max(g).is_some_and(|m| (1.0..9.2e18).contains(&m))) {
        return;
    }
    // Where a type error hides the answer, that error is the finding.
    if groups.iter().any(|g| (roles(g) && max(g).is_none()) || g.get("roles").is_some_and(|r| !r.is_array())) {
        return;
    }
    let text = "no node group has the role ingress-nginx with maxReplicas of at least 1; the module needs one to render";
    sink.push(Hit::new("G-INGRESS", "nodeGroups", text).at(Phase::ParentRender, 0, 0));
}

/// The names that a group's key becomes part of.
pub fn names(pools: &[Pool<'_>], profile: Profile, sink: &mut Sink) {
    let mut taken: BTreeMap<String, &str> = BTreeMap::new();
    for pool in pools {
        let (before, afters): (&str, &[&str]) = match profile {
            Profile::Split => (RELEASE, &[""]),
            Profile::Presplit => (CLUSTER, &["-a1b2c3", ""]),
        };
        let readings: Vec<Reading> = afters.iter().map(|after| plain::value(before, pool.key, after)).collect();
        let read = |(r, after): (&Reading, &&str)| match r {
            Reading::Altered(s) => s.clone(),
            _ => format!("{before}{}{after}", pool.key),
        };
        let names: Vec<String> = readings.iter().zip(afters).map(read).collect();
        length(pool, names.last().map_or("", String::as_str), profile, sink);
        if readings.contains(&Reading::Broken) {
            let text = format!("{}: the key holds characters that break the rendered manifest", pool.named());
            let stage = if profile == Profile::Split { Stage::Module } else { Stage::Cluster };
            let phase = if profile == Profile::Split { Phase::ParentRender } else { Phase::Post };
            sink.push(Hit::new("G-CTRL", pool.path(), text).value(pool.key).stage(stage).at(phase, pool.index, 3));
            continue;
        }
        let bad = names.iter().position(|n| !matches(&SUBDOMAIN, n));
        if let Some(which) = bad {
            let text =
                format!("{}: the key can't be part of an object's name; allowed are lowercase letters, digits, dashes", pool.named());
            let hit = Hit::new("G-KEY", pool.path(), text).value(pool.key);
            sink.push(match profile {
                Profile::Split => hit.at(Phase::ParentApply, pool.index, 0),
                // The first object with a hash behind the key is a Job; without, the MachineDeployment.
                Profile::Presplit => hit.at(Phase::Apply, pool.index, if which == 0 { 0 } else { 21 }),
            });
        }
        altered(pool, &readings, profile, sink);
        if let Some(other) = taken.insert(names.last().cloned().unwrap_or_default(), pool.key) {
            let text = format!("{}: its objects get the same names as those of group {other:?}", pool.named());
            let (stage, phase) = match profile {
                Profile::Split => (Stage::Module, Phase::ParentRender),
                Profile::Presplit => (Stage::Cluster, Phase::Post),
            };
            sink.push(Hit::new("G-CTRL", pool.path(), text).value(pool.key).stage(stage).at(phase, pool.index, 4));
        }
    }
}

fn altered(pool: &Pool<'_>, readings: &[Reading], profile: Profile, sink: &mut Sink) {
    if let Some(Reading::Altered(name)) = readings.iter().find(|r| matches!(r, Reading::Altered(_))) {
        let text = format!("{}: YAML cuts or changes the key, objects would be called {name:?}", pool.named());
        sink.push(Hit::new("G-CTRL", pool.path(), text).value(pool.key).stage(Stage::Runtime));
    }
    if pool.key.contains('.') {
        sink.push(Hit::new("G-KEYDOT", pool.path(), format!("{}: a dot in the key is risky as a host name", pool.named())).value(pool.key));
    }
    let soft = if profile == Profile::Split { usize::MAX } else { 30 };
    if pool.key.len() > soft && pool.key.len() <= 42 {
        let text = format!("{}: the key has {} characters; machine names will be cut", pool.named(), pool.key.len());
        sink.push(Hit::new("G-KEYLEN-SOFT", pool.path(), text).value(pool.key));
    }
}

fn length(pool: &Pool<'_>, name: &str, profile: Profile, sink: &mut Sink) {
    let (used, most, fits) = match profile {
        Profile::Split => (pool.key.len(), 15, pool.key.len() <= 15),
        Profile::Presplit => (pool.key.len(), 42, name.len() <= 63),
    };
    if fits {
        return;
    }
    let text = format!("{}: the key has {used} characters, at most {most} are allowed", pool.named());
    let hit = Hit::new("G-KEYLEN", pool.path(), text).value(pool.key);
    let phase = match profile {
        Profile::Split => hit.at(Phase::ParentRender, pool.index, 2),
        // Beyond 253 the template's name is refused first, then the MachineDeployment's label.
        Profile::Presplit => hit.at(Phase::Apply, pool.index, if name.len() + 7 > 253 { 10 } else { 22 }),
    };
    sink.push(phase);
}
