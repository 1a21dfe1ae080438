//! `[NS/]NAME` on the command line. Owns how it is read; must not look anything up.

use crate::model::{Problem, ProblemKind, text};

/// The plane's usual name; the platform refuses any other (`platform.md` 3.1, N-NAME).
const PLANE: &str = "computeplane";

/// Which planes were asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Asked {
    /// All that can be seen.
    All,
    /// The plane of this namespace.
    Namespace(String),
    /// A plane by name, wherever the `-n` namespaces or the view hold one.
    Name(String),
}

impl Asked {
    /// Reads `NS/NAME`, or a lone word: `computeplane` is a name, anything else a namespace (there is one plane a namespace, so the
    /// namespace is what people call it by).
    ///
    /// # Errors
    /// `BadInput` for `NS/NAME` with a name that no plane can have, or with nothing before or behind the slash.
    pub fn read(arg: Option<&str>) -> Result<Asked, Problem> {
        match arg {
            None => Ok(Asked::All),
            Some(a) => match a.split_once('/') {
                Some((ns, PLANE)) if !ns.is_empty() => Ok(Asked::Namespace(ns.to_string())),
                None if a == PLANE => Ok(Asked::Name(a.to_string())),
                None if !a.is_empty() => Ok(Asked::Namespace(a.to_string())),
                _ => Err(Problem::new(ProblemKind::BadInput, format!("{:?} names no plane", text::line(a)))
                    .hint("write NAMESPACE/computeplane, NAMESPACE or computeplane; the platform allows no other name")),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lone_word_is_a_namespace_unless_it_is_the_name() {
        let read = |a| Asked::read(a).unwrap();
        assert_eq!(read(Some("tenant-a/computeplane")), Asked::Namespace("tenant-a".into()));
        assert_eq!(read(Some("tenant-a")), Asked::Namespace("tenant-a".into()));
        assert_eq!(read(Some("computeplane")), Asked::Name("computeplane".into()));
        assert_eq!(read(None), Asked::All);
        for wrong in ["tenant-a/other", "tenant-a/", "/computeplane", "", "a/b/c"] {
            assert!(Asked::read(Some(wrong)).is_err(), "{wrong}");
        }
    }
}
