//! The objects of a plane, and one of them as YAML: fetched when opened, shown without managedFields, with find and copy. Nothing is kept after
//! it is closed. Must not fetch anything itself.

use std::sync::Arc;

use serde_json::Value;

use crate::{
    keys::Chord,
    model::{Kind, ObjectRef, Problem, World, kind::KINDS, text},
    state::{
        doc::Scroll,
        field::TextField,
        table::{Cell, Column, Row, Sort, Table, column},
    },
};

/// Columns of the list.
pub const COLUMNS: &[Column] =
    &[column("KIND", 12, 26, 0), column("NAME", 12, 70, 0), Column { right: true, ..column("AGE", 4, 5, 2) }, column("API", 8, 0, 3)];

/// The objects seen in a namespace. Events have a tab of their own.
pub fn rows(world: &World, namespace: &str) -> Vec<Arc<Row>> {
    let kinds = KINDS.iter().filter(|k| k.namespaced && k.kind != Kind::Event && k.kind != Kind::OptionList);
    let objects = kinds.flat_map(|k| world.list(k.kind, namespace));
    let rows = objects.map(|o| {
        let info = o.kind.info();
        let place = KINDS.iter().position(|k| k.kind == o.kind).unwrap_or(0);
        let cells = vec![
            Cell::Number(i64::try_from(place).unwrap_or(0), info.name.to_string()),
            Cell::text(&o.meta.name),
            Cell::Age(o.meta.created.get()),
            Cell::text(&o.api_version),
        ];
        Arc::new(Row::new(format!("{}/{}", o.kind.resource(), o.meta.name), cells, None, vec![("kind", info.name.to_string())]))
    });
    rows.collect()
}

/// The object that a row of [`rows`] stands for.
pub fn reference(key: &str, namespace: &str) -> Option<ObjectRef> {
    let (resource, name) = key.split_once('/')?;
    let (plural, group) = resource.split_once('.').unwrap_or((resource, ""));
    Some(ObjectRef { kind: Kind::of_resource(group, plural)?, namespace: namespace.to_string(), name: name.to_string() })
}

/// What came of fetching.
#[derive(Debug, Clone, PartialEq)]
pub enum Content {
    /// Asked for.
    Loading,
    /// Refused or failed.
    Failed(Problem),
    /// Lines of YAML, safe to paint.
    Text(Vec<String>),
}

/// An object being read.
#[derive(Debug, Clone)]
pub struct Opened {
    /// Which.
    pub object: ObjectRef,
    /// Number of the request.
    pub request: u64,
    /// Its text.
    pub content: Content,
    /// Where one is in it.
    pub scroll: Scroll,
    /// Columns scrolled to the right.
    pub left: usize,
    /// What is looked for.
    pub find: TextField,
    /// The field has the keys.
    pub finding: bool,
    /// The line found last.
    pub hit: Option<usize>,
}

impl Opened {
    /// An object just asked for.
    pub fn new(object: ObjectRef, request: u64) -> Opened {
        Opened {
            object,
            request,
            content: Content::Loading,
            scroll: Scroll::default(),
            left: 0,
            find: TextField::default(),
            finding: false,
            hit: None,
        }
    }

    /// The answer came.
    pub fn fetched(&mut self, result: Result<Box<Value>, Problem>) {
        self.content = match result {
            Ok(value) => Content::Text(yaml(*value).lines().map(text::line).collect()),
            Err(p) => Content::Failed(p),
        };
    }

    /// The lines, none before they came.
    pub fn lines(&self) -> &[String] {
        match &self.content {
            Content::Text(lines) => lines,
            _ => &[],
        }
    }

    /// A key for the find field: goes to the first place from here.
    pub fn press(&mut self, chord: &Chord) {
        self.find.press(chord);
        self.seek(true, self.scroll.top);
    }

    /// Text pasted into the find field.
    pub fn paste(&mut self, s: &str) {
        self.find.insert(s);
        self.seek(true, self.scroll.top);
    }

    /// The next or previous place.
    pub fn next(&mut self, forward: bool) {
        let from = match (self.hit, forward) {
            (Some(h), true) => h + 1,
            (Some(h), false) => h,
            (None, _) => self.scroll.top,
        };
        self.seek(forward, from);
    }

    fn seek(&mut self, forward: bool, from: usize) {
        let wanted = self.find.text().to_lowercase();
        let has = |i: &usize| self.lines().get(*i).is_some_and(|l| l.to_lowercase().contains(&wanted));
        let len = self.lines().len();
        self.hit = match (wanted.is_empty(), forward) {
            (true, _) => None,
            (false, true) => (from..len).chain(0..from.min(len)).find(has),
            (false, false) => (0..from.min(len)).rev().chain((from.min(len)..len).rev()).find(has),
        };
        if let Some(hit) = self.hit {
            let by = isize::try_from(hit).unwrap_or(0) - isize::try_from(self.scroll.top + self.scroll.height / 2).unwrap_or(0);
            if hit < self.scroll.top || hit >= self.scroll.top + self.scroll.height {
                self.scroll.go(by);
            }
        }
    }
}

fn yaml(mut value: Value) -> String {
    if let Some(meta) = value.get_mut("metadata").and_then(Value::as_object_mut) {
        // The order of the other fields is the server's and stays.
        meta.shift_remove("managedFields");
    }
    serde_yaml::to_string(&value).unwrap_or_else(|e| format!("can't be written as YAML: {e}"))
}

/// The tab.
#[derive(Debug)]
pub struct Objects {
    /// The list.
    pub table: Table,
    /// The object opened.
    pub opened: Option<Opened>,
}

impl Default for Objects {
    fn default() -> Self {
        Objects { table: Table::new(COLUMNS, Sort::default()), opened: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn keys_lead_back_to_objects() {
        for kind in [Kind::HelmRelease, Kind::Pod, Kind::ComputePlane] {
            let o = reference(&format!("{}/a.b-c", kind.resource()), "t").unwrap();
            assert_eq!((o.kind, o.name.as_str()), (kind, "a.b-c"));
        }
        assert_eq!(reference("nonsense", "t"), None);
    }

    #[test]
    fn managed_fields_go_and_find_goes_round() {
        let mut o = Opened::new(reference("pods/x", "t").unwrap(), 1);
        o.fetched(Ok(Box::new(json!({"metadata": {"name": "x", "managedFields": [1]}, "b": "needle\u{1b}[31m", "c": 1, "d": "Needle"}))));
        assert!(!o.lines().concat().contains("managedFields"));
        assert!(!o.lines().concat().contains('\u{1b}'));
        o.scroll.fit(o.lines().len(), 2);
        "needle".chars().for_each(|c| o.press(&Chord::char(c)));
        let first = o.hit;
        o.next(true);
        assert_ne!(o.hit, first);
        o.next(true);
        assert_eq!(o.hit, first);
        o.next(false);
        assert_ne!(o.hit, first);
    }
}
