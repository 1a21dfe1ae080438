//! Who calls. Owns user names, groups and the tokens of the socket; decides nothing.

/// A caller, as authentication leaves it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// User name.
    pub user: String,
    /// Groups, without `system:authenticated`.
    pub groups: Vec<String>,
    /// False for a token the server doesn't know (401).
    pub known: bool,
}

/// The group of the demo's default user: everything in each tenant namespace but `tenant-nb`, where only planes may be read.
pub(crate) const OPERATORS: &str = "demo-operators";
const MASTERS: &str = "system:masters";

/// Graded access to a tenant (`platform.md` 2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs)] // the platform's own names
pub enum Level {
    View,
    Use,
    Admin,
    SuperAdmin,
}

impl Level {
    /// The suffix of the group name.
    pub fn suffix(self) -> &'static str {
        match self {
            Level::View => "view",
            Level::Use => "use",
            Level::Admin => "admin",
            Level::SuperAdmin => "super-admin",
        }
    }
}

impl Identity {
    /// A member of a tenant's group, say `tenant-acme-view`.
    pub fn tenant(namespace: &str, level: Level) -> Identity {
        let group = format!("{namespace}-{}", level.suffix());
        Identity { user: format!("user@{group}"), groups: vec![group], known: true }
    }

    /// The ServiceAccount of a tenant.
    pub fn service_account(namespace: &str) -> Identity {
        let groups = vec!["system:serviceaccounts".into(), format!("system:serviceaccounts:{namespace}")];
        Identity { user: format!("system:serviceaccount:{namespace}:{namespace}"), groups, known: true }
    }

    /// A cluster administrator.
    pub fn sre() -> Identity {
        Identity { user: "sre@example.org".into(), groups: vec![MASTERS.into()], known: true }
    }

    /// The default user of `--demo`: may do everything in the tenants but `tenant-nb`.
    pub fn operator() -> Identity {
        Identity { user: "demo@example.org".into(), groups: vec![OPERATORS.into()], known: true }
    }

    /// Authenticated, bound to nothing.
    pub fn nobody() -> Identity {
        Identity { user: "nobody@example.org".into(), groups: Vec::new(), known: true }
    }

    /// No credentials at all.
    pub fn anonymous() -> Identity {
        Identity { user: "system:anonymous".into(), groups: vec!["system:unauthenticated".into()], known: true }
    }

    /// An expired or unknown token.
    pub fn unknown() -> Identity {
        Identity { user: String::new(), groups: Vec::new(), known: false }
    }

    /// The identity behind a bearer token of the socket: `sre`, `operator`, `nobody`, `NAMESPACE:LEVEL` or `NAMESPACE:sa`.
    /// Anything else is unknown.
    pub fn of_token(token: &str) -> Identity {
        match token {
            "sre" => return Identity::sre(),
            "operator" => return Identity::operator(),
            "nobody" => return Identity::nobody(),
            _ => {}
        }
        let Some((namespace, level)) = token.split_once(':') else { return Identity::unknown() };
        match level {
            "view" => Identity::tenant(namespace, Level::View),
            "use" => Identity::tenant(namespace, Level::Use),
            "admin" => Identity::tenant(namespace, Level::Admin),
            "super-admin" => Identity::tenant(namespace, Level::SuperAdmin),
            "sa" => Identity::service_account(namespace),
            _ => Identity::unknown(),
        }
    }

    /// True for everyone who logged in.
    pub fn authenticated(&self) -> bool {
        self.known && self.user != "system:anonymous"
    }

    pub(crate) fn is_admin(&self) -> bool {
        self.groups.iter().any(|g| g == MASTERS)
    }

    pub(crate) fn is_operator(&self) -> bool {
        self.groups.iter().any(|g| g == OPERATORS)
    }

    /// All groups, as a `SelfSubjectReview` shows them.
    pub fn all_groups(&self) -> Vec<String> {
        let mut groups = self.groups.clone();
        if self.authenticated() {
            groups.push("system:authenticated".into());
        }
        groups
    }
}
