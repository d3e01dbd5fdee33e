//! The addresses at which the service tells us things, and how they are exchanged for new ones.
//!
//! An address is made of the state's key and of its generation. While it is exchanged the newest one and the one
//! before are good, so that nothing is lost until the service was told the new one.

use std::fmt;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::base::id::Key;

/// Where something comes to.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Address {
    /// The partner's notifications.
    Partner,
    /// The events of a merchant, of either mode.
    Merchant(Key),
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Partner => f.write_str("the Event URL"),
            Self::Merchant(key) => write!(f, "the address of {}", key.short()),
        }
    }
}

/// Which generations of an address are good.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rotation {
    /// The newest one; addresses begin with 0.
    pub generation: u32,
    /// Since when it is exchanged: until that is finished the one before is good, too.
    pub unfinished: Option<DateTime<Utc>>,
}

impl Rotation {
    /// The generation before, while it is good.
    pub fn before(&self) -> Option<u32> {
        self.unfinished.and_then(|_| self.generation.checked_sub(1))
    }

    /// Whether an address of this generation is good.
    pub fn opens(&self, generation: u32) -> bool {
        generation == self.generation || self.before() == Some(generation)
    }

    /// The state after a step. What was begun is not begun again: that would end the one that the service knows.
    #[must_use]
    pub fn after(self, step: RotationStep, at: DateTime<Utc>) -> Self {
        let next = self.generation.saturating_add(1);
        match step {
            RotationStep::Begun if self.unfinished.is_some() => self,
            RotationStep::Begun => Self { generation: next, unfinished: Some(at) },
            RotationStep::Finished => Self { unfinished: None, ..self },
            RotationStep::AtOnce => Self { generation: next, unfinished: None },
        }
    }
}

/// How far an exchange is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RotationStep {
    /// There is a new one, and the one before is good, too.
    Begun,
    /// The one before is good no more.
    Finished,
    /// Both in one: somebody else knows the address.
    AtOnce,
}

/// What a person asks for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rotating {
    /// The address of this merchant; none: all addresses.
    pub merchant: Option<Key>,
    /// What is to be done.
    pub step: RotationStep,
}

/// Addresses are exchanged, as the journal holds it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rotated {
    /// Which.
    pub addresses: Vec<Address>,
    /// What was done.
    pub step: RotationStep,
    /// Who said so.
    pub actor: String,
    /// When.
    pub at: DateTime<Utc>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_generations_are_good_while_an_address_is_exchanged_and_one_before_and_after() {
        let at = DateTime::UNIX_EPOCH;
        let good = |one: &Rotation| (0..4).filter(|number| one.opens(*number)).collect::<Vec<_>>();
        let first = Rotation::default();
        assert_eq!(good(&first), [0]);
        let begun = first.after(RotationStep::Begun, at);
        assert_eq!(good(&begun), [0, 1]);
        assert_eq!(begun.after(RotationStep::Begun, at), begun, "the one in use does not end");
        let finished = begun.after(RotationStep::Finished, at);
        assert_eq!(good(&finished), [1]);
        assert_eq!(good(&finished.after(RotationStep::Begun, at)), [1, 2]);
        assert_eq!(good(&begun.after(RotationStep::AtOnce, at)), [2]);
    }
}
