//! Values around the writer: commits, the fold that applies them, the notes of changed resources, the
//! durations of syncs, and the parts that a closed writer returns.
//!
//! The fold notes a resource whenever a record changes its observed state. The owner of a copy takes
//! the notes and reads these resources again, so no copy depends on the writer of a record.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use parking_lot::Mutex;

use crate::base::id::Key;
use crate::store::error::StoreError;
use crate::store::journal::chain::Head;
use crate::store::journal::log::Journal;
use crate::store::vault::blob::SealedValue;
use crate::store::vault::values::Vault;

/// Records and sealed values that a caller appends together.
#[derive(Debug, Clone)]
pub struct Commit<R> {
    /// Values that the records refer to; durable before them.
    pub blobs: Vec<SealedValue>,
    /// The records, in order.
    pub records: Vec<R>,
}

impl<R> Commit<R> {
    /// Returns a commit of records without sealed values.
    pub fn of(records: Vec<R>) -> Self {
        Self { blobs: Vec::new(), records }
    }
}

/// Folds durable records into the index.
pub trait Fold<R>: Send {
    /// Applies records with their sequences, in order and in one transaction of the index together
    /// with `head`, which is the last of them.
    fn apply(&mut self, batch: &[(u64, R)], head: Head) -> Result<(), StoreError>;

    /// Returns true if something leaves the process once this record is durable: then the journal's
    /// mark is made durable before the caller is acknowledged.
    fn sends_effect(&self, _record: &R) -> bool {
        false
    }

    /// Returns the notes of the resources that applied records changed.
    fn changed_resources(&self) -> ChangedResources {
        ChangedResources::default()
    }
}

/// The parts that a closed writer returns.
#[derive(Debug)]
pub struct WriterParts<F> {
    /// The journal; everything in it is durable.
    pub journal: Journal,
    pub vault: Vault,
    /// The fold; it includes the whole journal, unless a write failed.
    pub fold: F,
}

/// The upper bounds of the classes, in microseconds, cumulative like a histogram.
pub const CLASSES_US: [u64; 8] = [100, 250, 500, 1_000, 5_000, 25_000, 100_000, 1_000_000];

/// Syncs of the journal since the process began.
#[derive(Debug, Default)]
pub struct Syncs {
    classes: [AtomicU64; 8],
    count: AtomicU64,
    total_us: AtomicU64,
}

/// The counts at one moment.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SyncCounts {
    /// The number of syncs that took no longer than each of [`CLASSES_US`].
    pub within: [u64; 8],
    /// The number of all syncs.
    pub count: u64,
    /// The total duration of all syncs, in microseconds.
    pub total_us: u64,
}

impl Syncs {
    /// Counts one sync of this duration.
    pub(crate) fn record(&self, time: Duration) {
        let micros = u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
        for (class, end) in self.classes.iter().zip(CLASSES_US) {
            if micros <= end {
                class.fetch_add(1, Ordering::Relaxed);
            }
        }
        self.count.fetch_add(1, Ordering::Relaxed);
        self.total_us.fetch_add(micros, Ordering::Relaxed);
    }

    /// Returns the counts so far.
    pub fn counts(&self) -> SyncCounts {
        let mut within = [0; 8];
        for (count, class) in within.iter_mut().zip(&self.classes) {
            *count = class.load(Ordering::Relaxed);
        }
        let (count, total_us) =
            (self.count.load(Ordering::Relaxed), self.total_us.load(Ordering::Relaxed));
        SyncCounts { within, count, total_us }
    }
}

/// The notes. Clones share them.
#[derive(Debug, Clone, Default)]
pub struct ChangedResources(Arc<Mutex<BTreeSet<Key>>>);

impl ChangedResources {
    /// Notes these resources.
    pub(crate) fn note(&self, keys: impl IntoIterator<Item = Key>) {
        self.0.lock().extend(keys);
    }

    /// Takes every note.
    pub fn take(&self) -> BTreeSet<Key> {
        std::mem::take(&mut *self.0.lock())
    }

    /// Removes the note of one resource, which is about to be read again.
    pub fn forget(&self, key: &Key) {
        self.0.lock().remove(key);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sync_counts_in_every_class_that_is_long_enough() {
        let syncs = Syncs::default();
        syncs.record(Duration::from_micros(250));
        syncs.record(Duration::from_secs(2));
        let counts = syncs.counts();
        assert_eq!(counts.within, [0, 1, 1, 1, 1, 1, 1, 1]);
        assert_eq!((counts.count, counts.total_us), (2, 2_000_250));
    }
}
