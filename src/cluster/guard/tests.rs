//! What the guard lets through and what it stops, in both modes.

use proptest::prelude::*;

use super::*;

const NS: &str = "/apis/apps.cozystack.io/v1alpha1/namespaces/t/computeplanes";

fn passes(mode: Mode, method: &str, target: &str) -> bool {
    decide(mode, method, target, JSON_PATCH).verdict.is_ok()
}

#[test]
fn what_the_console_does_passes() {
    for (method, target) in [
        ("GET", "/version"),
        ("GET", "/api"),
        ("GET", "/apis"),
        ("GET", "/api/v1"),
        ("GET", "/apis/cluster.x-k8s.io/v1beta1"),
        ("GET", "/openapi/v3/apis/apps.cozystack.io/v1alpha1?hash=AB"),
        ("GET", NS),
        ("GET", "/apis/apps.cozystack.io/v1alpha1/computeplanes?watch=true&resourceVersion=5&allowWatchBookmarks=true&timeoutSeconds=50"),
        ("GET", "/apis/helm.toolkit.fluxcd.io/v2/helmreleases?fieldSelector=metadata.name%3Dcomputeplane-cluster&limit=500"),
        ("GET", "/api/v1/namespaces/t/events"),
        ("GET", "/api/v1/namespaces/t/configmaps/computeplane-cluster-awaiting-etcd"),
        ("GET", "/api/v1/configmaps?fieldSelector=metadata.name%3Dcomputeplane-cluster-awaiting-etcd&watch=1"),
        ("GET", "/apis/rbac.authorization.k8s.io/v1/namespaces/t/roles/computeplane-cluster-dashboard-resources"),
        ("GET", "/api/v1/namespaces"),
        ("POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"),
        ("POST", "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews"),
        ("POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews"),
    ] {
        for mode in [Mode::ReadOnly, Mode::ReadWrite] {
            let d = decide(mode, method, target, "application/json");
            assert!(d.verdict.is_ok(), "{method} {target}: {:?}", d.verdict);
        }
    }
}

#[test]
fn secrets_never_pass_in_any_spelling_or_mode() {
    for path in [
        "/api/v1/secrets",
        "/api/v1/namespaces/t/secrets",
        "/api/v1/namespaces/t/secrets/computeplane-cluster-admin-kubeconfig",
        "/api/v1/namespaces/t/secret%73/x",
        "/api/v1/namespaces/t/%73ecrets",
        "/api/v1/namespaces/t/Secrets",
        "/api/v1/namespaces/t/secrets/",
        "//api/v1/namespaces/t/secrets",
        "/api/v1/namespaces/t/pods/../secrets",
        "/api/v1/namespaces/t/./secrets",
        "/api/v1/watch/namespaces/t/secrets",
        "/api/v1/watch/secrets",
        "/api/v1/namespaces/t/secrets;x=1",
        "/api/v1/namespaces/t/pods;/secrets",
        "/api/v1/namespaces/t\\secrets",
        "/apis/core.cozystack.io/v1alpha1/namespaces/t/tenantsecrets",
        "/apis/core.cozystack.io/v1alpha1/tenantsecrets",
        "/apis/core.cozystack.io/v1alpha1/namespaces/t/tenantsecrets/x",
        "/apis//v1/namespaces/t/secrets",
        "/api/v1/namespaces/t/serviceaccounts/x/token",
    ] {
        for method in ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "get", "PROPFIND"] {
            for query in ["", "?watch=true", "?fieldSelector=metadata.name%3Dcomputeplane-cluster-awaiting-etcd"] {
                for mode in [Mode::ReadOnly, Mode::ReadWrite] {
                    assert!(!passes(mode, method, &format!("{path}{query}")), "{method} {path}{query}");
                }
            }
        }
    }
}

