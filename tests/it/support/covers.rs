//! Report of the rules of `docs/reference/service.md` that a run of the tests shows.

use std::io::Write;

/// Variable with the path of the report, one number a line. Without it nothing is reported.
const FILE: &str = "RECKON_COVERED";

#[expect(
    clippy::disallowed_methods,
    reason = "only the script that runs all tests knows the path of the report"
)]
fn place() -> Option<std::ffi::OsString> {
    std::env::var_os(FILE)
}

/// Reports that a test has shown these rules. A test calls it last, so that a failed test reports nothing.
pub(crate) fn covers(rules: &[&str]) {
    let Some(path) = place() else { return };
    let lines = rules.join("\n") + "\n";
    let file = std::fs::OpenOptions::new().create(true).append(true).open(path);
    let written = file.and_then(|mut file| file.write_all(lines.as_bytes()));
    assert!(written.is_ok(), "cannot report the rules: {written:?}");
}
