//! Reads of objects that are nobody's of ours, and of those with marks of ours that stand in the way.

use std::collections::{BTreeMap, BTreeSet};

use super::{DISOWNED, FactError, Facts, STRAYS, decode};
use crate::base::id::Key;

impl Facts {
    /// The ids of objects that a person said are nobody's of ours.
    pub fn disowned(&self) -> Result<BTreeSet<String>, FactError> {
        let entries = self.index.scan(DISOWNED)?.into_iter();
        Ok(entries.map(|(key, _)| tail(&key, DISOWNED)).collect())
    }

    /// Every object with a mark of ours that stands in the way, and what it stands in the way of.
    pub fn strays(&self) -> Result<BTreeMap<String, Key>, FactError> {
        let entries = self.index.scan(STRAYS)?.into_iter();
        entries.map(|(key, value)| Ok((tail(&key, STRAYS), decode(&key, &value)?))).collect()
    }
}

/// What an entry is about.
fn tail(key: &[u8], prefix: &[u8]) -> String {
    String::from_utf8_lossy(key.get(prefix.len()..).unwrap_or_default()).into_owned()
}

/// The entry of an object that is nobody's of ours.
pub(in crate::store) fn disowned_key(id: &str) -> Vec<u8> {
    [DISOWNED, id.as_bytes()].concat()
}

/// The entry of an object that stands in the way of something.
pub(in crate::store) fn stray_key(id: &str) -> Vec<u8> {
    [STRAYS, id.as_bytes()].concat()
}
