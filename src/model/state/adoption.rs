//! Adoption of existing objects (`import`), `forget`, and unknown objects that carry a mark of
//! ours.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::observed::Observation;
use crate::base::hash::Mark;
use crate::base::id::{Key, RemoteId};
use crate::model::state::drift::FieldChange;

/// Record that a person adopted an object for a document: `import`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Adoption {
    /// The facts of the object from now on.
    pub fact: Observation,
    /// The mark of ours on the object, if it carries one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mark: Option<Mark>,
    /// True if the service showed the object; false if the person's word was accepted.
    pub verified: bool,
    pub actor: String,
    /// The file and line of the document.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<(String, usize)>,
    /// The commit of the tree.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
}

/// Record that a person ended the management of a resource: `forget KIND/NAME`. The service is not
/// called.
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
    /// The merchant or resource that the object blocked; a resource, if the object carries its
    /// mark.
    pub key: Key,
    pub remote_id: RemoteId,
    pub actor: String,
    pub at: DateTime<Utc>,
}

/// A request to adopt an object: `import`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AdoptRequest {
    /// The document's key.
    pub key: Key,
    /// The object's id.
    pub id: RemoteId,
    /// Adopts the object even if the service does not show it.
    pub unverified: bool,
    /// Writes the adoption; otherwise it is only checked.
    pub write: bool,
}

/// Result of an adoption request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AdoptionReport {
    /// The document's key.
    pub key: Key,
    pub remote_id: RemoteId,
    #[serde(rename = "stands")]
    pub status: AdoptionStatus,
    /// A sentence for people.
    pub message: String,
    /// The changes of the next plan.
    pub changes: Vec<FieldChange>,
    /// Fields of the document that the service does not show; they are assumed to match.
    #[serde(rename = "believed")]
    pub unverified_fields: Vec<String>,
}

/// Status of an adoption request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AdoptionStatus {
    /// The adoption is recorded.
    Adopted,
    /// The object can be adopted; no record was written.
    #[serde(rename = "fits")]
    Adoptable,
    /// The same adoption was recorded before; no record was written.
    #[serde(rename = "already")]
    AlreadyAdopted,
    /// The service does not show the object: a person has to confirm the adoption.
    Unverified,
    /// The object cannot be adopted in the present state.
    Refused,
    /// There is no such document, or no such object.
    Unknown,
    /// An effect of the resource is in progress; ask again later.
    Busy,
    /// The service could not be asked.
    Unreachable,
}

/// A request to forget: `forget`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ForgetRequest {
    Resource(Key),
    /// An unknown object with a mark of ours.
    Object(RemoteId),
}

/// Result of a request to forget.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
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
    /// The name of the list.
    pub list: String,
}

/// An object of a list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct InventoryItem {
    pub id: RemoteId,
    #[serde(rename = "what")]
    pub import_option: ImportOption,
}

/// The possible adoption of an object of a list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ImportOption {
    /// The object is known under this key.
    Known(Key),
    /// This document describes the object, which can be adopted for it.
    Document(Key),
    /// A document of this name can be generated, with this spec.
    New(Key, Value),
    /// No action is needed, for this reason.
    Skipped(String),
    /// No document can be generated, for this reason.
    Impossible(String),
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::state::orphan::{UnknownObject, describe_unknown_objects};

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
