//! The health of an object, besides its synchronisation: a charge can match its document and
//! collect no money.

use chrono::{DateTime, Utc};

use super::condition::ConditionStatus;

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
