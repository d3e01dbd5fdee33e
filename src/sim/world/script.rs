//! Script of one run, decided before the run, so that it can be printed and shortened.

use std::fmt;

use super::dice::Dice;
use super::documents::{DocTree, FileChange};
use super::{removal, scenario_gen, unmarked_charges};
use crate::sandbox::options::ServiceSurface;
use crate::sim::actors::people::People;
use crate::sim::actors::requests::PersonRequest;
use crate::sim::actors::{command_gen, merchant_commands};
use crate::sim::faults::call_fault::{CALLS, CallFault, FAULTS, READ, Strike};
use crate::sim::faults::incident;
use crate::sim::faults::incident::Incident;
use crate::sim::faults::power::{Crash, CrashPoint, CrashSide, Death};
use crate::sim::hooks::state;
use crate::sim::hooks::state::HookPlan;
use crate::sim::net::network::NetBehaviour;

/// Everything that happens in a run.
#[derive(Debug, Clone)]
pub struct SimScript {
    /// Seed for the decisions that the script leaves open.
    pub seed: u64,
    /// Part of the service that exists.
    pub surface: ServiceSurface,
    /// Set if the service refuses a second invoice of one name instead of showing the first.
    pub refuses_duplicates: bool,
    /// Files of the beginning.
    pub files: DocTree,
    /// Changes and requests of people, in order.
    pub steps: Vec<ScriptStep>,
    /// Faults of calls.
    pub strikes: Vec<Strike>,
    /// Trouble of the store and the clock.
    pub incidents: Vec<Incident>,
    /// Crashes of the machine; each happens once.
    pub crashes: Vec<Crash>,
    pub people: People,
    /// Behaviour of the network beyond single calls.
    pub net: NetBehaviour,
    /// Hooks of operators, if the world has any.
    pub hooks: Option<HookPlan>,
}

/// One push of changes to the files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScriptStep {
    /// Time after the previous step, in milliseconds.
    pub wait_ms: u64,
    /// Set if the process is first stopped and started again.
    pub restart: bool,
    pub changes: Vec<FileChange>,
    /// Requests of people after the changes.
    pub requests: Vec<PersonRequest>,
}

/// Crash points of the disk, with the number of times that a short life passes each.
pub const DISK_PLACES: &[(&str, u64)] = &[
    ("journal.write", 30),
    ("journal.sync", 30),
    ("journal.change", 2),
    ("vault.write", 8),
    ("vault.sync", 8),
    ("vault.change", 2),
];

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

/// Name of the crash point at the sending of a call.
pub const SEND_POINT: &str = "send";

impl SimScript {
    /// Draws the script of a seed.
    pub fn new(seed: u64) -> Self {
        let mut dice = Dice::new(seed, 1);
        let surface =
            if dice.percent(50) { ServiceSurface::Public } else { ServiceSurface::Documented };
        let refuses_duplicates = dice.percent(30);
        let mut files = scenario_gen::draw_files(&mut dice);
        let mut steps = scenario_gen::draw_steps(&files, &mut dice);
        scenario_gen::add_requests(&mut steps, &mut Dice::new(seed, 5));
        let mishaps = incident::draw_incidents(&mut steps, &mut Dice::new(seed, 9));
        files.extend(scenario_gen::draw_onboarding(&mut Dice::new(seed, 4)));
        let strikes = draw_strikes(&mut Dice::new(seed, 2));
        let crashes = draw_crashes(&mut Dice::new(seed, 3));
        let mut script = Self {
            seed,
            surface,
            refuses_duplicates,
            files,
            steps,
            strikes,
            incidents: mishaps,
            crashes,
            people: People::default(),
            net: NetBehaviour::default(),
            hooks: None,
        };
        script.add_world_parts();
        state::add_to_script(&mut script);
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
            command_gen::add_commands(files, steps, &mut Dice::new(*seed, 6));
            let mut dice = Dice::new(*seed, 7);
            unmarked_charges::add_to_script(self, &mut dice);
            removal::add_to_script(self, &mut dice);
            let mut dice = Dice::new(self.seed, 11);
            merchant_commands::add_to_script(self, &mut dice);
        }
    }

    /// Returns the script without crashes.
    #[must_use]
    pub fn without_crashes(&self) -> Self {
        Self { crashes: Vec::new(), ..self.clone() }
    }

    /// Returns the script without trouble of the store and the clock.
    #[must_use]
    pub fn without_mishaps(&self) -> Self {
        Self { incidents: Vec::new(), ..self.clone() }
    }

    /// Returns the script without faults of calls.
    #[must_use]
    pub fn without_strikes(&self) -> Self {
        Self { strikes: Vec::new(), ..self.clone() }
    }

    /// Returns the script without changes and requests of people.
    #[must_use]
    pub fn without_steps(&self) -> Self {
        Self { steps: Vec::new(), ..self.clone() }
    }

    /// Returns the script without hooks.
    #[must_use]
    pub fn without_hooks(&self) -> Self {
        Self { hooks: None, ..self.clone() }
    }

    /// Returns the script without people who look after the world.
    #[must_use]
    pub fn without_people(&self) -> Self {
        Self { people: People::default(), ..self.clone() }
    }

    /// Returns the script without network behaviour beyond single calls, and so without hooks.
    #[must_use]
    pub fn without_net(&self) -> Self {
        Self { net: NetBehaviour::default(), hooks: None, ..self.clone() }
    }

    /// Returns the number of parts that can be removed.
    pub fn part_count(&self) -> usize {
        let each = |step: &ScriptStep| step.changes.len().saturating_add(step.requests.len());
        let changes: usize = self.steps.iter().map(each).sum();
        let troubles = self.crashes.len().saturating_add(self.strikes.len());
        let troubles =
            troubles.saturating_add(self.people.part_count()).saturating_add(self.net.part_count());
        let troubles = troubles.saturating_add(self.hooks.as_ref().map_or(0, HookPlan::part_count));
        let troubles = troubles.saturating_add(self.incidents.len());
        let single = self.strikes.iter().filter(|strike| strike.nth > 0).count();
        troubles.saturating_add(changes).saturating_add(self.files.len()).saturating_add(single)
    }

    /// Returns the script without its `nth` part. The order is network, hooks, people, crashes,
    /// faults, trouble, changes, files. After these, `nth` widens a fault to every call.
    #[must_use]
    pub fn without(&self, mut nth: usize) -> Self {
        if let Some(net) = self.net.without_part(&mut nth) {
            return Self { net, ..self.clone() };
        }
        let mut less = self.clone();
        if HookPlan::remove_part(&mut less.hooks, &mut nth) || less.people.remove_part(&mut nth) {
            return less;
        }
        if nth < less.crashes.len() {
            less.crashes.remove(nth);
            return less;
        }
        nth = nth.saturating_sub(less.crashes.len());
        if nth < less.strikes.len() {
            less.strikes.remove(nth);
            return less;
        }
        nth = nth.saturating_sub(less.strikes.len());
        if nth < less.incidents.len() {
            less.incidents.remove(nth);
            return less;
        }
        nth = nth.saturating_sub(less.incidents.len());
        for step in &mut less.steps {
            if nth < step.changes.len() {
                step.changes.remove(nth);
                return less;
            }
            nth = nth.saturating_sub(step.changes.len());
            if nth < step.requests.len() {
                step.requests.remove(nth);
                return less;
            }
            nth = nth.saturating_sub(step.requests.len());
        }
        match self.files.keys().nth(nth) {
            Some(name) => drop(less.files.remove(name)),
            None => widen_fault(&mut less.strikes, nth.saturating_sub(self.files.len())),
        }
        less
    }
}

