//! Counts of the answers to posts at the public addresses, since the process began.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PostAnswer {
    /// The post is on disk, now or from before.
    Stored,
    Malformed,
    /// There is no such address or no such merchant.
    Unknown,
    /// The post came from a source that is not permitted.
    Forbidden,
    Slow,
    Large,
    Flood,
    /// The post could not be stored now; the service has to send it again.
    Later,
}

const WORDS: [(PostAnswer, &str); 8] = [
    (PostAnswer::Stored, "stored"),
    (PostAnswer::Malformed, "garbled"),
    (PostAnswer::Unknown, "unknown"),
    (PostAnswer::Forbidden, "forbidden"),
    (PostAnswer::Slow, "slow"),
    (PostAnswer::Large, "large"),
    (PostAnswer::Flood, "flood"),
    (PostAnswer::Later, "later"),
];

#[derive(Debug, Default)]
pub struct Posts([AtomicU64; WORDS.len()]);

impl Posts {
    pub fn count(&self, answered: PostAnswer) {
        let place = WORDS.iter().position(|(known, _)| *known == answered);
        if let Some(count) = place.and_then(|place| self.0.get(place)) {
            count.fetch_add(1, Ordering::Relaxed);
        }
    }

    pub fn counts(&self) -> BTreeMap<String, u64> {
        let named = WORDS.iter().map(|(_, word)| (*word).to_owned());
        named.zip(self.0.iter().map(|count| count.load(Ordering::Relaxed))).collect()
    }
}
