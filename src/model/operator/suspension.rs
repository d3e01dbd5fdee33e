//! Suspensions: a person's order that no new effect is done for a resource for a while.

use std::fmt;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::base::clock::timestamp;
use crate::base::id::Key;

/// The longest reason, in characters: every list shows it.
pub const REASON_LENGTH_MAX: usize = 500;

/// Suspension of a resource; of a merchant: of all its resources. Nothing new is sent; effects in
/// progress are settled.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Suspension {
    pub key: Key,
    pub reason: String,
    pub actor: String,
    /// End of the suspension; `None`: until a person resumes the resource.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<DateTime<Utc>>,
    /// Beginning of the suspension.
    pub at: DateTime<Utc>,
}

impl Suspension {
    /// Returns whether it is in force at this time.
    pub fn is_in_force(&self, now: DateTime<Utc>) -> bool {
        self.until.is_none_or(|until| now < until)
    }
}

impl fmt::Display for Suspension {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { key, reason, actor, until, at } = self;
        let (name, since) = (key.short(), timestamp(at));
        write!(f, "{name} was suspended by {actor} at {since}")?;
        if let Some(until) = until {
            write!(f, " until {}", timestamp(until))?;
        }
        write!(f, ": {reason}")
    }
}

/// A person's request to suspend or resume a resource.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SuspensionRequest {
    /// Suspend the resource.
    Suspend { key: Key, reason: String, until: Option<DateTime<Utc>> },
    /// Resume the resource.
    Resume { key: Key },
}

impl SuspensionRequest {
    pub fn key(&self) -> &Key {
        match self {
            Self::Suspend { key, reason: _, until: _ } | Self::Resume { key } => key,
        }
    }
}

/// Result of the request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SuspensionResult {
    /// The resource is suspended.
    Suspended(Suspension),
    /// The resource is resumed, unless another cause still suspends it.
    Resumed {
        key: Key,
        /// The cause that still suspends it.
        still: Option<RemainingSuspension>,
    },
    /// The resource was not suspended by a command.
    NotSuspended {
        key: Key,
        /// The cause that suspends it.
        still: Option<RemainingSuspension>,
    },
    /// No resource has this name.
    Unknown {
        key: Key,
        /// The most similar name.
        nearest: Option<String>,
    },
}

/// Cause that suspends a resource without a command of its own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RemainingSuspension {
    /// `reckon.dev/suspend` in its document, at this file and line.
    Document(String, usize),
    /// Its merchant is suspended.
    Merchant(Key),
}
