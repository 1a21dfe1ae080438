//! The small synthesized kinds: tenant namespaces, options, modules, tenant secrets, and application kinds nobody uses.
//! Owns their answers; they store nothing of their own.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::{
    answer::{Answer, Refusal, about},
    catalog::{self, Resource},
    ordinary::listing,
    platform::Request,
    rbac,
    selector::Selector,
    store::{Change, Store, Stored},
    watch,
};

const OPTIONS: &str = include_str!("../../assets/demo/options.yaml");

/// A kind without objects.
pub(crate) fn empty(r: &Request, resource: &'static Resource) -> Result<Answer, Refusal> {
    match r.asked.verb.as_str() {
        "list" => Ok(Answer::bytes(200, listing(resource, &json!({"resourceVersion": "0"}), std::iter::empty()))),
        "watch" => {
            let lines = vec![watch::bookmark(&resource.api_version(), resource.kind, 0, true)];
            Ok(open(r, lines, Box::new(|_, _| Vec::new())))
        }
        "get" | "delete" | "update" | "patch" => Err(Refusal::not_found(resource, &r.asked.name)),
        _ => Err(Refusal::wrapped("failed to create HelmRelease: this demo holds only ComputePlanes")),
    }
}

fn open(r: &Request, lines: Vec<bytes::Bytes>, translate: watch::Translate) -> Answer {
    let position = r.shared.store().head();
    watch::open(&r.shared, &r.query, watch::Start { lines, position, translate, bookmarks: None })
}

/// Keeps the metadata the aggregated API hands on.
fn meta(value: &Value) -> Value {
    let mut out = Map::new();
    for key in ["name", "namespace", "uid", "resourceVersion", "creationTimestamp", "deletionTimestamp", "labels"] {
        if let Some(v) = value.pointer(&format!("/metadata/{key}")) {
            out.insert(key.into(), v.clone());
        }
    }
    Value::Object(out)
}

fn newest(items: &[Value]) -> String {
    let versions = items.iter().filter_map(|v| v.pointer("/metadata/resourceVersion")?.as_str()?.parse::<u64>().ok());
    versions.max().unwrap_or(0).to_string()
}

fn list(resource: &Resource, items: &[Value]) -> Answer {
    let meta = json!({"resourceVersion": newest(items)});
    Answer::bytes(200, listing(resource, &meta, items.iter().map(|v| bytes::Bytes::from(v.to_string()))))
}

fn tenant_namespace(o: &Stored) -> Value {
    json!({"kind": "TenantNamespace", "apiVersion": "core.cozystack.io/v1alpha1", "metadata": meta(&o.value())})
}

/// `tenantnamespaces`: those where a RoleBinding names the caller. Selectors are ignored (`platform.md` 2).
pub(crate) fn namespaces(r: &Request, resource: &'static Resource) -> Result<Answer, Refusal> {
    let Some(kind) = catalog::find("", "namespaces") else { return Err(Refusal::wrapped("no namespaces")) };
    let who = r.who.clone();
    let visible = move |o: &Arc<Stored>| o.name.starts_with("tenant-") && rbac::bound(&who, &o.name);
    match r.asked.verb.as_str() {
        "get" => {
            if !r.asked.name.starts_with("tenant-") {
                return Err(Refusal::not_found(resource, &r.asked.name));
            }
            let found = r.shared.store().get(kind, "", &r.asked.name).filter(visible);
            let denied = || {
                let text = format!("{} \"{}\" is forbidden: access denied", resource.qualified(), r.asked.name);
                Refusal::new(403, "Forbidden", text).with(about(resource, Some(&r.asked.name)))
            };
            Ok(Answer::json(200, &tenant_namespace(found.ok_or_else(denied)?.as_ref())))
        }
        "list" => {
            let all = r.shared.store().list(kind, None);
            let items: Vec<Value> = all.iter().filter(|o| visible(o)).map(|o| tenant_namespace(o)).collect();
            Ok(list(resource, &items))
        }
        _ => {
            let all = r.shared.store().list(kind, None);
            let line = |word: &str, o: &Stored| watch::event(word, tenant_namespace(o).to_string().as_bytes());
            let lines = all.iter().filter(|o| visible(o)).map(|o| line("ADDED", o)).collect();
            let translate = move |_: &Store, c: &Change| {
                if c.resource != kind {
                    return Vec::new();
                }
                match (c.old.as_ref().filter(|o| visible(o)), c.new.as_ref().filter(|o| visible(o))) {
                    (None, Some(new)) => vec![line("ADDED", new)],
                    (Some(_), Some(new)) => vec![line("MODIFIED", new)],
                    (Some(old), None) => vec![line("DELETED", old)],
                    (None, None) => Vec::new(),
                }
            };
            Ok(open(r, lines, Box::new(translate)))
        }
    }
}

