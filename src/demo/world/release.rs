//! HelmReleases as Flux writes them: addon and pool releases, and the status of an attempt.
//! Owns these documents; decides no outcome.

use serde_json::{Value, json};

use super::template::after;
use crate::{demo::store::short, model::Time};

/// How an attempt ended, or that it runs.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Outcome {
    Running,
    Succeeded,
    /// The message after the chart, and how often it failed.
    Failed(String, u64),
}

/// An attempt to bring a release to its spec.
pub(super) struct Attempt<'a> {
    pub ns: &'a str,
    pub name: &'a str,
    pub chart: &'a str,
    /// Helm revision that the attempt makes, or would make.
    pub revision: u64,
    pub generation: i64,
    pub at: Time,
}

impl Attempt<'_> {
    /// The chart version of this platform.
    fn version(&self) -> String {
        match self.chart {
            "computeplane" => "0.0.0+206a585c1232".into(),
            "kubernetes" => "0.0.0+4b57a9c632e2".into(),
            _ => format!("0.0.0+{:.12}", crate::demo::store::uid("chart", "", self.chart).replace('-', "")),
        }
    }

    fn action(&self) -> &'static str {
        if self.revision > 1 { "upgrade" } else { "install" }
    }

    /// The status after the attempt; `old` keeps the history.
    pub fn status(&self, outcome: &Outcome, old: Option<&Value>) -> Value {
        let word = if self.revision > 1 { "Upgrade" } else { "Install" };
        let chart = format!("{}@{}", self.chart, self.version());
        let (status, reason, message) = match outcome {
            Outcome::Running => {
                let timeout = if self.chart == "kubernetes" { "30m0s" } else { "10m0s" };
                let text = format!("Running '{}' action with timeout of {timeout}", self.action());
                ("Unknown", "Progressing".to_string(), text)
            }
            Outcome::Succeeded => {
                let release = format!("{}/{}.v{}", self.ns, self.name, self.revision);
                let text = format!("Helm {} succeeded for release {release} with chart {chart}", self.action());
                ("True", format!("{word}Succeeded"), text)
            }
            Outcome::Failed(why, _) => {
                let release = format!("{}/{}", self.ns, self.name);
                let text = format!("Helm {} failed for release {release} with chart {chart}: {why}", self.action());
                ("False", format!("{word}Failed"), text)
            }
        };
        let condition = |kind: &str, status: &str| {
            json!({"lastTransitionTime": short(self.at), "message": message, "observedGeneration": self.generation,
                "reason": reason, "status": status, "type": kind})
        };
        let mut conditions = vec![condition("Ready", status)];
        match outcome {
            Outcome::Running => conditions.insert(0, condition("Reconciling", "True")),
            _ => conditions.push(condition("Released", status)),
        }
        let mut history: Vec<Value> = old.and_then(|o| o.get("history")).and_then(Value::as_array).cloned().unwrap_or_default();
        if *outcome == Outcome::Succeeded {
            for h in &mut history {
                if let Some(o) = h.as_object_mut() {
                    o.insert("status".into(), json!("superseded"));
                }
            }
            history.insert(0, self.snapshot());
            history.truncate(5);
        }
        let observed = match outcome {
            Outcome::Succeeded => self.generation,
            _ => old.and_then(|o| o.get("observedGeneration")).and_then(Value::as_i64).unwrap_or(-1),
        };
        let mut out = json!({"conditions": conditions, "history": history, "lastAttemptedGeneration": self.generation,
            "lastAttemptedReleaseAction": self.action(), "lastAttemptedReleaseActionDuration": "2.724702934s",
            "lastAttemptedRevision": self.version(), "observedGeneration": observed, "storageNamespace": self.ns});
        if let Some(o) = out.as_object_mut() {
            if let Outcome::Failed(_, failures) = outcome {
                o.insert("failures".into(), json!(failures));
            }
            if let Some(inventory) = old.and_then(|o| o.get("inventory")) {
                o.insert("inventory".into(), inventory.clone());
            }
        }
        out
    }

    fn snapshot(&self) -> Value {
        let digest = |what: &str| {
            let half = crate::demo::store::uid(what, self.ns, &format!("{}{}", self.name, self.revision)).replace('-', "");
            format!("sha256:{half}{half}")
        };
        json!({"action": self.action(), "apiVersion": "v2", "chartName": self.chart, "chartVersion": self.version(),
            "configDigest": digest("config"), "digest": digest("release"), "firstDeployed": short(self.at),
            "lastDeployed": short(self.at), "name": self.name, "namespace": self.ns, "status": "deployed",
            "version": self.revision})
    }

    /// The event of the outcome, if it makes one.
    pub fn event(&self, outcome: &Outcome) -> Option<Value> {
        let status = self.status(outcome, None);
        let ready = status.pointer("/conditions/0")?;
        let text = |k: &str| ready.get(k).and_then(Value::as_str).unwrap_or("").to_string();
        let kind = match outcome {
            Outcome::Running => return None,
            Outcome::Succeeded => "Normal",
            Outcome::Failed(..) => "Warning",
        };
        let about = super::objects::About { ns: self.ns, api: "helm.toolkit.fluxcd.io/v2", kind: "HelmRelease", name: self.name };
        Some(super::objects::event(&about, (kind, &text("reason"), &text("message")), "helm-controller", self.at))
    }
}

