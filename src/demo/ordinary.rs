//! Kinds that live in the store: read, write, list with pages and watch with bookmarks, as the generic registry does it.
//! Owns the request logic; the aggregated kinds are not here.

use std::sync::Arc;

use bytes::Bytes;
use serde_json::{Value, json};

use super::{
    answer::{Answer, Refusal},
    catalog::Resource,
    patch,
    platform::Request,
    selector::Selector,
    store::{Change, Store, Stored},
    table, watch,
};

/// Answers one request.
pub(crate) fn answer(r: &Request, resource: &'static Resource) -> Result<Answer, Refusal> {
    match r.asked.verb.as_str() {
        "get" => {
            let found = r.shared.store().get(resource, &r.asked.namespace, &r.asked.name);
            let found = found.ok_or_else(|| Refusal::not_found(resource, &r.asked.name))?;
            Ok(Answer::bytes(200, found.json.clone()))
        }
        "list" => list(r, resource),
        "watch" => start_watch(r, resource),
        "create" => create(r, resource),
        "update" | "patch" => write(r, resource),
        "delete" => delete(r, resource),
        _ => Err(Refusal::new(405, "MethodNotAllowed", "the server does not allow this method on the requested resource")),
    }
}

fn scope(r: &Request) -> Option<&str> {
    Some(r.asked.namespace.as_str()).filter(|n| !n.is_empty())
}

fn selector(r: &Request, resource: &Resource) -> Result<Selector, Refusal> {
    Selector::parse(resource, r.query.get("labelSelector"), r.query.get("fieldSelector"))
}

fn too_large(asked: u64, current: u64) -> Refusal {
    Refusal::new(504, "Timeout", format!("Too large resource version: {asked}, current: {current}"))
        .with(json!({"causes": [{"reason": "ResourceVersionTooLarge", "message": "Too large resource version"}], "retryAfterSeconds": 1}))
}

/// Built-in kinds come in a list without their own kind and version; custom resources with them.
fn bare(resource: &Resource) -> bool {
    matches!(resource.group, "" | "apps" | "batch" | "storage.k8s.io" | "rbac.authorization.k8s.io")
}

/// A `continue` token: the log position of the first page, its version, and the last object of the page before.
struct Token {
    position: u64,
    version: u64,
    after: (String, String),
}

impl Token {
    fn write(&self) -> String {
        let text = format!("{}:{}:{}/{}", self.position, self.version, self.after.0, self.after.1);
        text.bytes().map(|b| format!("{b:02x}")).collect()
    }

    fn read(text: &str) -> Option<Token> {
        let digits: Vec<u32> = text.chars().filter_map(|c| c.to_digit(16)).collect();
        let bytes: Vec<u8> = digits.chunks_exact(2).filter_map(|c| u8::try_from(c.first()? * 16 + c.get(1)?).ok()).collect();
        let text = String::from_utf8(bytes).ok()?;
        let mut parts = text.splitn(3, ':');
        let position = parts.next()?.parse().ok()?;
        let version = parts.next()?.parse().ok()?;
        let (ns, name) = parts.next()?.split_once('/')?;
        Some(Token { position, version, after: (ns.into(), name.into()) })
    }
}

fn list(r: &Request, resource: &'static Resource) -> Result<Answer, Refusal> {
    let select = selector(r, resource)?;
    let store = r.shared.store();
    let token = match r.query.get("continue") {
        Some(t) => Some(Token::read(t).ok_or_else(|| Refusal::new(400, "BadRequest", "continue key is not valid: illegal base64 data"))?),
        None => None,
    };
    if let Some(asked) = r.query.get("resourceVersion").and_then(|v| v.parse::<u64>().ok())
        && asked > store.version()
    {
        return Err(too_large(asked, store.version()));
    }
    let (items, position, version) = match &token {
        Some(t) => {
            store.position_of(t.version).map_err(|_| {
                let text = "The provided continue parameter is too old to display a consistent list result. You can start a \
                            new list without the continue parameter, or use the continue token in this response to retrieve \
                            the remainder of the results.";
                Refusal::new(410, "Expired", text)
            })?;
            (store.list_at(resource, scope(r), t.position), t.position, t.version)
        }
        None => (store.list(resource, scope(r)), store.head(), store.version()),
    };
    drop(store);
    let after = token.map(|t| t.after);
    let mut items: Vec<Arc<Stored>> = items
        .into_iter()
        .filter(|o| after.as_ref().is_none_or(|(ns, name)| (&o.namespace, &o.name) > (ns, name)))
        .filter(|o| select.matches(o))
        .collect();
    let mut meta = json!({"resourceVersion": version.to_string()});
    let limit = r.query.get("limit").and_then(|l| l.parse::<usize>().ok()).filter(|l| *l > 0);
    if let (Some(limit), Some(m)) = (limit, meta.as_object_mut())
        && items.len() > limit
    {
        let rest = items.split_off(limit);
        if let Some(last) = items.last() {
            let token = Token { position, version, after: (last.namespace.clone(), last.name.clone()) };
            m.insert("continue".into(), json!(token.write()));
            m.insert("remainingItemCount".into(), json!(rest.len()));
        }
    }
    if let Some(shape) = table::wanted(r.accept()) {
        return Ok(Answer::json(200, &table::list(shape, resource, &items, meta, r)));
    }
    let texts = items.iter().map(|o| if bare(resource) { without_type(o) } else { o.json.clone() });
    Ok(Answer::bytes(200, listing(resource, &meta, texts)))
}

