//! Reads of the epoch of a state.

use chrono::{DateTime, Utc};

use super::model::{CONFIRMED_ABSENT, EPOCH, RELEASED, ReadModel, ReadModelError, read};
use crate::base::id::Key;
use crate::model::state::epoch::Epoch;
use crate::store::index::ordered::Batch;

impl ReadModel {
    /// Returns the epoch; `None` before the first restore.
    pub fn epoch(&self) -> Result<Option<Epoch>, ReadModelError> {
        read(&*self.index, &Batch::new(), EPOCH)
    }

    /// Returns the time at which this state or its epoch began: an earlier state did nothing since.
    /// States of older versions have no such time.
    pub fn began_at(&self) -> Result<Option<DateTime<Utc>>, ReadModelError> {
        Ok(match self.epoch()? {
            Some(epoch) => Some(epoch.began.at),
            None => self.state_owner()?.and_then(|binding| binding.began),
        })
    }

    /// Returns true if this state began empty, and no person declared that nothing at the service
    /// is ours.
    pub fn began_empty(&self) -> Result<bool, ReadModelError> {
        Ok(self.epoch()?.is_none() && !self.is_empty_remote()?)
    }

    /// Returns true if a person said that this resource was not created between backup and restore,
    /// or by a lost state.
    pub fn is_released(&self, key: &Key) -> Result<bool, ReadModelError> {
        Ok(self.index.get(&release_key(key))?.is_some())
    }

    /// Returns true if an effect was searched in this epoch and is confirmed absent.
    pub fn is_confirmed_absent(
        &self,
        effect: &str,
        source_id: &str,
    ) -> Result<bool, ReadModelError> {
        Ok(self.index.get(&absence_key(effect, source_id))?.is_some())
    }
}

/// Key of the entry of a resource that a person released.
pub(in crate::store) fn release_key(key: &Key) -> Vec<u8> {
    [RELEASED, key.to_string().as_bytes()].concat()
}

/// Key of the entry of an effect that was searched.
pub(in crate::store) fn absence_key(effect: &str, source_id: &str) -> Vec<u8> {
    [CONFIRMED_ABSENT, effect.as_bytes(), b"/", source_id.as_bytes()].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_resource_and_each_obligation_has_a_place_of_its_own() {
        let key = |text: &str| release_key(&text.parse().unwrap());
        let looked = |effect: &str, source: &str| absence_key(effect, source);
        let all = [
            key("Contact/a"),
            key("Contact/b"),
            looked("contact.create", "acme:1"),
            looked("contact.create", "acme:2"),
            looked("invoice.create", "acme:1"),
        ];
        let different: std::collections::BTreeSet<_> = all.iter().collect();
        assert_eq!(different.len(), all.len());
        assert!(all[0].starts_with(RELEASED) && all[2].starts_with(CONFIRMED_ABSENT));
    }
}
