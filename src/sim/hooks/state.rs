//! Hooks of operators, in the worlds that have them. Payers pay on their own, scripts answer the
//! payments, and a person changes the scripts meanwhile.
//!
//! The module draws from dice of its own, so that worlds without hooks stay as they are. The
//! amounts identify payments, so that the service's own books show the actions of a script.

use std::fmt;

use super::script_set::Edit;
use super::script_texts::{
    CREDITED, EARLY, ECHO, FULL_REFUND, LATE, NOTIFIED, PARTIAL_REFUNDS, SCRIPTS, SKIP, VOID,
};
use crate::sim::actors::payer::PayerPayment;
use crate::sim::actors::requests::PersonRequest;
use crate::sim::faults::incident::Incident;
use crate::sim::faults::power::{Crash, CrashPoint, CrashSide, Death};
use crate::sim::net::event_posts;
use crate::sim::world::dice::Dice;
use crate::sim::world::documents::DocBody;
use crate::sim::world::removal::add_trouble;
use crate::sim::world::script::SimScript;

/// Label of the dice.
const DICE: u64 = 13;
/// Worlds with hooks, in percent of the worlds in which events are posted.
const WORLDS: u64 = 60;
/// Worlds that post events and have hooks, in percent of the worlds with trouble of the store or
/// the clock.
const TROUBLED_WORLDS: u64 = 40;
/// Crash point at which a notification leaves the machine.
pub const NOTIFY_POINT: &str = "tell";
/// Notifications of one run that may be lost: about as many as a run has.
const NOTIFICATIONS_MAX: u32 = 30;

/// Effects of hooks, which fail more often where there are hooks.
const EFFECTS: [&str; 6] = [
    "charge.create",
    "charge.refund",
    "credit.create",
    "transaction.void",
    "occurrence.pay",
    "occurrence.ignore",
];

/// Time of a change of the scripts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EditTime {
    /// At a step, counted from 0.
    Step(usize),
    /// While the machine is down, before this life, counted from 1.
    Life(u32),
}

/// Fate of a notification on its way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotificationFate {
    /// The notification arrives, and its answer is lost.
    AnswerLost,
    /// The notification is lost, and so is its answer.
    Lost,
    /// The target cannot be reached.
    Nobody,
    /// The target refuses the notification.
    Refused,
}

/// Hooks of one run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HookPlan {
    /// Changes of the scripts.
    pub edits: Vec<(EditTime, Edit)>,
    /// Fates of notifications, by the number of the attempt.
    pub fates: Vec<(u32, NotificationFate)>,
}

/// Adds hooks and payers to some worlds.
pub(crate) fn add_to_script(script: &mut SimScript) {
    let mut dice = Dice::new(script.seed, DICE);
    let troubled = !script.incidents.is_empty();
    if !dice.percent(if troubled { TROUBLED_WORLDS } else { WORLDS }) {
        return;
    }
    if troubled {
        script.net.gateway = Some(event_posts::draw_always(script.seed));
    }
    if script.net.gateway.is_none() || !script.people.limits.is_empty() {
        return;
    }
    add_payments(script, &mut dice);
    let ways =
        (1..=NOTIFICATIONS_MAX).filter_map(|nth| Some((nth, draw_fate(&mut dice)?))).collect();
    let mut edits = edits(script.steps.len(), &mut dice);
    edits.extend(edit_at_restore(&script.incidents));
    script.hooks = Some(HookPlan { edits, fates: ways });
    add_trouble(script, &EFFECTS, &mut dice);
    for _ in 0..dice.below(3) {
        script.crashes.push(crash(&mut dice));
    }
}

/// Adds payments at several steps, at merchants that exist from the beginning.
fn add_payments(script: &mut SimScript, dice: &mut Dice) {
    let merchants = script.files.values().filter(|doc| doc.body == DocBody::Merchant);
    // Other merchants leave, or clear their data.
    let merchants = merchants.filter(|doc| doc.name.len() == 2);
    let merchants: Vec<String> = merchants.map(|doc| doc.name.clone()).collect();
    let amounts = [
        FULL_REFUND,
        FULL_REFUND,
        PARTIAL_REFUNDS,
        PARTIAL_REFUNDS,
        CREDITED,
        VOID,
        ECHO,
        NOTIFIED,
        NOTIFIED,
        LATE,
        EARLY,
        SKIP,
    ];
    let mut number = 0_u32;
    for step in &mut script.steps {
        for _ in 0..dice.below(4) {
            let (Some(merchant), Some(amount)) = (dice.pick(&merchants), dice.pick(&amounts))
            else {
                continue;
            };
            number = number.saturating_add(1);
            let payment = PayerPayment { number, merchant: merchant.clone(), amount: *amount };
            step.requests.push(PersonRequest::Pay(payment));
        }
    }
}

