//! Reads of disowned objects, and of objects with marks of ours that block a resource.

use std::collections::{BTreeMap, BTreeSet};

use super::{DISOWNED, FactError, Facts, STRAYS, decode};
use crate::base::id::Key;

impl Facts {
    /// Returns the ids of objects that a person disowned.
    pub fn disowned(&self) -> Result<BTreeSet<String>, FactError> {
        let entries = self.index.scan(DISOWNED)?.into_iter();
        Ok(entries.map(|(key, _)| tail(&key, DISOWNED)).collect())
    }

    /// Returns every object with a mark of ours that blocks a resource, with that resource.
    pub fn strays(&self) -> Result<BTreeMap<String, Key>, FactError> {
        let entries = self.index.scan(STRAYS)?.into_iter();
        entries.map(|(key, value)| Ok((tail(&key, STRAYS), decode(&key, &value)?))).collect()
    }
}

/// Returns the part of an entry's key behind the prefix.
fn tail(key: &[u8], prefix: &[u8]) -> String {
    String::from_utf8_lossy(key.get(prefix.len()..).unwrap_or_default()).into_owned()
}

/// Key of the entry of a disowned object.
pub(in crate::store) fn disowned_key(id: &str) -> Vec<u8> {
    [DISOWNED, id.as_bytes()].concat()
}

/// Key of the entry of an unknown object that blocks a resource.
pub(in crate::store) fn stray_key(id: &str) -> Vec<u8> {
    [STRAYS, id.as_bytes()].concat()
}
