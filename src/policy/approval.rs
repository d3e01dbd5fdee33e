//! Approval coverage: an approval permits the steps that it names, with their amounts or lower
//! ones, and nothing else.
//!
//! A newer plan that only lowers amounts, or leaves steps out, stays approved. An unnamed step, a
//! higher amount, another payer, account, schedule or currency, and another generation are not
//! approved.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use serde_json::Value;

use crate::base::fault_injection;
use crate::base::hash::{Digest, canonical, keyed_digest};
use crate::base::money::{Currency, Money};
use crate::model::intents::exposure::{Exposure, SpendRequest};
use crate::model::operator::approval::{PlanApproval, StoredApproval};

/// Label that separates these digests from all others.
const LABEL: &str = "plan-approval";
/// Fields that hold amounts: limits and an approval's amounts apply to these.
const AMOUNTS: [&str; 3] = ["amount", "first_amount", "rate_per_quantity"];
/// Validity of an approval where the file names none.
const VALID_DEFAULT: Duration = Duration::from_hours(7 * 24);

/// The operator's rules for approvals.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApprovalRules {
    /// A plan that moves more than this amount of a currency needs `approvers` people. With amounts
    /// listed, an unlisted currency needs as many.
    pub above: BTreeMap<Currency, i64>,
    /// Number of different people.
    pub approvers: usize,
    /// Validity of an approval.
    pub valid_for: Duration,
}

impl Default for ApprovalRules {
    fn default() -> Self {
        Self { above: BTreeMap::new(), approvers: 2, valid_for: VALID_DEFAULT }
    }
}

impl ApprovalRules {
    /// Returns the number of people who have to approve a plan of these steps.
    pub fn approvers_needed(&self, steps: &[SpendRequest]) -> usize {
        let mut sums: BTreeMap<Currency, i64> = BTreeMap::new();
        for (currency, amount) in steps.iter().flat_map(|step| step.exposure.sums()) {
            let sum = sums.entry(currency).or_default();
            *sum = sum.saturating_add(amount);
        }
        let above = |(currency, sum): (&Currency, &i64)| {
            *sum > self.above.get(currency).copied().unwrap_or(0)
        };
        if !self.above.is_empty() && sums.iter().any(above) { self.approvers.max(1) } else { 1 }
    }

    /// Returns whether an approval is valid at this time.
    pub fn is_valid(&self, approval: &PlanApproval, now: DateTime<Utc>) -> bool {
        let age = TimeDelta::from_std(self.valid_for).unwrap_or(TimeDelta::MAX);
        let until = approval.signed.as_ref().and_then(|signed| signed.until);
        now.signed_duration_since(approval.at) < age && until.is_none_or(|until| now < until)
    }
}

/// The approvals that cover one planned effect.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ApprovalStatus {
    /// Ids of the covering approvals.
    pub ids: Vec<String>,
    /// The people who gave them, each once.
    pub actors: BTreeSet<String>,
    /// Number of people who are needed.
    pub approvers_needed: usize,
}

impl ApprovalStatus {
    /// Returns whether enough people approved it.
    pub fn is_enough(&self) -> bool {
        self.approvers_needed > 0 && self.actors.len() >= self.approvers_needed
    }
}

/// Returns the approvals that cover one planned effect at this time. Of several approved plans, the
/// one that needs the fewest people decides how many are needed.
pub fn approval_status(
    rules: &ApprovalRules,
    kept: &[StoredApproval],
    wish: &SpendRequest,
    now: DateTime<Utc>,
) -> ApprovalStatus {
    let covering = kept.iter().filter(|kept| {
        rules.is_valid(&kept.approval, now)
            && !kept.is_used_for(&wish.key)
            && kept.approval.steps.iter().any(|step| covers(step, wish))
    });
    let mut standing = ApprovalStatus::default();
    for StoredApproval { approval, used: _ } in covering {
        let needed = rules.approvers_needed(&approval.steps);
        standing.approvers_needed = if standing.approvers_needed == 0 {
            needed
        } else {
            standing.approvers_needed.min(needed)
        };
        standing.ids.push(approval.id.clone());
        standing.actors.insert(approval.actor.clone());
    }
    standing
}

/// Returns whether the approval of one step covers a planned effect.
pub fn covers(step: &SpendRequest, wish: &SpendRequest) -> bool {
    let SpendRequest { key, merchant, mode, generation, amountless_digest: rest, exposure: stake } =
        step;
    let same = (key, merchant, mode, generation, rest)
        == (&wish.key, &wish.merchant, &wish.mode, &wish.generation, &wish.amountless_digest);
    same && (is_within(stake, &wish.exposure) || fault_injection::is_active("approval-reused"))
}

/// Returns whether every amount and count is at most the approved one.
fn is_within(approved: &Exposure, wanted: &Exposure) -> bool {
    let (approved_sums, wanted_sums) = (by_meaning(approved), by_meaning(wanted));
    let money = wanted_sums
        .iter()
        .all(|(name, amount)| approved_sums.get(name).is_some_and(|approved| amount <= approved));
    money
        && wanted.counts.deletes <= approved.counts.deletes
        && wanted.counts.emails <= approved.counts.emails
}

/// Returns sums by meaning and currency; a negative amount counts with its absolute value.
fn by_meaning(stake: &Exposure) -> BTreeMap<(&str, Currency), i64> {
    let mut sums: BTreeMap<_, i64> = BTreeMap::new();
    for moved in &stake.moves {
        let sum = sums.entry((moved.meaning.as_str(), moved.amount.currency())).or_default();
        *sum = sum.saturating_add(moved.amount.minor().saturating_abs());
    }
    sums
}

/// Returns a digest of a document without its amounts: approvals bind to it.
pub fn amountless_digest(spec: Option<&Value>, key: &[u8; 32]) -> Digest {
    let mut spec = spec.cloned().unwrap_or_default();
    blank_amounts(&mut spec);
    keyed_digest(key, LABEL, &canonical(&spec))
}

/// Empties the fields that hold amounts; their currencies stay, since exposures name them.
fn blank_amounts(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                if AMOUNTS.contains(&name.as_str()) {
                    *value = Value::Null;
                } else {
                    blank_amounts(value);
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(blank_amounts),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Returns the first sum of a plan that exceeds the approver's stated maximum, with that maximum.
pub fn first_excess<'a>(
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
