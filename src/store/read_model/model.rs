//! Typed tables over the entries of the index.
//!
//! An entry's key is the prefix of its table and the parts of its own key, joined by zero bytes. The
//! tables are declared beside their reads; this module alone turns keys and values into bytes.

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::fmt::Display;
use std::marker::PhantomData;
use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::base::hash::Digest;
use crate::base::id::{IntentId, Key};
use crate::model::events::hook_run::ActionRequestId;
use crate::store::index::ordered::{Batch, Index, IndexError, IndexResult, ScanResult};

#[derive(Debug, thiserror::Error)]
pub enum ReadModelError {
    #[error(transparent)]
    Index(#[from] IndexError),
    /// A value written by the fold cannot be decoded: the index is damaged or of another version.
    #[error("read the entry {key} of the index: {detail}")]
    Unreadable { key: String, detail: String },
}

/// Result of a read of the index, or of the encoding of an entry.
pub type ReadResult<T = ()> = Result<T, ReadModelError>;

impl ReadModelError {
    fn unreadable(key: &[u8], detail: impl Display) -> Self {
        let key = String::from_utf8_lossy(key).into_owned();
        Self::Unreadable { key, detail: detail.to_string() }
    }
}

#[derive(Debug, Clone)]
pub struct ReadModel {
    pub(crate) index: Arc<dyn Index>,
}

impl ReadModel {
    pub fn new(index: Arc<dyn Index>) -> Self {
        Self { index }
    }
}

/// Declares reads of the state that are one read of a table.
macro_rules! table_reads {
    ($($(#[$doc:meta])* fn $name:ident($($argument:ident: $type:ty),*) -> $result:ty
        = $table:ident.$read:ident($($key:expr)?);)*) => {
        impl ReadModel {$(
            $(#[$doc])*
            pub fn $name(&self, $($argument: $type),*) -> ReadResult<$result> {
                $table.$read(self $(, $key)?)
            }
        )*}
    };
}
pub(crate) use table_reads;

/// Entries of the index, as they are or as they will be once a batch is applied.
pub(crate) trait Entries {
    fn value(&self, key: &[u8]) -> IndexResult<Option<Vec<u8>>>;

    /// Returns up to `most` entries under `prefix`, in order, behind the key `after`.
    fn scan_from(&self, prefix: &[u8], after: Option<&[u8]>, most: usize) -> ScanResult;

    fn scan(&self, prefix: &[u8]) -> ScanResult {
        self.scan_from(prefix, None, usize::MAX)
    }

    fn read<T: DeserializeOwned>(&self, key: &[u8]) -> ReadResult<Option<T>> {
        self.value(key)?.map(|value| decode(key, &value)).transpose()
    }
}

impl Entries for ReadModel {
    fn value(&self, key: &[u8]) -> IndexResult<Option<Vec<u8>>> {
        self.index.get(key)
    }

    fn scan_from(&self, prefix: &[u8], after: Option<&[u8]>, most: usize) -> ScanResult {
        self.index.scan_from(prefix, after, most)
    }
}

/// A batch under construction over an index. Reads see the changes.
pub(crate) struct Changes<'a> {
    pub(crate) index: &'a dyn Index,
    pub(crate) batch: &'a mut Batch,
}

impl<'a> Changes<'a> {
    pub(crate) fn new(index: &'a dyn Index, batch: &'a mut Batch) -> Self {
        Self { index, batch }
    }

    pub(crate) fn write(&mut self, key: &[u8], value: &impl Serialize) -> ReadResult {
        write(self.batch, key, value)
    }

    pub(crate) fn remove_under(&mut self, prefix: &[u8]) -> ReadResult {
        for (key, _) in self.scan(prefix)? {
            self.batch.remove(key);
        }
        Ok(())
    }
}

impl Entries for Changes<'_> {
    fn value(&self, key: &[u8]) -> IndexResult<Option<Vec<u8>>> {
        self.batch.get(self.index, key)
    }

    fn scan_from(&self, prefix: &[u8], after: Option<&[u8]>, most: usize) -> ScanResult {
        self.batch.scan_from(self.index, prefix, after, most)
    }
}

/// Entries with keys of the type `K` behind one prefix, and values of the type `V`.
pub(crate) struct Table<K, V> {
    prefix: Cow<'static, [u8]>,
    types: PhantomData<fn(K) -> V>,
}

impl<K, V> Table<K, V> {
    pub(crate) const fn new(prefix: &'static [u8]) -> Self {
        Self { prefix: Cow::Borrowed(prefix), types: PhantomData }
    }

