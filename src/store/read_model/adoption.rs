//! Reads of disowned objects, and of objects with marks of ours that block a resource.

use std::collections::{BTreeMap, BTreeSet};

use super::model::{DISOWNED, ReadModel, ReadModelError, UNKNOWN_OBJECTS, decode};
use crate::base::id::Key;

impl ReadModel {
    /// Returns the ids of objects that a person disowned.
    pub fn disowned_ids(&self) -> Result<BTreeSet<String>, ReadModelError> {
        let entries = self.index.scan(DISOWNED)?.into_iter();
        Ok(entries.map(|(key, _)| key_suffix(&key, DISOWNED)).collect())
    }

    /// Returns every object with a mark of ours that blocks a resource, with that resource.
    pub fn unknown_objects(&self) -> Result<BTreeMap<String, Key>, ReadModelError> {
        let entries = self.index.scan(UNKNOWN_OBJECTS)?.into_iter();
        entries
            .map(|(key, value)| Ok((key_suffix(&key, UNKNOWN_OBJECTS), decode(&key, &value)?)))
            .collect()
    }
}

/// Returns the part of an entry's key behind the prefix.
fn key_suffix(key: &[u8], prefix: &[u8]) -> String {
    String::from_utf8_lossy(key.get(prefix.len()..).unwrap_or_default()).into_owned()
}

/// Key of the entry of a disowned object.
pub(in crate::store) fn disowned_key(id: &str) -> Vec<u8> {
    [DISOWNED, id.as_bytes()].concat()
}

/// Key of the entry of an unknown object that blocks a resource.
pub(in crate::store) fn unknown_object_key(id: &str) -> Vec<u8> {
    [UNKNOWN_OBJECTS, id.as_bytes()].concat()
}
