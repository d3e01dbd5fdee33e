//! The manifest of a backup.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::base::hash::Digest;
use crate::store::journal::log::Head;

/// The version of the format.
pub const VERSION: u32 = 1;

/// The manifest of a backup: `backup.json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BackupManifest {
    /// The version of the format.
    pub version: u32,
    /// The version of the program that wrote the backup.
    pub program: String,
    /// `partner.name`; empty if the state had no owner yet.
    pub partner: String,
    /// The fingerprint of the key that opens its vault. The key itself is in no backup.
    pub key: String,
    pub epoch: u32,
    /// The sequence of the last record.
    pub sequence: u64,
    /// The hash of the last record.
    pub head: Digest,
    /// The digest of the fold of the records.
    pub state_digest: Digest,
    /// Time at which the head was chosen.
    pub at: DateTime<Utc>,
    /// Every file, in the order in which they were copied.
    pub files: Vec<BackupFile>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BackupFile {
    /// `journal/…`, `archive/…` or `vault/…`.
    pub name: String,
    /// The length.
    pub bytes: u64,
    /// SHA-256 of the content.
    pub sha256: Digest,
}

impl BackupManifest {
    /// Returns the head in the journal's form.
    pub fn head(&self) -> Head {
        Head { sequence: self.sequence, hash: *self.head.as_bytes() }
    }

    /// Returns the total length of all files.
    pub fn bytes(&self) -> u64 {
        self.files.iter().fold(0, |sum, file| sum.saturating_add(file.bytes))
    }
}
