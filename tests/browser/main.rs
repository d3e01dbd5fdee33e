//! The daemon's and the sandbox's pages, in headless Chromium.
//!
//! Of the sandbox: hosted fields on a page of another origin, sign-up, consent, portal and mailbox (`pages.py`). Of
//! the daemon: the page on which a payer gives the details of a saved method (`intake.py`), and the page for operators
//! (`operator_page.py`). All need Chromium, a Python with selenium and axe-core, which `.ci/run` installs and names in
//! `RECKON_BROWSER` and `RECKON_AXE`.
#![expect(clippy::unwrap_used, reason = "a failure here is a failed test")]

use libtest_mimic::{Arguments, run};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use tool::{named, trial, variable};

#[path = "../it/support/covers.rs"]
mod covers;
#[path = "../process/support/daemon_process.rs"]
mod daemon_process;
#[path = "../process/support/sandbox_process.rs"]
mod sandbox_process;
mod tool;

/// Rules of `docs/reference/service.md` that the pages keep.
const RULES: [&str; 18] = [
    "25.1", "25.2", "25.3", "25.4", "25.5", "25.6", "26.1", "26.2", "26.3", "26.4", "26.5", "26.6",
    "26.7", "26.8", "27.1", "27.2", "27.3", "27.4",
];

fn main() -> ExitCode {
    let trials = vec![
        trial("cards_and_people_go_through_every_page", cards_and_people_go_through_every_page),
        trial(
            "a_card_that_a_payer_types_becomes_a_charge_without_another_command",
            a_card_that_a_payer_types_becomes_a_charge_without_another_command,
        ),
        trial(
            "an_operator_reads_every_page_with_and_without_scripts",
            an_operator_reads_every_page_with_and_without_scripts,
        ),
    ];
    run(&Arguments::from_args(), trials).exit_code()
}

fn cards_and_people_go_through_every_page() -> Result<(), String> {
    let python = python()?;
    let folder = tempfile::tempdir().unwrap();
    let sandbox = sandbox_process::listening(sandbox_process::command(folder.path(), &[])).unwrap();
    let address = format!("http://{}", sandbox.address);
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/browser/pages.py");
    let mut command = Command::new(python);
    let output = succeeds(command.args(["-B", script, &address]).arg(pictures(folder.path())));
    let shown: Vec<&str> = output.lines().collect();
    let missing: Vec<&&str> = RULES.iter().filter(|rule| !shown.contains(*rule)).collect();
    assert!(missing.is_empty(), "{missing:?}");
    covers::covers(&[
        "25.1", "25.2", "25.3", "25.4", "25.5", "25.6", "26.1", "26.2", "26.3", "26.4", "26.5",
        "26.6", "26.7", "26.8", "27.1", "27.2", "27.3", "27.4",
    ]);
    Ok(())
}

fn python() -> Result<OsString, String> {
    named("RECKON_AXE", "the file axe.min.js of axe-core")?;
    named("RECKON_BROWSER", "a Python with selenium, beside Chromium")
}

/// Returns the folder of the pictures of the pages.
fn pictures(folder: &Path) -> PathBuf {
    variable("RECKON_PICTURES").map_or_else(|| folder.join("pictures"), PathBuf::from)
}

/// Runs a command that must succeed; returns its output.
fn succeeds(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (shown, errors) = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success(), "{shown}{errors}");
    shown
}

/// A merchant, three methods whose payers give the details, an application that waits for its applicant, and a charge
/// that waits for the first method.
const PAYERS: &str = "apiVersion: reckon.dev/v1
kind: Merchant
metadata: {name: acme}
spec: {mode: test, timezone: America/Chicago, credentials: {authorization_code: {env: CODE_ACME}}}
---
apiVersion: reckon.dev/v1
kind: SavedMethod
metadata: {name: jane-card}
spec: {merchant: acme, type: card, source: intake}
---
apiVersion: reckon.dev/v1
kind: SavedMethod
metadata: {name: jane-bank}
spec: {merchant: acme, type: bank, source: intake}
---
apiVersion: reckon.dev/v1
kind: SavedMethod
metadata: {name: later}
spec: {merchant: acme, type: card, source: intake}
---
apiVersion: reckon.dev/v1
kind: MerchantApplication
metadata: {name: harbor}
spec: {submission: sign_up, plan: basic, email: jane@harbor.example}
---
apiVersion: reckon.dev/v1
kind: RecurringCharge
metadata: {name: club}
spec:
  merchant: acme
  method: jane-card
  amount: \"20.00 USD\"
  schedule: {start: 2040-02-01, interval_unit: MONTH, interval_delay: 1}
";

fn a_card_that_a_payer_types_becomes_a_charge_without_another_command() -> Result<(), String> {
    let python = python()?;
    let folder = tempfile::tempdir().unwrap();
    let daemon = daemon_process::start(folder.path(), PAYERS).unwrap();
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/browser/intake.py");
    let mut command = Command::new(python);
    command.args(["-B", script, env!("CARGO_BIN_EXE_reckon")]);
    succeeds(command.arg(folder.path()).arg(&daemon.service).arg(pictures(folder.path())));
    Ok(())
}

fn an_operator_reads_every_page_with_and_without_scripts() -> Result<(), String> {
    let python = python()?;
    let folder = tempfile::tempdir().unwrap();
    let _daemon = daemon_process::start(folder.path(), PAYERS).unwrap();
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/browser/operator_page.py");
    let mut command = Command::new(python);
    command.args(["-B", script, env!("CARGO_BIN_EXE_reckon")]);
    succeeds(command.arg(folder.path()).arg(pictures(folder.path())));
    Ok(())
}
