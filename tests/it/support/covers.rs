//! Which rules of `docs/reference/service.md` were shown in a run of the tests.

use std::io::Write;

/// Where the numbers go, one a line; nowhere while this is not set.
const FILE: &str = "RECKON_COVERED";

#[expect(clippy::disallowed_methods, reason = "only the script that runs all tests knows where to")]
fn place() -> Option<std::ffi::OsString> {
    std::env::var_os(FILE)
}

/// Reports that a test has shown these rules: said last, so that a test that fails reports nothing.
pub(crate) fn covers(rules: &[&str]) {
    let Some(path) = place() else { return };
    let lines = rules.join("\n") + "\n";
    let file = std::fs::OpenOptions::new().create(true).append(true).open(path);
    let written = file.and_then(|mut file| file.write_all(lines.as_bytes()));
    assert!(written.is_ok(), "report the rules that were shown: {written:?}");
}
