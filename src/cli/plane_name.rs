//! `[NS/]NAME` on the command line. Owns how it is read; must not look anything up.

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
    pub fn read(arg: Option<&str>) -> Asked {
        match arg {
            None => Asked::All,
            Some(a) => match a.split_once('/') {
                Some((ns, _)) => Asked::Namespace(ns.to_string()),
                None if a == PLANE => Asked::Name(a.to_string()),
                None => Asked::Namespace(a.to_string()),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lone_word_is_a_namespace_unless_it_is_the_name() {
        assert_eq!(Asked::read(Some("tenant-a/computeplane")), Asked::Namespace("tenant-a".into()));
        assert_eq!(Asked::read(Some("tenant-a")), Asked::Namespace("tenant-a".into()));
        assert_eq!(Asked::read(Some("computeplane")), Asked::Name("computeplane".into()));
        assert_eq!(Asked::read(None), Asked::All);
    }
}
