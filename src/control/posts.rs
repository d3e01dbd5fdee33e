//! How many posts the doors that face the world answered, and with what, since the process began.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

/// What a post was answered with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answered {
    /// It is on disk, or was.
    Stored,
    /// It could not be an event.
    Garbled,
    /// There is no such address, or no such merchant.
    Unknown,
    /// It came from where it may not come from.
    Forbidden,
    /// Its body did not come to its end in time.
    Slow,
    /// It was too large.
    Large,
    /// Too many came at once.
    Flood,
    /// It could not be stored now, and has to come again.
    Later,
}

/// Every answer, with its word.
const WORDS: [(Answered, &str); 8] = [
    (Answered::Stored, "stored"),
    (Answered::Garbled, "garbled"),
    (Answered::Unknown, "unknown"),
    (Answered::Forbidden, "forbidden"),
    (Answered::Slow, "slow"),
    (Answered::Large, "large"),
    (Answered::Flood, "flood"),
    (Answered::Later, "later"),
];

/// The counts.
#[derive(Debug, Default)]
pub struct Posts([AtomicU64; WORDS.len()]);

impl Posts {
    /// One more.
    pub fn count(&self, answered: Answered) {
        let counts = WORDS.iter().zip(&self.0);
        for (_, count) in counts.filter(|((known, _), _)| *known == answered) {
            count.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// All of them, by their words.
    pub fn counts(&self) -> BTreeMap<String, u64> {
        let counts = WORDS.iter().zip(&self.0);
        counts
            .map(|((_, word), count)| ((*word).to_owned(), count.load(Ordering::Relaxed)))
            .collect()
    }
}
