//! Discovery in both formats, version, health and OpenAPI. Owns those documents; everything comes from the catalog.

use serde_json::{Value, json};

use super::{
    answer::{Answer, Refusal},
    catalog::{self, Resource},
    faults::Fault,
    platform::Request,
};

const OPENAPI: &str = include_str!("../../assets/demo/openapi-computeplane.json");
/// `gitVersion` of the platform the exchanges were recorded on.
const VERSION: &str = "v1.35.4";

/// Answers a URL that isn't a resource.
pub(crate) fn answer(r: &Request, path: &str) -> Result<Answer, Refusal> {
    let public = matches!(path, "/version" | "/healthz" | "/readyz" | "/livez");
    if !public && !r.who.authenticated() {
        let text = format!("forbidden: User \"{}\" cannot get path \"{path}\"", r.who.user);
        return Err(Refusal::new(403, "Forbidden", text).with(json!({})));
    }
    let parts: Vec<&str> = path.split('/').filter(|p| !p.is_empty()).collect();
    let aggregated = r.accept().contains("as=APIGroupDiscoveryList");
    match parts.as_slice() {
        ["version"] => Ok(Answer::json(200, &version())),
        ["healthz" | "readyz" | "livez", ..] => Ok(Answer::text(200, "ok")),
        ["metrics"] if !r.who.is_admin() => {
            let text = format!("forbidden: User \"{}\" cannot get path \"{path}\"", r.who.user);
            Err(Refusal::new(403, "Forbidden", text).with(json!({})))
        }
        ["api"] if aggregated => Ok(aggregate(r, &[("", "v1")])),
        ["apis"] if aggregated => Ok(aggregate(r, &served(r))),
        ["api"] => Ok(Answer::json(
            200,
            &json!({"kind": "APIVersions", "versions": ["v1"],
            "serverAddressByClientCIDRs": [{"clientCIDR": "0.0.0.0/0", "serverAddress": "127.0.0.1"}]}),
        )),
        ["apis"] => {
            let groups: Vec<Value> = served(r).iter().map(|(g, v)| group(g, v)).collect();
            Ok(Answer::json(200, &json!({"kind": "APIGroupList", "apiVersion": "v1", "groups": groups})))
        }
        ["apis", name] => match served(r).iter().find(|(g, _)| g == name) {
            Some((g, v)) => {
                let mut v = group(g, v);
                if let Some(o) = v.as_object_mut() {
                    o.insert("kind".into(), json!("APIGroup"));
                    o.insert("apiVersion".into(), json!("v1"));
                }
                Ok(Answer::json(200, &v))
            }
            None => Ok(absent()),
        },
        ["api", version] => Ok(resources(r, "", version)),
        ["apis", group, version] => Ok(resources(r, group, version)),
        ["openapi", "v3"] => Ok(openapi_index(r)),
        ["openapi", "v3", "apis", "apps.cozystack.io", "v1alpha1"] => Ok(Answer::bytes(200, bytes::Bytes::from_static(OPENAPI.as_bytes()))),
        _ => Ok(absent()),
    }
}

fn absent() -> Answer {
    Answer::text(404, "404 page not found\n")
}

fn version() -> Value {
    json!({"major": "1", "minor": "35", "gitVersion": VERSION, "gitCommit": "", "gitTreeState": "clean",
        "buildDate": "2026-11-01T00:00:00Z", "goVersion": "go1.25.4", "compiler": "gc", "platform": "linux/amd64"})
}

/// Groups without those a fault took away.
fn served(r: &Request) -> Vec<(&'static str, &'static str)> {
    catalog::groups().into_iter().filter(|(g, _)| !r.shared.faults.on_group(g, &Fault::Absent)).collect()
}

fn is_broken(r: &Request, group: &str) -> bool {
    r.shared.faults.on_group(group, &Fault::BrokenDiscovery) || r.shared.faults.on_group(group, &Fault::Unavailable)
}

fn group(name: &str, version: &str) -> Value {
    let v = json!({"groupVersion": format!("{name}/{version}"), "version": version});
    json!({"name": name, "versions": [v], "preferredVersion": v})
}

fn of<'a>(group: &'a str, version: &'a str) -> impl Iterator<Item = &'static Resource> + 'a {
    catalog::RESOURCES.iter().filter(move |r| r.group == group && r.version == version)
}

fn resources(r: &Request, group: &str, version: &str) -> Answer {
    if of(group, version).next().is_none() || r.shared.faults.on_group(group, &Fault::Absent) {
        return absent();
    }
    if is_broken(r, group) {
        return Answer::text(503, "service unavailable\n");
    }
    let mut list = Vec::new();
    for res in of(group, version) {
        let mut one = json!({"name": res.plural, "singularName": res.singular(), "namespaced": res.namespaced});
        if let Some(o) = one.as_object_mut() {
            if group.ends_with("cozystack.io") && group != "cozystack.io" {
                o.insert("group".into(), json!(group));
                o.insert("version".into(), json!(version));
            }
            o.insert("kind".into(), json!(res.kind));
            o.insert("verbs".into(), json!(res.verbs()));
        }
        list.push(one);
        if res.plural == "computeplanes" || res.manner != catalog::Manner::Ordinary {
            continue;
        }
        list.push(json!({"name": format!("{}/status", res.plural), "singularName": "", "namespaced": res.namespaced,
            "kind": res.kind, "verbs": ["get", "patch", "update"]}));
    }
    let gv = if group.is_empty() { version.to_string() } else { format!("{group}/{version}") };
    Answer::json(200, &json!({"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": gv, "resources": list}))
}

/// The aggregated format, v2.
fn aggregate(r: &Request, groups: &[(&'static str, &'static str)]) -> Answer {
    let items: Vec<Value> = groups
        .iter()
        .map(|(g, v)| {
            let broken = is_broken(r, g);
            let list: Vec<Value> = of(g, v)
                .filter(|_| !broken)
                .map(|res| {
                    json!({"resource": res.plural, "responseKind": {"group": g, "version": v, "kind": res.kind},
                        "scope": if res.namespaced { "Namespaced" } else { "Cluster" },
                        "singularResource": res.singular(), "verbs": res.verbs()})
                })
                .collect();
            let freshness = if broken { "Stale" } else { "Current" };
            let meta = if g.is_empty() { json!({}) } else { json!({"name": g}) };
            json!({"metadata": meta, "versions": [{"version": v, "resources": list, "freshness": freshness}]})
        })
        .collect();
    let value = json!({"kind": "APIGroupDiscoveryList", "apiVersion": "apidiscovery.k8s.io/v2", "metadata": {}, "items": items});
    let mut a = Answer::json(200, &value);
    a.content_type = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
    a
}

fn openapi_index(r: &Request) -> Answer {
    let mut paths = serde_json::Map::new();
    if !r.shared.faults.on_group(catalog::APPS, &Fault::Absent) {
        let at = "apis/apps.cozystack.io/v1alpha1";
        paths.insert(at.into(), json!({"serverRelativeURL": format!("/openapi/v3/{at}?hash=0")}));
    }
    Answer::json(200, &json!({"paths": paths}))
}
