//! The freeze: while it lasts, no change goes to the service. Reads, events and settlements by reads
//! go on; an effect that was sent before is settled as far as reads can settle it.

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
