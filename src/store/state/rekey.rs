//! Exchanges the master key of a state, in the process that holds it, and keeps the key file.
//!
//! An exchange writes the new key beside the old one and makes the vault exchange its keys. Then the
//! new file replaces the old one. A crash leaves both files; the vault decides which key counts.
//!
//! Guarantees: a wrong new key is refused before anything changes. A crash at any step leaves a
//! state that one of the two keys opens, and that key is in one of both files at any time. Neither
//! file is removed before the vault's decision is durable. The vault notes the exchange in the same
//! moment, and a record of the journal follows. Reads and writes continue meanwhile.
//! Assumptions: a process that settles an exchange holds the state's lock.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{fs, io};

use chrono::{DateTime, Utc};
use parking_lot::Mutex;
use rand_chacha::ChaCha20Rng;
use rand_core::CryptoRng;

use crate::model::record::{Record, Rekeyed};
use crate::store::disk::directory::{RealDisk, sync_dir};
use crate::store::disk::traits::Disk;
use crate::store::error::StoreError;
use crate::store::projection::fold::StateWriter;
use crate::store::state::open::OpenState;
use crate::store::vault::frame::VaultError;
use crate::store::vault::key::{KEY_FILE, MasterKey, MasterKeyError, MasterKeyResult, folder_of};
use crate::store::vault::keys::{KEYS_FILE, state_identity};
use crate::store::vault::values::Vault;
use crate::store::writer::core::Commit;

#[derive(Debug)]
pub struct Rekeyer {
    vault: Vault,
    writer: Arc<StateWriter>,
    /// The key file beside the state; `None` if the configuration gives the key.
    key_file: Option<KeyFile>,
    /// Locked while a key is exchanged.
    rng: Mutex<ChaCha20Rng>,
}

#[derive(Debug, Clone)]
pub struct RekeyRequest {
    /// The file of the new key, if the configuration gives the key; else a key is generated.
    pub new_key_file: Option<PathBuf>,
    pub at: DateTime<Utc>,
    pub actor: String,
}

#[derive(Debug, thiserror::Error)]
pub enum RekeyError {
    #[error("exchange the key, nothing was changed: {0}")]
    Key(#[source] MasterKeyError),
    #[error(transparent)]
    Vault(VaultError),
    /// The disk failed while the vault's key was exchanged.
    #[error(
        "exchange the key: {0}; the old key or the new one opens the state: stop the daemon if one runs, and open it again"
    )]
    InDoubt(#[source] VaultError),
    /// The new key opens the state, and its file is not in its place yet.
    #[error(
        "the key was exchanged, but its file is not in place yet: {0}; the next command puts it \
        there"
    )]
    Unsettled(#[source] MasterKeyError),
    #[error("the key was exchanged, but the journal does not record it: {0}")]
    Unrecorded(#[source] StoreError),
    #[error(
        "exchange the key: secrets.key holds it; name the file of the new key with --new-key-file"
    )]
    NewMissing,
    #[error("exchange the key: a new key replaces {}; leave --new-key-file out", path.display())]
    NewUnexpected { path: PathBuf },
}

impl Rekeyer {
    /// Creates the rekeyer of this state. No `key_file`: the configuration gives the key.
    pub fn new(state: &OpenState, key_file: Option<KeyFile>, rng: ChaCha20Rng) -> Self {
        let (vault, writer) = (state.vault.clone(), Arc::clone(&state.writer));
        Self { vault, writer, key_file, rng: Mutex::new(rng) }
    }

    /// Exchanges the key. Waits for disks, so it belongs on a thread that may block.
    ///
    /// # Errors
    /// Each error says if the old key or the new one opens the state.
    pub async fn rekey(&self, wanted: &RekeyRequest) -> Result<Rekeyed, RekeyError> {
        let (rekeyed, settled) = self.exchange(wanted)?;
        let record = Record::Rekeyed(Box::new(rekeyed.clone()));
        let told = self.writer.append(Commit::of(vec![record])).await;
        settled.map_err(RekeyError::Unsettled)?;
        told.map_err(RekeyError::Unrecorded)?;
        Ok(rekeyed)
    }

