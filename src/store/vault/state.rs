//! The vault's state in memory, under one lock.

use std::collections::{BTreeMap, BTreeSet};

use super::cipher::VaultRef;
use super::error::VaultError;
use super::frame::{Scan, generation_name};
use super::keys::DataKeys;
use super::wrapping::Wrapping;
use super::{blob, keys};
use crate::store::disk::traits::Disk;
use crate::store::vault::blob::list_values;
use crate::store::vault::cipher::{DataKey, KeyId};

/// The content of the files, as far as it was read.
pub(crate) struct VaultState {
    pub(crate) wrapping: Wrapping,
    pub(crate) keys: Option<DataKeys>,
    /// The last used key, in the open: many values of one subject follow one another.
    pub(crate) recent: Option<(KeyId, DataKey)>,
    /// The keys that this process sealed with.
    pub(crate) used: BTreeSet<KeyId>,
    /// The generation of the file that holds the values.
    pub(crate) generation: u64,
    /// The offset of each value's frame.
    pub(crate) places: Option<BTreeMap<VaultRef, u64>>,
    /// Files written since the last sync.
    pub(crate) unsynced: Unsynced,
    pub(crate) poisoned: Option<String>,
}

#[derive(Default, Clone, Copy)]
pub(crate) struct Unsynced {
    pub(crate) keys: bool,
    pub(crate) data: bool,
}

impl VaultState {
    pub(crate) fn new(wrapping: Wrapping, generation: u64) -> Self {
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
    pub(crate) fn file(&self) -> String {
        generation_name(self.generation)
    }

    pub(crate) fn keys(&mut self, disk: &dyn Disk) -> Result<&mut DataKeys, VaultError> {
        if self.keys.is_none() {
            self.keys = Some(DataKeys::read(disk).map_err(VaultError::io("read", keys::FILE))?);
        }
        Ok(self.keys.get_or_insert_default())
    }

    pub(crate) fn places(
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

    pub(crate) fn refuse_if_poisoned(&self) -> Result<(), VaultError> {
        match &self.poisoned {
            Some(cause) => Err(VaultError::Poisoned { cause: cause.clone() }),
            None => Ok(()),
        }
    }

    pub(crate) fn poison_on_failure(
        &mut self,
        done: Result<(), VaultError>,
    ) -> Result<(), VaultError> {
        if let Err(error) = &done {
            self.poisoned = Some(error.to_string());
        }
        done
    }
}
