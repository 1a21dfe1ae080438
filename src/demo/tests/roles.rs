//! The recorded access reviews.

use super::*;
use crate::demo::rbac::{Asked, allowed};

const ROLES: &str = include_str!("../../../tests/data/roles.csv");

fn identity(role: &str) -> Option<Identity> {
    Some(match role {
        "view" | "use" | "admin" | "super-admin" => level("tenant-test", role),
        "tenant-sa" => Identity::service_account("tenant-test"),
        "ancestor-sa" => Identity::service_account("tenant-root"),
        "descendant-super-admin" => level("tenant-test-dev", "super-admin"),
        "descendant-sa" => Identity::service_account("tenant-test-dev"),
        "sibling-super-admin" => level("tenant-other", "super-admin"),
        "authenticated" => Identity::nobody(),
        "cluster-admin" => Identity::sre(),
        "anonymous" => Identity::anonymous(),
        other => level("tenant-root", other.strip_prefix("ancestor-")?),
    })
}

#[test]
fn every_recorded_review_is_decided_the_same() {
    let (mut wrong, mut checked) = (Vec::new(), 0);
    for line in ROLES.lines().skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        let [role, verbs, group, resource, name, want, scope] = cells.as_slice() else { panic!("{line}") };
        let Some(who) = identity(role) else { continue };
        let (resource, subresource) = resource.split_once('/').unwrap_or((resource, ""));
        for verb in verbs.split('+') {
            let namespace = if *scope == "cluster" { "" } else { scope };
            let asked = Asked {
                verb: verb.into(),
                group: group.to_string(),
                resource: resource.into(),
                subresource: subresource.into(),
                namespace: namespace.into(),
                name: name.to_string(),
            };
            checked += 1;
            if allowed(&who, &asked).is_some() != (*want == "yes") {
                wrong.push(format!("{role} {verb} {group}/{resource}/{subresource} {name} want {want} {scope}"));
            }
        }
    }
    assert!(checked > 3000, "{checked}");
    assert!(wrong.is_empty(), "{} wrong\n{}", wrong.len(), wrong.join("\n"));
}

#[tokio::test]
async fn forbidden_comes_before_absent() {
    let p = bare(web(3)).speaking_as(level("tenant-test", "view"));
    let (status, body) = get(&p, "/apis/no.such.group/v1/namespaces/tenant-test/things").await;
    assert_eq!(status, 403, "{body}");
    let p = p.speaking_as(Identity::sre());
    let (status, body) = get(&p, "/apis/no.such.group/v1/namespaces/tenant-test/things").await;
    assert_eq!((status, body), (404, Value::String("404 page not found\n".into())));
}

#[tokio::test]
async fn the_operator_sees_only_planes_of_tenant_nb() {
    let p = default().speaking_as(Identity::operator());
    let ns = "namespaces/tenant-nb";
    assert_eq!(get(&p, &format!("/apis/apps.cozystack.io/v1alpha1/{ns}/computeplanes")).await.0, 200);
    for path in ["/apis/helm.toolkit.fluxcd.io/v2/NS/helmreleases", "/api/v1/NS/events", "/apis/core.cozystack.io/v1alpha1/NS/options"] {
        assert_eq!(get(&p, &path.replace("NS", ns)).await.0, 403, "{path}");
    }
}
