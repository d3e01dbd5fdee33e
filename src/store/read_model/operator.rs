//! Reads of decisions and findings about the whole state: its epoch, confirmed absences, unknown and
//! disowned objects, and rotations of webhook addresses.

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, Utc};

use crate::base::id::Key;
use crate::model::operator::{Rotation, WebhookAddress};
use crate::model::state::lifecycle::Epoch;
use crate::store::read_model::model::{Entries as _, ReadModel, ReadModelError, Table};
use crate::store::read_model::resources::{
    CONFIRMED_ABSENT, DISOWNED, EPOCH, RELEASED, UNKNOWN_OBJECTS,
};

pub(in crate::store) static ROTATIONS: Table<String, (WebhookAddress, Rotation)> =
    Table::new(b"v/t/");

impl ReadModel {
    /// Returns the epoch; `None` before the first restore.
    pub fn epoch(&self) -> Result<Option<Epoch>, ReadModelError> {
        EPOCH.get(self, ())
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
        RELEASED.has(self, key)
    }

    /// Returns true if an effect was searched in this epoch and is confirmed absent.
    pub fn is_confirmed_absent(
        &self,
        effect: &str,
        source_id: &str,
    ) -> Result<bool, ReadModelError> {
        Ok(self.value(&absence_key(effect, source_id))?.is_some())
    }

    /// Returns the ids of objects that a person disowned.
    pub fn disowned_ids(&self) -> Result<BTreeSet<String>, ReadModelError> {
        Ok(DISOWNED.keys(self)?.into_iter().collect())
    }

    /// Returns every object with a mark of ours that blocks a resource, with that resource.
    pub fn unknown_objects(&self) -> Result<BTreeMap<String, Key>, ReadModelError> {
        Ok(UNKNOWN_OBJECTS.entries(self)?.into_iter().collect())
    }

    /// Returns the valid generations of an address.
    pub fn rotation(&self, address: &WebhookAddress) -> Result<Rotation, ReadModelError> {
        let found = ROTATIONS.get(self, &rotation_name(address))?;
        Ok(found.map(|(_, rotation)| rotation).unwrap_or_default())
    }

    /// Returns the generations of every address that was ever rotated.
    pub fn rotations(&self) -> Result<Vec<(WebhookAddress, Rotation)>, ReadModelError> {
        ROTATIONS.list(self)
    }
}

/// Key of the entry of an effect that was searched.
pub(in crate::store) fn absence_key(effect: &str, source_id: &str) -> Vec<u8> {
    [CONFIRMED_ABSENT, effect.as_bytes(), b"/", source_id.as_bytes()].concat()
}

/// Returns the name of the entry of an address.
pub(in crate::store) fn rotation_name(address: &WebhookAddress) -> String {
    match address {
        WebhookAddress::Partner => "partner".to_owned(),
        WebhookAddress::Merchant(key) => key.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_resource_and_each_obligation_has_a_place_of_its_own() {
        let key = |text: &str| RELEASED.key(&text.parse().unwrap());
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
        assert!(all[0].starts_with(RELEASED.prefix()) && all[2].starts_with(CONFIRMED_ABSENT));
    }
}
