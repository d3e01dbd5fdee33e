//! Errors of the store as a whole, and the results of opening a state: repairs, and errors.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use crate::model::intent::IllegalTransition;
use crate::store::disk::directory::LockError;
use crate::store::index::ordered::IndexError;
use crate::store::journal::chain::JournalError;
use crate::store::journal::files::CutTail;
use crate::store::read_model::model::ReadModelError;
use crate::store::vault::frame::VaultError;
use crate::store::vault::key::MasterKeyError;

/// Error of an append or a fold.
///
/// After `Failed` the durability of the commit is unknown: stop, and open the store again.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    #[error(transparent)]
    Journal(#[from] JournalError),
    #[error(transparent)]
    Vault(#[from] VaultError),
    #[error(transparent)]
    Index(#[from] IndexError),
    /// A record contradicts the records folded before.
    #[error(transparent)]
    Fold(#[from] FoldError),
    /// A record cannot be encoded as CBOR; nothing was written.
    #[error("encode a record: {why}")]
    Encode { why: String },
    #[error(
        "decode record {sequence}: {why}; use the program version that wrote it, or a newer one"
    )]
    Decode { sequence: u64, why: String },
    /// A record exceeds the size limit; nothing was written.
    #[error("append a record of {bytes} bytes: at most {limit} fit")]
    TooLarge { bytes: usize, limit: usize },
    #[error("append to the store: a write failed ({cause}); stop and open it again")]
    Failed { cause: Arc<str> },
    /// The store was closed, or its writer's thread ended.
    #[error("append to the store: it is closed")]
    Closed,
    #[error("start the store's writer: {0}")]
    Thread(#[source] io::Error),
}

pub type StoreResult<T = ()> = Result<T, StoreError>;

#[derive(Debug, thiserror::Error)]
pub enum FoldError {
    /// The index failed or is damaged.
    #[error(transparent)]
    Fact(#[from] ReadModelError),
    /// The record breaks a law (design.md part 1), which is an internal error.
    #[error("law {law}: {detail}")]
    Law { law: u8, detail: String },
    #[error(transparent)]
    Transition(#[from] IllegalTransition),
}

pub(crate) type Folded<T = ()> = Result<T, FoldError>;

/// Refuses a record that breaks this law.
macro_rules! law {
    ($law:literal, $($detail:tt)*) => {
        Err($crate::store::error::FoldError::Law { law: $law, detail: format!($($detail)*) })
    };
}
pub(crate) use law;

impl From<IndexError> for FoldError {
    fn from(error: IndexError) -> Self {
        Self::Fact(error.into())
    }
}

/// Error of opening a state. All of these are exit code 4.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    #[error(transparent)]
    Lock(#[from] LockError),
    #[error(transparent)]
    Key(#[from] MasterKeyError),
    #[error(transparent)]
    Journal(#[from] JournalError),
    #[error(transparent)]
    Vault(#[from] VaultError),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Index(#[from] IndexError),
    #[error(transparent)]
    Fact(#[from] ReadModelError),
    #[error("open the state directory {}: {source}", dir.display())]
    Io { dir: PathBuf, source: io::Error },
    #[error("use the mark of the state in {}: {source}", place.display())]
    Mark { place: PathBuf, source: io::Error },
    #[error(
        "open the state {}: a restore of a backup was interrupted; run `reckon store restore` again",
        dir.display()
    )]
    Interrupted { dir: PathBuf },
    #[error("compact the state: it is being closed; the next compaction does the rest")]
    Closing,
    #[error(
        "open the state: it belongs to another {what}; use the state directory of this partner, or another one"
    )]
    Foreign { what: &'static str },
}

pub type OpenResult<T = ()> = Result<T, OpenError>;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OpenReport {
    pub cut: Option<CutTail>,
    pub rebuilt: Option<String>,
    /// New place of a damaged index.
    pub moved_aside: Option<PathBuf>,
    pub folded: u64,
    /// Set if the state is older than its mark, or another one: a new epoch began.
    pub put_back: Option<RollbackDetected>,
    /// Set if a state with records has no mark, or a new one, with the reason.
    pub unmarked: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RollbackDetected {
    /// The sequence of the record that the mark names.
    pub marked: u64,
    /// The sequence of the state's last record.
    pub head: u64,
    pub epoch: u32,
}
