//! Reads of the generations of webhook addresses.

use super::{FactError, Facts, read};
use crate::model::rotation::{Address, Rotation};
use crate::store::index::Batch;

const ROTATIONS: &[u8] = b"v/t/";

impl Facts {
    /// Returns the valid generations of an address.
    pub fn rotation(&self, address: &Address) -> Result<Rotation, FactError> {
        let found: Option<(Address, Rotation)> =
            read(&*self.index, &Batch::new(), &rotation_key(address))?;
        Ok(found.map(|(_, rotation)| rotation).unwrap_or_default())
    }

    /// Returns the generations of every address that was ever rotated.
    pub fn rotations(&self) -> Result<Vec<(Address, Rotation)>, FactError> {
        self.list(ROTATIONS)
    }
}

pub(in crate::store) fn rotation_key(address: &Address) -> Vec<u8> {
    let name = match address {
        Address::Partner => "partner".to_owned(),
        Address::Merchant(key) => key.to_string(),
    };
    [ROTATIONS, name.as_bytes()].concat()
}
