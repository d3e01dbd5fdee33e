//! Medians and ratios, without floats.

use std::time::Duration;

/// The middle one; of an even number, the upper of the two.
pub(crate) fn median<T: Ord + Copy + Default>(figures: &[T]) -> T {
    let mut sorted = figures.to_vec();
    sorted.sort_unstable();
    sorted.get(sorted.len() / 2).copied().unwrap_or_default()
}

/// Milliseconds with two decimals.
pub(crate) fn ms(time: Duration) -> String {
    hundredths(time.as_micros() / 10)
}

/// How many times `other` goes into `one`, in hundredths.
pub(crate) fn ratio(one: u128, other: u128) -> u128 {
    one.saturating_mul(100).checked_div(other).unwrap_or(u128::MAX)
}

/// A number of hundredths as people write it.
pub(crate) fn hundredths(number: u128) -> String {
    format!("{}.{:02}", number / 100, number % 100)
}

/// The last word of a line.
pub(crate) fn met(good: bool) -> &'static str {
    if good { "met" } else { "MISSED" }
}
