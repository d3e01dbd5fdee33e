//! An index in memory for keys that are paths, such as `o/card/ID` or `due/MOMENT/NUMBER`.
//!
//! Why it exists: one ordered map of a large state compares whole keys on the way to each entry.
//! Here a key is a folder and a name, and each folder has tables of its own. A folder that is seldom
//! read in order is a hash table.
//!
//! The folder of a key that ends with a number, or with two, is everything before; they are kept as
//! numbers. A number is 16 hexadecimal digits, as in a key that sorts like its number. The folder of
//! any other key is its first two parts.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;
use std::sync::Arc;

use data_encoding::HEXLOWER;
use foldhash::HashMap;
use parking_lot::RwLock;

use crate::store::index::ordered::{Batch, Index, IndexResult, KeyValue, ScanResult};

type Value = Box<[u8]>;
/// The digits of a number in a key.
const DIGITS: usize = 16;

#[derive(Debug)]
pub struct PathIndex {
    /// Beginnings of keys whose names are looked up, and seldom read in order.
    looked_up: &'static [&'static str],
    folders: RwLock<Folders>,
}

#[derive(Debug, Default)]
struct Folders {
    all: HashMap<Arc<[u8]>, Folder>,
    in_order: BTreeSet<Arc<[u8]>>,
    /// The length of all values.
    bytes: usize,
}

/// The entries of one folder, by the form of their names.
#[derive(Debug, Default)]
struct Folder {
    numbers: BTreeMap<u64, Value>,
    pairs: BTreeMap<(u64, u64), Value>,
    names: BTreeMap<Box<[u8]>, Value>,
    looked_up: HashMap<Box<[u8]>, Value>,
}

/// The place of a key within its folder.
#[derive(Debug, Clone, Copy)]
enum Place<'a> {
    Number(u64),
    Pair(u64, u64),
    Name(&'a [u8]),
}

impl PathIndex {
    /// Makes an empty index; `looked_up` are beginnings of keys that are seldom read in order.
    pub fn new(looked_up: &'static [&'static str]) -> Self {
        Self { looked_up, folders: RwLock::default() }
    }

    /// Passes every entry to `see`, in no order.
    pub(crate) fn each(&self, see: &mut dyn FnMut(&[u8], &[u8])) {
        for (folder, entries) in &self.folders.read().all {
            entries.each(&mut |name, value| see(&[folder, name].concat(), value));
        }
    }

    /// Returns the length of all values.
    pub(crate) fn bytes(&self) -> usize {
        self.folders.read().bytes
    }

    fn is_looked_up(&self, key: &[u8]) -> bool {
        self.looked_up.iter().any(|beginning| key.starts_with(beginning.as_bytes()))
    }
}

impl Index for PathIndex {
    fn get(&self, key: &[u8]) -> IndexResult<Option<Vec<u8>>> {
        let mut found = None;
        self.with_value(key, &mut |value| found = Some(value.to_vec()))?;
        Ok(found)
    }

    fn with_value(&self, key: &[u8], see: &mut dyn FnMut(&[u8])) -> IndexResult {
        let (folder, place) = place(key);
        let folders = self.folders.read();
        let found = folders.all.get(folder).and_then(|entries| entries.get(place));
        found.into_iter().for_each(see);
        Ok(())
    }

    fn scan_from(&self, prefix: &[u8], after: Option<&[u8]>, limit: usize) -> ScanResult {
        let mut found = Vec::new();
        self.folders.read().visit(prefix, &mut |folder, entries| {
            entries.scan(&Range { folder, prefix, after, limit }, &mut found);
        });
        found.sort_unstable();
        found.truncate(limit);
        Ok(found)
    }

    fn count(&self, prefix: &[u8]) -> IndexResult<usize> {
        let mut count: usize = 0;
        self.folders.read().visit(prefix, &mut |folder, entries| {
            let within = if folder.starts_with(prefix) {
                entries.len()
            } else {
                let (after, limit, mut found) = (None, usize::MAX, Vec::new());
                entries.scan(&Range { folder, prefix, after, limit }, &mut found);
                found.len()
            };
            count = count.saturating_add(within);
        });
        Ok(count)
    }

