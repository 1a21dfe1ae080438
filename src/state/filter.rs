//! The filter line: free words (fuzzy) and `state:`, `ns:`, `pool:`, `sev:` terms, with completion. Owns the little language;
//! must not know where rows come from. Anything typed is a valid filter.

use std::sync::Arc;

use nucleo_matcher::{
    Config, Matcher, Utf32Str,
    pattern::{AtomKind, CaseMatching, Normalization, Pattern},
};

use super::{field::TextField, table::Row};
use crate::keys::Chord;

/// Terms that a row may carry.
pub const TERMS: [&str; 5] = ["ns", "pool", "sev", "state", "kind"];

/// A parsed filter: all parts must hold.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    parts: Vec<Part>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Part {
    /// `!` before it.
    not: bool,
    /// The term; `None` for a free word.
    term: Option<&'static str>,
    /// Alternatives, in small letters.
    any: Vec<String>,
}

impl Filter {
    /// Reads a filter line.
    pub fn parse(s: &str) -> Filter {
        let parts = s.split_whitespace().filter_map(|word| {
            let (not, word) = match word.strip_prefix('!') {
                Some(rest) => (true, rest),
                None => (false, word),
            };
            let named = word.split_once(':').and_then(|(k, v)| Some((*TERMS.iter().find(|t| t.eq_ignore_ascii_case(k))?, v)));
            let (term, value) = named.map_or((None, word), |(k, v)| (Some(k), v));
            let any: Vec<String> = match term {
                Some(_) => value.split(',').filter(|v| !v.is_empty()).map(str::to_lowercase).collect(),
                None => vec![value.to_string()],
            };
            // A term still being typed (`state:`) holds everything back from nothing.
            (!any.is_empty() && any.iter().any(|v| !v.is_empty())).then_some(Part { not, term, any })
        });
        Filter { parts: parts.collect() }
    }

    /// True when a row passes.
    pub fn matches(&self, row: &Row) -> bool {
        self.parts.iter().all(|p| p.holds(row) != p.not)
    }
}

impl Part {
    fn holds(&self, row: &Row) -> bool {
        match self.term {
            Some(term) => {
                let mut values = row.terms.iter().filter(|(k, _)| *k == term);
                values.any(|(_, v)| {
                    let v = v.to_lowercase();
                    self.any.iter().any(|a| v.contains(a.as_str()))
                })
            }
            None => self.any.iter().any(|word| word_in(word, &row.hay)),
        }
    }
}

/// A free word is in a text when it stands there, or fuzzily in one of its words: a fuzzy match over a whole sentence finds everything.
fn word_in(word: &str, hay: &str) -> bool {
    if hay.to_lowercase().contains(&word.to_lowercase()) {
        return true;
    }
    let letters = word.chars().count();
    letters >= 3 && hay.split_whitespace().any(|w| score(word, w).is_some_and(|s| usize::try_from(s).unwrap_or(0) >= letters * 18))
}

/// How well a pattern fits a text; `None` when it doesn't. Larger is better.
pub fn score(pattern: &str, text: &str) -> Option<u32> {
    let pattern = Pattern::new(pattern, CaseMatching::Ignore, Normalization::Smart, AtomKind::Fuzzy);
    let mut buffer = Vec::new();
    pattern.score(Utf32Str::new(text, &mut buffer), &mut Matcher::new(Config::DEFAULT))
}

/// The filter of one list and its text field.
#[derive(Debug, Clone, Default)]
pub struct FilterLine {
    /// The text.
    pub field: TextField,
    /// It has the keys.
    pub editing: bool,
    /// The candidates offered by the last Tab, and which one stands there.
    offered: Option<(Vec<String>, usize)>,
}

impl FilterLine {
    /// The filter as typed.
    pub fn text(&self) -> &str {
        self.field.text()
    }

    /// The filter as understood.
    pub fn parsed(&self) -> Filter {
        Filter::parse(self.field.text())
    }

