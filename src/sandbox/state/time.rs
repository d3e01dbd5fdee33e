//! The sandbox's own clock: its base clock and an offset, and the timers that fire in between.

use std::sync::Arc;

use chrono::{DateTime, Months, TimeDelta, Utc};
use tokio::sync::watch;

use super::timers;
use super::timers::TimerEntry;
use crate::base::clock::Clock;
use crate::sandbox::http::refusal::SandboxRefusal;
use crate::sandbox::server::{LockedState, Sandbox};

/// The sandbox's clock, for a daemon that is rehearsed with it.
#[derive(Debug, Clone)]
pub struct SandboxClock {
    base: Arc<dyn Clock>,
    ahead: watch::Receiver<i64>,
}

impl Clock for SandboxClock {
    fn now(&self) -> DateTime<Utc> {
        with_offset(self.base.now(), *self.ahead.borrow())
    }

    fn moves(&self) -> Option<watch::Receiver<i64>> {
        Some(self.ahead.clone())
    }
}

/// Returns the moment `offset_ms` later.
fn with_offset(base: DateTime<Utc>, offset_ms: i64) -> DateTime<Utc> {
    base.checked_add_signed(TimeDelta::milliseconds(offset_ms)).unwrap_or(base)
}

impl Sandbox {
    /// Returns a clock that shows the sandbox's time and notifies of its moves.
    pub fn clock(&self) -> SandboxClock {
        let base = self.inner.environment.options.clock.clone();
        SandboxClock { base, ahead: self.inner.ahead.subscribe() }
    }

    /// Notifies the followers of this clock, if it was moved.
    pub(crate) fn notify_clock(&self, live: &LockedState) {
        let now = live.meta.settings.offset_ms;
        self.inner.ahead.send_if_modified(|told| std::mem::replace(told, now) != now);
    }

    /// Returns the sandbox's current time.
    pub(crate) fn now(&self, live: &LockedState) -> DateTime<Utc> {
        with_offset(self.inner.environment.options.clock.now(), live.meta.settings.offset_ms)
    }

    /// Runs everything that is due until `until`, in order, each entry at its own moment. Returns
    /// true if anything ran.
    pub(crate) fn catch_up(
        &self,
        live: &mut LockedState,
        until: DateTime<Utc>,
    ) -> Result<bool, SandboxRefusal> {
        let mut happened = false;
        while let Some(moment) = live.next_due.filter(|moment| *moment <= until) {
            self.run_next_due(live, moment)?;
            happened = true;
        }
        Ok(happened)
    }

    fn run_next_due(
        &self,
        live: &mut LockedState,
        moment: DateTime<Utc>,
    ) -> Result<(), SandboxRefusal> {
        let mut cx = self.cx(live, moment);
        let mut first = cx.scan(timers::QUEUE, None, 1)?;
        let Some((key, value)) = first.pop() else {
            live.next_due = None;
            return Ok(());
        };
        let due: TimerEntry = serde_json::from_value(value)?;
        if timers::run_entry(&mut cx, &key, &due).is_err() {
            tracing::error!(?due, "a due action failed and is skipped");
            cx = self.cx(live, moment);
            cx.remove(&key);
        }
        self.commit(live, cx)
    }

    /// Moves the clock to `target`, which may not lie in the past; everything due in between runs
    /// first.
    pub(crate) fn move_to(
        &self,
        live: &mut LockedState,
        target: DateTime<Utc>,
    ) -> Result<(), SandboxRefusal> {
        let now = self.now(live);
        if target < now {
            return Err(SandboxRefusal::invalid("Time does not go back"));
        }
        self.catch_up(live, target)?;
        let mut cx = self.cx(live, target);
        let base = self.inner.environment.options.clock.now();
        cx.settings.offset_ms = target.signed_duration_since(base).num_milliseconds();
        cx.save_settings()?;
        self.commit(live, cx)
    }
}

/// Adds an ISO 8601 duration such as `P30D`, `P1M` or `PT5M`; `None` for an invalid one.
pub(crate) fn add_duration(time: DateTime<Utc>, duration: &str) -> Option<DateTime<Utc>> {
    let text = duration.strip_prefix('P').filter(|text| !text.is_empty())?;
    let (date, clock) = text.split_once('T').unwrap_or((text, ""));
    let mut months: u32 = 0;
    let mut seconds: i64 = 0;
    for (number, unit) in parts(date)? {
        match unit {
            'Y' => months = months.checked_add(number.checked_mul(12)?)?,
            'M' => months = months.checked_add(number)?,
            'W' => seconds = add(seconds, number, 604_800)?,
            'D' => seconds = add(seconds, number, 86_400)?,
            _ => return None,
        }
    }
    for (number, unit) in parts(clock)? {
        let of_unit = match unit {
            'H' => 3600,
            'M' => 60,
            'S' => 1,
            _ => return None,
        };
        seconds = add(seconds, number, of_unit)?;
    }
    let time = time.checked_add_months(Months::new(months))?;
    time.checked_add_signed(TimeDelta::try_seconds(seconds)?)
}

fn add(seconds: i64, number: u32, of_unit: i64) -> Option<i64> {
    seconds.checked_add(i64::from(number).checked_mul(of_unit)?)
}

fn parts(text: &str) -> Option<Vec<(u32, char)>> {
    let mut parts = Vec::new();
    let mut digits = String::new();
    for character in text.chars() {
        if character.is_ascii_digit() {
            digits.push(character);
        } else {
            parts.push((digits.parse().ok()?, character));
            digits.clear();
        }
    }
    digits.is_empty().then_some(parts)
}
