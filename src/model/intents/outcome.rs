//! The result of a call: four cases, and no fifth (design, words).
//!
//! An answer that did not arrive means *unknown*, not *failed*, so the type has no case for
//! "failed". An [`Outcome`] states that the effect happened, that it did not, or that the truth
//! must be found out.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::service_problem::ServiceProblem;
use crate::base::outside_text::{KnownValues, ServiceText};

/// The only four results of a call. `Debug` leaves the reply out: it may hold a token or a key.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The service did it: status 200, or the 204 of the one path without a reply (service-facts, 3
    /// and 4).
    Done {
        /// The JSON body; `Null` when it was empty.
        reply: Value,
    },
    /// The service refused and did nothing: a 4xx.
    Refused {
        /// The HTTP status.
        status: u16,
        /// The error body; without messages when there was none or it could not be read.
        problem: ServiceProblem,
    },
    /// Proved without effect: the connection was never made, the request was never written, or the
    /// service asked to come again later (429).
    NotSent {
        /// The cause, for people; never holds a secret.
        reason: ServiceText,
        /// Seconds that the service asked to wait, if it did.
        retry_after_s: Option<u64>,
    },
    /// Any other result: a timeout, a reset, 5xx, 3xx, 408, a 200 that cannot be read, an answer
    /// too large.
    InDoubt {
        /// The cause, for people; never holds a secret.
        reason: ServiceText,
    },
}

impl Outcome {
    /// Makes a `NotSent` for an internal reason, which may repeat the operator's own text.
    pub fn not_sent(reason: &str) -> Self {
        let reason = ServiceText::clean(reason, &KnownValues::default());
        Self::NotSent { reason, retry_after_s: None }
    }
}

impl fmt::Debug for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Done { reply: _ } => f.write_str("Done"),
            Self::Refused { status, problem } => write!(f, "Refused({status} {})", problem.code()),
            Self::NotSent { reason, retry_after_s } => {
                write!(f, "NotSent({reason}; wait {retry_after_s:?} s)")
            }
            Self::InDoubt { reason } => write!(f, "InDoubt({reason})"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outcome_is_stored_under_the_name_of_its_kind() {
        let doubt = Outcome::InDoubt { reason: "timeout".into() };
        let stored = serde_json::to_string(&doubt).unwrap();
        assert_eq!(stored, r#"{"in_doubt":{"reason":"timeout"}}"#);
        assert_eq!(serde_json::from_str::<Outcome>(&stored).unwrap(), doubt);
    }

    #[test]
    fn a_reply_does_not_show() {
        let done = Outcome::Done { reply: serde_json::json!({"access_token": "canary"}) };
        assert_eq!(format!("{done:?}"), "Done");
    }
}
