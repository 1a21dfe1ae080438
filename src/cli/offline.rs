//! `--from`: opens files, folders and standard input and hands their bytes to the dump reader. Owns opening; must not parse.

use std::{
    io::Read as _,
    path::{Path, PathBuf},
};

use crate::model::{
    Problem, ProblemKind,
    dump::{Dump, MAX_BYTES},
};

/// Endings that a folder is searched for.
const ENDINGS: &[&str] = &["yaml", "yml", "json", "jsonl", "ndjson", "gz"];

/// Reads a dump from a file, a folder (all files with a known ending, in order of name) or `-`.
///
/// # Errors
/// `BadInput`: the path can't be opened, or nothing in it can be read.
pub fn open(path: &Path, complete: bool) -> Result<Dump, Problem> {
    let mut dump = Dump::default();
    if path == Path::new("-") {
        dump.add("standard input", &stdin()?)?;
        return Ok(dump.finish(complete));
    }
    let meta = std::fs::metadata(path).map_err(|e| bad(path, &e))?;
    if !meta.is_dir() {
        dump.add(&path.display().to_string(), &read(path)?)?;
        return Ok(dump.finish(complete));
    }
    let mut files = Vec::new();
    walk(path, &mut files, 0)?;
    if files.is_empty() {
        let hint = format!("a folder is searched for files that end in {}", ENDINGS.join(", "));
        return Err(Problem::new(ProblemKind::BadInput, format!("{}: no dump in this folder", path.display())).hint(hint));
    }
    let all = files.len();
    let mut broken = Vec::new();
    for file in files {
        if let Err(problem) = read(&file).and_then(|bytes| dump.add(&file.display().to_string(), &bytes)) {
            broken.push(problem);
        }
    }
    // One broken file must not hide the others, unless the user vouches for the whole: then what it held would count as absent.
    if complete || broken.len() == all {
        if let Some(first) = broken.into_iter().next() {
            return Err(first);
        }
    } else {
        dump.notes.extend(broken.into_iter().map(|p| p.summary));
    }
    Ok(dump.finish(complete))
}

/// All of standard input, within the limit of a dump.
///
/// # Errors
/// `BadInput` when it can't be read or is too large.
pub fn stdin() -> Result<Vec<u8>, Problem> {
    let mut bytes = Vec::new();
    std::io::stdin().lock().take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(|e| bad(Path::new("standard input"), &e))?;
    Ok(bytes)
}

/// A file's bytes, or standard input's for `-`.
///
/// # Errors
/// `BadInput` when it can't be read.
pub fn read(path: &Path) -> Result<Vec<u8>, Problem> {
    if path == Path::new("-") { stdin() } else { std::fs::read(path).map_err(|e| bad(path, &e)) }
}

fn bad(path: &Path, e: &std::io::Error) -> Problem {
    Problem::new(ProblemKind::BadInput, format!("{}: {e}", path.display()))
}

fn walk(dir: &Path, out: &mut Vec<PathBuf>, depth: usize) -> Result<(), Problem> {
    // Links may form a circle; no dump is nested deeper than this.
    if depth > 16 {
        return Ok(());
    }
    let mut entries: Vec<PathBuf> = std::fs::read_dir(dir).map_err(|e| bad(dir, &e))?.filter_map(|e| e.ok().map(|e| e.path())).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            walk(&path, out, depth + 1)?;
        } else if path.extension().and_then(|e| e.to_str()).is_some_and(|e| ENDINGS.contains(&e)) {
            out.push(path);
        }
    }
    Ok(())
}
