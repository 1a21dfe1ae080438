//! Running a login plugin once: its environment, its time limit, its answer. Owns the `ExecCredential` exchange;
//! must not decide when to run, and never lets a quiet run near the terminal.
//!
//! A quiet run has no standard input, its own process group and a captured standard error. A program that opens `/dev/tty` by itself
//! can still write there; nothing short of a session of its own would stop that.

use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use serde_json::json;
use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::process::{Child, Command};

use super::entries::Exec;
use super::node::{Fields, Node};
use super::secret::{self, Secret};
use crate::model::{Time, text};

/// Most that is read from a plugin, in bytes.
const MAX_OUTPUT: u64 = 1 << 20;
/// How long the pipes may stay open after the plugin has ended: a browser it started may hold them for hours.
const GRACE: Duration = Duration::from_millis(500);

/// What a plugin gave.
#[derive(Clone, Debug)]
pub(super) struct Credential {
    pub(super) token: Option<Secret>,
    /// Certificate and key, both PEM.
    pub(super) cert: Option<(Secret, Secret)>,
    pub(super) expires: Option<Time>,
}

/// How a run went wrong. Texts are sanitised and hold nothing of the standard output.
#[derive(Clone, Debug)]
pub(super) enum Fault {
    /// The command could not be started.
    NotStarted(String),
    /// It ran longer than it may, in seconds.
    TimedOut(u64),
    /// It ended with an error: how it ended, and the end of what it said.
    Failed(String, String),
    /// It ended well and gave something else than a credential.
    BadOutput(String),
}

/// Runs the plugin. `cluster` is the cluster info that it asked for, if it did.
pub(super) async fn run(exec: &Exec, cluster: Option<serde_json::Value>, interactive: bool, limit: Duration) -> Result<Credential, Fault> {
    let mut command = command(exec, cluster, interactive);
    let child = command.spawn().map_err(|e| Fault::NotStarted(text::line(&format!("{}: {e}", exec.command))))?;
    let mut running = Running { child, own_group: !interactive };
    let Ok((status, out, said)) = tokio::time::timeout(limit, finish(&mut running.child)).await else {
        return Err(Fault::TimedOut(limit.as_secs()));
    };
    let status = status.map_err(|e| Fault::Failed(text::line(&e.to_string()), String::new()))?;
    if !status.success() {
        return Err(Fault::Failed(ended(status), tail(&said)));
    }
    answer(&out, &exec.api_version).map_err(Fault::BadOutput)
}

fn command(exec: &Exec, cluster: Option<serde_json::Value>, interactive: bool) -> Command {
    let mut spec = json!({ "interactive": interactive });
    if let (Some(cluster), Some(spec)) = (cluster, spec.as_object_mut()) {
        spec.insert("cluster".into(), cluster);
    }
    let info = json!({ "apiVersion": exec.api_version, "kind": "ExecCredential", "spec": spec });
    // A bare name is looked for in PATH; a relative path starts at the kubeconfig's folder, as for kubectl.
    let mut command = if exec.command.contains('/') { Command::new(exec.folder.join(&exec.command)) } else { Command::new(&exec.command) };
    command.args(&exec.args).envs(exec.env.iter().map(|(k, v)| (k, v.expose()))).env("KUBERNETES_EXEC_INFO", info.to_string());
    command.stdout(Stdio::piped()).kill_on_drop(true);
    if interactive {
        command.stdin(Stdio::inherit()).stderr(Stdio::inherit());
    } else {
        command.stdin(Stdio::null()).stderr(Stdio::piped()).process_group(0);
    }
    command
}

/// A started plugin. Dropped before its end (time limit, cancelled connect), it is killed with all that it started.
struct Running {
    child: Child,
    own_group: bool,
}

impl Drop for Running {
    fn drop(&mut self) {
        // `id` is there only while the child has not been waited for, so no other process can have the number yet.
        let pid = self.child.id().and_then(|id| i32::try_from(id).ok()).and_then(rustix::process::Pid::from_raw);
        if let Some(pid) = pid.filter(|_| self.own_group) {
            let _ = rustix::process::kill_process_group(pid, rustix::process::Signal::KILL);
        }
    }
}

