//! Hostile names and namespaces through every call of a session: whatever reaches the server is judged by a reading of its own, written
//! without the guard's table.

use planedeck::{
    cluster::guard::Mode,
    model::{Kind, ObjectRef, ProblemKind as P, Scope, Selector, kind::KINDS, world::Source},
};
use proptest::prelude::*;
use serde_json::json;

use crate::{
    reading::fault,
    server::{Server, session},
};

fn piece() -> impl Strategy<Value = String> {
    let bits = [
        "secrets",
        "tenantsecrets",
        "Secrets",
        "computeplane",
        "tenant-a",
        "/",
        "//",
        "..",
        ".",
        "%2f",
        "%2e%2e",
        "%73",
        "?",
        "&",
        "watch=true",
        "dryRun=All",
        "pretty=",
        "#",
        ";",
        "\\",
        " ",
        "\n",
        "é",
        "exec",
        "status",
        "log",
        "proxy",
        "namespaces",
        "",
        "computeplane-cluster-awaiting-etcd",
    ];
    proptest::collection::vec(proptest::sample::select(bits.to_vec()), 0..6).prop_map(|v| v.concat())
}

fn wide_open() -> Server {
    let server = Server::new();
    let yes = |_: &serde_json::Value| json!({"status": {"allowed": true}});
    server.on("POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", [crate::server::Answer::Made(yes)]);
    server
}

async fn everything(server: &Server, namespace: &str, name: &str) {
    let (session, _) = session(server, Mode::ReadWrite);
    for k in KINDS {
        let object = ObjectRef { kind: k.kind, namespace: namespace.into(), name: name.into() };
        let _ = session.fetch(&object).await;
        let source = Source { kind: k.kind, scope: Scope::Namespace(namespace.into()), selector: Selector::all() };
        let _ = session.raw(&source).await;
    }
    let plane = ObjectRef { kind: Kind::ComputePlane, namespace: namespace.into(), name: name.into() };
    let _ = session.write(&plane, &json!([{"op": "remove", "path": "/spec/nodeGroups/a"}]), &[]).await;
    let _ = session.rules(namespace).await;
    let _ = session.namespaces(&[namespace.to_string()]).await;
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn no_name_reaches_another_path(namespace in piece(), name in piece(), path in piece()) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        let server = wide_open();
        runtime.block_on(async {
            everything(&server, &namespace, &name).await;
            // Raw paths too, as a mistake in our own code would send them.
            let (session, _) = session(&server, Mode::ReadWrite);
            for prefix in ["/api/v1/namespaces/", "/apis/apps.cozystack.io/v1alpha1/", "/api/v1/", "/"] {
                for method in ["GET", "PATCH", "POST", "DELETE", "PUT"] {
                    let request = http::Request::builder().method(method).uri(format!("{prefix}{path}"));
                    if let Ok(request) = request.header("content-type", "application/json-patch+json").body(Vec::new()) {
                        let _ = session.json(request).await;
                    }
                }
            }
        });
        for asked in server.asked() {
            prop_assert_eq!(fault(&asked.method, &asked.uri), None, "{:?}", asked);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_full_tour_as_cluster_admin_passes_the_same_reading() {
    let server = wide_open();
    everything(&server, "tenant-a", "computeplane").await;
    everything(&server, "tenant-a", "computeplane-cluster-awaiting-etcd").await;
    let (session, _) = session(&server, Mode::ReadWrite);
    let _ = session.access(&["tenant-a".to_string()]).await;
    let asked = server.asked();
    assert!(asked.len() > 100, "{} requests", asked.len());
    for a in asked {
        assert_eq!(fault(&a.method, &a.uri), None, "{a:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_typo_in_a_namespace_is_told_as_one() {
    let server = Server::new();
    let (session, _) = session(&server, Mode::ReadOnly);
    for bad in ["tenant a", "a/b", "a#", "", "..", "a?b", "ten\u{1b}[2Jant"] {
        let plane = ObjectRef { kind: Kind::ComputePlane, namespace: "tenant-a".into(), name: bad.into() };
        let problem = session.fetch(&plane).await.unwrap_err();
        assert_eq!(problem.kind, P::BadInput, "{bad:?}: {problem}");
        assert!(!problem.to_string().contains('\u{1b}'));
    }
}

#[tokio::test(start_paused = true)]
async fn a_request_to_another_server_is_refused() {
    let server = Server::new();
    let (session, _) = session(&server, Mode::ReadWrite);
    let request = http::Request::get("https://evil.example/api/v1/namespaces/t/pods").body(Vec::new()).unwrap();
    assert_eq!(session.json(request).await.unwrap_err().kind, P::Refused);
    assert!(server.asked().is_empty());
}

#[tokio::test(start_paused = true)]
async fn repeated_parameters_and_named_watches_are_refused() {
    let server = Server::new();
    let (session, _) = session(&server, Mode::ReadWrite);
    for uri in [
        "/api/v1/configmaps?fieldSelector=metadata.name%3Dcomputeplane-cluster-awaiting-etcd&fieldSelector=",
        "/api/v1/configmaps?fieldSelector=metadata.name%3Dcomputeplane-cluster-awaiting-etcd&field%53elector=metadata.name%3Dx",
        "/api/v1/namespaces/tenant-a?watch=true",
        "/api/v1/pods?limit=1&limit=2",
        "/api/v1/configmaps?fieldSelector=metadata.name%3Dcomputeplane-cluster-awaiting-etcd%zz",
        "/api/v1/configmaps?fieldSelector=metadata.name%3Dcomputeplane-cluster-awaiting-etcd;a=b",
        "/api/v1/configmaps?labelSelector=a&fieldselector=metadata.name%3Dcomputeplane-cluster-awaiting-etcd",
    ] {
        let request = http::Request::get(uri).body(Vec::new()).unwrap();
        assert_eq!(session.json(request).await.unwrap_err().kind, P::Refused, "{uri}");
    }
    assert!(server.asked().is_empty());
}
