//! The clock on the wall of the machine: it can be wrong, and jump, while the service's own stays right.

use std::sync::atomic::{AtomicI64, Ordering};

use chrono::{DateTime, TimeDelta, Utc};

use crate::base::clock::{Clock, SharedClock};
use crate::model::record::Record;
use crate::sim::durable::Entry;

/// A clock that is so many seconds ahead of the right one.
#[derive(Debug)]
pub(super) struct Wall {
    right: SharedClock,
    ahead_s: AtomicI64,
}

impl Wall {
    /// A clock that is right.
    pub(super) fn new(right: SharedClock) -> Self {
        Self { right, ahead_s: AtomicI64::new(0) }
    }

    /// It jumps by so many seconds, back or forth; answers how far ahead it is now.
    pub(super) fn jump(&self, seconds: i64) -> i64 {
        let ahead = self.ahead_s().saturating_add(seconds);
        self.ahead_s.store(ahead, Ordering::Relaxed);
        ahead
    }

    /// How far ahead of the right time it is, in seconds.
    pub(super) fn ahead_s(&self) -> i64 {
        self.ahead_s.load(Ordering::Relaxed)
    }
}

impl Clock for Wall {
    fn now(&self) -> DateTime<Utc> {
        let ahead = TimeDelta::seconds(self.ahead_s());
        self.right.now().checked_add_signed(ahead).unwrap_or(DateTime::<Utc>::MAX_UTC)
    }
}

/// Since which record the machine's clock was how far ahead, in seconds.
#[derive(Debug, Clone, Default)]
pub(super) struct Jumps(Vec<(u64, i64)>);

impl Jumps {
    /// From the record behind this one on, the clock is so far ahead.
    pub(super) fn note(&mut self, behind: u64, ahead_s: i64) {
        self.0.push((behind, ahead_s));
    }

    /// The journal ends at this record, and the clock is so far ahead now.
    pub(super) fn cut(&mut self, behind: u64, ahead_s: i64) {
        self.0.retain(|(from, _)| *from < behind);
        self.note(behind, ahead_s);
    }

    /// Records with the moments at which they were really written.
    pub(super) fn put_right(&self, mut entries: Vec<Entry>) -> Vec<Entry> {
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
