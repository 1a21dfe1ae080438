//! Which cluster, as whom: what the header shows. No credentials, by construction.

use serde::{Deserialize, Serialize};

/// A kubeconfig context after resolution.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ContextInfo {
    /// Context name.
    pub name: String,
    /// The server's host and port: always shown, since two files may define one cluster name differently.
    pub server: String,
    /// User entry's name.
    pub user: String,
    /// Default namespace of the context, if it has one.
    pub namespace: Option<String>,
    /// Who the requests are made as (`--as` or the kubeconfig's impersonation), if anyone else.
    pub impersonate: Option<String>,
    /// The lock: only reads and self-reviews pass the guard.
    pub read_only: bool,
    /// Oddities of the kubeconfig worth telling, one line each.
    pub notes: Vec<String>,
}
