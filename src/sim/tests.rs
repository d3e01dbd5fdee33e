use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use super::chaos::{EXEMPT, FaultCoverage, chaos, shrink_script};
use crate::base::fault_injection;
use crate::sim::plan::script::SimScript;
use crate::sim::run::life::run;
use crate::sim::run::state::RunReport;

fn clean(from: u64, runs: u32) {
    let report = chaos(from, runs, &mut |_| {});
    assert!(report.is_clean(), "{report}");
    assert_eq!(report.clean, runs);
}

// Two tests, so that two processors share the work.
#[test]
fn seeds_1_to_50_are_clean() {
    clean(1, 50);
}

#[test]
fn seeds_51_to_100_are_clean() {
    clean(51, 50);
}

#[test]
fn one_seed_gives_one_journal_and_the_world_is_not_idle() {
    let mut collected = 0;
    for seed in 1..=5 {
        let (one, other) = (run(&SimScript::new(seed)), run(&SimScript::new(seed)));
        assert_eq!((one.head, one.records), (other.head, other.records), "seed {seed}");
        assert!(one.records > 10, "seed {seed} does something");
        collected += one.collected;
    }
    assert!(collected > 5, "the service collects what is due");
}

#[test]
fn a_live_merchant_is_approved_in_the_worlds_that_have_one() {
    let scripts = (1..).map(SimScript::new);
    let mut scripts = scripts.filter(|script| script.files.contains_key("live"));
    let script = scripts.next().unwrap();
    let report = run(&SimScript { strikes: Vec::new(), crashes: Vec::new(), ..script });
    assert_eq!((report.violations, report.approved), (Vec::new(), 1));
}

/// The worlds that the two tests above run.
const CLEAN: RangeInclusive<u64> = 1..=100;

/// Runs these worlds one after the other until their sums show everything that is looked for. Returns the
/// sums of all of them if they never do.
fn run_until<T: Default>(
    scripts: impl Iterator<Item = SimScript>,
    count: impl Fn(&mut T, &RunReport),
    is_complete: impl Fn(&T) -> bool,
) -> Result<(), T> {
    let scripts: Vec<SimScript> = scripts.collect();
    // So those that are not run here are run above.
    assert!(scripts.iter().all(|script| CLEAN.contains(&script.seed)));
    let mut sums = T::default();
    for script in &scripts {
        let report = run(script);
        assert_eq!(report.violations, Vec::new(), "{script}");
        count(&mut sums, &report);
        if is_complete(&sums) {
            return Ok(());
        }
    }
    Err(sums)
}

/// Returns the names that were never counted.
fn never(counts: &BTreeMap<String, u32>) -> Vec<&str> {
    counts.iter().filter(|(_, count)| **count == 0).map(|(name, _)| name.as_str()).collect()
}

#[test]
fn somebody_settles_what_is_held_and_somebody_approves_plans() {
    let scripts = (1..90)
        .map(SimScript::new)
        .filter(|script| script.people.settler.is_some() || !script.people.approvers.is_empty());
    let count = |(settled, approved): &mut (u32, usize), report: &RunReport| {
        let shares = report.shares.values();
        *settled += shares
            .map(|one| (one.needed_a_person + one.other_amount).saturating_sub(one.on_hold))
            .sum::<u32>();
        *approved += report.plans_approved;
    };
    let sums = run_until(scripts, count, |(settled, approved)| *settled > 0 && *approved > 3);
    assert_eq!(sums, Ok(()), "too few intents are settled, or plans approved");
}

#[test]
fn events_are_posted_forged_read_back_and_overtaken_where_merchants_listen() {
    let scripts = (1..).map(SimScript::new).filter(|script| script.net.gateway.is_some());
    let happened = |all: &FaultCoverage| never(&all.events).is_empty();
    let all = run_until(scripts.take(12), FaultCoverage::count, happened);
    assert!(all.is_ok(), "{:?}", all.map_err(|all| format!("{:?}", never(&all.events))));
}

/// Number of faults in the first test.
const HALF: usize = 11;