/// Addon releases every plane has, with their dependencies. The charts of the platform pin them on (`status.md` 1.1).
pub(super) const ADDONS: &[(&str, &[&str])] = &[
    ("cilium", &[]),
    ("prometheus-operator-crds", &[]),
    ("cert-manager-crds", &["cilium"]),
    ("cert-manager", &["cilium", "cert-manager-crds"]),
    ("coredns", &["cilium"]),
    ("csi", &["vsnap-crd", "cilium"]),
    ("ingress-nginx", &["cilium"]),
    ("metrics-server", &["cilium", "prometheus-operator-crds"]),
    ("vsnap-crd", &[]),
];

/// An addon release that is installed, or waits for cilium.
pub(super) fn addon(ns: &str, suffix: &str, needs: &[&str], ready: bool, born: Time) -> Value {
    let name = format!("computeplane-cluster-{suffix}");
    let depends: Vec<Value> = needs.iter().map(|n| json!({"name": format!("computeplane-cluster-{n}"), "namespace": ns})).collect();
    let at = after(born, 90);
    let attempt = Attempt { ns, name: &name, chart: suffix, revision: 1, generation: 1, at };
    let status = if ready {
        attempt.status(&Outcome::Succeeded, None)
    } else if needs.is_empty() {
        let why = format!("timeout waiting for: [DaemonSet/cozy-{suffix}/{suffix} status: 'InProgress']");
        attempt.status(&Outcome::Failed(why, 2), None)
    } else {
        let text = format!("dependency '{ns}/computeplane-cluster-{}' is not ready", needs.first().unwrap_or(&"cilium"));
        json!({"observedGeneration": -1, "conditions": [{"type": "Ready", "status": "False", "reason": "DependencyNotReady",
            "observedGeneration": 1, "lastTransitionTime": short(at), "message": text}]})
    };
    let chart = format!("cozystack-kubernetes-application-kubevirt-kubernetes-{suffix}");
    json!({"apiVersion": "helm.toolkit.fluxcd.io/v2", "kind": "HelmRelease",
        "metadata": {"name": name, "namespace": ns, "creationTimestamp": short(after(born, 20)),
            "finalizers": ["finalizers.fluxcd.io"], "generation": 1,
            "annotations": {"meta.helm.sh/release-name": "computeplane-cluster", "meta.helm.sh/release-namespace": ns},
            "labels": {"app.kubernetes.io/managed-by": "Helm", "cozystack.io/repository": "system",
                "cozystack.io/target-cluster-name": "computeplane-cluster",
                "helm.toolkit.fluxcd.io/name": "computeplane-cluster", "helm.toolkit.fluxcd.io/namespace": ns,
                "sharding.fluxcd.io/key": "tenants"}},
        "spec": {"chartRef": {"kind": "ExternalArtifact", "name": chart, "namespace": "cozy-system"},
            "dependsOn": depends, "interval": "5m", "timeout": "10m", "releaseName": suffix,
            "install": {"createNamespace": true, "remediation": {"retries": -1}}, "upgrade": {"remediation": {"retries": -1}},
            "kubeConfig": {"secretRef": {"name": "computeplane-cluster-admin-kubeconfig", "key": "super-admin.svc"}},
            "targetNamespace": format!("cozy-{suffix}"), "storageNamespace": format!("cozy-{suffix}")},
        "status": status})
}

/// Name of a pool's release.
pub(super) fn pool_release_name(pool: &str) -> String {
    format!("kubernetes-nodes-computeplane-cluster-{pool}")
}

/// A pool's release without status.
pub(super) fn pool(ns: &str, pool: &str, group: &Value, born: Time) -> Value {
    let mut values = group.clone();
    if let Some(o) = values.as_object_mut() {
        o.insert("cluster".into(), json!("computeplane-cluster"));
        o.insert("clusterReleaseName".into(), json!("computeplane-cluster"));
    }
    json!({"apiVersion": "helm.toolkit.fluxcd.io/v2", "kind": "HelmRelease",
        "metadata": {"name": pool_release_name(pool), "namespace": ns, "creationTimestamp": short(after(born, 2)),
            "finalizers": ["finalizers.fluxcd.io"], "generation": 1,
            "annotations": {"meta.helm.sh/release-name": "computeplane", "meta.helm.sh/release-namespace": ns},
            "labels": {"app.kubernetes.io/managed-by": "Helm", "apps.cozystack.io/application.group": "apps.cozystack.io",
                "apps.cozystack.io/application.kind": "KubernetesNodes",
                "apps.cozystack.io/application.name": format!("computeplane-cluster-{pool}"),
                "helm.toolkit.fluxcd.io/name": "computeplane", "helm.toolkit.fluxcd.io/namespace": ns,
                "internal.cozystack.io/computeplane": "true", "sharding.fluxcd.io/key": "tenants"}},
        "spec": {"chartRef": {"kind": "ExternalArtifact",
                "name": "cozystack-computeplane-application-kubevirt-kubernetes-nodes", "namespace": "cozy-system"},
            "install": {"strategy": {"name": "RetryOnFailure", "retryInterval": "30s"}}, "interval": "5m", "timeout": "10m",
            "upgrade": {"strategy": {"name": "RetryOnFailure", "retryInterval": "30s"}}, "values": values,
            "valuesFrom": [{"kind": "Secret", "name": "cozystack-values"}]}})
}
