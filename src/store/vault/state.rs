//! The vault's state in memory, under one lock.

use std::collections::{BTreeMap, BTreeSet};

use super::super::disk::Disk;
use super::frame::Scan;
use super::keys::{self, DataKey, DataKeys, KeyId};
use super::wrapping::Wrapping;
use super::{VaultError, VaultRef, blob, generation, list_values};

/// The content of the files, as far as it was read.
pub(super) struct VaultState {
    pub(super) wrapping: Wrapping,
    pub(super) keys: Option<DataKeys>,
    /// The last used key, in the open: many values of one subject follow one another.
    pub(super) recent: Option<(KeyId, DataKey)>,
    /// The keys that this process sealed with.
    pub(super) used: BTreeSet<KeyId>,
    /// The generation of the file that holds the values.
    pub(super) generation: u64,
    /// The offset of each value's frame.
    pub(super) places: Option<BTreeMap<VaultRef, u64>>,
    /// Files written since the last sync.
    pub(super) unsynced: Unsynced,
    pub(super) poisoned: Option<String>,
}

#[derive(Default, Clone, Copy)]
pub(super) struct Unsynced {
    pub(super) keys: bool,
    pub(super) data: bool,
}

impl VaultState {
    pub(super) fn new(wrapping: Wrapping, generation: u64) -> Self {
        Self {
            wrapping,
            keys: None,
            recent: None,
            used: BTreeSet::new(),
            generation,
            places: None,
            unsynced: Unsynced::default(),
            poisoned: None,
        }
    }

    /// Returns the file of values in use.
    pub(super) fn file(&self) -> String {
        generation::name(self.generation)
    }

    pub(super) fn keys(&mut self, disk: &dyn Disk) -> Result<&mut DataKeys, VaultError> {
        if self.keys.is_none() {
            self.keys = Some(DataKeys::read(disk).map_err(VaultError::io("read", keys::FILE))?);
        }
        Ok(self.keys.get_or_insert_default())
    }

    pub(super) fn places(
        &mut self,
        disk: &dyn Disk,
    ) -> Result<&BTreeMap<VaultRef, u64>, VaultError> {
        if self.places.is_none() {
            let file = self.file();
            let places = Scan::new(disk, &file, 0).and_then(|mut scan| list_values(&mut scan));
            self.places = Some(places.map_err(VaultError::io("read", blob::FILE))?);
        }
        Ok(self.places.get_or_insert_default())
    }

    pub(super) fn refuse_if_poisoned(&self) -> Result<(), VaultError> {
        match &self.poisoned {
            Some(cause) => Err(VaultError::Poisoned { cause: cause.clone() }),
            None => Ok(()),
        }
    }

    pub(super) fn poison_on_failure(
        &mut self,
        done: Result<(), VaultError>,
    ) -> Result<(), VaultError> {
        if let Err(error) = &done {
            self.poisoned = Some(error.to_string());
        }
        done
    }
}