/// `options`: the list leaves failing sources out, a GET of one is 500, the watch is a single burst.
pub(crate) fn options(r: &Request, resource: &'static Resource) -> Result<Answer, Refusal> {
    let sources: Map<String, Value> = serde_yaml::from_str(OPTIONS).unwrap_or_default();
    let one = |name: &str, items: &Value| {
        let meta = json!({"name": name, "namespace": r.asked.namespace, "resourceVersion": "0"});
        let spec = match items.as_array() {
            Some(list) if !list.is_empty() => json!({"items": list}),
            _ => json!({}),
        };
        json!({"kind": "Option", "apiVersion": "core.cozystack.io/v1alpha1", "metadata": meta, "spec": spec})
    };
    let all: Vec<Value> = sources.iter().map(|(name, items)| one(name, items)).collect();
    match r.asked.verb.as_str() {
        "get" => match sources.get(&r.asked.name) {
            Some(items) => Ok(Answer::json(200, &one(&r.asked.name, items))),
            None if matches!(r.asked.name.as_str(), "backupclass" | "plan" | "backup") => {
                let text = format!("compute options for {:?}: the server could not find the requested resource", r.asked.name);
                let refusal = Refusal::new(500, "InternalError", format!("Internal error occurred: {text}"));
                Err(refusal.with(json!({"causes": [{"message": text}]})))
            }
            None => Err(Refusal::not_found(resource, &r.asked.name)),
        },
        "list" => Ok(list(resource, &all)),
        _ => {
            let lines = all.iter().map(|v| watch::event("ADDED", v.to_string().as_bytes())).collect();
            Ok(open(r, lines, Box::new(|_, _| Vec::new())))
        }
    }
}

fn module(o: &Stored) -> Option<Value> {
    if o.label("internal.cozystack.io/tenantmodule").as_deref() != Some("true") {
        return None;
    }
    let value = o.value();
    let mut meta = meta(&value);
    if let Some(labels) = meta.get_mut("labels").and_then(Value::as_object_mut) {
        labels.shift_remove("internal.cozystack.io/tenantmodule");
    }
    let status = super::apps::read::status(&value);
    Some(json!({"kind": "TenantModule", "apiVersion": "core.cozystack.io/v1alpha1", "metadata": meta, "status": status}))
}

/// A pool's release as the application it is.
fn nodes(o: &Stored) -> Option<Value> {
    if o.label("apps.cozystack.io/application.kind").as_deref() != Some("KubernetesNodes") {
        return None;
    }
    let value = o.value();
    let mut meta = meta(&value);
    if let Some(m) = meta.as_object_mut() {
        m.insert("name".into(), json!(o.label("apps.cozystack.io/application.name")?));
        m.shift_remove("labels");
    }
    let spec = value.pointer("/spec/values").cloned().unwrap_or(json!({}));
    let status = super::apps::read::status(&value);
    Some(json!({"kind": "KubernetesNodes", "apiVersion": "apps.cozystack.io/v1alpha1", "metadata": meta,
        "spec": super::apps::read::sorted(&spec), "status": status}))
}

/// `tenantmodules`: the HelmReleases labelled as modules.
pub(crate) fn modules(r: &Request, resource: &'static Resource) -> Result<Answer, Refusal> {
    releases(r, resource, module)
}

