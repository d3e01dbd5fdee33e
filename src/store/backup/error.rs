//! Errors of writing and reading backups, and the problems of an existing one.

use std::fmt;

/// Callback that receives the bytes done and the total.
pub type ProgressFn<'a> = &'a mut dyn FnMut(u64, u64);

/// Error of writing or reading a backup.
#[derive(Debug, thiserror::Error)]
pub enum BackupError {
    #[error("{doing} {path}: {source}")]
    Io {
        /// The verb of the operation, such as `read`.
        doing: &'static str,
        path: String,
        #[source]
        source: std::io::Error,
    },
    /// The journal cannot be copied.
    #[error(transparent)]
    Journal(#[from] crate::store::journal::chain::JournalError),
    /// The state has no record yet.
    #[error("the state is empty: there is nothing to back up yet")]
    Empty,
    /// The place is occupied.
    #[error("{path} already exists; choose a path that does not exist")]
    Occupied { path: String },
    /// The place holds no backup, or one of a later program version.
    #[error("{path} is not a readable backup: {why}")]
    Unreadable { path: String, why: String },
    /// A compaction removed files while they were copied.
    #[error("the state was compacted during the copy; nothing was kept: run the backup again")]
    Compacted,
    /// The backup that was written does not verify.
    #[error("the backup failed its verification: {}; nothing was kept", list(.wrong))]
    Unverified {
        /// Every problem found.
        wrong: Vec<BackupProblem>,
    },
}

impl BackupError {
    pub(crate) fn io(
        doing: &'static str,
        path: impl fmt::Display,
    ) -> impl FnOnce(std::io::Error) -> Self {
        move |source| Self::Io { doing, path: path.to_string(), source }
    }
}

pub(crate) fn list(wrong: &[BackupProblem]) -> String {
    let all: Vec<String> = wrong.iter().map(ToString::to_string).collect();
    all.join("; ")
}

/// One problem of a backup.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BackupProblem {
    /// The file, or the part of the backup.
    pub what: String,
    pub why: String,
}

impl fmt::Display for BackupProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.what, self.why)
    }
}

pub(crate) fn problem(what: &str, why: impl fmt::Display) -> BackupProblem {
    BackupProblem { what: what.to_owned(), why: why.to_string() }
}
