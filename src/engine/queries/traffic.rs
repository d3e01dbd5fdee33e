//! Delays of calls, as plain data: for a status and for metrics.

use chrono::TimeDelta;
use serde::{Deserialize, Serialize};

use crate::base::clock::timestamp;
use crate::client::gate::DownHost;
use crate::engine::view::EngineView;

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

impl EngineView<'_> {
    /// Returns the present delays of calls.
    pub(crate) fn traffic(&self) -> TrafficView {
        let traffic = self.shared.limiter().traffic();
        let view = |silent: DownHost| self.down_host_view(&silent);
        TrafficView {
            slowed: traffic.slowed,
            throttled: traffic.throttled,
            silent: traffic.down_hosts.into_iter().map(view).collect(),
        }
    }

    fn down_host_view(&self, silent: &DownHost) -> DownHostView {
        let now = self.shared.now();
        let span = |duration| TimeDelta::from_std(duration).unwrap_or(TimeDelta::MAX);
        let since = now.checked_sub_signed(span(silent.since)).unwrap_or(now);
        let next = now.checked_add_signed(span(silent.next)).unwrap_or(now);
        DownHostView { host: silent.host.clone(), since: timestamp(&since), next: timestamp(&next) }
    }
}
