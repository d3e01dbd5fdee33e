//! Reads of decisions and findings about the whole state: its epoch, confirmed absences, unknown and
//! disowned objects, and rotations of webhook addresses.

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, Utc};

use crate::base::id::Key;
use crate::model::operator::{Rotation, WebhookAddress};
use crate::model::state::lifecycle::Epoch;
use crate::store::index::ordered::Batch;
use crate::store::read_model::model::{
    CONFIRMED_ABSENT, DISOWNED, EPOCH, RELEASED, ReadModel, ReadModelError, UNKNOWN_OBJECTS,
    decode, read,
};

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

const ROTATIONS: &[u8] = b"v/t/";

impl ReadModel {
    /// Returns the valid generations of an address.
    pub fn rotation(&self, address: &WebhookAddress) -> Result<Rotation, ReadModelError> {
        let found: Option<(WebhookAddress, Rotation)> =
            read(&*self.index, &Batch::new(), &rotation_key(address))?;
        Ok(found.map(|(_, rotation)| rotation).unwrap_or_default())
    }

    /// Returns the generations of every address that was ever rotated.
    pub fn rotations(&self) -> Result<Vec<(WebhookAddress, Rotation)>, ReadModelError> {
        self.list(ROTATIONS)
    }
}

pub(in crate::store) fn rotation_key(address: &WebhookAddress) -> Vec<u8> {
    let name = match address {
        WebhookAddress::Partner => "partner".to_owned(),
        WebhookAddress::Merchant(key) => key.to_string(),
    };
    [ROTATIONS, name.as_bytes()].concat()
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
        let different: BTreeSet<_> = all.iter().collect();
        assert_eq!(different.len(), all.len());
        assert!(all[0].starts_with(RELEASED) && all[2].starts_with(CONFIRMED_ABSENT));
    }
}
