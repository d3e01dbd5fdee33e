//! Resources without a document, and objects without a resource.
//!
//! A missing document has the time when it was first missed, and a person's permission for the
//! removal. A document that returns clears both. An unknown object carries a mark of ours.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::base::hash::Mark;
use crate::base::id::{Key, RemoteId};
use crate::base::money::Money;

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MissingDocument {
    /// A live resource is removed only some time after this mark.
    pub marked: Option<MarkedForPrune>,
    /// A person's permission for the removal, past any guard.
    pub allowed: Option<PruneAllowed>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MarkedForPrune {
    pub at: DateTime<Utc>,
    /// The git commit of the tree in which the document was missing.
    pub commit: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PruneAllowed {
    pub at: DateTime<Utc>,
    pub actor: String,
    /// The permission names this very resource: then even a live resource is removed without delay.
    pub at_once: bool,
}

/// The body of a record about absence: one resource, and its change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MissingDocumentRecord {
    pub key: Key,
    #[serde(rename = "said")]
    pub change: MissingDocumentChange,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MissingDocumentChange {
    Marked(MarkedForPrune),
    /// The removal is permitted; of a new document: it is a different one.
    Allowed(PruneAllowed),
    #[serde(rename = "back")]
    Returned {
        at: DateTime<Utc>,
    },
}

impl MissingDocumentChange {
    pub fn time(&self) -> DateTime<Utc> {
        match self {
            Self::Marked(marked) => marked.at,
            Self::Allowed(allowed) => allowed.at,
            Self::Returned { at } => *at,
        }
    }
}

/// The body of a record about a rename: the new name inherits the known facts of the old one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MovedRecord {
    pub from: Key,
    pub to: Key,
    pub at: DateTime<Utc>,
    pub commit: Option<String>,
}

/// The unknown objects that block a resource; they replace those found before.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnknownObjectsFound {
    pub key: Key,
    pub merchant: Key,
    /// The objects; empty: the block is over.
    pub found: Vec<UnknownObject>,
    pub at: DateTime<Utc>,
}

/// An object with a mark of ours that is not the known one of the mark.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, derive_more::Display)]
#[display(
    "{id} ({list}, {mark}{})",
    collection.as_ref().map(|money| format!(", {money}")).unwrap_or_default()
)]
pub struct UnknownObject {
    pub id: RemoteId,
    pub mark: Mark,
    pub list: String,
    /// This state knows the mark by another object: then this one is a second one.
    #[serde(rename = "second")]
    pub is_duplicate: bool,
    /// The money that it collects, as the service showed it; `None` if it collects none.
    #[serde(default, skip_serializing_if = "Option::is_none", rename = "collects")]
    pub collection: Option<Collection>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, derive_more::Display)]
#[display("{status}, {amount} per occurrence")]
pub struct Collection {
    pub amount: Money,
    /// The status of the charge at the service, such as `ACTIVE`.
    pub status: String,
}

impl Collection {
    pub fn is_active(&self) -> bool {
        self.status == "ACTIVE"
    }
}

pub(crate) const NAMED_MAX: usize = 3;

/// Formats the blocking objects and the commands that resolve the block.
pub fn describe_unknown_objects(strays: &[UnknownObject]) -> String {
    let named: Vec<String> = strays.iter().take(NAMED_MAX).map(ToString::to_string).collect();
    let more = match strays.len().saturating_sub(named.len()) {
        0 => String::new(),
        more => format!(" and {more} more (`reckon intents` lists all)"),
    };
    let named = format!("{}{more}", named.join(", "));
    let out = resolving_commands(strays);
    if strays.iter().all(|stray| stray.is_duplicate) {
        return format!(
            "the service has a second object with the mark of this resource: {named}; end one of the two at the \
             service, or {out}"
        );
    }
    let count = strays.len();
    format!(
        "the service has objects with marks of ours that this state does not know ({count}): {named}; the state \
         may have been lost, or another state is in use; {out}; `reckon intents` lists the objects with these commands"
    )
}

/// Returns the commands that assign the objects; the id is in them where there is one object.
pub(crate) fn resolving_commands(strays: &[UnknownObject]) -> String {
    if let [UnknownObject { id, .. }] = strays {
        return format!(
            "run `reckon import KIND/NAME {id}` if the object belongs to a document, or `reckon forget {id}` if it \
             belongs to none"
        );
    }
    "run `reckon import KIND/NAME ID` for each object that belongs to a document, and `reckon forget ID` for each \
     other one"
        .to_owned()
}
