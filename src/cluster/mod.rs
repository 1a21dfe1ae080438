//! Everything that talks to a cluster: kubeconfig, login, guard, access, watches, writes. The only user of kube; knows no screens.

pub mod access;
pub mod allow;
pub mod ask;
pub mod audit_file;
pub mod discovery;
pub mod door;
pub mod errors;
pub mod guard;
pub mod layer;
pub mod namespaces;
pub mod raw;
pub mod session;
pub mod trail;
pub mod watch;
pub mod write;
