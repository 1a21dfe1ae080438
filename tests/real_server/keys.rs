//! Every key on every screen and every subcommand, with the server's own audit log as the witness.

use std::{path::Path, process::Command};

use serde_json::{Value, json};

use crate::{
    support::{
        apiserver::ApiServer,
        pty::Pty,
        walk::{every_command, every_key},
    },
    world::{self, NS},
};

/// The identity of the console here: cluster-admin by binding, and nobody else uses it.
const USER: &str = "nobody";

fn seen(server: &ApiServer) -> Vec<Value> {
    server.audit_log().into_iter().filter(|e| e["user"]["username"] == USER).collect()
}

/// Runs every command; answers with what `apply` said.
fn commands(home: &Path, config: &str, read_only: bool) -> String {
    let mut said = String::new();
    let wanted = home.join("after.yaml");
    std::fs::write(&wanted, "nodeGroups:\n  web: {minReplicas: 3, maxReplicas: 7, instanceType: u1.medium, diskSize: 20Gi, roles: [ingress-nginx]}\n  gpu: {minReplicas: 0, maxReplicas: 2, instanceType: u1.xlarge, diskSize: 20Gi, roles: []}\n").unwrap();
    let (file, recording) = (wanted.to_str().unwrap(), home.join("recording.json").display().to_string());
    let all: &[&[&str]] = &[
        &["get"],
        &["get", "-A", "-o", "wide"],
        &["explain"],
        &["rule"],
        &["validate", "-f", file],
        &["plan", "-f", file],
        &["apply", "-f", file, "--yes"],
        &["watch", "--timeout", "1s"],
        &["access"],
        &["report"],
        &["record", "-o", &recording],
    ];
    for args in all {
        let mut command = Command::new(env!("CARGO_BIN_EXE_planedeck"));
        command.args(["--kubeconfig", config, "-n", NS]).args(*args).env_clear().env("HOME", home);
        if read_only {
            command.arg("--read-only");
        }
        let out = command.output().unwrap();
        if args[0] == "apply" {
            said = format!("{}{}", String::from_utf8_lossy(&out.stdout), String::from_utf8_lossy(&out.stderr));
        }
        assert!(out.status.code().is_some_and(|c| c < 5), "{args:?}: {:?}\n{}", out.status, String::from_utf8_lossy(&out.stderr));
    }
    said
}

fn check(events: &[Value], read_only: bool) {
    let asked = |verb: &str, resource: &str| events.iter().any(|e| e["verb"] == verb && e["objectRef"]["resource"] == resource);
    assert!(asked("list", "computeplanes") && asked("watch", "helmreleases"), "the log is the console's");
    assert!(asked("create", "selfsubjectaccessreviews"), "the boundary was asked");
    for e in events {
        let (verb, uri) = (e["verb"].as_str().unwrap(), e["requestURI"].as_str().unwrap());
        let resource = e["objectRef"]["resource"].as_str().unwrap_or("");
        assert!(!resource.contains("secret") && !uri.contains("secret"), "{uri}");
        assert!(!uri.contains("dryRun"), "{uri}");
        assert!(e["objectRef"]["subresource"].is_null(), "{uri}");
        let fine = match verb {
            "get" | "list" | "watch" => true,
            "create" => resource.starts_with("selfsubject"),
            "patch" => !read_only && resource == "computeplanes",
            _ => false,
        };
        assert!(fine, "{verb} {uri}");
    }
}

#[test]
fn every_key_and_command_asks_for_no_secret_and_writes_nothing_when_locked() {
    let Some(server) = ApiServer::start() else { return };
    server.block_on(async {
        world::seed(&server).await;
        server
            .create(&json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding", "metadata": {"name": "console"},
                "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"},
                "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": USER}]}))
            .await;
    });
    let config = server.kubeconfig(USER, "").display().to_string();
    let mut before = 0;
    for read_only in [true, false] {
        let home = tempfile::tempdir().unwrap();
        let mut args = vec!["--kubeconfig", config.as_str(), "-n", NS];
        args.extend(read_only.then_some("--read-only"));
        let mut pty = Pty::start(&args, 100, 30, home.path());
        pty.wait("live planes", |s| s.contents().contains(NS) && s.contents().contains("● live"));
        every_key(&mut pty);
        every_command(&mut pty);
        pty.wait("the list again", |s| s.contents().contains(NS));
        pty.keys("q");
        assert_eq!(pty.exit_code(), 0);
        let said = commands(home.path(), &config, read_only);
        let events = seen(&server);
        check(&events[before..], read_only);
        let patched = events[before..].iter().any(|e| e["verb"] == "patch");
        assert_eq!(patched, !read_only, "apply writes exactly when it may; it said: {said}");
        before = events.len();
    }
}
