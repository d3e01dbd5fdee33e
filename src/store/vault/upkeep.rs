//! Upkeep of the vault's files: removal of values that no record names any more, search for damage,
//! and the exchange of the master key.
//!
//! Guarantees of a compaction: a new file is complete and durable before it gets its name, and the
//! keys are rewritten only after that. So a crash at any step leaves a vault in which every named
//! value opens. Reads and writes continue meanwhile; values written during the copying are copied
//! last, while writers wait. A value whose subject was erased keeps its name and loses its content,
//! so it is known as erased.
//! Assumptions: the survey read every byte that names a value from before its end.
//!
//! With a list of record kinds that name values, a kind missing from it would lose its values. So
//! there is no list: every run of 32 hex digits that is the name of a value keeps that value. Every
//! text that begins like a sealed one keeps its key. A contiguous name is found, also if it is read
//! in two parts. Bytes that only look like a name keep a value needlessly.
//!
//! Guarantees of an exchange: one replacement of the file of keys decides which of the two keys opens
//! the vault. Every data key is wrapped anew under the new key, and seals nothing any more: the next
//! value of its subject gets a data key that the old master key never wrapped. Values sealed before
//! stay readable. A value that is sealed but not written yet is not lost: a fresh data key is wrapped
//! when it is written.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::io;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD_NO_PAD;
use chrono::{DateTime, Utc};
use rand_core::CryptoRng;

use crate::base::fault_injection;
use crate::model::record::Rekeyed;
use crate::store::disk::traits::{Disk, to_u64};
use crate::store::vault::frame::{
    NEXT, Scan, VaultError, VaultResult, generation_name, remove_leftovers,
};
use crate::store::vault::key::{KeyId, MasterKey, VaultRef};
use crate::store::vault::keys::{Blob, SEALED, list_values};
use crate::store::vault::values::{Vault, VaultState};
use crate::store::vault::wrapping::Identity;
use crate::store::vault::{frame, keys};

const PIECE_BYTES: usize = 1 << 20;
/// Maximum of bytes that are copied while writers wait.
const TAIL_BYTES: u64 = 1 << 20;

#[derive(Debug)]
pub struct ValueSurvey {
    /// The end of the file of values when the survey began, in bytes.
    end: u64,
    /// The names found so far; pass it all bytes that may name a value.
    pub named: NameSearch,
}

impl Vault {
    /// Lists the existing values. Values written from now on are kept in any case.
    pub fn survey(&self) -> VaultResult<ValueSurvey> {
        let (file, end) = self.extent()?;
        let mut scan = Scan::until(self.disk(), &file, 0, end);
        let places = list_values(&mut scan).map_err(VaultError::io("read", keys::DATA_FILE))?;
        Ok(ValueSurvey { end, named: NameSearch::of(places.keys()) })
    }

    /// Drops the values of a survey that were not named; returns their number.
    ///
    /// # Errors
    /// A disk that refuses leaves the vault as it was. Only if the result of a change is unknown,
    /// the vault accepts nothing more.
    pub fn drop_unnamed(&self, survey: &ValueSurvey) -> VaultResult<u64> {
        let _alone = self.shared.compacting.lock();
        let done = self.rewrite(survey);
        if done.is_err() {
            // The file has no name yet and holds only values that are also in the file in use.
            drop(self.disk().remove(NEXT));
        }
        done
    }

    /// Returns the file in use and its length, read under the lock, so that no write is half done.
    fn extent(&self) -> VaultResult<(String, u64)> {
        let state = self.state();
        state.refuse_if_poisoned()?;
        let file = state.file();
        let end = frame::length(self.disk(), &file);
        Ok((file, end.map_err(VaultError::io("read", keys::DATA_FILE))?))
    }

