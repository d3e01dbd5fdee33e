//! The seeded dice of a run.

use rand_chacha::ChaCha20Rng;
use rand_core::{Rng, SeedableRng};

/// Generator of small decisions. Equal seeds and labels give equal decisions.
#[derive(Debug, Clone)]
pub(crate) struct Dice(ChaCha20Rng);

impl Dice {
    /// Returns the generator of one part of a run; each label has a sequence of its own.
    pub(crate) fn new(seed: u64, label: u64) -> Self {
        let mixed = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(17) ^ label;
        Self(ChaCha20Rng::seed_from_u64(mixed))
    }

    pub(crate) fn into_rng(self) -> ChaCha20Rng {
        self.0
    }

    /// Returns a number below `end`, or 0 if `end` is 0.
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.0.next_u64().checked_rem(end).unwrap_or(0)
    }

    /// Returns a number from `from` to `to`, both included.
    pub(crate) fn between(&mut self, from: u64, to: u64) -> u64 {
        let span = to.saturating_sub(from).saturating_add(1);
        from.saturating_add(self.below(span))
    }

    /// Returns a number from `from` to `to`, both included, of a narrower type.
    pub(crate) fn number<T: TryFrom<u64> + Default>(&mut self, from: u64, to: u64) -> T {
        T::try_from(self.between(from, to)).unwrap_or_default()
    }

    /// Returns an index below `length`, or 0 if `length` is 0.
    pub(crate) fn index(&mut self, length: usize) -> usize {
        let length = u64::try_from(length).unwrap_or(u64::MAX);
        usize::try_from(self.below(length)).unwrap_or(0)
    }

    /// Returns one of two values, each with the same probability.
    pub(crate) fn either<T>(&mut self, one: T, other: T) -> T {
        if self.percent(50) { one } else { other }
    }

    /// Returns true with a probability of `percent` in 100.
    pub(crate) fn percent(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    /// Returns one element, or `None` if there is none.
    pub(crate) fn pick<'a, T>(&mut self, from: &'a [T]) -> Option<&'a T> {
        from.get(self.index(from.len()))
    }
}
