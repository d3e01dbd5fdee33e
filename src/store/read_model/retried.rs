//! Reads of entries that are read often and rarely change.

use std::sync::Arc;

use serde::de::DeserializeOwned;

use super::model::{ReadModel, ReadModelError, decode, observed_key};
use crate::base::id::Key;
use crate::model::state::observed::Observed;

/// An entry's bytes and the value decoded from them.
#[derive(Debug)]
pub struct CachedEntry<T> {
    bytes: Arc<[u8]>,
    pub value: Arc<T>,
}

impl<T> Clone for CachedEntry<T> {
    fn clone(&self) -> Self {
        Self { bytes: self.bytes.clone(), value: self.value.clone() }
    }
}

impl ReadModel {
    /// Returns the observed state of a resource that is read often. Decodes the entry only if its
    /// bytes differ from those of `before`.
    pub fn observed_cached(
        &self,
        key: &Key,
        before: Option<&CachedEntry<Observed>>,
    ) -> Result<Option<CachedEntry<Observed>>, ReadModelError> {
        self.read_cached(&observed_key(key), before)
    }

    /// Reads an entry and decodes it only if its bytes differ from those of `before`.
    pub(crate) fn read_cached<T: DeserializeOwned>(
        &self,
        entry: &[u8],
        before: Option<&CachedEntry<T>>,
    ) -> Result<Option<CachedEntry<T>>, ReadModelError> {
        let Some(bytes) = self.index.get(entry)? else { return Ok(None) };
        if let Some(before) = before.filter(|before| *before.bytes == *bytes) {
            return Ok(Some(before.clone()));
        }
        let value = Arc::new(decode(entry, &bytes)?);
        Ok(Some(CachedEntry { bytes: bytes.into(), value }))
    }
}
