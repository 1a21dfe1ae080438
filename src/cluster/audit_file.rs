//! The audit log file: append-only JSON lines, each carrying the SHA-256 of the line before it. Owns writing, rotation and verification;
//! must not decide what is logged.

use std::{
    fs::{File, OpenOptions},
    io::{BufRead as _, BufReader, Read as _, Seek as _, SeekFrom, Write as _},
    path::{Path, PathBuf},
};

use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};

use crate::model::audit::AuditRecord;

/// `prev` of the first line of a chain.
const START: &str = "0000000000000000000000000000000000000000000000000000000000000000";
/// A file above this many bytes is rotated; the chain goes on in the next.
pub const ROTATE_AT: u64 = 64 << 20;
/// A line longer than this was not written by us.
const MAX_LINE: u64 = 1 << 20;

/// An open audit log.
#[derive(Debug)]
pub struct AuditFile {
    path: PathBuf,
    file: File,
    head: String,
    bytes: u64,
    rotate_at: u64,
}

/// What a verified chain says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verified {
    /// Lines in the chain.
    pub lines: u64,
    /// SHA-256 of the last line: keep it elsewhere, since a chain alone can be rewritten whole.
    pub head: String,
    /// `prev` of the first line: the head of the file before, or zeros.
    pub start: String,
    /// A last line without its end: a crash in mid-write, not a forgery.
    pub torn: bool,
}

/// Where a chain is broken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tamper {
    /// Line, from 1.
    pub line: u64,
    /// What is wrong there.
    pub what: String,
}

impl std::fmt::Display for Tamper {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "line {}: {}", self.line, self.what)
    }
}

/// SHA-256 of a line without its line break, in hex.
fn digest(line: &[u8]) -> String {
    Sha256::digest(line).iter().fold(String::with_capacity(64), |mut s, b| {
        s.push_str(&format!("{b:02x}"));
        s
    })
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
        if std::fs::symlink_metadata(path).is_ok_and(|m| !m.is_file()) {
            return Err(std::io::Error::new(std::io::ErrorKind::InvalidInput, "is no plain file"));
        }
        let mut file = private().read(true).append(true).create(true).open(path)?;
        let state =
            verify(&mut BufReader::new(&mut file)).map_err(|t| std::io::Error::new(std::io::ErrorKind::InvalidData, t.to_string()))?;
        let mut bytes = file.seek(SeekFrom::End(0))?;
        let mut head = state.head;
        if state.torn {
            // The torn text stays as it is; ending its line makes it a link of the chain like any other.
            file.write_all(b"\n")?;
            bytes += 1;
            head = last_line_digest(path)?;
        }
        Ok(AuditFile { path: path.to_path_buf(), file, head, bytes, rotate_at })
    }

    /// Appends one record, chained to the one before.
    ///
    /// # Errors
    /// The file system's (a full disk above all): nothing is lost from the chain, the record was not logged.
    pub fn append(&mut self, record: &AuditRecord) -> std::io::Result<()> {
        if self.bytes >= self.rotate_at {
            self.rotate()?;
        }
        let value = serde_json::to_value(record).map_err(std::io::Error::other)?;
        self.write(value)
    }

    /// SHA-256 of the last line.
    pub fn head(&self) -> &str {
        &self.head
    }

    fn write(&mut self, value: Value) -> std::io::Result<()> {
        let mut map = match value {
            Value::Object(m) => m,
            other => Map::from_iter([("note".to_string(), other)]),
        };
        map.insert("prev".into(), Value::String(self.head.clone()));
        let mut line = serde_json::to_vec(&Value::Object(map)).map_err(std::io::Error::other)?;
        let hash = digest(&line);
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
        self.file = private().read(true).append(true).create_new(true).open(&self.path)?;
        self.bytes = 0;
        let name = aside.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
        self.write(serde_json::json!({ "continues": name }))
    }
}

fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

fn numbered(path: &Path, n: u32) -> PathBuf {
    let mut name = path.as_os_str().to_os_string();
    name.push(format!(".{n}"));
    PathBuf::from(name)
}

fn last_line_digest(path: &Path) -> std::io::Result<String> {
    let text = std::fs::read(path)?;
    let body = text.strip_suffix(b"\n").unwrap_or(&text);
    Ok(digest(body.rsplit(|b| *b == b'\n').next().unwrap_or_default()))
}

/// Verifies the chain of one file.
///
/// # Errors
/// The first place where a line doesn't carry the hash of the line before it, or isn't a line of ours.
pub fn verify(reader: &mut impl std::io::BufRead) -> Result<Verified, Tamper> {
    let mut out = Verified { lines: 0, head: START.to_string(), start: START.to_string(), torn: false };
    let mut after_torn = false;
    loop {
        let mut line = Vec::new();
        let at = out.lines + 1;
        let n = reader.by_ref().take(MAX_LINE).read_until(b'\n', &mut line).map_err(|e| Tamper { line: at, what: e.to_string() })?;
        if n == 0 {
            return Ok(out);
        }
        let ended = line.pop_if(|b| *b == b'\n').is_some();
        match serde_json::from_slice::<Value>(&line) {
            Ok(v) => {
                let prev = v.get("prev").and_then(Value::as_str).unwrap_or_default();
                if out.lines == 0 {
                    out.start = prev.to_string();
                } else if prev != out.head {
                    return Err(Tamper { line: at, what: format!("carries {prev:.12}…, the line before hashes to {:.12}…", out.head) });
                }
                after_torn = false;
            }
            Err(_) if !ended => out.torn = true,
            // A torn line that was ended later is a link too: the next line carries its hash. Two in a row can't come about.
            Err(_) if !after_torn => after_torn = true,
            Err(e) => return Err(Tamper { line: at, what: format!("not JSON: {e}") }),
        }
        out.lines += 1;
        out.head = digest(&line);
        if !ended {
            return Ok(out);
        }
    }
}

