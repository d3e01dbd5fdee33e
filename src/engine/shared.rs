//! What every task of the engine shares.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use chrono::{DateTime, Utc};
use rand_chacha::ChaCha20Rng;
use serde_json::Value;
use tokio::sync::{Notify, Semaphore, watch};

use super::first_look::ReadLists;
use super::happened::Witness;
use super::inbox::Poked;
use super::limits::Guard;
use super::recall::Recalled;
use super::unauthorised::Refusing;
use crate::base::clock::SharedClock;
use crate::base::hash::Digest;
use crate::base::id::Key;
use crate::base::secret::Secret;
use crate::client::{Client, Gate};
use crate::model::observed::Observed;
use crate::model::record::Record;
use crate::plan;
use crate::policy;
use crate::store::error::StoreError;
use crate::store::facts::{Decoded, FactError, Facts};
use crate::store::fold::IndexFold;
use crate::store::vault::{Sealed, Vault, VaultError};
use crate::store::writer::{Commit, Writer};

/// Intents written or being written for each call that may be under way: enough that a call never
/// waits for the disk, and few enough that a crash leaves little doubt.
const PROMISES_PER_CALL: usize = 2;

/// Finds what a spec names and does not hold, as late as possible: secrets, and files.
pub trait Secrets: Send + Sync {
    /// The secret of this source, for this resource.
    fn resolve(&self, source: &Value, key: &Key) -> Result<Secret, SecretError>;
    /// The file that a spec attaches, which has to be the one of this digest.
    fn attachment(&self, path: &str, _sha256: Digest) -> Result<Vec<u8>, SecretError> {
        let message = format!("the file {path} cannot be read: no folder of attachments is open");
        Err(SecretError { message })
    }
}

/// A secret that cannot be had: the environment, not the user's files (exit code 4).
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct SecretError {
    /// What is missing and what to do.
    pub message: String,
}

/// The partner application's own values.
#[derive(Debug, Clone)]
pub struct PartnerAccess {
    /// `partner.client_id`.
    pub client_id: Secret,
    /// `partner.client_secret`.
    pub client_secret: Secret,
    /// `partner.redirect_uri`.
    pub redirect_uri: String,
}

/// What the engine is told once.
#[derive(Debug, Clone)]
pub struct Settings {
    /// What planning is told.
    pub planning: plan::Settings,
    /// How long a call may take.
    pub timeout: Duration,
    /// How much longer than a call a lost one may still take effect.
    pub grace: Duration,
    /// How many calls are under way at once.
    pub concurrency: usize,
    /// After so many failures in a row a resource is left alone; `None` tries for ever.
    pub failures_max: Option<u32>,
    /// Limits and approvals.
    pub policy: policy::Rules,
    /// How long a script may run; none in a simulation, where the number of its operations alone is bounded.
    pub hook_time: Option<Duration>,
    /// Whether the first creation of a process reads the list of its kind: always, but where no machine is ever put back.
    pub first_look: bool,
    /// Whether live applications wait for a person in a state that began empty: always, but where the service is the
    /// sandbox inside.
    pub cautious_start: bool,
}

/// Handles that every task has.
pub struct Shared {
    /// Towards the service.
    pub client: Client,
    /// The one door for appends.
    pub writer: Arc<Writer<Record, IndexFold>>,
    /// Typed reads of the fold.
    pub facts: Facts,
    /// Seals and opens blobs.
    pub vault: Vault,
    /// The time.
    pub clock: SharedClock,
    /// Finds secrets.
    pub secrets: Arc<dyn Secrets>,
    /// The partner application.
    pub partner: Result<PartnerAccess, SecretError>,
    /// What the engine is told once.
    pub settings: Settings,
    /// What limits say.
    pub(super) guard: Arc<Guard>,
    gate: Arc<Gate>,
    resting: AtomicUsize,
    refusing: Refusing,
    recalled: Recalled,
    promises: Semaphore,
    notices: tokio::sync::Mutex<()>,
    poked: Poked,
    lists: ReadLists,
    doubted: Notify,
    witness: Witness,
    rng: Mutex<ChaCha20Rng>,
    opened: Mutex<BTreeMap<String, Secret>>,
    merchants: Mutex<BTreeMap<Key, Decoded<Observed>>>,
    stopping: watch::Sender<bool>,
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Shared({:?})", self.settings)
    }
}

/// The parts of [`Shared`] that the shell brings.
#[expect(missing_debug_implementations, reason = "handles, some of which hold secrets")]
pub struct Parts {
    /// Towards the service.
    pub client: Client,
    /// The one door for appends.
    pub writer: Arc<Writer<Record, IndexFold>>,
    /// Typed reads of the fold.
    pub facts: Facts,
    /// Seals and opens blobs.
    pub vault: Vault,
    /// The time.
    pub clock: SharedClock,
    /// Finds secrets.
    pub secrets: Arc<dyn Secrets>,
    /// The partner application, or why its values cannot be had.
    pub partner: Result<PartnerAccess, SecretError>,
    /// What the engine is told once.
    pub settings: Settings,
    /// Where randomness comes from.
    pub rng: ChaCha20Rng,
}

