//! Which namespaces one may look at: asked for, the context's own, and those that the platform lists. Owns the order; needs no cluster scope.

use serde_json::Value;

use super::{ask::Ask as _, session::Session};
use crate::model::{Kind, Problem};

/// Namespaces and where their names came from.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Namespaces {
    /// In order of name, each once.
    pub names: Vec<String>,
    /// In words, for the header.
    pub source: String,
    /// Why the platform's own list could not be used, if it couldn't.
    pub problem: Option<Problem>,
}

/// The platform lists namespaces other than tenants' own too; a plane lives in a tenant's.
const TENANT: &str = "tenant-";

impl Session {
    /// The namespaces to look at. What was asked for wins; else the context's own and the platform's list together.
    pub async fn namespaces(&self, asked: &[String]) -> Namespaces {
        if !asked.is_empty() {
            return Namespaces { names: sorted(asked.to_vec()), source: "as asked".into(), problem: None };
        }
        let own: Vec<String> = self.info().namespace.clone().into_iter().collect();
        match self.listed().await {
            Ok(listed) => {
                let source = match (own.is_empty(), listed.is_empty()) {
                    (false, false) => "context and tenantnamespaces",
                    (false, true) => "context",
                    (true, false) => "tenantnamespaces",
                    (true, true) => "none found",
                };
                Namespaces { names: sorted(own.into_iter().chain(listed).collect()), source: source.into(), problem: None }
            }
            Err(problem) => {
                let source = if own.is_empty() { "none found" } else { "context" };
                Namespaces { names: sorted(own), source: source.into(), problem: Some(problem) }
            }
        }
    }

    async fn listed(&self) -> Result<Vec<String>, Problem> {
        let place = self.locate(Kind::TenantNamespace, None).await?;
        let request = http::Request::get(place.path)
            .body(Vec::new())
            .map_err(|e| Problem::new(crate::model::ProblemKind::BadInput, e.to_string()))?;
        let answer = self.json(request).await?;
        let items = answer.get("items").and_then(Value::as_array).into_iter().flatten();
        let names = items.filter_map(|i| i.get("metadata")?.get("name")?.as_str());
        Ok(names.filter(|n| n.starts_with(TENANT)).map(str::to_string).collect())
    }
}

fn sorted(mut names: Vec<String>) -> Vec<String> {
    names.sort();
    names.dedup();
    names
}
