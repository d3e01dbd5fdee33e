//! Alerts that do not arrive, and the counts of messages.

use std::collections::BTreeMap;

use tokio::time::Instant;

use crate::base::clock::timestamp;
use crate::engine::alerts::target::TargetAlerts;
use crate::engine::protocol::alerts::UndeliveredAlertsView;
use crate::engine::protocol::diagnostics::AlertCounts;
use crate::engine::scheduler::backoff::instant_of;
use crate::engine::view::EngineView;

impl EngineView<'_> {
    /// Returns the targets whose last alert did not arrive.
    pub(crate) fn undelivered_alerts(&self) -> Vec<UndeliveredAlertsView> {
        let view = |alerts: &TargetAlerts| {
            let undelivered = alerts.undelivered.as_ref()?;
            Some(UndeliveredAlertsView {
                target: alerts.target.name.clone(),
                since: timestamp(&undelivered.since),
                reason: undelivered.reason.clone(),
                waiting: alerts.waiting(),
            })
        };
        self.alerts.targets.values().filter_map(view).collect()
    }

    /// Returns the number of messages since the process began, by target and result.
    pub(crate) fn alert_counts(&self) -> AlertCounts {
        let mut counts: AlertCounts = BTreeMap::new();
        for ((target, outcome), count) in &self.alerts.counts {
            let of_target = counts.entry(target.clone()).or_default();
            of_target.insert(outcome.word().to_owned(), *count);
        }
        counts
    }

    /// Returns the time at which an alert is due; `None` if nothing new waits.
    pub(crate) fn next_alert(&self) -> Option<Instant> {
        instant_of(self.shared.now(), self.alerts.next_due()?)
    }
}
