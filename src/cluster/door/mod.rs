//! The door: kubeconfig, login, proxy, and the `kube::Config`s that clients are built from.
//! Owns everything between the flags and a usable login; must not send a request to a cluster, nor paint, nor keep a terminal.
//!
//! Follows kubectl where kubectl is right, and says so in a note where it reads something odd. Rules: stack.md 2.2-2.4.

mod client;
mod entries;
mod exec;
mod files;
mod login;
mod node;
mod proxy;
mod resolve;
mod secret;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use crate::model::context::ContextInfo;
use crate::model::{Problem, ProblemKind, text};

pub use client::Clients;
pub use files::{VARIABLES, pick_variables};
pub use login::{Login, LoginFailure};
pub use resolve::ResolvedContext;

/// What flags, settings and environment say. No `Debug`: proxy variables may hold passwords.
#[derive(Clone, Default)]
pub struct Options {
    /// `--kubeconfig`: one file, which must exist.
    pub kubeconfig: Option<PathBuf>,
    /// The value of `KUBECONFIG`.
    pub kubeconfig_env: Option<OsString>,
    /// The home folder; its `.kube/config` is the default.
    pub home: Option<PathBuf>,
    /// `--context`; `None` for the current one.
    pub context: Option<String>,
    /// `--namespace`, where exactly one was given.
    pub namespace: Option<String>,
    /// `--as`.
    pub as_user: Option<String>,
    /// `--as-group`.
    pub as_groups: Vec<String>,
    /// `--request-timeout` for short calls; `None` for 30 s, zero for none.
    pub request_timeout: Option<Duration>,
    /// The lock, only passed on into [`ContextInfo::read_only`].
    pub read_only: bool,
    /// The variables named in [`VARIABLES`].
    pub env: BTreeMap<String, String>,
    /// Folder of a pod's own account; `None` for the usual place.
    pub service_account: Option<PathBuf>,
    /// How long a login plugin may take without a terminal; `None` for 30 s.
    pub login_timeout: Option<Duration>,
}

/// The kubeconfig as found, and the logins made with it so far.
pub struct Door {
    options: Options,
    config: entries::Config,
    broken: Vec<Problem>,
    logins: Mutex<BTreeMap<(String, String), Arc<login::Slot>>>,
}

impl std::fmt::Debug for Door {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Door").field("contexts", &self.names()).finish_non_exhaustive()
    }
}

impl Door {
    /// Reads the kubeconfig files. Broken entries and, in a list, broken files are kept as problems beside the good ones.
    ///
    /// # Errors
    /// `BadInput`, naming file, field, what was found and what is allowed, where nothing usable is left.
    pub fn load(options: &Options) -> Result<Door, Problem> {
        let files::Loaded { config, broken } = files::load(options)?;
        Ok(Door { options: options.clone(), config, broken, logins: Mutex::default() })
    }

    /// Oddities of the files as a whole, one line each.
    pub fn notes(&self) -> Vec<String> {
        self.config.notes.iter().cloned().chain(self.broken.iter().map(|p| text::line(&p.to_string()))).collect()
    }

    /// The name of the context that is used if none is asked for.
    pub fn current(&self) -> Option<&str> {
        self.options.context.as_deref().filter(|c| !c.is_empty()).or(self.config.current.as_deref())
    }

    /// All contexts in the files' order. One that can't be used has its problem as the last note; [`Door::context`] gives it in full.
    pub fn contexts(&self) -> Vec<ContextInfo> {
        self.names()
            .into_iter()
            .map(|name| match self.context(Some(name)) {
                Ok(resolved) => resolved.info().clone(),
                Err(problem) => self.sketch(name, &problem),
            })
            .collect()
    }

    /// One context, ready to log in; `None` for the current one.
    ///
    /// # Errors
    /// `BadInput` for an unknown context (naming those that exist) or a broken entry, `NotLoggedIn` for a user that is not there.
    pub fn context(&self, name: Option<&str>) -> Result<ResolvedContext, Problem> {
        let name = match name {
            Some(n) => n,
            None => self.default_context()?,
        };
        let entry = self.config.contexts.iter().find(|c| c.name == name).ok_or_else(|| self.unknown(name))?;
        let context = entry.value.clone()?;
        resolve::resolve(
            &resolve::Parts { options: &self.options, config: &self.config, name, file: &entry.file, context: &context },
            |key| self.slot(key),
        )
    }

    fn names(&self) -> Vec<&str> {
        self.config.contexts.iter().map(|c| c.name.as_str()).collect()
    }

    /// Contexts that share cluster and user share one login.
    fn slot(&self, key: (String, String)) -> Arc<login::Slot> {
        let mut logins = self.logins.lock().unwrap_or_else(PoisonError::into_inner);
        logins.entry(key).or_default().clone()
    }

    fn sketch(&self, name: &str, problem: &Problem) -> ContextInfo {
        let found = self.config.contexts.iter().find(|c| c.name == name).and_then(|c| c.value.as_ref().ok());
        let word = |w: Option<&String>| w.map(|s| text::line(s)).unwrap_or_default();
        ContextInfo {
            name: text::line(name),
            server: String::new(),
            user: word(found.and_then(|c| c.user.as_ref())),
            namespace: found.and_then(|c| c.namespace.clone()),
            impersonate: None,
            read_only: self.options.read_only,
            notes: vec![text::line(&problem.to_string())],
        }
    }

    /// Which context is current, and what it means, could stand in a file that can't be read: then guessing could open the wrong cluster.
    fn default_context(&self) -> Result<&str, Problem> {
        if self.options.context.is_none()
            && let Some(problem) = self.broken.first()
        {
            return Err(problem.clone().hint("repair that file, or name a context with --context"));
        }
        let none = || Problem::new(ProblemKind::BadInput, "the kubeconfig has no current-context").hint(self.choices());
        self.current().ok_or_else(none)
    }

    fn unknown(&self, name: &str) -> Problem {
        let where_ = if self.options.context.is_some() { "--context" } else { "current-context" };
        Problem::new(ProblemKind::BadInput, text::line(&format!("{where_}: there is no context {name:?}"))).hint(self.choices())
    }

    /// The contexts that exist, at most twenty of them.
    fn choices(&self) -> String {
        let names = self.names();
        if names.is_empty() {
            return "the kubeconfig holds no contexts".into();
        }
        let shown = names.iter().take(20).copied().collect::<Vec<_>>().join(", ");
        let more = if names.len() > 20 { format!(" and {} more", names.len() - 20) } else { String::new() };
        text::line(&format!("contexts: {shown}{more}; choose one with --context"))
    }
}