/// What stops the engine: the state on disk or our own mistakes, never the service.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// The state could not be written or read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The vault could not be read.
    #[error(transparent)]
    Vault(#[from] VaultError),
    /// The fold could not be read.
    #[error(transparent)]
    Fact(#[from] FactError),
    /// A task ended in a way that it must not.
    #[error("run a task of the engine: {0}")]
    Task(#[from] tokio::task::JoinError),
    /// Something that cannot be.
    #[error("our own mistake: {0}")]
    Bug(String),
}

impl Shared {
    /// Puts the parts together.
    pub fn new(parts: Parts) -> Arc<Self> {
        Arc::new(Self {
            gate: Arc::new(Gate::new(parts.settings.concurrency)),
            resting: AtomicUsize::new(0),
            refusing: Refusing::default(),
            recalled: Recalled::default(),
            promises: Semaphore::new(
                parts.settings.concurrency.saturating_mul(PROMISES_PER_CALL).max(1),
            ),
            guard: Arc::new(Guard::new(&parts.settings, &parts.facts, &parts.clock)),
            notices: tokio::sync::Mutex::default(),
            poked: Poked::default(),
            lists: ReadLists::default(),
            doubted: Notify::new(),
            witness: Witness::default(),
            rng: Mutex::new(parts.rng),
            opened: Mutex::default(),
            merchants: Mutex::default(),
            stopping: watch::Sender::new(false),
            client: parts.client,
            writer: parts.writer,
            facts: parts.facts,
            vault: parts.vault,
            clock: parts.clock,
            secrets: parts.secrets,
            partner: parts.partner,
            settings: parts.settings,
        })
    }

    /// The lists that this process has read.
    pub(super) fn lists(&self) -> &ReadLists {
        &self.lists
    }

    /// The present time.
    pub(super) fn now(&self) -> DateTime<Utc> {
        self.clock.now()
    }

    /// Runs `use_it` with the generator.
    pub(super) fn random<T>(&self, use_it: impl FnOnce(&mut ChaCha20Rng) -> T) -> T {
        use_it(&mut self.rng.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// What is known of a merchant now: every call asks for it, and it seldom changes.
    pub(super) fn merchant(&self, key: &Key) -> Result<Option<Arc<Observed>>, FactError> {
        let mut merchants = self.merchants.lock().unwrap_or_else(PoisonError::into_inner);
        let now = self.facts.observed_again(key, merchants.get(key))?;
        let known = now.as_ref().map(|now| now.value.clone());
        match now {
            Some(now) => merchants.insert(key.clone(), now),
            None => merchants.remove(key),
        };
        Ok(known)
    }

    /// A sealed credential. It is opened once and kept in memory: every call needs one.
    pub(super) fn credential(&self, reference: &str) -> Result<Secret, EngineError> {
        let mut opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(secret) = opened.get(reference) {
            return Ok(secret.clone());
        }
        let blob = reference
            .parse()
            .map_err(|error| EngineError::Bug(format!("a credential names no blob: {error}")))?;
        let bytes = self.vault.open_blob(&blob)?;
        let secret = Secret::from(String::from_utf8_lossy(&bytes).into_owned());
        opened.insert(reference.to_owned(), secret.clone());
        Ok(secret)
    }

    /// Writes records, and the sealed blobs they refer to before them.
    pub(super) async fn write(
        &self,
        blobs: Vec<Sealed>,
        records: Vec<Record>,
    ) -> Result<(), EngineError> {
        self.writer.append(Commit { blobs, records }).await?;
        Ok(())
    }

    /// The same, and returns as soon as they are durable: what is read next may not know of them yet.
    pub(super) async fn keep(
        &self,
        blobs: Vec<Sealed>,
        records: Vec<Record>,
    ) -> Result<(), EngineError> {
        self.writer.keep(Commit { blobs, records }).await?;
        Ok(())
    }

    /// Returns once everything that was kept before is seen by whoever reads.
    pub(super) async fn settled(&self) -> Result<(), EngineError> {
        self.write(Vec::new(), Vec::new()).await
    }

    /// The gate that every call passes.
    pub(super) fn gate(&self) -> &Arc<Gate> {
        &self.gate
    }

    /// Merchants whose credentials were refused a moment ago.
    pub(super) fn refusing(&self) -> &Refusing {
        &self.refusing
    }

    /// What was looked at again while a task of it was under way.
    pub(super) fn recalled(&self) -> &Recalled {
        &self.recalled
    }

    /// How many tasks only wait, and so leave their room to others.
    pub(super) fn resting(&self) -> usize {
        self.resting.load(Ordering::Relaxed).saturating_add(self.gate.waiting())
    }

    /// The permits that bound how many intents are on disk without having been sent: each of them
    /// would be in doubt after a crash.
    pub(super) fn promises(&self) -> &Semaphore {
        &self.promises
    }

    /// Whoever holds it is the one that takes a notification in, or decides that none has come.
    pub(super) fn notices(&self) -> &tokio::sync::Mutex<()> {
        &self.notices
    }

    /// Merchants for whom something was posted.
    pub(super) fn poked(&self) -> &Poked {
        &self.poked
    }

    /// Effects as they happen.
    pub(super) fn witness(&self) -> &Witness {
        &self.witness
    }

    /// Rings when an effect is in doubt, or is sent once more, while its task goes on.
    pub(super) fn doubted(&self) -> &Notify {
        &self.doubted
    }

    /// Tells every task to end at the next good place.
    pub(super) fn stop(&self) {
        self.stopping.send_replace(true);
        self.gate.close();
    }

    /// Whether tasks are to end at the next good place.
    pub(super) fn is_stopping(&self) -> bool {
        *self.stopping.borrow()
    }

    /// Sleeps, unless told to stop; answers whether the sleep came to its end.
    pub(super) async fn rest(&self, duration: Duration) -> bool {
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
