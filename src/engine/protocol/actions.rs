//! Actions and settlements that people and scripts ask for, with their results, and the reports of
//! recorded effects.
//!
//! One name performs one thing, once; a repeated request only answers its state. A report repeats
//! what the journal holds, once the record is durable: the verb, the resource, the money, the id, the
//! time and the cause. It holds nothing private: no field of a document and no text of the service.

use std::collections::BTreeMap;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::base::id::{IntentId, Key, RemoteId};
use crate::engine::protocol::views::MoneyView;
use crate::model::effect::Action;
use crate::model::intent::Cause;

#[derive(Debug)]
pub struct ActionCommand {
    pub action: Action,
    pub actor: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ActionStatus {
    Done,
    /// The service, or the payer's bank, refused; nothing was done.
    Refused,
    /// A person has to settle it: `intents`.
    #[serde(rename = "held")]
    OnHold,
    /// Its answer was lost, and is being settled.
    InDoubt,
    /// No call was sent, and none will be.
    NotSent,
    /// It cannot be sent now; nothing was.
    Blocked,
    Invalid,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ActionReport {
    pub key: Option<Key>,
    pub verb: String,
    #[serde(rename = "stands")]
    pub status: ActionStatus,
    /// True if it was done before: this time nothing was sent.
    pub before: bool,
    pub message: String,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub remote_id: Option<String>,
    /// Known properties of the object; no sealed ones.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    pub facts: BTreeMap<String, Value>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ManualResolution {
    /// It happened; this is the object's id, which is read at the service.
    Done(RemoteId),
    /// It happened; this is the object's id, which only the person vouches for.
    Unverified(RemoteId),
    /// It did not happen, and cannot any more.
    NotDone,
    /// It is settled once more as its effect's row defines: sent again, or looked up.
    Retry,
}

#[derive(Debug)]
pub struct ResolveIntent {
    pub id: IntentId,
    pub said: ManualResolution,
    pub actor: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ResolveResult {
    Unknown,
    /// It is being settled now; nothing was written.
    Busy(Key),
    Settled(Key),
    /// It was tried once more, and is still not settled.
    Unsettled(Key, String),
    /// The object of the id differs from the request, for this reason. Nothing was written.
    Differs(Key, String),
    /// The object cannot be read, for this reason: confirm it with `unverified`.
    Unverified(Key, String),
}

impl FromStr for ManualResolution {
    type Err = String;

    /// Parses `done:REMOTE_ID`, `unverified:REMOTE_ID`, `not-done` or `retry`.
    fn from_str(text: &str) -> Result<Self, String> {
        let id_in = |text: &str| RemoteId::new(text).map_err(|error| error.to_string());
        match text.split_once(':') {
            Some(("done", id)) => id_in(id).map(Self::Done),
            Some(("unverified", id)) => id_in(id).map(Self::Unverified),
            None if text == "not-done" => Ok(Self::NotDone),
            None if text == "retry" => Ok(Self::Retry),
            None if text == "done" => {
                Err("write the id of the created object: done:REMOTE_ID".to_owned())
            }
            Some(_) | None => {
                Err("write done:REMOTE_ID, unverified:REMOTE_ID, not-done or retry".to_owned())
            }
        }
    }
}

impl ManualResolution {
    pub(crate) fn word(&self) -> String {
        match self {
            Self::Done(id) => format!("done:{id}"),
            Self::Unverified(id) => format!("unverified:{id}"),
            Self::NotDone => "not-done".to_owned(),
            Self::Retry => "retry".to_owned(),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EffectVerb {
    Created,
    Changed,
    Removed,
    /// Something that only the next effect needs was made, such as a one-time token.
    Prepared,
    Refused,
    InDoubt,
    #[serde(rename = "held")]
    OnHold,
    /// Its absence was proved, or nothing arrived: nothing was done.
    NotSent,
    /// No evidence can prove it; the effect is made again.
    GivenUp,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EffectReport {
    /// Sequence of the journal's last record at that time; `since` selects later ones.
    pub position: u64,
    pub at: String,
    pub verb: EffectVerb,
    pub key: Key,
    pub effect: String,
    pub intent: String,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub remote_id: Option<String>,
    /// The money that it moved; empty if nothing was done.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub money: Vec<MoneyView>,
    /// The status of a refusal, and the service's code.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub refusal: Option<String>,
    /// The document that asked for it with the commit of its tree, or the actor of a command.
    pub cause: Cause,
}

impl EffectVerb {
    pub fn word(self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::Changed => "changed",
            Self::Removed => "removed",
            Self::Prepared => "prepared",
            Self::Refused => "refused",
            Self::InDoubt => "in doubt",
            Self::OnHold => "held",
            Self::NotSent => "not sent",
            Self::GivenUp => "given up",
        }
    }

    pub fn is_done(self) -> bool {
        matches!(self, Self::Created | Self::Changed | Self::Removed | Self::Prepared)
    }
}

#[cfg(test)]
mod tests;
