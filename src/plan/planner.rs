//! Computes a plan from the desired and the observed state.
//!
//! Pure, sync and infallible: everything that can fail happened before. Incremental: after one
//! change, the planner recomputes only the steps of the changed resource and of its dependants, and
//! updates the totals.
//!
//! Guarantees: a step never depends on the order in which keys were touched; computing every step
//! from nothing gives the same steps.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use chrono::{DateTime, Utc};

use crate::base::bulk::parallel::map_in_order;
use crate::base::id::Key;
use crate::base::timers::{Timers, count_visits};
use crate::kinds::planning::step::{PlanningView, StepCx, merchant_of};
use crate::kinds::register;
use crate::kinds::remote::import_check::ImportCheck;
use crate::kinds::row::KindRow;
use crate::model::change::{PlannedAction, Removal};
use crate::model::effect::{Effect, RemoteReading};
use crate::model::manifest::Manifest;
use crate::model::plan::{Plan, Reason, Step};
use crate::model::state::observed::Observed;
use crate::plan::blocks::is_suspended;
use crate::plan::incremental::{self, AccountBlocked, PlanTotals, Standings};
use crate::plan::prune_state::{PruneState, set_member};
use crate::plan::removal::is_dated;
use crate::plan::state_view::{PlannerSettings, StateView, needs};
use crate::plan::step;

/// From this number of steps on, several are computed at once.
const PARALLEL_MIN: usize = 1024;
/// Number of steps that are made before they are stored; what was decoded for them is in memory meanwhile.
const PART_MAX: usize = 4096;

/// A step with what its storing asks of the state, so that several can be made at once.
struct MadeStep {
    /// The part of the step that is stored.
    step: Option<Arc<Step>>,
    has_work: bool,
    is_suspended: bool,
    /// The merchant whose accounts block it.
    stalled_by: Option<Key>,
    observed: Option<Arc<Observed>>,
}

/// All steps, kept up to date. The planner stores the frequently read parts; it recomputes field
/// changes and work on request, so that a hundred thousand steps fit into memory.
#[derive(Debug)]
pub struct Planner {
    pub(crate) settings: PlannerSettings,
    pub(crate) steps: BTreeMap<Key, Arc<Step>>,
    has_work: BTreeSet<Key>,
    pub(crate) date_dependent: BTreeSet<Key>,
    /// The time of the next change of each resource's health with the date.
    pub(crate) health_changes: Timers<Key, DateTime<Utc>>,
    account_blocked: AccountBlocked,
    /// Resources that were refused for a cause that may change at the service.
    pub(crate) retryable_refusals: BTreeSet<Key>,
    pub(crate) refresh_changes: BTreeSet<Key>,
    pub(crate) prune_state: PruneState,
    pub(crate) pending_moves: BTreeSet<Key>,
    /// Number of removals since this planner began, by kind of removal.
    pub(crate) removal_counts: BTreeMap<Removal, usize>,
    needs: HashMap<Key, Box<[Key]>>,
    users: HashMap<Key, BTreeSet<Key>>,
    /// Resources that were suspended, by a person or by their document, when their step was made.
    pub(crate) suspended: BTreeSet<Key>,
    pub(crate) totals: PlanTotals,
    pub(crate) standings: Standings,
}

impl Planner {
    pub fn new(settings: PlannerSettings) -> Self {
        Self {
            settings,
            steps: BTreeMap::new(),
            has_work: BTreeSet::new(),
            date_dependent: BTreeSet::new(),
            health_changes: Timers::default(),
            account_blocked: AccountBlocked::default(),
            retryable_refusals: BTreeSet::new(),
            refresh_changes: BTreeSet::new(),
            prune_state: PruneState::default(),
            pending_moves: BTreeSet::new(),
            removal_counts: BTreeMap::new(),
            needs: HashMap::new(),
            users: HashMap::new(),
            suspended: BTreeSet::new(),
            totals: PlanTotals::default(),
            standings: Standings::default(),
        }
    }

    pub fn recompute_all(&mut self, world: &dyn StateView) -> BTreeSet<Key> {
        let desired = world.desired();
        let mut keys: BTreeSet<Key> = desired.manifests.keys().cloned().collect();
        keys.extend(desired.broken.iter().cloned());
        keys.extend(world.known_keys());
        keys.extend(self.steps.keys().cloned());
        self.recompute(world, keys)
    }

    /// Recomputes the steps of these resources and of all their dependants. Returns the keys of the
    /// recomputed steps.
    pub fn recompute(
        &mut self,
        world: &dyn StateView,
        keys: impl IntoIterator<Item = Key>,
    ) -> BTreeSet<Key> {
        let keys: Vec<Key> = keys.into_iter().collect();
        for key in &keys {
            self.relink(world, key);
        }
        let mut made = self.with_users(&keys);
        made.extend(keys.iter().flat_map(|key| self.prune_state.holders(key)));
        let order = incremental::in_dependency_order(made.iter().cloned(), &self.needs);
        if order.len() < PARALLEL_MIN {
            for key in &order {
                self.recompute_step(world, key);
            }
        } else {
            for part in incremental::independent_parts(&order, &self.needs) {
                part.chunks(PART_MAX).for_each(|part| self.recompute_part(world, part));
            }
        }
        self.recompute_guarded(world, &mut made);
        made
    }

