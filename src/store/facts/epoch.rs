//! Reads of the epoch that a state is in.

use super::{EPOCH, FactError, Facts, LOOKED, RELEASED, read};
use crate::base::id::Key;
use crate::model::epoch::Epoch;
use crate::store::index::Batch;

impl Facts {
    /// The epoch, none before the first restore.
    pub fn epoch(&self) -> Result<Option<Epoch>, FactError> {
        read(&*self.index, &Batch::new(), EPOCH)
    }

    /// Whether a person said that this resource was not made between backup and restore.
    pub fn released(&self, key: &Key) -> Result<bool, FactError> {
        Ok(self.index.get(&released_key(key))?.is_some())
    }

    /// Whether an obligation was looked for in this epoch and is proved not to be there.
    pub fn looked_for(&self, effect: &str, source_id: &str) -> Result<bool, FactError> {
        Ok(self.index.get(&looked_key(effect, source_id))?.is_some())
    }
}

/// The entry of a resource that a person released.
pub(in crate::store) fn released_key(key: &Key) -> Vec<u8> {
    [RELEASED, key.to_string().as_bytes()].concat()
}

/// The entry of an obligation that was looked for.
pub(in crate::store) fn looked_key(effect: &str, source_id: &str) -> Vec<u8> {
    [LOOKED, effect.as_bytes(), b"/", source_id.as_bytes()].concat()
}
