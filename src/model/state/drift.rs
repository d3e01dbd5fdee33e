//! Objects that other programs or people changed or made: drift, adoption (`import`) and `forget`.
//!
//! A lost change leaves unknown fields, where no reading shows their value on the service. They
//! differ from every value of a file, so the next change sends all of them again.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::base::hash::{Digest, Mark};
use crate::base::id::{Key, RemoteId};
use crate::model::state::observed::{Observation, Observed};

pub const DRIFT: &str = "drift";
/// The fact that reports an object ended or removed elsewhere.
pub const VANISHED: &str = "vanished";
/// Maximum corrections of a field. After one more change it is left alone: a program changes it.
pub const RETURNS_MAX: u32 = 2;

/// Drifted fields, and how often each of them drifted since the document last changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Drift {
    pub digest: Digest,
    pub times: BTreeMap<String, u32>,
    pub at: String,
}

impl Drift {
    pub fn of(known: &Observed) -> Option<Self> {
        serde_json::from_value(known.fact(DRIFT).clone()).ok()
    }

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

/// Returns the cause, if another program or person ended or removed just this object.
pub fn vanished_reason(known: &Observed) -> Option<&str> {
    let told = known.fact(VANISHED);
    let id = told.get("id").and_then(Value::as_str);
    let same = id.is_some() && id == known.remote_id.as_ref().map(RemoteId::as_str);
    told.get("why").and_then(Value::as_str).filter(|_| same)
}

/// One field before and after, private values masked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FieldChange {
    pub path: String,
    /// The value that was put on the service; null without one.
    pub before: Value,
    /// The file's value; null without one.
    pub after: Value,
}

const UNKNOWN: &str = "unsure";

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

/// Returns whether an object is one value: an amount, a digest, or an unknown one.
pub fn is_leaf(value: &Value) -> bool {
    ["minor", "digest", UNKNOWN].iter().any(|name| value.get(name).is_some())
}

/// Record that a person adopted an object for a document: `import`.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Adoption {
    pub fact: Observation,
    pub mark: Option<Mark>,
    /// True if the service showed the object; false if the person's word was accepted.
    pub verified: bool,
    pub actor: String,
    pub place: Option<(String, usize)>,
    pub commit: Option<String>,
}

/// Record that a resource is unmanaged: `forget KIND/NAME`. The service is not called.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Forgotten {
    pub key: Key,
    /// The resource's object, which is unmanaged from now on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remote_id: Option<RemoteId>,
    pub actor: String,
    pub at: DateTime<Utc>,
}

/// Record that a person disowned an object with a mark of ours: `forget ID`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Disowned {
    /// The merchant or resource that it blocked; the resource whose mark it carries.
    pub key: Key,
    pub remote_id: RemoteId,
    pub actor: String,
    pub at: DateTime<Utc>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AdoptRequest {
    pub key: Key,
    pub id: RemoteId,
    pub unverified: bool,
    pub write: bool,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AdoptionReport {
    pub key: Key,
    pub remote_id: RemoteId,
    #[serde(rename = "stands")]
    pub status: AdoptionStatus,
    pub message: String,
    pub changes: Vec<FieldChange>,
    /// Fields of the document that the service does not show; they are assumed to match.
    #[serde(rename = "believed")]
    pub unverified_fields: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AdoptionStatus {
    Adopted,
    /// The object can be adopted; no record was written.
    #[serde(rename = "fits")]
    Adoptable,
    /// The same adoption was recorded before; no record was written.
    #[serde(rename = "already")]
    AlreadyAdopted,
    /// The service does not show the object: a person has to confirm the adoption.
    Unverified,
    Refused,
    /// There is no such document, or no such object.
    Unknown,
    /// An effect of the resource is in progress; ask again later.
    Busy,
    Unreachable,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ForgetRequest {
    Resource(Key),
    /// An unknown object with a mark of ours.
    Object(RemoteId),
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ForgetResult {
    /// The resource is unmanaged; its object, where it had one, is unchanged.
    Resource(Key, Option<RemoteId>),
    /// The object is disowned; the key is the merchant or resource that it blocked.
    Object(RemoteId, Key),
    /// No resource has this name, or no such object blocks anything; holds the most similar name.
    Unknown(Option<String>),
    /// Forgetting is refused in the present state: the cause, and the remedy.
    Refused(String, String),
}

/// A request for a list's objects: `import --all`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InventoryRequest {
    pub merchant: Key,
    pub list: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct InventoryItem {
    pub id: RemoteId,
    #[serde(rename = "what")]
    pub import_option: ImportOption,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ImportOption {
    Known(Key),
    /// This document describes the object, which can be adopted for it.
    Document(Key),
    /// A document of this name can be generated, with this spec.
    New(Key, Value),
    Skipped(String),
    Impossible(String),
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::state::orphan::{UnknownObject, describe_unknown_objects};

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

    fn stray(id: &str, second: bool) -> UnknownObject {
        let mark = Mark::parse("rkabcdefghijklmnopqrstuvwxya").unwrap();
        UnknownObject {
            id: id.parse().unwrap(),
            mark,
            list: "cards".to_owned(),
            is_duplicate: second,
            collection: None,
        }
    }

    #[test]
    fn what_stands_in_the_way_is_named_with_the_way_out() {
        let many: Vec<UnknownObject> = (0..5).map(|n| stray(&format!("card_{n}"), false)).collect();
        let told = describe_unknown_objects(&many);
        for part in
            ["know (5)", "card_2 (cards, rk", "and 2 more", "reckon import", "reckon forget"]
        {
            assert!(told.contains(part), "{told}");
        }
        assert!(!told.contains("--empty-remote"), "the dangerous option is not offered: {told}");
        let told = describe_unknown_objects(&[stray("card_9", true)]);
        assert!(told.contains("a second object with the mark of this resource: card_9"), "{told}");
        assert!(!told.contains("--empty-remote"), "{told}");
    }
}
