//! What people see, in headless Chromium: of the sandbox, hosted fields on a page of another origin, sign-up, consent,
//! portal and mailbox (`tests/browser/pages.py`); of the daemon, the page on which a payer gives the details of a saved
//! method (`tests/browser/intake.py`). Needs Chromium and a Python with selenium, which `.ci/run` installs and names in
//! `RECKON_BROWSER`; where nothing is named, it says so and passes.
#![expect(
    clippy::print_stderr,
    clippy::disallowed_methods,
    reason = "a failure here is a failed test; who has no browser is told so"
)]

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

#[path = "rig/alone.rs"]
mod alone;
#[path = "rig/covers.rs"]
mod covers;
#[path = "rig/embedded.rs"]
mod embedded;

/// The rules that the pages keep.
const RULES: [&str; 18] = [
    "25.1", "25.2", "25.3", "25.4", "25.5", "25.6", "26.1", "26.2", "26.3", "26.4", "26.5", "26.6",
    "26.7", "26.8", "27.1", "27.2", "27.3", "27.4",
];

#[test]
fn cards_and_people_go_through_every_page() {
    let Some(python) = python() else { return };
    let folder = tempfile::tempdir().unwrap();
    let sandbox = alone::listening(alone::command(folder.path(), &[])).unwrap();
    let address = format!("http://{}", sandbox.address);
    let pictures = pictures(folder.path());
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/browser/pages.py");
    let mut command = Command::new(python);
    let output = command.args(["-B", script, &address]).arg(&pictures).output().unwrap();
    let (told, trouble) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{told}{trouble}");
    let seen: Vec<&str> = told.lines().collect();
    let unseen: Vec<&&str> = RULES.iter().filter(|rule| !seen.contains(*rule)).collect();
    assert!(unseen.is_empty(), "{unseen:?}");
    covers::covers(&[
        "25.1", "25.2", "25.3", "25.4", "25.5", "25.6", "26.1", "26.2", "26.3", "26.4", "26.5",
        "26.6", "26.7", "26.8", "27.1", "27.2", "27.3", "27.4",
    ]);
}

/// A Python with selenium, where one is named.
fn python() -> Option<OsString> {
    let python = std::env::var_os("RECKON_BROWSER");
    if python.is_none() {
        eprintln!("RECKON_BROWSER names no Python with selenium: the pages were not looked at");
    }
    python
}

/// Where pictures of the pages go.
fn pictures(folder: &Path) -> PathBuf {
    std::env::var_os("RECKON_PICTURES").map_or_else(|| folder.join("pictures"), PathBuf::from)
}

/// A merchant, three methods that payers give, an application that waits for its applicant, and a charge that waits for the
/// first method.
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

#[test]
fn a_card_that_a_payer_types_becomes_a_charge_without_another_command() {
    let Some(python) = python() else { return };
    let folder = tempfile::tempdir().unwrap();
    let daemon = embedded::start(folder.path(), PAYERS).unwrap();
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/browser/intake.py");
    let mut command = Command::new(python);
    command.args(["-B", script, env!("CARGO_BIN_EXE_reckon")]);
    command.arg(folder.path()).arg(&daemon.service).arg(pictures(folder.path()));
    let output = command.output().unwrap();
    let (told, trouble) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{told}{trouble}");
}
