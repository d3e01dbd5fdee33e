//! The contents of the vault's two files. The file of keys holds the proof of the master key
//! ([`wrapping`](super::wrapping)), one wrapped key per subject, and the ids of the keys that were
//! destroyed; the file of data holds the sealed values.
//!
//! ```text
//! key:     1 · id 16 · nonce 24 · wrapped key 48 · subject
//! erased:  2 · id 16
//! retired: 4 · as a key
//! value:   reference 16 · key id 16 · nonce 24 · subject length 2 · subject · ciphertext
//! ```
//!
//! A retired key opens values and seals none: the master key that wrapped it first was exchanged.
//!
//! A body that came from outside, and is acknowledged only when it is durable, lies in the record
//! itself, sealed as in the vault: one sync makes both durable, where a record that names a value of
//! the vault needs two. Erasing its subject makes it as unreadable as the others.
//!
//! The file may hold several keys of one subject: two values of a new subject may be sealed before
//! either is written. Erasing rewrites the file without them, but keeps their ids, so that an
//! erased value differs from a damaged one.

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD_NO_PAD;
use rand_core::CryptoRng;
use zeroize::Zeroizing;

use crate::store::disk::traits::{ByteReader, Disk};
use crate::store::vault::frame::{Scan, VaultError, VaultResult};
use crate::store::vault::key::{DataKey, KeyId, MasterKey, VaultRef, WrappedKey, random_bytes};
use crate::store::vault::wrapping::{Identity, Wrapping};
use crate::store::vault::{frame, key};

pub const KEYS_FILE: &str = "keys";
const KEY: u8 = 1;
const ERASED: u8 = 2;
const RETIRED: u8 = 4;

#[derive(Debug, Clone)]
pub(crate) enum KeySlot {
    Live(WrappedKey),
    Erased,
}

/// The key of a subject that had none; it is wrapped when it is written.
#[derive(Clone)]
pub(crate) struct NewKey {
    pub(crate) id: KeyId,
    pub(crate) nonce: [u8; 24],
    pub(crate) subject: String,
    pub(crate) key: DataKey,
}

impl NewKey {
    /// Returns the payload that stores the key under the present master key.
    pub(crate) fn payload(&self, wrapping: &Wrapping) -> Option<Vec<u8>> {
        Some(key_payload(&self.id, &wrapping.wrap(&self.id, self.nonce, &self.subject, &self.key)?))
    }
}

#[derive(Debug, Default)]
pub(crate) struct DataKeys {
    slots: BTreeMap<KeyId, KeySlot>,
    current: BTreeMap<String, KeyId>,
}

fn key_payload(id: &KeyId, wrapped: &WrappedKey) -> Vec<u8> {
    let kind = [if wrapped.retired { RETIRED } else { KEY }];
    [&kind[..], id, &wrapped.nonce, &wrapped.sealed, wrapped.subject.as_bytes()].concat()
}

impl DataKeys {
    pub(crate) fn read(disk: &dyn Disk) -> io::Result<Self> {
        let mut keys = Self::default();
        let mut scan = Scan::new(disk, KEYS_FILE, 0)?;
        while let Some((_, payload)) = scan.step()? {
            keys.add(&payload);
        }
        Ok(keys)
    }

    /// Adds the key of a payload, returns its id; skips an unknown payload. Erased ids stay erased.
    pub(crate) fn add(&mut self, payload: &[u8]) -> Option<KeyId> {
        let (id, slot) = parse_key_slot(payload)?;
        if matches!(self.slots.get(&id), Some(KeySlot::Erased)) {
            return Some(id);
        }
        if let KeySlot::Live(wrapped) = &slot
            && !wrapped.retired
        {
            self.current.insert(wrapped.subject.clone(), id);
        }
        self.slots.insert(id, slot);
        Some(id)
    }

    pub(crate) fn get(&self, id: &KeyId) -> Option<&KeySlot> {
        self.slots.get(id)
    }

    /// Returns the newest key of a subject.
    pub(crate) fn current(&self, subject: &str) -> Option<(&KeyId, &WrappedKey)> {
        let id = self.current.get(subject)?;
        match self.slots.get(id)? {
            KeySlot::Live(wrapped) => Some((id, wrapped)),
            KeySlot::Erased => None,
        }
    }

