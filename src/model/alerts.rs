//! Alerts: notifications about states of the daemon itself, as the journal has them.
//!
//! A target gets each change once. The record of a message is on disk before its first attempt,
//! and the record of the result follows.

use std::collections::BTreeSet;
use std::fmt;

use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;

use crate::base::id::Key;
use crate::base::wording::count_noun;

/// The class of a problem, the most urgent first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AlertClass {
    /// It is on hold: only a person can settle it.
    Held,
    /// The answer to a change is lost.
    InDoubt,
    /// The service does not answer, or refuses the credentials.
    Service,
    /// A person has to change the document, the object or a secret.
    Blocked,
    /// A limit of the configuration stops it.
    OverLimit,
    /// The service and the document differ, and reckon did not cause it.
    Drift,
}

impl AlertClass {
    pub const ALL: [Self; 6] =
        [Self::Held, Self::InDoubt, Self::Service, Self::Blocked, Self::OverLimit, Self::Drift];

    /// Returns the word of the configuration and of messages.
    pub fn word(self) -> &'static str {
        match self {
            Self::Held => "held",
            Self::InDoubt => "in_doubt",
            Self::Service => "service",
            Self::Blocked => "blocked",
            Self::OverLimit => "over_limit",
            Self::Drift => "drift",
        }
    }
}

/// The word for the end of a reported problem.
pub const RECOVERED: &str = "recovered";

/// The changes that a target gets.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AlertChoices {
    pub classes: BTreeSet<AlertClass>,
    /// True if the end of a reported problem is reported, too.
    pub recovered: bool,
}

impl AlertChoices {
    pub fn all() -> Self {
        Self { classes: AlertClass::ALL.into(), recovered: true }
    }

    pub fn is_empty(&self) -> bool {
        self.classes.is_empty()
    }
}

/// A change of a resource's problem, between two messages to a target.
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AlertChange {
    pub key: Key,
    /// The problem that the target knows; `None`: none.
    #[serde(default)]
    pub before: Option<AlertClass>,
    /// The problem now; `None`: it is over.
    #[serde(default)]
    pub after: Option<AlertClass>,
}

/// A step of the alerts to one target.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AlertRecord {
    pub target: String,
    pub at: DateTime<Utc>,
    pub step: AlertStep,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AlertStep {
    /// A message with these changes is about to be sent. A long list is several records.
    Sending { message: String, changes: Vec<AlertChange> },
    /// The result of the message.
    Ended { message: String, outcome: AlertOutcome },
    /// These problems ended, and the target takes no news of that.
    Dropped { keys: Vec<Key> },
    /// The target takes no alerts any more.
    Forgotten,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AlertOutcome {
    Delivered,
    /// Provably not delivered: a later message reports its changes.
    NotSent,
    /// The receiver refuses it: its changes count as reported.
    Refused,
    /// The answer is lost: its changes count as reported.
    InDoubt,
}

impl AlertOutcome {
    /// Returns the word of metrics and of the history.
    pub fn word(self) -> &'static str {
        match self {
            Self::Delivered => "delivered",
            Self::NotSent => "not_sent",
            Self::Refused => "refused",
            Self::InDoubt => "in_doubt",
        }
    }
}

/// The problem of a resource that a target knows: an entry of the fold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReportedAlert {
    pub class: AlertClass,
    pub at: DateTime<Utc>,
}

/// The changes of one record of a message without a result: an entry of the fold.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AlertPart {
    pub message: String,
    pub at: DateTime<Utc>,
    pub changes: Vec<AlertChange>,
}

impl fmt::Display for AlertRecord {
    /// Writes the sentence of the history.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let target = &self.target;
        let count =
            |number: usize, noun| count_noun(u64::try_from(number).unwrap_or(u64::MAX), noun);
        match &self.step {
            AlertStep::Sending { message, changes } => {
                write!(
                    out,
                    "message {message} to `{target}` with {}",
                    count(changes.len(), "change")
                )
            }
            AlertStep::Ended { message, outcome } => {
                write!(out, "message {message} to `{target}`: {}", outcome.word().replace('_', " "))
            }
            AlertStep::Dropped { keys } => {
                let problems = count(keys.len(), "problem");
                write!(out, "{problems} ended, of which `{target}` takes no news")
            }
            AlertStep::Forgotten => write!(out, "`{target}` takes no alerts any more"),
        }
    }
}
