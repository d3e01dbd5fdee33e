//! Backups: a consistent copy of journal and vault, and a manifest that proves it.
//!
//! Why it exists: the journal cannot be rebuilt from the service.
//!
//! Guarantees: a backup holds the journal up to one head and every sealed value that the journal
//! names. A backup never holds the master key. It gets its name only when it is complete and was
//! read back. It may be taken while another process appends: the head is chosen first, and later
//! records and values that no record names yet are left out.
//!
//! A backup is a folder of files, or one file that holds them one after the other ([`chest`]).

#[cfg(test)]
mod tests;

use super::proof::BackupProblem;

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
    Journal(#[from] crate::store::journal::error::JournalError),
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
        path: impl std::fmt::Display,
    ) -> impl FnOnce(std::io::Error) -> Self {
        move |source| Self::Io { doing, path: path.to_string(), source }
    }
}

fn list(wrong: &[BackupProblem]) -> String {
    let all: Vec<String> = wrong.iter().map(ToString::to_string).collect();
    all.join("; ")
}