    /// Exchanges the keys of the vault, and then the key file; the inner result says if the file is
    /// in its place.
    fn exchange(
        &self,
        RekeyRequest { new_key_file, at, actor }: &RekeyRequest,
    ) -> Result<(Rekeyed, MasterKeyResult), RekeyError> {
        let mut rng = self.rng.lock();
        let Some(file) = &self.key_file else {
            let new = read_new_key(new_key_file.as_deref())?;
            let done = self.vault.rekey(&new, (*at, actor.clone()), &mut *rng);
            return Ok((done.map_err(|error| self.to_error(error))?, Ok(())));
        };
        if new_key_file.is_some() {
            return Err(RekeyError::NewUnexpected { path: file.path().to_owned() });
        }
        let old = file.read().map_err(RekeyError::Key)?.ok_or(RekeyError::NewMissing)?;
        let new = MasterKey::generate(&mut *rng);
        file.stage(&new, &mut *rng).map_err(RekeyError::Key)?;
        match self.vault.rekey(&new, (*at, actor.clone()), &mut *rng) {
            Ok(rekeyed) => Ok((rekeyed, file.settle(&new))),
            Err(error) => {
                if !self.vault.is_in_doubt() {
                    file.settle(&old).map_err(RekeyError::Key)?;
                }
                Err(self.to_error(error))
            }
        }
    }

    fn to_error(&self, error: VaultError) -> RekeyError {
        if self.vault.is_in_doubt() { RekeyError::InDoubt(error) } else { RekeyError::Vault(error) }
    }
}

fn read_new_key(path: Option<&Path>) -> Result<MasterKey, RekeyError> {
    let path = path.ok_or(RekeyError::NewMissing)?;
    let missing = || MasterKeyError::io(path, io::ErrorKind::NotFound.into());
    MasterKey::read_file(path).and_then(|key| key.ok_or_else(missing)).map_err(RekeyError::Key)
}

/// Maximum of reads of the files while an exchange is under way.
const READS_MAX: usize = 3;

#[derive(Debug, Clone)]
pub struct KeyFile {
    path: PathBuf,
    next: PathBuf,
    state: PathBuf,
}

impl KeyFile {
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
    pub fn read(&self) -> MasterKeyResult<Option<MasterKey>> {
        if self.state.join("vault").join(KEYS_FILE).exists() {
            for _ in 0..READS_MAX {
                // In this order: a staged key that replaces the key file meanwhile is found there.
                let next = MasterKey::read_file(&self.next)?;
                let mut known = [next, MasterKey::read_file(&self.path)?].into_iter().flatten();
                if let Some(key) = known.find(|key| key_opens(&self.state, key)) {
                    return Ok(Some(key));
                }
            }
        }
        MasterKey::read_file(&self.path)
    }

    /// Ends an exchange: the key that opens the state is kept in the key file, the other removed.
    ///
    /// # Errors
    /// The files cannot be changed; the next opening does it.
    pub fn settle(&self, key: &MasterKey) -> MasterKeyResult {
        let Some(next) = MasterKey::read_file(&self.next)? else { return Ok(()) };
        let failed = |source| MasterKeyError::io(&self.next, source);
        let vault = RealDisk::open(&self.state.join("vault"));
        vault.and_then(|vault| vault.sync(KEYS_FILE)).map_err(failed)?;
        let settled = if next.fingerprint() == key.fingerprint() {
            fs::rename(&self.next, &self.path)
        } else {
            fs::remove_file(&self.next)
        };
        settled.and_then(|()| sync_dir(folder_of(&self.path))).map_err(failed)
    }

    /// Writes the key that is to replace the key file beside it, durably.
    pub(crate) fn stage(&self, new: &MasterKey, rng: &mut dyn CryptoRng) -> MasterKeyResult {
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
        for entry in fs::read_dir(folder_of(&self.path))? {
            let path = entry?.path();
            // A folder with a lock is a state; a backup has none.
            let is_state = path != self.state && path.join("lock").exists();
            if is_state && key_opens(&path, key) {
                return Ok(Some(path));
            }
        }
        Ok(None)
    }
}

fn key_opens(state: &Path, key: &MasterKey) -> bool {
    let vault = RealDisk::open(&state.join("vault"));
    vault.is_ok_and(|vault| state_identity(&vault, key).is_ok())
}

#[cfg(test)]
mod tests;
