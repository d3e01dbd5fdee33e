//! Checks, tests, tries and compares operators' scripts.

pub mod comparison;
pub mod overview;
pub mod repl;
pub mod test;
pub mod trial_run;
