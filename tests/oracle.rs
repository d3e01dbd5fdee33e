//! Recurring charges of all schedules over a virtual year, against an oracle that walks through the days and shares no
//! code with the sandbox (`tests/oracle/recurring.py`). Needs a Python interpreter; without one it says so and passes.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::print_stderr,
    reason = "a failure here is a failed test; who has no interpreter is told so"
)]

use std::io::Write;
use std::process::{Command, Stdio};

use rand_chacha::ChaCha20Rng;
use rand_core::{Rng, SeedableRng};
use serde_json::{Value, json};

#[path = "rig/covers.rs"]
mod covers;
#[path = "oracle/house.rs"]
mod house;

use house::House;

/// So many charges; the bench makes 10,000.
const CHARGES: usize = 150;
/// The Saturday on which all are made, and the last day that is looked at.
const MADE: &str = "2026-11-21";
const UNTIL: &str = "2027-11-21";

/// Draws from a seed.
struct Draw(ChaCha20Rng);

impl Draw {
    /// A number from `least` to `most`.
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

/// A schedule of any kind, beginning within a year around the day of its making, never on it.
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
        // An end before the start is refused, and no matter of the oracle.
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

/// What the oracle says of the charges; `None` where there is no interpreter.
fn oracle(charges: &[Value]) -> Option<Vec<Value>> {
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

#[tokio::test(start_paused = true)]
async fn a_year_of_recurring_charges_is_what_walking_through_its_days_gives() {
    let mut draw = Draw(ChaCha20Rng::seed_from_u64(7));
    let wanted: Vec<Value> = (0..CHARGES).map(|_| charge(&mut draw)).collect();
    let Some(expect) = oracle(&wanted) else {
        eprintln!("there is no python3 here: the oracle was not asked");
        return;
    };
    let house = House::new(&format!("{MADE}T18:00:00Z"));
    let mut made = Vec::new();
    for charge in &wanted {
        made.push(house.make(charge).await);
    }
    house.turn_to(&format!("{UNTIL}T23:00:00Z")).await;
    for (at, (id, expect)) in made.iter().zip(&expect).enumerate() {
        let found = house.stands(id.as_deref()).await;
        let sums = |one: &Value| json!([one["status"], one["tried"], one["total"], one["waits"]]);
        assert_eq!(sums(&found), sums(expect), "charge {at}: {}", wanted[at]);
        assert!(found == *expect, "other days: charge {at}: {}", wanted[at]);
    }
    covers::covers(&["45.11"]);
}
