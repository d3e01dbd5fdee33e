//! The engine's known state: the documents' desired state and the fold's facts, side by side, with the
//! view of them that reads start from, and the decision if a lost state may have done something.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use chrono::{DateTime, Utc};
use parking_lot::Mutex;

use crate::base::bulk::recent::Recent;
use crate::base::clock::SharedClock;
use crate::base::hash::Digest;
use crate::base::id::{IntentId, Key};
use crate::base::timers::{Timers, count_visits};
use crate::client::gate::Urgency;
use crate::engine::handles::access::CredentialSource;
use crate::engine::handles::shared::EngineShared;
use crate::engine::known::files::{SpecFiles, SpecSource};
use crate::engine::known::holds::Holds;
use crate::engine::limits::rules::SpendBudget;
use crate::kinds::planning::step::MERCHANT;
use crate::model::change::{LimitExceeded, PlannedAction};
use crate::model::effect::SpendRequest;
use crate::model::events::hook_run::PendingAction;
use crate::model::intent::{Intent, OpenIntent};
use crate::model::manifest::Desired;
use crate::model::operator::Suspension;
use crate::model::state::lifecycle::Epoch;
use crate::model::state::observed::{Observed, OnHold};
use crate::plan::planner::Planner;
use crate::plan::state_view::StateView;
use crate::store::read_model::model::{ReadModel, ReadModelError};
use crate::store::read_model::resources::StoredObserved;

/// Half the number of decoded facts kept in memory: merchants are needed for each of their resources.
const RECENT_MAX: usize = 256;

/// Desired state and facts. Every fact is read from the fold; a failed read stops the engine, since
/// mistaking an unknown object for an absent one would create it twice. A state that cannot be decoded
/// puts its resource on hold.
#[derive(derive_more::Debug)]
#[debug("Standing({} known, {} open)", observed.len(), open.len())]
pub struct KnownState {
    pub(crate) files: SpecFiles,
    facts: ReadModel,
    clock: SharedClock,
    observed: HashMap<Key, StoredObserved>,
    recent: Mutex<Recent<Key, Arc<Observed>>>,
    open: BTreeMap<Key, Arc<OpenIntent>>,
    guard: Option<Arc<SpendBudget>>,
    cautious_start: bool,
    suspended: BTreeMap<Key, Arc<Suspension>>,
    suspension_ends: Timers<Key, DateTime<Utc>>,
    pub(crate) holds: Holds,
    /// Tasks under way, by resource: the merchant whose credentials they use.
    at_work: BTreeMap<Key, Key>,
    /// Refused effects that are tried once more, by the intent that was refused.
    tried_again: BTreeMap<Key, IntentId>,
}

/// The facts of all resources as the fold has them, read before a [`KnownState`] is made of them.
#[derive(derive_more::Debug)]
#[debug("StoredFacts({} known)", observed.len())]
pub struct StoredFacts {
    observed: HashMap<Key, StoredObserved>,
    open: BTreeMap<Key, Arc<OpenIntent>>,
}

impl StoredFacts {
    pub fn read(facts: &ReadModel) -> Result<Self, ReadModelError> {
        let mut observed = HashMap::new();
        facts.each_stored(|key, stored| drop(observed.insert(key, stored)))?;
        let open = facts.open_intents()?.into_iter();
        let open = open.map(|open| (open.intent.key.clone(), Arc::new(open))).collect();
        Ok(Self { observed, open })
    }
}

impl KnownState {
    /// Makes the state of what was read of `facts`. What was written since the begin of that reading
    /// is to be read again ([`Self::refresh`]).
    pub fn new(
        facts: &ReadModel,
        StoredFacts { observed, open }: StoredFacts,
        specs: Box<dyn SpecSource>,
        clock: SharedClock,
    ) -> Result<Self, ReadModelError> {
        let mut known_state = Self {
            files: SpecFiles::new(specs),
            facts: facts.clone(),
            clock,
            observed,
            recent: Mutex::new(Recent::new(RECENT_MAX)),
            open,
            guard: None,
            cautious_start: false,
            suspended: BTreeMap::new(),
            suspension_ends: Timers::default(),
            holds: Holds::load(facts)?,
            at_work: BTreeMap::new(),
            tried_again: BTreeMap::new(),
        };
        known_state.reload_suspensions()?;
        Ok(known_state)
    }

    /// Adds limits; with `cautious_start`, a state that began empty holds live applications.
    pub(crate) fn with_limits(self, guard: Arc<SpendBudget>, cautious_start: bool) -> Self {
        Self { guard: Some(guard), cautious_start, ..self }
    }

