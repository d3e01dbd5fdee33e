//! The gate for every call of a process. It bounds the calls under way and each merchant's rate,
//! and stops calls to a host that does not serve.
//!
//! A call waits first for a token of its merchant's bucket, if that merchant was ever throttled.
//! Then it waits for a permit; polls have a quarter of the permits at most, so that any number of
//! polls leaves room for changes. Waiting callers queue, in one line for each merchant. Polls queue
//! in a line of their own in front of that line, so that a change waits for one poll at most. A
//! call of a merchant that was never throttled takes one uncontended lock and never sleeps. A call
//! to a host that does not serve fails at once.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use rand_core::Rng;
use tokio::sync::{Semaphore, SemaphorePermit, watch};
use tokio::time::{Instant, sleep};

use crate::client::calls::{CallLog, CallTotals};
use crate::client::classify::CallVerdict;
use crate::client::limits::{Admission, Breaker, Bucket};
use crate::model::error_class::ErrorClass;

/// The divisor of the permits that polls may use.
const POLLS_PART: usize = 4;
/// A caller that would wait longer than this for a token is refused instead.
const WAIT_MAX: Duration = Duration::from_mins(1);
/// The time after which a caller tries again that a freeze stopped: its end wakes no caller.
const FROZEN_WAIT: Duration = Duration::from_secs(5);

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Urgency {
    /// A document, a command or a hook requires the call.
    #[default]
    Change,
    /// The engine checks for changes at the service.
    Poll,
}

/// The reason why a call does not go out now. No part of it was sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unavailable {
    /// A sentence for people.
    pub reason: String,
    /// The time after which a retry makes sense.
    pub wait: Duration,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DownHost {
    /// Name and port.
    pub host: String,
    /// The time without a success.
    pub since: Duration,
    pub next: Duration,
}

/// The state of the gate, for a status and for metrics.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Merchants whose calls have to wait; the partner's own calls count as one.
    pub slowed: usize,
    pub waiting: usize,
    /// Answers 429 so far.
    pub throttled: u64,
    /// Calls that were not sent because their host does not serve.
    pub withheld: u64,
    pub down_hosts: Vec<DownHost>,
    /// Seconds by which this machine's clock is ahead of the service's; negative: behind.
    pub clock_ahead_s: i64,
}

#[derive(Debug)]
pub struct Limiter {
    permits: Semaphore,
    polls: Semaphore,
    lanes: Mutex<BTreeMap<String, Arc<CallLane>>>,
    /// The recently slowed lanes: few, and read often.
    slowed: Mutex<BTreeMap<String, Arc<CallLane>>>,
    breakers: Mutex<BTreeMap<String, Breaker>>,
    closing: watch::Sender<bool>,
    waiting: AtomicUsize,
    throttled: AtomicU64,
    withheld: AtomicU64,
    reopened_hosts: AtomicUsize,
    calls: CallLog,
    /// The reason for which no change may go out.
    frozen: Mutex<Option<String>>,
}

/// The calls of one merchant, or the partner's own.
#[derive(Debug)]
pub(crate) struct CallLane {
    name: String,
    bucket: Mutex<Bucket>,
    queue: tokio::sync::Mutex<()>,
    poll_queue: tokio::sync::Mutex<()>,
    /// Tokens taken for changes that have not gone out yet.
    prepaid: AtomicU32,
}

/// A route through the gate: a lane, and the urgency of its calls.
#[derive(Clone, Debug)]
pub(crate) struct CallRoute {
    pub(crate) gate: Arc<Limiter>,
    pub(crate) lane: Arc<CallLane>,
    pub(crate) urgency: Urgency,
}

/// A call that may go out.
pub(crate) struct Permit<'a> {
    route: &'a CallRoute,
    began: Instant,
    _permits: (Option<SemaphorePermit<'a>>, Option<SemaphorePermit<'a>>),
}

impl Limiter {
    pub fn new(concurrency: usize) -> Self {
        let permits = concurrency.max(1);
        Self {
            permits: Semaphore::new(permits),
            polls: Semaphore::new(permits.div_euclid(POLLS_PART).max(1)),
            lanes: Mutex::default(),
            slowed: Mutex::default(),
            breakers: Mutex::default(),
            closing: watch::Sender::default(),
            waiting: AtomicUsize::default(),
            throttled: AtomicU64::default(),
            withheld: AtomicU64::default(),
            reopened_hosts: AtomicUsize::default(),
            calls: CallLog::default(),
            frozen: Mutex::default(),
        }
    }

    /// Refuses every caller that waits for a token, now and later.
    pub fn close(&self) {
        self.closing.send_replace(true);
    }

