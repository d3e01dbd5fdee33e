//! Coverage of the simulator: every fault on every effect, a crash at every point, every outcome of
//! an event.

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;

use super::check::Heard;
use super::faults::{CALLS, FAULTS, Fault, READ};
use super::hooks::TELL;
use super::power::{Point, When};
use super::run::Report;
use super::script::{DISK_PLACES, SEND};

/// Entries that need not happen in many runs, with the reason; `docs/chaos.md` holds the same
/// table.
pub const EXEMPT: &[(&str, &str)] = &[];

/// Counts of everything that happened.
#[derive(Debug, Clone, Serialize)]
pub struct Coverage {
    /// Faults by effect: `EFFECT: FAULT`.
    pub faults: BTreeMap<String, u32>,
    /// Crashes by point: `before PLACE` or `after PLACE`.
    pub crashes: BTreeMap<String, u32>,
    /// Merchants' events and webhooks, by outcome.
    pub events: BTreeMap<String, u32>,
    /// Actions of hooks by verb, and failed hook runs.
    pub hooks: BTreeMap<String, u32>,
}

impl Default for Coverage {
    fn default() -> Self {
        let zero = |name: String| (name, 0);
        Self {
            faults: pairs().into_iter().map(|(effect, fault)| zero(pair(effect, fault))).collect(),
            crashes: points().iter().map(|point| zero(point.to_string())).collect(),
            events: ways(&Heard::default()).map(|(way, _)| zero(way.to_owned())).into(),
            hooks: HOOKS.map(|what| zero(what.to_owned())).into(),
        }
    }
}

/// Verbs of the actions that hooks request, and `failed`.
const HOOKS: [&str; 8] =
    ["charge", "credit", "failed", "ignore", "notify", "pay", "refund", "void"];

/// Returns every effect, and reading, with every fault that can strike it.
fn pairs() -> Vec<(&'static str, Fault)> {
    let effects = CALLS.iter().map(|(effect, _, _)| *effect).chain([READ]);
    let with = |effect| FAULTS.iter().filter(move |fault| fault.strikes(effect));
    effects.flat_map(|effect| with(effect).map(move |fault| (effect, *fault))).collect()
}

/// Returns every point at which a script lets the machine die.
fn points() -> Vec<Point> {
    let disk = DISK_PLACES.iter().map(|(place, _)| (*place, "")).chain([(TELL, "")]);
    let sends = CALLS.iter().map(|(effect, _, _)| (SEND, *effect));
    let both = |(place, effect): (&'static str, &'static str)| {
        [When::Before, When::After].map(|when| Point { when, place, effect })
    };
    disk.chain(sends).flat_map(both).collect()
}

/// Returns the number of events with each outcome, by its name.
fn ways(heard: &Heard) -> [(&'static str, u32); 6] {
    let Heard { listed, read_back, stale, posts, forged, garbled } = *heard;
    [
        ("event told in a list", listed),
        ("event read by its id", read_back),
        ("event older than what was known", stale),
        ("post of an event", posts),
        ("post of an id that nobody has", forged),
        ("post of no event", garbled),
    ]
}

fn pair(effect: &str, fault: Fault) -> String {
    format!("{effect}: {fault}")
}

impl Coverage {
    /// Adds the counts of one run.
    pub(super) fn count(&mut self, report: &Report) {
        for ((effect, fault), count) in &report.struck {
            let struck = self.faults.entry(pair(effect, *fault)).or_default();
            *struck = struck.saturating_add(*count);
        }
        for (point, count) in &report.died {
            let died = self.crashes.entry(point.to_string()).or_default();
            *died = died.saturating_add(*count);
        }
        for (way, count) in ways(&report.heard) {
            let all = self.events.entry(way.to_owned()).or_default();
            *all = all.saturating_add(count);
        }
        for (what, count) in &report.hooks {
            let all = self.hooks.entry(what.clone()).or_default();
            *all = all.saturating_add(*count);
        }
    }

    /// Returns the entries that never happened and are not exempt.
    pub fn untried(&self) -> Vec<String> {
        let never = |(name, count): (&String, &u32)| (*count == 0).then(|| name.clone());
        let all = self.faults.iter().chain(&self.crashes).chain(&self.events).chain(&self.hooks);
        let all = all.filter_map(never);
        all.filter(|name| !EXEMPT.iter().any(|(exempt, _)| exempt == name)).collect()
    }
}

impl fmt::Display for Coverage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "faults:")?;
        for (name, count) in &self.faults {
            writeln!(f, "  {count:>6}  {name}")?;
        }
        writeln!(f, "deaths of the machine:")?;
        for (name, count) in &self.crashes {
            writeln!(f, "  {count:>6}  {name}")?;
        }
        writeln!(f, "merchants' events:")?;
        for (name, count) in &self.events {
            writeln!(f, "  {count:>6}  {name}")?;
        }
        writeln!(f, "what hooks did:")?;
        for (name, count) in &self.hooks {
            writeln!(f, "  {count:>6}  {name}")?;
        }
        Ok(())
    }
}
