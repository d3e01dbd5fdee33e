//! The results of reads of lists and events, for the engine.

use std::collections::BTreeSet;

use chrono::DateTime;
use chrono::Utc;

use crate::base::id::Key;

/// Counts of a read for a recovery.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct ResyncCount {
    pub(crate) read: u64,
    pub(crate) new: u64,
    pub(crate) oldest: Option<DateTime<Utc>>,
}

/// The result of a read, for the engine.
#[derive(Debug)]
pub struct PollResult {
    pub(crate) merchant: Key,
    /// True if the read reached its end.
    pub(crate) done: bool,
    /// Time at which the list was read to its end, if it was.
    pub(crate) listed_at: Option<DateTime<Utc>>,
    /// True if a person requested the read; `count` is then its result.
    pub(crate) again: bool,
    pub(crate) count: ResyncCount,
    /// The reason why the read did not reach its end.
    pub(crate) trouble: Option<String>,
    /// Number of posts looked up by their ids.
    pub(crate) read_backs: usize,
    /// The resources with new information.
    pub(crate) touched: BTreeSet<Key>,
}

/// One list of one merchant.
pub(crate) type MerchantList = (Key, &'static str);

/// The result of a list read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ListSeen {
    /// All of it was read at this time.
    At(DateTime<Utc>),
    /// The service has no such list.
    Never,
}

/// The result of one list read, for the engine.
#[derive(Debug)]
pub struct SweepResult {
    pub(crate) list: MerchantList,
    /// `None` if the list could not be read.
    pub(crate) seen: Option<ListSeen>,
    /// The resources with new information.
    pub(crate) touched: BTreeSet<Key>,
}