    /// Recomputes steps none of which depends on another one, several at once.
    fn recompute_part(&mut self, world: &dyn StateView, keys: &[&Key]) {
        let steps = map_in_order(keys, |key| self.make_step(world, key));
        for (key, step) in keys.iter().zip(steps) {
            self.store_step(world, key, step);
        }
    }

    /// Returns these keys and all their dependants, direct and indirect.
    fn with_users(&self, keys: &[Key]) -> BTreeSet<Key> {
        let mut found: BTreeSet<Key> = keys.iter().cloned().collect();
        let mut queue: Vec<Key> = keys.to_vec();
        while let Some(key) = queue.pop() {
            for user in self.users.get(&key).into_iter().flatten() {
                if found.insert(user.clone()) {
                    queue.push(user.clone());
                }
            }
        }
        found
    }

    fn relink(&mut self, world: &dyn StateView, key: &Key) {
        let before = self.needs.remove(key);
        let after = world.desired().manifests.get(key).map(|kept| &**kept);
        self.prune_state.note_document(key, before.as_deref(), after);
        for needed in before.into_iter().flatten() {
            if let Some(users) = self.users.get_mut(&needed) {
                users.remove(key);
            }
        }
        let Some(manifest) = after else { return };
        let needs = needs(manifest);
        for needed in &needs {
            self.users.entry(needed.clone()).or_default().insert(key.clone());
        }
        self.needs.insert(key.clone(), needs);
    }

    pub(crate) fn recompute_step(&mut self, world: &dyn StateView, key: &Key) {
        let step = self.make_step(world, key);
        self.store_step(world, key, step);
    }

    fn make_step(&self, world: &dyn StateView, key: &Key) -> MadeStep {
        let step = self.full_step(world, key);
        let observed = world.observed(key);
        let is_suspended = step.is_some() && is_suspended(world, key);
        let stalls = step.as_ref().is_some_and(|step| step.reason.depends_on_accounts());
        let merchant = || match world.desired().manifests.get(key) {
            Some(manifest) => merchant_of(manifest),
            None => observed.as_ref().map(|known| known.merchant.clone()),
        };
        let stalled_by = if stalls { merchant() } else { None };
        let has_work = step.as_ref().is_some_and(|step| step.work.is_some());
        let kept = |step| Step { changes: Vec::new(), work: None, replaces: None, ..step };
        let step = step.map(kept).map(Arc::new);
        MadeStep { step, has_work, is_suspended, stalled_by, observed }
    }

    /// Replaces a step by a new one; stores its frequently read parts.
    fn store_step(&mut self, world: &dyn StateView, key: &Key, made: MadeStep) {
        count_visits(1);
        let MadeStep { step, has_work, is_suspended, stalled_by, observed } = made;
        let (before, after) = (self.steps.get(key).cloned(), step.as_deref());
        self.totals.replace(before.as_deref(), after);
        let [was, is] = [before.as_deref(), after].map(|step| step.map(Step::standing));
        self.standings.replace(key, was, is);
        set_member(&mut self.has_work, key, has_work);
        let dated = |step: &Step| {
            matches!(step.reason, Reason::DueToday(_) | Reason::OverLimit(_))
                || is_dated(&step.reason)
        };
        set_member(&mut self.date_dependent, key, after.is_some_and(dated));
        let turns = after.and_then(|step| step.health.as_ref()?.next_change);
        self.health_changes.set(key.clone(), turns);
        let blocked_by = self.account_blocked.note(key, stalled_by.clone());
        if blocked_by != stalled_by {
            self.refresh_changes.extend(blocked_by.into_iter().chain(stalled_by));
        }
        set_member(&mut self.suspended, key, is_suspended);
        self.note_refusal(key, after, observed.as_deref());
        self.note_absence(world, key, after, observed.as_deref());
        self.note_removal(before.as_deref(), after, observed.as_deref());
        match step {
            Some(step) => self.steps.insert(key.clone(), step),
            None => self.steps.remove(key),
        };
    }

    /// Computes one step in full: with its field changes, and the work that is possible now.
    pub fn full_step(&self, world: &dyn StateView, key: &Key) -> Option<Step> {
        let guards = (&self.prune_state, &self.settings.prune);
        self.with_context(world, |cx| step::step(cx, world, guards, key))
    }

    /// Returns the effect that a person may request for a resource, beside its step's offer.
    pub fn on_demand(&self, world: &dyn StateView, key: &Key) -> Option<Effect> {
        self.with_context(world, |cx| step::on_demand(cx, world, key))
    }

    /// Returns the readings that may be repeated for a resource that matches its document.
    pub fn refresh_reads(&self, world: &dyn StateView, key: &Key) -> Vec<RemoteReading> {
        self.with_context(world, |cx| step::refresh_reads(cx, world, key))
    }

