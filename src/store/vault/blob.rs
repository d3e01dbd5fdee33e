//! One sealed value on disk.
//!
//! ```text
//! reference 16 · key id 16 · nonce 24 · subject length 2 · subject · ciphertext
//! ```

use std::collections::BTreeMap;
use std::fmt;

use zeroize::Zeroizing;

use super::cipher;
use super::cipher::VaultRef;
use super::keys::NewKey;
use crate::store::disk::bytes::{ByteReader, to_u64};
use crate::store::vault::cipher::{DataKey, KeyId};
use crate::store::vault::frame::Scan;

/// Name of any file of sealed values in messages.
pub(crate) const FILE: &str = super::frame::FIRST;

/// A value sealed and ready to be written; its `Debug` shows no plaintext.
#[derive(Clone)]
pub struct SealedValue {
    pub(crate) reference: VaultRef,
    /// The bytes for the file of values.
    pub(crate) payload: Vec<u8>,
    /// The key to be written to the file of keys first, if the subject had none yet.
    pub(crate) new_key: Option<NewKey>,
}

impl SealedValue {
    /// Returns the name under which the value is found once it is written.
    pub fn reference(&self) -> VaultRef {
        self.reference
    }
}

impl fmt::Debug for SealedValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { reference, payload, new_key } = self;
        f.debug_struct("Sealed")
            .field("reference", reference)
            .field("bytes", &to_u64(payload.len()))
            .field("new_key", &new_key.is_some())
            .finish()
    }
}

/// The fields of a stored value.
pub(crate) struct Blob<'a> {
    pub(crate) reference: VaultRef,
    pub(crate) key: KeyId,
    nonce: [u8; 24],
    subject: &'a [u8],
    sealed: &'a [u8],
}

/// Name, key and subject of a value, to which its ciphertext is bound.
pub(crate) struct BlobContext<'a> {
    pub(crate) reference: VaultRef,
    pub(crate) key: KeyId,
    pub(crate) subject: &'a str,
}

/// Seals a value into its payload; the subject is shorter than 64 KiB.
pub(crate) fn seal(
    place: &BlobContext<'_>,
    key: &DataKey,
    nonce: [u8; 24],
    plain: &[u8],
) -> Option<Vec<u8>> {
    let subject = place.subject.as_bytes();
    let sealed =
        cipher::seal(key, &nonce, plain, &associated_data(place.reference, &place.key, subject))?;
    let mut payload = place.reference.0.to_vec();
    payload.extend_from_slice(&place.key);
    payload.extend_from_slice(&nonce);
    payload.extend_from_slice(&u16::try_from(subject.len()).ok()?.to_le_bytes());
    payload.extend_from_slice(subject);
    payload.extend_from_slice(&sealed);
    Some(payload)
}

impl<'a> Blob<'a> {
    pub(crate) fn read(payload: &'a [u8]) -> Option<Self> {
        let mut fields = ByteReader::new(payload);
        let reference = VaultRef(fields.array()?);
        let key = fields.array()?;
        let nonce = fields.array()?;
        let length = usize::from(fields.u16()?);
        let subject = fields.take(length)?;
        Some(Self { reference, key, nonce, subject, sealed: fields.rest() })
    }

    /// Returns the payload that this was read from, up to its ciphertext.
    pub(crate) fn without_content<'b>(&self, payload: &'b [u8]) -> &'b [u8] {
        let named = payload.len().saturating_sub(self.sealed.len());
        payload.get(..named).unwrap_or(payload)
    }

    pub(crate) fn open(&self, key: &DataKey) -> Option<Zeroizing<Vec<u8>>> {
        let bound = associated_data(self.reference, &self.key, self.subject);
        cipher::open(key, &self.nonce, self.sealed, &bound)
    }
}

fn associated_data(reference: VaultRef, key: &KeyId, subject: &[u8]) -> Vec<u8> {
    [reference.0.as_slice(), key, subject].concat()
}

/// Returns the offset of every value.
pub(crate) fn list_values(scan: &mut Scan<'_>) -> std::io::Result<BTreeMap<VaultRef, u64>> {
    let mut places = BTreeMap::new();
    while let Some((at, payload)) = scan.step()? {
        if let Some(blob) = Blob::read(&payload) {
            places.insert(blob.reference, at);
        }
    }
    Ok(places)
}
