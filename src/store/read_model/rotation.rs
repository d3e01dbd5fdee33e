//! Reads of the generations of webhook addresses.

use super::model::{ReadModel, ReadModelError, read};
use crate::model::operator::rotation::{Rotation, WebhookAddress};
use crate::store::index::ordered::Batch;

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
