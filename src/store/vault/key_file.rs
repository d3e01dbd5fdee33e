//! The key file beside a state, and the staged key that is to replace it.
//!
//! An exchange of the key writes the new key beside the old one and makes the vault exchange its
//! keys. Then the new file replaces the old one. A crash leaves both files; the vault decides which
//! key counts.
//!
//! Guarantees: the key that opens the state is in one of both files at any time. Neither file is
//! removed before the vault's decision is durable.
//! Assumptions: a process that settles an exchange holds the state's lock.

use std::path::{Path, PathBuf};
use std::{fs, io};

use rand_core::CryptoRng;

use super::key::{KEY_FILE, MasterKey, MasterKeyError, folder};
use super::keys::FILE as KEYS_FILE;
use crate::store::disk::real::{RealDisk, sync_dir};
use crate::store::disk::traits::Disk;
use crate::store::vault::keys::identity;

/// Maximum of reads of the files while an exchange is under way.
const READS_MAX: usize = 3;

/// The key file of a state.
#[derive(Debug, Clone)]
pub struct KeyFile {
    path: PathBuf,
    next: PathBuf,
    state: PathBuf,
}

impl KeyFile {
    /// Returns the key file beside this state.
    pub fn of(state: &Path) -> Self {
        let state = std::path::absolute(state).unwrap_or_else(|_| state.to_owned());
        let beside = state.parent().unwrap_or(Path::new("."));
        let mut next = state.file_name().unwrap_or_default().to_owned();
        next.push(".key.next");
        Self { path: beside.join(KEY_FILE), next: beside.join(next), state }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Reads the key that opens the state; `None` if there is no key file.
    ///
    /// # Errors
    /// A file cannot be read, or others may read it.
    pub fn read(&self) -> Result<Option<MasterKey>, MasterKeyError> {
        if self.state.join("vault").join(KEYS_FILE).exists() {
            for _ in 0..READS_MAX {
                // In this order: a staged key that replaces the key file meanwhile is found there.
                let next = MasterKey::read_file(&self.next)?;
                let known = [next, MasterKey::read_file(&self.path)?];
                if let Some(key) = known.into_iter().flatten().find(|key| opens(&self.state, key)) {
                    return Ok(Some(key));
                }
            }
        }
        MasterKey::read_file(&self.path)
    }

    /// Ends an exchange that was begun: the key that opens the state is kept in the key file, the
    /// other one is removed.
    ///
    /// # Errors
    /// The files cannot be changed; the next opening does it.
    pub fn settle(&self, key: &MasterKey) -> Result<(), MasterKeyError> {
        let Some(next) = MasterKey::read_file(&self.next)? else { return Ok(()) };
        let failed = |source| MasterKeyError::io(&self.next, source);
        let vault = RealDisk::open(&self.state.join("vault"));
        vault.and_then(|vault| vault.sync(KEYS_FILE)).map_err(failed)?;
        let settled = if next.fingerprint() == key.fingerprint() {
            fs::rename(&self.next, &self.path)
        } else {
            fs::remove_file(&self.next)
        };
        settled.and_then(|()| sync_dir(folder(&self.path))).map_err(failed)
    }

    /// Writes the key that is to replace the key file beside it, durably.
    ///
    /// # Errors
    /// The key file is a link, it opens another state, too, or nothing can be written beside it.
    pub(crate) fn stage(
        &self,
        new: &MasterKey,
        rng: &mut dyn CryptoRng,
    ) -> Result<(), MasterKeyError> {
        let failed = |source| MasterKeyError::io(&self.next, source);
        if fs::symlink_metadata(&self.path).map_err(failed)?.is_symlink() {
            return Err(MasterKeyError::Link { path: self.path.clone() });
        }
        if let Some(key) = MasterKey::read_file(&self.path)?
            && let Some(other) = self.sibling(&key).map_err(failed)?
        {
            return Err(MasterKeyError::Shared { path: self.path.clone(), other });
        }
        new.write_new(&self.next, rng).map_err(failed)
    }

    /// Returns another state beside this one that the same key opens.
    fn sibling(&self, key: &MasterKey) -> io::Result<Option<PathBuf>> {
        for entry in fs::read_dir(folder(&self.path))? {
            let path = entry?.path();
            // A folder with a lock is a state; a backup has none.
            let is_state = path != self.state && path.join("lock").exists();
            if is_state && opens(&path, key) {
                return Ok(Some(path));
            }
        }
        Ok(None)
    }
}

/// Returns true if a key opens the vault of an existing state.
fn opens(state: &Path, key: &MasterKey) -> bool {
    let vault = RealDisk::open(&state.join("vault"));
    vault.is_ok_and(|vault| identity(&vault, key).is_ok())
}
