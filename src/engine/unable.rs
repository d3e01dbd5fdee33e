//! Why something could not be done now, and how often it is tried.

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
