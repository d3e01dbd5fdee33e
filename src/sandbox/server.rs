//! A complete emulator of the payment service, so that everything can be tried on a laptop: its
//! state in memory, its units of change, and its clock.
//!
//! It keeps the service's rules and fails on demand. Guarantees:
//!
//! - One request at a time reads and changes the state; an answered change is stored. One flush of
//!   the index serves all requests that wait for one.
//! - Nothing here spawns, sleeps by the wall clock or opens a socket except `serve` (and
//!   `webhooks` for it). The simulator calls [`Sandbox::router`] and [`Sandbox::deliver_due`] in
//!   its own time.
//! - The sandbox's time is that of its base clock and an offset. When it moves, the timers in
//!   between fire in order, each at its own moment.
//!
//! The rules come from the reference documents, the gaps from service-facts. The control paths
//! (`/_sandbox/…`) are no part of the service.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use chrono::{DateTime, TimeDelta, Utc};
use parking_lot::{Mutex, MutexGuard};
use tokio::sync::watch;

use crate::base::clock::Clock;
use crate::base::hash::sha256;
use crate::sandbox::answer::{Result, SandboxRefusal};
use crate::sandbox::invoicing::invoices;
use crate::sandbox::merchants::merchant;
use crate::sandbox::methods::{expiry, tokens};
use crate::sandbox::onboarding::applications;
use crate::sandbox::options::SandboxOptions;
use crate::sandbox::payments::transactions::{self, TransactionTransition};
use crate::sandbox::recurring::{occurrences, state};
use crate::sandbox::routes::Routes;
use crate::sandbox::state::faults::{FAULTS, FaultRule};
use crate::sandbox::state::former;
use crate::sandbox::state::objects::{
    LONG_LENGTH, TIMERS, TimerEntry, alphanumerics, timer_moment,
};
use crate::sandbox::state::store::{ChangeUnit, ParsedCache, SandboxEnvironment, SandboxMeta};
use crate::store::index::ordered::{Batch, Index, IndexError, KeyValue};

/// The emulator; clones share their state.
#[derive(Debug, Clone)]
pub struct Sandbox {
    pub(crate) inner: Arc<SandboxInner>,
}

#[derive(Debug)]
pub(crate) struct SandboxInner {
    pub(crate) environment: Arc<SandboxEnvironment>,
    pub(crate) index: Arc<dyn Index>,
    pub(crate) flush: GroupFlush,
    pub(crate) routes: Routes,
    /// Serialises the sending of webhooks.
    pub(crate) delivering: tokio::sync::Mutex<()>,
    /// Lead of the sandbox's clock over the clock underneath, in milliseconds.
    pub(crate) ahead: watch::Sender<i64>,
    /// Taken before `live` by requests to the service, whose tasks wait here without a thread.
    pub(crate) turn: tokio::sync::Mutex<()>,
    /// Lock of the state: its holder is the one request being served.
    live: Mutex<LockedState>,
}

/// State in memory beside the index; it can be rebuilt from the index alone.
#[derive(Debug)]
pub(crate) struct LockedState {
    pub(crate) meta: SandboxMeta,
    pub(crate) faults: Vec<FaultRule>,
    next_timer: Option<NextTimer>,
}

/// The first entry of the queue of timers.
#[derive(Debug)]
struct NextTimer {
    moment: DateTime<Utc>,
    key: String,
    entry: TimerEntry,
}

impl NextTimer {
    fn read(key: &[u8], value: &[u8]) -> Result<Option<Self>> {
        let key = String::from_utf8_lossy(key).into_owned();
        let Some(moment) = timer_moment(&key) else { return Ok(None) };
        Ok(Some(Self { moment, key, entry: serde_json::from_slice(value)? }))
    }

    fn first(index: &dyn Index) -> Result<Option<Self>> {
        let first = index.scan_from(TIMERS.as_bytes(), None, 1)?.pop();
        first.map_or(Ok(None), |(key, value)| Self::read(&key, &value))
    }
}

