//! Entries that are read again and again and change little.

use std::sync::Arc;

use serde::de::DeserializeOwned;

use super::{FactError, Facts, decode, observed_key};
use crate::base::id::Key;
use crate::model::observed::Observed;

/// An entry's bytes and what they say.
#[derive(Debug)]
pub struct Decoded<T> {
    bytes: Arc<[u8]>,
    /// What they say.
    pub value: Arc<T>,
}

impl<T> Clone for Decoded<T> {
    fn clone(&self) -> Self {
        Self { bytes: self.bytes.clone(), value: self.value.clone() }
    }
}

impl Facts {
    /// Returns the knowledge of a resource that is read often: decodes it again only if its bytes differ from those of
    /// `before`.
    pub fn observed_again(
        &self,
        key: &Key,
        before: Option<&Decoded<Observed>>,
    ) -> Result<Option<Decoded<Observed>>, FactError> {
        self.again(&observed_key(key), before)
    }

    /// An entry, decoded only where it differs from what is known.
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
