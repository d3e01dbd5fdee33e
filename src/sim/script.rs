//! What happens in one run, decided before it begins, so that it can be told and cut down.

use std::fmt;

use super::clones;
use super::deed::Deed;
use super::dice::Dice;
use super::faults::{CALLS, FAULTS, Fault, READ, Strike};
use super::hooks::{self, Plan};
use super::mishap::{self, Mishap};
use super::net::Net;
use super::orders;
use super::people::People;
use super::plot;
use super::power::{Crash, Death, Point, When};
use super::removal;
use super::till;
use super::world::{Change, Tree};
use crate::sandbox::Surface;

/// Everything that happens in a run.
#[derive(Debug, Clone)]
pub struct Script {
    /// The seed that decides what the script leaves open.
    pub seed: u64,
    /// How much of the service is there.
    pub surface: Surface,
    /// Whether a second invoice of one name is refused rather than shown.
    pub refuses_duplicates: bool,
    /// The files at the beginning.
    pub files: Tree,
    /// What people do, in order.
    pub steps: Vec<Step>,
    /// What happens to calls.
    pub strikes: Vec<Strike>,
    /// What befalls its store and its clock.
    pub mishaps: Vec<Mishap>,
    /// What the machine may die of, each once.
    pub crashes: Vec<Crash>,
    /// Who looks after it.
    pub people: People,
    /// What the net does beyond that.
    pub net: Net,
    /// The hooks of operators, if there are any.
    pub hooks: Option<Plan>,
}

/// One push to the files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// How long after the step before, in milliseconds.
    pub wait_ms: u64,
    /// Whether the process is stopped and started first.
    pub restart: bool,
    /// What is done to the files.
    pub changes: Vec<Change>,
    /// What is asked for then.
    pub deeds: Vec<Deed>,
}

/// Places on the disk at which a machine can die, and how often each is passed in a short life.
pub const DISK_PLACES: &[(&str, u64)] = &[
    ("journal.write", 30),
    ("journal.sync", 30),
    ("journal.change", 2),
    ("vault.write", 8),
    ("vault.sync", 8),
    ("vault.change", 2),
];