    /// Reads one resource again, after a record about it was written.
    pub(crate) fn refresh(&mut self, key: &Key) -> Result<(), ReadModelError> {
        self.recent.lock().remove(key);
        match self.facts.stored_observed(key)? {
            Some(stored) => self.observed.insert(key.clone(), stored),
            None => self.observed.remove(key),
        };
        match self.facts.open_intent(key)? {
            Some(open) => self.open.insert(key.clone(), Arc::new(open)),
            None => self.open.remove(key),
        };
        let suspension = self.facts.suspension(key)?;
        self.note_suspension(key, suspension);
        Ok(())
    }

    pub(crate) fn refresh_all<'k>(
        &mut self,
        keys: impl IntoIterator<Item = &'k Key>,
    ) -> Result<(), ReadModelError> {
        keys.into_iter().try_for_each(|key| self.refresh(key))
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
        let refused = self.observed(key).and_then(|known| Some(known.refusal.as_ref()?.intent));
        let is_refused = refused.is_some();
        self.tried_again.extend(refused.map(|intent| (key.clone(), intent)));
        is_refused
    }

    pub(crate) fn credential_source(&self, merchant: &Key) -> CredentialSource {
        let manifest = self.desired().manifest(merchant);
        let spec = manifest.as_ref().and_then(|one| one.spec.get("credentials").cloned());
        let generation = manifest.map_or(0, |manifest| manifest.annotations.generation);
        let (merchant, urgency) = (merchant.clone(), Urgency::Change);
        CredentialSource { merchant, spec, is_read: false, account: None, urgency, generation }
    }

    fn note_suspension(&mut self, key: &Key, suspension: Option<Suspension>) {
        self.suspension_ends.set(key.clone(), suspension.as_ref().and_then(|one| one.until));
        match suspension {
            Some(suspension) => self.suspended.insert(key.clone(), Arc::new(suspension)),
            None => self.suspended.remove(key),
        };
    }

    /// Returns the number of suspensions in force.
    pub(crate) fn suspension_count(&self, now: DateTime<Utc>) -> usize {
        self.suspended.len().saturating_sub(self.suspension_ends.due_by(now).count())
    }

    /// Returns the time at which the next suspension in force ends by itself.
    pub(crate) fn next_suspension_end(&self, now: DateTime<Utc>) -> Option<DateTime<Utc>> {
        self.suspension_ends.in_order().map(|(end, _)| end).find(|end| *end > now)
    }

    /// Drops the suspensions that ended, and returns their names, each once.
    pub(crate) fn drop_ended_suspensions(&mut self, now: DateTime<Utc>) -> Vec<Key> {
        let mut ended = Vec::new();
        while let Some(key) = self.suspension_ends.pop_due(now) {
            self.suspended.remove(&key);
            ended.push(key);
        }
        ended
    }

    /// Reads the suspensions again: those that ended may be in force again.
    pub(crate) fn reload_suspensions(&mut self) -> Result<(), ReadModelError> {
        (self.suspended, self.suspension_ends) = (BTreeMap::new(), Timers::default());
        for suspension in self.facts.suspensions()? {
            self.note_suspension(&suspension.key.clone(), Some(suspension));
        }
        Ok(())
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
        if let Some(known) = self.recent.lock().get(key) {
            return Some(known.clone());
        }
        let stored = self.observed.get(key)?;
        let known = Arc::new(stored.read(key).unwrap_or_else(|error| unreadable(key, &error)));
        self.recent.lock().insert(key.clone(), known.clone());
        Some(known)
    }

    fn open_intent(&self, key: &Key) -> Option<Arc<OpenIntent>> {
        self.open.get(key).cloned()
    }

    /// Returns true if any name is suspended, or was until its suspension ended.
    fn has_suspensions(&self) -> bool {
        !self.suspended.is_empty()
    }

    fn suspension(&self, key: &Key) -> Option<Arc<Suspension>> {
        self.suspended.get(key).cloned()
    }

    /// A failed read blocks the resource: what is not known is not made.
    fn possibly_created(&self, key: &Key) -> Option<String> {
        unprovable_reason(&self.facts, key).unwrap_or_else(|error| Some(error.to_string()))
    }

    fn is_retry_granted(&self, key: &Key, refused: IntentId) -> bool {
        self.tried_again.get(key) == Some(&refused)
    }

    /// A failed read waits, too.
    fn maybe_created_by_lost_state(&self, key: &Key) -> bool {
        self.cautious_start && needs_release(&self.facts, key).unwrap_or(true)
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
        let keys = self.observed.keys().chain(self.open.keys());
        let mut keys: Vec<Key> = keys.inspect(|_| count_visits(1)).cloned().collect();
        keys.sort_unstable();
        keys
    }
}

