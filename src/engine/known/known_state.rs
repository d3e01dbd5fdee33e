//! The engine's known state: the documents' desired state and the fold's facts, side by side.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use chrono::{DateTime, Utc};

use super::files::{SpecFiles, SpecSource};
use crate::base::clock::SharedClock;
use crate::base::hash::Digest;
use crate::base::id::{IntentId, Key};
use crate::base::packed::Packed;
use crate::client::gate::Urgency;
use crate::engine::handles::access::CredentialSource;
use crate::engine::known::epoch;
use crate::engine::limits::rules::SpendBudget;
use crate::model::intents::exposure::SpendRequest;
use crate::model::intents::intent::OpenIntent;
use crate::model::manifest::Desired;
use crate::model::operator::suspension::Suspension;
use crate::model::plans::change::LimitExceeded;
use crate::model::state::observed::{Observed, OnHold};
use crate::plan::state_view::StateView;
use crate::store::read_model::model::{ReadModel, ReadModelError};

/// Number of unpacked facts kept in memory: merchants are needed for each of their resources.
const RECENT_MAX: usize = 64;

/// Desired state and facts. Every fact is read from the fold; a failed read stops the engine, since
/// mistaking an unknown object for an absent one would create it twice.
pub struct KnownState {
    files: SpecFiles,
    facts: ReadModel,
    clock: SharedClock,
    observed: BTreeMap<Key, Packed<Observed>>,
    recent: Mutex<BTreeMap<Key, Arc<Observed>>>,
    open: BTreeMap<Key, Arc<OpenIntent>>,
    guard: Option<Arc<SpendBudget>>,
    cautious_start: bool,
    suspended: BTreeMap<Key, Arc<Suspension>>,
    /// Tasks under way, by resource: the merchant whose credentials they use.
    at_work: BTreeMap<Key, Key>,
    /// Refused effects that are tried once more, by the intent that was refused.
    tried_again: BTreeMap<Key, IntentId>,
}

impl std::fmt::Debug for KnownState {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Standing({} known, {} open)", self.observed.len(), self.open.len())
    }
}

impl KnownState {
    /// Loads the complete known state from the fold.
    pub fn load(
        facts: &ReadModel,
        specs: Box<dyn SpecSource>,
        clock: SharedClock,
    ) -> Result<Self, ReadModelError> {
        let mut observed = BTreeMap::new();
        facts.each_observed(|key, known| {
            let packed = pack(&key, &known)?;
            observed.insert(key, packed);
            Ok(())
        })?;
        let open = facts.open_intents()?.into_iter();
        let open = open.map(|open| (open.intent.key.clone(), Arc::new(open))).collect();
        let suspended = facts.suspensions()?.into_iter();
        let suspended = suspended.map(|one| (one.key.clone(), Arc::new(one))).collect();
        Ok(Self {
            files: SpecFiles::new(specs),
            facts: facts.clone(),
            clock,
            observed,
            recent: Mutex::default(),
            open,
            guard: None,
            cautious_start: false,
            suspended,
            at_work: BTreeMap::new(),
            tried_again: BTreeMap::new(),
        })
    }

    /// Adds limits; with `cautious_start`, live applications of a state that began empty wait for a
    /// person.
    pub(crate) fn with_limits(self, guard: Arc<SpendBudget>, cautious_start: bool) -> Self {
        Self { guard: Some(guard), cautious_start, ..self }
    }

    /// Reads one resource again, after a record about it was written.
    pub(crate) fn refresh(&mut self, facts: &ReadModel, key: &Key) -> Result<(), ReadModelError> {
        self.recent().remove(key);
        match facts.observed_state(key)? {
            Some(known) => self.observed.insert(key.clone(), pack(key, &known)?),
            None => self.observed.remove(key),
        };
        match facts.open_intent(key)? {
            Some(open) => self.open.insert(key.clone(), Arc::new(open)),
            None => self.open.remove(key),
        };
        match facts.suspension(key)? {
            Some(suspension) => self.suspended.insert(key.clone(), Arc::new(suspension)),
            None => self.suspended.remove(key),
        };
        Ok(())
    }

    /// Notes a task that uses a merchant's credentials: its intents are not known before it ends.
    pub(crate) fn task_started(&mut self, key: &Key, merchant: &Key) {
        self.at_work.insert(key.clone(), merchant.clone());
    }

    /// Notes the end of the task; returns the merchant whose credentials it used.
    pub(crate) fn task_ended(&mut self, key: &Key) -> Option<Key> {
        self.at_work.remove(key)
    }

