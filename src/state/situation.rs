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
        Phase::Connected => {}
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

/// The page for a situation.
pub fn page(situation: &Situation, session: &Session, width: u16) -> Doc {
    let mut doc = Doc::new(width);
    let places = match (session.all, session.namespaces.as_slice()) {
        (true, _) => "in the whole cluster".to_string(),
        (false, [one]) => format!("in {one}"),
        (false, many) => format!("in {} namespaces", many.len()),
    };
    let write = |doc: &mut Doc, title: &str, text: &[&str], problem: Option<&Problem>, steps: &[&str]| {
        doc.blank();
        doc.wrapped(vec![span(Role::Normal, " ")], Role::Strong, title);
        doc.blank();
        for t in text {
            doc.wrapped(vec![span(Role::Normal, " ")], Role::Normal, t);
        }
        if let Some(p) = problem {
            doc.wrapped(vec![span(Role::Normal, " ")], Role::Normal, &p.summary);
            for t in [&p.detail, &p.hint].into_iter().filter(|t| !t.is_empty()) {
                doc.wrapped(vec![span(Role::Normal, " ")], Role::Dim, t);
            }
        }
        if !steps.is_empty() {
            doc.blank();
        }
        for s in steps {
            doc.wrapped(vec![span(Role::Accent, " → ")], Role::Normal, s);
        }
    };
    let server = if session.current.server.is_empty() { String::new() } else { format!("server {}", session.current.server) };
    match situation {
        Situation::Connecting => {
            let whom = if session.current.name.is_empty() {
                "the current context".to_string()
            } else {
                format!("context {}", session.current.name)
            };
            write(&mut doc, "Connecting", &[&format!("{whom} {server}")], None, &[]);
        }
        Situation::Loading => write(&mut doc, "Loading", &[&format!("reading ComputePlanes {places}")], None, &[]),
        Situation::Failed(p) => write(&mut doc, failure_title(p.kind), &[&server], Some(p), failure_steps(p.kind)),
        Situation::NoNamespace => write(
            &mut doc,
            "No namespace to look at",
            &["neither the kubeconfig nor the server named a namespace of yours"],
            None,
            &["type one with `n`, or start with `-n NAMESPACE`", "`-A` looks at the whole cluster, where your role allows it"],
        ),
        Situation::Forbidden(p) => write(
            &mut doc,
            "You may not list ComputePlanes here",
            &[&format!("the server refused {places}; this says nothing about whether there are any")],
            p.as_ref(),
            &[
                "ask the tenant's admin for the role `view` or higher, or choose other namespaces with `n`",
                "asked again every minute, when the window gets the focus, and with `ctrl-r`",
            ],
        ),
        Situation::AbsentApi => write(
            &mut doc,
            "This server has no ComputePlanes",
            &[
                "computeplanes.apps.cozystack.io isn't served here: not Cozystack, one older than ComputePlanes, or its API is down just now",
            ],
            None,
            &["check the context and server in the header; `c` chooses another context", "`ctrl-r` asks again"],
        ),
        Situation::UnsupportedVersion => write(
            &mut doc,
            "ComputePlanes of a version that this console can't read",
            &["the server offers the kind only in versions newer or older than the ones known here"],
            None,
            &["use a planedeck that fits the platform's release"],
        ),
        Situation::Unreadable(p) => write(
            &mut doc,
            "The list of ComputePlanes can't be read",
            &[&format!("asked {places}")],
            p.as_ref(),
            &["the console goes on trying by itself; `ctrl-r` tries now", "`r` shows every request and its answer"],
        ),
        Situation::Empty => write(
            &mut doc,
            "No ComputePlane",
            &[&format!("everything was read {places}, and there is none")],
            None,
            &["a plane is switched on in the parent: its owner sets `computeplane: true` in the Tenant's spec", "other namespaces: `n`"],
        ),
        Situation::Filtered(n) => write(
            &mut doc,
            "Nothing passes the filter",
            &[&format!("{n} rows are held back by it")],
            None,
            &["`esc` clears the filter, `/` changes it"],
        ),
    }
    doc
}
