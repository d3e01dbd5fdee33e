//! The health of an object, besides its synchronisation: a charge can match its document and
//! collect no money. Every view reports it in one form, as conditions.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

/// The health of one object, as its kind derives it from known facts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Health {
    /// False: the object has a problem.
    pub status: ConditionStatus,
    /// Reason as a CamelCase word, for programs.
    pub reason: &'static str,
    /// Reason as a sentence, for people.
    pub message: String,
    /// Time since which it holds; `None` without any event.
    pub since: Option<DateTime<Utc>>,
    /// Next time at which the passing of time alone changes it.
    pub next_change: Option<DateTime<Utc>>,
}

impl Health {
    /// Returns the health of an object without problems.
    pub fn healthy() -> Self {
        Self {
            status: ConditionStatus::True,
            reason: "NothingWrong",
            message: "no payment failed or was returned, and nothing expired".to_owned(),
            since: None,
            next_change: None,
        }
    }

    /// Returns the health of a resource without an object.
    pub fn not_created() -> Self {
        let message = "the object does not exist".to_owned();
        Self {
            status: ConditionStatus::Unknown,
            reason: "NotCreated",
            message,
            since: None,
            next_change: None,
        }
    }

    /// Returns whether no problem is known.
    pub fn is_healthy(&self) -> bool {
        self.status != ConditionStatus::False
    }
}

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
