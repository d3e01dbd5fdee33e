//! Trouble of the store and the clock, decided before a run begins. A state is lost and an old
//! backup restored, files are lost, disks are full, or the clock jumps.

use std::fmt;

use super::dice::Dice;
use super::requests::ScriptStep;

/// Reason for which a disk refuses operations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DiskRefusal {
    /// The disk is full: no file grows, and existing bytes can be synced.
    Full,
    /// The disk is read-only.
    ReadOnly,
}

/// Trouble that befalls the machine. Steps are counted from 0.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Incident {
    /// The state is lost, and a person restores a backup.
    Restore {
        /// Step before which the backup was taken.
        kept: usize,
        /// Step at which the state is restored.
        at: usize,
        /// Set if a person then looks at the service and reports missing objects.
        asks: bool,
    },
    /// The state is lost, and a person begins with an empty one.
    Forget { at: usize },
    /// Some files are lost or damaged between two lives.
    Lose { at: usize, what: StateLoss },
    /// The clock jumps.
    Jump {
        at: usize,
        /// Distance, negative for a jump back.
        seconds: i64,
    },
    /// The disks refuse operations for a while.
    Refuse {
        at: usize,
        /// Operations that the disks refuse.
        what: DiskRefusal,
        seconds: u64,
    },
}

/// Lost part of a state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StateLoss {
    Index,
    /// File of the vault's keys.
    Keys,
    /// Every sealed value.
    Sealed,
    /// Newest segment of the journal.
    Segment,
    /// End of the newest segment, which was acknowledged.
    Tail,
    /// The journal, replaced by the journal of an older backup.
    Older,
}

impl StateLoss {
    /// Returns true if the loss can be detected: only a trusted index knows the end of the journal.
    pub(crate) fn is_detectable(self, believed: bool) -> bool {
        believed || matches!(self, Self::Index | Self::Keys | Self::Sealed)
    }
}

const LOSSES: &[StateLoss] = &[
    StateLoss::Index,
    StateLoss::Keys,
    StateLoss::Sealed,
    StateLoss::Segment,
    StateLoss::Tail,
    StateLoss::Older,
];

/// Worlds with such trouble, in percent.
const TROUBLED: u64 = 30;

/// Longest jump of a clock, in seconds: one day.
const JUMP_MAX_S: u64 = 86_400;

impl Incident {
    /// Returns the step at which the trouble happens.
    pub(crate) fn at(&self) -> usize {
        match self {
            Self::Restore { at: step, .. }
            | Self::Forget { at: step }
            | Self::Lose { at: step, .. }
            | Self::Jump { at: step, .. }
            | Self::Refuse { at: step, .. } => *step,
        }
    }

    /// Returns true if the trouble happens between two lives of the machine.
    pub(crate) fn is_between_lives(&self) -> bool {
        !matches!(self, Self::Jump { .. } | Self::Refuse { .. })
    }
}

/// Draws the trouble of these steps, and marks a restart at each step that needs one.
pub(crate) fn draw_incidents(steps: &mut [ScriptStep], dice: &mut Dice) -> Vec<Incident> {
    let mut all = Vec::new();
    if !dice.percent(TROUBLED) {
        return all;
    }
    for _ in 0..dice.between(1, 2) {
        let count = u64::try_from(steps.len()).unwrap_or(0);
        let at = usize::try_from(dice.below(count)).unwrap_or(0);
        let mishap = draw_incident(at, dice);
        if let Some(step) = steps.get_mut(at).filter(|_| mishap.is_between_lives()) {
            step.restart = true;
        }
        all.push(mishap);
    }
    all
}

fn draw_incident(at: usize, dice: &mut Dice) -> Incident {
    match dice.below(10) {
        0..=3 => {
            let until = u64::try_from(at).unwrap_or(0);
            let kept = usize::try_from(dice.between(0, until)).unwrap_or(0);
            Incident::Restore { kept, at, asks: dice.percent(60) }
        }
        4 => Incident::Forget { at },
        5 | 6 => {
            let far = i64::try_from(dice.between(60, JUMP_MAX_S)).unwrap_or(60);
            Incident::Jump {
                at,
                seconds: if dice.percent(50) { far } else { far.saturating_neg() },
            }
        }
        7 | 8 => {
            let what = if dice.percent(60) { DiskRefusal::Full } else { DiskRefusal::ReadOnly };
            Incident::Refuse { at, what, seconds: dice.between(1, 300) }
        }
        _ => Incident::Lose { at, what: dice.pick(LOSSES).copied().unwrap_or(StateLoss::Index) },
    }
}

impl fmt::Display for Incident {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "step {}: ", self.at())?;
        match self {
            Self::Restore { kept, asks, .. } => {
                let then = if *asks { ", and a person refreshes from the service" } else { "" };
                write!(f, "a backup from before step {kept} is restored{then}")
            }
            Self::Forget { .. } => f.write_str("the state is lost, and an empty one begins"),
            Self::Lose { what, .. } => write!(f, "lost or damaged: {what:?}"),
            Self::Jump { seconds, .. } => write!(f, "the clock jumps by {seconds} s"),
            Self::Refuse { what, seconds, .. } => {
                write!(f, "the disks refuse ({what:?}) for {seconds} s")
            }
        }
    }
}
