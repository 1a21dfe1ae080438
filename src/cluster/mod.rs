//! Everything that talks to a cluster: kubeconfig, login, guard, access, watches, writes. The only user of kube; knows no screens.

pub mod audit_file;
pub mod door;
pub mod errors;
