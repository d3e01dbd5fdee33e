//! Tests that need a program which a machine may not have.

use std::ffi::OsString;
use std::panic::{AssertUnwindSafe, catch_unwind};

use libtest_mimic::{Completion, Failed, Trial};

/// Makes a test of a function that answers `Err` with the reason where its program is missing.
///
/// Such a test is reported as ignored, with the reason. It fails where `CI` is set, since `.ci/run` installs every program.
pub(crate) fn trial(name: &str, run: fn() -> Result<(), String>) -> Trial {
    Trial::ignorable_test(name, move || match catch_unwind(AssertUnwindSafe(run)) {
        Ok(Err(missing)) if variable("CI").is_some() => Err(Failed::from(missing)),
        ended => completion(ended),
    })
}

/// Returns the end of a test; `Err` is the reason where its program is missing.
pub(crate) fn completion(
    ended: std::thread::Result<Result<(), String>>,
) -> Result<Completion, Failed> {
    match ended {
        Ok(Ok(())) => Ok(Completion::Completed),
        Ok(Err(missing)) => Ok(Completion::ignored_with(missing)),
        Err(_) => Err(Failed::without_message()),
    }
}

/// Returns an environment variable that names a program.
///
/// # Errors
///
/// The variable is missing; the error names it and the program.
pub(crate) fn named(name: &str, what: &str) -> Result<OsString, String> {
    variable(name).ok_or_else(|| format!("{name} is not set; it names {what}"))
}

#[expect(
    clippy::disallowed_methods,
    reason = "the caller names the programs of the tests in the environment"
)]
pub(crate) fn variable(name: &str) -> Option<OsString> {
    std::env::var_os(name)
}
