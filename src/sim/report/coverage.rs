//! Coverage of the simulator: every fault on every effect, a crash at every point, every outcome of
//! an event.

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;

use crate::sim::check::events::EventOutcomes;
use crate::sim::faults::call_fault::{CALLS, CallFault, FAULTS, READ};
use crate::sim::faults::power::{CrashPoint, CrashSide};
use crate::sim::hooks::state::NOTIFY_POINT;
use crate::sim::run::life::RunReport;
use crate::sim::world::script::{DISK_PLACES, SEND_POINT};

/// Entries that need not happen in many runs, with the reason; `docs/design/chaos.md` holds the same
/// table.
pub const EXEMPT: &[(&str, &str)] = &[];

/// Counts of everything that happened.
#[derive(Debug, Clone, Serialize)]
pub struct FaultCoverage {
    /// Faults by effect: `EFFECT: FAULT`.
    pub faults: BTreeMap<String, u32>,
    /// Crashes by point: `before PLACE` or `after PLACE`.
    pub crashes: BTreeMap<String, u32>,
    /// Merchants' events and webhooks, by outcome.
    pub events: BTreeMap<String, u32>,
    /// Actions of hooks by verb, and failed hook runs.
    pub hooks: BTreeMap<String, u32>,
}

impl Default for FaultCoverage {
    fn default() -> Self {
        let zero = |name: String| (name, 0);
        Self {
            faults: effect_faults()
                .into_iter()
                .map(|(effect, fault)| zero(fault_name(effect, fault)))
                .collect(),
            crashes: crash_points().iter().map(|point| zero(point.to_string())).collect(),
            events: event_outcomes(&EventOutcomes::default())
                .map(|(way, _)| zero(way.to_owned()))
                .into(),
            hooks: HOOK_VERBS.map(|what| zero(what.to_owned())).into(),
        }
    }
}

/// Verbs of the actions that hooks request, and `failed`.
const HOOK_VERBS: [&str; 8] =
    ["charge", "credit", "failed", "ignore", "notify", "pay", "refund", "void"];

/// Returns every effect, and reading, with every fault that can strike it.
fn effect_faults() -> Vec<(&'static str, CallFault)> {
    let effects = CALLS.iter().map(|(effect, _, _)| *effect).chain([READ]);
    let with = |effect| FAULTS.iter().filter(move |fault| fault.strikes(effect));
    effects.flat_map(|effect| with(effect).map(move |fault| (effect, *fault))).collect()
}

/// Returns every point at which a script lets the machine die.
fn crash_points() -> Vec<CrashPoint> {
    let disk = DISK_PLACES.iter().map(|(place, _)| (*place, "")).chain([(NOTIFY_POINT, "")]);
    let sends = CALLS.iter().map(|(effect, _, _)| (SEND_POINT, *effect));
    let both = |(place, effect): (&'static str, &'static str)| {
        [CrashSide::Before, CrashSide::After].map(|when| CrashPoint { when, place, effect })
    };
    disk.chain(sends).flat_map(both).collect()
}

/// Returns the number of events with each outcome, by its name.
fn event_outcomes(outcomes: &EventOutcomes) -> [(&'static str, u32); 6] {
    let EventOutcomes { listed, read_back, stale, posts, forged, malformed: garbled } = *outcomes;
    [
        ("event in a list", listed),
        ("event read by its id", read_back),
        ("event older than the known state", stale),
        ("post of an event", posts),
        ("post of an unknown id", forged),
        ("post without an event", garbled),
    ]
}

fn fault_name(effect: &str, fault: CallFault) -> String {
    format!("{effect}: {fault}")
}

impl FaultCoverage {
    /// Adds the counts of one run.
    pub(crate) fn count(&mut self, report: &RunReport) {
        for ((effect, fault), count) in &report.struck {
            let struck = self.faults.entry(fault_name(effect, *fault)).or_default();
            *struck = struck.saturating_add(*count);
        }
        for (point, count) in &report.died {
            let died = self.crashes.entry(point.to_string()).or_default();
            *died = died.saturating_add(*count);
        }
        for (way, count) in event_outcomes(&report.event_outcomes) {
            let all = self.events.entry(way.to_owned()).or_default();
            *all = all.saturating_add(count);
        }
        for (what, count) in &report.hooks {
            let all = self.hooks.entry(what.clone()).or_default();
            *all = all.saturating_add(*count);
        }
    }

    /// Returns the entries that never happened and are not exempt.
    pub fn never_happened(&self) -> Vec<String> {
        let never = |(name, count): (&String, &u32)| (*count == 0).then(|| name.clone());
        let all = self.faults.iter().chain(&self.crashes).chain(&self.events).chain(&self.hooks);
        let all = all.filter_map(never);
        all.filter(|name| !EXEMPT.iter().any(|(exempt, _)| exempt == name)).collect()
    }
}

impl fmt::Display for FaultCoverage {
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
        writeln!(f, "hooks:")?;
        for (name, count) in &self.hooks {
            writeln!(f, "  {count:>6}  {name}")?;
        }
        Ok(())
    }
}
