//! The emulator, judged by programs in another language that share no code with it.
//!
//! `recurring.py` walks through the days of a year of recurring charges, and needs a Python interpreter. `contract.py`
//! sends requests for everything in the emulator's `OpenAPI` document by schemathesis, which `.ci/run` installs and
//! names in `RECKON_CONTRACT`.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::print_stderr,
    reason = "a failure here is a failed test"
)]

use std::process::{Command, ExitCode};

use libtest_mimic::{Arguments, run};
use serde_json::{Value, json};

use drawn::{MADE, UNTIL, charges, oracle};
use emulator::Emulator;
use tool::{named, trial};

#[path = "../it/support/covers.rs"]
mod covers;
mod drawn;
mod emulator;
#[path = "../process/support/sandbox_process.rs"]
mod sandbox_process;
#[path = "../browser/tool.rs"]
mod tool;

/// Number of recurring charges; `benches/sandbox.rs` makes 10,000.
const CHARGES: usize = 150;

/// Least number of requests of schemathesis.
const REQUESTS: &str = "5000";

fn main() -> ExitCode {
    let trials = vec![
        trial(
            "a_year_of_recurring_charges_is_what_walking_through_its_days_gives",
            a_year_of_recurring_charges_is_what_walking_through_its_days_gives,
        ),
        trial("every_answer_is_inside_the_contract", every_answer_is_inside_the_contract),
    ];
    run(&Arguments::from_args(), trials).exit_code()
}

fn a_year_of_recurring_charges_is_what_walking_through_its_days_gives() -> Result<(), String> {
    let wanted = charges(CHARGES, 7);
    let expect = oracle(&wanted).ok_or("there is no python3, which the oracle needs")?;
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = runtime.enable_all().start_paused(true).build().unwrap();
    runtime.block_on(compare_with_oracle(&wanted, &expect));
    covers::covers(&["45.11"]);
    Ok(())
}

async fn compare_with_oracle(wanted: &[Value], expect: &[Value]) {
    let emulator = Emulator::new(&format!("{MADE}T18:00:00Z"));
    let mut made = Vec::new();
    for charge in wanted {
        made.push(emulator.make(charge).await);
    }
    emulator.turn_to(&format!("{UNTIL}T23:00:00Z")).await;
    for (at, (id, expect)) in made.iter().zip(expect).enumerate() {
        let found = emulator.summary(id.as_deref()).await;
        let sums =
            |one: &Value| json!([one["status"], one["collected"], one["total"], one["waits"]]);
        assert_eq!(sums(&found), sums(expect), "charge {at}: {}", wanted[at]);
        assert!(found == *expect, "other days: charge {at}: {}", wanted[at]);
    }
}

fn every_answer_is_inside_the_contract() -> Result<(), String> {
    let python = named("RECKON_CONTRACT", "a Python with schemathesis")?;
    let folder = tempfile::tempdir().unwrap();
    let sandbox = sandbox_process::listening(sandbox_process::command(folder.path(), &[])).unwrap();
    let address = format!("http://{}", sandbox.address);
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/oracle/contract.py");
    let output = Command::new(python).args([script, &address, REQUESTS]).output().unwrap();
    let shown = String::from_utf8_lossy(&output.stdout);
    eprintln!("{shown}");
    assert!(output.status.success(), "{shown}{}", String::from_utf8_lossy(&output.stderr));
    Ok(())
}
