//! Planes live on the real server: patches, cuts, a crash, a revoked role.

use serde_json::{Value, json};

use crate::{
    support::{apiserver::ApiServer, cut::Cut, pty::Pty},
    world::{self, NS},
};

/// A kubeconfig of this token that goes through the wire.
fn through(server: &ApiServer, wire: &Cut, token: &str, home: &std::path::Path) -> String {
    let text = std::fs::read_to_string(server.kubeconfig(token, "")).unwrap();
    let path = home.join(format!("kubeconfig-{token}"));
    std::fs::write(&path, text.replace(&server.url(), &format!("https://127.0.0.1:{}", wire.port))).unwrap();
    path.display().to_string()
}

fn wire(server: &ApiServer) -> Cut {
    Cut::to(server.url().rsplit(':').next().unwrap().parse().unwrap())
}

fn live(pty: &Pty) {
    pty.wait("live", |s| s.contents().contains("● live"));
}

/// Sets the module release's Ready as its controller would. Our definitions have no status subresource: each write is a new generation.
async fn ready(server: &ApiServer, status: &str, reason: &str, message: &str) {
    let release = world::release("computeplane");
    let now = server.merge(&release, &json!({"metadata": {"labels": {"touched": "yes"}}})).await;
    let generation = now["metadata"]["generation"].as_i64().unwrap() + 1;
    let condition = |kind: &str| {
        json!({"type": kind, "status": status, "reason": reason, "message": message,
            "observedGeneration": generation, "lastTransitionTime": "2026-12-01T02:00:00Z"})
    };
    let patch: Value = json!({"status": {"observedGeneration": generation, "conditions": [condition("Ready"), condition("Released")]}});
    server.merge(&release, &patch).await;
}

#[test]
fn planes_follow_the_server_through_patches_cuts_and_a_crash() {
    let Some(mut server) = ApiServer::start() else { return };
    server.block_on(async {
        world::seed(&server).await;
        world::namespace(&server, "tenant-beta").await;
    });
    let beta = json!({"apiVersion": "apps.cozystack.io/v1alpha1", "kind": "ComputePlane",
        "metadata": {"name": "computeplane", "namespace": "tenant-beta"}, "spec": {}});
    server.block_on(server.create(&beta));
    let home = tempfile::tempdir().unwrap();
    let wire = wire(&server);
    let config = through(&server, &wire, "admin", home.path());
    let mut pty = Pty::start(&["--kubeconfig", &config, "-A"], 140, 40, home.path());
    pty.see(NS);
    pty.see("tenant-beta");
    live(&pty);

    let message = "Helm upgrade failed for release tenant-acme/computeplane with chart computeplane@1: execution error at \
        (computeplane/templates/x.yaml:1:4): nodeGroup web: specified instanceType \"u9.huge\" not found";
    server.block_on(ready(&server, "False", "UpgradeFailed", message));
    pty.see("u9.huge");
    server.block_on(ready(&server, "True", "UpgradeSucceeded", "Helm upgrade succeeded"));
    pty.gone("u9.huge");
    server.block_on(server.merge(&world::release("computeplane"), &json!({"spec": {"suspend": true}})));
    pty.wait("the suspended plane", |s| s.contents().to_lowercase().contains("suspended"));
    server.block_on(server.merge(&world::release("computeplane"), &json!({"spec": {"suspend": false}})));
    pty.wait("the plane that goes on", |s| !s.contents().to_lowercase().contains("suspended"));

    wire.cut();
    pty.wait("the lost state", |s| !s.contents().contains("● live"));
    assert!(pty.text().contains("tenant-beta"), "a lost connection keeps its rows");
    server.block_on(server.delete(&beta));
    wire.heal();
    pty.keys("\x12");
    pty.gone("tenant-beta");
    pty.see(NS);
    live(&pty);

    server.kill();
    pty.wait("the lost state", |s| !s.contents().contains("● live"));
    assert!(pty.text().contains(NS), "a crashed server takes no rows away");
    server.run();
    live(&pty);
    assert!(pty.text().contains(NS));
    pty.keys("q");
    assert_eq!(pty.exit_code(), 0);
}

fn refused(screen: &vt100::Screen) -> bool {
    let text = screen.contents().to_lowercase();
    text.contains("no permission") || text.contains("may not list")
}

#[test]
fn a_namespace_only_identity_sees_all_screens_and_a_revoked_role_is_named() {
    let Some(server) = ApiServer::start() else { return };
    let [role, binding] = world::reader("view@acme");
    server.block_on(async {
        world::seed(&server).await;
        server.create(&role).await;
        server.create(&binding).await;
    });
    let home = tempfile::tempdir().unwrap();
    let wire = wire(&server);
    let config = through(&server, &wire, "tenant-view", home.path());
    let mut pty = Pty::start(&["--kubeconfig", &config, "-n", NS], 120, 40, home.path());
    pty.see(NS);
    pty.wait("a row", |s| s.contents().contains("as far as you may see"));
    crate::support::walk::every_key(&mut pty);
    pty.wait("the list again", |s| s.contents().contains(NS));

    server.block_on(server.delete(&binding));
    wire.cut();
    pty.wait("the lost state", |s| !s.contents().contains("● live"));
    wire.heal();
    pty.keys("\x12");
    pty.wait("the refusal by its name", refused);
    server.block_on(server.create(&binding));
    pty.keys("\x12");
    pty.wait("the rows again", |s| s.contents().contains(NS) && !refused(s));
    pty.keys("q");
    assert_eq!(pty.exit_code(), 0);
}
