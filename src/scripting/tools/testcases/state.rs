//! State of the world in a test case.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use crate::base::hash::canonical;
use crate::base::id::{Key, Name};
use crate::scripting::interface::Reads;

/// Everything that a script can read in a case.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct CaseState {
    /// Resources, in the form that `resource` returns; the namespace may be omitted.
    pub resources: Vec<Value>,
    /// Transactions, as the service shows them.
    pub transactions: Vec<Value>,
    /// Answers of the service.
    pub remote: Vec<CaseRemoteRead>,
    /// Values that earlier runs stored.
    pub kv: BTreeMap<String, Value>,
}

/// One answer of the service.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CaseRemoteRead {
    /// Name of the read.
    pub read: String,
    /// Arguments that the answer belongs to; each named one must match.
    #[serde(default)]
    pub args: Value,
    pub answer: Value,
}

fn text<'v>(value: &'v Value, field: &str) -> Option<&'v str> {
    value.get(field).and_then(Value::as_str)
}

fn key(resource: &Value) -> Option<Key> {
    let namespace = text(resource, "namespace").unwrap_or("default");
    let (kind, name) = (text(resource, "kind")?, text(resource, "name")?);
    format!("{kind}/{namespace}/{name}").parse().ok()
}

/// Returns the resource with its namespace.
fn with_namespace(resource: &Value) -> Value {
    let mut resource = resource.clone();
    if let Some(fields) = resource.as_object_mut() {
        let default = Name::default_namespace().to_string();
        fields.entry("namespace").or_insert(Value::String(default));
    }
    resource
}

/// Returns true if a value has everything in the filter.
fn matches_filter(value: &Value, filter: &Value) -> bool {
    match (value, filter) {
        (Value::Object(value), Value::Object(filter)) => filter.iter().all(|(name, wanted)| {
            value.get(name).is_some_and(|value| matches_filter(value, wanted))
        }),
        _ => canonical(value) == canonical(filter),
    }
}

impl Reads for CaseState {
    fn resource(&self, asked: &str) -> Result<Value, String> {
        let asked: Key =
            asked.parse().map_err(|error: crate::base::id::KeyError| error.to_string())?;
        let found = self.resources.iter().find(|resource| key(resource).as_ref() == Some(&asked));
        Ok(found.map(with_namespace).unwrap_or_default())
    }

    fn find(&self, kind: &str, filter: &Value) -> Result<Value, String> {
        let of_kind = self.resources.iter().filter(|resource| text(resource, "kind") == Some(kind));
        let mut found: Vec<Value> = of_kind
            .map(with_namespace)
            .filter(|resource| matches_filter(resource, filter))
            .collect();
        found.sort_by_key(key);
        Ok(Value::Array(found))
    }

    fn transaction(&self, id: &str) -> Result<Value, String> {
        let found = self.transactions.iter().find(|one| text(one, "id") == Some(id));
        Ok(found.cloned().unwrap_or_default())
    }

    fn remote(&self, name: &str, args: &Value) -> Result<Value, String> {
        let found = self.remote.iter().find(|one| {
            one.read == name && (one.args.is_null() || matches_filter(args, &one.args))
        });
        let missing = || format!("the case has no answer for the read `{name}` with {args}");
        found.map(|one| one.answer.clone()).ok_or_else(missing)
    }

    fn kv(&self, _script: &str, key: &str) -> Result<Value, String> {
        Ok(self.kv.get(key).cloned().unwrap_or_default())
    }
}