/// Injected faults, each with the seed that found it last, the seeds of which one has to find it, and the
/// law that it breaks.
const FOUND_BY: &[(&str, u64, RangeInclusive<u64>, &str)] = &[
    ("send-before-sync", 1, 1..=3, "law 1"),
    ("fold-reads-unsynced", 6, 1..=30, "journal"),
    ("attempt-in-the-name", 1, 1..=5, "law 5"),
    ("absent-after-one-read", 1, 1..=20, "law 5"),
    ("prune-under-partial", 3, 1..=20, "law 2"),
    ("two-open-effects", 1, 1..=20, "law 5"),
    ("tail-cut-drops-valid", 1, 1..=20, "journal"),
    ("settled-without-comparing", 1, 1..=60, "law 4"),
    ("approval-reused", 1, 1..=20, "approval"),
    ("older-event-wins", 26, 1..=60, "law 3"),
    ("token-404-is-done", 37, 1..=100, "settles"),
    ("neutralise-leaves-an-occurrence", 77, 1..=250, "removal"),
    ("clone-counted-twice", 10, 1..=250, "law 5"),
    ("restore-without-epoch", 24, 1..=80, "law 5"),
    ("retries-bypass-the-meter", 1, 1..=60, "limits"),
    ("stale-event-applied", 2, 1..=30, "law 3"),
    ("read-back-skipped", 3, 1..=30, "law 3"),
    ("answered-before-sync", 2, 1..=30, "events"),
    ("hook-by-ordinal", 3, 1..=100, "the refunds of"),
    ("told-without-a-note", 70, 1..=100, "arrived 2 times"),
    ("retention-drops-unrun", 81, 75..=100, "hooks"),
    ("view-of-a-stale-copy", 1, 1..=60, "views"),
    ("compaction-drops-named", 1, 1..=3, "does not open after it"),
    ("lost-call-overtakes", 3680, 3680..=3700, "settles"),
];

/// Injects these faults one after the other, and checks that a seed finds each: as a rule the one that
/// found it last.
fn are_found(faults: &[(&str, u64, RangeInclusive<u64>, &str)]) {
    for (fault, last, seeds, law) in faults {
        fault_injection::inject(Some(
            fault_injection::FAULTS.iter().find(|known| *known == fault).unwrap(),
        ));
        let names = |text: String| text.contains(law);
        let finds =
            |seed| run(&SimScript::new(seed)).violations.iter().any(|one| names(one.to_string()));
        let found = std::iter::once(*last).chain(seeds.clone()).find(|seed| finds(*seed));
        fault_injection::inject(None);
        assert!(found.is_some(), "{fault} is not found as {law} by the seeds {seeds:?}");
    }
}

// Two tests, so that two processors share the work.
#[test]
fn every_planted_fault_is_found() {
    let planted: Vec<&str> = FOUND_BY.iter().map(|(fault, ..)| *fault).collect();
    assert_eq!(planted, fault_injection::FAULTS);
    are_found(&FOUND_BY[..HALF]);
}

#[test]
fn every_planted_fault_of_the_second_half_is_found() {
    are_found(&FOUND_BY[HALF..]);
}

#[test]
fn a_failure_is_told_with_the_shortest_script_that_still_fails() {
    fault_injection::inject(Some("send-before-sync"));
    let script = SimScript::new(1);
    let report = run(&script);
    let (script, report) = shrink_script(script, report, "law 1");
    fault_injection::inject(None);
    assert!(report.violations.iter().any(|one| one.law == "law 1"));
    assert!(script.strikes.is_empty() && script.crashes.is_empty(), "{script}");
    assert_eq!(
        (script.part_count(), script.files.len()),
        (1, 1),
        "one merchant is enough: {script}"
    );
}

#[test]
fn the_exemptions_are_those_of_the_document() {
    let text = include_str!("../../docs/design/chaos.md");
    let (_, table) = text.split_once("Exemptions:").unwrap();
    let rows = table.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| what"));
    let said: Vec<String> = rows.map(str::to_owned).collect();
    let coded: Vec<String> =
        EXEMPT.iter().map(|(what, why)| format!("| {what} | {why} |")).collect();
    assert_eq!(said, coded);
}

fn hooked() -> impl Iterator<Item = SimScript> {
    (1..).map(SimScript::new).filter(|script| script.hooks.is_some())
}

#[test]
fn hooks_answer_payments_once_whatever_befalls_them() {
    let mut all = FaultCoverage::default();
    for script in hooked().take(40) {
        let report = run(&script);
        assert_eq!(report.violations, Vec::new(), "{script}");
        all.count(&report);
    }
    assert_eq!(never(&all.hooks), Vec::<&str>::new());
}
