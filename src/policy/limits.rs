//! The configured limits, each with its name and its place in the operator's file.
//!
//! An amount that is much greater than the usual ones of its kind is over a limit, too.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::base::id::{Key, Mode};
use crate::base::money::Currency;

/// Amounts by currency, in minor units. An empty list limits nothing; in any other list an unlisted
/// currency may not move at all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AmountLimit {
    /// The limit's name, such as `policy.limits.per_day`.
    pub name: Arc<str>,
    /// The place of the list, such as `reckon.yaml:14`.
    pub place: Arc<str>,
    /// Each amount and its place.
    pub listed: BTreeMap<Currency, (i64, Arc<str>)>,
}

impl AmountLimit {
    /// Returns the allowed amount in a currency, and its place; `None` without a limit.
    pub fn allowed_in(&self, currency: Currency) -> Option<(i64, &str)> {
        if self.listed.is_empty() {
            return None;
        }
        let listed = self.listed.get(&currency);
        Some(listed.map_or((0, &*self.place), |(most, place)| (*most, &**place)))
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CountLimit {
    /// The limit's name, such as `policy.limits.deletes_per_run`.
    pub name: Arc<str>,
    pub place: Arc<str>,
    pub maximum: u32,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LimitSet {
    /// Limit on one amount of one resource.
    pub per_object: Option<AmountLimit>,
    /// Limit on all that one state of the files moves on one day.
    pub per_run: Option<AmountLimit>,
    pub per_day: Option<AmountLimit>,
    /// Limit relative to the typical amount, in percent.
    pub typical_percent: Option<CountLimit>,
    pub deletes_per_run: Option<CountLimit>,
    pub deletes_per_day: Option<CountLimit>,
    pub emails_per_run: Option<CountLimit>,
    pub emails_per_day: Option<CountLimit>,
}

impl LimitSet {
    /// Fills missing limits from the other section.
    #[must_use]
    pub fn with_fallback(self, other: &Self) -> Self {
        let other = other.clone();
        Self {
            per_object: self.per_object.or(other.per_object),
            per_run: self.per_run.or(other.per_run),
            per_day: self.per_day.or(other.per_day),
            typical_percent: self.typical_percent.or(other.typical_percent),
            deletes_per_run: self.deletes_per_run.or(other.deletes_per_run),
            deletes_per_day: self.deletes_per_day.or(other.deletes_per_day),
            emails_per_run: self.emails_per_run.or(other.emails_per_run),
            emails_per_day: self.emails_per_day.or(other.emails_per_day),
        }
    }
}

/// All limits. Money of the two modes is counted apart.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Limits {
    pub live: LimitSet,
    pub test: LimitSet,
    /// For single merchants: their limits on one resource replace the general ones; their sums and
    /// counts apply besides the general ones.
    pub merchants: BTreeMap<Key, LimitSet>,
}

impl Limits {
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    pub fn general(&self, mode: Mode) -> &LimitSet {
        match mode {
            Mode::Live => &self.live,
            Mode::Test => &self.test,
        }
    }

    /// Returns the limit for one resource of a merchant: the merchant's own, else the general one.
    pub fn for_resource<'a, T>(
        &'a self,
        mode: Mode,
        merchant: &Key,
        of: impl Fn(&'a LimitSet) -> Option<&'a T>,
    ) -> Option<&'a T> {
        let own = self.merchants.get(merchant).and_then(&of);
        own.or_else(|| of(self.general(mode)))
    }
}

/// Number of the last amounts that are stored.
pub const RECENT_MAX: usize = 25;
/// Fewest amounts that give a typical one.
pub const SAMPLE_MIN: usize = 5;

/// Amounts of the past, in minor units.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TypicalAmounts {
    /// The last amount of the same resource, in the same currency and with the same meaning.
    pub own: Option<i64>,
    /// The last ones of the same kind, merchant, currency and meaning, oldest first.
    pub recent: Vec<i64>,
}

/// Returns the amount that a new one is compared with.
pub fn typical_amount(usual: &TypicalAmounts) -> Option<i64> {
    usual.own.or_else(|| median(&usual.recent)).filter(|base| *base > 0)
}

/// Returns whether an amount is more than `percent` percent of the typical one.
pub fn exceeds(amount: i64, base: i64, percent: u32) -> bool {
    i128::from(amount).saturating_mul(100) > i128::from(base).saturating_mul(i128::from(percent))
}

/// Returns an amount in percent of the typical one, rounded up.
pub fn percent(amount: i64, base: i64) -> i128 {
    let (amount, base) = (i128::from(amount), i128::from(base.max(1)));
    amount.saturating_mul(100).saturating_add(base.saturating_sub(1)).checked_div(base).unwrap_or(0)
}

/// Returns the median; of two middle values, the lower one.
fn median(amounts: &[i64]) -> Option<i64> {
    if amounts.len() < SAMPLE_MIN {
        return None;
    }
    let mut sorted = amounts.to_vec();
    sorted.sort_unstable();
    let middle = sorted.len().saturating_sub(1).checked_div(2)?;
    sorted.get(middle).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn usual(own: Option<i64>, recent: &[i64]) -> Option<i64> {
        typical_amount(&TypicalAmounts { own, recent: recent.to_vec() })
    }

    #[test]
    fn what_it_was_before_counts_more_than_what_others_are() {
        assert_eq!(usual(Some(70), &[1, 1, 1, 1, 1]), Some(70));
        assert_eq!(usual(None, &[9, 1, 5, 7, 3]), Some(5));
        assert_eq!(usual(None, &[9, 1, 5, 7, 3, 8]), Some(5), "the lower one of two");
        assert_eq!(usual(None, &[9, 1, 5, 7]), None, "too few to know");
        assert_eq!(usual(Some(0), &[9, 1, 5, 7, 3]), None, "nothing is a percentage of nothing");
    }

    #[test]
    fn a_percentage_is_exact() {
        assert!(!exceeds(300, 100, 300) && exceeds(301, 100, 300));
        assert!(!exceeds(1, 3, 34) && exceeds(1, 3, 33));
        assert!(exceeds(i64::MAX, i64::MAX - 1, 100));
        assert_eq!((percent(301, 100), percent(1, 3), percent(100, 1)), (301, 34, 10_000));
    }
}
