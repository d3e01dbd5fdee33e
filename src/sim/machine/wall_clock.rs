//! Wall clock of the machine: it can be wrong and jump, while the service's own clock stays right.

use std::sync::atomic::{AtomicI64, Ordering};

use chrono::{DateTime, TimeDelta, Utc};

use super::journal_decoder::DurableRecord;
use crate::base::clock::{Clock, SharedClock};
use crate::model::record::Record;

/// Clock that is `ahead_s` seconds ahead of the right one.
#[derive(Debug)]
pub(crate) struct WallClock {
    true_clock: SharedClock,
    ahead_s: AtomicI64,
}

impl WallClock {
    /// Returns a clock that is right.
    pub(crate) fn new(right: SharedClock) -> Self {
        Self { true_clock: right, ahead_s: AtomicI64::new(0) }
    }

    /// Moves the clock by `seconds`, back if negative. Returns the new distance from the right
    /// time.
    pub(crate) fn jump(&self, seconds: i64) -> i64 {
        let ahead = self.ahead_s().saturating_add(seconds);
        self.ahead_s.store(ahead, Ordering::Relaxed);
        ahead
    }

    /// Returns the seconds by which the clock is ahead of the right time.
    pub(crate) fn ahead_s(&self) -> i64 {
        self.ahead_s.load(Ordering::Relaxed)
    }
}

impl Clock for WallClock {
    fn now(&self) -> DateTime<Utc> {
        let ahead = TimeDelta::seconds(self.ahead_s());
        self.true_clock.now().checked_add_signed(ahead).unwrap_or(DateTime::<Utc>::MAX_UTC)
    }
}

/// Distances of the machine's clock in seconds, each with the record after which it began.
#[derive(Debug, Clone, Default)]
pub(crate) struct ClockJumps(Vec<(u64, i64)>);

impl ClockJumps {
    /// Notes the distance of the clock from the record after `behind` on.
    pub(crate) fn note(&mut self, behind: u64, ahead_s: i64) {
        self.0.push((behind, ahead_s));
    }

    /// Notes that the journal now ends at the record `behind`, and the current distance of the
    /// clock.
    pub(crate) fn cut(&mut self, behind: u64, ahead_s: i64) {
        self.0.retain(|(from, _)| *from < behind);
        self.note(behind, ahead_s);
    }

    /// Returns the records with the right times of their writing.
    pub(crate) fn correct_times(&self, mut entries: Vec<DurableRecord>) -> Vec<DurableRecord> {
        for entry in &mut entries {
            let before = self.0.iter().rev().find(|(behind, _)| *behind < entry.sequence);
            let ahead = TimeDelta::seconds(before.map_or(0, |(_, ahead)| *ahead));
            let right = |at: &mut DateTime<Utc>| *at = at.checked_sub_signed(ahead).unwrap_or(*at);
            if let Record::Intent(intent) = &mut entry.record {
                right(&mut intent.at);
            } else if let Record::Progress { at, .. } = &mut entry.record {
                right(at);
            }
        }
        entries
    }
}
