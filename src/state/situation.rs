//! Why the list of planes shows no rows: connecting, not logged in, unreachable, forbidden, absent API, empty, all filtered away. Each has its own
//! words and next steps. Pure; rows always win over a page.

use super::{
    doc::{Doc, Role, span},
    session::{Phase, Session},
};
use crate::model::{
    Kind, Problem, ProblemKind, World,
    world::{Read, ReadState},
};

/// What a screen without rows means.
#[derive(Debug, Clone, PartialEq)]
pub enum Situation {
    /// No answer yet.
    Connecting,
    /// The context can't be used.
    Failed(Problem),
    /// Connected; the first lists are coming.
    Loading,
    /// No namespace is known to look at.
    NoNamespace,
    /// 403 wherever one looked.
    Forbidden(Option<Problem>),
    /// The server doesn't have ComputePlanes.
    AbsentApi,
    /// It has them in versions that can't be parsed.
    UnsupportedVersion,
    /// The lists failed.
    Unreadable(Option<Problem>),
    /// Everything was read, and there is none.
    Empty,
    /// There are rows, but the filter holds them back.
    Filtered(usize),
}

/// The situation of a list without rows; `total` counts rows before the filter.
pub fn of(session: &Session, world: Option<&World>, total: usize) -> Situation {
    if total > 0 {
        return Situation::Filtered(total);
    }
    match &session.phase {
        Phase::Connecting => return Situation::Connecting,
        Phase::Failed(p) => return Situation::Failed(p.clone()),
        Phase::Connected | Phase::Recorded(_) => {}
    }
    if session.namespaces.is_empty() && !session.all {
        return Situation::NoNamespace;
    }
    let reads: Vec<Read> = match world {
        Some(w) => w.reads().filter(|(k, ..)| *k == Kind::ComputePlane).map(|(_, _, r)| r.clone()).collect(),
        None => Vec::new(),
    };
    let all = |s: ReadState| !reads.is_empty() && reads.iter().all(|r| r.state == s);
    let any = |s: ReadState| reads.iter().find(|r| r.state == s);
    let problem = |s: ReadState| any(s).and_then(|r| r.problem.clone());
    if all(ReadState::AbsentApi) {
        Situation::AbsentApi
    } else if all(ReadState::UnsupportedVersion) {
        Situation::UnsupportedVersion
    } else if reads.is_empty() || any(ReadState::NotRead).is_some() {
        Situation::Loading
    } else if any(ReadState::Unreadable).is_some() {
        Situation::Unreadable(problem(ReadState::Unreadable))
    } else if any(ReadState::Forbidden).is_some() && any(ReadState::Complete).is_none() {
        Situation::Forbidden(problem(ReadState::Forbidden))
    } else {
        Situation::Empty
    }
}

fn failure_title(kind: ProblemKind) -> &'static str {
    match kind {
        ProblemKind::NotLoggedIn => "Not logged in",
        ProblemKind::Unauthorized => "The login was not accepted",
        ProblemKind::Unreachable => "The server can't be reached",
        ProblemKind::Timeout => "The server doesn't answer in time",
        ProblemKind::Tls => "The connection isn't trusted",
        ProblemKind::BadInput => "The kubeconfig can't be used",
        ProblemKind::Forbidden => "No permission",
        _ => "The cluster can't be used",
    }
}

fn failure_steps(kind: ProblemKind) -> &'static [&'static str] {
    match kind {
        ProblemKind::NotLoggedIn => &[
            "the kubeconfig's user holds no usable login: requests would be anonymous, which is not the same as no permission",
            "add a token, a client certificate or an exec login to that user, or choose another context with `c`",
        ],
        ProblemKind::Unauthorized => {
            &["log in again with your provider, or take a fresh token", "`ctrl-r` tries again, `c` chooses another context"]
        }
        ProblemKind::Unreachable | ProblemKind::Timeout => &[
            "check the server's address above, the network, VPN or proxy",
            "the console goes on trying by itself; `ctrl-r` tries now, `c` chooses another context",
        ],
        ProblemKind::Tls => {
            &["check certificate-authority and tls-server-name of the cluster in the kubeconfig", "`c` chooses another context"]
        }
        ProblemKind::BadInput => &["correct the file named above, or choose another context with `c`"],
        _ => &["`ctrl-r` tries again, `c` chooses another context"],
    }
}

