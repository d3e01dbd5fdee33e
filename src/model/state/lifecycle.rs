//! Records about the state itself: epochs, compaction, and retention.
//!
//! Each restore begins an epoch. Events between the backup and the restore are not known.
//! Retention drops settled events once they are old enough.

use chrono::{DateTime, TimeDelta, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::base::hash::Digest;
use crate::base::id::{IntentId, Key};

/// Record that a backup replaced a lost state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Restored {
    /// The number of the epoch: one more than the backup's own.
    pub epoch: u32,
    pub backup_sequence: u64,
    pub backup_head: Digest,
    pub backup_at: DateTime<Utc>,
    pub at: DateTime<Utc>,
    pub actor: String,
    /// The state itself was put back, by a copy or a snapshot: `backup_at` is its last moment then.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub put_back: bool,
}

impl Restored {
    fn describe(&self) -> String {
        let Self { epoch, backup_at, at, put_back, .. } = self;
        let (from, to) = (format_minute(backup_at), format_minute(at));
        if *put_back {
            format!("epoch {epoch}: the state was put back to one of {from}, as was found at {to}")
        } else {
            format!("epoch {epoch}: a backup of {from} was restored at {to}")
        }
    }
}

/// A person's statement that an effect was not sent between a backup and its restore, or that it
/// was. In a state that began empty, it states that a lost state did not send the effect.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Release {
    /// The resources that it covers; empty: all.
    pub keys: Vec<Key>,
    /// The resources are actions of hooks that were done: they are not done again.
    #[serde(default)]
    pub done: bool,
    pub at: DateTime<Utc>,
    pub actor: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReleaseRequest {
    /// The resources that it covers; empty: all.
    pub keys: Vec<Key>,
    #[serde(default)]
    pub done: bool,
}

/// The epoch of a state, as the fold holds it. There is none before the first restore.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Epoch {
    /// The restore that began the epoch.
    pub began: Restored,
    /// The first intent of this epoch: earlier ones may have been settled since the backup.
    pub first_intent: IntentId,
    /// Creations that no lookup can find are on hold.
    #[serde(rename = "holds")]
    pub holds_unfindable: bool,
    /// Objects that the service can be asked about are looked up before their creation.
    #[serde(rename = "looks")]
    pub looks_up_first: bool,
}

impl Epoch {
    pub fn is_older(&self, intent: IntentId) -> bool {
        intent < self.first_intent
    }

    /// Explains why a creation that no lookup can find is on hold, and the remedy.
    pub fn hold_reason(&self, key: &Key) -> String {
        format!(
            "{}, and nothing can tell whether it was made in between; look for it at the service, and if it is not \
             there say `reckon store release {}`",
            self.began.describe(),
            key.short()
        )
    }

    /// Explains why an action of a hook waits for a person, and the remedy.
    pub fn action_hold_reason(&self, action: &Key) -> String {
        let name = action.short();
        format!(
            "{}, and no lookup can prove whether the action was done in between; if it was not, run `reckon store \
             release {name}`; if it was, run `reckon store release --done {name}`",
            self.began.describe()
        )
    }

    pub fn lookup_reason(&self) -> String {
        format!("{}, and it may have been sent in between", self.began.describe())
    }
}

fn format_minute(at: &DateTime<Utc>) -> String {
    at.format("%Y-%m-%d %H:%M UTC").to_string()
}

/// The record behind a snapshot: from here on the chain continues from the snapshot.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Compacted {
    pub sequence: u64,
    /// Hash of that record, which the snapshot replaces.
    pub replaces: Digest,
    pub snapshot: Digest,
    /// The records were dropped, not archived.
    pub dropped: bool,
    pub at: DateTime<Utc>,
    pub actor: String,
}

/// Time for which the service may still answer: refunds are possible for six months.
pub const ACTION_RETENTION: TimeDelta = TimeDelta::days(183);

/// Record that settled events of a merchant, not newer than the horizon, are dropped.
///
/// The fold decides for each one; the record only names the candidates. If the service later shows
/// such an event again, it does not count as new.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventsDropped {
    pub merchant: Key,
    /// No event after this moment is dropped. The horizon never goes back.
    pub horizon: DateTime<Utc>,
    /// The numbers of the events: after the first one, and up to the last one.
    pub events: (u64, u64),
    /// Posted ids that the service does not have, or that belong to the other mode.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub forged: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty", rename = "garbled")]
    pub malformed: Vec<Digest>,
    /// Intents of hooks' actions; those older than [`ACTION_RETENTION`] are dropped.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub actions: Vec<(IntentId, Key)>,
    pub at: DateTime<Utc>,
}

/// A webhook names an event from before the horizon: it is neither awaited nor new.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lapsed {
    pub merchant: Key,
    pub event: String,
    pub at: DateTime<Utc>,
}
