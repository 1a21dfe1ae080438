//! `apps.cozystack.io` ComputePlane with the aggregated API's manners (`platform.md` 4 and 4.1): shown out of HelmReleases,
//! read from a cache that may lag. Owns dispatch, list and watch; [`read`] shows, [`write`] stores.

pub(crate) mod read;
mod write;

use std::sync::Arc;

use serde_json::{Value, json};

use super::{
    answer::{Answer, Refusal},
    catalog::{self, Resource},
    ordinary::listing,
    platform::{Request, Shared},
    selector::Selector,
    store::{Change, Store, Stored},
    table, watch,
};

pub(crate) fn releases() -> Result<&'static Resource, Refusal> {
    catalog::find(catalog::FLUX, "helmreleases").ok_or_else(|| Refusal::wrapped("no HelmReleases"))
}

fn monitors() -> Result<&'static Resource, Refusal> {
    catalog::find("cozystack.io", "workloadmonitors").ok_or_else(|| Refusal::wrapped("no WorkloadMonitors"))
}

/// True for the releases shown as a ComputePlane.
fn is_plane(o: &Stored) -> bool {
    o.label("apps.cozystack.io/application.kind").as_deref() == Some("ComputePlane")
        && o.label("apps.cozystack.io/application.group").as_deref() == Some(catalog::APPS)
}

/// The plane a WorkloadMonitor belongs to, by its lineage labels.
fn plane_of(monitor: &Stored) -> Option<String> {
    is_plane(monitor).then(|| monitor.label("apps.cozystack.io/application.name"))?
}

/// Reads of one moment: what the server's informers show.
struct Cache {
    planes: Vec<Arc<Stored>>,
    monitors: Vec<Arc<Stored>>,
}

fn cache(shared: &Shared, store: &Store, namespace: Option<&str>) -> Result<Cache, Refusal> {
    let (lag, frozen) = shared.faults.cache();
    let position = match frozen {
        Some(p) => Some(p),
        None if !lag.is_zero() => {
            let at = jiff::SignedDuration::try_from(lag).ok().and_then(|lag| shared.now().checked_sub(lag).ok());
            at.map(|at| store.position_at(at))
        }
        None => None,
    };
    let list = |resource| match position {
        Some(p) => store.list_at(resource, namespace, p),
        None => store.list(resource, namespace),
    };
    let planes = list(releases()?).into_iter().filter(|o| is_plane(o)).collect();
    Ok(Cache { planes, monitors: list(monitors()?) })
}

/// Answers one request.
pub(crate) fn answer(r: &Request, resource: &'static Resource) -> Result<Answer, Refusal> {
    match r.asked.verb.as_str() {
        "get" => Ok(Answer::json(200, &get(r, resource)?)),
        "list" => list(r, resource),
        "watch" => start_watch(r, resource),
        "create" => write::create(r),
        "update" => write::put(r, resource),
        "patch" => write::patch(r, resource),
        _ => write::delete(r, resource),
    }
}

/// The plane asked for, as the cache shows it.
fn get(r: &Request, resource: &Resource) -> Result<Value, Refusal> {
    let store = r.shared.store();
    let cache = cache(&r.shared, &store, Some(&r.asked.namespace))?;
    let found = cache.planes.iter().find(|o| o.name == r.asked.name);
    let found = found.ok_or_else(|| Refusal::not_found(resource, &r.asked.name))?;
    Ok(read::plane(&found.value(), &cache.monitors))
}

/// A plane's user labels as a selector sees them.
fn selected(select: &Selector, shown: &Value) -> bool {
    let shadow = Stored::shadow(shown);
    select.matches(&shadow)
}

fn list(r: &Request, resource: &'static Resource) -> Result<Answer, Refusal> {
    let select = Selector::parse(resource, r.query.get("labelSelector"), r.query.get("fieldSelector"))?;
    let store = r.shared.store();
    let scope = Some(r.asked.namespace.as_str()).filter(|n| !n.is_empty());
    let cache = cache(&r.shared, &store, scope)?;
    drop(store);
    // `limit`, `continue` and the asked version are ignored on purpose.
    let shown: Vec<Value> =
        cache.planes.iter().map(|o| read::plane(&o.value(), &cache.monitors)).filter(|v| selected(&select, v)).collect();
    let newest = shown.iter().filter_map(|v| v.pointer("/metadata/resourceVersion")?.as_str()?.parse::<u64>().ok()).max();
    let meta = json!({"resourceVersion": newest.unwrap_or(0).to_string()});
    match table::wanted(r.accept()) {
        Some(table::Shape::Table) => Ok(Answer::json(200, &as_table(&shown, meta, r))),
        Some(table::Shape::Metadata) => {
            let items: Vec<Value> = shown.iter().map(table::partial).collect();
            let list = json!({"kind": "PartialObjectMetadataList", "apiVersion": "meta.k8s.io/v1", "metadata": meta,
                "items": items});
            Ok(Answer::json(200, &list))
        }
        None => {
            let texts = shown.iter().map(|v| bytes::Bytes::from(v.to_string()));
            Ok(Answer::bytes(200, listing(resource, &meta, texts)))
        }
    }
}

