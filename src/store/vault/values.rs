//! The vault: secrets and personal bodies, sealed; and its state in memory, under one lock.
//!
//! Why it exists: journal and index can be copied, printed and compared, because secret and
//! personal values are here and the others hold only a [`VaultRef`].
//!
//! Guarantees: no value is on disk in the open. A value opens only under the name and the subject
//! that it was sealed for. Erasing a subject destroys its keys, and its values are unreadable from
//! then on while everything that refers to them stays true.
//! Assumptions: the master key comes from outside the state directory; a value is written and
//! synced before the journal entry that names it, or lies within that entry.
//!
//! Opening reads one record. The keys are read at the first use, the values listed at the first
//! unsealing: most runs need neither.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD_NO_PAD;
use parking_lot::{Mutex, MutexGuard};
use rand_core::CryptoRng;
use zeroize::Zeroizing;

use crate::base::hash::Digest;
use crate::store::disk::traits::Disk;
use crate::store::vault::frame::{
    BLOB_BYTES_MAX, Scan, VaultError, VaultResult, generation_name, newest_generation,
};
use crate::store::vault::key::{DataKey, KeyId, MasterKey, VaultRef, random_bytes};
use crate::store::vault::keys::{
    Blob, DataKeys, KeySlot, NewKey, SEALED, SealedValue, list_values, read_wrapping,
};
use crate::store::vault::wrapping::Wrapping;
use crate::store::vault::{frame, keys};

/// The longest name of a subject, in bytes.
pub const SUBJECT_BYTES_MAX: usize = 1024;

/// The vault; clones share it.
#[derive(Clone, derive_more::Debug)]
#[debug("Vault({:?})", shared.disk)]
pub struct Vault {
    pub(crate) shared: Arc<VaultInner>,
}

pub(crate) struct VaultInner {
    disk: Arc<dyn Disk>,
    state: Mutex<VaultState>,
    /// Locked while written files are made durable, or one file is replaced by another.
    pub(super) syncing: Mutex<()>,
    pub(super) compacting: Mutex<()>,
}

impl Vault {
    /// Opens the vault on this disk, or creates it.
    pub fn open(disk: Arc<dyn Disk>, master: &MasterKey) -> VaultResult<Self> {
        let generation = newest_generation(disk.as_ref()).map_err(VaultError::io("list", "*"))?;
        let wrapping = verify_key(disk.as_ref(), &generation_name(generation), master)?;
        let state = Mutex::new(VaultState::new(wrapping, generation));
        let (syncing, compacting) = (Mutex::default(), Mutex::default());
        Ok(Self { shared: Arc::new(VaultInner { disk, state, syncing, compacting }) })
    }

    /// Seals a value of a subject. Nothing is written yet: pass the value to [`Vault::write`].
    pub fn seal(
        &self,
        subject: &str,
        plain: &[u8],
        rng: &mut dyn CryptoRng,
    ) -> VaultResult<SealedValue> {
        check_length(subject.len(), SUBJECT_BYTES_MAX)?;
        check_length(plain.len(), BLOB_BYTES_MAX)?;
        let (id, key, new_key) = self.key_for(subject, rng)?;
        let reference = VaultRef(random_bytes(rng));
        let (subject, nonce) = (subject.as_bytes(), random_bytes(rng));
        let payload = keys::seal_value(reference, (&id, &key), subject, nonce, plain);
        let too_large = VaultError::TooLarge { bytes: plain.len(), limit: BLOB_BYTES_MAX };
        Ok(SealedValue { reference, payload: payload.ok_or(too_large)?, new_key })
    }

    /// Returns a digest of content that is sealed: equal for equal content of one subject, and
    /// useless for guessing without the master key.
    pub fn digest(&self, subject: &str, content: &[u8]) -> Digest {
        Digest::from_bytes(self.state().wrapping.digest(subject, content))
    }

    /// Writes sealed values; durable only after [`Vault::sync`].
    ///
    /// A value whose subject was erased meanwhile is written, and is as erased as the others.
    pub fn write(&self, sealed: &[SealedValue]) -> VaultResult {
        let mut state = self.state();
        state.refuse_if_poisoned()?;
        let done =
            self.write_keys(&mut state, sealed).and_then(|()| self.write_data(&mut state, sealed));
        state.poison_on_failure(done)
    }

    pub fn sync(&self) -> VaultResult {
        let _no_exchange = self.shared.syncing.lock();
        let (unsynced, data) = {
            let mut state = self.state();
            state.refuse_if_poisoned()?;
            (std::mem::take(&mut state.unsynced), state.file())
        };
        let mut files = Vec::new();
        files.extend(unsynced.keys.then_some(keys::KEYS_FILE));
        files.extend(unsynced.data.then_some(data.as_str()));
        let done = self.disk().sync_all(&files).map_err(VaultError::io("sync", "*"));
        self.state().poison_on_failure(done)
    }

