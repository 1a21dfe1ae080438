//! The console against a real kube-apiserver: planes live, outages, revoked roles, the server's own audit log as the witness, and the roles matrix.
//! One server per test: each is a whole story, since a start costs seconds.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic)]

mod support;

#[path = "real_server/keys.rs"]
mod keys;
#[path = "real_server/live.rs"]
mod live;
#[path = "real_server/roles.rs"]
mod roles;
#[path = "real_server/world.rs"]
mod world;
