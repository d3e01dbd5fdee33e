//! Who looks after a simulated world, decided by its seed: somebody who settles what is held, the operator's limits,
//! and who approves plans that exceed them.

use std::fmt;

use super::bounds::{self, Approver, Bound};
use super::dice::Dice;
use super::faults::Strike;
use super::script::Step;
use super::world::Tree;
use crate::policy::Rules;

/// The label of the dice that decide about people.
const DICE: u64 = 8;

/// The people of a world.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct People {
    /// Who settles what is held; nobody in most worlds.
    pub settler: Option<Settler>,
    /// The limits; none in most worlds.
    pub bounds: Vec<Bound>,
    /// Above this many minor units a plan takes two people.
    pub above: Option<i64>,
    /// Who approves plans.
    pub approvers: Vec<Approver>,
}

/// Somebody who looks at what is held, and at the service, and says what became of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Settler {
    /// How often they look, in seconds.
    pub every_s: u64,
    /// Whether they first ask for everything to be settled once more.
    pub retries: bool,
}

impl People {
    /// Those of a seed. Where plans are limited, people also do more to the files, and more calls have to be tried again.
    pub(super) fn new(
        seed: u64,
        files: &Tree,
        (steps, strikes): (&mut [Step], &mut Vec<Strike>),
    ) -> Self {
        let mut dice = Dice::new(seed, DICE);
        let settles = dice.percent(30);
        let settler = Settler { every_s: dice.between(5, 90), retries: dice.percent(40) };
        let settler = Some(settler).filter(|_| settles);
        if !dice.percent(30) {
            return Self { settler, ..Self::default() };
        }
        let above = i64::try_from(dice.between(100_000, 600_000)).unwrap_or(0);
        let above = Some(above).filter(|_| dice.percent(40));
        let (bounds, approvers) = (bounds::bounds(&mut dice), bounds::approvers(&mut dice));
        bounds::stir(files, steps, &mut dice);
        bounds::strain(strikes, &mut dice);
        Self { settler, bounds, above, approvers }
    }

    /// What the operator allows.
    pub(super) fn rules(&self) -> Rules {
        bounds::rules(&self.bounds, self.above)
    }

    /// How many look and speak.
    pub(super) fn count(&self) -> usize {
        usize::from(self.settler.is_some()).saturating_add(self.approvers.len())
    }

    /// How many of them could be left out.
    pub(super) fn cuts(&self) -> usize {
        self.count().saturating_add(self.bounds.len())
    }

    /// Leaves out the `nth` of them. If there are not so many, nothing is left out, and `nth` counts on behind them.
    pub(super) fn cut(&mut self, nth: &mut usize) -> bool {
        if *nth >= self.cuts() {
            *nth = nth.saturating_sub(self.cuts());
            return false;
        }
        if *nth < self.bounds.len() {
            self.bounds.remove(*nth);
        } else if nth.saturating_sub(self.bounds.len()) < self.approvers.len() {
            self.approvers.remove(nth.saturating_sub(self.bounds.len()));
        } else {
            self.settler = None;
        }
        true
    }
}

impl fmt::Display for People {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(Settler { every_s, retries }) = self.settler {
            let first = if retries { ", and first asks to settle it once more" } else { "" };
            writeln!(f, "person  looks at what is held every {every_s} s{first}")?;
        }
        self.bounds.iter().try_for_each(|bound| writeln!(f, "{bound}"))?;
        if let Some(above) = self.above {
            writeln!(f, "limit   above {above} it takes two people")?;
        }
        self.approvers.iter().try_for_each(|approver| writeln!(f, "{approver}"))
    }
}
