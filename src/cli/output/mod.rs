//! Printing and exit codes. Nothing else writes to the terminal.

pub mod exit;
pub mod file;
pub mod print;
