//! Medians, worst rounds and ratios, without floats.

use std::time::Duration;

/// A figure over all its rounds.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Figure<T> {
    /// The middle round; of an even number of rounds, the higher of the two.
    pub(crate) median: T,
    /// The worst round.
    pub(crate) worst: T,
}

impl<T: Ord + Copy + Default> Figure<T> {
    /// Returns the figure of a cost (time, CPU, memory): the worst round is the highest.
    pub(crate) fn of_costs(rounds: impl IntoIterator<Item = T>) -> Self {
        let sorted = sorted(rounds);
        Self { median: middle(&sorted), worst: sorted.last().copied().unwrap_or_default() }
    }

    /// Returns the figure of a rate: the worst round is the lowest.
    pub(crate) fn of_rates(rounds: impl IntoIterator<Item = T>) -> Self {
        let sorted = sorted(rounds);
        Self { median: middle(&sorted), worst: sorted.first().copied().unwrap_or_default() }
    }

    /// Formats both alike.
    pub(crate) fn shown(self, show: impl Fn(T) -> String) -> Shown {
        Shown { median: show(self.median), worst: show(self.worst) }
    }
}

/// A figure for people, with its unit.
#[derive(Debug, Clone)]
pub(crate) struct Shown {
    /// The middle round.
    pub(crate) median: String,
    /// The worst round.
    pub(crate) worst: String,
}

impl Shown {
    /// Shows a second figure beside the first. Their worst rounds may differ.
    pub(crate) fn beside(self, second: Self) -> Self {
        let join = |one, other| format!("{one}, {other}");
        Self { median: join(self.median, second.median), worst: join(self.worst, second.worst) }
    }
}

fn sorted<T: Ord>(rounds: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut sorted: Vec<T> = rounds.into_iter().collect();
    sorted.sort_unstable();
    sorted
}

fn middle<T: Copy + Default>(sorted: &[T]) -> T {
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

/// Returns the rate of `count` things in this time.
pub(crate) fn per_second(count: usize, time: Duration) -> u128 {
    let count = u128::try_from(count).unwrap_or(u128::MAX);
    count.saturating_mul(1_000_000).checked_div(time.as_micros()).unwrap_or(0)
}

/// Formats a rate.
pub(crate) fn rate(per_second: u128) -> String {
    format!("{per_second}/s")
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

/// Returns the rounds of a measurement of `count` things: five up to 10,000, three up to 100,000, else one; never more
/// than `most`.
pub(crate) fn rounds_of(count: usize, most: usize) -> usize {
    let rounds = match count {
        0..=10_000 => 5,
        10_001..=100_000 => 3,
        _ => 1,
    };
    most.min(rounds)
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
