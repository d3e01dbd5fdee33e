//! An epoch: what follows a restore. What happened between the backup and the restore is not known.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::base::hash::Digest;
use crate::base::id::{IntentId, Key};

/// A backup was put in the place of a lost state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Restored {
    /// Its number: one more than the backup's own.
    pub epoch: u32,
    /// The last record of the backup.
    pub backup_sequence: u64,
    /// That record's hash.
    pub backup_head: Digest,
    /// When the backup was made.
    pub backup_at: DateTime<Utc>,
    /// When it was restored.
    pub at: DateTime<Utc>,
    /// Who restored it.
    pub actor: String,
    /// Whether the state itself was put back, by a copy or a snapshot: `backup_at` is its last moment then.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub put_back: bool,
}

impl Restored {
    /// Says what was put back, and when.
    fn story(&self) -> String {
        let Self { epoch, backup_at, at, put_back, .. } = self;
        let (from, to) = (minute(backup_at), minute(at));
        if *put_back {
            format!("epoch {epoch}: the state was put back to one of {from}, as was found at {to}")
        } else {
            format!("epoch {epoch}: a backup of {from} was restored at {to}")
        }
    }
}

/// A person's word that something was not sent between a backup and its restore, or that it was; in a state that began
/// empty, that a lost state did not send it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Release {
    /// The resources it is about; none: all.
    pub keys: Vec<Key>,
    /// Whether they are actions of hooks that were done: then they are not done again.
    #[serde(default)]
    pub done: bool,
    /// When.
    pub at: DateTime<Utc>,
    /// Who said so.
    pub actor: String,
}

/// What a person wants to be written down of the time between a backup and its restore.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Releasing {
    /// The resources it is about; none: all.
    pub keys: Vec<Key>,
    /// Whether they are actions of hooks that were done.
    #[serde(default)]
    pub done: bool,
}

/// The epoch that a state is in, as the fold keeps it. There is none before the first restore.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Epoch {
    /// How it began.
    pub began: Restored,
    /// The first intent of this epoch: those before it may have been settled since the backup.
    pub first_intent: IntentId,
    /// Whether creations that nothing can find are held.
    pub holds: bool,
    /// Whether what the service can be asked about is looked for before it is made.
    pub looks: bool,
}

impl Epoch {
    /// Whether an intent was written before the backup was restored.
    pub fn is_older(&self, intent: IntentId) -> bool {
        intent < self.first_intent
    }

    /// Why something that nothing can find is held, and what a person can do.
    pub fn reason(&self, key: &Key) -> String {
        format!(
            "{}, and nothing can tell whether it was made in between; look for it at the service, and if it is not \
             there say `reckon store release {}`",
            self.began.story(),
            key.short()
        )
    }

    /// Why an action of a hook waits for a person, and what they can do.
    pub fn reason_of_action(&self, action: &Key) -> String {
        let name = action.short();
        format!(
            "{}, and nothing can tell whether this was done in between; if it was not, say `reckon store release \
             {name}`, and else `reckon store release --done {name}`",
            self.began.story()
        )
    }

    /// Why something is looked for before it is made.
    pub fn looked_for(&self) -> String {
        format!("{}, and it may have been sent in between", self.began.story())
    }
}

/// A moment for people, in UTC.
fn minute(at: &DateTime<Utc>) -> String {
    at.format("%Y-%m-%d %H:%M UTC").to_string()
}
