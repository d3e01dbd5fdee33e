//! Runs the simulator over many seeds, and reports reproducible failures and untried faults.

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;

use super::attention_share;
use super::attention_share::Shares;
use super::coverage::FaultCoverage;
use crate::sandbox::options::ServiceSurface;
use crate::sim::run::life::{RunReport, run};
use crate::sim::world::script::SimScript;

/// Number of runs from which a fault or crash point that never happened is a failure.
pub const COMPLETE_FROM: u32 = 2000;
/// Failures that are reduced to their shortest script; the others are reported as they are.
const SHRUNK_MAX: usize = 5;
/// Runs that the search for a shorter script may take.
const SHRINK_RUNS_MAX: u32 = 400;

/// One seed that failed.
#[derive(Debug, Clone, Serialize)]
pub struct SeedFailure {
    /// Seed of the run; `chaos --seed N --runs 1` repeats it.
    pub seed: u64,
    /// Law that the run broke.
    pub law: String,
    pub text: String,
    /// Shortest script that still breaks the law.
    pub script: Vec<String>,
}

/// Result of many runs.
#[derive(Debug, Clone, Default, Serialize)]
pub struct ChaosReport {
    /// First seed.
    pub seed: u64,
    pub runs: u32,
    /// Runs without a violation.
    pub clean: u32,
    /// Runs with a violation.
    pub failures: Vec<SeedFailure>,
    /// Intents, and the intents that needed a person, by surface and effect.
    pub shares: BTreeMap<&'static str, Shares>,
    /// Contacts that were created again without proof that the first attempt failed.
    #[serde(rename = "remade")]
    pub recreated: u32,
    /// Occurrences of each fault on each effect, and of each crash point.
    pub coverage: FaultCoverage,
    /// Faults and crash points that never happened and are not exempt, once that is a failure.
    pub untried: Vec<String>,
}

impl ChaosReport {
    /// Returns true if no run failed and no fault was left untried.
    pub fn is_clean(&self) -> bool {
        self.failures.is_empty() && self.untried.is_empty()
    }

    fn count(&mut self, surface: ServiceSurface, report: &RunReport) {
        attention_share::add_counts(
            self.shares.entry(attention_share::surface_name(surface)).or_default(),
            &report.shares,
        );
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
    for less in [
        SimScript::without_net,
        SimScript::without_hooks,
        SimScript::without_crashes,
        SimScript::without_strikes,
        SimScript::without_mishaps,
        SimScript::without_steps,
        SimScript::without_people,
        SimScript::without_removal,
    ] {
        let less = less(&script);
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
        let Self { seed, runs, clean, failures, shares, recreated: remade, coverage, untried } =
            self;
        for failure in failures {
            writeln!(f, "{failure}")?;
        }
        writeln!(f, "{runs} runs from seed {seed}: {clean} clean, {} failed", failures.len())?;
        for (surface, shares) in shares {
            attention_share::write_table(surface, shares, f)?;
        }
        writeln!(f, "made again without proof: {remade} contacts")?;
        write!(f, "{coverage}")?;
        for what in untried {
            writeln!(f, "never happened: {what}")?;
        }
        Ok(())
    }
}