    /// Permits one more try of a refused effect. A new refusal belongs to another intent, so it
    /// ends the permission. Returns true if there is such a refusal.
    pub(crate) fn try_again(&mut self, key: &Key) -> bool {
        let refused =
            self.observed(key).and_then(|known| known.refusal.as_ref().map(|one| one.intent));
        let is_refused = refused.is_some();
        self.tried_again.extend(refused.map(|intent| (key.clone(), intent)));
        is_refused
    }

    /// Returns the sources of a merchant's credentials.
    pub(crate) fn credential_source(&self, merchant: &Key) -> CredentialSource {
        let manifest = self.desired().manifest(merchant);
        let spec = manifest.as_ref().and_then(|one| one.spec.get("credentials").cloned());
        let generation = manifest.map_or(0, |manifest| manifest.annotations.generation);
        let (merchant, urgency) = (merchant.clone(), Urgency::Change);
        CredentialSource { merchant, spec, is_read: false, account: None, urgency, generation }
    }

    fn recent(&self) -> MutexGuard<'_, BTreeMap<Key, Arc<Observed>>> {
        self.recent.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the files as last read.
    pub(crate) fn files(&self) -> &SpecFiles {
        &self.files
    }

    /// Returns the files for another read.
    pub(crate) fn files_mut(&mut self) -> &mut SpecFiles {
        &mut self.files
    }

    /// Returns the last suspension of every name, in effect or over.
    pub(crate) fn suspensions(&self) -> impl Iterator<Item = &Arc<Suspension>> {
        self.suspended.values()
    }

    /// Returns every intent that is not closed, by resource.
    pub fn open_intents(&self) -> impl ExactSizeIterator<Item = &Arc<OpenIntent>> {
        self.open.values()
    }
}

impl StateView for KnownState {
    fn unsettled_keys(&self, merchant: &Key) -> Vec<Key> {
        let open = self.open.values().map(|open| (&open.intent.key, &open.intent.merchant));
        let all = open.chain(&self.at_work);
        let of = all.filter(|(key, of)| *of == merchant && *key != merchant);
        let keys: BTreeSet<Key> = of.map(|(key, _)| key.clone()).collect();
        keys.into_iter().collect()
    }

    fn desired(&self) -> &Desired {
        self.files.desired()
    }

    fn observed(&self, key: &Key) -> Option<Arc<Observed>> {
        if let Some(known) = self.recent().get(key) {
            return Some(known.clone());
        }
        let packed = self.observed.get(key)?;
        let known = Arc::new(packed.unpack().unwrap_or_else(|error| unreadable(key, &error)));
        let mut recent = self.recent();
        if recent.len() >= RECENT_MAX {
            recent.clear();
        }
        recent.insert(key.clone(), known.clone());
        Some(known)
    }

    fn open_intent(&self, key: &Key) -> Option<Arc<OpenIntent>> {
        self.open.get(key).cloned()
    }

    fn suspension(&self, key: &Key) -> Option<Arc<Suspension>> {
        self.suspended.get(key).cloned()
    }

    /// A failed read blocks the resource: what is not known is not made.
    fn possibly_created(&self, key: &Key) -> Option<String> {
        epoch::unprovable_reason(&self.facts, key).unwrap_or_else(|error| Some(error.to_string()))
    }

    fn is_retry_granted(&self, key: &Key, refused: IntentId) -> bool {
        self.tried_again.get(key) == Some(&refused)
    }

    /// A failed read waits, too.
    fn maybe_created_by_lost_state(&self, key: &Key) -> bool {
        self.cautious_start && epoch::needs_release(&self.facts, key).unwrap_or(true)
    }

    fn now(&self) -> DateTime<Utc> {
        self.clock.now()
    }

    fn exceeded_limit(
        &self,
        wish: &SpendRequest,
        rest: &dyn Fn() -> Digest,
    ) -> Option<LimitExceeded> {
        self.guard.as_ref()?.blocking_limit(wish, rest)
    }

    fn known_keys(&self) -> Vec<Key> {
        self.observed.keys().chain(self.open.keys()).cloned().collect()
    }
}

fn pack(key: &Key, known: &Observed) -> Result<Packed<Observed>, ReadModelError> {
    Packed::new(known).map_err(|error| ReadModelError::Unreadable {
        key: key.to_string(),
        detail: error.to_string(),
    })
}

/// Replaces an unreadable state by one that exists and is on hold, so that nothing is done to it.
/// The state was read from the fold and packed here, so this is a mistake of ours.
fn unreadable(key: &Key, error: &serde_json::Error) -> Observed {
    let at = DateTime::<Utc>::MIN_UTC;
    let reason = format!("internal error: the known state cannot be decoded: {error}");
    let held = Some(OnHold { intent: None, reason, at });
    Observed { exists: true, on_hold: held, ..Observed::unknown(key.clone(), at) }
}
