//! Reports effects as they happen: one line for each, sent to the listener and written to the log.
//!
//! A report repeats what the journal holds, once the record is durable: the verb, the resource, the
//! money, the id, the time and the cause. It holds nothing private: no field of a document and no
//! text of the service.

use serde::{Deserialize, Serialize};

use super::views::MoneyView;
use crate::base::id::Key;
use crate::model::intents::intent::Cause;

/// The result of an effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EffectVerb {
    Created,
    Changed,
    Removed,
    /// Something that only the next effect needs was made, such as a one-time token.
    Prepared,
    /// The service refused it and did nothing.
    Refused,
    /// Its answer was lost; it is being settled.
    InDoubt,
    /// A person has to settle it.
    #[serde(rename = "held")]
    OnHold,
    /// Its absence was proved, or nothing arrived: nothing was done.
    NotSent,
    /// No evidence can prove it; the effect is made again.
    GivenUp,
}

/// One effect whose result was recorded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EffectReport {
    /// Sequence of the journal's last record at that time; `since` selects later ones.
    pub position: u64,
    pub at: String,
    pub verb: EffectVerb,
    pub key: Key,
    pub effect: String,
    pub intent: String,
    /// The service's id, if known.
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
    /// Returns the word for people.
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

    /// Returns true if something was done.
    pub fn is_done(self) -> bool {
        matches!(self, Self::Created | Self::Changed | Self::Removed | Self::Prepared)
    }
}
