//! Sealed values within the record that needs them.
//!
//! A record that names a value of the vault is written after the vault is synced: two syncs. A body
//! that came from outside, and is acknowledged only when it is durable, lies in the record itself.
//! There it is sealed as in the vault, and one sync makes both durable. Erasing its subject makes
//! it as unreadable as the others.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD_NO_PAD;
use zeroize::Zeroizing;

use super::blob::{Blob, SealedValue};
use super::error::VaultError;
use super::reference::VaultRef;
use super::values::Vault;

/// Prefix of a sealed text; the name of a value in the vault is hex digits alone.
pub(crate) const SEALED: &str = "sealed:";
/// The longest sealed value within a record, in bytes: longer ones would make records and index
/// heavy.
const WITHIN_BYTES_MAX: usize = 16 << 10;

impl SealedValue {
    /// Returns the text that a record holds in place of a name. `None` if the value must be written
    /// to the vault: it is too long, or its subject's key is not on disk yet.
    pub fn inline_text(&self) -> Option<String> {
        let fits = self.new_key.is_none() && self.payload.len() <= WITHIN_BYTES_MAX;
        fits.then(|| {
            let mut text = SEALED.to_owned();
            BASE64_STANDARD_NO_PAD.encode_string(&self.payload, &mut text);
            text
        })
    }
}

impl Vault {
    /// Unseals the text of a record: the name of a value in the vault, or the value itself.
    ///
    /// # Errors
    /// Those of [`Vault::unseal`]; a text that is neither is a damaged value.
    pub fn unseal_text(&self, text: &str) -> Result<Zeroizing<Vec<u8>>, VaultError> {
        let none = VaultRef([0; 16]);
        let Some(sealed) = text.strip_prefix(SEALED) else {
            let named = text.parse().map_err(|_| VaultError::Damaged { reference: none });
            return self.unseal(&named?);
        };
        let payload = BASE64_STANDARD_NO_PAD.decode(sealed).unwrap_or_default();
        let blob = Blob::read(&payload).ok_or(VaultError::Damaged { reference: none })?;
        self.unseal_blob(&blob)
    }
}
