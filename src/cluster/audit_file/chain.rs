//! Reading the audit log's chain: what holds, where it is broken. Must not write.

use std::{
    fs::File,
    io::{BufRead, BufReader, Read as _},
    path::{Path, PathBuf},
};

use serde_json::Value;
use sha2::{Digest as _, Sha256};

use super::CONTINUES;

/// `prev` of the first line of a chain.
pub(super) const START: &str = "0000000000000000000000000000000000000000000000000000000000000000";
/// A line longer than this was not written by us.
const MAX_LINE: u64 = 1 << 20;

/// What a verified chain says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verified {
    /// Lines in the chain.
    pub lines: u64,
    /// SHA-256 of the last line: keep it elsewhere, since a chain alone can be rewritten whole.
    pub head: String,
    /// `prev` of the first line: the head of the file before, or zeros.
    pub start: String,
    /// The file whose chain the first line continues.
    pub continues: Option<String>,
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
pub(super) fn digest(line: &[u8]) -> String {
    Sha256::digest(line).iter().fold(String::with_capacity(64), |mut s, b| {
        s.push_str(&format!("{b:02x}"));
        s
    })
}

/// Verifies the chain of one file, from its beginning.
///
/// # Errors
/// The first place where a line doesn't carry the hash of the line before it, isn't a line of ours, or is first without being a beginning.
pub fn verify(reader: &mut impl BufRead) -> Result<Verified, Tamper> {
    verify_after(reader, None)
}

/// The same for lines that follow one with the hash `before`.
pub(super) fn verify_after(reader: &mut impl BufRead, before: Option<&str>) -> Result<Verified, Tamper> {
    let head = before.unwrap_or(START).to_string();
    let mut out = Verified { lines: 0, start: head.clone(), head, continues: None, torn: false };
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
                follows(&v, at, before.is_none(), &mut out)?;
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

/// Checks that a line follows the one before it. The first of a file either starts a chain or names the file that it continues.
fn follows(line: &Value, at: u64, whole: bool, out: &mut Verified) -> Result<(), Tamper> {
    let text = |key: &str| line.get(key).and_then(Value::as_str);
    let prev = text("prev").unwrap_or_default();
    if at == 1 && whole {
        out.start = prev.to_string();
        out.continues = text(CONTINUES).map(str::to_string);
        if prev != START && out.continues.is_none() {
            return Err(Tamper { line: at, what: format!("carries {prev:.12}…, but the lines before it are gone") });
        }
        return Ok(());
    }
    if prev != out.head {
        return Err(Tamper { line: at, what: format!("carries {prev:.12}…, the line before hashes to {:.12}…", out.head) });
    }
    Ok(())
}

/// Verifies the chain of one file as long as it is now; a console may go on writing meanwhile.
///
/// # Errors
/// As [`verify`]; an unreadable file is a tamper at line 0.
pub fn verify_file(path: &Path) -> Result<Verified, Tamper> {
    let unreadable = |e: std::io::Error| Tamper { line: 0, what: format!("{}: {e}", path.display()) };
    let file = File::open(path).map_err(unreadable)?;
    // A line that is being written is waited for: it would look torn.
    let locked = file.lock_shared().is_ok();
    let length = file.metadata().map_err(unreadable)?.len();
    if locked {
        let _ = file.unlock();
    }
    verify(&mut BufReader::new(file.take(length)))
}

/// Verifies a log with the files that were rotated away before it, as far back as they are there. Lines count over all of them.
///
/// # Errors
/// As [`verify_file`], naming the file where it isn't the newest; also where a file doesn't begin with the head of the file before it.
pub fn verify_log(path: &Path) -> Result<Verified, Tamper> {
    let mut whole = verify_file(path)?;
    let mut seen: Vec<PathBuf> = vec![path.to_path_buf()];
    while let Some(name) = whole.continues.clone() {
        // A name with a folder in it was not written by us.
        let older = path.with_file_name(Path::new(&name).file_name().unwrap_or_default());
        if !older.exists() || seen.contains(&older) {
            break;
        }
        let before = verify_file(&older).map_err(|t| Tamper { what: format!("{}: {}", older.display(), t.what), ..t })?;
        if before.head != whole.start {
            let what = format!("continues {name} at {:.12}…, which ends in {:.12}…", whole.start, before.head);
            return Err(Tamper { line: 1, what });
        }
        whole = Verified { lines: whole.lines + before.lines, start: before.start, continues: before.continues, ..whole };
        seen.push(older);
    }
    Ok(whole)
}