fn as_table(shown: &[Value], meta: Value, r: &Request) -> Value {
    let include = r.query.get("includeObject").unwrap_or("Metadata");
    let heads = [
        ("NAME", "Name of the Application"),
        ("READY", "Ready status of the Application"),
        ("AGE", "Age of the Application"),
        ("VERSION", "Version of the Application"),
    ];
    let heads: Vec<Value> = heads.iter().map(|(n, d)| table::column(n, "string", d)).collect();
    let rows: Vec<Value> = shown
        .iter()
        .map(|v| {
            let text = |p: &str| v.pointer(p).and_then(Value::as_str);
            let ready = v
                .pointer("/status/conditions")
                .and_then(Value::as_array)
                .and_then(|c| c.iter().find(|c| c.get("type").and_then(Value::as_str) == Some("Ready"))?.get("status")?.as_str());
            // Only the build part of the version is shown.
            let version = text("/status/version").map(|v| v.rsplit('+').next().unwrap_or(v));
            let cells = vec![
                json!(text("/metadata/name")),
                json!(ready.unwrap_or("Unknown")),
                json!(table::age(text("/metadata/creationTimestamp"), r.now)),
                json!(version.unwrap_or("<unknown>")),
            ];
            table::row(cells, v, include)
        })
        .collect();
    json!({"kind": "Table", "apiVersion": "meta.k8s.io/v1", "metadata": meta, "columnDefinitions": heads, "rows": rows})
}

/// Starts now, replays ADDED above the asked version, then one MODIFIED per WorkloadMonitor with the monitor's version.
/// Nothing that was deleted in between is told, and there is never a 410.
fn start_watch(r: &Request, resource: &'static Resource) -> Result<Answer, Refusal> {
    let select = Selector::parse(resource, r.query.get("labelSelector"), r.query.get("fieldSelector"))?;
    let store = r.shared.store();
    let scope = Some(r.asked.namespace.clone()).filter(|n| !n.is_empty());
    let cache = cache(&r.shared, &store, scope.as_deref())?;
    let asked = r.query.get("resourceVersion").and_then(|v| v.parse::<u64>().ok()).unwrap_or(0);
    let mut lines = Vec::new();
    for o in cache.planes.iter().filter(|o| o.version > asked) {
        let shown = read::plane(&o.value(), &cache.monitors);
        if selected(&select, &shown) {
            lines.push(watch::event("ADDED", shown.to_string().as_bytes()));
        }
    }
    if asked == 0 || r.query.is("sendInitialEvents") {
        let newest = cache.planes.iter().map(|o| o.version).max().unwrap_or(0).max(asked);
        lines.push(end_of_initial(newest));
    }
    for m in &cache.monitors {
        lines.extend(by_monitor(m, m.version, &cache.planes, &cache.monitors, &select));
    }
    let position = store.head();
    drop(store);
    let (releases, monitors) = (releases()?, monitors()?);
    let translate = Box::new(move |store: &Store, c: &Change| {
        let inside = |o: &&Arc<Stored>| scope.as_ref().is_none_or(|n| *n == o.namespace);
        let Some(any) = c.new.as_ref().or(c.old.as_ref()).filter(inside) else { return Vec::new() };
        let around = store.list(monitors, Some(&any.namespace));
        if c.resource == monitors {
            let planes: Vec<_> = store.list(releases, Some(&any.namespace)).into_iter().filter(|o| is_plane(o)).collect();
            return by_monitor(any, c.version, &planes, &around, &select).into_iter().collect();
        }
        if c.resource != releases {
            return Vec::new();
        }
        let show = |o: Option<&Arc<Stored>>, version: Option<u64>| {
            let mut value = o.filter(|o| is_plane(o))?.value();
            if let (Some(version), Some(m)) = (version, value.get_mut("metadata").and_then(Value::as_object_mut)) {
                m.insert("resourceVersion".into(), json!(version.to_string()));
            }
            let shown = read::plane(&value, &around);
            selected(&select, &shown).then(|| shown.to_string())
        };
        match (show(c.old.as_ref(), Some(c.version)), show(c.new.as_ref(), None)) {
            (None, Some(new)) if c.version > asked => vec![watch::event("ADDED", new.as_bytes())],
            (Some(_), Some(new)) => vec![watch::event("MODIFIED", new.as_bytes())],
            (Some(old), None) => vec![watch::event("DELETED", old.as_bytes())],
            _ => Vec::new(),
        }
    });
    Ok(watch::open(&r.shared, &r.query, watch::Start { lines, position, translate, bookmarks: None }))
}

fn end_of_initial(version: u64) -> bytes::Bytes {
    let object = json!({"kind": "ComputePlane", "apiVersion": "apps.cozystack.io/v1alpha1",
        "metadata": {"resourceVersion": version.to_string(), "annotations": {"k8s.io/initial-events-end": "true"}},
        "status": {}});
    watch::event("BOOKMARK", object.to_string().as_bytes())
}

/// The MODIFIED of a plane that a monitor causes: it carries the monitor's version.
fn by_monitor(monitor: &Stored, version: u64, planes: &[Arc<Stored>], monitors: &[Arc<Stored>], select: &Selector) -> Option<bytes::Bytes> {
    let name = plane_of(monitor)?;
    let plane = planes.iter().find(|o| o.namespace == monitor.namespace && o.name == name)?;
    let mut shown = read::plane(&plane.value(), monitors);
    if !selected(select, &shown) {
        return None;
    }
    if let Some(meta) = shown.get_mut("metadata").and_then(Value::as_object_mut) {
        meta.insert("resourceVersion".into(), json!(version.to_string()));
    }
    Some(watch::event("MODIFIED", shown.to_string().as_bytes()))
}
