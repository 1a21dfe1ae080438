//! What the server serves, in our own words: groups, versions, resources. Owns reading of both discovery forms; must not cache or ask twice.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::model::{Kind, Problem, ProblemKind};

/// Accept header for the aggregated form, with the plain one as a fallback.
pub const AGGREGATED: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json";

/// Groups with their versions in the server's order of preference, and the resources of each where known.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Discovered {
    groups: BTreeMap<String, Vec<String>>,
    resources: BTreeMap<(String, String), BTreeSet<String>>,
    /// Versions whose resources could not be told (a failing aggregated API): nothing may be concluded from their absence.
    failed: BTreeSet<(String, String)>,
}

impl Discovered {
    /// Reads an answer of `/apis` or `/api` in either form. Returns false when the answer was the plain form (resources unknown).
    pub fn read(&mut self, answer: &Value) -> bool {
        if answer.get("kind").and_then(Value::as_str) == Some("APIGroupDiscoveryList") {
            for group in list(answer, "items") {
                let name = text(group.get("metadata").unwrap_or(&Value::Null), "name");
                for version in list(group, "versions") {
                    self.aggregated_version(&name, version);
                }
            }
            return true;
        }
        for group in list(answer, "groups") {
            let name = text(group, "name");
            let preferred = text(group.get("preferredVersion").unwrap_or(&Value::Null), "version");
            let mut versions: Vec<String> = list(group, "versions").map(|v| text(v, "version")).collect();
            versions.sort_by_key(|v| *v != preferred);
            self.groups.insert(name, versions);
        }
        // `/api` in the plain form.
        if let Some(core) = answer.get("versions").and_then(Value::as_array) {
            self.groups.insert(String::new(), core.iter().filter_map(Value::as_str).map(str::to_string).collect());
        }
        false
    }

    fn aggregated_version(&mut self, group: &str, version: &Value) {
        let name = text(version, "version");
        self.groups.entry(group.to_string()).or_default().push(name.clone());
        let key = (group.to_string(), name);
        if text(version, "freshness") == "Stale" {
            self.failed.insert(key.clone());
        }
        self.resources.insert(key, list(version, "resources").map(|r| text(r, "resource")).collect());
    }

    /// Adds what `/apis/GROUP/VERSION` says.
    pub fn read_resources(&mut self, group: &str, version: &str, answer: &Value) {
        let names = list(answer, "resources").map(|r| text(r, "name")).filter(|n| !n.contains('/'));
        self.resources.insert((group.to_string(), version.to_string()), names.collect());
    }

    /// Notes that a group version could not be read.
    pub fn fail(&mut self, group: &str, version: &str) {
        self.failed.insert((group.to_string(), version.to_string()));
    }

    /// Takes the core group's, or all other kinds', preferred version for served: the server won't tell.
    pub fn assume(&mut self, core: bool) {
        for k in crate::model::kind::KINDS.iter().filter(|k| k.group.is_empty() == core) {
            for version in k.versions.iter().take(1) {
                let versions = self.groups.entry(k.group.to_string()).or_default();
                if !versions.iter().any(|v| v == version) {
                    versions.push((*version).to_string());
                }
                self.fail(k.group, version);
            }
        }
    }

    /// Group versions of our kinds whose resources aren't known yet.
    pub fn missing(&self) -> Vec<(String, String)> {
        let mut out: Vec<(String, String)> = crate::model::kind::KINDS
            .iter()
            .flat_map(|k| self.groups.get(k.group).into_iter().flatten().map(|v| (k.group.to_string(), v.clone())))
            .filter(|key| !self.resources.contains_key(key) && !self.failed.contains(key))
            .collect();
        out.sort();
        out.dedup();
        out
    }

    /// The version in which a kind is to be read: the first of ours that the server serves.
    ///
    /// # Errors
    /// `AbsentApi` when the server serves no such resource, `UnsupportedVersion` when it does in versions that can't be parsed.
    pub fn version(&self, kind: Kind) -> Result<&'static str, Problem> {
        let info = kind.info();
        let served = self.groups.get(info.group).map(Vec::as_slice).unwrap_or_default();
        let has = |v: &str| {
            let key = (info.group.to_string(), v.to_string());
            // A group that couldn't be read is tried anyway: the answer to the list tells more than discovery did.
            self.failed.contains(&key) || self.resources.get(&key).is_none_or(|r| r.contains(info.plural))
        };
        if let Some(v) = info.versions.iter().find(|v| served.iter().any(|s| s == *v) && has(v)) {
            return Ok(v);
        }
        let others: Vec<&str> = served
            .iter()
            .map(String::as_str)
            .filter(|v| self.resources.get(&(info.group.to_string(), v.to_string())).is_some_and(|r| r.contains(info.plural)))
            .collect();
        if others.is_empty() {
            return Err(Problem::new(ProblemKind::AbsentApi, format!("this server doesn't serve {}", kind.resource())));
        }
        Err(Problem::new(ProblemKind::UnsupportedVersion, format!("{} is served as {}", kind.resource(), others.join(", ")))
            .hint(format!("planedeck reads {}", info.versions.join(", "))))
    }
}

fn list<'a>(v: &'a Value, key: &str) -> impl Iterator<Item = &'a Value> + use<'a> {
    v.get(key).and_then(Value::as_array).into_iter().flatten()
}

fn text(v: &Value, key: &str) -> String {
    v.get(key).and_then(Value::as_str).unwrap_or_default().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn both_forms_tell_the_same() {
        let mut a = Discovered::default();
        assert!(a.read(&json!({"kind": "APIGroupDiscoveryList", "items": [{"metadata": {"name": "cluster.x-k8s.io"}, "versions": [
            {"version": "v1beta2", "resources": [{"resource": "machines"}]}, {"version": "v1beta1", "resources": [{"resource": "machines"}, {"resource": "clusters"}]}]}]})));
        assert_eq!(a.version(Kind::Machine).unwrap(), "v1beta2");
        assert_eq!(a.version(Kind::Cluster).unwrap(), "v1beta1");
        let mut b = Discovered::default();
        assert!(!b.read(&json!({"groups": [{"name": "cluster.x-k8s.io", "versions": [{"version": "v1beta1"}], "preferredVersion": {"version": "v1beta1"}}]})));
        assert_eq!(b.missing(), [("cluster.x-k8s.io".to_string(), "v1beta1".to_string())]);
        b.read_resources("cluster.x-k8s.io", "v1beta1", &json!({"resources": [{"name": "machines"}, {"name": "machines/status"}]}));
        assert_eq!(b.version(Kind::Machine).unwrap(), "v1beta1");
        assert_eq!(b.version(Kind::Cluster).unwrap_err().kind, ProblemKind::AbsentApi);
    }

    #[test]
    fn foreign_versions_and_failed_groups_are_told_apart() {
        let mut d = Discovered::default();
        d.read(&json!({"kind": "APIGroupDiscoveryList", "items": [
            {"metadata": {"name": "kamaji.clastix.io"}, "versions": [{"version": "v9", "resources": [{"resource": "tenantcontrolplanes"}]}]},
            {"metadata": {"name": "apps.cozystack.io"}, "versions": [{"version": "v1alpha1", "freshness": "Stale", "resources": []}]}]}));
        assert_eq!(d.version(Kind::TenantControlPlane).unwrap_err().kind, ProblemKind::UnsupportedVersion);
        assert_eq!(d.version(Kind::ComputePlane).unwrap(), "v1alpha1");
        assert_eq!(d.version(Kind::Machine).unwrap_err().kind, ProblemKind::AbsentApi);
    }
}
