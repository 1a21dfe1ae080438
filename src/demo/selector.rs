//! Label and field selectors. Owns their syntax; reads objects only through [`Stored`].

use super::{answer::Refusal, catalog::Resource, store::Stored};

#[derive(Debug, Clone, PartialEq)]
enum Test {
    Equals(String, String),
    Differs(String, String),
    OneOf(String, Vec<String>),
    NoneOf(String, Vec<String>),
    Has(String),
    HasNot(String),
}

/// Both selectors of one request.
#[derive(Debug, Clone, Default)]
pub(crate) struct Selector {
    labels: Vec<Test>,
    fields: Vec<Test>,
}

impl Selector {
    /// Parses both selectors; unknown fields are refused with 400, as the server in question words it.
    pub fn parse(resource: &Resource, labels: Option<&str>, fields: Option<&str>) -> Result<Selector, Refusal> {
        let labels = terms(labels.unwrap_or("")).iter().filter_map(|t| label(t)).collect();
        let mut tests = Vec::new();
        for t in terms(fields.unwrap_or("")) {
            let test = equality(&t).ok_or_else(|| {
                let text = format!("invalid selector: '{t}'; can't understand '{t}'");
                Refusal::new(400, "BadRequest", text)
            })?;
            check_field(resource, &test)?;
            tests.push(test);
        }
        Ok(Selector { labels, fields: tests })
    }

    /// True if the object passes both.
    pub fn matches(&self, object: &Stored) -> bool {
        if !self.labels.iter().all(|t| t.holds(&|k| object.label(k))) {
            return false;
        }
        if self.fields.is_empty() {
            return true;
        }
        let plain = |k: &str| match k {
            "metadata.name" => Some(object.name.clone()),
            "metadata.namespace" => Some(object.namespace.clone()),
            _ => None,
        };
        if self.fields.iter().all(|t| plain(t.key()).is_some()) {
            return self.fields.iter().all(|t| t.holds(&plain));
        }
        let value = object.value();
        self.fields.iter().all(|t| {
            t.holds(&|k| {
                plain(k).or_else(|| {
                    let found = value.pointer(&format!("/{}", k.replace('.', "/")));
                    Some(found.and_then(|v| v.as_str()).unwrap_or("").to_string())
                })
            })
        })
    }
}

impl Test {
    fn key(&self) -> &str {
        match self {
            Test::Equals(k, _) | Test::Differs(k, _) | Test::OneOf(k, _) | Test::NoneOf(k, _) => k,
            Test::Has(k) | Test::HasNot(k) => k,
        }
    }

    fn holds(&self, get: &dyn Fn(&str) -> Option<String>) -> bool {
        let found = get(self.key());
        match self {
            Test::Equals(_, v) => found.as_deref() == Some(v),
            Test::Differs(_, v) => found.as_deref() != Some(v),
            Test::OneOf(_, vs) => found.is_some_and(|f| vs.contains(&f)),
            Test::NoneOf(_, vs) => !found.is_some_and(|f| vs.contains(&f)),
            Test::Has(_) => found.is_some(),
            Test::HasNot(_) => found.is_none(),
        }
    }
}

/// Fields that may be selected by, beside name and namespace.
fn check_field(resource: &Resource, test: &Test) -> Result<(), Refusal> {
    let key = test.key();
    let known = matches!(key, "metadata.name" | "metadata.namespace")
        || match resource.plural {
            "events" => key.starts_with("involvedObject.") || matches!(key, "reason" | "type" | "reportingComponent"),
            "pods" => matches!(key, "status.phase" | "spec.nodeName"),
            _ => false,
        };
    if known {
        return Ok(());
    }
    let text = if resource.group == super::catalog::APPS {
        format!("\"{key}\" is not a known field selector: only \"metadata.name\", \"metadata.namespace\"")
    } else {
        format!("field label not supported: {key}")
    };
    Err(Refusal::new(400, "BadRequest", text))
}

/// Splits at commas outside parentheses.
fn terms(text: &str) -> Vec<String> {
    let mut out = vec![String::new()];
    let mut depth = 0;
    for c in text.chars() {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            ',' if depth == 0 => {
                out.push(String::new());
                continue;
            }
            _ => {}
        }
        if let Some(last) = out.last_mut() {
            last.push(c);
        }
    }
    out.into_iter().map(|t| t.trim().to_string()).filter(|t| !t.is_empty()).collect()
}

fn equality(term: &str) -> Option<Test> {
    if let Some((k, v)) = term.split_once("!=") {
        return Some(Test::Differs(k.trim().into(), v.trim().into()));
    }
    let (k, v) = term.split_once('=')?;
    Some(Test::Equals(k.trim().into(), v.trim_start_matches('=').trim().into()))
}

fn label(term: &str) -> Option<Test> {
    let set = |list: &str| -> Vec<String> {
        list.trim().trim_start_matches('(').trim_end_matches(')').split(',').map(|v| v.trim().to_string()).collect()
    };
    if let Some((k, list)) = term.split_once(" notin ") {
        return Some(Test::NoneOf(k.trim().into(), set(list)));
    }
    if let Some((k, list)) = term.split_once(" in ") {
        return Some(Test::OneOf(k.trim().into(), set(list)));
    }
    equality(term).or_else(|| match term.strip_prefix('!') {
        Some(k) => Some(Test::HasNot(k.trim().into())),
        None => Some(Test::Has(term.into())),
    })
}
