//! Recurring charges of any kind, drawn from a seed, and the oracle's results for them.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "a failure here is a failed test"
)]

use rand_chacha::ChaCha20Rng;
use std::io::Write;
use std::process::{Command, Stdio};

use rand_core::{Rng, SeedableRng};
use serde_json::{Value, json};

/// The Saturday on which all charges are made.
pub(crate) const MADE: &str = "2026-11-21";
/// The last day of the comparison.
pub(crate) const UNTIL: &str = "2027-11-21";

/// Draws from a seed.
struct Draw(ChaCha20Rng);

impl Draw {
    /// Returns a number from `least` to `most`.
    fn number(&mut self, least: i64, most: i64) -> i64 {
        let span = u64::try_from(most - least + 1).unwrap();
        least + i64::try_from(self.0.next_u64() % span).unwrap()
    }

    fn happens(&mut self, percent: i64) -> bool {
        self.number(1, 100) <= percent
    }

    fn pick<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[usize::try_from(self.number(1, i64::try_from(all.len()).unwrap())).unwrap() - 1]
    }
}

/// Returns a schedule of any kind. It begins within a year around the day of its making, never on that day.
fn schedule(draw: &mut Draw) -> Value {
    let unit = *draw.pick(&["DAY", "WEEK", "MONTH"]);
    let days: &[&[&str]] = match unit {
        "WEEK" => &[&[], &["1"], &["2", "5"], &["6", "7"], &["1", "2", "3", "4", "5", "6", "7"]],
        "MONTH" => &[&[], &["1"], &["15", "LAST"], &["31"], &["29", "30"], &["LAST"]],
        _ => &[&[]],
    };
    let days = *draw.pick(days);
    let delay = if days.is_empty() { draw.number(1, 5) } else { 1 };
    let (year, month) = (draw.number(2026, 2027), draw.number(1, 12));
    let day = *draw.pick(&[1, 5, 15, 28, 29, 30, 31]);
    let day = day.min(if month == 2 {
        28
    } else if [4, 6, 9, 11].contains(&month) {
        30
    } else {
        31
    });
    let mut schedule = json!({"start": format!("{year}-{month:02}-{day:02}"), "interval_unit": unit, "interval_delay": delay});
    if !days.is_empty() {
        schedule["days"] = json!(days);
    }
    if draw.happens(30) {
        // The service refuses an end before the start, so the oracle has no such schedule.
        let end = format!("2027-{:02}-15", draw.number(1, 12));
        if schedule["start"].as_str() <= Some(end.as_str()) {
            schedule["end"] = json!(end);
        }
    }
    schedule
}

fn charge(draw: &mut Draw) -> Value {
    let amount: i64 = draw.number(1, 50_000);
    let mut charge =
        json!({"amount": amount, "schedule": schedule(draw), "declines": draw.happens(10)});
    if draw.happens(30) {
        charge["max_occurrences"] = json!(draw.number(1, 40));
    }
    if draw.happens(30) {
        charge["max_amount"] = json!(amount + draw.number(0, amount * 30));
    }
    charge
}

/// Returns `count` charges. A larger number from the same seed begins with the same charges.
pub(crate) fn charges(count: usize, seed: u64) -> Vec<Value> {
    let mut draw = Draw(ChaCha20Rng::seed_from_u64(seed));
    (0..count).map(|_| charge(&mut draw)).collect()
}

/// Returns the oracle's results for the charges; `None` where there is no interpreter.
pub(crate) fn oracle(charges: &[Value]) -> Option<Vec<Value>> {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/oracle/recurring.py");
    let mut child = Command::new("python3")
        .args([script, MADE, UNTIL])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .ok()?;
    let lines = charges.iter().map(Value::to_string).collect::<Vec<_>>().join("\n") + "\n";
    let mut stdin = child.stdin.take().unwrap();
    let writer = std::thread::spawn(move || stdin.write_all(lines.as_bytes()).unwrap());
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    assert!(output.status.success());
    let text = String::from_utf8(output.stdout).unwrap();
    Some(text.lines().map(|line| serde_json::from_str(line).unwrap()).collect())
}
