//! The settings file: where it is, what it may say, what is wrong with it. Owns reading and naming every problem with its place;
//! must not hold defaults that live elsewhere, and never fails the program: a broken setting is told and ignored.

use std::path::{Path, PathBuf};

use serde_yaml::Value;

use crate::health::deadlines::Deadlines;

mod fields;
pub mod folders;
mod values;

pub use values::{ColorWhen, duration};

/// Everything the settings file may say; absent means "as by default".
#[derive(Debug, Clone, Default, PartialEq)]
#[allow(missing_docs)] // named as in the file; `assets/settings.yaml` explains each
pub struct Settings {
    pub context: Option<String>,
    pub namespaces: Vec<String>,
    pub all_namespaces: bool,
    pub read_only: bool,
    /// Contexts that are always read-only.
    pub read_only_contexts: Vec<String>,
    pub audit_log: Option<PathBuf>,
    pub request_timeout: Option<jiff::SignedDuration>,
    pub ascii: bool,
    pub color: Option<ColorWhen>,
    pub theme: Option<String>,
    pub mouse: bool,
    pub bell: bool,
    /// Action id and chords, as written.
    pub keys: Vec<(String, Vec<String>)>,
    pub deadlines: Deadlines,
}

/// Settings with where they came from and what was wrong with them.
#[derive(Debug, Clone, Default)]
pub struct Loaded {
    /// The values.
    pub settings: Settings,
    /// The file read, if there was one.
    pub path: Option<PathBuf>,
    /// Problems, one line each: file, field, what was found, what is allowed.
    pub warnings: Vec<String>,
    /// Fields that the file sets, by their dotted names.
    pub set: Vec<String>,
}

/// A settings file above this many bytes is not read.
const MAX_BYTES: u64 = 1 << 20;

/// Reads the named file, or the one in the settings folder if it exists.
pub fn load(named: Option<&Path>) -> Loaded {
    let Some(path) = named.map(Path::to_path_buf).or_else(folders::settings_file) else { return Loaded::default() };
    let mut out = Loaded { path: Some(path.clone()), ..Loaded::default() };
    let size = std::fs::metadata(&path).map(|m| m.len());
    match size {
        Ok(n) if n > MAX_BYTES => out.warnings.push(format!("{}: {n} bytes; a settings file may have {MAX_BYTES}", path.display())),
        Ok(_) => match std::fs::read_to_string(&path) {
            Ok(text) => parse(&path.display().to_string(), &text, &mut out),
            Err(e) => out.warnings.push(format!("{}: {e}", path.display())),
        },
        Err(e) if named.is_none() && e.kind() == std::io::ErrorKind::NotFound => out.path = None,
        Err(e) => out.warnings.push(format!("{}: {e}", path.display())),
    }
    out
}

/// Reads settings text; every problem becomes a warning with its field. Warnings quote what was found, so they are cleaned here, once for all.
pub fn parse(source: &str, text: &str, out: &mut Loaded) {
    read(source, text, out);
    out.warnings.iter_mut().for_each(|w| *w = crate::model::text::line(w));
}

fn read(source: &str, text: &str, out: &mut Loaded) {
    let value = match serde_yaml::from_str::<Value>(text.trim_start_matches('\u{feff}')) {
        Ok(v) => v,
        Err(e) => return out.warnings.push(format!("{source}: {e}")),
    };
    let map = match value {
        Value::Null => return,
        Value::Mapping(m) => m,
        other => return out.warnings.push(format!("{source}: found {}, allowed: a map of settings", fields::kind_of(&other))),
    };
    for (key, value) in &map {
        let Some(key) = key.as_str() else {
            out.warnings.push(format!("{source}: a key that is no text"));
            continue;
        };
        match fields::FIELDS.iter().find(|f| f.name == key) {
            Some(field) => match (field.set)(value, &mut out.settings) {
                Ok(()) => out.set.push(key.to_string()),
                Err(why) => out.warnings.push(format!("{source}: {key}: {why}; allowed: {}", field.allowed)),
            },
            None => {
                out.warnings.push(format!("{source}: {key}: no such setting{}", suggestion(key, fields::FIELDS.iter().map(|f| f.name))))
            }
        }
    }
}

/// `; did you mean x?` where something known is near, else nothing.
pub fn suggestion<'a>(found: &str, known: impl Iterator<Item = &'a str>) -> String {
    let near = known.map(|k| (strsim::jaro_winkler(&found.to_lowercase(), &k.to_lowercase()), k)).filter(|(score, _)| *score > 0.8);
    near.max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, k)| format!("; did you mean {k}?")).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Loaded {
        let mut out = Loaded::default();
        parse("s.yaml", text, &mut out);
        out
    }

    #[test]
    fn good_settings_are_taken() {
        let l = read(
            "readOnly: true\nnamespaces: [a, b]\ndeadlines: {machineNode: 25m}\nkeys: {open: [enter, o]}\ncolor: never\nrequestTimeout: 5s\n",
        );
        assert!(l.warnings.is_empty(), "{:?}", l.warnings);
        assert!(l.settings.read_only);
        assert_eq!(l.settings.deadlines.machine_node, jiff::SignedDuration::from_mins(25));
        assert_eq!(l.settings.keys, vec![("open".to_string(), vec!["enter".to_string(), "o".to_string()])]);
    }

    #[test]
    fn every_mistake_is_named_and_the_rest_counts() {
        let l = read("readonly: true\nascii: 7\nnamespaces: a\ndeadlines: {machineNod: 5m, addons: soon}\ncontext: c\n");
        assert_eq!(l.settings.context.as_deref(), Some("c"));
        assert!(l.warnings.iter().any(|w| w.contains("did you mean readOnly?")), "{:?}", l.warnings);
        assert!(l.warnings.iter().any(|w| w.contains("ascii") && w.contains("true or false")), "{:?}", l.warnings);
        assert!(l.warnings.iter().any(|w| w.contains("deadlines") && w.contains("machineNod")), "{:?}", l.warnings);
        assert_eq!(l.settings.namespaces, vec!["a"]);
    }

    #[test]
    fn the_documented_example_is_valid_and_says_the_defaults() {
        let l = read(include_str!("../../assets/settings.yaml"));
        assert!(l.warnings.is_empty(), "{:?}", l.warnings);
        assert_eq!(l.settings.deadlines, Deadlines::default());
        let undocumented: Vec<&str> =
            fields::FIELDS.iter().map(|f| f.name).filter(|n| !include_str!("../../assets/settings.yaml").contains(n)).collect();
        assert!(undocumented.is_empty(), "settings that the example doesn't show: {undocumented:?}");
    }

    #[test]
    fn a_setting_that_locks_fails_closed() {
        // Somebody who wrote readOnly meant it: a value we can't read must not leave the console writable.
        let l = read("readOnly: ja\n");
        assert!(l.settings.read_only && !l.warnings.is_empty());
    }
}
