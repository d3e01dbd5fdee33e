//! The choice of when: a freeze, during which no change goes to the service, the sync of a manual
//! daemon, which waits for a person before it makes the service match changed documents, and the
//! windows and freezes that the configuration schedules.
//!
//! Reads, events and settlements by reads always go on. An effect that was sent before is settled.

use chrono::{DateTime, FixedOffset, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;

use crate::base::clock::timestamp;

/// A freeze in force. Only a person begins one, and only a person ends it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, derive_more::Display)]
#[display("frozen by {actor} at {}: {reason}", timestamp(at))]
pub struct Freeze {
    pub reason: String,
    pub actor: String,
    pub at: DateTime<Utc>,
}

impl Freeze {
    /// Returns the sentence with the way out, for a screen that shows nothing else about it.
    pub fn sentence(&self) -> String {
        format!("{self}; nothing is sent until `reckon thaw`")
    }
}

/// The end of a freeze, as the journal has it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Thaw {
    pub actor: String,
    pub at: DateTime<Utc>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FreezeRequest {
    Freeze { reason: String },
    Thaw,
}

/// The answer to a request. A second freeze changes nothing: the first one stays, with its reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FreezeResult {
    Frozen(Freeze),
    AlreadyFrozen(Freeze),
    /// The freeze that ended.
    Thawed(Freeze),
    NotFrozen,
}

/// A person's word to make the service match one state of the documents: `sync`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SyncGrant {
    /// A digest of all documents, names included; other documents wait for another word.
    pub tree: String,
    pub actor: String,
    pub at: DateTime<Utc>,
}

/// The answer to a sync of the plan with a checksum.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SyncResult {
    Synced(SyncGrant),
    /// The plan changed since: nothing was recorded. The new checksum.
    Changed(String),
    /// The daemon makes the service match by itself.
    Automatic,
}

/// A rule of the configuration that holds changes back, and the end of its hold.
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TimedHold {
    pub rule: String,
    pub reason: Option<String>,
    /// In the zone of the rule.
    pub until: DateTime<FixedOffset>,
}

/// The reason for which effects of documents do not start.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Hold {
    Frozen(Freeze),
    AwaitsSync,
    ScheduledFreeze(TimedHold),
    OutsideWindow(TimedHold),
}

impl Hold {
    /// Returns the reason as a condition has it.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Frozen(_) => "Frozen",
            Self::AwaitsSync => "AwaitsSync",
            Self::ScheduledFreeze(_) => "ScheduledFreeze",
            Self::OutsideWindow(_) => "OutsideWindow",
        }
    }

    /// Returns the reason as a sentence with the way out.
    pub fn sentence(&self) -> String {
        match self {
            Self::Frozen(freeze) => freeze.sentence(),
            Self::AwaitsSync => {
                "policy.sync is manual: nothing is sent until `reckon sync`".to_owned()
            }
            Self::ScheduledFreeze(TimedHold { rule, reason, until }) => {
                let reason = reason.as_ref().map(|reason| format!(" ({reason})"));
                let (reason, until) = (reason.unwrap_or_default(), local_time(until));
                format!("freeze `{rule}`{reason}: nothing is sent until {until}")
            }
            Self::OutsideWindow(TimedHold { rule, until, .. }) => {
                let until = local_time(until);
                format!("outside window `{rule}`: nothing is sent until {until}")
            }
        }
    }

    /// Returns the rule of the configuration that holds; `None` for a hold that a person ends.
    pub fn rule(&self) -> Option<&str> {
        match self {
            Self::Frozen(_) | Self::AwaitsSync => None,
            Self::ScheduledFreeze(hold) | Self::OutsideWindow(hold) => Some(&hold.rule),
        }
    }
}

/// Formats a local time with its offset from UTC: `2026-12-21 09:00 +01:00`.
pub fn local_time(at: &DateTime<FixedOffset>) -> String {
    at.format("%Y-%m-%d %H:%M %:z").to_string()
}
