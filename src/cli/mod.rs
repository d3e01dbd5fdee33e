//! The command line: reads the arguments, opens what a command needs, runs it and prints.
//!
//! `args` declares, `context` opens, `commands` decide and print, `daemon` runs, `remote` asks
//! another machine.

pub mod args;
pub mod commands;
pub mod context;
pub mod daemon;
pub mod entry;
pub mod exit;
pub mod print;
pub mod remote;
