//! The file of keys: a check of the master key, one wrapped key per subject, and the names of the
//! keys that were destroyed.
//!
//! ```text
//! check:  0 · keyed digest 32
//! key:    1 · id 16 · nonce 24 · wrapped key 48 · subject
//! erased: 2 · id 16
//! ```
//!
//! Several keys of one subject may stand here: two values of a new subject may be sealed before
//! either is written. Erasing rewrites the file without them, but keeps their ids, so that an
//! erased value can be told from a damaged one.

use std::{
    collections::{BTreeMap, BTreeSet},
    io,
};

use zeroize::Zeroizing;

use super::{
    super::{
        bytes::{Fields, to_u64},
        disk::Disk,
        key::MasterKey,
    },
    cipher,
    frame::{self, Scan},
};

/// The file of keys.
pub const FILE: &str = "keys";
const CHECK: u8 = 0;
const KEY: u8 = 1;
const ERASED: u8 = 2;

/// The name of one data key.
pub(super) type KeyId = [u8; 16];
/// A data key in the open.
pub(super) type DataKey = Zeroizing<[u8; 32]>;

/// The keys derived from the master key.
pub(super) struct Wrapping {
    wrap: Zeroizing<[u8; 32]>,
    digests: Zeroizing<[u8; 32]>,
    check: [u8; 32],
}

/// What became of a key.
#[derive(Debug, Clone)]
pub(super) enum Slot {
    Live(Wrapped),
    Erased,
}

/// A data key, sealed under the master key.
#[derive(Debug, Clone)]
pub(super) struct Wrapped {
    pub(super) subject: String,
    nonce: [u8; 24],
    sealed: Vec<u8>,
}

/// All keys of the file.
#[derive(Debug, Default)]
pub(super) struct Keys {
    slots: BTreeMap<KeyId, Slot>,
    current: BTreeMap<String, KeyId>,
}

impl Wrapping {
    pub(super) fn new(master: &MasterKey) -> Self {
        let check = master.derive("reckon 2026 vault check v1");
        let check = blake3::keyed_hash(&check, b"reckon vault").into();
        let wrap = master.derive("reckon 2026 vault wrapping key v1");
        let digests = master.derive("reckon 2026 vault digest key v1");
        Self { wrap, digests, check }
    }

    /// Returns a digest of sealed content that tells nothing without the master key.
    pub(super) fn digest(&self, subject: &str, content: &[u8]) -> [u8; 32] {
        let mut hasher = blake3::Hasher::new_keyed(&self.digests);
        hasher.update(&to_u64(subject.len()).to_le_bytes());
        hasher.update(subject.as_bytes()).update(content);
        hasher.finalize().into()
    }

    /// The payload by which a file of keys knows its master key.
    pub(super) fn check_payload(&self) -> Vec<u8> {
        let mut payload = vec![CHECK];
        payload.extend_from_slice(&self.check);
        payload
    }

    /// Whether this is the check of this master key; `None` if it is no check at all.
    pub(super) fn checks(&self, payload: &[u8]) -> Option<bool> {
        let mut fields = Fields::new(payload);
        if fields.u8()? != CHECK {
            return None;
        }
        let found: [u8; 32] = fields.array()?;
        Some(blake3::Hash::from(found) == blake3::Hash::from(self.check))
    }

    /// The payload that stores a new key.
    pub(super) fn wrap(
        &self,
        id: KeyId,
        nonce: [u8; 24],
        subject: &str,
        key: &DataKey,
    ) -> Option<Vec<u8>> {
        let bound = bound(&id, subject);
        let sealed = cipher::seal(&self.wrap, &nonce, key.as_slice(), &bound)?;
        Some(key_payload(&id, &Wrapped { subject: subject.to_owned(), nonce, sealed }))
    }

    /// The key in the open; `None` if it is not what was written.
    pub(super) fn unwrap(&self, id: &KeyId, wrapped: &Wrapped) -> Option<DataKey> {
        let bound = bound(id, &wrapped.subject);
        let opened = cipher::open(&self.wrap, &wrapped.nonce, &wrapped.sealed, &bound)?;
        let mut key = Zeroizing::new([0; 32]);
        if opened.len() != key.len() {
            return None;
        }
        key.copy_from_slice(&opened);
        Some(key)
    }
}

fn bound(id: &KeyId, subject: &str) -> Vec<u8> {
    [id.as_slice(), subject.as_bytes()].concat()
}

