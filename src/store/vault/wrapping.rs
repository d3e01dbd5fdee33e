//! The keys derived from the master key, and its proof: the first frame of the file of keys.
//!
//! ```text
//! check:   0 · keyed digest 32
//! rekeyed: 3 · keyed digest 32 · nonce 24 · sealed identity 96 · about (CBOR)
//! ```
//!
//! A state keeps the keys of its digests for ever, since the journal, marks, addresses and links
//! contain these digests. After the first exchange of the master key, these keys lie in the first
//! frame, sealed under the present master key. A program that does not know the second form refuses
//! the file: it would compute other digests.

use chrono::{DateTime, Utc};
use rand_core::CryptoRng;
use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use crate::model::record::Rekeyed;
use crate::store::disk::traits::{ByteReader, to_u64};
use crate::store::vault::frame::{VaultError, VaultResult};
use crate::store::vault::key::{self, DataKey, KeyId, MasterKey, WrappedKey, random_bytes};

/// The purpose of the key under which an identity is sealed.
const SEALING: &str = "reckon 2026 vault identity key v1";
const CHECK: u8 = 0;
const REKEYED: u8 = 3;
/// Two keys, a fingerprint in hex digits, and the tag of the cipher.
const SEALED_BYTES: usize = 32 + 32 + NAME_BYTES + 16;
const NAME_BYTES: usize = 16;

/// The part of a state that no exchange of its master key changes: its digests' keys and name.
#[derive(Clone, derive_more::Debug)]
#[debug("Identity({name})")]
pub struct Identity {
    /// The key of digests in journal, addresses and links.
    digests: Zeroizing<[u8; 32]>,
    /// The key of digests of sealed content.
    content: Zeroizing<[u8; 32]>,
    /// The fingerprint of the first master key.
    name: String,
    about: Option<RekeyHistory>,
}

/// The exchanges of a master key, readable without a key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct RekeyHistory {
    last: Rekeyed,
    /// The fingerprints of the former master keys.
    earlier: Vec<String>,
}

/// The keys by which a vault seals under its master key.
pub(crate) struct Wrapping {
    wrap: Zeroizing<[u8; 32]>,
    /// The first payload of the file of keys, which proves the master key.
    pub(super) header: Vec<u8>,
    fingerprint: String,
    pub(crate) identity: Identity,
}

impl Identity {
    /// Returns the identity of a state that begins with this master key.
    pub fn of(master: &MasterKey) -> Self {
        let digests = master.derive("digest");
        let content = master.derive("reckon 2026 vault digest key v1");
        Self { digests, content, name: master.fingerprint(), about: None }
    }

    /// Returns the key of digests in journal, addresses and links.
    pub fn digest_key(&self) -> [u8; 32] {
        *self.digests
    }

    /// Returns the name that ties the state to its owner: the fingerprint of its first master key.
    pub fn name(&self) -> &str {
        &self.name
    }

    pub fn last_rekey(&self) -> Option<&Rekeyed> {
        self.about.as_ref().map(|about| &about.last)
    }

    fn plain(&self) -> Zeroizing<Vec<u8>> {
        Zeroizing::new([&*self.digests, &*self.content, self.name.as_bytes()].concat())
    }

    fn from_plain(plain: &[u8], about: RekeyHistory) -> Option<Self> {
        let mut fields = ByteReader::new(plain);
        let (digests, content) = (Zeroizing::new(fields.array()?), Zeroizing::new(fields.array()?));
        let name = String::from_utf8(fields.rest().to_vec()).ok()?;
        Some(Self { digests, content, name, about: Some(about) })
    }
}

impl Wrapping {
    /// Returns the keys of a state whose master key was never exchanged.
    pub(crate) fn new(master: &MasterKey) -> Self {
        Self::with(master, [&[CHECK][..], &key_check(master)].concat(), Identity::of(master))
    }

    /// Returns the keys of a state whose file of keys begins with this payload.
    pub(crate) fn open(master: &MasterKey, first: &[u8]) -> VaultResult<Self> {
        let mut fields = ByteReader::new(first);
        let lost = || VaultError::KeysLost;
        match fields.u8() {
            Some(CHECK) => {
                let own = equal_constant_time(fields.array().ok_or_else(lost)?, key_check(master));
                own.then(|| Self::new(master)).ok_or(VaultError::WrongKey)
            }
            Some(REKEYED) => Ok(Self::with(master, first.to_vec(), read_identity(master, fields)?)),
            Some(_) | None => Err(lost()),
        }
    }

