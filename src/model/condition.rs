//! Conditions of a resource: the one form in which every view says how a resource is.
//!
//! Each condition is true, false or unknown, with a reason for programs, a sentence for people and the moment since
//! when it is so. They are made of the fold: a restart changes neither their status nor that moment.

use serde::{Deserialize, Serialize};

/// The question that a condition answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum ConditionType {
    /// The service has the object as its document says.
    Synced,
    /// Nothing is wrong with the object itself: no payment failed or was returned, no card expired.
    Healthy,
    /// A person or the document stopped further changes.
    Suspended,
    /// Nothing goes on before a person acts.
    NeedsAttention,
}

/// The answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Status {
    /// Yes.
    True,
    /// No.
    False,
    /// Neither can be said now.
    Unknown,
}

/// One condition of one resource.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Condition {
    /// The question.
    #[serde(rename = "type")]
    pub kind: ConditionType,
    /// The answer.
    pub status: Status,
    /// Why, as a CamelCase word.
    pub reason: String,
    /// Why, as a sentence.
    pub message: String,
    /// The time of the record that made it so; null where the files alone do, of which no record exists.
    pub since: Option<String>,
}

impl ConditionType {
    /// The word of programs.
    pub fn word(self) -> &'static str {
        match self {
            Self::Synced => "Synced",
            Self::Healthy => "Healthy",
            Self::Suspended => "Suspended",
            Self::NeedsAttention => "NeedsAttention",
        }
    }
}

impl Status {
    /// The word of programs.
    pub fn word(self) -> &'static str {
        match self {
            Self::True => "True",
            Self::False => "False",
            Self::Unknown => "Unknown",
        }
    }
}

impl From<bool> for Status {
    fn from(yes: bool) -> Self {
        if yes { Self::True } else { Self::False }
    }
}