fn edits(steps: usize, dice: &mut Dice) -> Vec<(EditTime, Edit)> {
    let steps = u64::try_from(steps).unwrap_or(1);
    let last = u64::try_from(SCRIPTS.len()).unwrap_or(1).saturating_sub(1);
    let mut edits = Vec::new();
    for _ in 0..dice.between(2, 7) {
        let at = if dice.percent(50) {
            EditTime::Step(usize::try_from(dice.below(steps)).unwrap_or(0))
        } else {
            EditTime::Life(u32::try_from(dice.between(2, 5)).unwrap_or(2))
        };
        let edit = match dice.below(8) {
            0 | 1 => Edit::Rename(usize::try_from(dice.below(last)).unwrap_or(0)),
            2 | 3 => Edit::Reverse,
            4 | 5 => Edit::First,
            6 => Edit::Mend,
            _ => Edit::Mistake,
        };
        edits.push((at, edit));
    }
    edits
}

/// Returns a change of the scripts at a restore, so that the restored state runs other scripts than
/// the lost one.
fn edit_at_restore(mishaps: &[Incident]) -> Option<(EditTime, Edit)> {
    let at = mishaps.iter().find_map(|mishap| {
        if let Incident::Restore { at, .. } = mishap { Some(*at) } else { None }
    });
    at.map(|at| (EditTime::Step(at), Edit::First))
}

fn draw_fate(dice: &mut Dice) -> Option<NotificationFate> {
    let ways = [
        NotificationFate::AnswerLost,
        NotificationFate::Lost,
        NotificationFate::Nobody,
        NotificationFate::Nobody,
        NotificationFate::Refused,
    ];
    let way = dice.pick(&ways).copied()?;
    dice.percent(40).then_some(way)
}

/// Returns a crash during a notification.
fn crash(dice: &mut Dice) -> Crash {
    let when = if dice.percent(50) { CrashSide::Before } else { CrashSide::After };
    let death = if dice.percent(50) { Death::Process } else { Death::Power };
    let nth = u32::try_from(dice.between(1, 3)).unwrap_or(1);
    let down_s = if dice.percent(50) { 0 } else { dice.below(120) };
    Crash { point: CrashPoint { when, place: NOTIFY_POINT, effect: "" }, nth, death, down_s }
}

impl HookPlan {
    /// Returns the number of parts that can be removed.
    pub(crate) fn part_count(&self) -> usize {
        self.edits.len().saturating_add(self.fates.len()).saturating_add(1)
    }

    /// Removes the `nth` part; the hooks themselves come last. If `nth` is too high, nothing is
    /// removed, and `nth` is reduced by the number of parts.
    pub(crate) fn remove_part(own: &mut Option<Self>, nth: &mut usize) -> bool {
        let Some(plan) = own else { return false };
        let (edits, all) = (plan.edits.len(), plan.part_count());
        if *nth >= all {
            *nth = nth.saturating_sub(all);
            return false;
        }
        if *nth < edits {
            plan.edits.remove(*nth);
        } else if nth.saturating_sub(edits) < plan.fates.len() {
            plan.fates.remove(nth.saturating_sub(edits));
        } else {
            *own = None;
        }
        true
    }
}

impl fmt::Display for HookPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "hooks   answer events")?;
        for (at, edit) in &self.edits {
            match at {
                EditTime::Step(step) => writeln!(f, "scripts step {step}: {edit}")?,
                EditTime::Life(life) => writeln!(f, "scripts before life {life}: {edit}")?,
            }
        }
        self.fates.iter().try_for_each(|(nth, way)| writeln!(f, "notify  number {nth}: {way:?}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_of_hooks_can_be_left_out_by_its_number() {
        let plans = (1..200).map(SimScript::new).filter_map(|script| script.hooks);
        let mut count = 0;
        for plan in plans {
            count += 1;
            for nth in 0..plan.part_count() {
                let mut less = Some(plan.clone());
                assert!(HookPlan::remove_part(&mut less, &mut { nth }), "{nth} of\n{plan}");
                assert!(
                    less.is_none_or(|less| less.part_count() < plan.part_count()),
                    "{nth} of\n{plan}"
                );
            }
            let (mut beyond, mut same) = (plan.part_count(), Some(plan.clone()));
            assert!(!HookPlan::remove_part(&mut same, &mut beyond));
            assert_eq!((same, beyond), (Some(plan), 0));
        }
        assert!(count > 20, "{count} worlds of 200 have hooks");
    }
}