    pub fn traffic(&self) -> Traffic {
        let now = Instant::now();
        let mut slowed = self.slowed.lock();
        slowed.retain(|_, lane| lane.bucket.lock().is_slowed(now));
        Traffic {
            slowed: slowed.len(),
            waiting: self.waiting(),
            throttled: self.throttled.load(Ordering::Relaxed),
            withheld: self.withheld.load(Ordering::Relaxed),
            down_hosts: self.down_hosts(now),
            clock_ahead_s: self.calls.clock_ahead_s(),
        }
    }

    /// Lets no change out for this reason, or again every change. A change that has gone out already
    /// gets its answer.
    pub(crate) fn set_frozen(&self, reason: Option<String>) {
        *self.frozen.lock() = reason;
    }

    pub fn is_frozen(&self) -> bool {
        self.frozen.lock().is_some()
    }

    /// Fails while no change may go out.
    pub(crate) fn check_frozen(&self) -> Result<(), Unavailable> {
        let frozen = self.frozen.lock().clone();
        frozen.map_or(Ok(()), |reason| Err(Unavailable { reason, wait: FROZEN_WAIT }))
    }

    /// Returns the counts of calls that went out.
    pub fn calls(&self) -> CallTotals {
        self.calls.counts()
    }

    /// Returns the number of calls that wait for a token now.
    pub fn waiting(&self) -> usize {
        self.waiting.load(Ordering::Relaxed)
    }

    pub fn is_slowed(&self, lane: &str) -> bool {
        let lane = self.slowed.lock().get(lane).cloned();
        lane.is_some_and(|lane| lane.bucket.lock().is_slowed(Instant::now()))
    }

    /// Returns the time until every host that does not serve is probed again; zero if all serve.
    pub fn time_until_probe(&self) -> Duration {
        let silent = self.down_hosts(Instant::now());
        silent.iter().map(|silent| silent.next).max().unwrap_or(Duration::ZERO)
    }

    /// Returns whether a host that was away for long serves again, once for each such event.
    pub fn take_reopened(&self) -> bool {
        self.reopened_hosts.swap(0, Ordering::Relaxed) > 0
    }

    fn down_hosts(&self, now: Instant) -> Vec<DownHost> {
        let breakers = self.breakers.lock();
        let silent = breakers.iter().filter_map(|(host, breaker)| {
            let (since, next) = breaker.silence()?;
            let since = now.saturating_duration_since(since);
            let next = next.saturating_duration_since(now);
            Some(DownHost { host: host.clone(), since, next })
        });
        silent.collect()
    }

    pub(crate) fn lane(&self, name: &str) -> Arc<CallLane> {
        let mut lanes = self.lanes.lock();
        let new = || CallLane {
            name: name.to_owned(),
            bucket: Mutex::new(Bucket::new(Instant::now())),
            queue: tokio::sync::Mutex::default(),
            poll_queue: tokio::sync::Mutex::default(),
            prepaid: AtomicU32::default(),
        };
        lanes.entry(name.to_owned()).or_insert_with(|| Arc::new(new())).clone()
    }

    /// Decides whether calls to a host may go out. A caller that receives [`Admission::ProbeFirst`]
    /// must call [`Limiter::record_probe`].
    pub(crate) fn admit(&self, host: &str) -> Admission {
        let mut breakers = self.breakers.lock();
        breakers.get_mut(host).map_or(Admission::Free, |breaker| breaker.admit(Instant::now()))
    }

    pub(crate) fn record_probe(&self, host: &str, well: bool, rng: &mut dyn Rng) {
        let mut breakers = self.breakers.lock();
        if let Some(breaker) = breakers.get_mut(host) {
            breaker.record_probe(well, Instant::now(), rng);
        }
    }

    /// Returns the reason for withholding a call to a host.
    pub(crate) fn unavailable(&self, host: &str, wait: Duration) -> Unavailable {
        self.withheld.fetch_add(1, Ordering::Relaxed);
        let since = self.breakers.lock().get(host).and_then(Breaker::silence);
        let silent = since.map_or(0, |(since, _)| since.elapsed().as_secs());
        let next = whole_seconds(wait);
        let reason = format!(
            "the service at {host} has not answered well for {silent} s: it is left alone, and asked again in {next} s"
        );
        Unavailable { reason, wait }
    }