    /// Unseals a value. The first call lists all values.
    pub fn unseal(&self, reference: &VaultRef) -> VaultResult<Zeroizing<Vec<u8>>> {
        let reference = *reference;
        let payload = loop {
            let mut state = self.state();
            let (generation, file) = (state.generation, state.file());
            let at = state.places(self.disk())?.get(&reference).copied();
            drop(state);
            let at = at.ok_or(VaultError::Missing { reference })?;
            let payload = Scan::one(self.disk(), &file, at).and_then(|mut scan| scan.here());
            // A compaction may have replaced the file meanwhile.
            if self.state().generation == generation {
                break payload.map_err(VaultError::io("read", keys::DATA_FILE))?;
            }
        };
        let damaged = || VaultError::Damaged { reference };
        let blob = payload.as_deref().and_then(Blob::read).ok_or_else(damaged)?;
        if blob.reference == reference { self.unseal_blob(&blob) } else { Err(damaged()) }
    }

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
        self.unseal_blob(&Blob::read(&payload).ok_or(VaultError::Damaged { reference: none })?)
    }

    fn unseal_blob(&self, blob: &Blob<'_>) -> VaultResult<Zeroizing<Vec<u8>>> {
        let reference = blob.reference;
        let mut state = self.state();
        let recent = state.recent.take().filter(|(recent, _)| *recent == blob.key);
        let recent = recent.map(|(_, key)| key);
        state.keys(self.disk())?;
        let key = match state.keys.as_ref().and_then(|keys| keys.get(&blob.key)) {
            Some(KeySlot::Live(wrapped)) => {
                recent.or_else(|| state.wrapping.unwrap(&blob.key, wrapped))
            }
            Some(KeySlot::Erased) => return Err(VaultError::Erased { reference }),
            None => None,
        };
        state.recent = key.clone().map(|key| (blob.key, key));
        drop(state);
        key.and_then(|key| blob.open(&key)).ok_or(VaultError::Damaged { reference })
    }

    /// Destroys the keys of a subject, durably. Its values are unreadable from then on; a subject
    /// without any is no error. A value sealed later gets a new key.
    pub fn erase(&self, subject: &str) -> VaultResult {
        let mut state = self.state();
        state.refuse_if_poisoned()?;
        let left = state.keys(self.disk())?.with_erased(subject);
        left.map_or(Ok(()), |left| state.replace_keys(self.disk(), left, None))
    }

    pub(crate) fn disk(&self) -> &dyn Disk {
        self.shared.disk.as_ref()
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, VaultState> {
        self.shared.state.lock()
    }

    /// Returns the key of a subject, or a new one, which must be written with the value.
    fn key_for(
        &self,
        subject: &str,
        rng: &mut dyn CryptoRng,
    ) -> VaultResult<(KeyId, DataKey, Option<NewKey>)> {
        let damaged = || VaultError::KeyDamaged { subject: subject.to_owned() };
        let mut state = self.state();
        let recent = state.recent.take();
        state.keys(self.disk())?;
        if let Some((id, wrapped)) = state.keys.as_ref().and_then(|keys| keys.current(subject)) {
            let (id, recent) = (*id, recent.filter(|(recent, _)| recent == id));
            let unwrapped = || Some((id, state.wrapping.unwrap(&id, wrapped)?));
            let (id, key) = recent.or_else(unwrapped).ok_or_else(damaged)?;
            state.recent = Some((id, key.clone()));
            state.used.insert(id);
            return Ok((id, key, None));
        }
        drop(state);
        let (id, key): (KeyId, DataKey) = (random_bytes(rng), Zeroizing::new(random_bytes(rng)));
        let nonce = random_bytes(rng);
        let new = NewKey { id, nonce, subject: subject.to_owned(), key: key.clone() };
        Ok((id, key, Some(new)))
    }

    fn write_keys(&self, state: &mut VaultState, sealed: &[SealedValue]) -> VaultResult {
        let mut bytes = Vec::new();
        for new in sealed.iter().filter_map(|sealed| sealed.new_key.as_ref()) {
            let damaged = || VaultError::KeyDamaged { subject: new.subject.clone() };
            let payload = new.payload(&state.wrapping).ok_or_else(damaged)?;
            let learned = state.keys(self.disk())?.add(&payload);
            state.used.extend(learned);
            bytes.extend_from_slice(&frame::frame(&payload));
        }
        if !bytes.is_empty() {
            state.unsynced.keys = true;
            self.append(keys::KEYS_FILE, keys::KEYS_FILE, &bytes)?;
        }
        Ok(())
    }

    fn write_data(&self, state: &mut VaultState, sealed: &[SealedValue]) -> VaultResult {
        let bytes: Vec<u8> = sealed.iter().flat_map(|one| frame::frame(&one.payload)).collect();
        if bytes.is_empty() {
            return Ok(());
        }
        state.unsynced.data = true;
        let mut at = self.append(&state.file(), keys::DATA_FILE, &bytes)?;
        if let Some(places) = state.places.as_mut() {
            for sealed in sealed {
                places.insert(sealed.reference, at);
                at = at.saturating_add(frame::size(sealed.payload.len()));
            }
        }
        Ok(())
    }

    /// Appends to a file and returns the offset. `called` is the file's name in messages.
    fn append(&self, file: &str, called: &'static str, bytes: &[u8]) -> VaultResult<u64> {
        let at = frame::length(self.disk(), file).map_err(VaultError::io("read", called))?;
        self.disk().write_at(file, at, bytes).map_err(VaultError::io("write", called))?;
        Ok(at)
    }
}

