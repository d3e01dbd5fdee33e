//! Runs the simulator over many seeds, and reports reproducible failures, and the faults and crash
//! points that no run has tried.

use std::collections::BTreeMap;
use std::fmt;

use schemars::JsonSchema;
use serde::Serialize;

use crate::effects::register::EFFECTS;
use crate::sandbox::options::ServiceSurface;
use crate::sim::check::attention::Shares;
use crate::sim::check::events::EventEvidence;
use crate::sim::plan::chance::{
    CallFault, CrashPoint, CrashSide, DISK_PLACES, FAULTS, NOTIFY_POINT, READ, SEND_POINT,
};
use crate::sim::plan::network::NetBehaviour;
use crate::sim::plan::parts::add;
use crate::sim::plan::people::People;
use crate::sim::plan::script::SimScript;
use crate::sim::run::life::run;
use crate::sim::run::state::RunReport;

/// Number of runs from which a fault or crash point that never happened is a failure.
pub const COMPLETE_FROM: u32 = 2000;
/// Failures that are reduced to their shortest script; the others are reported as they are.
const SHRUNK_MAX: usize = 5;

const GROUPS: [fn(&mut SimScript); 8] = [
    |script| (script.net, script.hooks) = (NetBehaviour::default(), None),
    |script| script.hooks = None,
    |script| script.crashes.clear(),
    |script| script.strikes.clear(),
    |script| script.incidents.clear(),
    |script| script.steps.clear(),
    |script| script.people = People::default(),
    SimScript::remove_removals,
];

/// Runs that the search for a shorter script may take.
const SHRINK_RUNS_MAX: u32 = 400;

#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct SeedFailure {
    /// Seed of the run; `chaos --seed N --runs 1` repeats it.
    pub seed: u64,
    pub law: String,
    pub text: String,
    /// Shortest script that still breaks the law.
    pub script: Vec<String>,
}

#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
pub struct ChaosReport {
    pub seed: u64,
    pub runs: u32,
    pub clean: u32,
    pub failures: Vec<SeedFailure>,
    /// Intents, and the intents that needed a person, by surface and effect.
    pub shares: BTreeMap<&'static str, Shares>,
    /// Contacts that were created again without proof that the first attempt failed.
    #[serde(rename = "remade")]
    pub recreated: u32,
    pub coverage: FaultCoverage,
    /// Faults and crash points that never happened and are not exempt, once that is a failure.
    pub untried: Vec<String>,
}

impl ChaosReport {
    pub fn is_clean(&self) -> bool {
        self.failures.is_empty() && self.untried.is_empty()
    }

    fn count(&mut self, surface: ServiceSurface, report: &RunReport) {
        let surface = match surface {
            ServiceSurface::Public => "public",
            ServiceSurface::Documented => "documented",
        };
        let shares = self.shares.entry(surface).or_default();
        for (effect, share) in &report.shares {
            shares.entry(effect.clone()).or_default().add(share);
        }
        self.runs = self.runs.saturating_add(1);
        self.recreated = self.recreated.saturating_add(report.recreated);
        self.coverage.count(report);
    }
}

/// Runs `runs` seeds from `seed0` on, and reports the number of finished runs to `progress`.
pub fn chaos(seed0: u64, runs: u32, progress: &mut dyn FnMut(u32)) -> ChaosReport {
    let mut all = ChaosReport { seed: seed0, ..ChaosReport::default() };
    for number in 0..runs {
        let script = SimScript::new(seed0.saturating_add(u64::from(number)));
        let report = run(&script);
        all.count(script.surface, &report);
        if report.violations.is_empty() {
            all.clean = all.clean.saturating_add(1);
        } else {
            let shrinks = all.failures.len() < SHRUNK_MAX;
            all.failures.extend(failure(script, report, shrinks));
        }
        progress(number.saturating_add(1));
    }
    if runs >= COMPLETE_FROM {
        all.untried = all.coverage.never_happened();
    }
    all
}

/// Returns the failure of a run, with the shortest script that fails in the same way.
fn failure(script: SimScript, report: RunReport, shrinks: bool) -> Option<SeedFailure> {
    let law = report.violations.first()?.law;
    let (script, report) =
        if shrinks { shrink_script(script, report, law) } else { (script, report) };
    let violation = report.violations.into_iter().find(|violation| violation.law == law)?;
    Some(SeedFailure {
        seed: script.seed,
        law: law.to_owned(),
        text: violation.text,
        script: script.to_string().lines().map(str::to_owned).collect(),
    })
}

/// Removes whole groups of a script, then single parts, while the same law stays broken.
pub fn shrink_script(
    mut script: SimScript,
    mut report: RunReport,
    law: &str,
) -> (SimScript, RunReport) {
    let mut keep_if_broken = |script: &mut SimScript, less: SimScript| {
        let after = run(&less);
        let broken = after.violations.iter().any(|violation| violation.law == law);
        if broken {
            (*script, report) = (less, after);
        }
        broken
    };
    for remove in GROUPS {
        let mut less = script.clone();
        remove(&mut less);
        keep_if_broken(&mut script, less);
    }
    let (mut nth, mut shorter) = (0, false);
    for _ in 0..SHRINK_RUNS_MAX {
        if nth >= script.part_count() {
            if !shorter {
                break;
            }
            (nth, shorter) = (0, false);
        }
        let less = script.without(nth);
        if keep_if_broken(&mut script, less) {
            shorter = true;
        } else {
            nth = nth.saturating_add(1);
        }
    }
    (script, report)
}