    pub(crate) fn prefix(&self) -> &[u8] {
        &self.prefix
    }
}

impl<K: EntryKey, V> Table<K, V> {
    pub(crate) fn key(&self, key: K::Of<'_>) -> Vec<u8> {
        let mut bytes = self.prefix.to_vec();
        K::append(key, &mut bytes);
        bytes
    }

    pub(crate) fn has(&self, entries: &impl Entries, key: K::Of<'_>) -> ReadResult<bool> {
        Ok(entries.value(&self.key(key))?.is_some())
    }

    pub(crate) fn is_empty(&self, entries: &impl Entries) -> ReadResult<bool> {
        Ok(entries.scan_from(&self.prefix, None, 1)?.is_empty())
    }

    /// Writes an entry without a value.
    pub(crate) fn mark(&self, changes: &mut Changes<'_>, key: K::Of<'_>) {
        changes.batch.put(self.key(key), Vec::new());
    }

    pub(crate) fn remove(&self, changes: &mut Changes<'_>, key: K::Of<'_>) {
        changes.batch.remove(self.key(key));
    }
}

impl<K: ParsedKey, V> Table<K, V> {
    /// Parses the part of an entry's key behind the prefix.
    pub(crate) fn parse(&self, key: &[u8]) -> ReadResult<K> {
        K::parse(key.get(self.prefix.len()..).unwrap_or_default())
    }

    pub(crate) fn keys(&self, entries: &impl Entries) -> ReadResult<Vec<K>> {
        entries.scan(&self.prefix)?.iter().map(|(key, _)| self.parse(key)).collect()
    }
}

impl<K: EntryKey, V: DeserializeOwned> Table<K, V> {
    pub(crate) fn get(&self, entries: &impl Entries, key: K::Of<'_>) -> ReadResult<Option<V>> {
        entries.read(&self.key(key))
    }

    pub(crate) fn list(&self, entries: &impl Entries) -> ReadResult<Vec<V>> {
        entries.scan(&self.prefix)?.iter().map(|(key, value)| decode(key, value)).collect()
    }
}

impl<K: ParsedKey, V: DeserializeOwned> Table<K, V> {
    pub(crate) fn entries(&self, entries: &impl Entries) -> ReadResult<Vec<(K, V)>> {
        self.entries_after(entries, None, usize::MAX)
    }

    pub(crate) fn entries_after(
        &self,
        entries: &impl Entries,
        after: Option<K::Of<'_>>,
        most: usize,
    ) -> ReadResult<Vec<(K, V)>> {
        let after = after.map(|after| self.key(after));
        let found = entries.scan_from(&self.prefix, after.as_deref(), most)?;
        found.iter().map(|(key, value)| Ok((self.parse(key)?, decode(key, value)?))).collect()
    }
}

impl<K: EntryKey, V: Serialize> Table<K, V> {
    pub(crate) fn put(&self, changes: &mut Changes<'_>, key: K::Of<'_>, value: &V) -> ReadResult {
        changes.write(&self.key(key), value)
    }
}

impl<A: EntryKey, B, V> Table<(A, B), V> {
    /// Returns the entries whose keys begin with this part.
    pub(crate) fn under(&self, first: A::Of<'_>) -> Table<B, V> {
        let mut prefix = self.prefix.to_vec();
        A::append(first, &mut prefix);
        prefix.push(0);
        Table { prefix: Cow::Owned(prefix), types: PhantomData }
    }
}

/// The entries of hooks' actions of one event lie together, by the actions' names.
impl<V> Table<ActionRequestId, V> {
    pub(crate) fn of_event(&self, merchant: &Key, event: &str) -> Table<String, V> {
        let mut prefix = self.prefix.to_vec();
        <(Key, String)>::append((merchant, event), &mut prefix);
        prefix.push(0);
        Table { prefix: Cow::Owned(prefix), types: PhantomData }
    }
}

/// The part of an entry's key behind the prefix of its table.
pub(crate) trait EntryKey {
    /// The borrowed form.
    type Of<'k>;

