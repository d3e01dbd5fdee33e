//! Exchanges the master key of a vault.
//!
//! Guarantees: one replacement of the file of keys decides which of the two keys opens the vault.
//! Every data key is wrapped anew under the new key, and seals nothing any more: the next value of
//! its subject gets a data key that the old master key never wrapped. Values sealed before stay
//! readable. A value that is sealed but not written yet is not lost: a fresh data key is wrapped
//! when it is written.

use chrono::{DateTime, Utc};
use rand_core::CryptoRng;

use super::error::VaultError;
use super::frame::Scan;
use super::key::MasterKey;
use super::values::Vault;
use super::wrapping::{Identity, Wrapping};
use super::{frame, keys};
use crate::model::record::Rekeyed;
use crate::store::disk::traits::Disk;

impl Vault {
    /// Exchanges the master key, durably.
    ///
    /// # Errors
    /// If the state has or had this key, or a data key is damaged, the vault stays as it was. If
    /// the disk refuses, either key may open the vault, and the vault accepts nothing more.
    pub fn rekey(
        &self,
        new: &MasterKey,
        said: (DateTime<Utc>, String),
        rng: &mut dyn CryptoRng,
    ) -> Result<Rekeyed, VaultError> {
        let mut state = self.state();
        state.refuse_if_poisoned()?;
        state.keys(self.disk())?;
        let (wrapping, rekeyed) = state.wrapping.exchange(new, said, rng)?;
        let keys = state.keys.as_ref().map(|keys| keys.rewrap(&state.wrapping, &wrapping, rng));
        let keys = keys.transpose()?.unwrap_or_default();
        let replaced = self.disk().replace(keys::FILE, &keys.file(&wrapping));
        state.poison_on_failure(replaced.map_err(VaultError::io("replace", keys::FILE)))?;
        state.keys = Some(keys);
        state.wrapping = wrapping;
        state.recent = None;
        Ok(rekeyed)
    }

    /// Returns true if a write failed: after an exchange, either key may open the vault.
    pub fn is_in_doubt(&self) -> bool {
        self.state().poisoned.is_some()
    }

    /// Returns the identity that the state keeps for ever, under any master key.
    pub fn identity(&self) -> Identity {
        self.state().wrapping.identity.clone()
    }
}

/// Returns the identity of the state whose vault is on this disk. A disk without a vault gets the
/// one of this key.
///
/// # Errors
/// The key does not open the vault, or the file of keys is damaged or cannot be read.
pub fn identity(disk: &dyn Disk, master: &MasterKey) -> Result<Identity, VaultError> {
    Ok(wrapping(disk, master)?.unwrap_or_else(|| Wrapping::new(master)).identity)
}

/// Returns the keys of a vault; `None` if there is no file of keys.
pub(crate) fn wrapping(
    disk: &dyn Disk,
    master: &MasterKey,
) -> Result<Option<Wrapping>, VaultError> {
    let length = frame::length(disk, keys::FILE).map_err(VaultError::io("read", keys::FILE))?;
    if length == 0 {
        return Ok(None);
    }
    let first = Scan::new(disk, keys::FILE, 0).and_then(|mut scan| scan.here());
    let first = first.map_err(VaultError::io("read", keys::FILE))?;
    Wrapping::open(master, &first.ok_or(VaultError::KeysLost)?).map(Some)
}
