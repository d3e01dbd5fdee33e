//! A world without a service: every object is exactly as in the documents of one tree, and the
//! documents of another tree are desired.
//!
//! Its limits have no past: no earlier spending counts, and the first tree defines the usual amounts.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use chrono::{DateTime, Utc};
use parking_lot::Mutex;

use crate::base::hash::Digest;
use crate::base::id::{Key, Mode};
use crate::base::money::Currency;
use crate::kinds::planning::step::{PlanningView, StepCx};
use crate::kinds::register;
use crate::model::change::LimitExceeded;
use crate::model::effect::{RecordedMove, RunningTotals, SpendRequest};
use crate::model::intent::OpenIntent;
use crate::model::manifest::{Desired, Manifest};
use crate::model::state::observed::Observed;
use crate::plan::planner::Planner;
use crate::plan::state_view::{PlannerSettings, StateView, needs};
use crate::policy::PolicyRules;
use crate::policy::limit_check::{
    LimitPeriod, LimitSubject, SpendHistory, check_plan, check_single, check_sums,
};
use crate::policy::limits::TypicalAmounts;

/// A [`StateView`] of two trees, without a service.
#[derive(Debug)]
pub struct AssumedState {
    desired: Desired,
    observed: BTreeMap<Key, Arc<Observed>>,
    now: DateTime<Utc>,
    limits: Option<LimitedPlan>,
}

impl AssumedState {
    /// Returns the world in which every document of `before` was applied and `after` is desired.
    pub fn new(
        settings: &PlannerSettings,
        before: &Desired,
        after: Desired,
        now: DateTime<Utc>,
    ) -> Self {
        let tree = AppliedTree::of(before, &after);
        let cx = StepCx {
            partner: &settings.partner,
            digest_key: &settings.digest_key,
            view: &tree,
            on_doubt: settings.on_doubt,
            live_refused: None,
            now,
        };
        let said = before.manifests.iter().filter_map(|(key, manifest)| {
            let row = register::find(key.kind.as_str())?;
            Some((key.clone(), Arc::new((row.assume_applied)(&cx, &manifest.unpack()))))
        });
        Self { observed: said.collect(), desired: after, now, limits: None }
    }
}

impl StateView for AssumedState {
    fn desired(&self) -> &Desired {
        &self.desired
    }

    fn observed(&self, key: &Key) -> Option<Arc<Observed>> {
        self.observed.get(key).cloned()
    }

    fn open_intent(&self, _: &Key) -> Option<Arc<OpenIntent>> {
        None
    }

    fn now(&self) -> DateTime<Utc> {
        self.now
    }

    fn known_keys(&self) -> Vec<Key> {
        self.observed.keys().cloned().collect()
    }

    fn exceeded_limit(&self, wish: &SpendRequest, _: &dyn Fn() -> Digest) -> Option<LimitExceeded> {
        self.limits.as_ref()?.exceeded_limit(wish)
    }
}

/// An applied tree with everything in it ready, and the names that only another tree has: their
/// accounts are assumed to exist, too.
struct AppliedTree<'a> {
    before: &'a Desired,
    after: &'a Desired,
    users: BTreeMap<Key, BTreeSet<Key>>,
}

impl<'a> AppliedTree<'a> {
    fn of(before: &'a Desired, after: &'a Desired) -> Self {
        let mut users: BTreeMap<Key, BTreeSet<Key>> = BTreeMap::new();
        for (key, manifest) in before.manifests.iter().chain(&after.manifests) {
            for needed in needs(manifest) {
                users.entry(needed).or_default().insert(key.clone());
            }
        }
        Self { before, after, users }
    }
}

impl PlanningView for AppliedTree<'_> {
    fn manifest(&self, key: &Key) -> Option<Arc<Manifest>> {
        self.before.manifest(key).or_else(|| self.after.manifest(key))
    }

    fn observed_state(&self, _: &Key) -> Option<Arc<Observed>> {
        None
    }

    fn is_ready(&self, key: &Key) -> bool {
        self.before.manifests.contains_key(key)
    }

    fn users(&self, key: &Key) -> Vec<Key> {
        self.users.get(key).into_iter().flatten().cloned().collect()
    }
}

/// A limit that a plan as a whole exceeds, of one merchant or of all.
type ExceededByPlan = (Mode, Option<Key>, LimitSubject, LimitExceeded);

/// Limits, and the spend requests of one plan's steps.
#[derive(Debug, Default)]
struct LimitedPlan {
    rules: PolicyRules,
    /// The amount that each resource of the first tree moves, by currency and meaning.
    usual: BTreeMap<(Key, Currency, String), i64>,
    exceeded: Vec<ExceededByPlan>,
    requests: Mutex<BTreeMap<Key, SpendRequest>>,
}

/// Returns the world with these limits, and the planner of all its steps.
pub fn plan_with_limits(
    settings: &PlannerSettings,
    world: AssumedState,
    before: &Desired,
    rules: &PolicyRules,
) -> (AssumedState, Planner) {
    if rules.limits.is_empty() {
        let planner = plan_all(settings, &world);
        return (world, planner);
    }
    let usual = usual_amounts(settings, before, &world);
    let limits = LimitedPlan { rules: rules.clone(), usual, ..LimitedPlan::default() };
    let mut world = AssumedState { limits: Some(limits), ..world };
    let mut planner = plan_all(settings, &world);
    if let Some(limits) = &mut world.limits {
        limits.exceeded = limits.exceeded_limits();
        if !limits.exceeded.is_empty() {
            planner = plan_all(settings, &world);
        }
    }
    (world, planner)
}

