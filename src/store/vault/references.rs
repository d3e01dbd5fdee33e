//! Finds the values and keys that stored bytes name, in any bytes.
//!
//! Why it exists: a value of the vault may be dropped once no record names it. With a list of
//! record kinds, a kind missing from it would lose its values. So there is no list: every run of 32
//! hex digits that is the name of a value keeps that value. Every text that begins like a sealed
//! one keeps its key.
//!
//! Guarantees: a contiguous name is found, also if it is read in two parts. Bytes that only look
//! like a name keep a value needlessly.
//!
//! A record that names a value of the vault is written after the vault is synced: two syncs. A body
//! that came from outside, and is acknowledged only when it is durable, lies in the record itself,
//! sealed as in the vault, so that one sync makes both durable. Erasing its subject makes it as
//! unreadable as the others.

use std::collections::{BTreeSet, HashSet};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD_NO_PAD;
use zeroize::Zeroizing;

use crate::store::vault::frame::{VaultError, VaultResult};
use crate::store::vault::key::{KeyId, VaultRef};
use crate::store::vault::keys::{Blob, SealedValue};
use crate::store::vault::values::Vault;

const NAME_DIGITS: u8 = 32;
/// Base64 digits of the first 33 bytes of a sealed text, which hold its own name and its key's.
const KEY_DIGITS: usize = 44;

#[derive(Debug, Default)]
pub struct NameSearch {
    known: HashSet<u128>,
    values: HashSet<u128>,
    keys: BTreeSet<KeyId>,
    /// The last hex digits that were read, as a number.
    number: u128,
    /// The number of consecutive hex digits read, at most those of a name.
    digits: u8,
    /// The length of the prefix of a sealed text that was read.
    begun: usize,
    /// The beginning of a sealed text, while it is read.
    text: Option<Vec<u8>>,
}

impl NameSearch {
    pub(crate) fn of<'a>(known: impl Iterator<Item = &'a VaultRef>) -> Self {
        let known = known.map(|reference| u128::from_be_bytes(reference.0)).collect();
        Self { known, ..Self::default() }
    }

    pub(crate) fn contains(&self, reference: VaultRef) -> bool {
        self.values.contains(&u128::from_be_bytes(reference.0))
    }

    pub(crate) fn keys(&self) -> &BTreeSet<KeyId> {
        &self.keys
    }

    /// Begins with other bytes: no name continues in them.
    pub fn restart(&mut self) {
        (self.digits, self.begun, self.text) = (0, 0, None);
    }

    /// Reads bytes that follow those before.
    pub fn read(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.scan_hex(*byte);
            self.scan_text(*byte);
        }
    }

    fn scan_hex(&mut self, byte: u8) {
        let Some(digit) = char::from(byte).to_digit(16) else {
            self.digits = 0;
            return;
        };
        self.number = self.number.wrapping_shl(4) | u128::from(digit);
        self.digits = self.digits.saturating_add(1).min(NAME_DIGITS);
        if self.digits == NAME_DIGITS && self.known.contains(&self.number) {
            self.values.insert(self.number);
        }
    }

    fn scan_text(&mut self, byte: u8) {
        if let Some(text) = &mut self.text {
            text.push(byte);
            if text.len() >= KEY_DIGITS {
                self.keys.extend(self.text.take().as_deref().and_then(key_of_text));
            }
        }
        let prefix = SEALED.as_bytes();
        let goes_on = prefix.get(self.begun) == Some(&byte);
        self.begun = if goes_on { self.begun.saturating_add(1) } else { 0 };
        if self.begun == 0 && prefix.first() == Some(&byte) {
            self.begun = 1;
        }
        if self.begun == prefix.len() {
            (self.begun, self.text) = (0, Some(Vec::with_capacity(KEY_DIGITS)));
        }
    }
}

/// Returns the key that the beginning of a sealed text names.
fn key_of_text(text: &[u8]) -> Option<KeyId> {
    let bytes = BASE64_STANDARD_NO_PAD.decode(text).ok()?;
    bytes.get(16..32)?.try_into().ok()
}

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
    pub fn unseal_text(&self, text: &str) -> VaultResult<Zeroizing<Vec<u8>>> {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn reference(byte: u8) -> VaultRef {
        VaultRef([byte; 16])
    }

    /// Closes K11.
    #[test]
    fn a_name_is_found_among_other_digits_and_in_two_parts() {
        let known: Vec<VaultRef> = (1..=5).map(reference).collect();
        let mut named = NameSearch::of(known.iter());
        named.read(format!("x{}y", reference(1)).as_bytes());
        named.read(format!("abc{}def0", reference(2)).as_bytes());
        let text = known[2].to_string();
        let (begin, end) = text.split_at(7);
        named.restart();
        named.read(begin.as_bytes());
        named.read(end.as_bytes());
        named.restart();
        let text = known[3].to_string();
        let (begin, end) = text.split_at(9);
        named.read(begin.as_bytes());
        named.restart();
        named.read(end.as_bytes());
        named.read(reference(9).to_string().as_bytes());
        let found: Vec<bool> = known.iter().map(|one| named.contains(*one)).collect();
        assert_eq!(found, [true, true, true, false, false]);
        assert!(!named.contains(reference(9)), "there is no such value");
    }

    /// Closes K11.
    #[test]
    fn the_key_of_a_sealed_text_is_found() {
        let payload = [[7; 16], [8; 16], [9; 16]].concat();
        let text = format!("ssealed:{}", BASE64_STANDARD_NO_PAD.encode(&payload));
        let mut named = NameSearch::default();
        for byte in text.as_bytes() {
            named.read(&[*byte]);
        }
        assert_eq!(named.keys().iter().collect::<Vec<_>>(), [&[8; 16]]);
        named.read(b"sealed:sealed:");
        assert_eq!(named.keys().len(), 1);
    }
}
