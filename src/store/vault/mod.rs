//! The vault: secrets and personal bodies, sealed.
//!
//! Why it exists: journal and index can be copied, printed and compared, because what may not be
//! seen stands here and they hold only a [`VaultRef`].
//!
//! Guarantees: nothing is on disk in the open; a value opens only as the value, of the subject,
//! that was sealed; erasing a subject destroys its keys, and its values are unreadable from then
//! on while everything that refers to them stays true.
//! Assumptions: the master key comes from outside the state directory; a value is written and
//! synced before the journal entry that names it, or stands within that entry.
//!
//! Opening reads one record. The keys are read at the first use, the values listed at the first
//! unsealing: most runs need neither.

mod blob;
mod check;
mod cipher;
pub mod error;
mod frame;
mod keys;
mod reference;
mod within;

use std::{
    collections::BTreeMap,
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use rand_core::CryptoRng;
use zeroize::Zeroizing;

use self::{
    blob::{Blob, Place},
    frame::Scan,
    keys::{DataKey, KeyId, Keys, Slot, Wrapping},
};
pub use self::{
    blob::{FILE as DATA_FILE, Sealed},
    check::Gap,
    error::VaultError,
    keys::FILE as KEYS_FILE,
    reference::{VaultRef, VaultRefError},
};
use super::{disk::Disk, key::MasterKey};
use crate::base::hash::Digest;

/// The longest value, in bytes.
pub const BLOB_BYTES_MAX: usize = 16 << 20;
/// The longest name of a subject, in bytes.
pub const SUBJECT_BYTES_MAX: usize = 1024;

/// The vault; clones share it.
#[derive(Clone)]
pub struct Vault {
    shared: Arc<Shared>,
}

struct Shared {
    disk: Arc<dyn Disk>,
    wrapping: Wrapping,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    keys: Option<Keys>,
    /// The key that was last sealed with, in the open: many values of one subject come one after the other.
    recent: Option<(KeyId, DataKey)>,
    /// Where each value's frame begins.
    places: Option<BTreeMap<VaultRef, u64>>,
    /// Files written since the last sync.
    unsynced: Unsynced,
    poisoned: Option<String>,
}

#[derive(Default, Clone, Copy)]
struct Unsynced {
    keys: bool,
    data: bool,
}

impl Vault {
    /// Opens the vault on this disk, or makes it.
    ///
    /// Fails with [`VaultError::WrongKey`] if it was made with another master key.
    pub fn open(disk: Arc<dyn Disk>, master: &MasterKey) -> Result<Self, VaultError> {
        let wrapping = Wrapping::new(master);
        check(disk.as_ref(), &wrapping)?;
        Ok(Self { shared: Arc::new(Shared { disk, wrapping, state: Mutex::default() }) })
    }

    /// Seals a value of a subject. Nothing is written yet: give it to [`Vault::write`].
    pub fn seal(
        &self,
        subject: &str,
        plain: &[u8],
        rng: &mut dyn CryptoRng,
    ) -> Result<Sealed, VaultError> {
        limit(subject.len(), SUBJECT_BYTES_MAX)?;
        limit(plain.len(), BLOB_BYTES_MAX)?;
        let (id, key, new_key) = self.key_for(subject, rng)?;
        let reference = VaultRef(random(rng));
        let place = Place { reference, key: id, subject };
        let payload = blob::seal(&place, &key, random(rng), plain);
        let too_large = VaultError::TooLarge { bytes: plain.len(), limit: BLOB_BYTES_MAX };
        Ok(Sealed { reference, payload: payload.ok_or(too_large)?, new_key })
    }

    /// Returns a digest of content that is sealed: equal for equal content of one subject, and nothing to be guessed from
    /// without the master key.
    pub fn digest(&self, subject: &str, content: &[u8]) -> Digest {
        Digest::from_bytes(self.shared.wrapping.digest(subject, content))
    }

    /// Writes sealed values; durable only after [`Vault::sync`].
    ///
    /// A value whose subject was erased since it was sealed is written and is as erased as the
    /// others.
    pub fn write(&self, sealed: &[Sealed]) -> Result<(), VaultError> {
        let mut state = self.state();
        state.refuse_if_poisoned()?;
        let done =
            self.write_keys(&mut state, sealed).and_then(|()| self.write_data(&mut state, sealed));
        state.poison_on_failure(done)
    }

    /// Makes everything written so far durable.
    pub fn sync(&self) -> Result<(), VaultError> {
        let unsynced = {
            let mut state = self.state();
            state.refuse_if_poisoned()?;
            std::mem::take(&mut state.unsynced)
        };
        let mut files = Vec::new();
        files.extend(unsynced.keys.then_some(keys::FILE));
        files.extend(unsynced.data.then_some(blob::FILE));
        let done = self.disk().sync_all(&files).map_err(VaultError::io("sync", "*"));
        self.state().poison_on_failure(done)
    }

    /// Unseals a value. The first call lists all values.
    pub fn open_blob(&self, reference: &VaultRef) -> Result<Zeroizing<Vec<u8>>, VaultError> {
        let reference = *reference;
        let mut state = self.state();
        let at = state.places(self.disk())?.get(&reference).copied();
        drop(state);
        let payload = self.payload(at.ok_or(VaultError::Missing { reference })?)?;
        let damaged = || VaultError::Damaged { reference };
        let blob = payload.as_deref().and_then(Blob::read).ok_or_else(damaged)?;
        if blob.reference == reference { self.open_read(&blob) } else { Err(damaged()) }
    }

    /// Opens a value whose fields were read.
    fn open_read(&self, blob: &Blob<'_>) -> Result<Zeroizing<Vec<u8>>, VaultError> {
        let reference = blob.reference;
        let mut state = self.state();
        let recent = state.recent.take().filter(|(recent, _)| *recent == blob.key);
        let recent = recent.map(|(_, key)| key);
        let key = match state.keys(self.disk())?.get(&blob.key) {
            Some(Slot::Live(wrapped)) => {
                recent.or_else(|| self.shared.wrapping.unwrap(&blob.key, wrapped))
            }
            Some(Slot::Erased) => return Err(VaultError::Erased { reference }),
            None => None,
        };
        state.recent = key.clone().map(|key| (blob.key, key));
        drop(state);
        key.and_then(|key| blob.open(&key)).ok_or(VaultError::Damaged { reference })
    }

    /// Destroys the keys of a subject, durably. Its values are unreadable from then on; a subject
    /// without any is no error. A value sealed later gets a new key.
    pub fn erase(&self, subject: &str) -> Result<(), VaultError> {
        let mut state = self.state();
        state.refuse_if_poisoned()?;
        let keys = state.keys(self.disk())?;
        if !keys.any_of(subject) {
            return Ok(());
        }
        let left = keys.without(subject);
        let file = left.file(&self.shared.wrapping);
        let done = self.disk().replace(keys::FILE, &file);
        state.poison_on_failure(done.map_err(VaultError::io("replace", keys::FILE)))?;
        state.keys = Some(left);
        state.recent = None;
        Ok(())
    }

    fn disk(&self) -> &dyn Disk {
        self.shared.disk.as_ref()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.shared.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The key of a subject, made if it has none: then also what to write for it.
    fn key_for(
        &self,
        subject: &str,
        rng: &mut dyn CryptoRng,
    ) -> Result<(KeyId, DataKey, Option<Vec<u8>>), VaultError> {
        let damaged = || VaultError::KeyDamaged { subject: subject.to_owned() };
        let mut state = self.state();
        let recent = state.recent.take();
        if let Some((id, wrapped)) = state.keys(self.disk())?.current(subject) {
            let (id, recent) = (*id, recent.filter(|(recent, _)| recent == id));
            let unwrapped = || Some((id, self.shared.wrapping.unwrap(&id, wrapped)?));
            let (id, key) = recent.or_else(unwrapped).ok_or_else(damaged)?;
            state.recent = Some((id, key.clone()));
            return Ok((id, key, None));
        }
        drop(state);
        let (id, key) = (random(rng), Zeroizing::new(random(rng)));
        let payload = self.shared.wrapping.wrap(id, random(rng), subject, &key);
        Ok((id, key, Some(payload.ok_or_else(damaged)?)))
    }

    fn write_keys(&self, state: &mut State, sealed: &[Sealed]) -> Result<(), VaultError> {
        let mut bytes = Vec::new();
        for payload in sealed.iter().filter_map(|sealed| sealed.new_key.as_deref()) {
            state.keys(self.disk())?.learn(payload);
            bytes.extend_from_slice(&frame::frame(payload));
        }
        if !bytes.is_empty() {
            state.unsynced.keys = true;
            self.append(keys::FILE, &bytes)?;
        }
        Ok(())
    }

    fn write_data(&self, state: &mut State, sealed: &[Sealed]) -> Result<(), VaultError> {
        let bytes: Vec<u8> =
            sealed.iter().flat_map(|sealed| frame::frame(&sealed.payload)).collect();
        if bytes.is_empty() {
            return Ok(());
        }
        state.unsynced.data = true;
        let mut at = self.append(blob::FILE, &bytes)?;
        if let Some(places) = state.places.as_mut() {
            for sealed in sealed {
                places.insert(sealed.reference, at);
                at = at.saturating_add(frame::size(sealed.payload.len()));
            }
        }
        Ok(())
    }

    /// Appends to a file and answers where.
    fn append(&self, file: &'static str, bytes: &[u8]) -> Result<u64, VaultError> {
        let at = frame::length(self.disk(), file).map_err(VaultError::io("read", file))?;
        self.disk().write_at(file, at, bytes).map_err(VaultError::io("write", file))?;
        Ok(at)
    }

    fn payload(&self, at: u64) -> Result<Option<Vec<u8>>, VaultError> {
        let read = Scan::one(self.disk(), blob::FILE, at).and_then(|mut scan| scan.here());
        read.map_err(VaultError::io("read", blob::FILE))
    }
}

impl State {
    fn keys(&mut self, disk: &dyn Disk) -> Result<&mut Keys, VaultError> {
        if self.keys.is_none() {
            self.keys = Some(Keys::read(disk).map_err(VaultError::io("read", keys::FILE))?);
        }
        Ok(self.keys.get_or_insert_default())
    }

    fn places(&mut self, disk: &dyn Disk) -> Result<&BTreeMap<VaultRef, u64>, VaultError> {
        if self.places.is_none() {
            self.places = Some(list(disk).map_err(VaultError::io("read", blob::FILE))?);
        }
        Ok(self.places.get_or_insert_default())
    }

    fn refuse_if_poisoned(&self) -> Result<(), VaultError> {
        match &self.poisoned {
            Some(cause) => Err(VaultError::Poisoned { cause: cause.clone() }),
            None => Ok(()),
        }
    }

    fn poison_on_failure(&mut self, done: Result<(), VaultError>) -> Result<(), VaultError> {
        if let Err(error) = &done {
            self.poisoned = Some(error.to_string());
        }
        done
    }
}

impl fmt::Debug for Vault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Vault").field("disk", &self.shared.disk).finish_non_exhaustive()
    }
}

