//! The exposure of an effect: money, removed objects, e-mails. Limits and approvals consider
//! nothing else.
//!
//! A sum counts the money that we move, in any direction: two directions never cancel each other.
//! An occurrence's amount counts once, with the effect that creates the schedule, and only where
//! that effect charges nothing now. The later occurrences are the service's own.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::base::hash::Digest;
use crate::base::id::{Key, Mode};
use crate::base::money::{Currency, Money};

/// Prefix of the meanings of money that every occurrence of a schedule collects.
pub const PER_OCCURRENCE: &str = "collected_per_occurrence";

/// Money that an effect moves, as an intent stores it. Its mode is the intent's.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordedMove {
    pub amount: Money,
    /// The kind of the movement, as in the plan.
    pub meaning: String,
}

impl From<&MoneyMove> for RecordedMove {
    fn from(money: &MoneyMove) -> Self {
        Self { amount: money.amount, meaning: money.meaning.to_owned() }
    }
}

/// The exposure of one effect.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exposure {
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub moves: Vec<RecordedMove>,
    /// Removed objects and e-mails.
    #[serde(default)]
    pub counts: ExposureCounts,
    /// The run that it counts towards: one state of the files on one day. `None` without limits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    /// The approvals that let it pass a limit. An approved effect counts towards no run and no day.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub approvals: Vec<String>,
}

impl Exposure {
    /// Makes an exposure that is not assigned to a run yet.
    pub fn new(moves: &[MoneyMove], counts: ExposureCounts) -> Self {
        let moves = moves.iter().map(RecordedMove::from).collect();
        Self { moves, counts, ..Self::default() }
    }

    /// Returns whether there is no exposure.
    pub fn is_empty(&self) -> bool {
        self.moves.is_empty() && self.counts == ExposureCounts::default()
    }

    /// Returns the amounts that it adds to a run and to a day, in minor units.
    pub fn sums(&self) -> BTreeMap<Currency, i64> {
        let later = |moved: &&RecordedMove| moved.meaning.starts_with(PER_OCCURRENCE);
        let now = self.moves.iter().filter(|moved| !later(moved));
        let counted: Vec<&RecordedMove> = match now.collect::<Vec<_>>() {
            none if none.is_empty() => self.moves.iter().collect(),
            now => now,
        };
        let mut sums = BTreeMap::new();
        for moved in counted {
            let sum: &mut i64 = sums.entry(moved.amount.currency()).or_default();
            *sum = sum.saturating_add(moved.amount.minor().saturating_abs());
        }
        sums
    }
}

/// One planned effect, as limits and approvals see it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SpendRequest {
    pub key: Key,
    pub merchant: Key,
    pub mode: Mode,
    /// The generation of its document.
    pub generation: u32,
    /// A keyed digest of its document without the amounts: another payer or account gives another
    /// digest.
    #[serde(rename = "rest")]
    pub amountless_digest: Option<Digest>,
    #[serde(rename = "stake")]
    pub exposure: Exposure,
}

/// Running totals of a run or of a day.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunningTotals {
    /// Sums in minor units.
    pub money: BTreeMap<Currency, i64>,
    /// Removed objects.
    pub deletes: u32,
    pub emails: u32,
}

impl RunningTotals {
    /// Adds an exposure.
    pub fn add(&mut self, stake: &Exposure) {
        for (currency, amount) in stake.sums() {
            let sum = self.money.entry(currency).or_default();
            *sum = sum.saturating_add(amount);
        }
        self.deletes = self.deletes.saturating_add(stake.counts.deletes);
        self.emails = self.emails.saturating_add(stake.counts.emails);
    }

    /// Subtracts an exposure that was counted and did not happen.
    pub fn subtract(&mut self, stake: &Exposure) {
        for (currency, amount) in stake.sums() {
            let sum = self.money.entry(currency).or_default();
            *sum = sum.saturating_sub(amount).max(0);
        }
        self.deletes = self.deletes.saturating_sub(stake.counts.deletes);
        self.emails = self.emails.saturating_sub(stake.counts.emails);
    }

    /// Returns the sum in a currency.
    pub fn sum(&self, currency: Currency) -> i64 {
        self.money.get(&currency).copied().unwrap_or_default()
    }
}

/// Money that a step moves.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct MoneyMove {
    pub amount: Money,
    pub mode: Mode,
    /// The kind of the movement: `invoiced`, `charged_now`, `collected_per_occurrence`. Money into
    /// a trust account has a meaning of its own, so that sums keep it apart.
    pub meaning: &'static str,
}

/// Quantities besides money that limits count.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExposureCounts {
    /// Objects that are removed.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub deletes: u32,
    /// E-mails that the service sends for the effect, one for each address.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub emails: u32,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
pub(crate) fn is_zero(count: &u32) -> bool {
    *count == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stake(moves: &[(i64, &'static str)]) -> Exposure {
        let moves: Vec<MoneyMove> = moves
            .iter()
            .map(|(minor, meaning)| MoneyMove {
                amount: Money::new(*minor, Currency::USD),
                mode: Mode::Test,
                meaning,
            })
            .collect();
        Exposure::new(&moves, ExposureCounts { deletes: 1, emails: 2 })
    }

    #[test]
    fn a_schedule_counts_once_and_a_charge_now_counts_instead_of_it() {
        let usd = |stake: Exposure| stake.sums().get(&Currency::USD).copied();
        assert_eq!(usd(stake(&[(500, "collected_per_occurrence_into_trust")])), Some(500));
        assert_eq!(
            usd(stake(&[(700, "charged_now"), (500, "collected_per_occurrence")])),
            Some(700)
        );
        assert_eq!(usd(stake(&[(-300, "refunded"), (300, "charged")])), Some(600));
        assert_eq!(usd(stake(&[])), None);
    }

    #[test]
    fn what_is_given_back_is_what_was_counted() {
        let mut tally = RunningTotals::default();
        tally.add(&stake(&[(700, "charged")]));
        tally.add(&stake(&[(100, "charged")]));
        tally.subtract(&stake(&[(700, "charged")]));
        assert_eq!((tally.sum(Currency::USD), tally.deletes, tally.emails), (100, 1, 2));
    }
}
