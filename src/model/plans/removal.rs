//! Removal statuses: resources without a document, returned ones, and renamed ones.

use std::fmt;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::base::clock::timestamp;
use crate::base::id::Key;

/// Effect of a removal on the service.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Removal {
    /// The object is deleted at the service.
    Delete,
    /// The object collects no more money; the service keeps it.
    Neutralise,
    /// The authorisation is withdrawn, and the credentials are erased.
    Deauthorise,
    /// The object stays unchanged and is unmanaged.
    Orphan,
}

impl Removal {
    /// Returns the word for a sum: `3 deleted`.
    pub fn past_participle(self) -> &'static str {
        match self {
            Self::Delete => "deleted",
            Self::Neutralise => "neutralised",
            Self::Deauthorise => "deauthorised",
            Self::Orphan => "orphaned",
        }
    }
}

/// A tripped guard that blocks removals (`policy.prune`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GuardTripped {
    /// The guard's key in `reckon.yaml`, such as `policy.prune.percent`.
    pub guard: &'static str,
    /// The guard's finding, and its limit.
    pub why: String,
    /// The origin of the limit: file and line, or `default`.
    pub set_at: String,
}

/// Removal status of a resource without a document, or with a new name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RemovalStatus {
    /// Its collection is ended; holds the necessary steps and the amount that is not collected.
    Neutralised(String),
    /// Its authorisation is withdrawn.
    Deauthorised,
    /// Its document returned after the object was ended, in this way.
    Ended(String),
    /// A guard blocks its removal.
    Guarded {
        /// The resource, for the command that permits the removal.
        key: Key,
        trip: GuardTripped,
    },
    /// It is live, and its missing document is not marked yet.
    Unmarked {
        /// The wait after the mark, in words.
        delay: String,
    },
    /// It is live and marked, and is removed after this time if its document is still missing then.
    Marked {
        /// Earliest time of the removal.
        until: DateTime<Utc>,
        /// Time since which its document is known to be missing.
        since: DateTime<Utc>,
    },
    /// It is new, and equal to a resource whose document is missing.
    LooksRenamed {
        key: Key,
        /// The resource without a document.
        from: Key,
    },
    /// It takes over the known facts of another name.
    Moved { from: Key },
    /// Its name belongs to another resource, which was moved from it.
    MovedAway { to: Key },
    /// It cannot take over the facts of the name in its annotation; holds the reason.
    CannotMove(String),
}

impl RemovalStatus {
    /// Returns the word for programs.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Neutralised(_) => "Neutralised",
            Self::Deauthorised => "Deauthorised",
            Self::Ended(_) => "Ended",
            Self::Guarded { .. } => "Guarded",
            Self::Unmarked { .. } => "Unmarked",
            Self::Marked { .. } => "Marked",
            Self::LooksRenamed { .. } => "LooksRenamed",
            Self::Moved { .. } => "Moved",
            Self::MovedAway { .. } => "MovedAway",
            Self::CannotMove(_) => "CannotMove",
        }
    }

    /// Returns whether a person has to act: exit code 3.
    pub fn needs_operator(&self) -> bool {
        match self {
            Self::Ended(_)
            | Self::Guarded { .. }
            | Self::LooksRenamed { .. }
            | Self::MovedAway { .. }
            | Self::CannotMove(_) => true,
            Self::Neutralised(_)
            | Self::Deauthorised
            | Self::Unmarked { .. }
            | Self::Marked { .. }
            | Self::Moved { .. } => false,
        }
    }

    /// Returns the kind of removal that is in progress, if any.
    pub fn removal(&self) -> Option<Removal> {
        match self {
            Self::Neutralised(_) => Some(Removal::Neutralise),
            Self::Deauthorised => Some(Removal::Deauthorise),
            Self::Ended(_)
            | Self::Guarded { .. }
            | Self::Unmarked { .. }
            | Self::Marked { .. }
            | Self::LooksRenamed { .. }
            | Self::Moved { .. }
            | Self::MovedAway { .. }
            | Self::CannotMove(_) => None,
        }
    }
}

impl fmt::Display for RemovalStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Neutralised(how) => {
                write!(f, "document missing (reckon.dev/deletion: delete); {how}")
            }
            Self::Deauthorised => write!(
                f,
                "document missing (reckon.dev/deletion: delete); the authorisation is withdrawn and the credentials \
                 are erased"
            ),
            Self::Ended(how) => write!(
                f,
                "the object was ended while its document was missing ({how}); raise reckon.dev/generation to create \
                 a new one"
            ),
            Self::Guarded { key, trip } => write!(
                f,
                "document missing, but {} blocks the removal: {} (set at {}); if you want the removal, run `reckon \
                 apply --allow-prune {}`, or `--allow-prune all` for all blocked ones",
                trip.guard,
                trip.why,
                trip.set_at,
                key.short()
            ),
            Self::Unmarked { delay } => write!(
                f,
                "document missing: `apply` marks it now, and removes the object if the document is still missing \
                 after {delay} (policy.prune.delay)"
            ),
            Self::Marked { until, since } => write!(
                f,
                "document missing since {}: an `apply` after {} removes the object, if the document is still \
                 missing then",
                timestamp(since),
                timestamp(until)
            ),
            Self::LooksRenamed { key, from } => write!(
                f,
                "same content as {}, whose document is missing; to keep that object, write `reckon.dev/moved-from: \
                 {}`; to have both, run `reckon apply --allow-prune {}`",
                from.short(),
                former_name(key, from),
                key.short()
            ),
            Self::Moved { from } => write!(
                f,
                "takes over the object of {}; nothing changes at the service",
                from.short()
            ),
            Self::MovedAway { to } => write!(
                f,
                "this name belongs to the object of {}, which was moved from it; to move the object back, remove \
                 that document and write `reckon.dev/moved-from: {}` here; otherwise choose another name",
                to.short(),
                whole_name(to)
            ),
            Self::CannotMove(why) => write!(f, "{why}"),
        }
    }
}

/// Formats a name for the annotation of a document in any namespace.
fn whole_name(key: &Key) -> String {
    format!("{}/{}", key.namespace, key.name)
}

/// Formats a former name for the annotation.
fn former_name(key: &Key, from: &Key) -> String {
    if key.namespace == from.namespace {
        return from.name.to_string();
    }
    format!("{}/{}", from.namespace, from.name)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Closes M15: the message of a name that moved away contains the way back and the name to
    /// write.
    #[test]
    fn m15_a_move_back_is_told_how() {
        let to: Key = "Contact/team-b/jane".parse().unwrap();
        let told = RemovalStatus::MovedAway { to }.to_string();
        assert!(
            told.contains("remove that document and write `reckon.dev/moved-from: team-b/jane`"),
            "{told}"
        );
    }
}
