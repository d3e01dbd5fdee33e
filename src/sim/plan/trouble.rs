//! Trouble that lasts longer than one call, decided before a run begins.
//!
//! Of the machine: a state is lost and an old backup restored, files are lost, disks are full, or the
//! clock jumps. Of the service: storms, in which it answers only 429, 503 or 401 for minutes, or
//! breaks every connection, and lists that are cut into short pages and change while they are read.

use std::fmt;

use derive_more::Display;

use crate::effects::register::EFFECTS;
use crate::sim::plan::chance::{CallFault, READ};
use crate::sim::plan::dice::Dice;
use crate::sim::plan::requests::{self, ScriptStep};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DiskRefusal {
    /// The disk is full: no file grows, and existing bytes can be synced.
    Full,
    ReadOnly,
}

/// Trouble that befalls the machine at a step, counted from 0.
#[derive(Debug, Display, Clone, PartialEq, Eq)]
#[display("step {at}: {trouble}")]
pub struct Incident {
    pub at: usize,
    pub trouble: Trouble,
}

#[derive(Debug, Display, Clone, PartialEq, Eq)]
pub enum Trouble {
    /// The state is lost, and a person restores the backup from before the step `kept`. If it
    /// `asks`, the person then looks at the service and reports missing objects.
    #[display("a backup from before step {kept} is restored{}",
        if *asks { ", and a person refreshes from the service" } else { "" })]
    Restore { kept: usize, asks: bool },
    #[display("the state is lost, and an empty one begins")]
    Forget,
    /// Some files are lost or damaged between two lives.
    #[display("lost or damaged: {_0:?}")]
    Lose(StateLoss),
    /// The clock jumps; back, if negative.
    #[display("the clock jumps by {seconds} s")]
    Jump { seconds: i64 },
    #[display("the disks refuse ({what:?}) for {seconds} s")]
    Refuse { what: DiskRefusal, seconds: u64 },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StateLoss {
    Index,
    Keys,
    Sealed,
    /// Newest segment of the journal.
    Segment,
    /// End of the newest segment, which was acknowledged.
    Tail,
    /// The journal, replaced by the journal of an older backup.
    Older,
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
    /// Returns true if the trouble happens between two lives of the machine.
    pub(crate) fn is_between_lives(&self) -> bool {
        !matches!(self.trouble, Trouble::Jump { .. } | Trouble::Refuse { .. })
    }
}

/// Draws the trouble of these steps, and marks a restart at each step that needs one.
pub(crate) fn draw_incidents(steps: &mut [ScriptStep], dice: &mut Dice) -> Vec<Incident> {
    let mut all = Vec::new();
    if !dice.percent(TROUBLED) {
        return all;
    }
    for _ in 0..dice.between(1, 2) {
        let at = dice.index(steps.len());
        let mishap = Incident { at, trouble: draw_trouble(at, dice) };
        if let Some(step) = steps.get_mut(at) {
            step.restart |= mishap.is_between_lives();
        }
        all.push(mishap);
    }
    all
}

/// Draws trouble at a step; no backup comes from a later one.
fn draw_trouble(step: usize, dice: &mut Dice) -> Trouble {
    match dice.below(10) {
        0..=3 => {
            let until = u64::try_from(step).unwrap_or(0);
            Trouble::Restore { kept: dice.number(0, until), asks: dice.percent(60) }
        }
        4 => Trouble::Forget,
        5 | 6 => {
            let far: i64 = dice.number(60, JUMP_MAX_S);
            Trouble::Jump { seconds: dice.either(far, far.saturating_neg()) }
        }
        7 | 8 => {
            let what = if dice.percent(60) { DiskRefusal::Full } else { DiskRefusal::ReadOnly };
            Trouble::Refuse { what, seconds: dice.between(1, 300) }
        }
        _ => Trouble::Lose(dice.pick(LOSSES).copied().unwrap_or(StateLoss::Index)),
    }
}

/// Changes that use a one-time token: a storm that outlives the token leaves them in doubt.
const BY_TOKEN: [&str; 3] = ["card.change", "bank.change", "recurring.change"];

/// Calls with a merchant's credential.
const OF_MERCHANTS: [&str; 6] = [
    "contact.create",
    "invoice.create",
    "card.save",
    "bank.save",
    "card.change",
    "recurring.create",
];

#[derive(Debug, Display, Clone, Copy, PartialEq, Eq)]
pub enum StormAnswer {
    /// With a wait in seconds or without one.
    #[display("429{}", _0.map(|asked| format!(", retry after {asked} s")).unwrap_or_default())]
    Throttled(Option<u64>),
    #[display("503")]
    Error,
    #[display("the connection breaks")]
    Reset,
    /// The credential is refused.
    #[display("401")]
    Refused,
}

#[derive(Debug, Display, Clone, Copy, PartialEq, Eq)]
pub enum StormScope {
    #[display("all calls")]
    All,
    /// Calls with the credential of the call with which the storm began.
    #[display("all calls with its credential")]
    Caller,
    /// Calls beyond this number within one second.
    #[display("calls beyond {_0} a second")]
    Beyond(u32),
}

