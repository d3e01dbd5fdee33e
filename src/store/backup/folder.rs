//! A backup in one file.
//!
//! ```text
//! magic 8 · the files one after the other · the manifest (JSON) · its length 8 · magic 8
//! ```

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;

use super::copy::BackupError;
use super::manifest::BackupManifest;
use crate::store::disk::bytes::{to_u64, to_usize};

/// The first and the last bytes of the file.
pub const MAGIC: [u8; 8] = *b"RECKONB\n";
/// Maximum length of the manifest in bytes: enough for a hundred thousand segments.
const MANIFEST_BYTES_MAX: u64 = 32 << 20;
/// Length and magic at the end.
const FOOTER_BYTES: u64 = 16;

/// Returns the last bytes of the file: manifest, length and magic.
pub(crate) fn footer(manifest: &[u8]) -> Vec<u8> {
    let length = to_u64(manifest.len()).to_le_bytes();
    [manifest, &length, &MAGIC].concat()
}

/// Reads the manifest of a single-file backup.
pub(crate) fn read_manifest(path: &Path) -> Result<BackupManifest, BackupError> {
    let unreadable = |why: &str| BackupError::Unreadable {
        path: path.display().to_string(),
        why: why.to_owned(),
    };
    let io = |source| BackupError::io("read", path.display())(source);
    let file = File::open(path).map_err(io)?;
    let length = file.metadata().map_err(io)?.len();
    let footer_at =
        length.checked_sub(FOOTER_BYTES).ok_or_else(|| unreadable("it is too short"))?;
    let mut footer = [0; 16];
    file.read_exact_at(&mut footer, footer_at).map_err(io)?;
    let (size, magic) = footer.split_at(8);
    if magic != MAGIC {
        return Err(unreadable("its end mark is missing: it is truncated, or not a backup"));
    }
    let size = u64::from_le_bytes(size.try_into().unwrap_or_default());
    let begins = footer_at.checked_sub(size).filter(|_| size <= MANIFEST_BYTES_MAX);
    let begins = begins.ok_or_else(|| unreadable("the length of its manifest is missing"))?;
    let mut text = vec![0; to_usize(size)];
    file.read_exact_at(&mut text, begins).map_err(io)?;
    serde_json::from_slice(&text).map_err(|error| unreadable(&error.to_string()))
}
