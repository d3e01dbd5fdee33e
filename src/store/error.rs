//! What can go wrong with the store as a whole.

use std::{io, sync::Arc};

use super::{fold::FoldError, index::IndexError, journal::JournalError, vault::VaultError};

/// Why an append or a fold failed.
///
/// After `Failed` it is not known whether the commit is durable: stop, open again, and see.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The journal refused.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// The vault refused.
    #[error(transparent)]
    Vault(#[from] VaultError),
    /// The index refused.
    #[error(transparent)]
    Index(#[from] IndexError),
    /// A record does not fit what was folded before.
    #[error(transparent)]
    Fold(#[from] FoldError),
    /// A record cannot be written as CBOR; nothing was written.
    #[error("encode a record: {why}")]
    Encode {
        /// The encoder's reason.
        why: String,
    },
    /// A stored record cannot be read back.
    #[error(
        "decode record {sequence}: {why}; use the program version that wrote it, or a newer one"
    )]
    Decode {
        /// The record.
        sequence: u64,
        /// The decoder's reason.
        why: String,
    },
    /// A record is too large; nothing was written.
    #[error("append a record of {bytes} bytes: at most {limit} fit")]
    TooLarge {
        /// Its size.
        bytes: usize,
        /// The largest size.
        limit: usize,
    },
    /// A write failed, this one's or an earlier one's, so nothing more is accepted.
    #[error("append to the store: a write failed ({cause}); stop and open it again")]
    Failed {
        /// The first failure.
        cause: Arc<str>,
    },
    /// The store was closed, or its writer ended.
    #[error("append to the store: it is closed")]
    Closed,
    /// The writer's thread could not be started.
    #[error("start the store's writer: {0}")]
    Thread(#[source] io::Error),
}
