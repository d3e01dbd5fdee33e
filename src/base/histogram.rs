//! Counts of durations in classes, as a histogram of Prometheus shows them.
//!
//! Guarantee: recording takes no lock. Counts that are read meanwhile may lack the newest duration.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// Counter of durations by class; the bounds are in microseconds and rise.
#[derive(Debug)]
pub struct DurationHistogram<const N: usize> {
    bounds_us: [u64; N],
    within: [AtomicU64; N],
    count: AtomicU64,
    total_us: AtomicU64,
}

/// The counts of a histogram at one moment.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HistogramCounts {
    /// Each upper bound in microseconds, with the number of durations that are no longer.
    pub within_us: Vec<(u64, u64)>,
    pub count: u64,
    /// The sum of all durations, in microseconds.
    pub total_us: u64,
}

impl<const N: usize> DurationHistogram<N> {
    pub fn new(bounds_us: [u64; N]) -> Self {
        let within = std::array::from_fn(|_| AtomicU64::default());
        Self { bounds_us, within, count: AtomicU64::default(), total_us: AtomicU64::default() }
    }

    pub fn record(&self, time: Duration) {
        let micros = u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
        for (class, bound) in self.within.iter().zip(self.bounds_us) {
            if micros <= bound {
                class.fetch_add(1, Ordering::Relaxed);
            }
        }
        self.count.fetch_add(1, Ordering::Relaxed);
        self.total_us.fetch_add(micros, Ordering::Relaxed);
    }

    pub fn counts(&self) -> HistogramCounts {
        let load = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let within_us = self.bounds_us.into_iter().zip(self.within.iter().map(load)).collect();
        HistogramCounts { within_us, count: load(&self.count), total_us: load(&self.total_us) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_counts_in_every_class_that_is_long_enough() {
        let histogram = DurationHistogram::new([100, 250, 500]);
        histogram.record(Duration::from_micros(250));
        histogram.record(Duration::from_secs(2));
        let counts = histogram.counts();
        assert_eq!(counts.within_us, [(100, 0), (250, 1), (500, 1)]);
        assert_eq!((counts.count, counts.total_us), (2, 2_000_250));
    }
}
