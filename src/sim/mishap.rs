//! Trouble of the store and of the clock, decided before a run begins: a state is lost and an old backup restored,
//! files are lost, disks are full, and the clock jumps.

use std::fmt;

use super::dice::Dice;
use super::room::Refusal;
use super::script::Step;

/// One thing that befalls the machine. Steps are counted from 0.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Mishap {
    /// The state is lost, and a person restores a backup.
    Restore {
        /// The step before which the backup was taken.
        kept: usize,
        /// The step at which the machine is restored.
        at: usize,
        /// Whether somebody looks at the service then and says what is not there.
        asks: bool,
    },
    /// The state is lost, and a person begins with an empty one.
    Forget {
        /// The step.
        at: usize,
    },
    /// Some files are lost or damaged between two lives.
    Lose {
        /// The step.
        at: usize,
        /// Which.
        what: Loss,
    },
    /// The clock jumps.
    Jump {
        /// The step.
        at: usize,
        /// How far, back or forth.
        seconds: i64,
    },
    /// The disks refuse for a while.
    Refuse {
        /// The step.
        at: usize,
        /// What they refuse.
        what: Refusal,
        /// How long, in seconds.
        seconds: u64,
    },
}

/// What is lost of a state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Loss {
    /// The index.
    Index,
    /// The file of the vault's keys.
    Keys,
    /// Every sealed value.
    Sealed,
    /// The journal's newest segment.
    Segment,
    /// The end of the newest segment, which was acknowledged.
    Tail,
    /// The journal, in whose place stands the one of an older backup.
    Older,
}

impl Loss {
    /// Whether anything shows that it is lost: only an index that is believed knows how far the journal went.
    pub(super) fn shows(self, believed: bool) -> bool {
        believed || matches!(self, Self::Index | Self::Keys | Self::Sealed)
    }
}

const LOSSES: &[Loss] =
    &[Loss::Index, Loss::Keys, Loss::Sealed, Loss::Segment, Loss::Tail, Loss::Older];
/// Worlds of a hundred that have trouble of this sort.
const TROUBLED: u64 = 30;
/// The furthest jump of a clock, in seconds: a day.
const JUMP_MAX_S: u64 = 86_400;

impl Mishap {
    /// The step at which it befalls the machine.
    pub(super) fn at(&self) -> usize {
        match self {
            Self::Restore { at, .. }
            | Self::Forget { at }
            | Self::Lose { at, .. }
            | Self::Jump { at, .. }
            | Self::Refuse { at, .. } => *at,
        }
    }

    /// Whether it happens between two lives of the machine.
    pub(super) fn between_lives(&self) -> bool {
        !matches!(self, Self::Jump { .. } | Self::Refuse { .. })
    }
}

/// What befalls the machine while these steps are taken; where it has to stop for it, the step says so.
pub(super) fn plan(steps: &mut [Step], dice: &mut Dice) -> Vec<Mishap> {
    let mut all = Vec::new();
    if !dice.percent(TROUBLED) {
        return all;
    }
    for _ in 0..dice.between(1, 2) {
        let count = u64::try_from(steps.len()).unwrap_or(0);
        let at = usize::try_from(dice.below(count)).unwrap_or(0);
        let mishap = one(at, dice);
        if let Some(step) = steps.get_mut(at).filter(|_| mishap.between_lives()) {
            step.restart = true;
        }
        all.push(mishap);
    }
    all
}

fn one(at: usize, dice: &mut Dice) -> Mishap {
    match dice.below(10) {
        0..=3 => {
            let until = u64::try_from(at).unwrap_or(0);
            let kept = usize::try_from(dice.between(0, until)).unwrap_or(0);
            Mishap::Restore { kept, at, asks: dice.percent(60) }
        }
        4 => Mishap::Forget { at },
        5 | 6 => {
            let far = i64::try_from(dice.between(60, JUMP_MAX_S)).unwrap_or(60);
            Mishap::Jump { at, seconds: if dice.percent(50) { far } else { far.saturating_neg() } }
        }
        7 | 8 => {
            let what = if dice.percent(60) { Refusal::Full } else { Refusal::ReadOnly };
            Mishap::Refuse { at, what, seconds: dice.between(1, 300) }
        }
        _ => Mishap::Lose { at, what: dice.pick(LOSSES).copied().unwrap_or(Loss::Index) },
    }
}

impl fmt::Display for Mishap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "step {}: ", self.at())?;
        match self {
            Self::Restore { kept, asks, .. } => {
                let then = if *asks { ", and somebody looks at the service" } else { "" };
                write!(f, "a backup from before step {kept} is restored{then}")
            }
            Self::Forget { .. } => f.write_str("the state is lost, and an empty one is begun"),
            Self::Lose { what, .. } => write!(f, "lost or damaged: {what:?}"),
            Self::Jump { seconds, .. } => write!(f, "the clock jumps by {seconds} s"),
            Self::Refuse { what, seconds, .. } => {
                write!(f, "the disks refuse ({what:?}) for {seconds} s")
            }
        }
    }
}