/// Effects that few runs come to: the machine dies at them more often than at others.
const CHANGES: &[&str] = &[
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

/// What the sending of a call is called among crash points.
pub const SEND: &str = "send";

impl Script {
    /// What the seed says.
    pub fn new(seed: u64) -> Self {
        let mut dice = Dice::new(seed, 1);
        let surface = if dice.percent(50) { Surface::Public } else { Surface::Documented };
        let refuses_duplicates = dice.percent(30);
        let mut files = plot::files(&mut dice);
        let mut steps = plot::steps(&files, &mut dice);
        plot::ask(&mut steps, &mut Dice::new(seed, 5));
        let mishaps = mishap::plan(&mut steps, &mut Dice::new(seed, 9));
        files.extend(plot::onboarding(&mut Dice::new(seed, 4)));
        let strikes = strikes(&mut Dice::new(seed, 2));
        let crashes = crashes(&mut Dice::new(seed, 3));
        let mut script = Self {
            seed,
            surface,
            refuses_duplicates,
            files,
            steps,
            strikes,
            mishaps,
            crashes,
            people: People::default(),
            net: Net::default(),
            hooks: None,
        };
        script.more();
        hooks::play(&mut script);
        script
    }

    /// What else there is in a world. Where the store is in trouble, there is nothing else; where amounts are limited,
    /// nobody gives commands, and nothing is removed or made from earlier charges: each says enough by itself.
    fn more(&mut self) {
        if !self.mishaps.is_empty() {
            return;
        }
        let Self { seed, files, steps, strikes, .. } = self;
        self.people = People::new(*seed, files, (steps, strikes));
        self.net = Net::new(*seed, files);
        if self.people.bounds.is_empty() {
            orders::give(files, steps, &mut Dice::new(*seed, 6));
            let mut dice = Dice::new(*seed, 7);
            clones::play(self, &mut dice);
            removal::play(self, &mut dice);
            let mut dice = Dice::new(self.seed, 11);
            till::play(self, &mut dice);
        }
    }

    /// The script on a machine that never dies.
    #[must_use]
    pub fn without_crashes(&self) -> Self {
        Self { crashes: Vec::new(), ..self.clone() }
    }

    /// The script with a store and a clock that nothing befalls.
    #[must_use]
    pub fn without_mishaps(&self) -> Self {
        Self { mishaps: Vec::new(), ..self.clone() }
    }

    /// The script with a service that never fails.
    #[must_use]
    pub fn without_strikes(&self) -> Self {
        Self { strikes: Vec::new(), ..self.clone() }
    }

    /// The script with files that nobody changes.
    #[must_use]
    pub fn without_steps(&self) -> Self {
        Self { steps: Vec::new(), ..self.clone() }
    }

    /// The script without hooks.
    #[must_use]
    pub fn without_hooks(&self) -> Self {
        Self { hooks: None, ..self.clone() }
    }

    /// The script without anybody who looks after it.
    #[must_use]
    pub fn without_people(&self) -> Self {
        Self { people: People::default(), ..self.clone() }
    }

    /// The script with a net that does nothing beyond single calls.
    #[must_use]
    pub fn without_net(&self) -> Self {
        Self { net: Net::default(), hooks: None, ..self.clone() }
    }

    /// How many things could be left out.
    pub fn cuts(&self) -> usize {
        let each = |step: &Step| step.changes.len().saturating_add(step.deeds.len());
        let changes: usize = self.steps.iter().map(each).sum();
        let troubles = self.crashes.len().saturating_add(self.strikes.len());
        let troubles = troubles.saturating_add(self.people.cuts()).saturating_add(self.net.cuts());
        let troubles = troubles.saturating_add(self.hooks.as_ref().map_or(0, Plan::cuts));
        let troubles = troubles.saturating_add(self.mishaps.len());
        let single = self.strikes.iter().filter(|strike| strike.nth > 0).count();
        troubles.saturating_add(changes).saturating_add(self.files.len()).saturating_add(single)
    }

    /// The script without its `nth` thing: the net first, hooks, people, crashes, then faults, changes and files;
    /// after them come faults that strike every call instead of one.
    #[must_use]
    pub fn without(&self, mut nth: usize) -> Self {
        if let Some(net) = self.net.without(&mut nth) {
            return Self { net, ..self.clone() };
        }
        let mut less = self.clone();
        if Plan::cut(&mut less.hooks, &mut nth) || less.people.cut(&mut nth) {
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
        if nth < less.mishaps.len() {
            less.mishaps.remove(nth);
            return less;
        }
        nth = nth.saturating_sub(less.mishaps.len());
        for step in &mut less.steps {
            if nth < step.changes.len() {
                step.changes.remove(nth);
                return less;
            }
            nth = nth.saturating_sub(step.changes.len());
            if nth < step.deeds.len() {
                step.deeds.remove(nth);
                return less;
            }
            nth = nth.saturating_sub(step.deeds.len());
        }
        match self.files.keys().nth(nth) {
            Some(name) => drop(less.files.remove(name)),
            None => widen(&mut less.strikes, nth.saturating_sub(self.files.len())),
        }
        less
    }
}

/// Lets the `nth` of the strikes on one call strike every call of its effect, so that the calls
/// before it can be left out too.
fn widen(strikes: &mut [Strike], nth: usize) {
    let mut single = strikes.iter_mut().filter(|strike| strike.nth > 0);
    if let Some(strike) = single.nth(nth) {
        strike.nth = 0;
    }
}

/// The effects that go wrong in every world.
fn common() -> impl Iterator<Item = &'static str> {
    let own = CALLS.iter().map(|(effect, _, _)| *effect);
    own.filter(|effect| !removal::EFFECTS.contains(effect) && !till::EFFECTS.contains(effect))
}

/// Which calls are struck.
fn strikes(dice: &mut Dice) -> Vec<Strike> {
    let effects = common().chain([READ]);
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
        let fitting: Vec<Fault> =
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

/// When the machine dies.
fn crashes(dice: &mut Dice) -> Vec<Crash> {
    let count = dice.below(8);
    (0..count).map(|_| crash(dice)).collect()
}

fn crash(dice: &mut Dice) -> Crash {
    let when = if dice.percent(50) { When::Before } else { When::After };
    let (point, often) = match dice.below(10) {
        0..=2 => {
            let (place, often) = dice.pick(DISK_PLACES).copied().unwrap_or(("journal.sync", 1));
            (Point { when, place, effect: "" }, often)
        }
        3 | 4 => (Point { when, place: "journal.sync", effect: "" }, 30),
        5..=7 => {
            let effect = dice.pick(CHANGES).copied().unwrap_or(READ);
            (Point { when, place: SEND, effect }, 1)
        }
        _ => {
            let effect = dice.pick(&common().collect::<Vec<_>>()).copied().unwrap_or(READ);
            // A merchant whose code is lost is out of the play.
            let spared = effect == "code.exchange" && dice.percent(60);
            let effect = if spared { "invoice.create" } else { effect };
            (Point { when, place: SEND, effect }, 2)
        }
    };
    Crash {
        point,
        nth: u32::try_from(dice.between(1, often)).unwrap_or(1),
        death: if dice.percent(50) { Death::Process } else { Death::Power },
        down_s: if dice.percent(50) { 0 } else { dice.below(120) },
    }
}

impl fmt::Display for Script {
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
            for deed in &step.deeds {
                writeln!(f, "ask     after {} ms{restart}: {deed}", step.wait_ms)?;
            }
        }
        for strike in &self.strikes {
            writeln!(f, "fault   {strike}")?;
        }
        for mishap in &self.mishaps {
            writeln!(f, "mishap  {mishap}")?;
        }
        for crash in &self.crashes {
            writeln!(f, "crash   {crash}")?;
        }
        self.hooks.iter().try_for_each(|hooks| write!(f, "{hooks}"))?;
        write!(f, "{}", self.net)
    }
}
