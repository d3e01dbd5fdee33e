//! Resources as scripts see them: the document, and its state.

use serde_json::{Value, json};

use crate::base::id::Key;
use crate::engine::view::EngineView;
use crate::kinds::register;
use crate::kinds::schema::kind::Privacy;
use crate::kinds::secrets::redact::without_private;
use crate::model::plans::plan::Step;
use crate::plan::state_view::StateView;

impl EngineView<'_> {
    /// Returns one resource, null if it does not exist.
    ///
    /// # Errors
    /// The text is no key.
    pub(crate) fn script_resource(&self, key: &str) -> Result<Value, String> {
        let key: Key = key.parse().map_err(|error| format!("{key}: {error}"))?;
        Ok(self.planner.step(&key).map_or(Value::Null, |step| self.script_value(step)))
    }

    /// Returns all resources of a kind whose fields equal the filter's, ordered by name.
    pub(crate) fn script_find(&self, kind: &str, filter: &Value) -> Value {
        let steps = self.planner.steps().filter(|step| step.key.kind.as_str() == kind);
        let all = steps.map(|step| self.script_value(step));
        Value::Array(all.filter(|seen| fits(seen, filter)).collect())
    }

    fn script_value(&self, step: &Step) -> Value {
        let manifest = self.known_state.desired().manifest(&step.key);
        let (reason, message) = step.headline();
        let labels = manifest.as_ref().map(|manifest| manifest.labels.clone());
        json!({
            "kind": step.key.kind,
            "namespace": step.key.namespace,
            "name": step.key.name,
            "labels": labels.unwrap_or_default(),
            "spec": manifest.map(|manifest| without_secrets(&manifest.key, &manifest.spec)).unwrap_or_default(),
            "ready": step.is_ready(),
            "reason": reason,
            "message": message,
            "remote_id": step.remote_id,
        })
    }
}

/// Returns a document without its secret values: no script sees one.
fn without_secrets(key: &Key, spec: &Value) -> Value {
    let row = register::find(key.kind.as_str());
    row.map_or(Value::Null, |row| {
        without_private(row.fields, spec, |privacy| privacy != Privacy::Secret)
    })
}

/// Returns true if a value has every field of a filter.
fn fits(seen: &Value, filter: &Value) -> bool {
    match filter {
        Value::Object(fields) => fields
            .iter()
            .all(|(name, wanted)| seen.get(name).is_some_and(|seen| fits(seen, wanted))),
        wanted @ (Value::Null
        | Value::Bool(_)
        | Value::Number(_)
        | Value::String(_)
        | Value::Array(_)) => seen == wanted,
    }
}
