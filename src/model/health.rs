//! The health of an object beside its synchronisation: a charge can be just as its document says and collect nothing.

use chrono::{DateTime, Utc};

use crate::model::condition::Status;

/// The health of one object, as its kind judges it from what is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Health {
    /// False: something is wrong with it.
    pub status: Status,
    /// Why, as a CamelCase word.
    pub reason: &'static str,
    /// Why, as a sentence.
    pub message: String,
    /// Since when; none where nothing ever happened.
    pub since: Option<DateTime<Utc>>,
    /// When the passing of time alone changes it next.
    pub turns: Option<DateTime<Utc>>,
}

impl Health {
    /// Nothing is wrong.
    pub fn well() -> Self {
        Self {
            status: Status::True,
            reason: "NothingWrong",
            message: "no payment failed or was returned, and nothing expired".to_owned(),
            since: None,
            turns: None,
        }
    }

    /// There is no object.
    pub fn of_nothing() -> Self {
        let message = "there is no object that could be healthy".to_owned();
        Self { status: Status::Unknown, reason: "NotCreated", message, since: None, turns: None }
    }

    /// Whether nothing is wrong.
    pub fn is_well(&self) -> bool {
        self.status != Status::False
    }
}
