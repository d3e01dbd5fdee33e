//! Conditions of a resource: the one form in which every view reports a resource's state.
//!
//! Each condition is true, false or unknown, with a reason for programs, a sentence for people and
//! the moment since which it holds. Conditions are derived from the fold: a restart changes neither
//! their status nor that moment.

use serde::{Deserialize, Serialize};

/// The question that a condition answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum ConditionType {
    /// The object on the service matches its document.
    Synced,
    /// The object itself is in order: no payment failed or was returned, no card expired.
    Healthy,
    /// A person or the document stopped further changes.
    Suspended,
    /// Progress needs a person's action.
    NeedsAttention,
}

/// The answer of a condition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum ConditionStatus {
    True,
    False,
    /// Neither is known now.
    Unknown,
}

/// One condition of one resource.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Condition {
    #[serde(rename = "type")]
    pub kind: ConditionType,
    pub status: ConditionStatus,
    /// Reason as a CamelCase word, for programs.
    pub reason: String,
    /// Reason as a sentence, for people.
    pub message: String,
    /// The time of the record that caused the status; null where only the files do, without a
    /// record.
    pub since: Option<String>,
}

impl ConditionType {
    /// Returns the word for programs.
    pub fn word(self) -> &'static str {
        match self {
            Self::Synced => "Synced",
            Self::Healthy => "Healthy",
            Self::Suspended => "Suspended",
            Self::NeedsAttention => "NeedsAttention",
        }
    }
}

impl ConditionStatus {
    /// Returns the word for programs.
    pub fn word(self) -> &'static str {
        match self {
            Self::True => "True",
            Self::False => "False",
            Self::Unknown => "Unknown",
        }
    }
}

impl From<bool> for ConditionStatus {
    fn from(yes: bool) -> Self {
        if yes { Self::True } else { Self::False }
    }
}