/// Verifies the master key against the file of keys, or makes that file.
fn check(disk: &dyn Disk, wrapping: &Wrapping) -> Result<(), VaultError> {
    let read = VaultError::io("read", keys::FILE);
    let length = |file| frame::length(disk, file).map_err(VaultError::io("read", file));
    if length(keys::FILE)? == 0 {
        if length(blob::FILE)? > 0 {
            return Err(VaultError::KeysLost);
        }
        let file = frame::frame(&wrapping.check_payload());
        return disk.replace(keys::FILE, &file).map_err(VaultError::io("make", keys::FILE));
    }
    let first = Scan::new(disk, keys::FILE, 0).and_then(|mut scan| scan.here()).map_err(read)?;
    match first.and_then(|payload| wrapping.checks(&payload)) {
        Some(true) => Ok(()),
        Some(false) => Err(VaultError::WrongKey),
        None => Err(VaultError::KeysLost),
    }
}

/// Where every value begins.
fn list(disk: &dyn Disk) -> std::io::Result<BTreeMap<VaultRef, u64>> {
    let mut places = BTreeMap::new();
    let mut scan = Scan::new(disk, blob::FILE, 0)?;
    while let Some((at, payload)) = scan.step()? {
        if let Some(blob) = Blob::read(&payload) {
            places.insert(blob.reference, at);
        }
    }
    Ok(places)
}

fn limit(bytes: usize, limit: usize) -> Result<(), VaultError> {
    if bytes > limit { Err(VaultError::TooLarge { bytes, limit }) } else { Ok(()) }
}

fn random<const N: usize>(rng: &mut dyn CryptoRng) -> [u8; N] {
    let mut bytes = [0; N];
    rng.fill_bytes(&mut bytes);
    bytes
}

#[cfg(test)]
mod tests;
