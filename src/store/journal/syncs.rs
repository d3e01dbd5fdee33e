//! Durations of the journal's syncs: counted by the writer, read by metrics.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

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
