//! Field-by-field difference between the state on the service and the document, and the state as if
//! the service matched a document exactly.
//!
//! The latter compares two trees without any service: one of them is taken as the state at the
//! service. None of it is ever stored or sent.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::base::hash::sha256;
use crate::base::id::RemoteId;
use crate::base::money::{Currency, Money};
use crate::kinds::planning::step::{StepCx, applied_spec, merchant_of};
use crate::kinds::schema::kind::{Mutability, SpecField};
use crate::kinds::secrets::{field_of, redact};
use crate::model::manifest::Manifest;
use crate::model::state::drift::{FieldChange, is_leaf, is_unknown};
use crate::model::state::observed::Observed;

const HIDDEN: &str = "•••";
const NOT_KNOWN: &str = "(not known)";

/// Returns every field that differs, in path order; fields that only steer `reckon` never differ.
/// Both sides are redacted: private values are digests, shown as dots.
pub fn changes(before: Option<&Value>, after: &Value, fields: &[SpecField]) -> Vec<FieldChange> {
    if before == Some(after) {
        return Vec::new();
    }
    let (mut old, mut new) = (BTreeMap::new(), BTreeMap::new());
    flatten("", before.unwrap_or(&Value::Null), &mut old);
    flatten("", after, &mut new);
    let differing = new.keys().chain(old.keys().filter(|path| !new.contains_key(*path)));
    let mut paths: Vec<&String> = differing
        .filter(|path| old.get(*path) != new.get(*path))
        .filter(|path| mutability_of(fields, path) != Mutability::LocalOnly)
        .collect();
    paths.sort();
    let change = |path: &String| FieldChange {
        path: path.clone(),
        before: render_leaf(old.get(path).copied()),
        after: render_leaf(new.get(path).copied()),
    };
    paths.into_iter().map(change).collect()
}

/// Collects the leaves of a value by path. Amounts, digests and unknown values are leaves.
pub(crate) fn flatten<'a>(path: &str, value: &'a Value, leaves: &mut BTreeMap<String, &'a Value>) {
    match value {
        Value::Object(fields) if !is_leaf(value) => {
            for (name, value) in fields {
                let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
                flatten(&path, value, leaves);
            }
        }
        Value::Array(items) => {
            for (place, item) in items.iter().enumerate() {
                flatten(&format!("{path}[{place}]"), item, leaves);
            }
        }
        Value::Null => {}
        Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_) => {
            leaves.insert(path.to_owned(), value);
        }
    }
}

/// Returns the JSON pointer of a path without entries of a list.
pub(crate) fn pointer(path: &str) -> String {
    format!("/{}", path.replace('.', "/"))
}

/// Renders a leaf for people: an amount in its currency, a private value as dots.
fn render_leaf(value: Option<&Value>) -> Value {
    let Some(value) = value else { return Value::Null };
    if value.get("digest").is_some() {
        return Value::from(HIDDEN);
    }
    if is_unknown(value) {
        return Value::from(NOT_KNOWN);
    }
    amount(value).map_or_else(|| value.clone(), |money| Value::from(money.to_string()))
}

/// Returns a canonical amount; without a currency, in the service's default (service-facts 33).
pub fn amount(value: &Value) -> Option<Money> {
    let minor = value.get("minor")?.as_i64()?;
    let code = value.get("currency").and_then(Value::as_str);
    let currency = code.map_or(Some(Currency::USD), |code| code.parse().ok())?;
    Some(Money::new(minor, currency))
}

/// Returns the type of a change at this path: the entry of the field or of its nearest ancestor.
pub fn mutability_of(fields: &[SpecField], path: &str) -> Mutability {
    field_of(fields, &format!("spec.{path}"))
        .map_or(Mutability::Immutable, |field| field.mutability)
}

/// Returns the state of a resource whose document was applied, without any further fact.
pub fn applied_state(
    fields: &'static [SpecField],
    cx: &StepCx<'_>,
    manifest: &Manifest,
) -> Observed {
    let key = &manifest.key;
    let merchant = merchant_of(manifest).unwrap_or_else(|| key.clone());
    let name = format!("assumed_{}", sha256(key.to_string().as_bytes()).short());
    Observed {
        exists: true,
        remote_id: RemoteId::new(&name).ok(),
        applied: Some(applied_spec(manifest, redact(fields, &manifest.spec, cx.digest_key))),
        facts: json!({}),
        ..Observed::unknown(merchant, cx.now)
    }
}
