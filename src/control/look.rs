//! Looks at what a daemon has beside its engine: its files, its journal, another tree in the place of its own.
//!
//! Who works from another machine has no state and no key. What a command there needs of them is told by the
//! process that has them; nothing is changed by it.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use super::{Control, ControlError, Response};
use crate::base::hash::Digest;
use crate::base::id::Key;
use crate::engine::{Question, Terms};

/// What is looked at.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Look {
    /// What the engine would answer about its plan if its tree were this one.
    Of(SentTree, Question),
    /// Whether the daemon's tree is this one: a [`Differences`].
    Compare(Contents),
    /// Why something is as it is; null if the journal does not know it.
    Why {
        /// An id, a mark, an intent or a resource.
        what: String,
        /// Whether the whole journal is verified.
        verify: bool,
    },
    /// The events that were told since then, as scripts see them, and what came of them.
    Past(DateTime<Utc>),
    /// The addresses that are given to the service and to applicants: secrets.
    Urls,
    /// A payer's link for a saved method, made for this, good for so many days: a secret.
    Intake {
        /// The saved method.
        key: Key,
        /// What it is good for.
        terms: Terms,
        /// The days.
        days: u16,
    },
}

/// A tree of specs on its way. `Debug` shows how much it is: documents may hold personal values.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SentTree {
    /// What stands before the paths of its files in reports.
    pub prefix: String,
    /// The commit that is checked out, where there is one.
    pub commit: Option<String>,
    /// The files of specs, by their paths below the folder.
    pub files: BTreeMap<String, String>,
    /// The files that documents name, by their paths below their own folder; `None`: those of the daemon count.
    pub attached: Option<BTreeMap<String, SentFile>>,
}

impl fmt::Debug for SentTree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SentTree({} files at {:?})", self.files.len(), self.commit)
    }
}

/// What is known of a file that documents name. Its content stays where it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct SentFile {
    /// Bytes.
    pub size: u64,
    /// SHA-256 of its content.
    pub sha256: Digest,
}

/// What the files of a tree hold: a SHA-256 for each path.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Contents {
    /// The files of specs.
    pub files: BTreeMap<String, Digest>,
    /// The files that documents name.
    pub attached: BTreeMap<String, Digest>,
}

/// How the daemon's tree differs from the one that was compared with it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Differences {
    /// The commit that the daemon has checked out, where there is one.
    pub commit: Option<String>,
    /// Files that only the other one has.
    pub missing: Vec<String>,
    /// Files that only the daemon has.
    pub more: Vec<String>,
    /// Files that hold something else.
    pub changed: Vec<String>,
    /// Files that documents name, and that are missing or hold something else.
    pub attached: Vec<String>,
    /// What stands in the way of seeing all of the daemon's tree.
    pub trouble: Option<String>,
}

impl Contents {
    /// How this tree differs from another one.
    pub fn differences(&self, other: &Self) -> Differences {
        let only = |these: &Self, those: &Self| -> Vec<String> {
            these.files.keys().filter(|path| !those.files.contains_key(*path)).cloned().collect()
        };
        let other_content = |(path, digest): (&String, &Digest)| {
            let mine = self.files.get(path);
            mine.is_some_and(|mine| mine != digest).then(|| path.clone())
        };
        let attached = other.attached.iter();
        let attached = attached.filter(|(path, digest)| self.attached.get(*path) != Some(digest));
        Differences {
            missing: only(other, self),
            more: only(self, other),
            changed: other.files.iter().filter_map(other_content).collect(),
            attached: attached.map(|(path, _)| path.clone()).collect(),
            ..Differences::default()
        }
    }
}

impl Differences {
    /// Whether the trees are the same.
    pub fn is_none(&self) -> bool {
        let Self { commit: _, missing, more, changed, attached, trouble } = self;
        let files = [missing, more, changed, attached];
        files.iter().all(|files| files.is_empty()) && trouble.is_none()
    }
}

/// Whoever can look.
pub trait Desk: fmt::Debug + Send + Sync {
    /// Looks. It may take its time: it is called where that keeps nobody waiting.
    fn look(&self, look: Look) -> Response;
}

impl Look {
    /// Whether what it tells is a secret.
    pub fn is_secret(&self) -> bool {
        match self {
            // Events hold names and addresses.
            Self::Urls | Self::Intake { .. } | Self::Past(_) => true,
            Self::Of(..) | Self::Compare(_) | Self::Why { .. } => false,
        }
    }
}

impl Control {
    /// From now on this desk answers looks; the first one stays.
    pub fn seat(&self, desk: Arc<dyn Desk>) {
        self.desk.get_or_init(|| desk);
    }

    /// Has something looked at. Errors: what the desk says, or nobody can look yet.
    pub async fn look(&self, look: Look) -> Response {
        let Some(desk) = self.desk.get().cloned() else { return Err(empty()) };
        let looked = tokio::task::spawn_blocking(move || desk.look(look)).await;
        looked.unwrap_or_else(|_| Err(broken()))
    }
}

fn empty() -> ControlError {
    let message = "the daemon is starting, and cannot tell this yet";
    ControlError::new(ControlError::BUSY, message, "ask again in a moment")
}

fn broken() -> ControlError {
    let help = "this is a mistake of ours: please report it";
    ControlError::new("our_mistake", "the look ended without an answer", help)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::hash::sha256;

    fn contents(files: &[(&str, &str)], attached: &[(&str, &str)]) -> Contents {
        let digests = |files: &[(&str, &str)]| {
            let digest =
                |(path, text): &(&str, &str)| ((*path).to_owned(), sha256(text.as_bytes()));
            files.iter().map(digest).collect()
        };
        Contents { files: digests(files), attached: digests(attached) }
    }

    #[test]
    fn every_file_that_is_not_the_same_is_told_by_name_and_sort() {
        let mine = contents(&[("a", "1"), ("b", "2"), ("c", "3")], &[("x", "1"), ("z", "9")]);
        let theirs = contents(&[("b", "2"), ("c", "4"), ("d", "5")], &[("x", "1"), ("y", "1")]);
        let found = mine.differences(&theirs);
        assert_eq!((found.missing, found.more), (vec!["d".to_owned()], vec!["a".to_owned()]));
        assert_eq!((found.changed, found.attached), (vec!["c".to_owned()], vec!["y".to_owned()]));
        assert!(mine.differences(&mine).is_none());
        let trouble = Some("unreadable".to_owned());
        assert!(!Differences { trouble, ..Differences::default() }.is_none());
    }

    #[tokio::test]
    async fn a_daemon_that_is_starting_says_so() {
        let (events, _asked) = tokio::sync::mpsc::channel(1);
        let error = Control::new(events).look(Look::Urls).await.unwrap_err();
        assert_eq!(error.code, ControlError::BUSY);
    }
}