    /// True when there is one.
    pub fn is_set(&self) -> bool {
        !self.field.text().trim().is_empty()
    }

    /// One key for the field.
    pub fn press(&mut self, chord: &Chord) {
        self.offered = None;
        self.field.press(chord);
    }

    /// Text pasted into the field.
    pub fn paste(&mut self, text: &str) {
        self.offered = None;
        self.field.insert(text);
    }

    /// Gone, text and all.
    pub fn close(&mut self) {
        *self = FilterLine::default();
    }

    /// Completes the last word from what the rows carry; again for the next candidate.
    pub fn complete(&mut self, rows: &[Arc<Row>]) {
        let (candidates, at) = match self.offered.take() {
            Some((c, at)) if !c.is_empty() => {
                let next = (at + 1) % c.len();
                (c, next)
            }
            _ => (candidates(self.field.text(), rows), 0),
        };
        if let Some(text) = candidates.get(at) {
            self.field = TextField::with(text.clone());
            self.offered = Some((candidates, at));
        }
    }
}

/// Whole filter texts that complete the last word.
fn candidates(text: &str, rows: &[Arc<Row>]) -> Vec<String> {
    let (head, word) = text.rsplit_once(' ').map_or((String::new(), text), |(h, w)| (format!("{h} "), w));
    let (bang, word) = word.strip_prefix('!').map_or(("", word), |w| ("!", w));
    let mut found: Vec<String> = match word.split_once(':') {
        Some((key, start)) => {
            let start = start.to_lowercase();
            let values = rows.iter().flat_map(|r| &r.terms).filter(|(k, _)| k.eq_ignore_ascii_case(key));
            values.filter(|(_, v)| v.to_lowercase().starts_with(&start)).map(|(k, v)| format!("{k}:{v}")).collect()
        }
        None => {
            let known = |t: &&&str| rows.iter().any(|r| r.terms.iter().any(|(k, _)| k == *t));
            TERMS.iter().filter(|t| t.starts_with(&word.to_lowercase())).filter(known).map(|t| format!("{t}:")).collect()
        }
    };
    found.sort();
    found.dedup();
    found.into_iter().map(|f| format!("{head}{bang}{f}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::table::Cell;

    fn row(ns: &str, state: &str, pool: &str) -> Row {
        let terms = vec![("ns", ns.to_string()), ("state", state.to_string()), ("pool", pool.to_string())];
        Row::new(ns, vec![Cell::text(ns), Cell::text(state)], None, terms)
    }

    #[test]
    fn terms_and_words_narrow_together() {
        let acme = row("tenant-acme", "RenderRejected", "gpu");
        let lab = row("tenant-lab", "Ready", "web");
        for (filter, a, l) in [
            ("", true, true),
            ("state:", true, true),
            ("state:render", true, false),
            ("state:render,ready", true, true),
            ("!state:ready", true, false),
            ("ns:lab pool:web", false, true),
            ("pool:gpu ns:lab", false, false),
            ("acme", true, false),
            ("tnacme", true, false),
            ("nothing:here", false, false),
            ("STATE:READY", false, true),
        ] {
            let f = Filter::parse(filter);
            assert_eq!((f.matches(&acme), f.matches(&lab)), (a, l), "{filter:?}");
        }
    }

    #[test]
    fn tab_completes_terms_then_values_and_goes_round() {
        let rows = vec![Arc::new(row("tenant-acme", "RenderRejected", "gpu")), Arc::new(row("tenant-lab", "Ready", "web"))];
        let mut line = FilterLine { field: TextField::with("x st"), ..FilterLine::default() };
        line.complete(&rows);
        assert_eq!(line.text(), "x state:");
        line.offered = None;
        line.complete(&rows);
        assert_eq!(line.text(), "x state:Ready");
        line.complete(&rows);
        assert_eq!(line.text(), "x state:RenderRejected");
        line.complete(&rows);
        assert_eq!(line.text(), "x state:Ready");
    }
}
