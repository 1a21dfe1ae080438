//! The console against a real kube-apiserver.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod support;

use support::apiserver::ApiServer;

#[test]
fn the_server_starts_serves_our_kinds_and_restarts() {
    let Some(mut server) = ApiServer::start() else { return };
    server.block_on(server.seed_kinds());
    server.kill();
    server.run();
}
