//! Delays of calls, as plain data: for a status and for metrics.

use serde::{Deserialize, Serialize};

/// Delays of calls.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrafficView {
    /// Merchants whose calls the service throttles; the partner's own calls count as one.
    #[serde(default)]
    pub slowed: usize,
    /// Answers 429 since the process began.
    #[serde(default)]
    pub throttled: u64,
    /// Hosts that are down and not called for a while.
    #[serde(default)]
    pub silent: Vec<DownHostView>,
}

/// A host that is down.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DownHostView {
    /// Name and port.
    pub host: String,
    /// Start of the failures.
    pub since: String,
    /// Time of the next call.
    pub next: String,
}

impl TrafficView {
    /// Returns true if no call is delayed.
    pub fn is_free(&self) -> bool {
        let Self { slowed, throttled, silent } = self;
        *slowed == 0 && *throttled == 0 && silent.is_empty()
    }
}