/// `kubernetesnodeses`: the releases of pools, here read-only.
pub(crate) fn pools(r: &Request, resource: &'static Resource) -> Result<Answer, Refusal> {
    releases(r, resource, nodes)
}

/// Reads of a kind that is a view of HelmReleases.
fn releases(r: &Request, resource: &'static Resource, show: fn(&Stored) -> Option<Value>) -> Result<Answer, Refusal> {
    let Some(kind) = catalog::find(catalog::FLUX, "helmreleases") else { return Err(Refusal::wrapped("no releases")) };
    let select = Selector::parse(resource, r.query.get("labelSelector"), r.query.get("fieldSelector"))?;
    let scope = Some(r.asked.namespace.clone()).filter(|n| !n.is_empty());
    let items: Vec<Value> = r.shared.store().list(kind, scope.as_deref()).iter().filter_map(|o| show(o)).collect();
    let passes = move |v: &Value| select.matches(&Stored::shadow(v));
    let line = |word: &str, v: &Value| watch::event(word, v.to_string().as_bytes());
    match r.asked.verb.as_str() {
        "get" => {
            let named = |v: &&Value| v.pointer("/metadata/name").and_then(Value::as_str) == Some(&r.asked.name);
            let found = items.iter().find(named).ok_or_else(|| Refusal::not_found(resource, &r.asked.name))?;
            Ok(Answer::json(200, found))
        }
        "list" => Ok(list(resource, &items.into_iter().filter(passes).collect::<Vec<_>>())),
        "watch" => {
            let mut lines: Vec<_> = items.iter().filter(|v| passes(v)).map(|v| line("ADDED", v)).collect();
            if resource.group == catalog::APPS {
                let newest = newest(&items).parse().unwrap_or(0);
                lines.push(watch::bookmark(&resource.api_version(), resource.kind, newest, true));
            }
            let translate = move |_: &Store, c: &Change| {
                let inside = |o: &&Arc<Stored>| scope.as_ref().is_none_or(|n| *n == o.namespace);
                if c.resource != kind {
                    return Vec::new();
                }
                let shown = |o: Option<&Arc<Stored>>| o.filter(inside).and_then(|o| show(o)).filter(|v| passes(v));
                match (shown(c.old.as_ref()), shown(c.new.as_ref())) {
                    (None, Some(new)) => vec![line("ADDED", &new)],
                    (Some(_), Some(new)) => vec![line("MODIFIED", &new)],
                    (Some(old), None) => vec![line("DELETED", &old)],
                    (None, None) => Vec::new(),
                }
            };
            Ok(open(r, lines, Box::new(translate)))
        }
        _ => Err(Refusal::wrapped("failed to update HelmRelease: pools are written through their ComputePlane here")),
    }
}

/// `tenantsecrets`: hands out values, as the real one does. The values here are made up.
pub(crate) fn secrets(r: &Request, resource: &'static Resource) -> Result<Answer, Refusal> {
    let meta = json!({"name": "demo-visible", "namespace": r.asked.namespace, "resourceVersion": "1",
        "uid": super::store::uid("Secret", &r.asked.namespace, "demo-visible"),
        "labels": {"apps.cozystack.io/tenantresource": "true"}});
    let secret = json!({"kind": "TenantSecret", "apiVersion": "core.cozystack.io/v1alpha1", "metadata": meta,
        "type": "Opaque", "data": {"password": "bm90LWEtc2VjcmV0"}, "stringData": {"password": "not-a-secret"}});
    match r.asked.verb.as_str() {
        "list" => Ok(list(resource, &[secret])),
        "get" if r.asked.name == "demo-visible" => Ok(Answer::json(200, &secret)),
        "watch" => {
            let lines = vec![watch::event("ADDED", secret.to_string().as_bytes())];
            Ok(open(r, lines, Box::new(|_, _| Vec::new())))
        }
        _ => Err(Refusal::not_found(resource, &r.asked.name)),
    }
}
