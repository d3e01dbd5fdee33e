//! Backups: a consistent copy of journal and vault, and a manifest that proves it.
//!
//! Why it exists: the journal cannot be made again from the service.
//!
//! Guarantees: a backup holds the journal up to one head and every sealed value that it names; it
//! never holds the master key; it appears under its name only when it is whole and was read back.
//! It may be taken while another process appends: a head is chosen first, and records behind it
//! are left out, as are values that nothing names yet.
//!
//! A backup is a folder of files, or one file that holds them one after the other ([`chest`]).

pub mod chest;
mod kept;
mod manifest;
mod proof;
mod write;

pub use kept::Kept;
pub use manifest::{FileEntry, Manifest, VERSION};
pub use proof::{Proof, Wrong, prove};
pub(crate) use write::held;
pub use write::{Compactions, Form, Source, write};

/// Told how many of how many bytes are done.
pub type Progress<'a> = &'a mut dyn FnMut(u64, u64);

/// Why a backup cannot be written or read.
#[derive(Debug, thiserror::Error)]
pub enum BackupError {
    /// The file system refuses.
    #[error("{doing} {path}: {source}")]
    Io {
        /// The verb.
        doing: &'static str,
        /// The file.
        path: String,
        /// The system's error.
        #[source]
        source: std::io::Error,
    },
    /// The journal cannot be copied.
    #[error(transparent)]
    Journal(#[from] super::journal::JournalError),
    /// There is no record yet.
    #[error("the state is empty: there is nothing to back up yet")]
    Empty,
    /// Something stands in its place.
    #[error("{path} is there already; name a place where nothing is")]
    Taken {
        /// The place.
        path: String,
    },
    /// It is no backup, or one of a later program.
    #[error("{path} is no backup that this program can read: {why}")]
    Unreadable {
        /// The place.
        path: String,
        /// Why.
        why: String,
    },
    /// Files went while they were copied.
    #[error("the state was compacted while it was copied; nothing was kept: run it again")]
    Compacted,
    /// What was written does not read back as what was to be written.
    #[error("the backup was written and does not prove itself: {}; nothing was kept", list(.wrong))]
    Unproved {
        /// Everything that is wrong.
        wrong: Vec<Wrong>,
    },
}

impl BackupError {
    pub(super) fn io(
        doing: &'static str,
        path: impl std::fmt::Display,
    ) -> impl FnOnce(std::io::Error) -> Self {
        move |source| Self::Io { doing, path: path.to_string(), source }
    }
}

fn list(wrong: &[Wrong]) -> String {
    let all: Vec<String> = wrong.iter().map(ToString::to_string).collect();
    all.join("; ")
}

#[cfg(test)]
mod tests;
