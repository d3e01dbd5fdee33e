//! Exchanges the master key of a state, in the process that holds the state.
//!
//! Guarantees: a wrong new key is refused before anything changes. A crash at any step leaves a
//! state that one of the two keys opens, and that key is on disk. The vault notes the exchange in
//! the same moment, and a record of the journal follows. Reads and writes continue meanwhile.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use chrono::{DateTime, Utc};
use parking_lot::Mutex;
use rand_chacha::ChaCha20Rng;

use super::open::OpenState;
use crate::model::record::{Record, Rekeyed};
use crate::store::error::StoreError;
use crate::store::projection::fold::IndexFold;
use crate::store::vault::error::VaultError;
use crate::store::vault::key::{MasterKey, MasterKeyError};
use crate::store::vault::key_file::KeyFile;
use crate::store::vault::values::Vault;
use crate::store::writer::handle::Writer;
use crate::store::writer::parts::Commit;

/// Exchanges the key of a state.
#[derive(Debug)]
pub struct Rekeyer {
    vault: Vault,
    writer: Arc<Writer<Record, IndexFold>>,
    /// The key file beside the state; `None` if the configuration gives the key.
    key_file: Option<KeyFile>,
    /// Locked while a key is exchanged.
    rng: Mutex<ChaCha20Rng>,
}

/// Request for an exchange.
#[derive(Debug, Clone)]
pub struct RekeyRequest {
    /// The file of the new key, if the configuration gives the key; otherwise a new key is
    /// generated.
    pub new_key_file: Option<PathBuf>,
    /// The time of the exchange.
    pub at: DateTime<Utc>,
    /// The person who requests it.
    pub actor: String,
}

/// Error of exchanging a key.
#[derive(Debug, thiserror::Error)]
pub enum RekeyError {
    /// A key cannot be read, created or stored.
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
    /// The new key opens the state, and the journal has no record of it.
    #[error("the key was exchanged, but the journal does not record it: {0}")]
    Unrecorded(#[source] StoreError),
    /// The configuration gives the key, and no new one was given.
    #[error(
        "exchange the key: secrets.key holds it; name the file of the new key with --new-key-file"
    )]
    NewMissing,
    /// A new key was given, although the command generates it.
    #[error("exchange the key: a new key replaces {}; leave --new-key-file out", path.display())]
    NewUnexpected { path: PathBuf },
}

impl Rekeyer {
    /// Creates the rekeyer of this state. `key_file` is the one beside it, unless the configuration
    /// gives the key.
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
    ) -> Result<(Rekeyed, Result<(), MasterKeyError>), RekeyError> {
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
            Err(error) if self.vault.is_in_doubt() => Err(RekeyError::InDoubt(error)),
            Err(error) => {
                file.settle(&old).map_err(RekeyError::Key)?;
                Err(RekeyError::Vault(error))
            }
        }
    }

    fn to_error(&self, error: VaultError) -> RekeyError {
        if self.vault.is_in_doubt() { RekeyError::InDoubt(error) } else { RekeyError::Vault(error) }
    }
}

/// Reads the new key that the operator gives.
fn read_new_key(path: Option<&Path>) -> Result<MasterKey, RekeyError> {
    let path = path.ok_or(RekeyError::NewMissing)?;
    let missing = || MasterKeyError::io(path, std::io::ErrorKind::NotFound.into());
    MasterKey::read_file(path).and_then(|key| key.ok_or_else(missing)).map_err(RekeyError::Key)
}

#[cfg(test)]
mod tests;
