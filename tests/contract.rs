//! The sandbox against its own `OpenAPI` document, asked by schemathesis (`tests/contract/run.py`): whatever is sent, every
//! answer is inside the contract. Needs a Python with schemathesis, which `.ci/run` installs and names in
//! `RECKON_CONTRACT`; where nothing is named, it says so and passes.
#![expect(
    clippy::disallowed_methods,
    clippy::print_stderr,
    reason = "a failure here is a failed test; who has no schemathesis is told so"
)]

use std::process::Command;

#[path = "rig/alone.rs"]
mod alone;

/// So many requests at least.
const REQUESTS: &str = "5000";

#[test]
fn every_answer_is_inside_the_contract() {
    let Some(python) = std::env::var_os("RECKON_CONTRACT") else {
        eprintln!("RECKON_CONTRACT names no Python with schemathesis: the contract was not tried");
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let sandbox = alone::listening(alone::command(folder.path(), &[])).unwrap();
    let address = format!("http://{}", sandbox.address);
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/contract/run.py");
    let output = Command::new(python).args([script, &address, REQUESTS]).output().unwrap();
    let told = String::from_utf8_lossy(&output.stdout);
    eprintln!("{told}");
    assert!(output.status.success(), "{told}{}", String::from_utf8_lossy(&output.stderr));
}
