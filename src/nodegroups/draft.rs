//! Drafts: an edit that isn't written yet, as bytes. Owns the file's form, its version and its name; must not touch a disk.

use std::fmt;

use serde::{Deserialize, Serialize, de::DeserializeOwned};
use sha2::{Digest, Sha256};

use super::Groups;
use crate::model::Time;

/// Version of the file's form. A file of another version is refused, never guessed at.
pub const VERSION: u32 = 1;
/// Largest file read or written, in bytes: far above any real plane, far below what would hurt.
pub const MAX_BYTES: usize = 1 << 20;
/// Good states kept for each plane.
pub const MAX_GOOD: usize = 20;

/// Which plane a file belongs to. The UID tells a plane from its successor of the same name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PlaneKey {
    /// Context name in the kubeconfig.
    pub context: String,
    /// API server's address: contexts of one name in two kubeconfigs are two places.
    pub server: String,
    /// Namespace.
    pub namespace: String,
    /// UID of the ComputePlane.
    pub uid: String,
}

/// An edit in progress.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Draft {
    /// [`VERSION`].
    pub version: u32,
    /// Plane.
    pub plane: PlaneKey,
    /// `nodeGroups` as read when the edit began.
    pub base: Groups,
    /// `nodeGroups` as edited.
    pub mine: Groups,
    /// First key.
    pub created: Time,
    /// Last key.
    pub updated: Time,
}

/// One state that was verified on the platform.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Good {
    /// When it was verified or last seen ready.
    pub at: Time,
    /// The map.
    pub node_groups: Groups,
}

/// The last good states of a plane, newest last: switching the module off and on loses them on the platform.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct History {
    /// [`VERSION`].
    pub version: u32,
    /// Plane.
    pub plane: PlaneKey,
    /// States, oldest first, at most [`MAX_GOOD`].
    pub good: Vec<Good>,
}

/// Why bytes are no draft.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DraftError {
    /// More than [`MAX_BYTES`].
    TooLarge(usize),
    /// Another version, or none.
    Version(Option<u64>),
    /// Not the expected form; the text names line and column, never the content.
    Malformed(String),
}

impl fmt::Display for DraftError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DraftError::TooLarge(n) => write!(f, "draft file: {n} bytes, allowed are {MAX_BYTES}"),
            DraftError::Version(Some(v)) => write!(f, "draft file: version {v}, this planedeck reads {VERSION}"),
            DraftError::Version(None) => write!(f, "draft file: no version, this planedeck reads {VERSION}"),
            DraftError::Malformed(at) => write!(f, "draft file: not readable {at}"),
        }
    }
}

impl std::error::Error for DraftError {}

impl Draft {
    /// A fresh draft of a plane as it was read.
    pub fn new(plane: PlaneKey, base: Groups, now: Time) -> Draft {
        Draft { version: VERSION, plane, mine: base.clone(), base, created: now, updated: now }
    }

    /// True when nothing was edited: such a draft needs no file.
    pub fn is_untouched(&self) -> bool {
        self.base == self.mine
    }

    /// The file's content.
    ///
    /// # Errors
    /// When it would be larger than can be read back.
    pub fn to_bytes(&self) -> Result<Vec<u8>, DraftError> {
        write(self)
    }

    /// Reads a file's content.
    ///
    /// # Errors
    /// When it is too large, of another version or malformed. The file should then be kept, not overwritten.
    pub fn from_bytes(bytes: &[u8]) -> Result<Draft, DraftError> {
        read(bytes)
    }
}

impl History {
    /// An empty history.
    pub fn new(plane: PlaneKey) -> History {
        History { version: VERSION, plane, good: Vec::new() }
    }

    /// Notes a good state. The same state again only moves its time; the oldest goes when there are too many.
    pub fn note(&mut self, at: Time, groups: &Groups) {
        match self.good.last_mut() {
            Some(last) if last.node_groups == *groups => last.at = at,
            _ => self.good.push(Good { at, node_groups: groups.clone() }),
        }
        let surplus = self.good.len().saturating_sub(MAX_GOOD);
        self.good.drain(..surplus);
    }

