//! Y: recurring charges of all schedules over a virtual year, in this process. It measures the time of one step of the
//! clock. It compares the collected amounts to the cent with an oracle that walks through the days.

use std::time::{Duration, Instant};

use serde_json::Value;

use crate::Bench;
use crate::drawn::{MADE, UNTIL, charges, oracle};
use crate::emulator::Emulator;
use crate::figures::{Figure, hundredths, rounds_of, times, us_each};
use crate::report::{Report, Row};

/// Eight seconds for ten thousand charges.
const EACH_MAX: Duration = Duration::from_micros(800);
const GROWTH_HUNDREDTHS: u128 = 150;
const NO_ORACLE: &str = "there is no python3 here";

/// A sandbox with all charges made.
struct Year {
    emulator: Emulator,
    made: Vec<Option<String>>,
}

impl Year {
    async fn begin(wanted: &[Value]) -> Self {
        let emulator = Emulator::new(&format!("{MADE}T18:00:00Z"));
        let mut made = Vec::with_capacity(wanted.len());
        for charge in wanted {
            made.push(emulator.make(charge).await);
        }
        Self { emulator, made }
    }

    /// Advances the clock over the whole year; returns the time that it took.
    async fn pass(&self) -> Duration {
        let started = Instant::now();
        self.emulator.turn_to(&format!("{UNTIL}T23:00:00Z")).await;
        started.elapsed()
    }

    /// Counts the charges that agree with the oracle.
    async fn same(&self, expect: &[Value]) -> usize {
        let mut same: usize = 0;
        for (id, expect) in self.made.iter().zip(expect) {
            if self.emulator.summary(id.as_deref()).await == *expect {
                same = same.saturating_add(1);
            }
        }
        same
    }
}

/// A number of charges, and the time of their year.
#[derive(Debug, Clone, Copy)]
struct Passed {
    count: usize,
    time: Figure<Duration>,
}

/// Measures every size, the smallest first.
pub(crate) async fn run(bench: &Bench, report: &mut Report) {
    let most = bench.charges.last().copied().unwrap_or(0);
    let all = charges(most, bench.seed);
    bench.progress.say("Y  the oracle");
    let expect = oracle(&all);
    let mut smallest = None;
    for count in bench.charges.iter().copied() {
        let wanted = all.get(..count).unwrap_or_default();
        let expect = expect.as_ref().and_then(|expect| expect.get(..count));
        let mut times = Vec::new();
        for round in 1..=rounds_of(count, bench.rounds) {
            bench.progress.say(&format!("Y  {count} charges, round {round}"));
            let year = Year::begin(wanted).await;
            times.push(year.pass().await);
            if round == 1 {
                compare(report, &year, expect).await;
            }
        }
        let passed = Passed { count, time: Figure::of_costs(times) };
        passes(report, passed, expect);
        match smallest {
            None => smallest = Some(passed),
            Some(smallest) => grows(report, passed, smallest),
        }
    }
}

async fn compare(report: &mut Report, year: &Year, expect: Option<&[Value]>) {
    let goal = "Y amounts equal to the oracle's";
    let Some(expect) = expect else {
        report.skip(goal, NO_ORACLE);
        return;
    };
    let (same, count) = (year.same(expect).await, expect.len());
    report.add(Row {
        goal: goal.to_owned(),
        count,
        figure: Figure::of_rates([same]).shown(|same| format!("{same} the same")),
        limit: format!("oracle {count}"),
        ratio: crate::figures::ratio(to_u128(same), to_u128(count)),
        wanted: "all of them",
        met: Some(same == count),
    });
}

fn to_u128(number: usize) -> u128 {
    u128::try_from(number).unwrap_or(u128::MAX)
}

/// Formats the number of collected payments, where an oracle has counted them.
fn payments(expect: Option<&[Value]>) -> String {
    let collected = |one: &Value| one.get("collected").and_then(Value::as_u64);
    let sum = expect.map(|all| all.iter().filter_map(collected).fold(0, u64::saturating_add));
    sum.map(|sum| format!(", {sum} payments collected")).unwrap_or_default()
}

fn passes(report: &mut Report, passed: Passed, expect: Option<&[Value]>) {
    let Passed { count, time } = passed;
    let each = time.median.as_nanos().checked_div(to_u128(count)).unwrap_or(0);
    let payments = payments(expect);
    let shown = |time: Duration| format!("{} s{payments}", hundredths(time.as_millis() / 10));
    report.add(Row {
        goal: "Y one step over a year, ms for each charge".to_owned(),
        count,
        figure: time.shown(shown),
        limit: String::new(),
        ratio: each / 10_000,
        wanted: "at most 0.80 ms (8 s for 10,000)",
        met: Some(each <= EACH_MAX.as_nanos()),
    });
}

fn grows(report: &mut Report, many: Passed, few: Passed) {
    let each = |passed: Passed| {
        let count = u32::try_from(passed.count).unwrap_or(u32::MAX);
        passed.time.median.checked_div(count).unwrap_or_default()
    };
    let ratio = times(each(many), each(few));
    report.add(Row {
        goal: "Y time for each charge, many against few".to_owned(),
        count: many.count,
        figure: many.time.shown(|time| us_each(time, many.count)),
        limit: format!("{} charges: {}", few.count, us_each(few.time.median, few.count)),
        ratio,
        wanted: "at most 1.50",
        met: Some(ratio <= GROWTH_HUNDREDTHS),
    });
}