    fn rewrite(&self, survey: &ValueSurvey) -> VaultResult<u64> {
        if survey.end == 0 {
            return Ok(0);
        }
        let generation = self.state().generation;
        let change = |doing| VaultError::io(doing, keys::DATA_FILE);
        remove_leftovers(self.disk(), generation).map_err(change("remove"))?;
        self.disk().allocate(NEXT, 0).map_err(change("make"))?;
        let erased = self.state().keys(self.disk())?.erased_ids();
        let mut copy = VaultCopy { erased, ..VaultCopy::default() };
        let file = generation_name(generation);
        let old = Scan::until(self.disk(), &file, 0, survey.end);
        let all_go = fault_injection::is_active("compaction-drops-named");
        copy.copy_kept(self.disk(), old, |reference| survey.named.contains(reference) && !all_go)?;
        if copy.written == copy.read {
            self.disk().remove(NEXT).map_err(change("remove"))?;
            return Ok(0);
        }
        while self.extent()?.1.saturating_sub(copy.read) > TAIL_BYTES {
            copy.copy_rest(self.disk(), &file, self.extent()?.1)?;
        }
        self.disk().sync(NEXT).map_err(change("sync"))?;
        let dropped = copy.dropped;
        self.exchange(copy, survey, &file)?;
        remove_leftovers(self.disk(), generation.saturating_add(1)).map_err(change("remove"))?;
        Ok(dropped)
    }

    /// Copies the rest and puts the new file in use; no write or sync runs meanwhile.
    fn exchange(&self, mut copy: VaultCopy, survey: &ValueSurvey, file: &str) -> VaultResult {
        let _nobody_syncs = self.shared.syncing.lock();
        let mut state = self.state();
        state.refuse_if_poisoned()?;
        let change = |doing| VaultError::io(doing, keys::DATA_FILE);
        let end = frame::length(self.disk(), file).map_err(change("read"))?;
        copy.copy_rest(self.disk(), file, end)?;
        self.disk().sync(NEXT).map_err(change("sync"))?;
        let generation = state.generation.saturating_add(1);
        let named = self.disk().rename(NEXT, &generation_name(generation));
        state.poison_on_failure(named.map_err(change("name")))?;
        state.generation = generation;
        let VaultCopy { places, keys, .. } = copy;
        state.places = Some(places);
        state.recent = None;
        self.drop_keys(&mut state, &|id| keys.contains(id) || survey.named.keys.contains(id))
    }

    /// Rewrites the file of keys without those that open nothing. A key that this process sealed
    /// with is kept, since the sealed value may not be written yet.
    fn drop_keys(&self, state: &mut VaultState, opens: &dyn Fn(&KeyId) -> bool) -> VaultResult {
        let used = std::mem::take(&mut state.used);
        let needed = |id: &KeyId| opens(id) || used.contains(id);
        let left = state.keys(self.disk()).map(|keys| keys.keep_only(&needed));
        state.used = used;
        left?.map_or(Ok(()), |left| state.replace_keys(self.disk(), left, None))
    }
}

/// A new file under construction.
#[derive(Debug, Default)]
struct VaultCopy {
    /// Destroyed keys, whose values keep no content.
    erased: BTreeSet<KeyId>,
    /// The offset of each value's frame in the new file.
    places: BTreeMap<VaultRef, u64>,
    keys: BTreeSet<KeyId>,
    /// The offset up to which the old file was read, in bytes.
    read: u64,
    /// The length of the new file, in bytes.
    written: u64,
    dropped: u64,
}

impl VaultCopy {
    fn copy_rest(&mut self, disk: &dyn Disk, file: &str, end: u64) -> VaultResult {
        self.copy_kept(disk, Scan::until(disk, file, self.read, end), |_| true)
    }

    fn copy_kept(
        &mut self,
        disk: &dyn Disk,
        mut old: Scan<'_>,
        keep: impl Fn(VaultRef) -> bool,
    ) -> VaultResult {
        let mut piece = Vec::new();
        while let Some((_, payload)) =
            old.step().map_err(VaultError::io("read", keys::DATA_FILE))?
        {
            self.add(&mut piece, &payload, &keep);
            if piece.len() >= PIECE_BYTES {
                self.write(disk, &mut piece)?;
            }
        }
        self.read = old.end;
        self.write(disk, &mut piece)
    }

