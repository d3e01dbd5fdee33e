//! What is said of resources that go, come back, or take another name.

use std::fmt;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::base::clock::timestamp;
use crate::base::id::Key;

/// What removal means for a resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Removal {
    /// The service has it no more.
    Delete,
    /// It collects nothing any more; the service keeps it.
    Neutralise,
    /// The authorization is given back, and the credentials are erased.
    Deauthorise,
    /// It stays as it is, and nobody manages it.
    Orphan,
}

impl Removal {
    /// The word for a sum: `3 deleted`.
    pub fn done(self) -> &'static str {
        match self {
            Self::Delete => "deleted",
            Self::Neutralise => "neutralised",
            Self::Deauthorise => "deauthorised",
            Self::Orphan => "orphaned",
        }
    }
}

/// A guard that stands in the way of removals (`policy.prune`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trip {
    /// Its key in `reckon.yaml`, such as `policy.prune.percent`.
    pub guard: &'static str,
    /// What it saw, and its limit.
    pub why: String,
    /// Where the limit is set: file and line, or `default`.
    pub set_at: String,
}

/// Why a resource without a document, or with a new name, is as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Going {
    /// It is kept from collecting anything more; what that takes, and what is not collected.
    Neutralised(String),
    /// Its authorization is given back.
    Deauthorised,
    /// Its document came back after it was ended, in this way.
    Ended(String),
    /// A guard stops its removal.
    Guarded {
        /// The resource, for the way past.
        key: Key,
        /// The guard.
        trip: Trip,
    },
    /// It is live, and nobody has seen yet that its document is gone.
    Unmarked {
        /// How long it stays after it was marked, in words.
        delay: String,
    },
    /// It is live, was marked, and goes at this time if its document is still gone then.
    Marked {
        /// When it may go.
        until: DateTime<Utc>,
        /// Since when its document is known to be gone.
        since: DateTime<Utc>,
    },
    /// It is new, and the same as one whose document is gone.
    LooksRenamed {
        /// The resource itself.
        key: Key,
        /// The other one.
        from: Key,
    },
    /// It takes over what is known of another name.
    Moved {
        /// The other name.
        from: Key,
    },
    /// Its name belongs to another resource, which was moved from it.
    MovedAway {
        /// The other resource.
        to: Key,
    },
    /// It cannot take over what it names.
    CannotMove(String),
}

impl Going {
    /// The machine's word.
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

    /// Whether a person has to act: exit code 3.
    pub fn needs_a_person(&self) -> bool {
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

    /// What its removal means, where it is one that is under way.
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

impl fmt::Display for Going {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Neutralised(how) => {
                write!(f, "its document is gone, and says deletion: delete; {how}")
            }
            Self::Deauthorised => write!(
                f,
                "its document is gone, and says deletion: delete; its authorization is given back and its \
                 credentials are erased"
            ),
            Self::Ended(how) => write!(
                f,
                "it was ended on the service when its document was gone ({how}): raise \
                 reckon.dev/generation to begin a new one"
            ),
            Self::Guarded { key, trip } => write!(
                f,
                "its document is gone, but {} stops its removal: {} (set at {}); if it is meant: reckon \
                 apply --allow-prune {}, or --allow-prune all",
                trip.guard,
                trip.why,
                trip.set_at,
                key.short()
            ),
            Self::Unmarked { delay } => write!(
                f,
                "its document is gone: apply marks it now, and removes it when it is still gone after \
                 {delay} (policy.prune.delay)"
            ),
            Self::Marked { until, since } => write!(
                f,
                "its document is gone since {}: it is removed by an apply after {}, if it is still gone then",
                timestamp(since),
                timestamp(until)
            ),
            Self::LooksRenamed { key, from } => write!(
                f,
                "it says the same as {}, whose document is gone: write reckon.dev/moved-from: {} to go on \
                 with that one, or, if both are meant: reckon apply --allow-prune {}",
                from.short(),
                from_text(key, from),
                key.short()
            ),
            Self::Moved { from } => write!(
                f,
                "it takes over from {}; nothing changes on the service by that",
                from.short()
            ),
            Self::MovedAway { to } => write!(
                f,
                "its name on the service belongs to {}, which was moved from it: to move it back, remove that document and \
                 write `reckon.dev/moved-from: {}` here; else choose another name",
                to.short(),
                whole_name(to)
            ),
            Self::CannotMove(why) => write!(f, "{why}"),
        }
    }
}

/// A name as the annotation writes it, whatever namespace the document is in.
fn whole_name(key: &Key) -> String {
    format!("{}/{}", key.namespace, key.name)
}

/// A former name as the annotation writes it.
fn from_text(key: &Key, from: &Key) -> String {
    if key.namespace == from.namespace {
        return from.name.to_string();
    }
    format!("{}/{}", from.namespace, from.name)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Closes M15: whoever takes a name back is told how, with the name to write.
    #[test]
    fn m15_a_move_back_is_told_how() {
        let to: Key = "Contact/team-b/jane".parse().unwrap();
        let told = Going::MovedAway { to }.to_string();
        assert!(
            told.contains("remove that document and write `reckon.dev/moved-from: team-b/jane`"),
            "{told}"
        );
    }
}
