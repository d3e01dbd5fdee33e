//! Reads of the epoch that a state is in.

use chrono::{DateTime, Utc};

use super::{EPOCH, FactError, Facts, LOOKED, RELEASED, read};
use crate::base::id::Key;
use crate::model::epoch::Epoch;
use crate::store::index::Batch;

impl Facts {
    /// The epoch, none before the first restore.
    pub fn epoch(&self) -> Result<Option<Epoch>, FactError> {
        read(&*self.index, &Batch::new(), EPOCH)
    }

    /// When this state began, or the epoch that it is in: an earlier state did nothing since. States of older versions do
    /// not know.
    pub fn began(&self) -> Result<Option<DateTime<Utc>>, FactError> {
        Ok(match self.epoch()? {
            Some(epoch) => Some(epoch.began.at),
            None => self.binding()?.and_then(|binding| binding.began),
        })
    }

    /// Whether this state began empty, and no person declared that the service has nothing of ours.
    pub fn began_empty(&self) -> Result<bool, FactError> {
        Ok(self.epoch()?.is_none() && !self.empty_remote_declared()?)
    }

    /// Whether a person said that this resource was not made between backup and restore, or by a state that is lost.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_resource_and_each_obligation_has_a_place_of_its_own() {
        let key = |text: &str| released_key(&text.parse().unwrap());
        let looked = |effect: &str, source: &str| looked_key(effect, source);
        let all = [
            key("Contact/a"),
            key("Contact/b"),
            looked("contact.create", "acme:1"),
            looked("contact.create", "acme:2"),
            looked("invoice.create", "acme:1"),
        ];
        let different: std::collections::BTreeSet<_> = all.iter().collect();
        assert_eq!(different.len(), all.len());
        assert!(all[0].starts_with(RELEASED) && all[2].starts_with(LOOKED));
    }
}
