//! Why something could not be done now, and how often it is tried.

use std::time::Duration;

/// What a person has to mend is tried again after this.
const PERSON_WAIT: Duration = Duration::from_mins(5);
/// So many more tries, each after a longer wait, has what the service is still at work at: some minutes in all.
const PATIENCE: u32 = 4;

/// Why a resource could not be tried, or not to its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unable {
    /// A secret or setting is missing: the environment (exit code 4).
    Secret(String),
    /// The service cannot be reached or answers nothing usable (exit code 4).
    Unreachable(String),
    /// The service refuses our credentials, or has not what is needed (exit code 3).
    Blocked(String),
    /// The credentials are those of another account than the one it is bound to (exit code 4).
    Mismatch(String),
    /// The service is still at work: an outside event (exit code 0).
    Waiting(String),
    /// The service refuses the partner application's own credentials (exit code 4).
    Denied(String),
}

impl Unable {
    /// The sentence for people.
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

    /// Whether only a person can change that.
    pub fn needs_attention(&self) -> bool {
        match self {
            Self::Secret(_) | Self::Mismatch(_) | Self::Denied(_) | Self::Blocked(_) => true,
            Self::Unreachable(_) | Self::Waiting(_) => false,
        }
    }

    /// How long the next try waits at least, unless the document changes. A secret that is not there, and credentials of
    /// something else, are a person's to mend: to try every few seconds mends nothing.
    pub(super) fn wait_min(&self) -> Duration {
        match self {
            Self::Secret(_) | Self::Mismatch(_) | Self::Denied(_) => PERSON_WAIT,
            Self::Unreachable(_) | Self::Blocked(_) | Self::Waiting(_) => Duration::ZERO,
        }
    }

    /// How often it is tried before it is left alone, where others are tried so often. A secret that is
    /// not there, and credentials of something else, do not mend themselves while a command runs.
    pub(super) fn tries(&self, most: u32) -> u32 {
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

    /// Closes M12: what only a person can change needs attention, and is not tried again in seconds.
    #[test]
    fn what_a_person_has_to_mend_is_not_tried_again_in_seconds() {
        let why = || "the variable CODE_ACME is not set".to_owned();
        for unable in [Unable::Secret(why()), Unable::Mismatch(why()), Unable::Denied(why())] {
            assert!(unable.needs_attention() && unable.wait_min() >= Duration::from_mins(5));
        }
        for unable in [Unable::Unreachable(why()), Unable::Waiting(why())] {
            assert!(!unable.needs_attention() && unable.wait_min() == Duration::ZERO);
        }
    }
}