/// Verifies the chain of a file.
///
/// # Errors
/// As [`verify`]; an unreadable file is a tamper at line 0.
pub fn verify_file(path: &Path) -> Result<Verified, Tamper> {
    let file = File::open(path).map_err(|e| Tamper { line: 0, what: format!("{}: {e}", path.display()) })?;
    verify(&mut BufReader::new(file))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::audit::Decision;

    fn record(n: u64) -> AuditRecord {
        AuditRecord {
            time: "2026-01-01T00:00:00Z".parse().unwrap(),
            verb: "list".into(),
            group: String::new(),
            version: "v1".into(),
            resource: "pods".into(),
            subresource: String::new(),
            namespace: "t".into(),
            name: String::new(),
            decision: Decision::Sent,
            status: Some(200),
            bytes: n,
            millis: 1,
            purpose: "test".into(),
        }
    }

    fn filled(dir: &Path, lines: u64) -> PathBuf {
        let path = dir.join("audit.jsonl");
        let mut f = AuditFile::open(&path).unwrap();
        (0..lines).for_each(|n| f.append(&record(n)).unwrap());
        path
    }

    #[test]
    fn the_chain_holds_and_goes_on_after_a_restart() {
        let dir = tempfile::tempdir().unwrap();
        let path = filled(dir.path(), 3);
        let first = verify_file(&path).unwrap();
        filled(dir.path(), 2);
        let v = verify_file(&path).unwrap();
        assert_eq!((v.lines, v.start.as_str()), (5, START));
        assert_ne!(v.head, first.head);
        use std::os::unix::fs::PermissionsExt as _;
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn every_kind_of_tampering_is_found() {
        let dir = tempfile::tempdir().unwrap();
        let path = filled(dir.path(), 5);
        let text = std::fs::read_to_string(&path).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        let broken = |lines: Vec<String>| verify(&mut std::io::Cursor::new(lines.join("\n") + "\n")).unwrap_err().line;
        let own = |l: &[&str]| l.iter().map(|s| s.to_string()).collect::<Vec<_>>();
        let mut changed = own(&lines);
        changed[1] = changed[1].replace("\"bytes\":1", "\"bytes\":9");
        assert_eq!(broken(changed), 3);
        let mut removed = own(&lines);
        removed.remove(2);
        assert_eq!(broken(removed), 3);
        let mut swapped = own(&lines);
        swapped.swap(1, 2);
        assert_eq!(broken(swapped), 2);
        let mut inserted = own(&lines);
        inserted.insert(3, lines[0].to_string());
        assert_eq!(broken(inserted), 4);
        let mut bare = own(&lines);
        bare[4] = "{}".into();
        assert_eq!(broken(bare), 5);
    }

    #[test]
    fn a_torn_last_line_is_told_and_becomes_a_link() {
        let dir = tempfile::tempdir().unwrap();
        let path = filled(dir.path(), 2);
        let mut f = OpenOptions::new().append(true).open(&path).unwrap();
        f.write_all(b"{\"time\":\"2026").unwrap();
        assert!(verify_file(&path).unwrap().torn);
        filled(dir.path(), 1);
        let v = verify_file(&path).unwrap();
        assert_eq!((v.lines, v.torn), (4, false));
    }

    #[test]
    fn rotation_keeps_the_chain() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.jsonl");
        let mut f = AuditFile::open_with(&path, 600).unwrap();
        (0..6).for_each(|n| f.append(&record(n)).unwrap());
        let old = verify_file(&numbered(&path, 1)).unwrap();
        let new = verify_file(&path).unwrap();
        assert!(old.lines >= 2 && new.lines >= 2);
        let second = if numbered(&path, 2).exists() { verify_file(&numbered(&path, 2)).unwrap() } else { new };
        assert_eq!(second.start, old.head, "the next file starts from the head of the one before");
    }

    #[test]
    fn links_and_broken_chains_are_refused() {
        let dir = tempfile::tempdir().unwrap();
        let path = filled(dir.path(), 3);
        let link = dir.path().join("link");
        std::os::unix::fs::symlink(&path, &link).unwrap();
        assert!(AuditFile::open(&link).is_err());
        let text = std::fs::read_to_string(&path).unwrap().replace("\"bytes\":1", "\"bytes\":7");
        std::fs::write(&path, text).unwrap();
        assert_eq!(AuditFile::open(&path).unwrap_err().kind(), std::io::ErrorKind::InvalidData);
    }
}
