//! What people see of the sandbox, in headless Chromium: hosted fields on a page of another origin, sign-up, consent,
//! portal and mailbox (`tests/browser/pages.py`). Needs Chromium and a Python with selenium, which `.ci/run` installs and names in
//! `RECKON_BROWSER`; where nothing is named, it says so and passes.
#![expect(
    clippy::print_stderr,
    clippy::disallowed_methods,
    reason = "a failure here is a failed test; who has no browser is told so"
)]

use std::process::Command;

#[path = "rig/alone.rs"]
mod alone;
#[path = "rig/covers.rs"]
mod covers;

/// The rules that the pages keep.
const RULES: [&str; 18] = [
    "25.1", "25.2", "25.3", "25.4", "25.5", "25.6", "26.1", "26.2", "26.3", "26.4", "26.5", "26.6",
    "26.7", "26.8", "27.1", "27.2", "27.3", "27.4",
];

#[test]
fn cards_and_people_go_through_every_page() {
    let Some(python) = std::env::var_os("RECKON_BROWSER") else {
        eprintln!("RECKON_BROWSER names no Python with selenium: the pages were not looked at");
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let sandbox = alone::listening(alone::command(folder.path(), &[])).unwrap();
    let address = format!("http://{}", sandbox.address);
    let pictures = std::env::var_os("RECKON_PICTURES")
        .map_or_else(|| folder.path().join("pictures"), std::path::PathBuf::from);
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