async fn finish(child: &mut Child) -> (std::io::Result<ExitStatus>, Vec<u8>, Vec<u8>) {
    let (mut out, mut said) = (Vec::new(), Vec::new());
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    let status = {
        let reading = async { tokio::join!(drain(stdout, &mut out), drain(stderr, &mut said)) };
        tokio::pin!(reading);
        let mut done = false;
        let status = loop {
            tokio::select! {
                status = child.wait() => break status,
                _ = &mut reading, if !done => done = true,
            }
        };
        if !done {
            let _ = tokio::time::timeout(GRACE, reading).await;
        }
        status
    };
    (status, out, said)
}

/// Keeps the first [`MAX_OUTPUT`] bytes and throws the rest away, so that a talkative plugin doesn't block on a full pipe.
async fn drain(pipe: Option<impl AsyncRead + Unpin>, into: &mut Vec<u8>) {
    let Some(mut pipe) = pipe else { return };
    if (&mut pipe).take(MAX_OUTPUT).read_to_end(into).await.is_ok() {
        let _ = tokio::io::copy(&mut pipe, &mut tokio::io::sink()).await;
    }
}

fn ended(status: ExitStatus) -> String {
    status.code().map_or_else(|| "was killed by a signal".into(), |c| format!("ended with code {c}"))
}

/// The last 600 characters of what the plugin said: the reason stands at the end.
fn tail(said: &[u8]) -> String {
    let clean = secret::hide_tokens(&text::line(String::from_utf8_lossy(said).trim()));
    let skip = clean.chars().count().saturating_sub(600);
    if skip == 0 { clean } else { std::iter::once('…').chain(clean.chars().skip(skip)).collect() }
}

/// Reads an `ExecCredential`, JSON or YAML. Rules: client-go `plugin/pkg/client/auth/exec/exec.go`, `refreshCredsLocked`.
fn answer(out: &[u8], version: &str) -> Result<Credential, String> {
    let text = String::from_utf8_lossy(out);
    let node: Node = match serde_json::from_str(&text) {
        Ok(n) => n,
        Err(_) => serde_yaml::from_str(&text).map_err(|_| "its output is neither JSON nor YAML".to_string())?,
    };
    let flat = |f: super::node::Flaw| format!("its output: {}: found {}; allowed: {}", f.path, f.found, f.allowed);
    if matches!(node, Node::Null) {
        return Err("it printed nothing".into());
    }
    let root = Fields::of(Some(&node), "").map_err(|_| "its output is no ExecCredential".to_string())?;
    let (kind, api) = (root.text("kind").map_err(flat)?, root.text("apiVersion").map_err(flat)?);
    if kind.as_deref() != Some("ExecCredential") {
        return Err("its output is no ExecCredential".into());
    }
    if api.as_deref() != Some(version) {
        return Err(text::line(&format!("its output has apiVersion {:?}; the kubeconfig asks for {version:?}", api.unwrap_or_default())));
    }
    if !root.has("status") {
        return Err("its output has no status".into());
    }
    let status = root.fields("status").map_err(flat)?;
    let raw = status.text("token").map_err(flat)?;
    let token = match &raw {
        Some(t) => Some(secret::token(t).ok_or("its token holds characters that no token may hold")?),
        None => None,
    };
    let cert = match (status.text("clientCertificateData").map_err(flat)?, status.text("clientKeyData").map_err(flat)?) {
        (Some(c), Some(k)) => Some((Secret::new(c), Secret::new(k))),
        (None, None) => None,
        _ => return Err("it gave a certificate without key, or a key without certificate".into()),
    };
    if token.is_none() && cert.is_none() {
        return Err("it gave neither a token nor a certificate".into());
    }
    let expires = match status.text("expirationTimestamp").map_err(flat)? {
        Some(t) => Some(t.parse::<Time>().map_err(|_| text::line(&format!("its expirationTimestamp {t:?} is no RFC 3339 time")))?),
        None => None,
    };
    Ok(Credential { token, cert, expires })
}
