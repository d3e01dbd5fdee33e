//! Sealed values that stand within the record that needs them.
//!
//! A record that names a value of the vault is written after the vault is synced: two syncs. What comes from outside
//! and is answered only when it is durable stands in the record itself, as sealed as it would be in the vault, and one
//! sync makes both durable. Erasing its subject makes it as unreadable as the others.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD_NO_PAD;
use zeroize::Zeroizing;

use super::{Blob, Sealed, Vault, VaultError, VaultRef};

/// What such a text begins with; the name of a value in the vault is hex digits alone.
pub(super) const SEALED: &str = "sealed:";
/// The longest value that stands in a record, sealed, in bytes: longer ones would make records and index heavy.
const WITHIN_BYTES_MAX: usize = 16 << 10;

impl Sealed {
    /// The text that a record holds in place of a name; `None` where the value has to be written to the vault: it is too
    /// long, or its subject's key is not on disk yet.
    pub fn within(&self) -> Option<String> {
        let fits = self.new_key.is_none() && self.payload.len() <= WITHIN_BYTES_MAX;
        fits.then(|| {
            let mut text = SEALED.to_owned();
            BASE64_STANDARD_NO_PAD.encode_string(&self.payload, &mut text);
            text
        })
    }
}

impl Vault {
    /// Unseals what a record holds: a value of the vault by its name, or the value itself. Errors: those of
    /// [`Vault::open_blob`]; a text that is neither is a damaged value.
    pub fn open_text(&self, text: &str) -> Result<Zeroizing<Vec<u8>>, VaultError> {
        let none = VaultRef([0; 16]);
        let Some(sealed) = text.strip_prefix(SEALED) else {
            let named = text.parse().map_err(|_| VaultError::Damaged { reference: none });
            return self.open_blob(&named?);
        };
        let payload = BASE64_STANDARD_NO_PAD.decode(sealed).unwrap_or_default();
        let blob = Blob::read(&payload).ok_or(VaultError::Damaged { reference: none })?;
        self.open_read(&blob)
    }
}
