//! The sandbox's own clock: its base clock and an offset, and the timers that fire in between.

use std::sync::Arc;

use chrono::{DateTime, TimeDelta, Utc};
use tokio::sync::watch;

use crate::base::clock::Clock;
use crate::sandbox::answer::SandboxRefusal;
use crate::sandbox::invoicing::files;
use crate::sandbox::methods::{expiry, tokens};
use crate::sandbox::onboarding::decide;
use crate::sandbox::payments::transactions;
use crate::sandbox::payments::transactions::TransactionTransition;
use crate::sandbox::recurring::{charge_state, occurrences};
use crate::sandbox::server::{LockedState, Sandbox};
use crate::sandbox::state::store::ChangeUnit;
use crate::sandbox::state::timers;
use crate::sandbox::state::timers::TimerEntry;

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
        if run_entry(&mut cx, &key, &due).is_err() {
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

/// Runs one entry; the change happens at the entry's moment.
pub(crate) fn run_entry(
    cx: &mut ChangeUnit<'_>,
    key: &str,
    due: &TimerEntry,
) -> Result<(), SandboxRefusal> {
    cx.remove(key);
    match due {
        TimerEntry::TokenExpiry { id } => tokens::end(cx, id),
        TimerEntry::Capture { id } => {
            transactions::run_scheduled(cx, id, TransactionTransition::Capture)
        }
        TimerEntry::HoldEnd { id } => {
            transactions::run_scheduled(cx, id, TransactionTransition::Expire)
        }
        TimerEntry::Occurrence { id } => occurrences::run_due_payment(cx, id),
        TimerEntry::Decision { id } => decide::run_due_decision(cx, id),
        TimerEntry::TestOutcome { id, reference, provisioned } => {
            decide::send_test_outcome(cx, *id, reference, *provisioned)
        }
        TimerEntry::FileProcessed { id } => files::finish_processing(cx, id),
        TimerEntry::Expiry { id, expired } => charge_state::run_due_expiry(cx, id, *expired),
        TimerEntry::SavedExpiry { id, expired } => expiry::run_due_saved(cx, id, *expired),
    }
}
