//! The machine contract, held against the real binary: exit codes, documents, streams. Nothing here may read the wall clock or the network.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, clippy::new_without_default)]

#[path = "../support/schema.rs"]
mod schema;

mod audit;
mod documents;
mod dumps;
mod live;
mod output;
mod usage;

use std::{
    io::Write as _,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use serde_json::Value;

/// What a run left behind.
#[derive(Debug, PartialEq, Eq)]
pub struct Ran {
    pub code: i32,
    pub out: String,
    pub err: String,
}

impl Ran {
    /// Standard output as one JSON document.
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|e| panic!("{e}: {self:#?}"))
    }

    /// Fails unless the run ended with this code.
    #[track_caller]
    pub fn ends(self, code: i32) -> Ran {
        assert_eq!(self.code, code, "{self:#?}");
        self
    }
}

/// A home of its own, without a kubeconfig.
pub struct Home(tempfile::TempDir);

impl Home {
    pub fn new() -> Home {
        Home(tempfile::tempdir().unwrap())
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Writes a file and gives its path as text.
    pub fn file(&self, name: &str, content: impl AsRef<[u8]>) -> String {
        std::fs::write(self.path(name), content).unwrap();
        self.path(name).display().to_string()
    }

    pub fn command(&self, args: &[&str]) -> Command {
        let mut c = Command::new(env!("CARGO_BIN_EXE_planedeck"));
        c.env_clear().env("HOME", self.0.path()).current_dir(self.0.path()).args(args);
        c
    }

    pub fn run(&self, args: &[&str]) -> Ran {
        self.run_with(args, &[], b"")
    }

    pub fn run_with(&self, args: &[&str], env: &[(&str, &str)], stdin: &[u8]) -> Ran {
        finish(self.command(args).envs(env.iter().copied()), stdin)
    }
}

pub fn finish(command: &mut Command, stdin: &[u8]) -> Ran {
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // A program that doesn't read its input closes it: that is its right.
    let _ = child.stdin.take().unwrap().write_all(stdin);
    let ended = child.wait_with_output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("the console prints UTF-8");
    Ran { code: ended.status.code().unwrap_or(-1), out: text(ended.stdout), err: text(ended.stderr) }
}

/// A run in a fresh home.
pub fn run(args: &[&str]) -> Ran {
    Home::new().run(args)
}

/// A recording of a real installation, by the number its name starts with.
pub fn recorded(number: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/recorded");
    let found = std::fs::read_dir(&folder).unwrap().map(|e| e.unwrap().path());
    let mut fitting: Vec<PathBuf> = found.filter(|p| p.file_name().unwrap().to_string_lossy().starts_with(number)).collect();
    assert_eq!(fitting.len(), 1, "{number}");
    fitting.remove(0).display().to_string()
}

/// Fails unless a document keeps to `assets/schema/NAME.json`.
#[track_caller]
pub fn keeps_to(name: &str, document: &Value) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("assets/schema/{name}.json"));
    let schema: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let errors = schema::errors(&schema, document);
    assert!(errors.is_empty(), "{name}:\n{}\n{document:#}", errors.join("\n"));
}

/// A small plane as the API serves it.
pub fn plane(namespace: &str) -> String {
    format!(
        "apiVersion: apps.cozystack.io/v1alpha1\nkind: ComputePlane\nmetadata: {{name: computeplane, namespace: {namespace}, creationTimestamp: '2026-11-01T00:00:00Z'}}\n\
         status: {{conditions: [{{type: Ready, status: 'True', reason: ok, message: ok, lastTransitionTime: '2026-11-01T00:10:00Z'}}]}}\n---\n"
    )
}

/// A refusal as the API server words it.
pub fn refusal(group: &str, plural: &str, namespace: &str) -> String {
    let place = if namespace.is_empty() { "at the cluster scope".to_string() } else { format!("in the namespace \"{namespace}\"") };
    format!(
        "apiVersion: v1\nkind: Status\nstatus: Failure\nreason: Forbidden\ncode: 403\ndetails: {{group: {group:?}, kind: {plural}}}\n\
         message: '{plural} is forbidden: User \"u\" cannot list resource {plural} {place}'\n---\n"
    )
}
