//! Typical amounts: the amount that a resource moved before, else the median of the last ones of
//! its sort.
//!
//! Integers only. Without a past no amount is unusual: the other limits exist for that case.

use serde::{Deserialize, Serialize};

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
    let wide = |number: i64| i128::from(number);
    wide(amount).saturating_mul(100) > wide(base).saturating_mul(i128::from(percent))
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