    /// Returns these keys with all of one subject destroyed; `None` if it has none.
    pub(crate) fn with_erased(&self, subject: &str) -> Option<Self> {
        let own = |slot: &KeySlot| matches!(slot, KeySlot::Live(key) if key.subject == subject);
        if !self.slots.values().any(own) {
            return None;
        }
        let erase = |slot: &KeySlot| if own(slot) { KeySlot::Erased } else { slot.clone() };
        let slots = self.slots.iter().map(|(id, slot)| (*id, erase(slot))).collect();
        let mut current = self.current.clone();
        current.remove(subject);
        Some(Self { slots, current })
    }

    /// Returns these keys under another master key, all of them retired.
    pub(crate) fn rewrap(
        &self,
        old: &Wrapping,
        new: &Wrapping,
        rng: &mut dyn CryptoRng,
    ) -> VaultResult<Self> {
        let mut slots = BTreeMap::new();
        for (id, slot) in &self.slots {
            let slot = match slot {
                KeySlot::Erased => KeySlot::Erased,
                KeySlot::Live(wrapped) => {
                    let key = old.unwrap(id, wrapped);
                    let again =
                        key.and_then(|key| new.wrap(id, random_bytes(rng), &wrapped.subject, &key));
                    let damaged = || VaultError::Rewrap { subject: wrapped.subject.clone() };
                    KeySlot::Live(WrappedKey { retired: true, ..again.ok_or_else(damaged)? })
                }
            };
            slots.insert(*id, slot);
        }
        Ok(Self { slots, current: BTreeMap::new() })
    }

    /// Returns the ids of the destroyed keys.
    pub(crate) fn erased_ids(&self) -> BTreeSet<KeyId> {
        let erased = self.slots.iter().filter(|(_, slot)| matches!(slot, KeySlot::Erased));
        erased.map(|(id, _)| *id).collect()
    }

    /// Returns only the needed keys; `None` if all of them are needed.
    pub(crate) fn keep_only(&self, needed: &dyn Fn(&KeyId) -> bool) -> Option<Self> {
        if self.slots.keys().all(needed) {
            return None;
        }
        let slots = self.slots.iter().filter(|(id, _)| needed(id));
        let slots = slots.map(|(id, slot)| (*id, slot.clone())).collect();
        let current = self.current.iter().filter(|(_, id)| needed(id));
        let current = current.map(|(subject, id)| (subject.clone(), *id)).collect();
        Some(Self { slots, current })
    }

    /// Returns the complete file, with the proof of the master key first.
    pub(crate) fn file(&self, wrapping: &Wrapping) -> Vec<u8> {
        let mut file = frame::frame(&wrapping.header);
        for (id, slot) in &self.slots {
            let payload = match slot {
                KeySlot::Live(wrapped) => key_payload(id, wrapped),
                KeySlot::Erased => [&[ERASED][..], id].concat(),
            };
            file.extend_from_slice(&frame::frame(&payload));
        }
        file
    }
}

fn parse_key_slot(payload: &[u8]) -> Option<(KeyId, KeySlot)> {
    let mut fields = ByteReader::new(payload);
    let kind = fields.u8()?;
    if kind == ERASED {
        return Some((fields.array()?, KeySlot::Erased));
    }
    if kind != KEY && kind != RETIRED {
        return None;
    }
    let (id, nonce) = (fields.array()?, fields.array()?);
    let sealed = fields.take(48)?.to_vec();
    let subject = String::from_utf8(fields.rest().to_vec()).ok()?;
    Some((id, KeySlot::Live(WrappedKey { subject, nonce, sealed, retired: kind == RETIRED })))
}

/// Returns the identity of the state whose vault is on this disk, or else the one of this key.
pub fn state_identity(disk: &dyn Disk, master: &MasterKey) -> VaultResult<Identity> {
    Ok(read_wrapping(disk, master)?.unwrap_or_else(|| Wrapping::new(master)).identity)
}

