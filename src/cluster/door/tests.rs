//! Tables for every trap of kubeconfig and login. Files live in a temporary folder; nothing of the real environment is read.

mod files;
mod logins;

use super::*;
use tempfile::TempDir;

/// A certificate-shaped and a key-shaped PEM text; nothing here checks their insides.
pub(super) const CERT: &str = "-----BEGIN CERTIFICATE-----\nAAECAw==\n-----END CERTIFICATE-----\n";
pub(super) const KEY: &str = "-----BEGIN PRIVATE KEY-----\nAAECAw==\n-----END PRIVATE KEY-----\n";
/// A token that must never be seen in a text.
pub(super) const PLANTED: &str = "planted-7f3a9c-credential";

/// Options with this file as `--kubeconfig`.
pub(super) fn with_file(dir: &TempDir, text: impl AsRef<[u8]>) -> Options {
    let path = dir.path().join("config");
    std::fs::write(&path, text).unwrap();
    Options { kubeconfig: Some(path), ..Options::default() }
}

/// A kubeconfig with one context `c` of these cluster and user fields (flow style).
pub(super) fn one(cluster: &str, user: &str) -> String {
    format!(
        "apiVersion: v1\nkind: Config\ncurrent-context: c\ncontexts: [{{name: c, context: {{cluster: k, user: u}}}}]\n\
         clusters: [{{name: k, cluster: {{{cluster}}}}}]\nusers: [{{name: u, user: {{{user}}}}}]\n"
    )
}

/// The context `c` of such a file.
pub(super) fn resolved(dir: &TempDir, cluster: &str, user: &str) -> Result<ResolvedContext, Problem> {
    Door::load(&with_file(dir, one(cluster, user)))?.context(None)
}
