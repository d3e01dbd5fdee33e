//! Errors of the store as a whole.

use std::{io, sync::Arc};

use super::journal::chain::JournalError;
use crate::model::intents::intent::IllegalTransition;
use crate::store::index::ordered::IndexError;
use crate::store::read_model::model::ReadModelError;
use crate::store::vault::error::VaultError;

/// Error of an append or a fold.
///
/// After `Failed` the durability of the commit is unknown: stop, and open the store again to find
/// out.
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
    /// A stored record cannot be decoded.
    #[error(
        "decode record {sequence}: {why}; use the program version that wrote it, or a newer one"
    )]
    Decode { sequence: u64, why: String },
    /// A record exceeds the size limit; nothing was written.
    #[error("append a record of {bytes} bytes: at most {limit} fit")]
    TooLarge { bytes: usize, limit: usize },
    /// A write failed, now or earlier; the store accepts nothing more.
    #[error("append to the store: a write failed ({cause}); stop and open it again")]
    Failed {
        /// The first failure.
        cause: Arc<str>,
    },
    /// The store was closed, or its writer's thread ended.
    #[error("append to the store: it is closed")]
    Closed,
    #[error("start the store's writer: {0}")]
    Thread(#[source] io::Error),
}

/// Error of folding a record.
#[derive(Debug, thiserror::Error)]
pub enum FoldError {
    /// The index failed or is damaged.
    #[error(transparent)]
    Fact(#[from] ReadModelError),
    /// The record breaks a law, which is an internal error.
    #[error("law {law}: {detail}")]
    Law {
        /// The law's number (design.md part 1).
        law: u8,
        /// The violation.
        detail: String,
    },
    /// An intent made an illegal transition.
    #[error(transparent)]
    Transition(#[from] IllegalTransition),
}
