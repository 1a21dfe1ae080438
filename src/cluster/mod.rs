//! Everything that talks to a cluster: kubeconfig, login, guard, access, watches, writes. The only user of kube; knows no screens.

pub mod allow;
pub mod ask;
pub mod audit_file;
pub mod guard;
pub mod watch;
