//! Limits in a world without a past: no earlier spending counts, and the first tree defines the
//! usual amounts.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::assumed_state::AssumedState;
use crate::base::id::{Key, Mode};
use crate::base::money::Currency;
use crate::model::plans::exposure::{RecordedMove, RunningTotals, SpendRequest};
use crate::model::plans::limit::LimitExceeded;
use crate::model::spec::desired::Desired;
use crate::plan::core::planner::{Planner, PlannerSettings, StateView};
use crate::policy::PolicyRules;
use crate::policy::limit_check::{
    LimitPeriod, LimitSubject, SpendHistory, check_plan, check_single, check_sums,
};
use crate::policy::typical_amount::TypicalAmounts;

/// Limits, and the spend requests of one plan's steps.
#[derive(Debug, Default)]
pub(crate) struct LimitedPlan {
    rules: PolicyRules,
    /// The amount that each resource of the first tree moves, by currency and meaning.
    usual: BTreeMap<(Key, Currency, String), i64>,
    /// The limits that the plan as a whole exceeds.
    exceeded: Vec<(Mode, Option<Key>, LimitSubject, LimitExceeded)>,
    /// Every spend request so far.
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
    let world =
        world.with_limits(LimitedPlan { rules: rules.clone(), usual, ..LimitedPlan::default() });
    let planner = plan_all(settings, &world);
    let Some(whole) =
        world.limits().map(LimitedPlan::exceeded_limits).filter(|whole| !whole.is_empty())
    else {
        return (world, planner);
    };
    let world = world.with_exceeded(whole);
    let planner = plan_all(settings, &world);
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
    fn requests(&self) -> MutexGuard<'_, BTreeMap<Key, SpendRequest>> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the same limits, with those that the plan as a whole exceeds.
    pub(crate) fn with_exceeded(
        self,
        whole: Vec<(Mode, Option<Key>, LimitSubject, LimitExceeded)>,
    ) -> Self {
        Self { exceeded: whole, ..self }
    }

    /// Returns the limit that a spend request exceeds.
    pub(crate) fn exceeded_limit(&self, wish: &SpendRequest) -> Option<LimitExceeded> {
        self.requests().insert(wish.key.clone(), wish.clone());
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
    fn exceeded_limits(&self) -> Vec<(Mode, Option<Key>, LimitSubject, LimitExceeded)> {
        let limits = &self.rules.limits;
        let mut planned: BTreeMap<(Mode, Option<Key>), RunningTotals> = BTreeMap::new();
        for wish in self.requests().values() {
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
