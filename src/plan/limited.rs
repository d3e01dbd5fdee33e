//! Limits in a world without a past: no earlier spending counts, and the first tree defines the
//! usual amounts.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::{Assumed, Planner, Settings, World};
use crate::base::id::{Key, Mode};
use crate::base::money::Currency;
use crate::model::desired::Desired;
use crate::model::limit::Over;
use crate::model::stake::{Moved, Tally, Wish};
use crate::policy::Rules;
use crate::policy::meter::{Known, Span, Whole, single, sums, whole};
use crate::policy::usual::Usual;

/// Limits, and the spend requests of one plan's steps.
#[derive(Debug, Default)]
pub(super) struct Bounded {
    rules: Rules,
    /// The amount that each resource of the first tree moves, by currency and meaning.
    usual: BTreeMap<(Key, Currency, String), i64>,
    /// The limits that the plan as a whole exceeds.
    whole: Vec<(Mode, Option<Key>, Whole, Over)>,
    /// Every spend request so far.
    wishes: Mutex<BTreeMap<Key, Wish>>,
}

/// Returns the world with these limits, and the planner of all its steps.
pub fn limited(
    settings: &Settings,
    world: Assumed,
    before: &Desired,
    rules: &Rules,
) -> (Assumed, Planner) {
    if rules.limits.is_empty() {
        let planner = planned(settings, &world);
        return (world, planner);
    }
    let usual = usual(settings, before, &world);
    let world = world.bounded(Bounded { rules: rules.clone(), usual, ..Bounded::default() });
    let planner = planned(settings, &world);
    let Some(whole) = world.limits().map(Bounded::exceeded).filter(|whole| !whole.is_empty())
    else {
        return (world, planner);
    };
    let world = world.exceeding(whole);
    let planner = planned(settings, &world);
    (world, planner)
}

fn planned(settings: &Settings, world: &Assumed) -> Planner {
    let mut planner = Planner::new(settings.clone());
    planner.all(world);
    planner
}

/// Returns the money that the documents of a tree move when they are created.
fn usual(
    settings: &Settings,
    before: &Desired,
    world: &Assumed,
) -> BTreeMap<(Key, Currency, String), i64> {
    let made = Assumed::new(settings, &Desired::default(), before.clone(), world.now());
    let planner = planned(settings, &made);
    let money = planner.steps().flat_map(|step| step.money.iter().map(move |one| (&step.key, one)));
    let name = |key: &Key, currency, meaning: &str| (key.clone(), currency, meaning.to_owned());
    money
        .map(|(key, one)| (name(key, one.amount.currency(), one.meaning), one.amount.minor()))
        .collect()
}

impl Bounded {
    fn wishes(&self) -> MutexGuard<'_, BTreeMap<Key, Wish>> {
        self.wishes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the same limits, with those that the plan as a whole exceeds.
    pub(super) fn with(self, whole: Vec<(Mode, Option<Key>, Whole, Over)>) -> Self {
        Self { whole, ..self }
    }

    /// Returns the limit that a spend request exceeds.
    pub(super) fn over(&self, wish: &Wish) -> Option<Over> {
        self.wishes().insert(wish.key.clone(), wish.clone());
        let limits = &self.rules.limits;
        let whole = || {
            let whole = self.whole.iter().find(|(mode, merchant, about, _)| {
                let own = merchant.as_ref().is_none_or(|merchant| *merchant == wish.merchant);
                own && *mode == wish.mode && about.concerns(wish)
            });
            whole.map(|(_, _, _, over)| over.clone())
        };
        let over =
            single(limits, wish, self).or_else(whole).or_else(|| sums(limits, wish, self))?;
        let approvers = self.rules.approvals.needed(std::slice::from_ref(wish));
        Some(Over { approvers: approvers.max(over.approvers), ..over })
    }

    /// Returns every limit that all requests exceed together. A request that exceeds a limit by
    /// itself adds to no sum.
    fn exceeded(&self) -> Vec<(Mode, Option<Key>, Whole, Over)> {
        let limits = &self.rules.limits;
        let mut planned: BTreeMap<(Mode, Option<Key>), Tally> = BTreeMap::new();
        for wish in self.wishes().values() {
            if single(limits, wish, self).is_none() {
                for merchant in [None, Some(wish.merchant.clone())] {
                    planned.entry((wish.mode, merchant)).or_default().add(&wish.stake);
                }
            }
        }
        let mut found = Vec::new();
        for ((mode, merchant), planned) in planned {
            let section = match &merchant {
                None => Some(limits.general(mode)),
                Some(merchant) => limits.merchants.get(merchant),
            };
            let over = section.map(|section| whole(section, &planned, &planned));
            let over = over.into_iter().flatten().filter(|(about, _)| about.is_in(&planned));
            found.extend(over.map(|(about, over)| (mode, merchant.clone(), about, over)));
        }
        found
    }
}

impl Known for Bounded {
    fn counted(&self, _: Span, _: Option<&Key>) -> Tally {
        Tally::default()
    }

    fn usual(&self, wish: &Wish, moved: &Moved) -> Usual {
        let name = (wish.key.clone(), moved.amount.currency(), moved.meaning.clone());
        Usual { own: self.usual.get(&name).copied(), recent: Vec::new() }
    }
}
