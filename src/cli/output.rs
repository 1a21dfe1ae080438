//! Output formats and printing. Owns the formats' names, tables and the safe way to standard output; must not know what is printed.

use std::{io::Write as _, str::FromStr};

use comfy_table::{ContentArrangement, Table, TableStyle, presets};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::model::{Problem, ProblemKind, text, yaml};

/// How results are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Format {
    Table,
    Wide,
    Json,
    Jsonl,
    Yaml,
    Csv,
    Markdown,
}

impl Format {
    const ALL: [(&'static str, Format); 7] = [
        ("table", Format::Table),
        ("wide", Format::Wide),
        ("json", Format::Json),
        ("jsonl", Format::Jsonl),
        ("yaml", Format::Yaml),
        ("csv", Format::Csv),
        ("markdown", Format::Markdown),
    ];

    /// The format asked for, if this command offers it.
    ///
    /// # Errors
    /// `BadInput` that names the formats allowed here.
    pub fn choose(asked: Option<&str>, offered: &[Format]) -> Result<Format, Problem> {
        let first = offered.first().copied().unwrap_or(Format::Table);
        let Some(name) = asked else { return Ok(first) };
        match Format::from_str(name) {
            Ok(f) if offered.contains(&f) => Ok(f),
            _ => {
                let names: Vec<&str> = Self::ALL.iter().filter(|(_, f)| offered.contains(f)).map(|(n, _)| *n).collect();
                Err(Problem::new(
                    ProblemKind::BadInput,
                    format!("--output: found {:?}; allowed here: {}", text::line(name), names.join(", ")),
                ))
            }
        }
    }
}

impl FromStr for Format {
    type Err = ();
    fn from_str(s: &str) -> Result<Self, ()> {
        Format::ALL.iter().find(|(n, _)| *n == s).map(|(_, f)| *f).ok_or(())
    }
}

/// Where results go: collects text, knows the ASCII rule, and survives a closed pipe.
#[derive(Debug, Default)]
pub struct Out {
    /// Escape everything outside printable ASCII.
    pub ascii: bool,
    gone: bool,
}

impl Out {
    /// Standard output; `ascii` escapes everything outside printable ASCII.
    pub fn new(ascii: bool) -> Out {
        Out { ascii, gone: false }
    }

    /// Prints exactly one line: control characters are stripped and line breaks become blanks, so that no text from a cluster can pose as
    /// a line of its own. A closed pipe ends printing silently.
    pub fn line(&mut self, s: &str) {
        let safe = self.safe(s);
        self.raw(&format!("{safe}\n"));
    }

    /// Prints text of several lines that was laid out here.
    pub fn block(&mut self, s: &str) {
        let safe = text::block(s);
        let safe = if self.ascii { text::ascii(&safe) } else { safe };
        self.raw(&format!("{safe}\n"));
    }

    /// Prints text that was built here from safe parts (JSON, YAML, completions).
    pub fn raw(&mut self, s: &str) {
        if self.gone {
            return;
        }
        let mut out = std::io::stdout().lock();
        // A closed pipe is no error; any other failure to write to standard output can't be told anywhere better than by stopping.
        if out.write_all(s.as_bytes()).and_then(|()| out.flush()).is_err() {
            self.gone = true;
        }
    }

    /// True once nobody reads any more: a follower may stop.
    pub fn closed(&self) -> bool {
        self.gone
    }

    /// Prints a document with its `apiVersion`, as JSON or YAML.
    pub fn document<T: Serialize>(&mut self, format: Format, doc: &T) {
        let value = versioned(doc);
        match format {
            Format::Yaml => self.raw(&yaml::document(&value, self.ascii)),
            Format::Jsonl => self.raw(&format!("{}\n", json(&value, false, self.ascii))),
            _ => self.raw(&format!("{}\n", json(&value, true, self.ascii))),
        }
    }

    /// Prints a list: `{"kind": "…List", "items": […]}`, or one item a line for JSON lines.
    pub fn list<T: Serialize>(&mut self, format: Format, kind: &str, items: &[T]) {
        if format == Format::Jsonl {
            items.iter().for_each(|i| self.document(format, i));
            return;
        }
        let items: Vec<Value> = items.iter().map(|i| serde_json::to_value(i).unwrap_or_default()).collect();
        self.document(format, &serde_json::json!({ "kind": kind, "items": items }));
    }

