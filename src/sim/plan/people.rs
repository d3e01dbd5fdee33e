//! People who look after a simulated world, decided by its seed: a settler of intents on hold,
//! the operator's limits, low enough that some plans exceed them, and the approvers of such plans.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use derive_more::Display;

use crate::base::money::Currency;
use crate::policy::limits::{AmountLimit, CountLimit, LimitSet, Limits};
use crate::policy::{ApprovalRules, PolicyRules};
use crate::sim::plan::chance::{CallFault, Strike};
use crate::sim::plan::dice::Dice;
use crate::sim::plan::documents::{Doc, DocBody, DocTree, FileChange};
use crate::sim::plan::parts::{remove_nth, remove_one};
use crate::sim::plan::requests::ScriptStep;

const DICE: u64 = 8;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct People {
    pub settler: Option<Settler>,
    pub limits: Vec<SimLimit>,
    /// Total of a plan, in minor units, above which two people must approve.
    pub above: Option<i64>,
    pub approvers: Vec<Approver>,
}

/// A person who compares the intents on hold with the service, and resolves them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Settler {
    /// Seconds between two looks.
    pub every_s: u64,
    /// Set if the person first asks for a retry of the settlement.
    pub retries: bool,
}

impl People {
    /// Draws the people of a seed. If plans are limited, people also change more files, and more
    /// calls have to be retried.
    pub(crate) fn new(
        seed: u64,
        files: &DocTree,
        (steps, strikes): (&mut [ScriptStep], &mut Vec<Strike>),
    ) -> Self {
        let mut dice = Dice::new(seed, DICE);
        let settles = dice.percent(30);
        let settler = Settler { every_s: dice.between(5, 90), retries: dice.percent(40) };
        let settler = Some(settler).filter(|_| settles);
        if !dice.percent(30) {
            return Self { settler, ..Self::default() };
        }
        let above = dice.number(100_000, 600_000);
        let above = Some(above).filter(|_| dice.percent(40));
        let (limits, approvers) = (draw_limits(&mut dice), draw_approvers(&mut dice));
        raise_amounts(files, steps, &mut dice);
        add_faults(strikes, &mut dice);
        Self { settler, limits, above, approvers }
    }

    pub(crate) fn count(&self) -> usize {
        usize::from(self.settler.is_some()).saturating_add(self.approvers.len())
    }

    pub(crate) fn remove_part(&mut self, nth: &mut usize) -> bool {
        remove_nth(&mut self.limits, nth)
            || remove_nth(&mut self.approvers, nth)
            || remove_one(&mut self.settler, nth)
    }

    pub(crate) fn rules(&self) -> PolicyRules {
        let of = |merchant: Option<&str>| {
            section(self.limits.iter().filter(|bound| bound.merchant.as_deref() == merchant))
        };
        let general = of(None);
        let own = of(Some(OWN));
        let key = format!("Merchant/default/{OWN}").parse();
        let merchants = key.ok().filter(|_| own != LimitSet::default()).map(|key| (key, own));
        let limits = Limits {
            live: general.clone(),
            test: general,
            merchants: merchants.into_iter().collect(),
        };
        let above = self.above.into_iter().map(|most| (Currency::USD, most)).collect();
        let approvals = ApprovalRules { above, ..ApprovalRules::default() };
        PolicyRules { limits, approvals, ..PolicyRules::default() }
    }
}

impl fmt::Display for People {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(Settler { every_s, retries }) = self.settler {
            let first = if retries { ", and first requests one retry" } else { "" };
            writeln!(f, "person  reads the intents on hold every {every_s} s{first}")?;
        }
        self.limits.iter().try_for_each(|bound| writeln!(f, "{bound}"))?;
        if let Some(above) = self.above {
            writeln!(f, "limit   above {above}, two people must approve")?;
        }
        self.approvers.iter().try_for_each(|approver| writeln!(f, "{approver}"))
    }
}

/// Merchant with limits of its own.
const OWN: &str = "m0";

/// The quantity that a limit bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LimitQuantity {
    /// One amount, in minor units.
    PerObject,
    /// All amounts of one state of the files on one day, in minor units.
    PerRun,
    /// All amounts of one UTC day, in minor units.
    PerDay,
    DeletesPerRun,
    DeletesPerDay,
    EmailsPerRun,
    EmailsPerDay,
}

/// Every quantity with its key, the percentage of worlds that limit it, and the range of the limit.
const QUANTITIES: [(LimitQuantity, &str, u64, (u64, u64)); 7] = [
    (LimitQuantity::PerObject, "per_object", 40, (100_000, 500_000)),
    (LimitQuantity::PerRun, "per_run", 40, (150_000, 800_000)),
    (LimitQuantity::PerDay, "per_day", 60, (150_000, 900_000)),
    (LimitQuantity::DeletesPerRun, "deletes_per_run", 25, (0, 1)),
    (LimitQuantity::DeletesPerDay, "deletes_per_day", 25, (0, 2)),
    (LimitQuantity::EmailsPerRun, "emails_per_run", 25, (0, 3)),
    (LimitQuantity::EmailsPerDay, "emails_per_day", 25, (0, 4)),
];

#[derive(Debug, Display, Clone, PartialEq, Eq)]
#[display("limit   {}: {max}", self.name())]
pub struct SimLimit {
    /// Merchant that the limit applies to; `None` for a general limit.
    pub merchant: Option<String>,
    pub what: LimitQuantity,
    /// Highest allowed value, in minor units or as a count.
    pub max: i64,
}

