//! A person's word that nothing new is done to a resource for a while.

use std::fmt;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::base::clock::timestamp;
use crate::base::id::Key;

/// The longest reason, in characters: it stands in every list.
pub const REASON_LENGTH_MAX: usize = 500;

/// Nothing new is sent for a resource; of a merchant: for none of its resources. What is under way is settled.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Suspension {
    /// The resource.
    pub key: Key,
    /// Why.
    pub reason: String,
    /// Who said so.
    pub actor: String,
    /// Until when; `None`: until someone resumes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<DateTime<Utc>>,
    /// Since when.
    pub at: DateTime<Utc>,
}

impl Suspension {
    /// Whether it holds at this time.
    pub fn holds(&self, now: DateTime<Utc>) -> bool {
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

/// What a person asks for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Pause {
    /// That nothing new is done to it.
    Suspend {
        /// The resource.
        key: Key,
        /// Why.
        reason: String,
        /// Until when.
        until: Option<DateTime<Utc>>,
    },
    /// That it goes on.
    Resume {
        /// The resource.
        key: Key,
    },
}

impl Pause {
    /// The resource.
    pub fn key(&self) -> &Key {
        match self {
            Self::Suspend { key, reason: _, until: _ } | Self::Resume { key } => key,
        }
    }
}

/// What became of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Paused {
    /// It is suspended.
    Suspended(Suspension),
    /// It goes on, unless something else suspends it.
    Resumed {
        /// The resource.
        key: Key,
        /// What suspends it still.
        still: Option<Still>,
    },
    /// It was not suspended by a command.
    NotSuspended {
        /// The resource.
        key: Key,
        /// What suspends it.
        still: Option<Still>,
    },
    /// Nothing has this name.
    Unknown {
        /// The name.
        key: Key,
        /// The one that looks most like it.
        nearest: Option<String>,
    },
}

/// What suspends a resource that no command of its own does.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Still {
    /// `reckon.dev/suspend` in its document, at this file and line.
    Document(String, usize),
    /// Its merchant is suspended.
    Merchant(Key),
}
