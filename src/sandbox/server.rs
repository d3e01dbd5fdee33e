//! A complete emulator of the payment service, so that everything can be tried on a laptop.
//!
//! A billing tool must be rehearsed against an emulator that keeps the service's rules and fails on
//! demand. Guarantees:
//!
//! - One request at a time reads and changes the state; an answered change is stored. One flush of
//!   the index serves all requests that wait for one.
//! - Nothing here spawns, sleeps by the wall clock or opens a socket except `serve` (and `webhooks`
//!   for it). The simulator calls [`Sandbox::router`] and [`Sandbox::deliver_due`] in its own time.
//!
//! The rules come from the reference documents, the gaps from service-facts. The control paths
//! (`/_sandbox/…`) are no part of the service.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use chrono::{DateTime, Utc};
use parking_lot::{Mutex, MutexGuard};
use tokio::sync::watch;

use crate::base::hash::sha256;
use crate::sandbox::answer::SandboxRefusal;
use crate::sandbox::merchants::merchant;
use crate::sandbox::options::SandboxOptions;
use crate::sandbox::routes::Routes;
use crate::sandbox::state::faults::{FAULTS, FaultRule};
use crate::sandbox::state::store::{ChangeUnit, ParsedCache, SandboxEnvironment, SandboxMeta};
use crate::sandbox::state::timers;
use crate::store::index::ordered::{Batch, Index, IndexError, KeyValue};

/// The emulator; clones share their state.
#[derive(Debug, Clone)]
pub struct Sandbox {
    pub(crate) inner: Arc<SandboxInner>,
}

#[derive(Debug)]
pub(crate) struct SandboxInner {
    pub(crate) environment: SandboxEnvironment,
    pub(crate) index: Arc<dyn Index>,
    pub(crate) flush: GroupFlush,
    pub(crate) routes: Routes,
    /// Serialises the sending of webhooks.
    pub(crate) delivering: tokio::sync::Mutex<()>,
    /// Lead of the sandbox's clock over the clock underneath, in milliseconds.
    pub(crate) ahead: watch::Sender<i64>,
    /// Lock of the state: its holder is the one request being served.
    live: Mutex<LockedState>,
}

/// State in memory beside the index; it can be rebuilt from the index alone.
#[derive(Debug)]
pub(crate) struct LockedState {
    pub(crate) meta: SandboxMeta,
    pub(crate) faults: Vec<FaultRule>,
    /// The moment of the queue's first entry.
    pub(crate) next_due: Option<DateTime<Utc>>,
}

/// Reasons why a sandbox cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum SandboxError {
    /// The index failed.
    #[error("open the sandbox's state: {0}")]
    Index(#[from] IndexError),
    /// The stored state cannot be parsed.
    #[error("open the sandbox's state: a stored value cannot be read")]
    Unreadable,
}

impl From<SandboxRefusal> for SandboxError {
    fn from(_: SandboxRefusal) -> Self {
        Self::Unreadable
    }
}

impl Sandbox {
    /// Opens the state in `index`; an empty index gets the partner and the demo merchant of the
    /// seed.
    pub fn open(index: Arc<dyn Index>, options: SandboxOptions) -> Result<Self, SandboxError> {
        let seed = *sha256(format!("sandbox seed {}", options.seed).as_bytes()).as_bytes();
        let world = SandboxEnvironment { options, seed, parsed: ParsedCache::default() };
        let live = LockedState { meta: SandboxMeta::default(), faults: Vec::new(), next_due: None };
        let (flush, routes) = (GroupFlush::default(), Routes::new());
        let (delivering, live) = (tokio::sync::Mutex::new(()), Mutex::new(live));
        let ahead = watch::Sender::default();
        let inner =
            SandboxInner { environment: world, index, flush, routes, delivering, ahead, live };
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

    /// Reloads the state in memory from the index.
    fn reload(&self, live: &mut LockedState) -> Result<(), SandboxRefusal> {
        self.inner.environment.parsed.clear();
        let index = self.inner.index.as_ref();
        let faults = index.get(FAULTS.as_bytes())?;
        let faults = faults.map(|bytes| serde_json::from_slice(&bytes)).transpose()?;
        let meta = SandboxMeta::load(index)?;
        let next_due = first_due(index)?;
        *live = LockedState { meta, faults: faults.unwrap_or_default(), next_due };
        self.notify_clock(live);
        Ok(())
    }

    /// Replaces all state by these entries.
    pub(crate) fn replace(
        &self,
        live: &mut LockedState,
        entries: impl IntoIterator<Item = KeyValue>,
    ) -> Result<(), SandboxRefusal> {
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
    pub(crate) fn start_over(&self) -> Result<(), SandboxRefusal> {
        let mut live = self.lock();
        self.replace(&mut live, [])?;
        let base = self.inner.environment.options.clock.now();
        let start = self.inner.environment.options.start.unwrap_or(base);
        let mut cx = self.cx(&live, start);
        cx.settings.offset_ms = start.signed_duration_since(base).num_milliseconds();
        cx.save_settings()?;
        cx.merchant_named(merchant::DEMO, None)?;
        self.commit(&mut live, cx)?;
        Ok(self.inner.index.flush()?)
    }

    pub(crate) fn cx(&self, live: &LockedState, now: DateTime<Utc>) -> ChangeUnit<'_> {
        ChangeUnit::open(&self.inner.environment, self.inner.index.as_ref(), &live.meta, now)
    }

    /// Commits a unit of change atomically.
    pub(crate) fn commit(
        &self,
        live: &mut LockedState,
        cx: ChangeUnit<'_>,
    ) -> Result<(), SandboxRefusal> {
        let (batch, meta) = cx.close()?;
        let queued = batch.changes_under(timers::QUEUE.as_bytes()).next().is_some();
        self.inner.environment.parsed.forget(&batch);
        self.inner.index.apply(batch)?;
        live.meta = meta;
        self.notify_clock(live);
        if queued {
            live.next_due = first_due(self.inner.index.as_ref())?;
        }
        Ok(())
    }
}

fn first_due(index: &dyn Index) -> Result<Option<DateTime<Utc>>, SandboxRefusal> {
    let first = index.scan_from(timers::QUEUE.as_bytes(), None, 1)?;
    let key = first.first().map(|(key, _)| String::from_utf8_lossy(key));
    Ok(key.and_then(|key| timers::moment_of(&key)))
}

/// Shared flush. A request that applied a change takes a number, and waits until a flush that began
/// after the change has ended.
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