/// Returns the keys of a vault; `None` if there is no file of keys.
pub(crate) fn read_wrapping(disk: &dyn Disk, master: &MasterKey) -> VaultResult<Option<Wrapping>> {
    if frame::length(disk, KEYS_FILE).map_err(VaultError::io("read", KEYS_FILE))? == 0 {
        return Ok(None);
    }
    let first = Scan::new(disk, KEYS_FILE, 0).and_then(|mut scan| scan.here());
    let first = first.map_err(VaultError::io("read", KEYS_FILE))?;
    Wrapping::open(master, &first.ok_or(VaultError::KeysLost)?).map(Some)
}

/// Name of any file of sealed values in messages.
pub(crate) const DATA_FILE: &str = frame::FIRST;

/// Prefix of a sealed text; the name of a value in the vault is hex digits alone.
pub(crate) const SEALED: &str = "sealed:";
/// The longest sealed value within a record, in bytes: longer ones make records and index heavy.
const WITHIN_BYTES_MAX: usize = 16 << 10;

/// A value sealed and ready to be written; its `Debug` shows no plaintext.
#[derive(Clone, derive_more::Debug)]
#[debug("Sealed({reference}, {} bytes)", payload.len())]
pub struct SealedValue {
    pub(crate) reference: VaultRef,
    pub(crate) payload: Vec<u8>,
    /// The key to be written to the file of keys first, if the subject had none yet.
    pub(crate) new_key: Option<NewKey>,
}

impl SealedValue {
    /// Returns the name under which the value is found once it is written.
    pub fn reference(&self) -> VaultRef {
        self.reference
    }

    /// Returns the text that a record holds in place of a name. `None` if the value must be written
    /// to the vault: it is too long, or its subject's key is not on disk yet.
    pub fn inline_text(&self) -> Option<String> {
        let fits = self.new_key.is_none() && self.payload.len() <= WITHIN_BYTES_MAX;
        fits.then(|| format!("{SEALED}{}", BASE64_STANDARD_NO_PAD.encode(&self.payload)))
    }
}

pub(crate) struct Blob<'a> {
    pub(crate) reference: VaultRef,
    pub(crate) key: KeyId,
    nonce: [u8; 24],
    subject: &'a [u8],
    sealed: &'a [u8],
}

/// Seals a value into its payload, bound to name, key and subject (shorter than 64 KiB).
pub(crate) fn seal_value(
    reference: VaultRef,
    (id, key): (&KeyId, &DataKey),
    subject: &[u8],
    nonce: [u8; 24],
    plain: &[u8],
) -> Option<Vec<u8>> {
    let sealed = key::encrypt(key, &nonce, plain, &associated_data(reference, id, subject))?;
    let length = u16::try_from(subject.len()).ok()?.to_le_bytes();
    Some([&reference.0[..], id, &nonce, &length, subject, &sealed].concat())
}

impl<'a> Blob<'a> {
    pub(crate) fn read(payload: &'a [u8]) -> Option<Self> {
        let mut fields = ByteReader::new(payload);
        let reference = VaultRef(fields.array()?);
        let (key, nonce) = (fields.array()?, fields.array()?);
        let length = usize::from(fields.u16()?);
        Some(Self { reference, key, nonce, subject: fields.take(length)?, sealed: fields.rest() })
    }

    /// Returns the payload that this was read from, up to its ciphertext.
    pub(crate) fn without_content<'b>(&self, payload: &'b [u8]) -> &'b [u8] {
        payload.get(..payload.len().saturating_sub(self.sealed.len())).unwrap_or(payload)
    }

    pub(crate) fn open(&self, key: &DataKey) -> Option<Zeroizing<Vec<u8>>> {
        let bound = associated_data(self.reference, &self.key, self.subject);
        key::decrypt(key, &self.nonce, self.sealed, &bound)
    }
}

fn associated_data(reference: VaultRef, key: &KeyId, subject: &[u8]) -> Vec<u8> {
    [reference.0.as_slice(), key, subject].concat()
}

pub(crate) fn list_values(scan: &mut Scan<'_>) -> io::Result<BTreeMap<VaultRef, u64>> {
    let mut places = BTreeMap::new();
    while let Some((at, payload)) = scan.step()? {
        if let Some(blob) = Blob::read(&payload) {
            places.insert(blob.reference, at);
        }
    }
    Ok(places)
}
