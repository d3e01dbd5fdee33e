//! Delays of calls, as plain data: for a status and for metrics.

use chrono::TimeDelta;

use crate::base::clock::timestamp;
use crate::client::gate::DownHost;
use crate::engine::protocol::queries::traffic::{DownHostView, TrafficView};
use crate::engine::view::EngineView;

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
