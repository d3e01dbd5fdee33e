//! Permissions by the operator: plans, by approvals, and scripts, by the rights of `policy.scripts`.
//! Pure.
//!
//! An approval permits the steps that it names, with their amounts or lower ones, and nothing else.
//! A newer plan that only lowers amounts, or leaves steps out, stays approved. An unnamed step, a
//! higher amount, another payer, account, schedule or currency, and another generation are not
//! approved.
//!
//! Rights are given to scripts by power and merchant. Scripts come by pull request. Without
//! configuration they may read, calculate, write to chats, suspend and stop things. Moving money,
//! mail, payers' links and personal values need an explicit right.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use serde_json::Value;

use crate::base::fault_injection;
use crate::base::hash::{Digest, canonical, keyed_digest};
use crate::base::id::Key;
use crate::base::money::{Currency, Money};
use crate::model::effect::{Exposure, SpendRequest};
use crate::model::operator::{PlanApproval, StoredApproval};

/// Label that separates these digests from all others.
const LABEL: &str = "plan-approval";
/// Fields that hold amounts: limits and an approval's amounts apply to these.
const AMOUNTS: [&str; 3] = ["amount", "first_amount", "rate_per_quantity"];
/// Validity of an approval where the file names none.
const VALID_DEFAULT: Duration = Duration::from_hours(7 * 24);

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApprovalRules {
    /// A plan that moves more than this amount of a currency needs `approvers` people. With amounts
    /// listed, an unlisted currency needs as many.
    pub above: BTreeMap<Currency, i64>,
    pub approvers: usize,
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

    pub fn is_valid(&self, approval: &PlanApproval, now: DateTime<Utc>) -> bool {
        let age = TimeDelta::from_std(self.valid_for).unwrap_or(TimeDelta::MAX);
        let until = approval.signed.as_ref().and_then(|signed| signed.until);
        now.signed_duration_since(approval.at) < age && until.is_none_or(|until| now < until)
    }
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ApprovalStatus {
    pub ids: Vec<String>,
    /// The people who gave them, each once.
    pub actors: BTreeSet<String>,
    pub approvers_needed: usize,
}

impl ApprovalStatus {
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
    let covering: Vec<&PlanApproval> = covering.map(|kept| &kept.approval).collect();
    let needed = covering.iter().map(|one| rules.approvers_needed(&one.steps)).min();
    ApprovalStatus {
        ids: covering.iter().map(|one| one.id.clone()).collect(),
        actors: covering.iter().map(|one| one.actor.clone()).collect(),
        approvers_needed: needed.unwrap_or(0),
    }
}

pub fn covers(step: &SpendRequest, wish: &SpendRequest) -> bool {
    let SpendRequest { key, merchant, mode, generation, amountless_digest: rest, exposure: stake } =
        step;
    let same = (key, merchant, mode, generation, rest)
        == (&wish.key, &wish.merchant, &wish.mode, &wish.generation, &wish.amountless_digest);
    same && (is_within(stake, &wish.exposure) || fault_injection::is_active("approval-reused"))
}

/// Returns whether every amount and count is at most the approved one.
fn is_within(approved: &Exposure, wanted: &Exposure) -> bool {
    let approved_sums = by_meaning(approved);
    let mut sums = by_meaning(wanted).into_iter();
    sums.all(|(name, amount)| approved_sums.get(&name).is_some_and(|most| amount <= *most))
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

/// A power of scripts that is closed until the configuration opens it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ScriptPower {
    /// Refunds to payers: `refund`, `void`.
    Refund,
    /// Charges: `charge`, `capture`, `pay_occurrence`.
    Charge,
    /// Money paid out without a charge: `credit`.
    Credit,
    /// `notify` to a target that is mail.
    Mail,
    /// A live payer's link for a new card: `new_card_link`.
    CardLink,
    /// Names, addresses, e-mail and phone in the objects that scripts read.
    Personal,
}

impl ScriptPower {
    /// Every power, in the order of the documentation.
    pub const ALL: [Self; 6] =
        [Self::Refund, Self::Charge, Self::Credit, Self::Mail, Self::CardLink, Self::Personal];

    pub const fn word(self) -> &'static str {
        match self {
            Self::Refund => "refund",
            Self::Charge => "charge",
            Self::Credit => "credit",
            Self::Mail => "mail",
            Self::CardLink => "card_link",
            Self::Personal => "personal",
        }
    }

    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|power| power.word() == word)
    }

    /// Returns a sentence that refuses the power, and the text to write instead.
    pub fn refusal(self, merchant: Option<&Key>) -> (String, String) {
        let word = self.word();
        let at = merchant.map(|merchant| format!(" at {}", merchant.short())).unwrap_or_default();
        let message = format!("scripts have no right to `{word}`{at}");
        let name = merchant.map(Key::short);
        let name = name.as_deref().and_then(|name| name.split_once('/'));
        let name = name.map_or("MERCHANT", |(_, name)| name);
        let help = format!(
            "add `policy: {{scripts: {{allow: {{{word}: [{name}]}}}}}}` to reckon.yaml (`all` opens it for every merchant)"
        );
        (message, help)
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AllowedMerchants {
    All,
    Some(BTreeSet<Key>),
}

/// The opened powers; powers without an entry are closed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rights(BTreeMap<ScriptPower, AllowedMerchants>);

impl Rights {
    /// Makes the rights of these powers, for these merchants.
    pub fn new(powers: impl IntoIterator<Item = (ScriptPower, AllowedMerchants)>) -> Self {
        Self(powers.into_iter().collect())
    }

    pub fn all() -> Self {
        Self::new(ScriptPower::ALL.map(|power| (power, AllowedMerchants::All)))
    }

    pub fn allows_any(&self, power: ScriptPower) -> bool {
        self.0.contains_key(&power)
    }

    /// Returns whether a power is open for this merchant; without one, only a power that is open
    /// for all.
    pub fn allows(&self, power: ScriptPower, merchant: Option<&Key>) -> bool {
        self.0.get(&power).is_some_and(|allowed| match allowed {
            AllowedMerchants::All => true,
            AllowedMerchants::Some(names) => merchant.is_some_and(|one| names.contains(one)),
        })
    }
}

#[cfg(test)]
mod tests;

#[cfg(test)]
mod script_rights_tests {
    use super::*;

    #[test]
    fn a_power_is_closed_until_it_is_opened_and_then_for_those_merchants_alone() {
        let (acme, other): (Key, Key) =
            ("Merchant/acme".parse().unwrap(), "Merchant/books/acme".parse().unwrap());
        let rights = Rights::new([
            (ScriptPower::Refund, AllowedMerchants::Some([acme.clone()].into())),
            (ScriptPower::Mail, AllowedMerchants::All),
        ]);
        let may = |power, merchant: Option<&Key>| rights.allows(power, merchant);
        assert!(may(ScriptPower::Refund, Some(&acme)) && !may(ScriptPower::Refund, Some(&other)));
        assert!(!may(ScriptPower::Refund, None) && may(ScriptPower::Mail, None));
        assert!(!may(ScriptPower::Charge, Some(&acme)) && !rights.allows_any(ScriptPower::Charge));
        assert!(!ScriptPower::ALL.into_iter().any(|power| Rights::default().allows_any(power)));
        let (message, help) = ScriptPower::Refund.refusal(Some(&other));
        assert_eq!(message, "scripts have no right to `refund` at Merchant/books/acme");
        assert!(help.contains("{refund: [books/acme]}"), "{help}");
    }
}