    fn apply(&self, batch: Batch) -> IndexResult {
        let batch = batch.check_keys()?;
        let mut folders = self.folders.write();
        for (key, change) in batch.changes {
            let (folder, place) = place(&key);
            match change {
                Some(value) => folders.put(folder, place, value.into(), self.is_looked_up(&key)),
                None => folders.remove(folder, place),
            }
        }
        Ok(())
    }

    fn flush(&self) -> IndexResult {
        Ok(())
    }
}

/// Returns the folder of a key, which ends with `/` unless it is empty, and the place within it.
fn place(key: &[u8]) -> (&[u8], Place<'_>) {
    let (folder, name) = split(key);
    let Some(number) = number(name) else {
        let slashes = key.iter().enumerate().filter(|(_, byte)| **byte == b'/');
        let end = slashes.take(2).last().map_or(0, |(at, _)| at.saturating_add(1));
        let (folder, name) = key.split_at(end);
        return (folder, Place::Name(name));
    };
    let (above, before) = split(folder.strip_suffix(b"/").unwrap_or_default());
    match self::number(before) {
        Some(first) => (above, Place::Pair(first, number)),
        None => (folder, Place::Number(number)),
    }
}

fn split(key: &[u8]) -> (&[u8], &[u8]) {
    let end = key.iter().rposition(|byte| *byte == b'/').map_or(0, |at| at.saturating_add(1));
    key.split_at(end)
}

/// Parses a number of exactly 16 lower-case digits.
fn number(text: &[u8]) -> Option<u64> {
    let digit = |byte: u8| match byte {
        b'0'..=b'9' => Some(byte.wrapping_sub(b'0')),
        b'a'..=b'f' => Some(byte.wrapping_sub(b'a').wrapping_add(10)),
        _ => None,
    };
    let add = |number: u64, byte: &u8| Some((number << 4) | u64::from(digit(*byte)?));
    if text.len() == DIGITS { text.iter().try_fold(0, add) } else { None }
}

impl Folders {
    fn put(&mut self, folder: &[u8], place: Place<'_>, value: Value, looked_up: bool) {
        self.bytes = self.bytes.saturating_add(value.len());
        let replaced = if let Some(entries) = self.all.get_mut(folder) {
            entries.put(place, value, looked_up)
        } else {
            let name: Arc<[u8]> = folder.into();
            self.in_order.insert(name.clone());
            self.all.entry(name).or_default().put(place, value, looked_up)
        };
        self.subtract(replaced);
    }

    fn subtract(&mut self, value: Option<Value>) {
        self.bytes = self.bytes.saturating_sub(value.map_or(0, |value| value.len()));
    }

    fn remove(&mut self, folder: &[u8], place: Place<'_>) {
        let Some(entries) = self.all.get_mut(folder) else { return };
        let removed = entries.remove(place);
        if entries.len() == 0 {
            self.all.remove(folder);
            self.in_order.remove(folder);
        }
        self.subtract(removed);
    }

    /// Passes each folder that can have entries under `prefix` to `see`.
    fn visit(&self, prefix: &[u8], see: &mut dyn FnMut(&[u8], &Folder)) {
        let ends = prefix.iter().enumerate().filter(|(_, byte)| **byte == b'/');
        let above = ends.map(|(at, _)| at.saturating_add(1)).filter(|end| *end < prefix.len());
        for end in std::iter::once(0).filter(|_| !prefix.is_empty()).chain(above) {
            let folder = prefix.get(..end).unwrap_or_default();
            self.all.get(folder).into_iter().for_each(|entries| see(folder, entries));
        }
        let from = (Bound::Included(prefix), Bound::Unbounded);
        let within =
            self.in_order.range::<[u8], _>(from).take_while(|name| name.starts_with(prefix));
        within
            .for_each(|name| self.all.get(name).into_iter().for_each(|entries| see(name, entries)));
    }
}

/// The part of a scan that concerns one folder.
struct Range<'a> {
    folder: &'a [u8],
    prefix: &'a [u8],
    after: Option<&'a [u8]>,
    limit: usize,
}