#[derive(Debug, Display, Clone, Copy, PartialEq, Eq)]
#[display("{} {effect} number {nth}, for {seconds} s, {scope}: {answer}",
    if *with_it { "with" } else { "after" })]
pub struct Storm {
    pub effect: &'static str,
    /// Number of that call among those of its effect, from 1.
    pub nth: u32,
    /// Set if the storm also meets that call, and not only later ones.
    pub with_it: bool,
    pub seconds: u64,
    pub scope: StormScope,
    pub answer: StormAnswer,
}

pub(crate) fn draw_storm(dice: &mut Dice) -> Storm {
    if dice.percent(15) {
        return draw_refusal(dice);
    }
    let answer = dice.either(StormAnswer::Error, StormAnswer::Reset);
    if dice.percent(60) {
        let effect = dice.pick(&BY_TOKEN).copied().unwrap_or(READ);
        let (nth, seconds) = (if dice.percent(30) { 2 } else { 1 }, dice.between(330, 900));
        let with_it = dice.percent(75);
        return Storm { effect, nth, with_it, seconds, scope: StormScope::All, answer };
    }
    let (effect, most) = if dice.percent(50) {
        // Rare effects are left to the storms that other effects start.
        let all = EFFECTS.iter().map(|row| row.name);
        let common = all.filter(|effect| !requests::MERCHANT_EFFECTS.contains(effect));
        (dice.pick(&common.collect::<Vec<_>>()).copied().unwrap_or(READ), 3)
    } else {
        (READ, 30)
    };
    let nth = dice.number(1, most);
    let (with_it, seconds) = (dice.percent(50), dice.between(20, 600));
    if dice.percent(35) {
        return Storm { effect, nth, with_it, seconds, scope: StormScope::All, answer };
    }
    let answer = StormAnswer::Throttled(dice.percent(50).then(|| dice.between(1, 90)));
    let scope = match dice.below(3) {
        0 => StormScope::All,
        1 => StormScope::Caller,
        _ => StormScope::Beyond(dice.number(1, 4)),
    };
    Storm { effect, nth, with_it, seconds, scope, answer }
}

/// Draws a storm in which a merchant's credential is refused for a while.
fn draw_refusal(dice: &mut Dice) -> Storm {
    let effect = dice.pick(&OF_MERCHANTS).copied().unwrap_or(READ);
    let nth = dice.number(1, 3);
    let (with_it, seconds) = (dice.percent(50), dice.between(30, 2_400));
    Storm { effect, nth, with_it, seconds, scope: StormScope::Caller, answer: StormAnswer::Refused }
}

impl StormAnswer {
    pub(crate) fn fault(self) -> CallFault {
        match self {
            Self::Throttled(_) => CallFault::Throttle,
            Self::Error | Self::Refused => CallFault::ErrorBefore,
            Self::Reset => CallFault::Reset,
        }
    }
}

/// Change of a list between two pages.
#[derive(Debug, Display, Clone, Copy, PartialEq, Eq)]
pub enum ListChange {
    /// The second page fails.
    #[display("is cut off after its first page")]
    Cut,
    /// An entry of the first page is removed, so the first entry of the second page is never shown.
    #[display("loses an entry that was read already")]
    Removed,
    /// An entry is added to the first page, so its last entry is shown again.
    #[display("gets an entry before the position of the reader")]
    Added,
    /// One entry is removed and one added: the count stays the same, and one entry is never shown.
    #[display("loses an entry that was read already, and gets another")]
    Swapped,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChangedReading {
    /// Number of the reading among those of several pages, from 1.
    pub nth: u32,
    pub change: ListChange,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PagingPlan {
    /// Most entries of a page.
    pub size: u64,
    pub shifts: Vec<ChangedReading>,
}

pub(crate) fn draw_paging(dice: &mut Dice) -> Option<PagingPlan> {
    if !dice.percent(30) {
        return None;
    }
    let mut paging = PagingPlan { size: dice.between(1, 3), shifts: Vec::new() };
    let mut swapped = false;
    for _ in 0..dice.between(1, 6) {
        let nth = dice.number(1, 40);
        // Two complete readings are a proof only because no list loses an entry in the same way
        // twice.
        let change = match dice.below(4) {
            0 => ListChange::Cut,
            1 => ListChange::Removed,
            2 if !swapped => ListChange::Swapped,
            _ => ListChange::Added,
        };
        swapped |= change == ListChange::Swapped;
        paging.shifts.push(ChangedReading { nth, change });
    }
    Some(paging)
}

impl fmt::Display for PagingPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "pages   of {} entries at most", self.size)?;
        self.shifts.iter().try_for_each(|ChangedReading { nth, change }| {
            writeln!(f, "pages   reading {nth} of several pages {change}")
        })
    }
}
