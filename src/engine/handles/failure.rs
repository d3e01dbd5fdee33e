//! Reasons why a resource cannot be handled now, and the number of tries.

use std::time::Duration;

/// Wait before the next try of a problem that a person has to solve.
const PERSON_WAIT: Duration = Duration::from_mins(5);
/// Further tries while the service is still processing, each after a longer wait: some minutes in
/// all.
const PATIENCE: u32 = 4;

/// The reason why a resource could not be tried, or not to its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TaskFailure {
    /// A secret or setting is missing: the environment (exit code 4).
    Secret(String),
    /// The service cannot be reached or answers nothing usable (exit code 4).
    Unreachable(String),
    /// The service refuses our credentials, or lacks a required object (exit code 3).
    Blocked(String),
    /// The credentials belong to another account than the connected one (exit code 4).
    Mismatch(String),
    /// The service is still processing: an outside event (exit code 0).
    Waiting(String),
    /// The service refuses the partner application's own credentials (exit code 4).
    Denied(String),
}

impl TaskFailure {
    /// Returns the sentence for people.
    pub fn message(&self) -> &str {
        match self {
            Self::Secret(why)
            | Self::Unreachable(why)
            | Self::Blocked(why)
            | Self::Mismatch(why)
            | Self::Denied(why)
            | Self::Waiting(why) => why,
        }
    }

    /// Returns true if only a person can change the situation.
    pub fn needs_attention(&self) -> bool {
        match self {
            Self::Secret(_) | Self::Mismatch(_) | Self::Denied(_) | Self::Blocked(_) => true,
            Self::Unreachable(_) | Self::Waiting(_) => false,
        }
    }

    /// Returns the shortest wait of the next try, unless the document changes. Only a person can
    /// supply a missing secret or correct wrong credentials, so frequent tries are useless.
    pub(crate) fn wait_min(&self) -> Duration {
        match self {
            Self::Secret(_) | Self::Mismatch(_) | Self::Denied(_) => PERSON_WAIT,
            Self::Unreachable(_) | Self::Blocked(_) | Self::Waiting(_) => Duration::ZERO,
        }
    }

    /// Returns the number of tries before the resource is given up; `most` is the usual number. A
    /// missing secret or wrong credentials do not change while a command runs.
    pub(crate) fn tries(&self, most: u32) -> u32 {
        match self {
            Self::Secret(_) | Self::Mismatch(_) | Self::Denied(_) => 1,
            Self::Unreachable(_) | Self::Blocked(_) => most,
            Self::Waiting(_) => most.saturating_add(PATIENCE),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Closes M12: a problem that only a person can solve needs attention, and is not retried in
    /// seconds.
    #[test]
    fn what_a_person_has_to_mend_is_not_tried_again_in_seconds() {
        let why = || "the variable CODE_ACME is not set".to_owned();
        for unable in
            [TaskFailure::Secret(why()), TaskFailure::Mismatch(why()), TaskFailure::Denied(why())]
        {
            assert!(unable.needs_attention() && unable.wait_min() >= Duration::from_mins(5));
        }
        for unable in [TaskFailure::Unreachable(why()), TaskFailure::Waiting(why())] {
            assert!(!unable.needs_attention() && unable.wait_min() == Duration::ZERO);
        }
    }
}
