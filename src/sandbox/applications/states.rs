//! States of an application and their transitions (partner-api, States and transitions).

use serde::{Deserialize, Serialize};

use crate::sandbox::refusal::Refusal;

/// State of an application.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum State {
    /// A sign-up that its applicant has not finished.
    Started,
    Submitted,
    Provisioned,
    Declined,
}

/// A transition of an application.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Change {
    /// The application is complete and goes to underwriting.
    Submit,
    /// Underwriting approves it.
    Approve,
    /// Underwriting denies it.
    Decline,
    /// People approve it, also after a decline; only people may reconsider.
    Reconsider,
}

/// Returns the state after a change.
///
/// # Errors
///
/// 422 for a change that the state does not allow.
pub(crate) fn after(state: State, change: Change) -> Result<State, Refusal> {
    match (state, change) {
        (State::Started, Change::Submit) => Ok(State::Submitted),
        (State::Submitted, Change::Approve)
        | (State::Submitted | State::Declined, Change::Reconsider) => Ok(State::Provisioned),
        (State::Submitted, Change::Decline) => Ok(State::Declined),
        (State::Started, Change::Approve | Change::Decline | Change::Reconsider)
        | (State::Submitted, Change::Submit)
        | (State::Declined, Change::Submit | Change::Approve | Change::Decline)
        | (
            State::Provisioned,
            Change::Submit | Change::Approve | Change::Decline | Change::Reconsider,
        ) => {
            let text = "Application is not waiting for a decision";
            Err(Refusal::rule("unavailable_for_current_status", text))
        }
    }
}
