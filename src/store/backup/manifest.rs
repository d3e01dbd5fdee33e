//! What a backup says of itself.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::base::hash::Digest;
use crate::store::journal::Head;

/// The version of the form.
pub const VERSION: u32 = 1;

/// The manifest of a backup: `backup.json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// The version of the form.
    pub version: u32,
    /// The program that wrote it.
    pub program: String,
    /// `partner.name`; empty where the state had no owner yet.
    pub partner: String,
    /// The fingerprint of the key that opens its vault. The key itself is in no backup.
    pub key: String,
    /// The epoch of the state.
    pub epoch: u32,
    /// The last record.
    pub sequence: u64,
    /// Its hash.
    pub head: Digest,
    /// The digest of what is folded from the records.
    pub state_digest: Digest,
    /// When the head was chosen.
    pub at: DateTime<Utc>,
    /// Every file, in the order in which they were copied.
    pub files: Vec<FileEntry>,
}

/// One file of a backup.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileEntry {
    /// `journal/…`, `archive/…` or `vault/…`.
    pub name: String,
    /// Its length.
    pub bytes: u64,
    /// SHA-256 of its content.
    pub sha256: Digest,
}

impl Manifest {
    /// The head as the journal has it.
    pub fn head(&self) -> Head {
        Head { sequence: self.sequence, hash: *self.head.as_bytes() }
    }

    /// The bytes of all files.
    pub fn bytes(&self) -> u64 {
        self.files.iter().fold(0, |sum, file| sum.saturating_add(file.bytes))
    }
}
