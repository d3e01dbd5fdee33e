//! Taking over an object that is on the service already, letting one go, and objects that carry a mark of ours
//! and are not known.

use std::fmt;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::base::hash::Mark;
use crate::base::id::{Key, RemoteId};
use crate::base::money::Money;
use crate::model::observed::Observation;
use crate::model::plan::FieldChange;

/// A person took an object over for a document: `import`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Adoption {
    /// What is known of it from now on.
    pub fact: Observation,
    /// The mark of ours that it carries, if it carries one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mark: Option<Mark>,
    /// Whether the service showed it; else it was believed.
    pub verified: bool,
    /// Who said so.
    pub actor: String,
    /// The file and line of the document.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<(String, usize)>,
    /// The commit of the tree.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
}

/// A person's word that a resource is managed no more: `forget KIND/NAME`. Nothing is done at the service.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Forgotten {
    /// The resource.
    pub key: Key,
    /// Its object, which is nobody's of ours from now on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remote_id: Option<RemoteId>,
    /// Who said so.
    pub actor: String,
    /// When.
    pub at: DateTime<Utc>,
}

/// A person's word that an object with a mark of ours is nobody's of ours: `forget ID`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Disowned {
    /// What it stood in the way of: a merchant, or the resource whose mark it carries.
    pub key: Key,
    /// The object.
    pub remote_id: RemoteId,
    /// Who said so.
    pub actor: String,
    /// When.
    pub at: DateTime<Utc>,
}

/// Objects with marks of ours that stand in the way of a merchant or a resource; they take the place of those
/// that were found before.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StraysFound {
    /// What they stand in the way of.
    pub key: Key,
    /// Its merchant.
    pub merchant: Key,
    /// The objects; none: nothing stands in its way any more.
    pub found: Vec<Stray>,
    /// When.
    pub at: DateTime<Utc>,
}

/// An object of the service that carries a mark of ours, and is not what this state knows by it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stray {
    /// Its id.
    pub id: RemoteId,
    /// The mark.
    pub mark: Mark,
    /// The list that shows it, such as `cards`.
    pub list: String,
    /// Whether this state knows the mark, by another object: then this one is a second one.
    pub second: bool,
    /// What it collects from its payer, as the service showed it; none for an object that collects nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub collects: Option<Collects>,
}

/// The money that a recurring charge collects at each occurrence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Collects {
    /// The amount of one occurrence.
    pub amount: Money,
    /// The status of the charge at the service, such as `ACTIVE`.
    pub status: String,
}

impl Collects {
    /// Whether the service goes on collecting by itself.
    pub fn is_active(&self) -> bool {
        self.status == "ACTIVE"
    }
}

impl fmt::Display for Stray {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { id, mark, list, second: _, collects } = self;
        let money = collects
            .as_ref()
            .map(|Collects { amount, status }| format!(", {status}, {amount} per occurrence"));
        write!(f, "{id} ({list}, {mark}{})", money.unwrap_or_default())
    }
}

/// So many objects are named in a sentence.
const NAMED_MAX: usize = 3;

/// What stands in the way, and the way out.
pub fn sentence(strays: &[Stray]) -> String {
    let named: Vec<String> = strays.iter().take(NAMED_MAX).map(ToString::to_string).collect();
    let more = match strays.len().saturating_sub(named.len()) {
        0 => String::new(),
        more => format!(" and {more} more (`reckon intents` names all)"),
    };
    let named = format!("{}{more}", named.join(", "));
    let out = way_out(strays);
    if strays.iter().all(|stray| stray.second) {
        return format!(
            "the service holds another object with its mark: {named}. End one of them there; or {out}"
        );
    }
    let count = strays.len();
    format!(
        "the service holds objects with marks of ours that this state does not know ({count}): {named}. The state may have \
         been lost, or another one is in use: {out}; `reckon intents` lists them with these commands"
    )
}