    pub(crate) fn with_context<T>(
        &self,
        world: &dyn StateView,
        compute: impl FnOnce(&StepCx<'_>) -> T,
    ) -> T {
        compute(&StepCx {
            partner: &self.settings.partner,
            digest_key: &self.settings.digest_key,
            view: &KindView { world, planner: self },
            on_doubt: self.settings.on_doubt,
            live_refused: self.settings.live_refused.as_deref(),
            now: world.now(),
        })
    }

    /// Returns true for a merchant whose accounts, as far as known, block a resource.
    pub fn is_account_blocked(&self, merchant: &Key) -> bool {
        self.account_blocked.contains(merchant)
    }

    /// Returns, once, the merchants and resources for which [`Self::is_account_blocked`] or
    /// `retryable_refusals` may have changed.
    pub fn take_refresh_changes(&mut self) -> BTreeSet<Key> {
        std::mem::take(&mut self.refresh_changes)
    }

    pub fn has_work(&self, key: &Key) -> bool {
        self.has_work.contains(key)
    }

    pub fn step(&self, key: &Key) -> Option<&Arc<Step>> {
        self.steps.get(key)
    }

    pub fn steps(&self) -> impl Iterator<Item = &Arc<Step>> {
        self.steps.values().inspect(|_| count_visits(1))
    }

    /// Returns the steps of a kind in the order of their names, without a look at other kinds.
    pub(crate) fn steps_of_kind(&self, kind: &str) -> impl Iterator<Item = &Arc<Step>> {
        // No name is less than `0`.
        let first = format!("{kind}/0/0").parse::<Key>().ok();
        let from_first = first.into_iter().flat_map(|first| self.steps.range(first..));
        let steps = from_first.map(|(_, step)| step).inspect(|_| count_visits(1));
        steps.take_while(move |step| step.key.kind.as_str() == kind)
    }

    pub fn count(&self) -> usize {
        self.steps.len()
    }

    /// Returns the resources that the document of a resource needs.
    pub(crate) fn needs(&self, key: &Key) -> impl Iterator<Item = &Key> {
        self.needs.get(key).into_iter().flatten()
    }

    pub fn users(&self, key: &Key) -> impl Iterator<Item = &Key> {
        self.users.get(key).into_iter().flatten()
    }

    /// Returns all steps in dependency order: a resource precedes those that need it. Steps that
    /// are not settled are complete.
    pub fn plan(&self, world: &dyn StateView) -> Plan {
        let keys = incremental::in_dependency_order(self.steps.keys().cloned(), &self.needs);
        let whole = |step: &Arc<Step>| {
            let settled = step.action == PlannedAction::Settled && step.ready;
            let made = if settled { None } else { self.full_step(world, &step.key) };
            made.unwrap_or_else(|| (**step).clone())
        };
        let steps = keys.iter().filter_map(|key| self.steps.get(key)).map(whole);
        Plan { steps: steps.collect(), totals: self.totals.money.clone() }
    }
}

/// A document for which an object may be adopted.
#[derive(Debug)]
pub struct AdoptionTarget {
    pub row: &'static KindRow,
    pub manifest: Arc<Manifest>,
    /// The observed state if the object were exactly as in the document.
    pub assumed: Observed,
    /// The properties required of the object besides the fields of its list, or the reason why none
    /// is adopted.
    pub expects: Result<Vec<ImportCheck>, &'static str>,
}

impl Planner {
    /// Returns the conditions for adopting an object for this document; `None` without a good
    /// document.
    pub fn adoption_target(&self, world: &dyn StateView, key: &Key) -> Option<AdoptionTarget> {
        let manifest = world.desired().manifest(key)?;
        let row = register::find(key.kind.as_str())?;
        let (assumed, expects) = self.with_context(world, |cx| {
            ((row.assume_applied)(cx, &manifest), (row.import_checks)(cx, &manifest))
        });
        Some(AdoptionTarget { row, manifest, assumed, expects })
    }
}

pub(crate) struct KindView<'a> {
    pub world: &'a dyn StateView,
    pub planner: &'a Planner,
}

impl PlanningView for KindView<'_> {
    fn manifest(&self, key: &Key) -> Option<Arc<Manifest>> {
        self.world.desired().manifest(key)
    }

    fn observed_state(&self, key: &Key) -> Option<Arc<Observed>> {
        self.world.observed(key)
    }

    fn is_ready(&self, key: &Key) -> bool {
        self.planner.steps.get(key).is_some_and(|step| step.ready)
    }

    fn users(&self, key: &Key) -> Vec<Key> {
        self.planner.users(key).cloned().collect()
    }

    fn removable_users(&self, key: &Key) -> Vec<Key> {
        self.planner.prune_state.holders(key)
    }

    fn unsettled_keys(&self, key: &Key) -> Vec<Key> {
        self.world.unsettled_keys(key)
    }
}