    /// Prints rows as a table, CSV or Markdown.
    pub fn rows(&mut self, format: Format, header: &[&str], rows: &[Vec<String>]) {
        match format {
            Format::Csv => self.csv(header, rows),
            Format::Markdown => self.raw(&self.grid(presets::ASCII_MARKDOWN, header, rows)),
            _ => self.raw(&self.grid(presets::NOTHING, header, rows)),
        }
    }

    fn safe(&self, s: &str) -> String {
        let safe = text::line(s);
        if self.ascii { text::ascii(&safe) } else { safe }
    }

    fn grid(&self, preset: TableStyle, header: &[&str], rows: &[Vec<String>]) -> String {
        let mut table = Table::new();
        let markdown = preset == presets::ASCII_MARKDOWN;
        table.load_style(preset).set_content_arrangement(ContentArrangement::Disabled).set_header(header.iter().copied());
        for row in rows {
            table.add_row(row.iter().map(|c| if markdown { self.safe(c).replace('|', "\\|") } else { self.safe(c) }));
        }
        if !markdown {
            // kubectl's look: no margin on the left, two blanks between columns.
            for column in table.column_iter_mut() {
                column.set_padding((0, 2));
            }
        }
        table.lines().map(|l| format!("{}\n", l.trim_end())).collect()
    }

    fn csv(&mut self, header: &[&str], rows: &[Vec<String>]) {
        let mut w = csv::Writer::from_writer(Vec::new());
        let written = w
            .write_record(header)
            .and_then(|()| rows.iter().try_for_each(|r| w.write_record(r.iter().map(|c| formula_safe(self.safe(c))))));
        if let (Ok(()), Ok(bytes)) = (written, w.into_inner()) {
            self.raw(&String::from_utf8_lossy(&bytes));
        }
    }
}

/// A cell that a spreadsheet would run as a formula gets a leading apostrophe: names come from whoever writes to the cluster.
fn formula_safe(cell: String) -> String {
    if cell.starts_with(['=', '+', '@']) || (cell.starts_with('-') && cell.len() > 1 && cell.parse::<f64>().is_err()) {
        format!("'{cell}")
    } else {
        cell
    }
}

/// Adds `"apiVersion": "planedeck/v1"` in front.
pub fn versioned<T: Serialize>(doc: &T) -> Value {
    let mut map = Map::new();
    map.insert("apiVersion".into(), "planedeck/v1".into());
    if let Ok(Value::Object(o)) = serde_json::to_value(doc) {
        map.extend(o);
    }
    Value::Object(map)
}

/// JSON in which a terminal finds no control character: serde_json escapes C0; C1, bidi and other invisible characters are escaped here.
pub fn json(value: &Value, pretty: bool, ascii: bool) -> String {
    let s = if pretty { serde_json::to_string_pretty(value) } else { serde_json::to_string(value) }.unwrap_or_default();
    if s.is_ascii() && !s.contains('\u{7f}') {
        return s;
    }
    s.chars().fold(String::with_capacity(s.len()), |mut out, c| {
        let layout = c == '\n';
        if !layout && ((text::is_unsafe(c) && c > ' ') || (ascii && !c.is_ascii())) {
            let mut units = [0u16; 2];
            c.encode_utf16(&mut units).iter().for_each(|u| out.push_str(&format!("\\u{u:04x}")));
        } else {
            out.push(c);
        }
        out
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_offered_by_name() {
        assert_eq!(Format::choose(None, &[Format::Table]).unwrap(), Format::Table);
        let e = Format::choose(Some("xml"), &[Format::Table, Format::Json]).unwrap_err();
        assert!(e.summary.contains("table, json"), "{e}");
        assert!(Format::choose(Some("csv"), &[Format::Table]).is_err());
    }

    #[test]
    fn json_hides_no_control_characters_and_stays_the_same_value() {
        let v = serde_json::json!({"a": "x\u{9b}31m\u{202e}\u{1b}é🦀"});
        for ascii in [false, true] {
            let s = json(&v, false, ascii);
            assert!(!s.chars().any(text::is_unsafe), "{s}");
            assert_eq!(serde_json::from_str::<Value>(&s).unwrap(), v);
        }
        assert!(json(&v, false, true).is_ascii());
    }

    #[test]
    fn csv_cells_never_start_formulas() {
        assert_eq!(formula_safe("=cmd()".into()), "'=cmd()");
        assert_eq!(formula_safe("-1".into()), "-1");
        assert_eq!(formula_safe("-x".into()), "'-x");
    }
}
