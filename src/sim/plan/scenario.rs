//! Drawing of a script from its seed.
//!
//! Each part has dice of its own, so that the other parts of a seed stay as they are when one part
//! changes. In the worlds that have hooks, payers pay on their own, scripts answer the payments,
//! and a person changes the scripts meanwhile.

use crate::effects::register;
use crate::sandbox::options::ServiceSurface;
use crate::sim::plan::chance::{
    Crash, CrashPoint, CrashSide, DISK_PLACES, Death, NOTIFY_POINT, READ, SEND_POINT, Strike,
};
use crate::sim::plan::dice::Dice;
use crate::sim::plan::documents::DocBody;
use crate::sim::plan::hook_scripts::{
    CREDITED, EARLY, ECHO, Edit, EditTime, FULL_REFUND, HookPlan, LATE, NOTIFIED, NotificationFate,
    PARTIAL_REFUNDS, SCRIPTS, SKIP, VOID,
};
use crate::sim::plan::network::{EVENT_DICE, NetBehaviour};
use crate::sim::plan::people::People;
use crate::sim::plan::requests::{PayerPayment, PersonRequest};
use crate::sim::plan::script::SimScript;
use crate::sim::plan::trouble::Trouble;
use crate::sim::plan::world_parts::{add_trouble, crash, strike_calls};
use crate::sim::plan::{document_gen, network, requests, trouble, world_parts};

/// Effects that few runs reach; crashes strike them more often than others.
const RARE_EFFECTS: &[&str] = &[
    "card.change",
    "card.delete",
    "bank.change",
    "bank.delete",
    "token.create",
    "recurring.change",
    "charge.recur",
    "file.upload",
    "contact.hash",
    "credit.create",
    "charge.capture",
    "charge.refund",
    "transaction.void",
    "transaction.sign",
    "occurrence.pay",
    "occurrence.ignore",
];

impl SimScript {
    pub fn new(seed: u64) -> Self {
        let mut dice = Dice::new(seed, 1);
        let surface = dice.either(ServiceSurface::Public, ServiceSurface::Documented);
        let refuses_duplicates = dice.percent(30);
        let mut files = document_gen::draw_files(&mut dice);
        let mut steps = document_gen::draw_steps(&files, &mut dice);
        // Dice of their own, so that the files stay as they are.
        let mut request_dice = Dice::new(seed, 5);
        for step in steps.iter_mut().filter(|_| request_dice.percent(10)) {
            step.requests.push(PersonRequest::Refresh);
        }
        let incidents = trouble::draw_incidents(&mut steps, &mut Dice::new(seed, 9));
        files.extend(document_gen::draw_onboarding(&mut Dice::new(seed, 4)));
        let strikes = draw_strikes(&mut Dice::new(seed, 2));
        let mut dice = Dice::new(seed, 3);
        let crashes = (0..dice.below(8)).map(|_| draw_crash(&mut dice)).collect();
        let mut script = Self {
            seed,
            surface,
            refuses_duplicates,
            files,
            steps,
            strikes,
            incidents,
            crashes,
            people: People::default(),
            net: NetBehaviour::default(),
            hooks: None,
        };
        script.add_world_parts();
        add_hooks(&mut script);
        script
    }

    /// Adds the further parts of a world. A world with trouble of the store gets none of them. A
    /// world with limits gets no commands, removals or charges from earlier charges, since the
    /// limits suffice.
    fn add_world_parts(&mut self) {
        if !self.incidents.is_empty() {
            return;
        }
        let Self { seed, files, steps, strikes, .. } = self;
        self.people = People::new(*seed, files, (steps, strikes));
        self.net = NetBehaviour::new(*seed, files);
        if self.people.limits.is_empty() {
            requests::add_commands(files, steps, &mut Dice::new(*seed, 6));
            let mut dice = Dice::new(*seed, 7);
            world_parts::add_earlier_charges(self, &mut dice);
            world_parts::add_removals(self, &mut dice);
            world_parts::add_till(self, &mut Dice::new(self.seed, 11));
        }
    }
}

fn common_effects() -> impl Iterator<Item = &'static str> {
    let own = register::EFFECTS.iter().map(|row| row.name);
    own.filter(|effect| {
        !world_parts::REMOVAL_EFFECTS.contains(effect)
            && !requests::MERCHANT_EFFECTS.contains(effect)
    })
}

fn draw_strikes(dice: &mut Dice) -> Vec<Strike> {
    let mut strikes = Vec::new();
    let quiet = dice.percent(10);
    for effect in common_effects().chain([READ]) {
        let (calls, percent) = match effect {
            "code.exchange" => (2, 16),
            READ => (60, 4),
            "card.delete" | "bank.delete" | "bank.change" | "recurring.change" => (4, 80),
            "charge.capture" | "charge.refund" | "credit.create" | "transaction.void"
            | "transaction.sign" | "occurrence.pay" | "occurrence.ignore" => (3, 60),
            _ => (10, 30),
        };
        strikes.extend(strike_calls(effect, calls, if quiet { 0 } else { percent }, dice));
    }
    strikes
}

