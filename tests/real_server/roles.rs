//! The roles matrix of the platform on the real server: `planedeck access` says for each identity what RBAC says.

use std::process::Command;

use serde_json::{Value, json};

use crate::{
    support::apiserver::ApiServer,
    world::{self, NS},
};

const READ: [&str; 3] = ["get", "list", "watch"];

fn rule(group: &str, resources: &[&str], verbs: &[&str]) -> Value {
    json!({"apiGroups": [group], "resources": resources, "verbs": verbs})
}

/// What a level may do in its namespace, by the platform's grading.
fn rules(level: &str) -> Vec<Value> {
    let mut out = vec![
        rule("apps.cozystack.io", &["*"], &READ),
        rule("", &["pods", "services", "endpoints", "events", "resourcequotas"], &READ),
        rule("cozystack.io", &["workloads", "workloadmonitors"], &READ),
        rule("core.cozystack.io", &["options"], &READ),
        rule("rbac.authorization.k8s.io", &["roles"], &["get"]),
    ];
    if level != "view" {
        out.push(rule("core.cozystack.io", &["tenantmodules", "tenantsecrets"], &READ));
        out.push(
            json!({"apiGroups": [""], "resources": ["secrets"], "resourceNames": ["computeplane-cluster-admin-kubeconfig"], "verbs": READ}),
        );
    }
    if level != "view" && level != "use" {
        out.push(rule("kubevirt.io", &["virtualmachines"], &["get", "list"]));
    }
    if level == "admin" {
        out.push(rule("apps.cozystack.io", &["buckets", "kuberneteses"], &["create", "update", "patch", "delete"]));
    }
    if level == "super-admin" || level == "sa" {
        out.push(rule("apps.cozystack.io", &["*"], &["*"]));
        out.push(rule("kubevirt.io", &["virtualmachines"], &["*"]));
    }
    out
}

async fn grant(server: &ApiServer, level: &str) {
    let subject = match level {
        "sa" => json!({"kind": "User", "apiGroup": "rbac.authorization.k8s.io", "name": "system:serviceaccount:tenant-acme:tenant-acme"}),
        level => json!({"kind": "Group", "apiGroup": "rbac.authorization.k8s.io", "name": format!("{NS}-{level}")}),
    };
    let name = format!("cozy:tenant:{level}");
    let api = "rbac.authorization.k8s.io/v1";
    server.create(&json!({"apiVersion": api, "kind": "ClusterRole", "metadata": {"name": name}, "rules": rules(level)})).await;
    server
        .create(&json!({"apiVersion": api, "kind": "RoleBinding", "metadata": {"name": name, "namespace": NS}, "subjects": [subject],
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": name}}))
        .await;
}

/// Rows of the matrix for a role in its namespace: verb, group, resource, name, allowed.
fn matrix(role: &str) -> Vec<(String, String, String, String, bool)> {
    let text = include_str!("../data/roles.csv");
    let rows = text.lines().skip(1).map(|l| l.split(',').collect::<Vec<_>>()).filter(|r| r[0] == role && r[6] == "tenant-test");
    rows.flat_map(|r| r[1].split('+').map(move |v| (v.into(), r[2].into(), r[3].into(), r[4].into(), r[5] == "yes")).collect::<Vec<_>>())
        .collect()
}

#[test]
fn access_says_for_each_role_what_the_matrix_says() {
    let Some(server) = ApiServer::start() else { return };
    server.block_on(async {
        world::seed(&server).await;
        for level in ["view", "use", "admin", "super-admin", "sa"] {
            grant(&server, level).await;
        }
    });
    for (role, token) in [
        ("view", "tenant-view"),
        ("use", "tenant-use"),
        ("admin", "tenant-admin"),
        ("super-admin", "tenant-super-admin"),
        ("tenant-sa", "sa"),
    ] {
        let home = tempfile::tempdir().unwrap();
        let config = server.kubeconfig(token, NS);
        let out = Command::new(env!("CARGO_BIN_EXE_planedeck"))
            .args(["access", "-o", "json", "-n", NS, "--kubeconfig"])
            .arg(config)
            .env_clear()
            .env("HOME", home.path())
            .output()
            .unwrap();
        let document: Value = serde_json::from_slice(&out.stdout).unwrap_or_else(|e| panic!("{role}: {e}: {out:?}"));
        let namespace = document["namespaces"].as_array().unwrap().iter().find(|n| n["namespace"] == NS).unwrap().clone();
        let said = |verb: &str, group: &str, resource: &str| {
            let rules = namespace["rules"].as_array().unwrap();
            rules.iter().find(|r| r["verb"] == verb && r["group"] == group && r["resource"] == resource).map(|r| r["allowed"].clone())
        };
        let mut compared = 0;
        let mut open = None;
        for (verb, group, resource, name, allowed) in matrix(role) {
            if resource == "secrets" && name == "computeplane-cluster-admin-kubeconfig" {
                open = Some(open.unwrap_or(false) | allowed);
            }
            if !name.is_empty() {
                continue;
            }
            // Of roles and ConfigMaps the console asks for one name only, which is another question.
            if let Some(answer) = said(&verb, &group, &resource).filter(|_| !["roles", "configmaps"].contains(&resource.as_str())) {
                assert_eq!(answer, json!(allowed), "{role}: {verb} {resource}.{group}");
                compared += 1;
            }
        }
        assert!(compared > 25, "{role}: only {compared} rights compared");
        let open = open.unwrap();
        assert_eq!(open, role != "view", "{role}: the matrix itself");
        assert_eq!(out.status.code(), Some(i32::from(open)), "{role}: the boundary");
        let level = namespace["level"].as_str().unwrap_or("").to_lowercase();
        let called = if role == "tenant-sa" { "service account" } else { role };
        assert!(level.contains(called), "{role}: called {level:?}");
    }
}