#[derive(Debug, thiserror::Error)]
pub enum SandboxError {
    #[error("open the sandbox's state: {0}")]
    Index(#[from] IndexError),
    #[error("open the sandbox's state: a stored value cannot be read")]
    Unreadable,
}

impl From<SandboxRefusal> for SandboxError {
    fn from(_: SandboxRefusal) -> Self {
        Self::Unreadable
    }
}

impl Sandbox {
    /// Opens the state in `index`; an empty one gets the partner and the demo merchant of the seed.
    pub fn open(index: Arc<dyn Index>, options: SandboxOptions) -> Result<Self, SandboxError> {
        let seed = *sha256(format!("sandbox seed {}", options.seed).as_bytes()).as_bytes();
        let routes = Routes::new(options.surface);
        let client_id = alphanumerics(&seed, "partner/id", "", LONG_LENGTH);
        let parsed = ParsedCache::default();
        let environment = Arc::new(SandboxEnvironment { options, seed, client_id, parsed });
        let live =
            LockedState { meta: SandboxMeta::default(), faults: Vec::new(), next_timer: None };
        let flush = GroupFlush::default();
        let (delivering, turn) = (tokio::sync::Mutex::new(()), tokio::sync::Mutex::new(()));
        let live = Mutex::new(live);
        let ahead = watch::Sender::default();
        let inner =
            SandboxInner { environment, index, flush, routes, delivering, ahead, turn, live };
        let sandbox = Self { inner: Arc::new(inner) };
        sandbox.reload(&mut sandbox.lock())?;
        if sandbox.inner.index.scan_from(b"", None, 1)?.is_empty() {
            sandbox.start_over()?;
        }
        Ok(sandbox)
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, LockedState> {
        self.inner.live.lock()
    }

    fn reload(&self, live: &mut LockedState) -> Result<()> {
        self.inner.environment.parsed.clear();
        let index = self.inner.index.as_ref();
        former::upgrade(index)?;
        let faults = index.get(FAULTS.as_bytes())?;
        let faults = faults.map(|bytes| serde_json::from_slice(&bytes)).transpose()?;
        let meta = SandboxMeta::load(index)?;
        let next_timer = NextTimer::first(index)?;
        *live = LockedState { meta, faults: faults.unwrap_or_default(), next_timer };
        self.notify_clock(live);
        Ok(())
    }

    pub(crate) fn replace(
        &self,
        live: &mut LockedState,
        entries: impl IntoIterator<Item = KeyValue>,
    ) -> Result<()> {
        let index = self.inner.index.as_ref();
        let mut batch = Batch::new();
        for (key, _) in index.scan(b"")? {
            batch.remove(key);
        }
        for (key, value) in entries {
            batch.put(key, value);
        }
        index.apply(batch)?;
        self.reload(live)
    }

    /// Erases all state, then makes the partner and the demo merchant again.
    pub(crate) fn start_over(&self) -> Result<()> {
        let mut live = self.lock();
        self.replace(&mut live, [])?;
        let base = self.inner.environment.options.clock.now();
        let start = self.inner.environment.options.start.unwrap_or(base);
        let mut cx = self.cx(&live, start);
        cx.settings_mut().offset_ms = start.signed_duration_since(base).num_milliseconds();
        cx.save_settings()?;
        cx.merchant_named(merchant::DEMO, None)?;
        self.commit(&mut live, cx)?;
        Ok(self.inner.index.flush()?)
    }

    pub(crate) fn cx(&self, live: &LockedState, now: DateTime<Utc>) -> ChangeUnit {
        ChangeUnit::open(self.inner.environment.clone(), self.inner.index.clone(), &live.meta, now)
    }

    /// Commits a unit of change atomically.
    pub(crate) fn commit(&self, live: &mut LockedState, cx: ChangeUnit) -> Result<()> {
        let (batch, meta) = cx.close()?;
        let timers = TimerChanges::of(&batch)?;
        self.inner.environment.parsed.forget(&batch);
        self.inner.index.apply(batch)?;
        live.meta = meta;
        self.notify_clock(live);
        match timers {
            TimerChanges::None => {}
            TimerChanges::Added(added) => {
                if live.next_timer.as_ref().is_none_or(|next| added.key < next.key) {
                    live.next_timer = Some(added);
                }
            }
            TimerChanges::Removed => {
                live.next_timer = NextTimer::first(self.inner.index.as_ref())?;
            }
        }
        Ok(())
    }
}

/// The changes of the queue of timers in a batch.
enum TimerChanges {
    None,
    /// Entries were only added; this is the first one.
    Added(NextTimer),
    Removed,
}

impl TimerChanges {
    fn of(batch: &Batch) -> Result<Self> {
        let mut changes = batch.changes_under(TIMERS.as_bytes());
        let Some((key, first)) = changes.next() else { return Ok(Self::None) };
        let Some(value) = first else { return Ok(Self::Removed) };
        if !changes.all(|(_, change)| change.is_some()) {
            return Ok(Self::Removed);
        }
        Ok(NextTimer::read(key, value)?.map_or(Self::Removed, Self::Added))
    }
}

/// Shared flush: a change takes a number, and waits for a flush that began after the change.
#[derive(Debug, Default)]
pub(crate) struct GroupFlush {
    applied: AtomicU64,
    /// Last number that a flush covers.
    flushed: tokio::sync::Mutex<u64>,
}

impl GroupFlush {
    /// Returns the number of a change applied just now.
    pub(crate) fn number(&self) -> u64 {
        self.applied.fetch_add(1, Ordering::SeqCst).saturating_add(1)
    }

