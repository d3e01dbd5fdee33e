//! Medians and ratios, without floats.

use std::time::Duration;

/// Returns the middle figure; of an even number of figures, the upper of the two.
pub(crate) fn median<T: Ord + Copy + Default>(figures: &[T]) -> T {
    let mut sorted = figures.to_vec();
    sorted.sort_unstable();
    sorted.get(sorted.len() / 2).copied().unwrap_or_default()
}

/// Formats milliseconds with two decimals.
pub(crate) fn ms(time: Duration) -> String {
    format!("{} ms", hundredths(time.as_micros() / 10))
}

/// Formats the microseconds of each of `count`, with two decimals.
pub(crate) fn us_each(time: Duration, count: usize) -> String {
    let count = u128::try_from(count).unwrap_or(1).max(1);
    format!("{} us each", hundredths((time.as_nanos() / 10).checked_div(count).unwrap_or(0)))
}

/// Returns `one` divided by `other`, in hundredths.
pub(crate) fn ratio(one: u128, other: u128) -> u128 {
    one.saturating_mul(100).checked_div(other).unwrap_or(u128::MAX)
}

/// Returns the ratio of two times, in hundredths.
pub(crate) fn times(one: Duration, other: Duration) -> u128 {
    ratio(one.as_nanos(), other.as_nanos())
}

/// Formats a number of hundredths for people.
pub(crate) fn hundredths(number: u128) -> String {
    format!("{}.{:02}", number / 100, number % 100)
}

/// Reads a number of rounds.
///
/// # Errors
///
/// Too few rounds for a median.
pub(crate) fn rounds(text: &str) -> Result<usize, String> {
    let rounds = text.parse().ok().filter(|rounds| *rounds >= 3);
    rounds.ok_or_else(|| "a median needs at least 3 rounds".to_owned())
}
