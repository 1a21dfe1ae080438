//! From a world to the planes that were asked for. Owns the choice; judging is the verdict engine's.

use super::{gather::Seen, plane_name::Asked};
use crate::{
    health::{self, deadlines::Deadlines},
    model::{Problem, ProblemKind, verdict::Plane},
};

/// The planes of an answer.
pub struct Planes {
    /// In order of namespace.
    pub planes: Vec<Plane>,
    /// Exactly one was asked for by name: it is printed as itself, not as a list.
    pub one: bool,
}

/// Judges what was asked for.
///
/// # Errors
/// `BadInput` when a name fits several planes or none.
pub fn choose(seen: &Seen, asked: &Asked, namespaces: &[String], deadlines: &Deadlines) -> Result<Planes, Problem> {
    let world = &seen.world;
    let found = || health::planes(world).into_iter().filter(|ns| namespaces.is_empty() || namespaces.iter().any(|n| **n == **ns));
    let judged = |ns: &str| health::judge(world, ns, seen.now, deadlines);
    let asked_for = |ns: &str| health::judge_asked(world, ns, seen.now, deadlines);
    match asked {
        Asked::Namespace(ns) => Ok(Planes { planes: vec![asked_for(ns)], one: true }),
        Asked::All => {
            let mut planes: Vec<Plane> = found().filter_map(|ns| judged(&ns)).collect();
            let missing =
                namespaces.iter().filter(|ns| !planes.iter().any(|p| p.namespace == **ns)).map(|ns| asked_for(ns)).collect::<Vec<_>>();
            planes.extend(missing);
            planes.sort_by(|a, b| (&a.namespace, &a.name).cmp(&(&b.namespace, &b.name)));
            Ok(Planes { planes, one: false })
        }
        Asked::Name(name) => {
            let all: Vec<_> = found().collect();
            match (all.as_slice(), namespaces) {
                ([one], _) => Ok(Planes { planes: vec![asked_for(one)], one: true }),
                ([], [one]) => Ok(Planes { planes: vec![asked_for(one)], one: true }),
                ([], _) => Err(Problem::new(ProblemKind::BadInput, format!("{name}: no such plane here"))
                    .hint("name its namespace with -n, or write NAMESPACE/NAME")),
                (several, _) => {
                    let names: Vec<String> = several.iter().take(5).map(|ns| format!("{ns}/{name}")).collect();
                    let more = if several.len() > names.len() { ", …" } else { "" };
                    Err(Problem::new(ProblemKind::BadInput, format!("{name}: {} planes have this name", several.len()))
                        .hint(format!("write one of {}{more}", names.join(", "))))
                }
            }
        }
    }
}
