//! What was tried: every fault on every effect, a death at every point, and every way of an event.

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;

use super::check::Heard;
use super::faults::{CALLS, FAULTS, Fault, READ};
use super::hooks::TELL;
use super::power::{Point, When};
use super::run::Report;
use super::script::{DISK_PLACES, SEND};

/// What need not happen in many runs, and why; the same table stands in `docs/chaos.md`.
pub const EXEMPT: &[(&str, &str)] = &[];

/// How often everything happened.
#[derive(Debug, Clone, Serialize)]
pub struct Coverage {
    /// Faults by effect: `EFFECT: FAULT`.
    pub faults: BTreeMap<String, u32>,
    /// Deaths by point: `before PLACE` or `after PLACE`.
    pub crashes: BTreeMap<String, u32>,
    /// Merchants' events and their posts, by what became of them.
    pub events: BTreeMap<String, u32>,
    /// What hooks did, by verb, and how often they failed.
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

/// What hooks do.
const HOOKS: [&str; 8] =
    ["charge", "credit", "failed", "ignore", "notify", "pay", "refund", "void"];

/// Every effect, and reading, with every fault that can strike it.
fn pairs() -> Vec<(&'static str, Fault)> {
    let effects = CALLS.iter().map(|(effect, _, _)| *effect).chain([READ]);
    let with = |effect| FAULTS.iter().filter(move |fault| fault.strikes(effect));
    effects.flat_map(|effect| with(effect).map(move |fault| (effect, *fault))).collect()
}

/// Every point at which a script lets the machine die.
fn points() -> Vec<Point> {
    let disk = DISK_PLACES.iter().map(|(place, _)| (*place, "")).chain([(TELL, "")]);
    let sends = CALLS.iter().map(|(effect, _, _)| (SEND, *effect));
    let both = |(place, effect): (&'static str, &'static str)| {
        [When::Before, When::After].map(|when| Point { when, place, effect })
    };
    disk.chain(sends).flat_map(both).collect()
}

/// What became of events, each by its name.
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
    /// Counts one run in.
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

    /// What never happened and is not exempt.
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
