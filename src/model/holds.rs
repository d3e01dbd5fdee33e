//! The choice of when: a freeze, during which no change goes to the service, and the sync of a
//! manual daemon, which waits for a person before it makes the service match changed documents.
//!
//! Reads, events and settlements by reads always go on. An effect that was sent before is settled.

use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::base::clock::timestamp;

/// A freeze in force. Only a person begins one, and only a person ends it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, derive_more::Display)]
#[display("frozen by {actor} at {}: {reason}", timestamp(at))]
pub struct Freeze {
    pub reason: String,
    pub actor: String,
    pub at: DateTime<Utc>,
}

impl Freeze {
    /// Returns the sentence with the way out, for a screen that shows nothing else about it.
    pub fn sentence(&self) -> String {
        format!("{self}; nothing is sent until `reckon thaw`")
    }
}

/// The end of a freeze, as the journal has it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Thaw {
    pub actor: String,
    pub at: DateTime<Utc>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FreezeRequest {
    Freeze { reason: String },
    Thaw,
}

/// The answer to a request. A second freeze changes nothing: the first one stays, with its reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FreezeResult {
    Frozen(Freeze),
    AlreadyFrozen(Freeze),
    /// The freeze that ended.
    Thawed(Freeze),
    NotFrozen,
}

/// A person's word to make the service match one state of the documents: `sync`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SyncGrant {
    /// A digest of all documents, names included; other documents wait for another word.
    pub tree: String,
    pub actor: String,
    pub at: DateTime<Utc>,
}

/// The answer to a sync of the plan with a checksum.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SyncResult {
    Synced(SyncGrant),
    /// The plan is another one by now: nothing was recorded. Its checksum.
    Changed(String),
    /// The daemon makes the service match by itself.
    Automatic,
}

/// The reason for which effects of documents do not start.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Hold {
    Frozen(Freeze),
    AwaitsSync,
}

impl Hold {
    /// Returns the reason as a condition has it.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Frozen(_) => "Frozen",
            Self::AwaitsSync => "AwaitsSync",
        }
    }

    /// Returns the reason as a sentence with the way out.
    pub fn sentence(&self) -> String {
        match self {
            Self::Frozen(freeze) => freeze.sentence(),
            Self::AwaitsSync => {
                "policy.sync is manual: nothing is sent until `reckon sync`".to_owned()
            }
        }
    }
}