/// What a page says: title, sentences, the problem behind it, what to do.
struct Page<'a> {
    title: &'static str,
    text: String,
    problem: Option<&'a Problem>,
    steps: &'static [&'static str],
}

/// The page for a situation.
pub fn page(situation: &Situation, session: &Session, width: u16) -> Doc {
    let mut doc = Doc::new(width);
    let page = words(situation, session);
    let margin = || vec![span(Role::Normal, " ")];
    doc.blank();
    doc.wrapped(margin(), Role::Strong, page.title);
    doc.blank();
    if !page.text.is_empty() {
        doc.wrapped(margin(), Role::Normal, &page.text);
    }
    if let Some(p) = page.problem {
        doc.wrapped(margin(), Role::Normal, &p.summary);
        for t in [&p.detail, &p.hint].into_iter().filter(|t| !t.is_empty()) {
            doc.wrapped(margin(), Role::Dim, t);
        }
    }
    if !page.steps.is_empty() {
        doc.blank();
    }
    for s in page.steps {
        doc.wrapped(vec![span(Role::Accent, " → ")], Role::Normal, s);
    }
    doc
}

/// The namespaces looked at, in words.
fn places(session: &Session) -> String {
    match (session.all, session.namespaces.as_slice()) {
        (true, _) => "in the whole cluster".to_string(),
        (false, [one]) => format!("in {one}"),
        (false, many) => format!("in {} namespaces", many.len()),
    }
}

fn words<'a>(situation: &'a Situation, session: &Session) -> Page<'a> {
    let c = &session.current;
    let server = if c.server.is_empty() { String::new() } else { format!("server {}", c.server) };
    let (title, text, steps): (_, _, &[&str]) = match situation {
        Situation::Connecting if c.name.is_empty() => ("Connecting", "to the kubeconfig's current context".to_string(), &[]),
        Situation::Connecting => ("Connecting", format!("context {} {server}", c.name), &[]),
        Situation::Loading => ("Loading", format!("reading ComputePlanes {}", places(session)), &[]),
        Situation::NoNamespace => (
            "No namespace to look at",
            "neither the kubeconfig nor the server named a namespace of yours".to_string(),
            &["type one with `n`, or start with `-n NAMESPACE`", "`-A` looks at the whole cluster, where your role allows it"],
        ),
        Situation::Empty => (
            "No ComputePlane",
            format!("everything was read {}, and there is none", places(session)),
            &["a plane is switched on in the parent: its owner sets `computeplane: true` in the Tenant's spec", "other namespaces: `n`"],
        ),
        Situation::Filtered(n) => {
            ("Nothing passes the filter", format!("{n} rows are held back by it"), &["`esc` clears the filter, `/` changes it"])
        }
        Situation::Failed(p) => {
            return Page { title: failure_title(p.kind), text: server, problem: Some(p), steps: failure_steps(p.kind) };
        }
        refused => return refusal(refused, &places(session)),
    };
    Page { title, text, problem: None, steps }
}

/// Pages about a server that answers, but not with ComputePlanes.
fn refusal<'a>(situation: &'a Situation, places: &str) -> Page<'a> {
    match situation {
        Situation::Forbidden(problem) => Page {
            title: "You may not list ComputePlanes here",
            text: format!("the server refused {places}; this says nothing about whether there are any"),
            problem: problem.as_ref(),
            steps: &[
                "ask the tenant's admin for the role `view` or higher, or choose other namespaces with `n`",
                "asked again every minute, when the window gets the focus, and with `ctrl-r`",
            ],
        },
        Situation::AbsentApi => Page {
            title: "This server has no ComputePlanes",
            text: "computeplanes.apps.cozystack.io isn't served here: not Cozystack, one older than ComputePlanes, or its API is down just now"
                .to_string(),
            problem: None,
            steps: &["check the context and server in the header; `c` chooses another context", "`ctrl-r` asks again"],
        },
        Situation::UnsupportedVersion => Page {
            title: "ComputePlanes of a version that this console can't read",
            text: "the server offers the kind only in versions newer or older than the ones known here".to_string(),
            problem: None,
            steps: &["use a planedeck that fits the platform's release"],
        },
        other => Page {
            title: "The list of ComputePlanes can't be read",
            text: format!("asked {places}"),
            problem: if let Situation::Unreadable(p) = other { p.as_ref() } else { None },
            steps: &["the console goes on trying by itself; `ctrl-r` tries now", "`r` shows every request and its answer"],
        },
    }
}