    fn add(&mut self, piece: &mut Vec<u8>, payload: &[u8], keep: impl Fn(VaultRef) -> bool) {
        let Some(blob) = Blob::read(payload).filter(|blob| keep(blob.reference)) else {
            self.dropped = self.dropped.saturating_add(1);
            return;
        };
        self.places.insert(blob.reference, self.written.saturating_add(to_u64(piece.len())));
        self.keys.insert(blob.key);
        let is_erased = self.erased.contains(&blob.key);
        let kept = if is_erased { blob.without_content(payload) } else { payload };
        piece.extend_from_slice(&frame::frame(kept));
    }

    fn write(&mut self, disk: &dyn Disk, piece: &mut Vec<u8>) -> VaultResult {
        if !piece.is_empty() {
            let written = disk.write_at(NEXT, self.written, piece);
            written.map_err(VaultError::io("write", keys::DATA_FILE))?;
            self.written = self.written.saturating_add(to_u64(piece.len()));
            piece.clear();
        }
        Ok(())
    }
}

/// Bytes without a value or key: the rest of a write that was never acknowledged, or damage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gap {
    /// The file within `STATE/vault`.
    pub file: &'static str,
    pub offset: u64,
    pub bytes: u64,
}

impl Vault {
    /// Reads both files to their ends, and returns the bytes that are neither a value nor a key.
    pub fn find_gaps(&self) -> VaultResult<Vec<Gap>> {
        let mut gaps = Vec::new();
        let data = self.state().file();
        for (file, called) in [(keys::KEYS_FILE, keys::KEYS_FILE), (data.as_str(), keys::DATA_FILE)]
        {
            self.gaps_of(file, called, &mut gaps).map_err(VaultError::io("read", called))?;
        }
        Ok(gaps)
    }

    fn gaps_of(&self, file: &str, called: &'static str, gaps: &mut Vec<Gap>) -> io::Result<()> {
        let mut scan = Scan::new(self.disk(), file, 0)?;
        let mut end = 0_u64;
        let mut gap = |from: u64, to: u64| {
            if to > from {
                gaps.push(Gap { file: called, offset: from, bytes: to.saturating_sub(from) });
            }
        };
        while let Some((at, payload)) = scan.step()? {
            gap(end, at);
            end = at.saturating_add(frame::size(payload.len()));
        }
        gap(end, frame::length(self.disk(), file)?);
        Ok(())
    }

    /// Exchanges the master key, durably.
    ///
    /// # Errors
    /// If the state has or had this key, or a data key is damaged, the vault stays as it was. If
    /// the disk refuses, either key may open the vault, and the vault accepts nothing more.
    pub fn rekey(
        &self,
        new: &MasterKey,
        said: (DateTime<Utc>, String),
        rng: &mut dyn CryptoRng,
    ) -> VaultResult<Rekeyed> {
        let mut state = self.state();
        state.refuse_if_poisoned()?;
        state.keys(self.disk())?;
        let (wrapping, rekeyed) = state.wrapping.exchange(new, said, rng)?;
        let keys = state.keys.as_ref().map(|keys| keys.rewrap(&state.wrapping, &wrapping, rng));
        state.replace_keys(self.disk(), keys.transpose()?.unwrap_or_default(), Some(wrapping))?;
        Ok(rekeyed)
    }

    /// Returns true if a write failed: after an exchange, either key may open the vault.
    pub fn is_in_doubt(&self) -> bool {
        self.state().poisoned.is_some()
    }

    pub fn identity(&self) -> Identity {
        self.state().wrapping.identity.clone()
    }
}

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
    BASE64_STANDARD_NO_PAD.decode(text).ok()?.get(16..32)?.try_into().ok()
}

#[cfg(test)]
mod tests;