/// A person who approves plans that a limit blocks.
#[derive(Debug, Display, Clone, Copy, PartialEq, Eq)]
#[display("person  {name} reads the plan every {every_s} s, and approves {times} plans after \
    {thinks_s} s{}", if *ceilings { ", with a ceiling for each amount" } else { "" })]
pub struct Approver {
    pub name: &'static str,
    /// Seconds between two looks at the plan.
    pub every_s: u64,
    /// Seconds between a look and the approval, in which the plan may change.
    pub thinks_s: u64,
    pub times: u32,
    pub ceilings: bool,
}

fn draw_limits(dice: &mut Dice) -> Vec<SimLimit> {
    let mut bounds = Vec::new();
    for merchant in [None, Some(OWN)] {
        for (what, _, percent, (from, to)) in QUANTITIES {
            let rarer = if merchant.is_some() { 3 } else { 1 };
            let max = dice.number(from, to);
            if dice.percent(percent.checked_div(rarer).unwrap_or(0)) {
                bounds.push(SimLimit { merchant: merchant.map(str::to_owned), what, max });
            }
        }
    }
    bounds
}

fn draw_approvers(dice: &mut Dice) -> Vec<Approver> {
    let count = dice.below(3);
    let mut names = ["ann", "bob"].into_iter();
    let mut approver = || {
        let (every_s, times) = (dice.between(3, 60), 3);
        let thinks_s = if dice.percent(40) { 0 } else { dice.below(200) };
        let ceilings = dice.percent(40);
        names.next().map(|name| Approver { name, every_s, thinks_s, times, ceilings })
    };
    (0..count).filter_map(|_| approver()).collect()
}

/// Raises amounts and replaces invoices in a world with limits. So an old approval meets a larger
/// plan, and a second effect counts again.
fn raise_amounts(files: &DocTree, steps: &mut [ScriptStep], dice: &mut Dice) {
    let mut tree = files.clone();
    for step in steps {
        step.changes.iter().for_each(|change| change.apply(&mut tree));
        let moves = |doc: &&Doc| doc.amount().is_some() && doc.broken.is_none();
        let docs: Vec<&Doc> = tree.values().filter(moves).collect();
        let Some(doc) = dice.pick(&docs).copied().filter(|_| dice.percent(80)) else { continue };
        let change = FileChange::Write(with_higher_amount(doc.clone(), dice));
        change.apply(&mut tree);
        step.changes.push(change);
    }
}

/// Adds failures to the calls that move money in a world with limits.
fn add_faults(strikes: &mut Vec<Strike>, dice: &mut Dice) {
    for effect in ["invoice.create", "recurring.create", "charge.recur"] {
        for nth in 1..=3 {
            let free = !strikes.iter().any(|one| one.effect == effect && one.nth == nth);
            let fault = dice.either(CallFault::Throttle, CallFault::Reset);
            let seconds = dice.between(1, 25);
            if dice.percent(50) && free {
                strikes.push(Strike { effect, nth, fault, seconds });
            }
        }
    }
}

fn with_higher_amount(mut doc: Doc, dice: &mut Dice) -> Doc {
    let more = dice.number(1_000, 300_000);
    if let DocBody::Invoice { lines, .. } = &mut doc.body {
        lines.push(more);
        doc.generation = doc.generation.saturating_add(u32::from(dice.percent(60)));
    } else if let DocBody::Recurring { amount, .. } = &mut doc.body {
        *amount = amount.saturating_add(more);
    }
    doc
}

fn section<'a>(bounds: impl Iterator<Item = &'a SimLimit>) -> LimitSet {
    let mut section = LimitSet::default();
    for bound in bounds {
        let (name, place): (Arc<str>, Arc<str>) = (bound.name().into(), "reckon.yaml:1".into());
        let listed = BTreeMap::from([(Currency::USD, (bound.max, place.clone()))]);
        let amounts = Some(AmountLimit { name: name.clone(), place: place.clone(), listed });
        let most = u32::try_from(bound.max).unwrap_or(u32::MAX);
        let most = Some(CountLimit { name, place, maximum: most });
        match bound.what {
            LimitQuantity::PerObject => section.per_object = amounts,
            LimitQuantity::PerRun => section.per_run = amounts,
            LimitQuantity::PerDay => section.per_day = amounts,
            LimitQuantity::DeletesPerRun => section.deletes_per_run = most,
            LimitQuantity::DeletesPerDay => section.deletes_per_day = most,
            LimitQuantity::EmailsPerRun => section.emails_per_run = most,
            LimitQuantity::EmailsPerDay => section.emails_per_day = most,
        }
    }
    section
}

impl SimLimit {
    /// Name of the limit, as the plan shows it.
    pub fn name(&self) -> String {
        let row = QUANTITIES.iter().find(|(what, ..)| *what == self.what);
        let key = row.map_or("", |(_, key, ..)| key);
        match &self.merchant {
            None => format!("policy.limits.{key}"),
            Some(merchant) => format!("policy.limits.merchants.{merchant}.{key}"),
        }
    }
}

/// A plan that an approver has seen and is about to approve.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SeenPlan {
    pub(crate) actor: &'static str,
    pub(crate) checksum: String,
    /// Highest amount of each document, by kind and name, in minor units.
    pub(crate) amounts: BTreeMap<(String, String), i64>,
}
