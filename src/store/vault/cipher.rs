//! The cipher (XChaCha20-Poly1305: its nonce is long enough to be drawn at random for every message),
//! its data keys, and the names of sealed values.

use std::fmt;
use std::str::FromStr;

use chacha20poly1305::aead::{Aead, Payload};
use chacha20poly1305::{Key, KeyInit, XChaCha20Poly1305, XNonce};
use data_encoding::HEXLOWER_PERMISSIVE;
use rand_core::CryptoRng;
use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

/// Seals `plain`, bound to `bound`; `None` only if it is too long for the cipher.
pub(crate) fn seal(
    key: &[u8; 32],
    nonce: &[u8; 24],
    plain: &[u8],
    bound: &[u8],
) -> Option<Vec<u8>> {
    let payload = Payload { msg: plain, aad: bound };
    XChaCha20Poly1305::new(&Key::from(*key)).encrypt(&XNonce::from(*nonce), payload).ok()
}

/// Opens bytes sealed under the same key, nonce and bound bytes; `None` for anything else.
pub(crate) fn open(
    key: &[u8; 32],
    nonce: &[u8; 24],
    sealed: &[u8],
    bound: &[u8],
) -> Option<Zeroizing<Vec<u8>>> {
    let payload = Payload { msg: sealed, aad: bound };
    let opened = XChaCha20Poly1305::new(&Key::from(*key)).decrypt(&XNonce::from(*nonce), payload);
    opened.ok().map(Zeroizing::new)
}

/// The name of one data key.
pub(crate) type KeyId = [u8; 16];

/// A data key in the open.
pub(crate) type DataKey = Zeroizing<[u8; 32]>;

/// A data key, sealed under the master key.
#[derive(Debug, Clone)]
pub(crate) struct Wrapped {
    pub(crate) subject: String,
    pub(crate) nonce: [u8; 24],
    pub(crate) sealed: Vec<u8>,
    /// True if the key opens values and seals none any more.
    pub(crate) retired: bool,
}

pub(crate) fn random<const N: usize>(rng: &mut dyn CryptoRng) -> [u8; N] {
    let mut bytes = [0; N];
    rng.fill_bytes(&mut bytes);
    bytes
}

/// The name of a sealed value: 16 random bytes, written as 32 hex digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct VaultRef(pub(crate) [u8; 16]);

/// The text is not 32 hex digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("read the name of a sealed value: it is not 32 hex digits")]
pub struct VaultRefError;

impl fmt::Display for VaultRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&HEXLOWER_PERMISSIVE.encode(&self.0))
    }
}

impl fmt::Debug for VaultRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "VaultRef({self})")
    }
}

impl FromStr for VaultRef {
    type Err = VaultRefError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let bytes = HEXLOWER_PERMISSIVE.decode(text.as_bytes()).map_err(|_| VaultRefError)?;
        bytes.try_into().map(Self).map_err(|_| VaultRefError)
    }
}

impl TryFrom<String> for VaultRef {
    type Error = VaultRefError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<VaultRef> for String {
    fn from(reference: VaultRef) -> Self {
        reference.to_string()
    }
}