/// The commands that say whose the objects are; the id is in them where there is one object.
fn way_out(strays: &[Stray]) -> String {
    if let [Stray { id, .. }] = strays {
        return format!(
            "say `reckon import KIND/NAME {id}` if it belongs to a document, or `reckon forget {id}` if it belongs to none"
        );
    }
    "say `reckon import KIND/NAME ID` of each that belongs to a document, and `reckon forget ID` of each that belongs to none"
        .to_owned()
}

/// What a person asks for: `import`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Adopting {
    /// The document.
    pub key: Key,
    /// The object.
    pub id: RemoteId,
    /// Whether it is taken over although the service shows nothing of it.
    pub unverified: bool,
    /// Whether it is written down; else it is only looked at.
    pub write: bool,
}

/// What became of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Adopted {
    /// The document.
    pub key: Key,
    /// The object.
    pub remote_id: RemoteId,
    /// How it stands.
    pub stands: Taken,
    /// A sentence for people.
    pub message: String,
    /// What the next plan will change.
    pub changes: Vec<FieldChange>,
    /// Fields of the document that the service does not show: believed.
    pub believed: Vec<String>,
}

/// How an object stands that was to be taken over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Taken {
    /// It is written down.
    Adopted,
    /// It can be taken over; nothing was written.
    Fits,
    /// It was known just so before; nothing was written.
    Already,
    /// The service shows nothing of it: a person has to say that it is meant all the same.
    Unverified,
    /// It cannot be taken over as things stand.
    Refused,
    /// There is no such document, or no such object.
    Unknown,
    /// Something of it is under way; to be asked again.
    Busy,
    /// The service could not be asked.
    Unreachable,
}

/// What a person asks for: `forget`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Forgetting {
    /// A resource.
    Resource(Key),
    /// An object with a mark of ours.
    Object(RemoteId),
}

/// What became of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Forgot {
    /// The resource is managed no more; its object, where it had one, is as it was.
    Resource(Key, Option<RemoteId>),
    /// The object is nobody's; it stood in the way of this.
    Object(RemoteId, Key),
    /// Nothing is called so, or no such object stands in the way: the name that looks most like it.
    Unknown(Option<String>),
    /// It cannot be forgotten as things stand: why, and what to do.
    Refused(String, String),
}

/// What a person asks for: `import --all`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Inventory {
    /// The merchant.
    pub merchant: Key,
    /// What the list is called.
    pub list: String,
}

/// An object of a list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Found {
    /// Its id.
    pub id: RemoteId,
    /// What may be done about it.
    pub what: What,
}

/// What may be done about an object of a list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum What {
    /// It is known as this.
    Known(Key),
    /// This document stands for it, and it can be taken over for it.
    Document(Key),
    /// A document by this name can be made of it, with this spec.
    New(Key, Value),
    /// Nothing has to be done: why.
    Skipped(String),
    /// No document can be made of it: why.
    Impossible(String),
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stray(id: &str, second: bool) -> Stray {
        let mark = Mark::parse("rkabcdefghijklmnopqrstuvwxya").unwrap();
        Stray { id: id.parse().unwrap(), mark, list: "cards".to_owned(), second, collects: None }
    }

    #[test]
    fn what_stands_in_the_way_is_named_with_the_way_out() {
        let many: Vec<Stray> = (0..5).map(|n| stray(&format!("card_{n}"), false)).collect();
        let told = sentence(&many);
        for part in
            ["know (5)", "card_2 (cards, rk", "and 2 more", "reckon import", "reckon forget"]
        {
            assert!(told.contains(part), "{told}");
        }
        assert!(!told.contains("--empty-remote"), "the dangerous way is no way out: {told}");
        let told = sentence(&[stray("card_9", true)]);
        assert!(told.contains("another object with its mark: card_9"), "{told}");
        assert!(!told.contains("--empty-remote"), "{told}");
    }
}
