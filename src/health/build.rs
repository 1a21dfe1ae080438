//! Small constructors for judgements and evidence, so that a verdict row reads as one expression. Owns shape only, decides nothing.

use crate::model::{
    Object, Time,
    projection::Condition,
    text,
    verdict::{Evidence, Layer, LayerVerdict, NextStep, State, Who},
};

/// Longest value kept in a piece of evidence, in characters.
const MAX_VALUE: usize = 600;

/// A verdict without evidence yet.
pub fn verdict(layer: Layer, state: State, cause: impl AsRef<str>) -> LayerVerdict {
    LayerVerdict {
        layer,
        state,
        severity: state.severity(),
        pool: None,
        cause: text::line(cause.as_ref()),
        since: None,
        evidence: Vec::new(),
        next: Vec::new(),
        consequence_of: None,
        class: None,
        inferred: false,
        deadline: None,
    }
}

/// One fact about an object.
pub fn fact(object: &Object, path: &str, value: impl AsRef<str>, time: Option<Time>) -> Evidence {
    Evidence {
        kind: object.kind.info().name.to_string(),
        namespace: text::line(&object.meta.namespace),
        name: text::line(&object.meta.name),
        path: path.to_string(),
        value: shorten(value.as_ref()),
        time,
    }
}

/// A fact about an object that may not exist: absence by name.
pub fn absence(kind: &str, namespace: &str, name: &str) -> Evidence {
    Evidence {
        kind: kind.to_string(),
        namespace: text::line(namespace),
        name: text::line(name),
        path: String::new(),
        value: "absent".to_string(),
        time: None,
    }
}

/// A condition as evidence: `False/InstallFailed: message`.
pub fn condition(object: &Object, c: &Condition) -> Evidence {
    let mut value = c.status.to_string();
    for (separator, part) in [("/", &c.reason), (": ", &c.message)] {
        if !part.is_empty() {
            value.push_str(separator);
            value.push_str(part);
        }
    }
    fact(object, &format!("status.conditions[{}]", c.kind), value, c.since.get())
}

fn shorten(s: &str) -> String {
    let mut short: String = s.chars().take(MAX_VALUE).collect();
    if short.len() < s.len() {
        short.push('…');
    }
    text::line(&short)
}

pub use crate::model::age::short as span;

/// Chained additions to a verdict.
pub trait Build: Sized {
    /// Adds one fact.
    #[must_use]
    fn evidence(self, e: Evidence) -> Self;
    /// Adds a step.
    #[must_use]
    fn next(self, who: Who, text: impl Into<String>) -> Self;
    /// Adds a step that changes a field of the ComputePlane.
    #[must_use]
    fn fix(self, who: Who, text: impl Into<String>, field: Option<String>) -> Self;
    /// Sets since when.
    #[must_use]
    fn since(self, t: Option<Time>) -> Self;
    /// Sets the class of the message.
    #[must_use]
    fn class(self, c: Option<&str>) -> Self;
    /// Sets the pool.
    #[must_use]
    fn pool(self, p: Option<String>) -> Self;
    /// Marks it as deduced.
    #[must_use]
    fn inferred(self) -> Self;
    /// Sets when waiting turns into a problem.
    #[must_use]
    fn deadline(self, t: Option<Time>) -> Self;
}

impl Build for LayerVerdict {
    fn evidence(mut self, e: Evidence) -> Self {
        self.evidence.push(e);
        self
    }
    fn next(self, who: Who, text: impl Into<String>) -> Self {
        self.fix(who, text, None)
    }
    fn fix(mut self, who: Who, text: impl Into<String>, field: Option<String>) -> Self {
        self.next.push(NextStep { who, text: text.into(), field });
        self
    }
    fn since(mut self, t: Option<Time>) -> Self {
        self.since = t;
        self
    }
    fn class(mut self, c: Option<&str>) -> Self {
        self.class = c.map(str::to_string);
        self
    }
    fn pool(mut self, p: Option<String>) -> Self {
        self.pool = p;
        self
    }
    fn inferred(mut self) -> Self {
        self.inferred = true;
        self
    }
    fn deadline(mut self, t: Option<Time>) -> Self {
        self.deadline = t;
        self
    }
}
