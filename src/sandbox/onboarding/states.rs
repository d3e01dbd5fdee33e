//! States of an application and their transitions (partner-api, States and transitions).

use serde::{Deserialize, Serialize};

use crate::sandbox::http::refusal::SandboxRefusal;

/// State of an application.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ApplicationState {
    /// A sign-up that its applicant has not finished.
    Started,
    Submitted,
    Provisioned,
    Declined,
}

/// A transition of an application.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ApplicationTransition {
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
pub(crate) fn after(
    state: ApplicationState,
    change: ApplicationTransition,
) -> Result<ApplicationState, SandboxRefusal> {
    match (state, change) {
        (ApplicationState::Started, ApplicationTransition::Submit) => {
            Ok(ApplicationState::Submitted)
        }
        (ApplicationState::Submitted, ApplicationTransition::Approve)
        | (
            ApplicationState::Submitted | ApplicationState::Declined,
            ApplicationTransition::Reconsider,
        ) => Ok(ApplicationState::Provisioned),
        (ApplicationState::Submitted, ApplicationTransition::Decline) => {
            Ok(ApplicationState::Declined)
        }
        (
            ApplicationState::Started,
            ApplicationTransition::Approve
            | ApplicationTransition::Decline
            | ApplicationTransition::Reconsider,
        )
        | (ApplicationState::Submitted, ApplicationTransition::Submit)
        | (
            ApplicationState::Declined,
            ApplicationTransition::Submit
            | ApplicationTransition::Approve
            | ApplicationTransition::Decline,
        )
        | (
            ApplicationState::Provisioned,
            ApplicationTransition::Submit
            | ApplicationTransition::Approve
            | ApplicationTransition::Decline
            | ApplicationTransition::Reconsider,
        ) => {
            let text = "Application is not waiting for a decision";
            Err(SandboxRefusal::rule("unavailable_for_current_status", text))
        }
    }
}