fn key_payload(id: &KeyId, wrapped: &Wrapped) -> Vec<u8> {
    let mut payload = vec![KEY];
    payload.extend_from_slice(id);
    payload.extend_from_slice(&wrapped.nonce);
    payload.extend_from_slice(&wrapped.sealed);
    payload.extend_from_slice(wrapped.subject.as_bytes());
    payload
}

fn erased_payload(id: &KeyId) -> Vec<u8> {
    let mut payload = vec![ERASED];
    payload.extend_from_slice(id);
    payload
}

impl Keys {
    pub(super) fn read(disk: &dyn Disk) -> io::Result<Self> {
        let mut keys = Self::default();
        let mut scan = Scan::new(disk, FILE, 0)?;
        while let Some((_, payload)) = scan.step()? {
            keys.learn(&payload);
        }
        Ok(keys)
    }

    /// Takes one payload in and answers its id; what is not known is passed over. An erased id stays erased.
    pub(super) fn learn(&mut self, payload: &[u8]) -> Option<KeyId> {
        let (id, slot) = parse(payload)?;
        if matches!(self.slots.get(&id), Some(Slot::Erased)) {
            return Some(id);
        }
        if let Slot::Live(wrapped) = &slot {
            self.current.insert(wrapped.subject.clone(), id);
        }
        self.slots.insert(id, slot);
        Some(id)
    }

    pub(super) fn get(&self, id: &KeyId) -> Option<&Slot> {
        self.slots.get(id)
    }

    /// The newest key of a subject.
    pub(super) fn current(&self, subject: &str) -> Option<(&KeyId, &Wrapped)> {
        let id = self.current.get(subject)?;
        match self.slots.get(id)? {
            Slot::Live(wrapped) => Some((id, wrapped)),
            Slot::Erased => None,
        }
    }

    /// Whether a subject has any key that is not destroyed.
    pub(super) fn any_of(&self, subject: &str) -> bool {
        let own = |slot: &Slot| matches!(slot, Slot::Live(wrapped) if wrapped.subject == subject);
        self.slots.values().any(own)
    }

    /// These keys with all of one subject destroyed.
    pub(super) fn without(&self, subject: &str) -> Self {
        let erase = |slot: &Slot| match slot {
            Slot::Live(wrapped) if wrapped.subject == subject => Slot::Erased,
            Slot::Live(_) | Slot::Erased => slot.clone(),
        };
        let slots = self.slots.iter().map(|(id, slot)| (*id, erase(slot))).collect();
        let mut current = self.current.clone();
        current.remove(subject);
        Self { slots, current }
    }

    /// The keys that were destroyed.
    pub(super) fn erased(&self) -> BTreeSet<KeyId> {
        let erased = self.slots.iter().filter(|(_, slot)| matches!(slot, Slot::Erased));
        erased.map(|(id, _)| *id).collect()
    }

    /// The keys that are needed; `None` if all of them are.
    pub(super) fn only(&self, needed: &dyn Fn(&KeyId) -> bool) -> Option<Self> {
        let left = |id: &KeyId| needed(id);
        if self.slots.keys().all(left) {
            return None;
        }
        let slots = self.slots.iter().filter(|(id, _)| left(id));
        let slots = slots.map(|(id, slot)| (*id, slot.clone())).collect();
        let current = self.current.iter().filter(|(_, id)| left(id));
        let current = current.map(|(subject, id)| (subject.clone(), *id)).collect();
        Some(Self { slots, current })
    }

    /// The whole file, the check first.
    pub(super) fn file(&self, wrapping: &Wrapping) -> Vec<u8> {
        let mut file = frame::frame(&wrapping.check_payload());
        for (id, slot) in &self.slots {
            let payload = match slot {
                Slot::Live(wrapped) => key_payload(id, wrapped),
                Slot::Erased => erased_payload(id),
            };
            file.extend_from_slice(&frame::frame(&payload));
        }
        file
    }
}

fn parse(payload: &[u8]) -> Option<(KeyId, Slot)> {
    let mut fields = Fields::new(payload);
    let kind = fields.u8()?;
    if kind == ERASED {
        return Some((fields.array()?, Slot::Erased));
    }
    if kind != KEY {
        return None;
    }
    let id = fields.array()?;
    let nonce = fields.array()?;
    let sealed = fields.take(48)?.to_vec();
    let subject = String::from_utf8(fields.rest().to_vec()).ok()?;
    Some((id, Slot::Live(Wrapped { subject, nonce, sealed })))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrapped_key_is_bound_to_its_name_and_subject() {
        let of = |id: u8, subject| bound(&[id; 16], subject);
        assert!(of(1, "a") != of(2, "a") && of(1, "a") != of(1, "b"));
    }
}
