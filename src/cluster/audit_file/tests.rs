//! Tests of the chain: going on, tampering, tearing, rotation, several writers.

use std::{
    fs::OpenOptions,
    io::Write as _,
    path::{Path, PathBuf},
};

use super::{chain::START, *};
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

#[test]
fn several_consoles_write_one_chain() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.jsonl");
    let mut writers: Vec<AuditFile> = (0..3).map(|_| AuditFile::open_with(&path, 1500).unwrap()).collect();
    for n in 0..30_u64 {
        writers[(n * n % 3) as usize].append(&record(n)).unwrap();
    }
    std::thread::scope(|s| {
        for mut w in writers {
            s.spawn(move || (0..40).for_each(|n| w.append(&record(n)).unwrap()));
        }
    });
    let whole = verify_log(&path).unwrap();
    let files = std::fs::read_dir(dir.path()).unwrap().count() as u64;
    assert!(files > 3, "{files} files");
    assert_eq!(whole.lines, 30 + 120 + (files - 1), "all records, and one line where a file continues another");
    assert_eq!((whole.start.as_str(), whole.continues), (START, None));
}

#[test]
fn a_lost_beginning_and_an_exchanged_file_are_found() {
    let dir = tempfile::tempdir().unwrap();
    let path = filled(dir.path(), 4);
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, text.split_once('\n').unwrap().1).unwrap();
    assert_eq!(verify_file(&path).unwrap_err().line, 1, "the first line was taken away");

    let path = dir.path().join("b.jsonl");
    let mut f = AuditFile::open_with(&path, 600).unwrap();
    (0..6).for_each(|n| f.append(&record(n)).unwrap());
    verify_log(&path).unwrap();
    let older = numbered(&path, 1);
    let text = std::fs::read_to_string(&older).unwrap();
    std::fs::write(&older, text.trim_end().rsplit_once('\n').unwrap().0.to_string() + "\n").unwrap();
    assert!(verify_log(&path).is_err(), "the older file lost its last line");
    std::fs::remove_file(&older).unwrap();
    assert!(verify_log(&path).unwrap().continues.is_some(), "an older file that was stored elsewhere is named, not a forgery");
}

#[test]
fn a_log_removed_or_cut_under_a_running_console_shows_it() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.jsonl");
    let mut f = AuditFile::open(&path).unwrap();
    f.append(&record(1)).unwrap();
    std::fs::remove_file(&path).unwrap();
    f.append(&record(2)).unwrap();
    assert_eq!(verify_file(&path).unwrap_err().line, 1);

    let path = dir.path().join("c.jsonl");
    let mut f = AuditFile::open(&path).unwrap();
    (0..3).for_each(|n| f.append(&record(n)).unwrap());
    let text = std::fs::read_to_string(&path).unwrap();
    let cut = text.split_once('\n').unwrap().0.len() as u64 + 1;
    OpenOptions::new().write(true).open(&path).unwrap().set_len(cut).unwrap();
    f.append(&record(4)).unwrap();
    assert_eq!(verify_file(&path).unwrap_err().line, 2);
}
