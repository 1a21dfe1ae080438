//! The audit log file: append-only JSON lines, each carrying the SHA-256 of the line before it. Owns writing and rotation, also by several
//! consoles at once; must not decide what is logged.

mod chain;
#[cfg(test)]
mod tests;

use std::{
    fs::{File, OpenOptions},
    io::{BufReader, ErrorKind, Seek as _, SeekFrom, Write as _},
    path::{Path, PathBuf},
};

use serde_json::{Map, Value};

pub use self::chain::{Tamper, Verified, verify, verify_file, verify_log};
use crate::model::audit::AuditRecord;

/// A file above this many bytes is rotated; the chain goes on in the next.
pub const ROTATE_AT: u64 = 64 << 20;
/// The field of a first line that names the file whose chain it continues.
const CONTINUES: &str = "continues";

/// An open audit log.
#[derive(Debug)]
pub struct AuditFile {
    path: PathBuf,
    file: File,
    head: String,
    bytes: u64,
    rotate_at: u64,
}

impl AuditFile {
    /// Opens or creates the log (0600), and goes on with its chain. A symbolic link is refused: who can plant one could redirect the log.
    ///
    /// # Errors
    /// The file system's; `InvalidData` when the existing chain is broken.
    pub fn open(path: &Path) -> std::io::Result<AuditFile> {
        Self::open_with(path, ROTATE_AT)
    }

    fn open_with(path: &Path, rotate_at: u64) -> std::io::Result<AuditFile> {
        let mut log = AuditFile { file: open_plain(path)?, path: path.to_path_buf(), head: chain::START.to_string(), bytes: 0, rotate_at };
        log.lock()?;
        let caught_up = log.catch_up();
        log.unlock();
        caught_up.map(|()| log)
    }

    /// Appends one record, chained to the line before, whoever wrote that.
    ///
    /// # Errors
    /// The file system's (a full disk above all): nothing is lost from the chain, the record was not logged.
    pub fn append(&mut self, record: &AuditRecord) -> std::io::Result<()> {
        let value = serde_json::to_value(record).map_err(std::io::Error::other)?;
        self.lock()?;
        let written = self.append_locked(value);
        self.unlock();
        written
    }

    /// SHA-256 of the last line.
    pub fn head(&self) -> &str {
        &self.head
    }

    fn append_locked(&mut self, value: Value) -> std::io::Result<()> {
        self.catch_up()?;
        if self.bytes >= self.rotate_at {
            self.rotate()?;
        }
        self.write(value)
    }

    /// Takes the file for this console alone, the one that stands under the name now: another console may have rotated it meanwhile.
    fn lock(&mut self) -> std::io::Result<()> {
        loop {
            tolerate(self.file.lock())?;
            if same_file(&self.file, &self.path) {
                return Ok(());
            }
            let rotated = self.path.exists();
            self.unlock();
            self.file = open_plain(&self.path)?;
            self.bytes = 0;
            if rotated {
                self.head = chain::START.to_string();
            }
            // A log that was removed under us is written anew with the old head: its first line shows that the beginning is missing.
        }
    }

    fn unlock(&self) {
        // Closing the file gives the lock back too; there is nobody to tell before that.
        let _ = self.file.unlock();
    }

    /// Follows what others appended since this console wrote: the next line is chained to theirs.
    fn catch_up(&mut self) -> std::io::Result<()> {
        let length = self.file.metadata()?.len();
        if length <= self.bytes {
            // A shortened file keeps the old head: the next line then shows that lines before it are gone.
            self.bytes = length;
            return Ok(());
        }
        self.file.seek(SeekFrom::Start(self.bytes))?;
        let before = (self.bytes > 0).then_some(self.head.as_str());
        let state = chain::verify_after(&mut BufReader::new(&self.file), before)
            .map_err(|t| std::io::Error::new(ErrorKind::InvalidData, t.to_string()))?;
        self.head = state.head;
        self.bytes = length;
        if state.torn {
            // The torn text stays as it is; ending its line makes it a link of the chain like any other.
            self.file.write_all(b"\n")?;
            self.bytes += 1;
        }
        Ok(())
    }

    fn write(&mut self, value: Value) -> std::io::Result<()> {
        let mut map = match value {
            Value::Object(m) => m,
            other => Map::from_iter([("note".to_string(), other)]),
        };
        map.insert("prev".into(), Value::String(self.head.clone()));
        let mut line = serde_json::to_vec(&Value::Object(map)).map_err(std::io::Error::other)?;
        let hash = chain::digest(&line);
        line.push(b'\n');
        // One write: readers and crashes see whole lines, save for a full disk.
        if let Err(e) = self.file.write_all(&line) {
            let _ = self.file.set_len(self.bytes);
            return Err(e);
        }
        self.bytes += line.len() as u64;
        self.head = hash;
        Ok(())
    }

    /// Moves the full file aside under a number and goes on in a new one whose first line carries the old head.
    fn rotate(&mut self) -> std::io::Result<()> {
        let aside = (1..u32::MAX).map(|n| numbered(&self.path, n)).find(|p| !p.exists()).unwrap_or_else(|| numbered(&self.path, u32::MAX));
        self.file.sync_all()?;
        std::fs::rename(&self.path, &aside)?;
        // The old file's lock goes with it: who waits for it finds the new one by name, and waits for us there.
        let next = private().read(true).append(true).create_new(true).open(&self.path)?;
        tolerate(next.lock())?;
        self.file = next;
        self.bytes = 0;
        let name = aside.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
        self.write(serde_json::json!({ CONTINUES: name }))
    }
}

fn open_plain(path: &Path) -> std::io::Result<File> {
    if std::fs::symlink_metadata(path).is_ok_and(|m| !m.is_file()) {
        return Err(std::io::Error::new(ErrorKind::InvalidInput, "is no plain file"));
    }
    private().read(true).append(true).create(true).open(path)
}

fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// A file system without locks still keeps a log; only several consoles on one file are unsafe there.
fn tolerate(locked: std::io::Result<()>) -> std::io::Result<()> {
    match locked {
        Err(e) if e.kind() == ErrorKind::Unsupported => Ok(()),
        other => other,
    }
}

#[cfg(unix)]
fn same_file(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let id = |m: std::fs::Metadata| (m.dev(), m.ino());
    let (Ok(open), Ok(named)) = (file.metadata(), std::fs::symlink_metadata(path)) else { return false };
    id(open) == id(named)
}

/// Elsewhere an open file can't be renamed, so the name can't mean another one.
#[cfg(not(unix))]
fn same_file(_: &File, path: &Path) -> bool {
    path.exists()
}

fn numbered(path: &Path, n: u32) -> PathBuf {
    let mut name = path.as_os_str().to_os_string();
    name.push(format!(".{n}"));
    PathBuf::from(name)
}
