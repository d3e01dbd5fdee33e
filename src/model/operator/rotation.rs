//! Webhook addresses, and their rotation.
//!
//! An address is derived from the state's key and from its generation. During a rotation the newest
//! address and the one before are both valid. So no webhook is lost until the service has the new
//! address.

use std::fmt;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::base::id::Key;

/// A webhook address.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WebhookAddress {
    /// The partner's webhooks.
    Partner,
    /// The events of a merchant, of either mode.
    Merchant(Key),
}

impl fmt::Display for WebhookAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Partner => f.write_str("the Event URL"),
            Self::Merchant(key) => write!(f, "the address of {}", key.short()),
        }
    }
}

/// The valid generations of an address.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rotation {
    /// The newest one; addresses begin with 0.
    pub generation: u32,
    /// Beginning of the present rotation: until it is finished the generation before is valid, too.
    #[serde(rename = "unfinished")]
    pub began: Option<DateTime<Utc>>,
}

impl Rotation {
    /// Returns the generation before, while it is valid.
    pub fn previous(&self) -> Option<u32> {
        self.began.and_then(|_| self.generation.checked_sub(1))
    }

    /// Returns whether an address of this generation is valid.
    pub fn is_valid(&self, generation: u32) -> bool {
        generation == self.generation || self.previous() == Some(generation)
    }

    /// Returns the state after a step. A rotation in progress is not begun again: that would end
    /// the address that the service knows.
    #[must_use]
    pub fn after(self, step: RotationStep, at: DateTime<Utc>) -> Self {
        let next = self.generation.saturating_add(1);
        match step {
            RotationStep::Begun if self.began.is_some() => self,
            RotationStep::Begun => Self { generation: next, began: Some(at) },
            RotationStep::Finished => Self { began: None, ..self },
            RotationStep::AtOnce => Self { generation: next, began: None },
        }
    }
}

/// A step of a rotation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RotationStep {
    /// There is a new address, and the one before stays valid.
    Begun,
    /// The address before becomes invalid.
    Finished,
    /// Both in one step: an outsider knows the address.
    AtOnce,
}

/// A person's request for a step of a rotation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RotationRequest {
    /// The merchant whose address is meant; `None`: all addresses.
    pub merchant: Option<Key>,
    pub step: RotationStep,
}

/// Record of a step of a rotation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RotationRecord {
    pub addresses: Vec<WebhookAddress>,
    pub step: RotationStep,
    pub actor: String,
    pub at: DateTime<Utc>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_generations_are_good_while_an_address_is_exchanged_and_one_before_and_after() {
        let at = DateTime::UNIX_EPOCH;
        let good =
            |one: &Rotation| (0..4).filter(|number| one.is_valid(*number)).collect::<Vec<_>>();
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