impl Range<'_> {
    /// Returns true if every key of the folder is at or before `after`.
    fn is_over(&self) -> bool {
        self.after.is_some_and(|after| after > self.folder && !after.starts_with(self.folder))
    }

    fn fits(&self, key: &[u8]) -> bool {
        key.starts_with(self.prefix) && self.after.is_none_or(|after| key > after)
    }

    /// Returns the part of `after` within this folder, if it is in it.
    fn after_within(&self) -> Option<&[u8]> {
        self.after.and_then(|after| after.strip_prefix(self.folder))
    }

    /// Adds the entries that fit, of entries in order that may begin before the first one that fits.
    fn take<'v>(
        &self,
        entries: impl Iterator<Item = (Vec<u8>, &'v Value)>,
        found: &mut Vec<KeyValue>,
    ) {
        let keys = entries.map(|(name, value)| ([self.folder, &name].concat(), value));
        let fitting = keys.skip_while(|(key, _)| !self.fits(key));
        let fitting = fitting.take_while(|(key, _)| self.fits(key)).take(self.limit);
        found.extend(fitting.map(|(key, value)| (key, value.to_vec())));
    }
}

impl Folder {
    fn get(&self, place: Place<'_>) -> Option<&[u8]> {
        let found = match place {
            Place::Number(number) => self.numbers.get(&number),
            Place::Pair(first, second) => self.pairs.get(&(first, second)),
            Place::Name(name) => self.names.get(name).or_else(|| self.looked_up.get(name)),
        };
        found.map(|value| &**value)
    }

    /// Returns the value that it replaces.
    fn put(&mut self, place: Place<'_>, value: Value, looked_up: bool) -> Option<Value> {
        match place {
            Place::Number(number) => self.numbers.insert(number, value),
            Place::Pair(first, second) => self.pairs.insert((first, second), value),
            Place::Name(name) if looked_up => match self.looked_up.get_mut(name) {
                Some(known) => Some(std::mem::replace(known, value)),
                None => self.looked_up.insert(name.into(), value),
            },
            Place::Name(name) => self.names.insert(name.into(), value),
        }
    }

    fn remove(&mut self, place: Place<'_>) -> Option<Value> {
        match place {
            Place::Number(number) => self.numbers.remove(&number),
            Place::Pair(first, second) => self.pairs.remove(&(first, second)),
            Place::Name(name) => self.names.remove(name).or_else(|| self.looked_up.remove(name)),
        }
    }

    fn len(&self) -> usize {
        let numbers = self.numbers.len().saturating_add(self.pairs.len());
        numbers.saturating_add(self.names.len()).saturating_add(self.looked_up.len())
    }

    fn scan(&self, range: &Range<'_>, found: &mut Vec<KeyValue>) {
        if range.is_over() {
            return;
        }
        let after = range.after_within().unwrap_or_default();
        let from = number(after.get(..DIGITS).unwrap_or_default()).unwrap_or(0);
        range.take(self.numbers.range(from..).map(|(at, value)| (text(*at), value)), found);
        let second = after.get(DIGITS..).and_then(|rest| number(rest.strip_prefix(b"/")?));
        let pairs = self.pairs.range((from, second.unwrap_or(0))..);
        range.take(pairs.map(|(at, value)| (text_of_pair(*at), value)), found);
        let wanted = range.prefix.strip_prefix(range.folder).unwrap_or_default();
        let names =
            self.names.range::<[u8], _>((Bound::Included(wanted.max(after)), Bound::Unbounded));
        range.take(names.map(|(name, value)| (name.to_vec(), value)), found);
        if !self.looked_up.is_empty() {
            let mut names: Vec<_> = self.looked_up.iter().collect();
            names.sort_unstable();
            range.take(names.into_iter().map(|(name, value)| (name.to_vec(), value)), found);
        }
    }

    fn each(&self, see: &mut dyn FnMut(&[u8], &[u8])) {
        self.numbers.iter().for_each(|(at, value)| see(&text(*at), value));
        self.pairs.iter().for_each(|(at, value)| see(&text_of_pair(*at), value));
        self.names.iter().for_each(|(name, value)| see(name, value));
        self.looked_up.iter().for_each(|(name, value)| see(name, value));
    }
}

fn text(number: u64) -> Vec<u8> {
    HEXLOWER.encode(&number.to_be_bytes()).into_bytes()
}

fn text_of_pair((first, second): (u64, u64)) -> Vec<u8> {
    [text(first).as_slice(), b"/", &text(second)].concat()
}