pub fn files(disk: &dyn Disk) -> std::io::Result<[String; 2]> {
    Ok([generation_name(newest_generation(disk)?), keys::KEYS_FILE.to_owned()])
}

/// Verifies the master key against the file of keys, or creates that file.
fn verify_key(disk: &dyn Disk, data: &str, master: &MasterKey) -> VaultResult<Wrapping> {
    if let Some(wrapping) = read_wrapping(disk, master)? {
        return Ok(wrapping);
    }
    if frame::length(disk, data).map_err(VaultError::io("read", keys::DATA_FILE))? > 0 {
        return Err(VaultError::KeysLost);
    }
    let wrapping = Wrapping::new(master);
    let made = disk.replace(keys::KEYS_FILE, &frame::frame(&wrapping.header));
    made.map_err(VaultError::io("make", keys::KEYS_FILE))?;
    Ok(wrapping)
}

fn check_length(bytes: usize, limit: usize) -> VaultResult {
    if bytes > limit { Err(VaultError::TooLarge { bytes, limit }) } else { Ok(()) }
}

/// The content of the files, as far as it was read.
pub(crate) struct VaultState {
    pub(crate) wrapping: Wrapping,
    pub(crate) keys: Option<DataKeys>,
    /// The last used key, in the open: many values of one subject follow one another.
    pub(crate) recent: Option<(KeyId, DataKey)>,
    pub(crate) used: BTreeSet<KeyId>,
    pub(crate) generation: u64,
    pub(crate) places: Option<BTreeMap<VaultRef, u64>>,
    /// Files written since the last sync.
    pub(crate) unsynced: Unsynced,
    pub(crate) poisoned: Option<String>,
}

#[derive(Default, Clone, Copy)]
pub(crate) struct Unsynced {
    pub(crate) keys: bool,
    pub(crate) data: bool,
}

impl VaultState {
    pub(crate) fn new(wrapping: Wrapping, generation: u64) -> Self {
        Self {
            wrapping,
            keys: None,
            recent: None,
            used: BTreeSet::new(),
            generation,
            places: None,
            unsynced: Unsynced::default(),
            poisoned: None,
        }
    }

    pub(crate) fn file(&self) -> String {
        generation_name(self.generation)
    }

    pub(crate) fn keys(&mut self, disk: &dyn Disk) -> VaultResult<&mut DataKeys> {
        if self.keys.is_none() {
            self.keys =
                Some(DataKeys::read(disk).map_err(VaultError::io("read", keys::KEYS_FILE))?);
        }
        Ok(self.keys.get_or_insert_default())
    }

    /// Replaces the file of keys, and the wrapping of the keys if a new one is given.
    pub(super) fn replace_keys(
        &mut self,
        disk: &dyn Disk,
        keys: DataKeys,
        wrapping: Option<Wrapping>,
    ) -> VaultResult {
        let file = keys.file(wrapping.as_ref().unwrap_or(&self.wrapping));
        let replaced = disk.replace(keys::KEYS_FILE, &file);
        self.poison_on_failure(replaced.map_err(VaultError::io("replace", keys::KEYS_FILE)))?;
        self.keys = Some(keys);
        if let Some(wrapping) = wrapping {
            self.wrapping = wrapping;
        }
        self.recent = None;
        Ok(())
    }

    pub(crate) fn places(&mut self, disk: &dyn Disk) -> VaultResult<&BTreeMap<VaultRef, u64>> {
        if self.places.is_none() {
            let file = self.file();
            let places = Scan::new(disk, &file, 0).and_then(|mut scan| list_values(&mut scan));
            self.places = Some(places.map_err(VaultError::io("read", keys::DATA_FILE))?);
        }
        Ok(self.places.get_or_insert_default())
    }

    pub(crate) fn refuse_if_poisoned(&self) -> VaultResult {
        self.poisoned.clone().map_or(Ok(()), |cause| Err(VaultError::Poisoned { cause }))
    }

    pub(crate) fn poison_on_failure(&mut self, done: VaultResult) -> VaultResult {
        if let Err(error) = &done {
            self.poisoned = Some(error.to_string());
        }
        done
    }
}

#[cfg(test)]
mod tests;
