//! Ids, keys and codes: derived from the seed and a counter, so that the same scenario gives the
//! same ids.

use data_encoding::BASE64URL_NOPAD;

use super::store::{ChangeUnit, sortable_key};
use crate::base::hash::keyed_digest;

const ALPHABET: &[u8; 62] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

/// Length of a partner's id and secret, of a bearer token and of a secret key.
pub(crate) const LONG_LENGTH: usize = 64;
/// Length of a merchant's public key (partner-api, Limits).
pub(crate) const PUBLIC_KEY_LENGTH: usize = 24;

/// Derives an id of 22 characters of URL-safe base64 (service-facts, 18).
pub(crate) fn derive_id(seed: &[u8; 32], label: &str, data: &str) -> String {
    let digest = keyed_digest(seed, label, data.as_bytes());
    let (head, _) = digest.as_bytes().split_at(16);
    BASE64URL_NOPAD.encode(head)
}

/// Derives `length` letters and digits.
pub(crate) fn alphanumerics(seed: &[u8; 32], label: &str, data: &str, length: usize) -> String {
    let mut text = String::with_capacity(length);
    let mut block: u32 = 0;
    while text.len() < length {
        let digest = keyed_digest(seed, label, format!("{block}/{data}").as_bytes());
        let letters = digest.as_bytes().iter().filter_map(|byte| {
            let at = usize::from(*byte).checked_rem(ALPHABET.len())?;
            ALPHABET.get(at).copied().map(char::from)
        });
        text.extend(letters.take(length.saturating_sub(text.len())));
        block = block.saturating_add(1);
    }
    text
}

impl ChangeUnit<'_> {
    /// Returns a fresh id of the gateway.
    pub(crate) fn fresh_gateway_id(&mut self) -> String {
        let at = self.next();
        derive_id(&self.environment.seed, "id", &sortable_key(at))
    }

    /// Returns a fresh id with a prefix of the partner API.
    pub(crate) fn id_with_prefix(&mut self, prefix: &str) -> String {
        let id = self.fresh_gateway_id();
        format!("{prefix}{id}")
    }

    /// Returns a fresh secret of `length` letters and digits.
    pub(crate) fn fresh_secret(&mut self, label: &str, length: usize) -> String {
        let at = self.next();
        alphanumerics(&self.environment.seed, label, &sortable_key(at), length)
    }
}