    fn with(master: &MasterKey, header: Vec<u8>, identity: Identity) -> Self {
        let wrap = master.derive("reckon 2026 vault wrapping key v1");
        Self { wrap, header, fingerprint: master.fingerprint(), identity }
    }

    /// Returns the same state's keys under another master key, and the record of the exchange.
    pub(crate) fn exchange(
        &self,
        new: &MasterKey,
        (at, actor): (DateTime<Utc>, String),
        rng: &mut dyn CryptoRng,
    ) -> VaultResult<(Self, Rekeyed)> {
        let before = self.identity.about.as_ref();
        let mut earlier = before.map(|about| about.earlier.clone()).unwrap_or_default();
        earlier.push(self.fingerprint.clone());
        if earlier.contains(&new.fingerprint()) {
            return Err(VaultError::KeyUsed);
        }
        let generation = before.map_or(0, |about| about.last.generation).saturating_add(1);
        let last = Rekeyed { generation, at, actor };
        let about = RekeyHistory { last: last.clone(), earlier };
        let identity = Identity { about: Some(about), ..self.identity.clone() };
        let header = header(new, &identity, random_bytes(rng)).ok_or(VaultError::KeysLost)?;
        Ok((Self::with(new, header, identity), last))
    }

    pub(crate) fn digest(&self, subject: &str, content: &[u8]) -> [u8; 32] {
        let mut hasher = blake3::Hasher::new_keyed(&self.identity.content);
        hasher.update(&to_u64(subject.len()).to_le_bytes());
        hasher.update(subject.as_bytes()).update(content);
        hasher.finalize().into()
    }

    pub(crate) fn wrap(
        &self,
        id: &KeyId,
        nonce: [u8; 24],
        subject: &str,
        key: &DataKey,
    ) -> Option<WrappedKey> {
        let sealed =
            key::encrypt(&self.wrap, &nonce, key.as_slice(), &associated_data(id, subject))?;
        Some(WrappedKey { subject: subject.to_owned(), nonce, sealed, retired: false })
    }

    /// Unwraps a data key; `None` if it is damaged.
    pub(crate) fn unwrap(&self, id: &KeyId, wrapped: &WrappedKey) -> Option<DataKey> {
        let bound = associated_data(id, &wrapped.subject);
        let opened = key::decrypt(&self.wrap, &wrapped.nonce, &wrapped.sealed, &bound)?;
        let mut key = Zeroizing::new([0; 32]);
        if opened.len() != key.len() {
            return None;
        }
        key.copy_from_slice(&opened);
        Some(key)
    }
}

fn key_check(master: &MasterKey) -> [u8; 32] {
    blake3::keyed_hash(&master.derive("reckon 2026 vault check v1"), b"reckon vault").into()
}

fn equal_constant_time(one: [u8; 32], other: [u8; 32]) -> bool {
    blake3::Hash::from(one) == blake3::Hash::from(other)
}

/// Returns the first payload of a file whose master key was exchanged.
fn header(master: &MasterKey, identity: &Identity, nonce: [u8; 24]) -> Option<Vec<u8>> {
    let mut about = Vec::new();
    ciborium::into_writer(identity.about.as_ref()?, &mut about).ok()?;
    let sealed = key::encrypt(&master.derive(SEALING), &nonce, &identity.plain(), &about)?;
    Some([&[REKEYED][..], &key_check(master), &nonce, &sealed, &about].concat())
}

/// Opens the identity in the second form of the first payload.
fn read_identity(master: &MasterKey, mut fields: ByteReader<'_>) -> VaultResult<Identity> {
    let (Some(check), Some(nonce), Some(sealed)) =
        (fields.array(), fields.array(), fields.take(SEALED_BYTES))
    else {
        return Err(VaultError::KeysLost);
    };
    let bytes = fields.rest();
    let about: RekeyHistory = ciborium::from_reader(bytes).map_err(|_| VaultError::KeysLost)?;
    if !equal_constant_time(check, key_check(master)) {
        let at = about.last.at;
        let had = about.earlier.contains(&master.fingerprint());
        return Err(if had { VaultError::Rekeyed { at } } else { VaultError::WrongKey });
    }
    let plain = key::decrypt(&master.derive(SEALING), &nonce, sealed, bytes);
    plain.and_then(|plain| Identity::from_plain(&plain, about)).ok_or(VaultError::KeysLost)
}

fn associated_data(id: &KeyId, subject: &str) -> Vec<u8> {
    [id.as_slice(), subject.as_bytes()].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrapped_key_is_bound_to_its_name_and_subject() {
        let of = |id: u8, subject| associated_data(&[id; 16], subject);
        assert!(of(1, "a") != of(2, "a") && of(1, "a") != of(1, "b"));
    }
}
