//! The state that every task of the engine shares.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use chrono::{DateTime, Utc};
use parking_lot::Mutex;
use rand_chacha::ChaCha20Rng;
use serde_json::Value;
use tokio::sync::{Notify, Semaphore, watch};

use crate::base::clock::SharedClock;
use crate::base::hash::Digest;
use crate::base::id::Key;
use crate::base::secret::Secret;
use crate::client::gate::Limiter;
use crate::client::service_client::Client;
use crate::engine::handles::feed::EffectLog;
use crate::engine::handles::registers::{KeySet, ReadLists};
use crate::engine::limits::rules::SpendBudget;
use crate::model::record::Record;
use crate::model::state::observed::{FactSource, Observation, Observed};
use crate::plan::state_view;
use crate::policy;
use crate::store::error::StoreError;
use crate::store::projection::fold::IndexFold;
use crate::store::read_model::model::{ReadModel, ReadModelError};
use crate::store::read_model::resources::CachedEntry;
use crate::store::vault::frame::VaultError;
use crate::store::vault::keys::SealedValue;
use crate::store::vault::values::Vault;
use crate::store::writer::core::Commit;
use crate::store::writer::handle::Writer;

/// Intents written or being written, for each permitted call: enough that a call never waits for
/// the disk, and few enough that a crash leaves little doubt.
const UNSENT_PER_CALL: usize = 2;

/// Resolves secrets and files that a spec names and does not contain, as late as possible.
pub trait SecretResolver: Send + Sync {
    fn resolve(&self, source: &Value, key: &Key) -> Result<Secret, SecretError>;
    /// Returns the file that a spec attaches; its content must have this digest.
    fn attachment(&self, path: &str, _sha256: Digest) -> Result<Vec<u8>, SecretError> {
        let why = format!("the file {path} cannot be read: no folder of attachments is configured");
        Err(SecretError { message: why })
    }
}

/// A secret cannot be resolved: the environment, not the user's files (exit code 4).
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct SecretError {
    /// The missing secret, and the remedy.
    pub message: String,
}

/// The partner application's own values.
#[derive(Debug, Clone)]
pub struct PartnerAccess {
    pub client_id: Secret,
    pub client_secret: Secret,
    pub redirect_uri: String,
}

#[derive(Debug, Clone)]
pub struct EngineSettings {
    pub planning: state_view::PlannerSettings,
    pub timeout: Duration,
    /// Time after a call's timeout in which a lost call may still take effect.
    pub grace: Duration,
    pub concurrency: usize,
    /// Number of failures in a row after which a resource is given up; `None` retries for ever.
    pub failures_max: Option<u32>,
    pub policy: policy::PolicyRules,
    /// Longest run of a script; `None` in a simulation, which bounds only the number of operations.
    pub hook_time: Option<Duration>,
    /// True if a process reads a list before its first creation; false if no machine is restored.
    pub first_look: bool,
    /// True if live applications of a state that began empty wait; false only with the sandbox.
    pub cautious_start: bool,
}

/// A merchant's observed state, with the credentials that were opened of it.
struct CachedMerchant {
    entry: CachedEntry<Observed>,
    opened: BTreeMap<String, Secret>,
}

