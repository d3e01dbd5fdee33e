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
    format!("{} ms", hundredths(time.as_micros() / 10))
}

/// Microseconds of each of so many, with two decimals.
pub(crate) fn us_each(time: Duration, count: usize) -> String {
    let count = u128::try_from(count).unwrap_or(1).max(1);
    format!("{} us each", hundredths((time.as_nanos() / 10).checked_div(count).unwrap_or(0)))
}

/// How many times `other` goes into `one`, in hundredths.
pub(crate) fn ratio(one: u128, other: u128) -> u128 {
    one.saturating_mul(100).checked_div(other).unwrap_or(u128::MAX)
}

/// How many times one time is as long as another, in hundredths.
pub(crate) fn times(one: Duration, other: Duration) -> u128 {
    ratio(one.as_nanos(), other.as_nanos())
}

/// A number of hundredths as people write it.
pub(crate) fn hundredths(number: u128) -> String {
    format!("{}.{:02}", number / 100, number % 100)
}

/// A number of rounds. Errors: too few for a median.
pub(crate) fn rounds(text: &str) -> Result<usize, String> {
    let rounds = text.parse().ok().filter(|rounds| *rounds >= 3);
    rounds.ok_or_else(|| "a median needs at least 3 rounds".to_owned())
}