/// Replaces an unreadable state by one that exists and is on hold, so that nothing is done to it.
fn unreadable(key: &Key, error: &ReadModelError) -> Observed {
    let at = DateTime::<Utc>::MIN_UTC;
    let reason = format!(
        "the known state cannot be read: {error}; stop the daemon and remove the folder `sled` of the state, which the \
         next start makes again from the journal"
    );
    let held = Some(OnHold { intent: None, reason, at });
    Observed { exists: true, on_hold: held, ..Observed::unknown(key.clone(), at) }
}

/// State that a part reads beside its own.
#[derive(Debug, Clone, Copy)]
pub struct Snapshot<'a> {
    pub(crate) shared: &'a Arc<EngineShared>,
    pub(crate) known_state: &'a KnownState,
    pub(crate) planner: &'a Planner,
    pub(crate) busy: &'a BTreeSet<Key>,
    /// True if no more work is started.
    pub(crate) stopping: bool,
}

impl Snapshot<'_> {
    pub(crate) fn merchants(&self) -> Vec<Key> {
        self.planner.steps_of_kind(MERCHANT).map(|step| step.key.clone()).collect()
    }

    /// Returns true if a merchant without a document is about to revoke its authorization.
    pub(crate) fn is_being_removed(&self, merchant: &Key) -> bool {
        let step = self.planner.step(merchant);
        let is_deleted = step.is_some_and(|step| step.action == PlannedAction::Delete);
        (is_deleted || self.busy.contains(merchant))
            && !self.known_state.desired().manifests.contains_key(merchant)
    }

    /// Returns the sources of a merchant's credentials, for reads that can wait.
    pub(crate) fn poll_credentials(&self, merchant: &Key) -> CredentialSource {
        CredentialSource { urgency: Urgency::Poll, ..self.known_state.credential_source(merchant) }
    }

    /// Returns the documents that ignore drift, with the ignored fields.
    pub(crate) fn ignored_drift(&self) -> BTreeMap<Key, Box<[String]>> {
        let manifests = self.known_state.desired().manifests.values();
        let ignoring = manifests.filter(|one| !one.annotations.ignore_drift.is_empty());
        ignoring.map(|one| (one.key.clone(), one.annotations.ignore_drift.clone())).collect()
    }
}

/// Returns the reason if a resource that cannot be looked up may have been made since the backup.
pub(crate) fn unprovable_reason(
    facts: &ReadModel,
    key: &Key,
) -> Result<Option<String>, ReadModelError> {
    let Some(epoch) = facts.epoch()?.filter(|epoch| epoch.holds_unfindable) else {
        return Ok(None);
    };
    Ok(if facts.is_released(key)? { None } else { Some(epoch.hold_reason(key)) })
}

/// Returns true if a lost state may have made this resource, and no person released it.
pub(crate) fn needs_release(facts: &ReadModel, key: &Key) -> Result<bool, ReadModelError> {
    Ok(facts.began_empty()? && !facts.is_released(key)?)
}

/// Returns the reason why an intent without possible proof is not given up: it was written before a
/// restore, and its result since the backup is not known.
pub(crate) fn older_epoch_reason(
    facts: &ReadModel,
    intent: &Intent,
) -> Result<Option<String>, ReadModelError> {
    let older = |epoch: &Epoch| epoch.holds_unfindable && epoch.is_older(intent.id);
    let epoch = facts.epoch()?.filter(|epoch| older(epoch));
    Ok(epoch.map(|epoch| epoch.hold_reason(&intent.key)))
}

/// Returns the reason why an action of a hook waits for a person: a lost state may have done it,
/// and no lookup can prove that.
pub(crate) fn unprovable_action_reason(
    facts: &ReadModel,
    pending: &PendingAction,
) -> Result<Option<String>, ReadModelError> {
    let Some(epoch) = facts.epoch()?.filter(|epoch| epoch.holds_unfindable && pending.maybe_done)
    else {
        return Ok(None);
    };
    // An invalid name is reported where the action is requested.
    let Ok(action) = pending.action() else { return Ok(None) };
    Ok(if facts.is_released(&action)? { None } else { Some(epoch.action_hold_reason(&action)) })
}

#[cfg(test)]
mod suspension_tests;
#[cfg(test)]
mod tests;