    /// Waits until the change of this number is flushed.
    pub(crate) async fn wait(&self, index: &dyn Index, number: u64) -> Result<(), IndexError> {
        let mut flushed = self.flushed.lock().await;
        if *flushed >= number {
            return Ok(());
        }
        let covered = self.applied.load(Ordering::SeqCst);
        index.flush()?;
        *flushed = covered;
        Ok(())
    }
}

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
    fn notify_clock(&self, live: &LockedState) {
        let now = live.meta.settings.offset_ms;
        self.inner.ahead.send_if_modified(|told| std::mem::replace(told, now) != now);
    }

    pub(crate) fn now(&self, live: &LockedState) -> DateTime<Utc> {
        with_offset(self.inner.environment.options.clock.now(), live.meta.settings.offset_ms)
    }

    /// Runs what is due until `until`, each entry at its own moment. Returns true if anything ran.
    pub(crate) fn catch_up(&self, live: &mut LockedState, until: DateTime<Utc>) -> Result<bool> {
        let mut happened = false;
        while let Some(timer) = live.next_timer.take_if(|timer| timer.moment <= until) {
            let ran = self.run_due(live, &timer);
            if ran.is_err() {
                live.next_timer = Some(timer);
                return ran.map(|()| happened);
            }
            happened = true;
        }
        Ok(happened)
    }

    fn run_due(&self, live: &mut LockedState, timer: &NextTimer) -> Result<()> {
        let NextTimer { moment, key, entry } = timer;
        let mut cx = self.cx(live, *moment);
        if run_timer(&mut cx, key, entry).is_err() {
            tracing::error!(?entry, "a due action failed and is skipped");
            cx = self.cx(live, *moment);
            cx.remove(key);
        }
        self.commit(live, cx)
    }

    /// Moves the clock to `target`, not into the past; everything due in between runs first.
    pub(crate) fn move_to(&self, live: &mut LockedState, target: DateTime<Utc>) -> Result<()> {
        let now = self.now(live);
        let backwards = || SandboxRefusal::invalid("Time does not go back");
        SandboxRefusal::ensure(target >= now, backwards)?;
        self.catch_up(live, target)?;
        let mut cx = self.cx(live, target);
        let base = self.inner.environment.options.clock.now();
        cx.settings_mut().offset_ms = target.signed_duration_since(base).num_milliseconds();
        cx.save_settings()?;
        self.commit(live, cx)
    }
}

/// Runs one entry; the change happens at the entry's moment.
fn run_timer(cx: &mut ChangeUnit, key: &str, due: &TimerEntry) -> Result<()> {
    use {TimerEntry as E, TransactionTransition as T};
    cx.remove(key);
    match due {
        E::TokenExpiry { id } => tokens::end(cx, id),
        E::Capture { id } => transactions::run_scheduled(cx, id, T::Capture),
        E::HoldEnd { id } => transactions::run_scheduled(cx, id, T::Expire),
        E::Occurrence { id } => occurrences::run_due_payment(cx, id),
        E::Decision { id } => applications::run_due_decision(cx, id),
        E::TestOutcome { id, reference, provisioned } => {
            applications::send_test_outcome(cx, *id, reference, *provisioned)
        }
        E::FileProcessed { id } => invoices::finish_file_processing(cx, id),
        E::Expiry { id, expired } => state::run_due_expiry(cx, id, *expired),
        E::SavedExpiry { id, expired } => expiry::run_saved_expiry(cx, id, *expired),
    }
}
