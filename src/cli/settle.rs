//! Flags, variables and settings settled into one answer each: flags and variables first, then the file. Owns precedence; must not act.

use std::{collections::BTreeMap, time::Duration};

use super::args::Global;
use crate::{
    cluster::{audit_file::AuditFile, door, trail::AuditTrail},
    config::{self, Loaded, Settings, folders},
    model::{Problem, ProblemKind},
    runtime::connect::{Connector, Safety},
};

/// What counts.
#[derive(Clone)]
pub struct Effective {
    /// Flags, with the settings filled in where no flag spoke.
    pub global: Global,
    /// The settings file's values.
    pub settings: Settings,
    /// What was wrong with the settings, one line each.
    pub warnings: Vec<String>,
}

/// Settles flags and the settings file they name.
pub fn settle(mut global: Global) -> Effective {
    drop_empty(&mut global);
    let Loaded { settings, warnings, .. } = config::load(global.config.as_deref());
    global.context = global.context.or_else(|| settings.context.clone());
    if global.namespace.is_empty() && !global.all_namespaces {
        global.namespace.clone_from(&settings.namespaces);
    }
    global.all_namespaces |= settings.all_namespaces && global.namespace.is_empty();
    // A lock is closed by whoever closes it: no source can open what another one closed.
    global.read_only |= settings.read_only;
    global.ascii |= settings.ascii;
    global.audit_log = global.audit_log.or_else(|| settings.audit_log.clone());
    global.request_timeout = global.request_timeout.or(settings.request_timeout);
    global.color = global.color.or(settings.color);
    Effective { global, settings, warnings }
}

/// A namespace or format that is set to nothing counts as not set, as kubectl has it. Nothing else does: `--as ""`, `--from ""` or
/// `--context ""` is a script's empty variable, and guessing past it would act as another or somewhere else.
fn drop_empty(g: &mut Global) {
    g.namespace.retain(|n| !n.is_empty());
    g.output = g.output.take().filter(|o| !o.is_empty());
}

/// The log's path; none is no answer where a log has to be kept (an account without an entry has no home).
fn needed(path: Option<std::path::PathBuf>, required: bool) -> Result<Option<std::path::PathBuf>, Problem> {
    if required && path.is_none() { Err(no_log("there is no home folder for it".into())) } else { Ok(path) }
}

impl Effective {
    /// The same without an audit log, for the one command that must run although the log is broken: the one that says so.
    pub fn without_log(&self) -> Effective {
        let mut other = self.clone();
        other.global.audit_log = None;
        other.global.no_audit_log = true;
        other
    }

    /// The longest wait for answers.
    pub fn limit(&self) -> Duration {
        let asked = self.global.request_timeout.and_then(|d| Duration::try_from(d).ok()).filter(|d| !d.is_zero());
        asked.unwrap_or(crate::cluster::session::TIME_LIMIT)
    }

    /// The way to a session, behind the guard that these flags ask for.
    ///
    /// # Errors
    /// An unusable kubeconfig or scenario; in read-only mode also an audit log that can't be written.
    pub fn connector(&self) -> Result<Connector, Problem> {
        let safety =
            Safety { trail: self.trail()?, read_only: self.global.read_only, read_only_contexts: self.settings.read_only_contexts.clone() };
        match &self.global.demo {
            Some(scenario) => Connector::demo(scenario, safety),
            None => Connector::kubeconfig(&self.door(), safety),
        }
    }

    /// The audit log's path: named, or in read-only mode the one in the state folder.
    pub fn audit_path(&self) -> Option<std::path::PathBuf> {
        if self.global.no_audit_log {
            return None;
        }
        let own = || folders::state().map(|d| d.join("audit.jsonl"));
        self.global.audit_log.clone().or_else(|| self.may_lock().then(own).flatten())
    }

    /// True when a context of this process is or may be read-only: then nothing leaves without a line in the log.
    fn may_lock(&self) -> bool {
        self.global.read_only || !self.settings.read_only_contexts.is_empty()
    }

    fn trail(&self) -> Result<AuditTrail, Problem> {
        let Some(path) = needed(self.audit_path(), self.may_lock() && !self.global.no_audit_log)? else { return Ok(AuditTrail::default()) };
        if let Some(dir) = path.parent().filter(|d| !d.as_os_str().is_empty() && !d.exists()) {
            folders::create_private(dir).map_err(|e| no_log(format!("{}: {e}", dir.display())))?;
        }
        let file = AuditFile::open(&path).map_err(|e| no_log(format!("{}: {e}", path.display())))?;
        Ok(AuditTrail::with_file(file, self.may_lock()))
    }

    fn door(&self) -> door::Options {
        let g = &self.global;
        let one = match g.namespace.as_slice() {
            [one] => Some(one.clone()),
            _ => None,
        };
        door::Options {
            kubeconfig: g.kubeconfig.clone(),
            kubeconfig_env: std::env::var_os("KUBECONFIG"),
            home: std::env::var_os("HOME").map(Into::into),
            context: g.context.clone(),
            namespace: one,
            as_user: g.as_user.clone(),
            as_groups: g.as_group.clone(),
            request_timeout: g.request_timeout.and_then(|d| Duration::try_from(d).ok()),
            read_only: g.read_only,
            env: door::pick_variables(text_variables()),
            ..door::Options::default()
        }
    }
}

/// The environment's variables that are text; others can't be proxies or service addresses.
fn text_variables() -> BTreeMap<String, String> {
    std::env::vars_os().filter_map(|(k, v)| Some((k.into_string().ok()?, v.into_string().ok()?))).collect()
}

fn no_log(why: String) -> Problem {
    Problem::new(ProblemKind::BadInput, format!("the audit log can't be written: {why}"))
        .hint("name another file with --audit-log, or start with --no-audit-log")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_home_a_log_that_must_be_kept_is_missed_not_skipped() {
        assert!(needed(None, true).is_err_and(|p| p.to_string().contains("no home folder")));
        assert_eq!(needed(None, false), Ok(None));
        let path = std::path::PathBuf::from("a");
        assert_eq!(needed(Some(path.clone()), true), Ok(Some(path)));
    }
}