/// The handles that every task uses; those that the caller supplied are reached through `Deref`.
#[derive(derive_more::Debug, derive_more::Deref)]
#[debug("Shared({:?})", parts.settings)]
pub struct EngineShared {
    #[deref]
    parts: EngineParts,
    pub(crate) guard: Arc<SpendBudget>,
    pub(crate) limiter: Arc<Limiter>,
    resting: AtomicUsize,
    /// The time at which these handles were made: no call of an earlier state was sent after it.
    pub(crate) since: tokio::time::Instant,
    /// Merchants whose refused credentials are being recorded: no further intent is written.
    pub(crate) refused_merchants: KeySet,
    /// Resources re-planned during a task of theirs: the step with which it began may be outdated.
    pub(crate) superseded: Arc<KeySet>,
    /// Bounds the intents on disk without a sent call: each of them would be in doubt after a crash.
    pub(crate) unsent_permits: Semaphore,
    /// Held while a webhook is accepted, or while it is decided that none has come.
    pub(crate) webhook_lock: tokio::sync::Mutex<()>,
    /// Merchants with posts since the last read of their events; one signal covers all posts.
    pub(crate) unread_posts: KeySet,
    pub(crate) read_lists: ReadLists,
    /// Notified of an effect that is in doubt, or is sent once more, while its task continues.
    pub(crate) in_doubt_signal: Notify,
    pub(crate) effect_log: Arc<EffectLog>,
    merchants: Mutex<BTreeMap<Key, CachedMerchant>>,
    stopping: watch::Sender<bool>,
}

/// The parts of [`EngineShared`] that the caller supplies.
#[expect(missing_debug_implementations, reason = "handles, some of which hold secrets")]
pub struct EngineParts {
    pub client: Client,
    /// The only path for appends.
    pub writer: Arc<Writer<Record, IndexFold>>,
    /// Typed reads of the fold.
    pub facts: ReadModel,
    pub vault: Vault,
    pub clock: SharedClock,
    pub secrets: Arc<dyn SecretResolver>,
    /// The partner application, or the reason why its values are unavailable.
    pub partner: Result<PartnerAccess, SecretError>,
    pub settings: EngineSettings,
    pub rng: Mutex<ChaCha20Rng>,
}

pub type EngineResult<T> = Result<T, EngineError>;

