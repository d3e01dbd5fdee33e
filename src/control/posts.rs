//! Counts of the answers that the public addresses gave to posts, since the process began.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

/// The answer to a post.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PostAnswer {
    /// The post is on disk, now or from before.
    Stored,
    /// The body cannot be an event.
    Malformed,
    /// There is no such address or no such merchant.
    Unknown,
    /// The post came from a source that is not permitted.
    Forbidden,
    /// The body did not end in time.
    Slow,
    /// The body was too large.
    Large,
    /// Too many posts came at once.
    Flood,
    /// The post could not be stored now; the service has to send it again.
    Later,
}

/// Every answer with its label.
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

/// Number of posts by answer.
#[derive(Debug, Default)]
pub struct Posts([AtomicU64; WORDS.len()]);

impl Posts {
    /// Counts one post.
    pub fn count(&self, answered: PostAnswer) {
        let counts = WORDS.iter().zip(&self.0);
        for (_, count) in counts.filter(|((known, _), _)| *known == answered) {
            count.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Returns all counts by label.
    pub fn counts(&self) -> BTreeMap<String, u64> {
        let counts = WORDS.iter().zip(&self.0);
        counts
            .map(|((_, word), count)| ((*word).to_owned(), count.load(Ordering::Relaxed)))
            .collect()
    }
}