impl fmt::Display for SeedFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { seed, law, text, script } = self;
        writeln!(f, "seed {seed} breaks {law}: {text}")?;
        writeln!(f, "  to repeat: reckon chaos --seed {seed} --runs 1")?;
        script.iter().try_for_each(|line| writeln!(f, "  {line}"))
    }
}

impl fmt::Display for ChaosReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { seed, runs, clean, failures, shares, recreated, coverage, untried } = self;
        for failure in failures {
            writeln!(f, "{failure}")?;
        }
        writeln!(f, "{runs} runs from seed {seed}: {clean} clean, {} failed", failures.len())?;
        for (surface, shares) in shares {
            let heads =
                "intents   person  after a loss   percent  other amount     on hold  reasons";
            writeln!(f, "{surface:<22}    {heads}")?;
            shares.iter().try_for_each(|(effect, share)| writeln!(f, "  {effect:<22}{share}"))?;
        }
        writeln!(f, "made again without proof: {recreated} contacts")?;
        write!(f, "{coverage}")?;
        for what in untried {
            writeln!(f, "never happened: {what}")?;
        }
        Ok(())
    }
}

/// Entries that need not happen in many runs, with the reason; `docs/design/chaos.md` holds the same
/// table.
pub const EXEMPT: &[(&str, &str)] = &[];

#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct FaultCoverage {
    /// Faults by effect: `EFFECT: FAULT`.
    pub faults: BTreeMap<String, u32>,
    /// Crashes by point: `before PLACE` or `after PLACE`.
    pub crashes: BTreeMap<String, u32>,
    pub events: BTreeMap<String, u32>,
    pub hooks: BTreeMap<String, u32>,
}

impl Default for FaultCoverage {
    fn default() -> Self {
        let zero = |name: String| (name, 0);
        let outcomes = EventEvidence::default().count_outcomes().into_iter();
        Self {
            faults: effect_faults()
                .map(|(effect, fault)| zero(fault_name(effect, fault)))
                .collect(),
            crashes: crash_points().map(|point| zero(point.to_string())).collect(),
            events: outcomes.map(|(outcome, _)| zero(outcome.to_owned())).collect(),
            hooks: HOOK_VERBS.map(|verb| zero(verb.to_owned())).into(),
        }
    }
}

/// Verbs of the actions that hooks request, and `failed`.
const HOOK_VERBS: [&str; 8] =
    ["charge", "credit", "failed", "ignore", "notify", "pay", "refund", "void"];

fn effect_faults() -> impl Iterator<Item = (&'static str, CallFault)> {
    let effects = EFFECTS.iter().map(|row| row.name).chain([READ]);
    let with = |effect| FAULTS.iter().filter(move |fault| fault.strikes(effect));
    effects.flat_map(move |effect| with(effect).map(move |fault| (effect, *fault)))
}

fn crash_points() -> impl Iterator<Item = CrashPoint> {
    let disk = DISK_PLACES.iter().map(|(place, _)| (*place, "")).chain([(NOTIFY_POINT, "")]);
    let sends = EFFECTS.iter().map(|row| (SEND_POINT, row.name));
    let both = |(place, effect): (&'static str, &'static str)| {
        [CrashSide::Before, CrashSide::After].map(|when| CrashPoint { when, place, effect })
    };
    disk.chain(sends).flat_map(both)
}

fn fault_name(effect: &str, fault: CallFault) -> String {
    format!("{effect}: {fault}")
}

impl FaultCoverage {
    pub(crate) fn count(&mut self, report: &RunReport) {
        for ((effect, fault), count) in &report.struck {
            add(&mut self.faults, fault_name(effect, *fault), *count);
        }
        for (point, count) in &report.died {
            add(&mut self.crashes, point.to_string(), *count);
        }
        for (outcome, count) in &report.event_outcomes {
            add(&mut self.events, (*outcome).to_owned(), *count);
        }
        for (verb, count) in &report.hooks {
            add(&mut self.hooks, verb.clone(), *count);
        }
    }

    /// Returns the entries that never happened and are not exempt.
    pub fn never_happened(&self) -> Vec<String> {
        let all = self.faults.iter().chain(&self.crashes).chain(&self.events).chain(&self.hooks);
        let is_exempt = |name: &String| EXEMPT.iter().any(|(exempt, _)| exempt == name);
        let never = all.filter(|(name, count)| **count == 0 && !is_exempt(name));
        never.map(|(name, _)| name.clone()).collect()
    }
}

impl fmt::Display for FaultCoverage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (title, counts) in [
            ("faults:", &self.faults),
            ("deaths of the machine:", &self.crashes),
            ("merchants' events:", &self.events),
            ("hooks:", &self.hooks),
        ] {
            writeln!(f, "{title}")?;
            counts.iter().try_for_each(|(name, count)| writeln!(f, "  {count:>6}  {name}"))?;
        }
        Ok(())
    }
}