/// An error that stops the engine: the state on disk or our own mistakes, never the service.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// The state could not be written or read.
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Vault(#[from] VaultError),
    /// The fold could not be read.
    #[error(transparent)]
    Fact(#[from] ReadModelError),
    /// A task panicked or was cancelled.
    #[error("run a task of the engine: {0}")]
    Task(#[from] tokio::task::JoinError),
    #[error("internal error: {0}")]
    Bug(String),
}

impl EngineShared {
    pub fn new(parts: EngineParts) -> Arc<Self> {
        let settings = &parts.settings;
        let unsent = settings.concurrency.saturating_mul(UNSENT_PER_CALL).max(1);
        Arc::new(Self {
            limiter: Arc::new(Limiter::new(settings.concurrency)),
            guard: Arc::new(SpendBudget::new(&settings.policy, &parts.facts, &parts.clock)),
            resting: AtomicUsize::new(0),
            since: tokio::time::Instant::now(),
            refused_merchants: KeySet::default(),
            superseded: Arc::default(),
            unsent_permits: Semaphore::new(unsent),
            webhook_lock: tokio::sync::Mutex::default(),
            unread_posts: KeySet::default(),
            read_lists: ReadLists::default(),
            in_doubt_signal: Notify::new(),
            effect_log: Arc::default(),
            merchants: Mutex::default(),
            stopping: watch::Sender::new(false),
            parts,
        })
    }

    pub(crate) fn now(&self) -> DateTime<Utc> {
        self.clock.now()
    }

    /// Builds an observation, made now, that states these facts and nothing else.
    pub(crate) fn observation(
        &self,
        (key, merchant): (&Key, &Key),
        source: FactSource,
        facts: Value,
    ) -> Observation {
        Observation {
            key: key.clone(),
            merchant: merchant.clone(),
            at: self.now(),
            source,
            remote_id: None,
            exists: None,
            applied: None,
            facts,
        }
    }

    pub(crate) fn random<T>(&self, use_it: impl FnOnce(&mut ChaCha20Rng) -> T) -> T {
        use_it(&mut self.rng.lock())
    }

    /// Returns the known state of a merchant: every call needs it, and it seldom changes.
    pub(crate) fn merchant(&self, key: &Key) -> Result<Option<Arc<Observed>>, ReadModelError> {
        let mut merchants = self.merchants.lock();
        let before = merchants.remove(key);
        let entry = before.as_ref().map(|before| &before.entry);
        let Some(entry) = self.facts.observed_cached(key, entry)? else { return Ok(None) };
        let known = entry.value.clone();
        let unchanged = before.filter(|before| Arc::ptr_eq(&before.entry.value, &known));
        let merchant = unchanged.unwrap_or(CachedMerchant { entry, opened: BTreeMap::new() });
        merchants.insert(key.clone(), merchant);
        Ok(Some(known))
    }

    /// Returns a sealed credential of a merchant. It is opened once and kept in memory, since every
    /// call needs one, until the merchant's state changes or its values are erased.
    pub(crate) fn credential(&self, merchant: &Key, reference: &str) -> EngineResult<Secret> {
        let mut merchants = self.merchants.lock();
        let Some(known) = merchants.get_mut(merchant) else { return self.open(reference) };
        if let Some(secret) = known.opened.get(reference) {
            return Ok(secret.clone());
        }
        let secret = self.open(reference)?;
        known.opened.insert(reference.to_owned(), secret.clone());
        Ok(secret)
    }

    /// Erases every sealed value of a subject, and forgets what was opened of it.
    pub(crate) fn erase(&self, subject: &str) -> EngineResult<()> {
        self.vault.erase(subject)?;
        // Behind the erasure: a concurrent call could open the value again before it.
        if let Ok(key) = subject.parse::<Key>() {
            self.merchants.lock().remove(&key);
        }
        Ok(())
    }

    /// Opens a sealed value.
    pub(crate) fn open(&self, reference: &str) -> EngineResult<Secret> {
        let blob = reference.parse().map_err(|error| {
            EngineError::Bug(format!("invalid reference to a sealed credential: {error}"))
        })?;
        let bytes = self.vault.unseal(&blob)?;
        Ok(Secret::from(String::from_utf8_lossy(&bytes).into_owned()))
    }

    /// Writes records, and before them the sealed blobs that they refer to.
    pub(crate) async fn write(
        &self,
        blobs: Vec<SealedValue>,
        records: Vec<Record>,
    ) -> EngineResult<()> {
        self.writer.append(Commit { blobs, records }).await?;
        Ok(())
    }

    /// Does the same, but returns once they are durable: a following read may not include them.
    pub(crate) async fn append_durable(
        &self,
        blobs: Vec<SealedValue>,
        records: Vec<Record>,
    ) -> EngineResult<()> {
        self.writer.append_durable(Commit { blobs, records }).await?;
        Ok(())
    }

    /// Returns once every read includes all records that were kept before.
    pub(crate) async fn wait_for_reads(&self) -> EngineResult<()> {
        self.write(Vec::new(), Vec::new()).await
    }

    /// Returns the number of tasks that only wait, and so leave their room to others.
    pub(crate) fn resting(&self) -> usize {
        self.resting.load(Ordering::Relaxed).saturating_add(self.limiter.waiting())
    }

    /// Requests every task to end at the next safe place.
    pub(crate) fn stop(&self) {
        self.stopping.send_replace(true);
        self.limiter.close();
    }

    /// Returns true if tasks are to end at the next safe place.
    pub(crate) fn is_stopping(&self) -> bool {
        *self.stopping.borrow()
    }

    /// Sleeps unless the engine stops; returns true after a complete sleep.
    pub(crate) async fn sleep_or_stop(&self, duration: Duration) -> bool {
        let mut stopping = self.stopping.subscribe();
        self.resting.fetch_add(1, Ordering::Relaxed);
        let rested = tokio::select! {
            biased;
            _ = stopping.wait_for(|stop| *stop) => false,
            () = tokio::time::sleep(duration) => true,
        };
        self.resting.fetch_sub(1, Ordering::Relaxed);
        rested
    }
}

#[cfg(test)]
mod tests;