    fn append(key: Self::Of<'_>, bytes: &mut Vec<u8>);
}

/// A key that can be read back from its bytes.
pub(crate) trait ParsedKey: EntryKey + Sized {
    fn parse(bytes: &[u8]) -> ReadResult<Self>;
}

/// The only entry of its table.
impl EntryKey for () {
    type Of<'k> = ();

    fn append((): (), _: &mut Vec<u8>) {}
}

impl EntryKey for Key {
    type Of<'k> = &'k Self;

    fn append(key: &Self, bytes: &mut Vec<u8>) {
        bytes.extend(key.to_string().as_bytes());
    }
}

impl ParsedKey for Key {
    fn parse(bytes: &[u8]) -> ReadResult<Self> {
        let unreadable = |detail: &dyn Display| ReadModelError::unreadable(bytes, detail);
        let text = std::str::from_utf8(bytes).map_err(|error| unreadable(&error))?;
        text.parse().map_err(|error| unreadable(&error))
    }
}

impl EntryKey for String {
    type Of<'k> = &'k str;

    fn append(text: &str, bytes: &mut Vec<u8>) {
        bytes.extend(text.as_bytes());
    }
}

impl ParsedKey for String {
    fn parse(bytes: &[u8]) -> ReadResult<Self> {
        Ok(Self::from_utf8_lossy(bytes).into_owned())
    }
}

/// The text holds no zero byte.
impl<B: ParsedKey> ParsedKey for (String, B) {
    fn parse(bytes: &[u8]) -> ReadResult<Self> {
        let mut parts = bytes.splitn(2, |byte| *byte == 0);
        let (first, second) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
        Ok((String::parse(first)?, B::parse(second)?))
    }
}

impl EntryKey for Digest {
    type Of<'k> = &'k Self;

    fn append(digest: &Self, bytes: &mut Vec<u8>) {
        bytes.extend(digest.as_bytes());
    }
}

impl EntryKey for u32 {
    type Of<'k> = Self;

    fn append(number: Self, bytes: &mut Vec<u8>) {
        bytes.extend(number.to_be_bytes());
    }
}

impl EntryKey for u64 {
    type Of<'k> = Self;

    fn append(number: Self, bytes: &mut Vec<u8>) {
        bytes.extend(number.to_be_bytes());
    }
}

impl ParsedKey for u64 {
    fn parse(bytes: &[u8]) -> ReadResult<Self> {
        Ok(bytes.try_into().map_or(0, Self::from_be_bytes))
    }
}

impl EntryKey for IntentId {
    type Of<'k> = Self;

    fn append(id: Self, bytes: &mut Vec<u8>) {
        u64::append(id.get(), bytes);
    }
}

impl ParsedKey for IntentId {
    fn parse(bytes: &[u8]) -> ReadResult<Self> {
        Ok(Self::new(u64::parse(bytes)?))
    }
}

impl EntryKey for ActionRequestId {
    type Of<'k> = &'k Self;

    fn append(id: &Self, bytes: &mut Vec<u8>) {
        <((Key, String), String)>::append(((&id.merchant, &id.event), id.name.as_str()), bytes);
    }
}

impl<A: EntryKey, B: EntryKey> EntryKey for (A, B) {
    type Of<'k> = (A::Of<'k>, B::Of<'k>);

    fn append((first, second): Self::Of<'_>, bytes: &mut Vec<u8>) {
        A::append(first, bytes);
        bytes.push(0);
        B::append(second, bytes);
    }
}

pub(crate) fn write<T: Serialize>(batch: &mut Batch, key: &[u8], value: &T) -> ReadResult {
    let mut bytes = Vec::new();
    let written = ciborium::into_writer(value, &mut bytes);
    written.map_err(|error| ReadModelError::unreadable(key, error))?;
    batch.put(key, bytes);
    Ok(())
}

pub(crate) fn decode<T: DeserializeOwned>(key: &[u8], value: &[u8]) -> ReadResult<T> {
    cbor4ii::serde::from_slice(value).map_err(|error| ReadModelError::unreadable(key, error))
}