/// Widens the `nth` fault of a single call to every call of its effect, so that the calls before it
/// can be removed too.
fn widen_fault(strikes: &mut [Strike], nth: usize) {
    let mut single = strikes.iter_mut().filter(|strike| strike.nth > 0);
    if let Some(strike) = single.nth(nth) {
        strike.nth = 0;
    }
}

/// Returns the effects that fail in every world.
fn common_effects() -> impl Iterator<Item = &'static str> {
    let own = CALLS.iter().map(|(effect, _, _)| *effect);
    own.filter(|effect| {
        !removal::REMOVAL_EFFECTS.contains(effect) && !merchant_commands::EFFECTS.contains(effect)
    })
}

/// Draws the faults of calls.
fn draw_strikes(dice: &mut Dice) -> Vec<Strike> {
    let effects = common_effects().chain([READ]);
    let mut strikes = Vec::new();
    let quiet = dice.percent(10);
    for effect in effects {
        let (calls, percent) = match effect {
            "code.exchange" => (2, 16),
            READ => (60, 4),
            "card.delete" | "bank.delete" | "bank.change" | "recurring.change" => (4, 80),
            "charge.capture" | "charge.refund" | "credit.create" | "transaction.void"
            | "transaction.sign" | "occurrence.pay" | "occurrence.ignore" => (3, 60),
            _ => (10, 30),
        };
        let fitting: Vec<CallFault> =
            FAULTS.iter().copied().filter(|fault| fault.strikes(effect)).collect();
        for nth in 1..=calls {
            let struck = dice.percent(percent) && !quiet;
            if let Some(fault) = dice.pick(&fitting).copied().filter(|_| struck) {
                strikes.push(Strike { effect, nth, fault, seconds: dice.between(1, 25) });
            }
        }
    }
    strikes
}

/// Draws the crashes of the machine.
fn draw_crashes(dice: &mut Dice) -> Vec<Crash> {
    let count = dice.below(8);
    (0..count).map(|_| draw_crash(dice)).collect()
}

fn draw_crash(dice: &mut Dice) -> Crash {
    let when = if dice.percent(50) { CrashSide::Before } else { CrashSide::After };
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
        nth: u32::try_from(dice.between(1, often)).unwrap_or(1),
        death: if dice.percent(50) { Death::Process } else { Death::Power },
        down_s: if dice.percent(50) { 0 } else { dice.below(120) },
    }
}

impl fmt::Display for SimScript {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let refuses = if self.refuses_duplicates { "refused" } else { "shown" };
        writeln!(f, "surface {:?}, a repeated source_id is {refuses}", self.surface)?;
        write!(f, "{}", self.people)?;
        for doc in self.files.values() {
            writeln!(f, "file    {doc}")?;
        }
        for step in &self.steps {
            let restart = if step.restart { ", restart" } else { "" };
            for change in &step.changes {
                writeln!(f, "edit    after {} ms{restart}: {change}", step.wait_ms)?;
            }
            for deed in &step.requests {
                writeln!(f, "request after {} ms{restart}: {deed}", step.wait_ms)?;
            }
        }
        for strike in &self.strikes {
            writeln!(f, "fault   {strike}")?;
        }
        for mishap in &self.incidents {
            writeln!(f, "mishap  {mishap}")?;
        }
        for crash in &self.crashes {
            writeln!(f, "crash   {crash}")?;
        }
        self.hooks.iter().try_for_each(|hooks| write!(f, "{hooks}"))?;
        write!(f, "{}", self.net)
    }
}