fn plan_all(settings: &PlannerSettings, world: &AssumedState) -> Planner {
    let mut planner = Planner::new(settings.clone());
    planner.recompute_all(world);
    planner
}

/// Returns the money that the documents of a tree move when they are created.
fn usual_amounts(
    settings: &PlannerSettings,
    before: &Desired,
    world: &AssumedState,
) -> BTreeMap<(Key, Currency, String), i64> {
    let made = AssumedState::new(settings, &Desired::default(), before.clone(), world.now());
    let planner = plan_all(settings, &made);
    let money = planner.steps().flat_map(|step| step.money.iter().map(move |one| (&step.key, one)));
    let name = |key: &Key, currency, meaning: &str| (key.clone(), currency, meaning.to_owned());
    money
        .map(|(key, one)| (name(key, one.amount.currency(), one.meaning), one.amount.minor()))
        .collect()
}

impl LimitedPlan {
    fn exceeded_limit(&self, wish: &SpendRequest) -> Option<LimitExceeded> {
        self.requests.lock().insert(wish.key.clone(), wish.clone());
        let limits = &self.rules.limits;
        let whole = || {
            let whole = self.exceeded.iter().find(|(mode, merchant, about, _)| {
                let own = merchant.as_ref().is_none_or(|merchant| *merchant == wish.merchant);
                own && *mode == wish.mode && about.concerns(wish)
            });
            whole.map(|(_, _, _, over)| over.clone())
        };
        let over = check_single(limits, wish, self)
            .or_else(whole)
            .or_else(|| check_sums(limits, wish, self))?;
        let approvers = self.rules.approvals.approvers_needed(std::slice::from_ref(wish));
        Some(LimitExceeded { approvers: approvers.max(over.approvers), ..over })
    }

    /// Returns every limit that all requests exceed together. A request that exceeds a limit by
    /// itself adds to no sum.
    fn exceeded_limits(&self) -> Vec<ExceededByPlan> {
        let limits = &self.rules.limits;
        let mut planned: BTreeMap<(Mode, Option<Key>), RunningTotals> = BTreeMap::new();
        for wish in self.requests.lock().values() {
            if check_single(limits, wish, self).is_none() {
                for merchant in [None, Some(wish.merchant.clone())] {
                    planned.entry((wish.mode, merchant)).or_default().add(&wish.exposure);
                }
            }
        }
        let mut found = Vec::new();
        for ((mode, merchant), planned) in planned {
            let section = match &merchant {
                None => Some(limits.general(mode)),
                Some(merchant) => limits.merchants.get(merchant),
            };
            let over = section.map(|section| check_plan(section, &planned, &planned));
            let over = over.into_iter().flatten().filter(|(about, _)| about.is_in(&planned));
            found.extend(over.map(|(about, over)| (mode, merchant.clone(), about, over)));
        }
        found
    }
}

impl SpendHistory for LimitedPlan {
    fn totals(&self, _: LimitPeriod, _: Option<&Key>) -> RunningTotals {
        RunningTotals::default()
    }

    fn typical_amounts(&self, wish: &SpendRequest, moved: &RecordedMove) -> TypicalAmounts {
        let name = (wish.key.clone(), moved.amount.currency(), moved.meaning.clone());
        TypicalAmounts { own: self.usual.get(&name).copied(), recent: Vec::new() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kinds::testing::manifest;

    fn tree(documents: &[&Arc<Manifest>]) -> Desired {
        let pack = |one: &&Arc<Manifest>| (one.key.clone(), Arc::new(Manifest::clone(one).pack()));
        Desired { manifests: documents.iter().map(pack).collect(), ..Desired::default() }
    }

    fn card(name: &str, text: &str) -> Arc<Manifest> {
        let source = "source: {card: {number: {env: C}, exp_month: 1, exp_year: 31}}";
        let spec = format!("merchant: acme\ntype: card\ndescription: {text}\n{source}");
        manifest("SavedMethod", name, &spec)
    }

    #[test]
    fn what_was_applied_is_ready_and_says_what_it_said_then() {
        let (old, same, new) = (card("a", "old"), card("a", "new"), card("b", "b"));
        let (before, after) = (tree(&[&old]), tree(&[&same, &new]));
        let view = AppliedTree::of(&before, &after);
        let text = |key: &Key| view.manifest(key).map(|one| one.spec["description"].clone());
        assert_eq!(text(&old.key), Some("old".into()));
        assert_eq!(text(&new.key), Some("b".into()));
        assert_eq!(text(&"SavedMethod/c".parse().unwrap()), None);
        assert_eq!((view.is_ready(&old.key), view.is_ready(&new.key)), (true, false));
        assert!(
            view.observed_state(&old.key).is_none() && view.removable_users(&old.key).is_empty()
        );
        let merchant: Key = "Merchant/acme".parse().unwrap();
        assert_eq!(view.users(&merchant), [old.key.clone(), new.key.clone()]);
        assert_eq!(view.users(&old.key), []);
    }
}
