//! Tests of the embedded platform: the recorded exchanges, the roles, watches, faults, the world, a real socket.

mod faults;
mod replay;
mod roles;
mod socket;
mod watching;
mod world;

use bytes::Bytes;
use http_body_util::BodyExt;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};

use super::{Clock, Identity, Level, Platform, ResponseBody, Scenario};
use crate::model::Time;

/// A clock that tests move by hand.
#[derive(Clone)]
struct Hand(Arc<Mutex<Time>>);

impl Hand {
    fn new() -> Hand {
        Hand(Arc::new(Mutex::new("2026-12-01T12:00:00Z".parse().unwrap())))
    }
    fn clock(&self) -> Clock {
        let t = self.0.clone();
        Arc::new(move || *t.lock().unwrap())
    }
    fn pass(&self, seconds: i64) -> Time {
        let mut t = self.0.lock().unwrap();
        *t = t.checked_add(jiff::SignedDuration::from_secs(seconds)).unwrap();
        *t
    }
}

fn default() -> Platform {
    Platform::new(Scenario::Default, Hand::new().clock(), Identity::sre())
}

async fn send(p: &Platform, method: &str, path: &str, kind: &str, body: &str) -> http::Response<ResponseBody> {
    let request =
        http::Request::builder().method(method).uri(path).header("content-type", kind).body(Bytes::from(body.to_string())).unwrap();
    p.handle(request).await.unwrap()
}

async fn text(response: http::Response<ResponseBody>) -> (u16, String) {
    let status = response.status().as_u16();
    let body = response.into_body().collect().await.unwrap().to_bytes();
    (status, String::from_utf8(body.to_vec()).unwrap())
}

async fn get(p: &Platform, path: &str) -> (u16, Value) {
    let (status, body) = text(send(p, "GET", path, "", "").await).await;
    let value = serde_json::from_str(&body).unwrap_or(Value::String(body));
    (status, value)
}

/// A watch, read line by line.
struct Watch(ResponseBody);

impl Watch {
    async fn open(p: &Platform, path: &str) -> Watch {
        let r = send(p, "GET", path, "", "").await;
        assert_eq!(r.status(), 200);
        Watch(r.into_body())
    }
    /// The next event as (type, name, version), or `None` at the end.
    async fn next(&mut self) -> Option<(String, String, u64)> {
        let frame = self.0.frame().await?.unwrap().into_data().unwrap();
        let v: Value = serde_json::from_slice(&frame).unwrap();
        let text = |p: &str| v.pointer(p).and_then(Value::as_str).unwrap_or("").to_string();
        let version = text("/object/metadata/resourceVersion").parse().unwrap_or(0);
        Some((text("/type"), text("/object/metadata/name"), version))
    }
    /// True if nothing is there to read now.
    async fn quiet(&mut self) -> bool {
        futures::poll!(std::pin::pin!(self.0.frame())).is_pending()
    }
}

fn web(max: i64) -> Value {
    json!({"web": {"minReplicas": 1, "maxReplicas": max, "instanceType": "u1.medium", "diskSize": "20Gi", "roles": ["ingress-nginx"]}})
}

/// A bare tenant `tenant-test` with one plane.
fn bare(groups: Value) -> Platform {
    let p = Platform::empty(Hand::new().clock(), Identity::sre());
    for ns in ["tenant-root", "tenant-test", "tenant-test-dev", "tenant-other"] {
        p.put(json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": ns}}));
    }
    plane(&p, "tenant-test", "computeplane", json!({"nodeGroups": groups}));
    p
}

fn plane(p: &Platform, ns: &str, name: &str, values: Value) {
    p.put(json!({"apiVersion": "helm.toolkit.fluxcd.io/v2", "kind": "HelmRelease",
        "metadata": {"name": name, "namespace": ns, "finalizers": ["finalizers.fluxcd.io"], "labels": {
            "apps.cozystack.io/application.group": "apps.cozystack.io", "apps.cozystack.io/application.kind": "ComputePlane",
            "apps.cozystack.io/application.name": name, "sharding.fluxcd.io/key": "tenants"}},
        "spec": {"values": values}}));
}

fn level(ns: &str, word: &str) -> Identity {
    let level = match word {
        "view" => Level::View,
        "use" => Level::Use,
        "admin" => Level::Admin,
        _ => Level::SuperAdmin,
    };
    Identity::tenant(ns, level)
}
