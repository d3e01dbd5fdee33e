//! Errors of writing and reading sealed values.

use std::io;

use chrono::{DateTime, Utc};

use super::cipher::VaultRef;
use crate::base::clock::timestamp;

/// Error of the vault. Never holds a plaintext or a key.
#[derive(Debug, thiserror::Error)]
pub enum VaultError {
    #[error("{doing} vault/{file}: {source}")]
    Io {
        /// The verb of the operation.
        doing: &'static str,
        file: &'static str,
        #[source]
        source: io::Error,
    },
    /// The vault was sealed under another master key.
    #[error("open the vault: it was made with another key; give the key it was made with")]
    WrongKey,
    /// The master key was exchanged for another one.
    #[error(
        "open the vault: `reckon store rekey` exchanged its key at {}; give the key that it got then",
        timestamp(at)
    )]
    Rekeyed {
        /// The time of the exchange.
        at: DateTime<Utc>,
    },
    /// The new master key is one that the state has or had.
    #[error("exchange the key: the state has or had this key; give a new one")]
    KeyUsed,
    /// A data key cannot be wrapped under the new master key; nothing was changed.
    #[error(
        "exchange the key: the key of {subject} in vault/keys is damaged; restore it from a backup"
    )]
    Rewrap { subject: String },
    /// The file of keys is missing or has no valid header, although there are sealed values.
    #[error("open the vault: vault/keys is missing or damaged; restore it from a backup")]
    KeysLost,
    /// The subject of the value was erased.
    #[error("unseal {reference}: it was erased")]
    Erased { reference: VaultRef },
    /// The value does not exist.
    #[error("unseal {reference}: there is no such value in vault/data; restore it from a backup")]
    Missing { reference: VaultRef },
    /// The value or its key is damaged.
    #[error("unseal {reference}: it or its key is damaged; restore the vault from a backup")]
    Damaged { reference: VaultRef },
    /// A key for this subject is damaged.
    #[error(
        "seal a value of {subject}: its key in vault/keys is damaged; restore it from a backup"
    )]
    KeyDamaged { subject: String },
    /// A value or the name of its subject is too long; nothing was written.
    #[error("seal {bytes} bytes: at most {limit} fit")]
    TooLarge { bytes: usize, limit: usize },
    /// An earlier write failed, so nothing more is accepted.
    #[error("write to the vault: an earlier write failed ({cause}); stop and open it again")]
    Poisoned {
        /// The first failure.
        cause: String,
    },
}

impl VaultError {
    pub(crate) fn io(doing: &'static str, file: &'static str) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io { doing, file, source }
    }
}