    /// The newest good state that differs from what stands now: what "go back" offers.
    pub fn before(&self, now: &Groups) -> Option<&Good> {
        self.good.iter().rev().find(|g| g.node_groups != *now)
    }

    /// The file's content, oldest states dropped until it fits.
    ///
    /// # Errors
    /// When not even the newest state fits.
    pub fn to_bytes(&self) -> Result<Vec<u8>, DraftError> {
        let mut fitting = self.clone();
        loop {
            match write(&fitting) {
                Err(DraftError::TooLarge(_)) if fitting.good.len() > 1 => {
                    fitting.good.remove(0);
                }
                done => return done,
            }
        }
    }

    /// Reads a file's content.
    ///
    /// # Errors
    /// As [`Draft::from_bytes`].
    pub fn from_bytes(bytes: &[u8]) -> Result<History, DraftError> {
        read(bytes)
    }
}

fn write<T: Serialize>(value: &T) -> Result<Vec<u8>, DraftError> {
    let mut bytes = serde_json::to_vec_pretty(value).map_err(|e| DraftError::Malformed(position(&e)))?;
    bytes.push(b'\n');
    if bytes.len() > MAX_BYTES { Err(DraftError::TooLarge(bytes.len())) } else { Ok(bytes) }
}

/// The version is read before anything else, so that a newer file is told apart from a broken one.
fn read<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, DraftError> {
    #[derive(Deserialize)]
    struct Versioned {
        version: Option<u64>,
    }
    if bytes.len() > MAX_BYTES {
        return Err(DraftError::TooLarge(bytes.len()));
    }
    let found: Versioned = serde_json::from_slice(bytes).map_err(|e| DraftError::Malformed(position(&e)))?;
    if found.version != Some(u64::from(VERSION)) {
        return Err(DraftError::Version(found.version));
    }
    serde_json::from_slice(bytes).map_err(|e| DraftError::Malformed(position(&e)))
}

/// serde's own text quotes content, which may be hostile or private.
fn position(e: &serde_json::Error) -> String {
    format!("at line {}, column {}", e.line(), e.column())
}

/// What a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileKind {
    /// A [`Draft`].
    Draft,
    /// A [`History`].
    History,
    /// A text of a person's own editor that couldn't be taken.
    Text,
}

