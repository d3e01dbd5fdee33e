//! Drift: changes of the service by other programs or people.
//!
//! A lost change leaves unknown fields, where no reading shows their value on the service. They
//! differ from every value of a file, so the next change sends all of them again.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::observed::Observed;
use crate::base::hash::Digest;
use crate::base::id::RemoteId;

/// The fact that names the drifted fields.
pub const DRIFT: &str = "drift";
/// The fact that reports an object ended or removed elsewhere.
pub const VANISHED: &str = "vanished";
/// Maximum times that a drifted field is put back. After one more change it is left alone: another
/// program keeps changing it.
pub const RETURNS_MAX: u32 = 2;

/// Drifted fields, and how often each of them drifted since the document last changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Drift {
    /// The document's digest at that time.
    pub digest: Digest,
    /// Each field, and how often it was found changed.
    pub times: BTreeMap<String, u32>,
    /// When drift was last found.
    pub at: String,
}

impl Drift {
    /// Returns the known drift of a resource.
    pub fn of(known: &Observed) -> Option<Self> {
        serde_json::from_value(known.fact(DRIFT).clone()).ok()
    }

    /// Counts these fields as found changed, after the earlier findings.
    pub fn with_found(before: Option<&Self>, digest: Digest, paths: Vec<String>, at: &str) -> Self {
        let before = before.filter(|before| before.digest == digest);
        let mut times = before.map(|before| before.times.clone()).unwrap_or_default();
        for path in paths {
            let count = times.entry(path).or_default();
            *count = count.saturating_add(1);
        }
        Self { digest, times, at: at.to_owned() }
    }

    /// Returns the fields of these that were put back too often already.
    pub fn often_returned<'a>(&'a self, paths: impl Iterator<Item = &'a str>) -> Vec<String> {
        let often = |path: &&str| self.times.get(*path).is_some_and(|times| *times > RETURNS_MAX);
        paths.filter(often).map(str::to_owned).collect()
    }
}

/// Returns the cause of the object's disappearance, if another program or person ended or removed
/// just this one.
pub fn vanished_reason(known: &Observed) -> Option<&str> {
    let told = known.fact(VANISHED);
    let id = told.get("id").and_then(Value::as_str);
    let same = id.is_some() && id == known.remote_id.as_ref().map(RemoteId::as_str);
    told.get("why").and_then(Value::as_str).filter(|_| same)
}

/// One field before and after, private values masked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FieldChange {
    /// The path below `spec`.
    pub path: String,
    /// The value that was put on the service; null without one.
    pub before: Value,
    /// The file's value; null without one.
    pub after: Value,
}

/// Name of the member that marks an unknown value.
const UNKNOWN: &str = "unsure";

/// Returns whether a value is unknown.
pub fn is_unknown(value: &Value) -> bool {
    value.get(UNKNOWN).is_some()
}

/// Applies a change to `asked` that may or may not have happened: every field that it would have
/// changed becomes unknown. A spec that was never put on the service is left as it is.
pub fn mark_changed_unknown(known: &mut Observed, asked: &Value) {
    if let Some(applied) = &mut known.applied {
        applied.spec = merge_states(&applied.spec, asked);
    }
}

/// Marks the value at a dotted path, if there is one, as unknown.
pub fn mark_unknown(spec: &mut Value, path: &str) {
    if let Some(value) = spec.pointer_mut(&format!("/{}", path.replace('.', "/"))) {
        *value = json!({ UNKNOWN: true });
    }
}

/// Merges two states field by field; fields that differ become unknown.
fn merge_states(before: &Value, asked: &Value) -> Value {
    match (before, asked) {
        _ if before == asked => before.clone(),
        (Value::Object(old), Value::Object(new)) if !is_leaf(before) && !is_leaf(asked) => {
            let names = old.keys().chain(new.keys().filter(|name| !old.contains_key(*name)));
            let of = |fields: &Map<String, Value>, name: &String| {
                fields.get(name).cloned().unwrap_or_default()
            };
            let both =
                names.map(|name| (name.clone(), merge_states(&of(old, name), &of(new, name))));
            Value::Object(both.collect())
        }
        _ => json!({ UNKNOWN: true }),
    }
}

/// Returns whether an object of a canonical spec represents one value: an amount, a digest, or an
/// unknown one.
pub fn is_leaf(value: &Value) -> bool {
    ["minor", "digest", UNKNOWN].iter().any(|name| value.get(name).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_lost_change_would_have_changed_is_not_known_and_the_rest_is() {
        let usd = |minor: i64| json!({"minor": minor, "currency": "USD"});
        let before =
            json!({"amount": usd(500), "schedule": {"end": "a", "start": "s"}, "label": "x"});
        let asked = json!({"amount": usd(700), "schedule": {"end": "b", "start": "s"}, "max": 3, "label": "x"});
        let left = merge_states(&before, &asked);
        assert!(is_unknown(&left["amount"]) && is_unknown(&left["max"]));
        assert!(is_unknown(&left["schedule"]["end"]));
        assert_eq!((&left["schedule"]["start"], &left["label"]), (&json!("s"), &json!("x")));
        assert_eq!(merge_states(&before, &before), before);
    }
}
