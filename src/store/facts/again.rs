//! Reads of entries that are read often and rarely change.

use std::sync::Arc;

use serde::de::DeserializeOwned;

use super::{FactError, Facts, decode, observed_key};
use crate::base::id::Key;
use crate::model::observed::Observed;

/// An entry's bytes and the value decoded from them.
#[derive(Debug)]
pub struct Decoded<T> {
    bytes: Arc<[u8]>,
    pub value: Arc<T>,
}

impl<T> Clone for Decoded<T> {
    fn clone(&self) -> Self {
        Self { bytes: self.bytes.clone(), value: self.value.clone() }
    }
}

impl Facts {
    /// Returns the observed state of a resource that is read often. Decodes the entry only if its
    /// bytes differ from those of `before`.
    pub fn observed_again(
        &self,
        key: &Key,
        before: Option<&Decoded<Observed>>,
    ) -> Result<Option<Decoded<Observed>>, FactError> {
        self.again(&observed_key(key), before)
    }

    /// Reads an entry and decodes it only if its bytes differ from those of `before`.
    pub(super) fn again<T: DeserializeOwned>(
        &self,
        entry: &[u8],
        before: Option<&Decoded<T>>,
    ) -> Result<Option<Decoded<T>>, FactError> {
        let Some(bytes) = self.index.get(entry)? else { return Ok(None) };
        if let Some(before) = before.filter(|before| *before.bytes == *bytes) {
            return Ok(Some(before.clone()));
        }
        let value = Arc::new(decode(entry, &bytes)?);
        Ok(Some(Decoded { bytes: bytes.into(), value }))
    }
}
