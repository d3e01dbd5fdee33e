//! What an approval lets through: the steps that it names, with their amounts or lower ones, and nothing else.
//!
//! A newer plan that only lowers amounts, or leaves steps out, stays approved. A step that it does not name,
//! a higher amount, another payer, account, schedule or currency, another generation: none is approved.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use serde_json::Value;

use crate::base::hash::{Digest, canonical, keyed};
use crate::base::money::{Currency, Money};
use crate::base::planted;
use crate::model::plan_approval::{KeptApproval, PlanApproval};
use crate::model::stake::{Stake, Wish};

/// What separates these digests from all others.
const LABEL: &str = "plan-approval";
/// Fields that hold amounts: the limits and the amounts of an approval are about them.
const AMOUNTS: [&str; 3] = ["amount", "first_amount", "rate_per_quantity"];
/// How long an approval counts where the file does not say.
const VALID_DEFAULT: Duration = Duration::from_hours(7 * 24);

/// What the operator asks of approvals.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApprovalRules {
    /// A plan that moves more than this of a currency takes `approvers` people. With amounts listed, a
    /// currency that is not takes as many.
    pub above: BTreeMap<Currency, i64>,
    /// How many different people that takes.
    pub approvers: usize,
    /// How long an approval counts.
    pub valid_for: Duration,
}

impl Default for ApprovalRules {
    fn default() -> Self {
        Self { above: BTreeMap::new(), approvers: 2, valid_for: VALID_DEFAULT }
    }
}

impl ApprovalRules {
    /// How many people have to approve a plan of these steps.
    pub fn needed(&self, steps: &[Wish]) -> usize {
        let mut sums: BTreeMap<Currency, i64> = BTreeMap::new();
        for (currency, amount) in steps.iter().flat_map(|step| step.stake.sums()) {
            let sum = sums.entry(currency).or_default();
            *sum = sum.saturating_add(amount);
        }
        let above = |(currency, sum): (&Currency, &i64)| {
            *sum > self.above.get(currency).copied().unwrap_or(0)
        };
        if !self.above.is_empty() && sums.iter().any(above) { self.approvers.max(1) } else { 1 }
    }

    /// Whether an approval counts at this time.
    pub fn counts(&self, approval: &PlanApproval, now: DateTime<Utc>) -> bool {
        let age = TimeDelta::from_std(self.valid_for).unwrap_or(TimeDelta::MAX);
        let until = approval.signed.as_ref().and_then(|signed| signed.until);
        now.signed_duration_since(approval.at) < age && until.is_none_or(|until| now < until)
    }
}

/// What approvals come to for one wish.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Standing {
    /// The approvals that cover it.
    pub ids: Vec<String>,
    /// Who gave them, each once.
    pub actors: BTreeSet<String>,
    /// How many people it takes.
    pub needed: usize,
}

impl Standing {
    /// Whether enough people approved it.
    pub fn is_enough(&self) -> bool {
        self.needed > 0 && self.actors.len() >= self.needed
    }
}

/// What the approvals come to for one wish at this time. Of several plans that were approved, the one
/// that takes the fewest people decides how many it takes.
pub fn standing(
    rules: &ApprovalRules,
    kept: &[KeptApproval],
    wish: &Wish,
    now: DateTime<Utc>,
) -> Standing {
    let covering = kept.iter().filter(|kept| {
        rules.counts(&kept.approval, now)
            && !kept.is_used_for(&wish.key)
            && kept.approval.steps.iter().any(|step| covers(step, wish))
    });
    let mut standing = Standing::default();
    for KeptApproval { approval, used: _ } in covering {
        let needed = rules.needed(&approval.steps);
        standing.needed = if standing.needed == 0 { needed } else { standing.needed.min(needed) };
        standing.ids.push(approval.id.clone());
        standing.actors.insert(approval.actor.clone());
    }
    standing
}

/// Whether the approval of one step is good for a wish.
pub fn covers(step: &Wish, wish: &Wish) -> bool {
    let Wish { key, merchant, mode, generation, rest, stake } = step;
    let same = (key, merchant, mode, generation, rest)
        == (&wish.key, &wish.merchant, &wish.mode, &wish.generation, &wish.rest);
    same && (no_more(stake, &wish.stake) || planted::is("approval-reused"))
}

/// Whether every amount and count is at most what was approved.
fn no_more(approved: &Stake, wanted: &Stake) -> bool {
    let (approved_sums, wanted_sums) = (by_meaning(approved), by_meaning(wanted));
    let money = wanted_sums
        .iter()
        .all(|(name, amount)| approved_sums.get(name).is_some_and(|approved| amount <= approved));
    money
        && wanted.counts.deletes <= approved.counts.deletes
        && wanted.counts.emails <= approved.counts.emails
}

/// Sums by meaning and currency; an amount below zero counts as what it moves.
fn by_meaning(stake: &Stake) -> BTreeMap<(&str, Currency), i64> {
    let mut sums: BTreeMap<_, i64> = BTreeMap::new();
    for moved in &stake.moves {
        let sum = sums.entry((moved.meaning.as_str(), moved.amount.currency())).or_default();
        *sum = sum.saturating_add(moved.amount.minor().saturating_abs());
    }
    sums
}

/// A digest of a document but for its amounts: approvals bind to it.
pub fn rest(spec: Option<&Value>, key: &[u8; 32]) -> Digest {
    let mut spec = spec.cloned().unwrap_or_default();
    blank(&mut spec);
    keyed(key, LABEL, &canonical(&spec))
}

/// Empties the fields that hold amounts; their currencies stay, since stakes name them.
fn blank(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                if AMOUNTS.contains(&name.as_str()) { *value = Value::Null } else { blank(value) }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(blank),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// The first sum of a plan that is more than the approver said it might be, with what was said.
pub fn beyond<'a>(
    said: &'a [Money],
    sums: &BTreeMap<Currency, i64>,
) -> Option<(Money, Option<&'a Money>)> {
    let mut sums = sums.iter().filter(|_| !said.is_empty());
    sums.find_map(|(currency, sum)| {
        let most = said.iter().find(|most| most.currency() == *currency);
        let within = most.is_some_and(|most| *sum <= most.minor());
        (!within).then(|| (Money::new(*sum, *currency), most))
    })
}

#[cfg(test)]
mod tests;
