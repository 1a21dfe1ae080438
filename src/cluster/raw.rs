//! Objects as served, for recordings: lists of whole JSON, one source at a time. Owns reading them; redaction is the model's.

use serde_json::Value;

use super::{ask::Ask as _, session::Session};
use crate::model::{Problem, Scope, world::Source};

impl Session {
    /// All objects of a source as served, each with its `apiVersion` and `kind`.
    ///
    /// # Errors
    /// As the server says.
    pub async fn raw(&self, source: &Source) -> Result<Vec<Value>, Problem> {
        let namespace = match &source.scope {
            Scope::All => None,
            Scope::Namespace(ns) => Some(ns.as_str()),
        };
        let place = self.locate(source.kind, namespace).await?;
        let query = super::watch::request::query(source, &[]);
        let request = http::Request::get(format!("{}{query}", place.path)).body(Vec::new());
        let request = request.map_err(|e| Problem::new(crate::model::ProblemKind::BadInput, e.to_string()))?;
        let mut answer = self.json(request).await?;
        let items = answer.get_mut("items").and_then(Value::as_array_mut).map(std::mem::take).unwrap_or_default();
        Ok(items
            .into_iter()
            .map(|mut item| {
                if let Some(o) = item.as_object_mut() {
                    o.insert("apiVersion".into(), place.api_version.clone().into());
                    o.insert("kind".into(), source.kind.info().name.into());
                }
                item
            })
            .collect())
    }
}