    fn record_result(&self, host: &str, is_down: bool, rng: &mut dyn Rng) {
        let (mut breakers, now) = (self.breakers.lock(), Instant::now());
        if is_down {
            if breakers.entry(host.to_owned()).or_default().record_failure(now, rng) {
                tracing::warn!(host, "the service does not answer: no more calls for a while");
            }
        } else if breakers.get_mut(host).is_some_and(|breaker| breaker.record_success(now)) {
            self.reopened_hosts.fetch_add(1, Ordering::Relaxed);
            tracing::info!(host, "the service answers again");
        }
    }
}

impl CallLane {
    /// Takes a token at once, where there is no limit.
    fn try_take_token(&self) -> bool {
        let (mut bucket, now) = (self.bucket.lock(), Instant::now());
        !bucket.is_slowed(now) && bucket.take(now).is_ok()
    }
}

impl CallRoute {
    /// Takes a token for a change before its intent is written, so that no intent waits for one.
    pub(crate) async fn prepay(&self) -> Result<(), Unavailable> {
        self.gate.check_frozen()?;
        self.take_token().await?;
        self.lane.prepaid.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    /// Waits until a call may go out.
    pub(crate) async fn enter(&self, is_change: bool) -> Result<Permit<'_>, Unavailable> {
        let one_less = |count: u32| count.checked_sub(1);
        let relaxed = Ordering::Relaxed;
        let use_prepaid = || self.lane.prepaid.fetch_update(relaxed, relaxed, one_less).is_ok();
        if !(is_change && use_prepaid()) {
            self.take_token().await?;
        }
        let polls = match self.urgency {
            Urgency::Poll => self.gate.polls.acquire().await.ok(),
            Urgency::Change => None,
        };
        let permit = self.gate.permits.acquire().await.ok();
        Ok(Permit { route: self, began: Instant::now(), _permits: (polls, permit) })
    }

    async fn take_token(&self) -> Result<(), Unavailable> {
        if self.lane.try_take_token() {
            return Ok(());
        }
        self.gate.waiting.fetch_add(1, Ordering::Relaxed);
        let _waiting = WaitingCaller(&self.gate.waiting);
        let mut closing = self.gate.closing.subscribe();
        tokio::select! {
            biased;
            token = self.wait_in_queue() => token,
            _ = closing.wait_for(|closing| *closing) => {
                let reason = "the process stopped before the request was sent".to_owned();
                Err(Unavailable { reason, wait: Duration::ZERO })
            }
        }
    }

    fn mark_slowed(&self) {
        self.gate.slowed.lock().insert(self.lane.name.clone(), self.lane.clone());
    }

    async fn wait_in_queue(&self) -> Result<(), Unavailable> {
        let _first_of_polls = match self.urgency {
            Urgency::Poll => Some(self.lane.poll_queue.lock().await),
            Urgency::Change => None,
        };
        let _first = self.lane.queue.lock().await;
        loop {
            let taken = self.lane.bucket.lock().take(Instant::now());
            match taken {
                Ok(()) => return Ok(()),
                Err(wait) if wait > WAIT_MAX => {
                    let seconds = whole_seconds(wait);
                    let reason = format!("the service asked to come again in {seconds} s");
                    return Err(Unavailable { reason, wait });
                }
                Err(wait) => sleep(wait).await,
            }
        }
    }
}

impl Permit<'_> {
    pub(crate) fn finish(self, host: &str, verdict: &CallVerdict, rng: &mut dyn Rng) {
        let asked = verdict.retry_after_s.map(Duration::from_secs);
        let now = Instant::now();
        let time = now.saturating_duration_since(self.began);
        self.route.gate.calls.record(time, &verdict.outcome);
        if let Some(ahead_s) = verdict.clock_ahead_s {
            self.route.gate.calls.record_clock(ahead_s);
        }
        if verdict.class == Some(ErrorClass::Throttled) {
            let asked = asked.unwrap_or(Duration::ZERO);
            self.route.gate.throttled.fetch_add(1, Ordering::Relaxed);
            self.route.lane.prepaid.store(0, Ordering::Relaxed);
            self.route.lane.bucket.lock().record_throttle(self.began, asked, now);
            self.route.mark_slowed();
        } else if let Some(asked) = asked.filter(|_| verdict.class.is_some()) {
            self.route.lane.bucket.lock().pause(asked, now);
            self.route.mark_slowed();
        }
        self.route.gate.record_result(host, verdict.is_down, rng);
    }
}

/// A caller that was counted as waiting; dropping it ends that.
struct WaitingCaller<'a>(&'a AtomicUsize);

impl Drop for WaitingCaller<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Returns a wait in seconds, rounded up.
pub(crate) fn whole_seconds(wait: Duration) -> u64 {
    wait.as_secs().saturating_add(u64::from(wait.subsec_nanos() > 0))
}
