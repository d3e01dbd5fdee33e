//! Retry times of failed hooks, and the signals to a merchant's worker: hooks to run again, new events,
//! another set of scripts.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};

use chrono::{DateTime, TimeDelta, Utc};
use parking_lot::Mutex;
use tokio::sync::Notify;

use crate::model::events::hook_run::{FailedHook, TRIES_MAX};

/// The wait before the second try; it doubles with each further one.
const RETRY_WAIT: TimeDelta = TimeDelta::seconds(30);
const RETRY_WAIT_MAX: TimeDelta = TimeDelta::minutes(8);

/// Returns the time of the next run of a hook after this many failures; `None`: no further run.
pub(crate) fn next_retry(tries: u32, now: DateTime<Utc>) -> Option<DateTime<Utc>> {
    let doublings = tries.saturating_sub(1);
    let wait = RETRY_WAIT.checked_mul(2_i32.saturating_pow(doublings))?;
    (tries < TRIES_MAX).then(|| now.checked_add_signed(wait)).flatten()
}

/// Returns the latest time of a next try. A later one counts as due: the clock was set back.
pub(crate) fn latest_retry(now: DateTime<Utc>) -> DateTime<Utc> {
    now.checked_add_signed(RETRY_WAIT_MAX).unwrap_or(DateTime::<Utc>::MAX_UTC)
}

type EventAndScript = (String, String);

#[derive(Default)]
pub(crate) struct WorkerSignal {
    rung: Notify,
    ends: AtomicBool,
    failed: Mutex<DueRetries>,
}

#[derive(Default)]
struct DueRetries {
    due: BTreeMap<EventAndScript, FailedHook>,
    /// Those being run again whose runs are not recorded yet.
    running: BTreeSet<EventAndScript>,
}

fn pair(failed: &FailedHook) -> EventAndScript {
    (failed.event.clone(), failed.failed.script.clone())
}

impl WorkerSignal {
    /// Signals new events, and hooks to run again.
    pub(crate) fn signal(&self, due: Vec<FailedHook>) {
        let mut failed = self.failed.lock();
        for one in due {
            let pair = pair(&one);
            if !failed.running.contains(&pair) {
                failed.due.insert(pair, one);
            }
        }
        drop(failed);
        self.rung.notify_one();
    }

    /// Ends the worker: it begins nothing new, and another one follows with other scripts.
    pub(crate) fn end(&self) {
        self.ends.store(true, Ordering::Relaxed);
        self.rung.notify_one();
    }

    /// Returns true if the worker begins nothing new.
    pub(crate) fn is_ending(&self) -> bool {
        self.ends.load(Ordering::Relaxed)
    }

    pub(crate) async fn wait(&self) {
        self.rung.notified().await;
    }

    /// Returns the hooks to run again, under the names that their scripts had.
    pub(crate) fn waiting(&self) -> Vec<FailedHook> {
        self.failed.lock().due.values().cloned().collect()
    }

    pub(crate) fn take(&self, one: &FailedHook) {
        let mut failed = self.failed.lock();
        failed.due.remove(&pair(one));
        failed.running.insert(pair(one));
    }

    pub(crate) fn recorded(&self, all: &[FailedHook]) {
        let mut failed = self.failed.lock();
        for one in all {
            failed.running.remove(&pair(one));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::events::hook_run::HookFailure;

    #[test]
    fn a_clock_that_goes_back_puts_no_try_off_for_long() {
        let now = DateTime::UNIX_EPOCH;
        assert_eq!(latest_retry(now), now + TimeDelta::minutes(8));
        for tries in 1..TRIES_MAX {
            let again = next_retry(tries, now).unwrap();
            assert!(again - now <= RETRY_WAIT_MAX, "{tries}");
        }
        assert_eq!(next_retry(TRIES_MAX, now), None);
    }

    fn failure_of(script: &str) -> FailedHook {
        let failure = HookFailure {
            script: script.to_owned(),
            function: "on_event".to_owned(),
            message: "no".to_owned(),
            tries: 1,
            retry_at: None,
            text: None,
            log: Vec::new(),
        };
        let merchant = "Merchant/acme".parse().unwrap();
        FailedHook {
            merchant,
            event: "e1".to_owned(),
            failed: failure,
            maybe_ran: false,
            requester: None,
        }
    }

    fn waiting_scripts(signal: &WorkerSignal) -> Vec<String> {
        signal.waiting().into_iter().map(|one| one.failed.script).collect()
    }

    #[test]
    fn the_wait_before_a_try_doubles_from_half_a_minute() {
        let now = DateTime::UNIX_EPOCH;
        let waits: Vec<i64> = (1..TRIES_MAX)
            .map(|tries| (next_retry(tries, now).unwrap() - now).num_seconds())
            .collect();
        assert_eq!(waits, [30, 60, 120, 240]);
        assert_eq!(next_retry(u32::MAX, now), None, "no overflow");
    }

    #[test]
    fn a_hook_waits_once_and_not_again_until_its_run_is_recorded() {
        let signal = WorkerSignal::default();
        signal.signal(vec![failure_of("a"), failure_of("b"), failure_of("a")]);
        assert_eq!(waiting_scripts(&signal), ["a", "b"]);
        signal.take(&failure_of("a"));
        signal.signal(vec![failure_of("a")]);
        assert_eq!(waiting_scripts(&signal), ["b"], "its run is under way");
        signal.recorded(&[failure_of("a")]);
        assert_eq!(waiting_scripts(&signal), ["b"]);
        signal.signal(vec![failure_of("a")]);
        assert_eq!(waiting_scripts(&signal), ["a", "b"], "it failed once more");
    }

    #[tokio::test]
    async fn a_signal_before_the_wait_is_not_lost_and_an_end_wakes_too() {
        let signal = WorkerSignal::default();
        signal.signal(Vec::new());
        signal.wait().await;
        assert!(!signal.is_ending());
        signal.end();
        signal.wait().await;
        assert!(signal.is_ending());
    }
}
