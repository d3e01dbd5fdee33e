//! People who look after a simulated world, decided by its seed: a settler of intents on hold, the
//! operator's limits, and approvers of plans that exceed them.

use std::fmt;

use crate::policy::PolicyRules;
use crate::sim::faults::call_fault::Strike;
use crate::sim::world::dice::Dice;
use crate::sim::world::documents::DocTree;
use crate::sim::world::limits;
use crate::sim::world::limits::{Approver, SimLimit};
use crate::sim::world::script::ScriptStep;

/// Label of the dice that decide about people.
const DICE: u64 = 8;

/// People of a world.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct People {
    /// Person who settles intents on hold; most worlds have none.
    pub settler: Option<Settler>,
    /// Limits; most worlds have none.
    pub limits: Vec<SimLimit>,
    /// Total of a plan, in minor units, above which two people must approve.
    pub above: Option<i64>,
    pub approvers: Vec<Approver>,
}

/// A person who compares the intents on hold with the service, and resolves them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Settler {
    /// Seconds between two looks.
    pub every_s: u64,
    /// Set if the person first asks for a retry of the settlement.
    pub retries: bool,
}

impl People {
    /// Draws the people of a seed. If plans are limited, people also change more files, and more
    /// calls have to be retried.
    pub(crate) fn new(
        seed: u64,
        files: &DocTree,
        (steps, strikes): (&mut [ScriptStep], &mut Vec<Strike>),
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
        let (bounds, approvers) =
            (limits::draw_limits(&mut dice), limits::draw_approvers(&mut dice));
        limits::raise_amounts(files, steps, &mut dice);
        limits::add_faults(strikes, &mut dice);
        Self { settler, limits: bounds, above, approvers }
    }

    /// Returns the operator's rules.
    pub(crate) fn rules(&self) -> PolicyRules {
        limits::rules(&self.limits, self.above)
    }

    /// Returns the number of people who act.
    pub(crate) fn count(&self) -> usize {
        usize::from(self.settler.is_some()).saturating_add(self.approvers.len())
    }

    /// Returns the number of people and limits that can be removed.
    pub(crate) fn part_count(&self) -> usize {
        self.count().saturating_add(self.limits.len())
    }

    /// Removes the `nth` limit or person. If `nth` is too high, nothing is removed, and `nth` is
    /// reduced by their number.
    pub(crate) fn remove_part(&mut self, nth: &mut usize) -> bool {
        if *nth >= self.part_count() {
            *nth = nth.saturating_sub(self.part_count());
            return false;
        }
        if *nth < self.limits.len() {
            self.limits.remove(*nth);
        } else if nth.saturating_sub(self.limits.len()) < self.approvers.len() {
            self.approvers.remove(nth.saturating_sub(self.limits.len()));
        } else {
            self.settler = None;
        }
        true
    }
}

impl fmt::Display for People {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(Settler { every_s, retries }) = self.settler {
            let first = if retries { ", and first requests one retry" } else { "" };
            writeln!(f, "person  reads the intents on hold every {every_s} s{first}")?;
        }
        self.limits.iter().try_for_each(|bound| writeln!(f, "{bound}"))?;
        if let Some(above) = self.above {
            writeln!(f, "limit   above {above}, two people must approve")?;
        }
        self.approvers.iter().try_for_each(|approver| writeln!(f, "{approver}"))
    }
}