fn draw_crash(dice: &mut Dice) -> Crash {
    let when = dice.either(CrashSide::Before, CrashSide::After);
    let (point, often) = match dice.below(10) {
        0..=2 => {
            let (place, often) = dice.pick(DISK_PLACES).copied().unwrap_or(("journal.sync", 1));
            (CrashPoint { when, place, effect: "" }, often)
        }
        3 | 4 => (CrashPoint { when, place: "journal.sync", effect: "" }, 30),
        5..=7 => {
            let effect = dice.pick(RARE_EFFECTS).copied().unwrap_or(READ);
            (CrashPoint { when, place: SEND_POINT, effect }, 1)
        }
        _ => {
            let effect = dice.pick(&common_effects().collect::<Vec<_>>()).copied().unwrap_or(READ);
            // A merchant whose code is lost is out of the run.
            let spared = effect == "code.exchange" && dice.percent(60);
            let effect = if spared { "invoice.create" } else { effect };
            (CrashPoint { when, place: SEND_POINT, effect }, 2)
        }
    };
    Crash {
        point,
        nth: dice.number(1, often),
        death: dice.either(Death::Process, Death::Power),
        down_s: if dice.percent(50) { 0 } else { dice.below(120) },
    }
}

const DICE: u64 = 13;
/// Worlds with hooks, in percent of the worlds in which events are posted.
const WORLDS: u64 = 60;

/// Worlds that post events and have hooks, in percent of the worlds with trouble of the store or
/// the clock.
const TROUBLED_WORLDS: u64 = 40;
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

fn add_hooks(script: &mut SimScript) {
    let mut dice = Dice::new(script.seed, DICE);
    let troubled = !script.incidents.is_empty();
    if !dice.percent(if troubled { TROUBLED_WORLDS } else { WORLDS }) {
        return;
    }
    if troubled {
        let posts = network::draw_event_posts(&mut Dice::new(script.seed, EVENT_DICE));
        script.net.gateway = Some(posts);
    }
    if script.net.gateway.is_none() || !script.people.limits.is_empty() {
        return;
    }
    add_payments(script, &mut dice);
    let fates =
        (1..=NOTIFICATIONS_MAX).filter_map(|nth| Some((nth, draw_fate(&mut dice)?))).collect();
    let mut edits = edits(script.steps.len(), &mut dice);
    // A restored state runs other scripts than the lost one.
    let mut mishaps = script.incidents.iter();
    let restore = mishaps.find(|mishap| matches!(mishap.trouble, Trouble::Restore { .. }));
    edits.extend(restore.map(|mishap| (EditTime::Step(mishap.at), Edit::First)));
    script.hooks = Some(HookPlan { edits, fates });
    add_trouble(script, &EFFECTS, &mut dice);
    for _ in 0..dice.below(3) {
        script.crashes.push(crash(NOTIFY_POINT, "", 3, &mut dice));
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
    let last = SCRIPTS.len().saturating_sub(1);
    let mut edits = Vec::new();
    for _ in 0..dice.between(2, 7) {
        let at = if dice.percent(50) {
            EditTime::Step(dice.index(steps))
        } else {
            EditTime::Life(dice.number(2, 5))
        };
        let edit = match dice.below(8) {
            0 | 1 => Edit::Rename(dice.index(last)),
            2 | 3 => Edit::Reverse,
            4 | 5 => Edit::First,
            6 => Edit::Mend,
            _ => Edit::Mistake,
        };
        edits.push((at, edit));
    }
    edits
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim::plan::parts::count_parts;

    #[test]
    fn everything_of_hooks_can_be_left_out_by_its_number() {
        let plans = (1..200).map(SimScript::new).filter_map(|script| script.hooks);
        let mut count = 0;
        for plan in plans {
            count += 1;
            let part_count = |plan: &Option<HookPlan>| {
                count_parts(|nth| HookPlan::remove_part(&mut plan.clone(), nth))
            };
            let parts = part_count(&Some(plan.clone()));
            for nth in 0..parts {
                let mut less = Some(plan.clone());
                assert!(HookPlan::remove_part(&mut less, &mut { nth }), "{nth} of\n{plan}");
                assert!(part_count(&less) < parts, "{nth} of\n{plan}");
            }
            let (mut beyond, mut same) = (parts, Some(plan.clone()));
            assert!(!HookPlan::remove_part(&mut same, &mut beyond));
            assert_eq!((same, beyond), (Some(plan), 0));
        }
        assert!(count > 20, "{count} worlds of 200 have hooks");
    }
}