/// The file's name: readable by the namespace, unique by a digest of the whole key, and only letters, digits, `-` and `.` whatever the names
/// hold. It never starts with a dot and is at most 80 bytes.
pub fn file_name(kind: FileKind, plane: &PlaneKey) -> String {
    let mut digest = Sha256::new();
    for part in [&plane.context, &plane.server, &plane.namespace, &plane.uid] {
        // With its length, so that no two keys run together into one.
        digest.update((part.len() as u64).to_be_bytes());
        digest.update(part.as_bytes());
    }
    let hex: String = digest.finalize().iter().take(12).map(|b| format!("{b:02x}")).collect();
    let plain = |c: char| if c.is_ascii_lowercase() || c.is_ascii_digit() { c } else { '-' };
    let readable: String = plane.namespace.chars().take(40).map(plain).collect();
    let (kind, ending) = match kind {
        FileKind::Draft => ("draft", "json"),
        FileKind::History => ("good", "json"),
        FileKind::Text => ("text", "yaml"),
    };
    format!("{kind}-{readable}-{hex}.{ending}")
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn key() -> PlaneKey {
        let s = str::to_string;
        PlaneKey { context: s("prod"), server: s("https://a:6443"), namespace: s("tenant-acme"), uid: s("u-1") }
    }

    fn at(second: i64) -> Time {
        Time::from_second(1_764_547_200 + second).unwrap()
    }

    fn map(v: Value) -> Groups {
        v.as_object().cloned().unwrap()
    }

    #[test]
    fn a_draft_comes_back_byte_for_byte_with_unknown_fields_and_order() {
        let mut draft = Draft::new(key(), map(json!({"web": {"z": 1, "a": {"deep": [1, null]}}})), at(0));
        assert!(draft.is_untouched());
        draft.mine.insert("db".to_string(), json!({"diskSize": "+20Gi", "n": 8589934592u64, "f": 1.0}));
        assert!(!draft.is_untouched());
        let bytes = draft.to_bytes().unwrap();
        let back = Draft::from_bytes(&bytes).unwrap();
        assert_eq!(back, draft);
        assert_eq!(back.to_bytes().unwrap(), bytes);
    }

    #[test]
    fn other_versions_and_broken_files_are_told_apart_without_quoting_them() {
        let bytes = Draft::new(key(), Groups::new(), at(0)).to_bytes().unwrap();
        let mut value: Value = serde_json::from_slice(&bytes).unwrap();
        value["version"] = json!(2);
        assert_eq!(Draft::from_bytes(&serde_json::to_vec(&value).unwrap()), Err(DraftError::Version(Some(2))));
        value.as_object_mut().unwrap().remove("version");
        assert_eq!(Draft::from_bytes(&serde_json::to_vec(&value).unwrap()), Err(DraftError::Version(None)));
        value["version"] = json!(1);
        value["secret"] = json!("hunter2");
        let error = Draft::from_bytes(&serde_json::to_vec(&value).unwrap()).unwrap_err();
        assert!(matches!(&error, DraftError::Malformed(_)) && !error.to_string().contains("hunter2"), "{error}");
        for cut in 0..bytes.len() - 1 {
            assert!(Draft::from_bytes(&bytes[..cut]).is_err(), "cut at {cut}");
        }
        assert!(Draft::from_bytes("[".repeat(100_000).as_bytes()).is_err());
        assert_eq!(Draft::from_bytes(&vec![b' '; MAX_BYTES + 1]), Err(DraftError::TooLarge(MAX_BYTES + 1)));
    }

    #[test]
    fn a_draft_too_large_to_read_back_is_not_written() {
        let mut draft = Draft::new(key(), Groups::new(), at(0));
        draft.mine.insert("web".to_string(), Value::from("x".repeat(MAX_BYTES)));
        assert!(matches!(draft.to_bytes(), Err(DraftError::TooLarge(_))));
    }

    #[test]
    fn file_names_are_safe_and_distinct_for_hostile_keys() {
        let with = |f: fn(&mut PlaneKey)| {
            let mut k = key();
            f(&mut k);
            file_name(FileKind::Draft, &k)
        };
        let names = [
            with(|_| ()),
            with(|k| k.context = "prod2".into()),
            with(|k| k.server = "https://b".into()),
            with(|k| k.uid = "u-2".into()),
            with(|k| k.namespace = "../../etc/passwd".into()),
            with(|k| k.namespace = "Tenant-Acme".into()),
            with(|k| k.namespace = "a\0b\n\u{202e}東京/\\:".into()),
            with(|k| k.namespace = "x".repeat(10_000)),
            with(|k| (k.context, k.server) = ("prodh".into(), "ttps://a:6443".into())),
            file_name(FileKind::History, &key()),
            file_name(FileKind::Text, &key()),
        ];
        for name in &names {
            assert!(name.len() <= 80 && name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b"-.".contains(&b)), "{name}");
            assert!(!name.contains("..") && !name.starts_with('.'), "{name}");
            assert_eq!(names.iter().filter(|n| *n == name).count(), 1, "{name}");
        }
    }

    #[test]
    fn history_keeps_the_newest_and_offers_the_one_before() {
        let mut history = History::new(key());
        let state = |n: i64| map(json!({"web": {"maxReplicas": n}}));
        for n in 0..30 {
            history.note(at(n), &state(n));
            history.note(at(n + 1), &state(n));
        }
        assert_eq!(history.good.len(), MAX_GOOD);
        assert_eq!(history.good.last().unwrap().at, at(30));
        assert_eq!(history.before(&state(29)).unwrap().node_groups, state(28));
        assert_eq!(History::from_bytes(&history.to_bytes().unwrap()), Ok(history.clone()));
        for n in 0..4 {
            history.note(at(100 + n), &map(json!({"web": "x".repeat(400_000), "n": n})));
        }
        assert_eq!(History::from_bytes(&history.to_bytes().unwrap()).unwrap().good.len(), 2);
    }
}
