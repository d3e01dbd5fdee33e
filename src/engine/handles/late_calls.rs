//! The time in which a call can still take effect after its answer was lost, or after the state that sent
//! it was lost.

use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};

use crate::base::fault_injection;
use crate::engine::handles::shared::{EngineResult, EngineShared};

impl EngineShared {
    /// Returns the last time at which a call that was sent at `sent` can take effect: call timeout and
    /// `doubt.grace` later.
    pub(crate) fn end_of_calls(&self, sent: DateTime<Utc>) -> DateTime<Utc> {
        let window = TimeDelta::from_std(self.call_window()).unwrap_or(TimeDelta::MAX);
        sent.checked_add_signed(window).unwrap_or(DateTime::<Utc>::MAX_UTC)
    }

    /// Returns the time until `end`, at most that in which a call can take effect.
    pub(crate) fn time_to(&self, end: DateTime<Utc>) -> Duration {
        let left = end.signed_duration_since(self.now()).to_std().unwrap_or_default();
        left.min(self.call_window())
    }

    /// Returns the time until no call of the state before a restore can take effect any more; `None`
    /// without such a state, and once those calls are over. All of them were sent before this process
    /// began, so a clock that was set back makes nothing wait for longer.
    pub(crate) fn rest_of_lost_calls(&self) -> EngineResult<Option<Duration>> {
        let epoch = self.facts.epoch()?.filter(|epoch| epoch.looks_up_first);
        let Some(epoch) = epoch.filter(|_| !fault_injection::is_active("lost-call-overtakes"))
        else {
            return Ok(None);
        };
        let here = self.call_window().saturating_sub(self.since.elapsed());
        let rest = self.time_to(self.end_of_calls(epoch.began.at)).min(here);
        Ok(Some(rest).filter(|rest| !rest.is_zero()))
    }

    fn call_window(&self) -> Duration {
        self.settings.timeout.saturating_add(self.settings.grace)
    }
}
