//! Counts the calls that went out since the process began: their durations and outcomes. Their answers
//! also show how far this machine's clock is from the service's.
//!
//! Calls that the gate withheld did not go out, and are not counted here.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::base::histogram::{DurationHistogram, HistogramCounts};
use crate::model::outcome::Outcome;

/// The upper bounds of the classes of calls, in microseconds.
const CALL_BOUNDS_US: [u64; 10] = [
    25_000, 50_000, 100_000, 250_000, 500_000, 1_000_000, 2_500_000, 5_000_000, 10_000_000,
    30_000_000,
];

#[derive(Debug)]
pub(crate) struct CallLog {
    times: DurationHistogram<10>,
    done: AtomicU64,
    refused: AtomicU64,
    not_sent: AtomicU64,
    in_doubt: AtomicU64,
    /// Seconds by which this machine's clock is ahead of the service's, as the last answer showed.
    clock_ahead_s: AtomicI64,
}

/// The counts of calls at one moment.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallTotals {
    /// Durations from the permit of the gate to the end of the answer.
    pub times: HistogramCounts,
    pub by_outcome: BTreeMap<String, u64>,
}

impl Default for CallLog {
    fn default() -> Self {
        let times = DurationHistogram::new(CALL_BOUNDS_US);
        let zero = AtomicU64::default;
        let clock_ahead_s = AtomicI64::default();
        Self {
            times,
            done: zero(),
            refused: zero(),
            not_sent: zero(),
            in_doubt: zero(),
            clock_ahead_s,
        }
    }
}

impl CallLog {
    pub(crate) fn record(&self, time: Duration, outcome: &Outcome) {
        self.times.record(time);
        let number = match outcome {
            Outcome::Done { .. } => &self.done,
            Outcome::Refused { .. } => &self.refused,
            Outcome::NotSent { .. } => &self.not_sent,
            Outcome::InDoubt { .. } => &self.in_doubt,
        };
        number.fetch_add(1, Ordering::Relaxed);
    }

    /// Records the difference of the clocks; a difference that begins or ends is logged.
    pub(crate) fn record_clock(&self, ahead_s: i64) {
        let before = self.clock_ahead_s.swap(ahead_s, Ordering::Relaxed);
        match (before, ahead_s) {
            (0, 0) => {}
            (0, _) => tracing::warn!(ahead_s, "this machine's clock differs from the service's"),
            (_, 0) => tracing::info!("this machine's clock agrees with the service's again"),
            _ => {}
        }
    }

    /// Returns the seconds by which this machine's clock is ahead of the service's.
    pub(crate) fn clock_ahead_s(&self) -> i64 {
        self.clock_ahead_s.load(Ordering::Relaxed)
    }

    pub(crate) fn counts(&self) -> CallTotals {
        let Self { times, done, refused, not_sent, in_doubt, clock_ahead_s: _ } = self;
        let numbers =
            [("done", done), ("refused", refused), ("not_sent", not_sent), ("in_doubt", in_doubt)];
        let load =
            |(word, number): (&str, &AtomicU64)| (word.to_owned(), number.load(Ordering::Relaxed));
        CallTotals { times: times.counts(), by_outcome: numbers.map(load).into() }
    }
}
