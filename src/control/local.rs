//! Queries about data that a daemon has beside its engine: its files, its journal, or another tree
//! in place of its own.
//!
//! A client on another machine has neither state nor key. The daemon's process answers such queries
//! for the client's commands; a query changes nothing.

use std::collections::BTreeMap;
use std::fmt;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::base::hash::Digest;
use crate::base::id::Key;
use crate::engine::protocol::payers::IntakeTerms;
use crate::engine::protocol::query::EngineQuery;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LocalQuery {
    /// The engine's answer to a question about its plan, for this tree instead of its own.
    #[serde(rename = "of")]
    PlanOf(SentTree, EngineQuery),
    /// Comparison of the daemon's tree with this one; answers [`TreeDifferences`].
    Compare(TreeContents),
    /// The reason of a present state, from the journal; null if the journal does not know it.
    Why {
        /// An id, a mark, an intent or a resource.
        what: String,
        /// True if the whole journal is to be verified.
        verify: bool,
    },
    /// The events verified since this time, as scripts see them, and their results.
    Past(DateTime<Utc>),
    /// The addresses that the service and applicants are given: secrets.
    Urls,
    /// A payer's link for a saved method, made for these terms: a secret.
    Intake {
        key: Key,
        terms: IntakeTerms,
        /// Days for which the link is valid.
        days: u16,
    },
}

/// A tree of specs to be sent. `Debug` shows only its size: documents may hold personal values.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SentTree {
    /// Prefix of the paths of its files in reports.
    pub prefix: String,
    pub commit: Option<String>,
    /// The files of specs, by their paths below the folder.
    pub files: BTreeMap<String, String>,
    /// The files that documents name, by their paths below their own folder; `None`: the daemon's
    /// files count.
    pub attached: Option<BTreeMap<String, SentFile>>,
}

impl fmt::Debug for SentTree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SentTree({} files at {:?})", self.files.len(), self.commit)
    }
}

/// Size and digest of a file that documents name. The content is not sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct SentFile {
    pub size: u64,
    /// SHA-256 of the content.
    pub sha256: Digest,
}

/// SHA-256 of every file of a tree, by path.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TreeContents {
    pub files: BTreeMap<String, Digest>,
    pub attached: BTreeMap<String, Digest>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TreeDifferences {
    /// The commit that the daemon has checked out, if there is one.
    pub commit: Option<String>,
    /// Files that only the other tree has.
    pub missing: Vec<String>,
    pub more: Vec<String>,
    pub changed: Vec<String>,
    /// Files that documents name and that are missing or have different content.
    pub attached: Vec<String>,
    /// The obstacle to seeing all of the daemon's tree, if there is one.
    pub trouble: Option<String>,
}

impl TreeContents {
    pub fn differences(&self, other: &Self) -> TreeDifferences {
        let only = |these: &Self, those: &Self| -> Vec<String> {
            these.files.keys().filter(|path| !those.files.contains_key(*path)).cloned().collect()
        };
        let other_content = |(path, digest): (&String, &Digest)| {
            let mine = self.files.get(path);
            mine.is_some_and(|mine| mine != digest).then(|| path.clone())
        };
        let attached = other.attached.iter();
        let attached = attached.filter(|(path, digest)| self.attached.get(*path) != Some(digest));
        TreeDifferences {
            missing: only(other, self),
            more: only(self, other),
            changed: other.files.iter().filter_map(other_content).collect(),
            attached: attached.map(|(path, _)| path.clone()).collect(),
            ..TreeDifferences::default()
        }
    }
}

impl TreeDifferences {
    pub fn is_none(&self) -> bool {
        let Self { commit: _, missing, more, changed, attached, trouble } = self;
        let files = [missing, more, changed, attached];
        files.iter().all(|files| files.is_empty()) && trouble.is_none()
    }
}

impl LocalQuery {
    pub fn is_secret(&self) -> bool {
        match self {
            // Events hold names and addresses.
            Self::Urls | Self::Intake { .. } | Self::Past(_) => true,
            Self::PlanOf(..) | Self::Compare(_) | Self::Why { .. } => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::hash::sha256;

    fn contents(files: &[(&str, &str)], attached: &[(&str, &str)]) -> TreeContents {
        let digests = |files: &[(&str, &str)]| {
            let digest =
                |(path, text): &(&str, &str)| ((*path).to_owned(), sha256(text.as_bytes()));
            files.iter().map(digest).collect()
        };
        TreeContents { files: digests(files), attached: digests(attached) }
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
        assert!(!TreeDifferences { trouble, ..TreeDifferences::default() }.is_none());
    }
}