fn without_type(o: &Stored) -> Bytes {
    let mut v = o.value();
    if let Some(o) = v.as_object_mut() {
        o.shift_remove("kind");
        o.shift_remove("apiVersion");
    }
    Bytes::from(v.to_string())
}

/// A list document out of the texts of its items.
pub(crate) fn listing(resource: &Resource, meta: &Value, items: impl Iterator<Item = Bytes>) -> Bytes {
    let head =
        format!("{{\"kind\":\"{}List\",\"apiVersion\":\"{}\",\"metadata\":{meta},\"items\":[", resource.kind, resource.api_version());
    let mut out = head.into_bytes();
    for (i, item) in items.enumerate() {
        if i > 0 {
            out.push(b',');
        }
        out.extend_from_slice(&item);
    }
    out.extend_from_slice(b"]}\n");
    Bytes::from(out)
}

fn start_watch(r: &Request, resource: &'static Resource) -> Result<Answer, Refusal> {
    let select = selector(r, resource)?;
    let namespace = scope(r).map(str::to_string);
    let store = r.shared.store();
    let asked = r.query.get("resourceVersion").and_then(|v| v.parse::<u64>().ok()).unwrap_or(0);
    let initial = r.query.get("sendInitialEvents").is_some() && r.query.is("sendInitialEvents");
    if asked > store.version() {
        return Err(too_large(asked, store.version()));
    }
    let mut lines = Vec::new();
    let mut position = store.head();
    if initial || asked == 0 {
        let all = store.list(resource, namespace.as_deref());
        lines.extend(all.iter().filter(|o| select.matches(o)).map(|o| watch::event("ADDED", &o.json)));
        if initial {
            lines.push(watch::bookmark(&resource.api_version(), resource.kind, store.version(), true));
        }
    } else {
        match store.position_of(asked) {
            Ok(p) => position = p,
            Err(refusal) => return Ok(watch::refused(&refusal)),
        }
    }
    drop(store);
    let bookmarks = r.query.is("allowWatchBookmarks").then(|| (resource.api_version(), resource.kind));
    let translate = Box::new(move |_: &Store, c: &Change| {
        if c.resource != resource {
            return Vec::new();
        }
        let inside = |o: &&Arc<Stored>| namespace.as_ref().is_none_or(|n| *n == o.namespace) && select.matches(o);
        let was = c.old.as_ref().filter(inside);
        let is = c.new.as_ref().filter(inside);
        match (was, is) {
            (None, Some(new)) => vec![watch::event("ADDED", &new.json)],
            (Some(_), Some(new)) => vec![watch::event("MODIFIED", &new.json)],
            (Some(old), None) => vec![watch::event("DELETED", &watch::at_version(&old.json, c.version))],
            (None, None) => Vec::new(),
        }
    });
    Ok(watch::open(&r.shared, &r.query, watch::Start { lines, position, translate, bookmarks }))
}

fn create(r: &Request, resource: &'static Resource) -> Result<Answer, Refusal> {
    let mut value = r.json_body()?;
    if let Some(meta) = value.get_mut("metadata").and_then(Value::as_object_mut)
        && resource.namespaced
    {
        meta.insert("namespace".into(), json!(r.asked.namespace));
    }
    if r.dry_run() {
        return Ok(Answer::json(201, &value));
    }
    let stored = r.shared.store().create(resource, value, r.now)?;
    r.shared.changed();
    Ok(Answer::bytes(201, stored.json.clone()))
}

fn write(r: &Request, resource: &'static Resource) -> Result<Answer, Refusal> {
    let only_status = r.asked.subresource == "status";
    let value = if r.asked.verb == "patch" {
        let was = r.shared.store().get(resource, &r.asked.namespace, &r.asked.name);
        let was = was.ok_or_else(|| Refusal::not_found(resource, &r.asked.name))?.value();
        let mut patched = patch::apply(&was, r.content_type(), &r.body)?;
        let asked = patched.pointer("/metadata/resourceVersion") != was.pointer("/metadata/resourceVersion");
        // A patch is a read-modify-write: only a version it names itself is a precondition.
        if !asked && let Some(meta) = patched.get_mut("metadata").and_then(Value::as_object_mut) {
            meta.shift_remove("resourceVersion");
        }
        patched
    } else {
        r.json_body()?
    };
    if r.dry_run() {
        return Ok(Answer::json(200, &value));
    }
    let mut store = r.shared.store();
    let stored = if only_status { store.update_status(resource, value, r.now)? } else { store.update(resource, value, r.now)? };
    drop(store);
    r.shared.changed();
    Ok(Answer::bytes(200, stored.json.clone()))
}

fn delete(r: &Request, resource: &'static Resource) -> Result<Answer, Refusal> {
    let mut store = r.shared.store();
    let found = store.get(resource, &r.asked.namespace, &r.asked.name);
    let found = found.ok_or_else(|| Refusal::not_found(resource, &r.asked.name))?;
    if r.dry_run() {
        return Ok(Answer::bytes(200, found.json.clone()));
    }
    let last = store.delete(resource, &r.asked.namespace, &r.asked.name, r.now)?;
    drop(store);
    r.shared.changed();
    Ok(Answer::bytes(200, last.json.clone()))
}