#[test]
fn nothing_that_changes_or_tunnels_passes() {
    for (method, target) in [
        ("PUT", format!("{NS}/computeplane")),
        ("DELETE", format!("{NS}/computeplane")),
        ("DELETE", NS.to_string()),
        ("POST", NS.to_string()),
        ("PATCH", NS.to_string()),
        ("PATCH", format!("{NS}/computeplane/status")),
        ("PATCH", format!("{NS}/computeplane?dryRun=All")),
        ("PATCH", format!("{NS}/computeplane?%64ryRun=All")),
        ("PATCH", format!("{NS}/computeplane?fieldManager=x&dryRun=All&dryRun=")),
        ("PATCH", "/apis/apps.cozystack.io/v1alpha1/computeplanes/computeplane".to_string()),
        ("PATCH", "/apis/helm.toolkit.fluxcd.io/v2/namespaces/t/helmreleases/x".to_string()),
        ("GET", "/api/v1/namespaces/t/pods/p/exec?command=sh".to_string()),
        ("GET", "/api/v1/namespaces/t/pods/p/attach".to_string()),
        ("GET", "/api/v1/namespaces/t/pods/p/portforward".to_string()),
        ("GET", "/api/v1/namespaces/t/pods/p/log".to_string()),
        ("GET", "/api/v1/namespaces/t/services/s/proxy/x".to_string()),
        ("GET", "/api/v1/proxy/namespaces/t/pods/p".to_string()),
        ("GET", "/api/v1/namespaces/t/configmaps".to_string()),
        ("GET", "/api/v1/namespaces/t/configmaps/other".to_string()),
        ("GET", "/api/v1/configmaps?fieldSelector=metadata.name%3Dother".to_string()),
        ("GET", "/api/v1/configmaps?fieldSelector=metadata.name!%3Dcomputeplane-cluster-awaiting-etcd".to_string()),
        ("GET", "/apis/rbac.authorization.k8s.io/v1/namespaces/t/roles".to_string()),
        ("GET", "/api/v1/nodes".to_string()),
        ("POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews".to_string()),
        ("POST", "/apis/authorization.k8s.io/v1/namespaces/t/localsubjectaccessreviews".to_string()),
        ("POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews?dryRun=All".to_string()),
        ("GET", format!("{NS}?watch=true&watch=false")),
        // Of two, the server takes the first and a proxy perhaps the last.
        ("GET", format!("{NS}?labelSelector=a&labelSelector=b")),
        ("GET", "/api/v1/configmaps?fieldSelector=metadata.name%3Dcomputeplane-cluster-awaiting-etcd&fieldSelector=".to_string()),
        ("GET", "/api/v1/configmaps?fieldSelector=metadata.name%3Dcomputeplane-cluster-awaiting-etcd&%66ieldSelector=".to_string()),
        // What an allowed resource's name becomes once some proxy has decoded it is anybody's guess.
        ("GET", format!("{NS}/..%2f..%2fsecrets")),
        ("GET", "/api/v1/namespaces/t%2fsecrets/pods".to_string()),
        ("GET", "/api/v1/namespaces/t/pods/x%00".to_string()),
        ("GET", "/metrics".to_string()),
        ("GET", "http://evil/api/v1/namespaces".to_string()),
    ] {
        assert!(!passes(Mode::ReadWrite, method, &target), "{method} {target}");
    }
}

#[test]
fn a_patch_passes_only_unlocked_and_only_as_json_patch() {
    let target = format!("{NS}/computeplane");
    assert!(passes(Mode::ReadWrite, "PATCH", &target));
    assert!(!passes(Mode::ReadOnly, "PATCH", &target));
    for other in
        ["application/merge-patch+json", "application/apply-patch+yaml", "application/strategic-merge-patch+json", "", "text/plain"]
    {
        assert!(decide(Mode::ReadWrite, "PATCH", &target, other).verdict.is_err(), "{other}");
    }
    assert_eq!(decide(Mode::ReadOnly, "PATCH", &target, JSON_PATCH).verdict, Err("read-only mode".into()));
}

#[test]
fn attributes_are_those_of_the_server() {
    let a = decide(Mode::ReadOnly, "GET", "/api/v1/namespaces/t/pods/p/exec", "").attributes;
    assert_eq!(
        (a.verb.as_str(), a.namespace.as_str(), a.resource.as_str(), a.name.as_str(), a.subresource.as_str()),
        ("get", "t", "pods", "p", "exec")
    );
    let a = decide(Mode::ReadOnly, "GET", "/apis/cluster.x-k8s.io/v1beta1/machines?watch=1", "").attributes;
    assert_eq!(
        (a.verb.as_str(), a.group.as_str(), a.version.as_str(), a.resource.as_str()),
        ("watch", "cluster.x-k8s.io", "v1beta1", "machines")
    );
}

proptest! {
    #[test]
    fn no_path_with_a_secret_in_it_passes(prefix in "(/[a-z0-9.%;/]{0,12}){0,4}", name in "(?i)(tenant)?secrets?", suffix in "(/[a-z0-9.%]{0,8}){0,3}", query in "(\\?[a-zA-Z=&%0-9]{0,20})?") {
        for method in ["GET", "POST", "PATCH", "DELETE"] {
            let target = format!("{prefix}/{name}{suffix}{query}");
            let d = decide(Mode::ReadWrite, method, &target, JSON_PATCH);
            let reads_secret = d.attributes.resource.to_lowercase().contains("secret") || d.attributes.resource.is_empty();
            prop_assert!(d.verdict.is_err() || !reads_secret || d.verdict == Ok("finding out what the server serves"), "{method} {target}: {d:?}");
        }
    }

    #[test]
    fn any_text_is_survived(method in ".{0,8}", target in ".{0,80}") {
        let _ = decide(Mode::ReadWrite, &method, &target, JSON_PATCH);
    }
}
