//! The built program, tested from outside: its commands, its daemon and the emulator as processes.
#![expect(
    clippy::arithmetic_side_effects,
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::string_slice,
    clippy::unwrap_used,
    reason = "a failure here is a failed test"
)]

#[path = "../../examples/rig/connection.rs"]
mod connection;
#[path = "../../examples/rig/control.rs"]
mod control;
#[path = "../../examples/rig/judge.rs"]
mod judge;
#[path = "../../examples/rig/kill.rs"]
mod kill;
#[path = "../../examples/rig/proxy.rs"]
#[expect(dead_code, reason = "only the harness reads these counts")]
mod proxy;
#[path = "../../examples/rig/random.rs"]
mod random;
#[path = "../../examples/rig/settings.rs"]
mod settings;
#[path = "../../examples/rig/stand.rs"]
mod stand;
mod support;
#[path = "../../examples/rig/tree.rs"]
mod tree;

mod absent;
mod adopt;
mod against;
mod alerts;
mod attach;
mod book;
mod canaries;
mod cli;
mod exactly_once;
mod help;
mod hooks;
mod hooks_tools;
mod links;
mod messages;
mod older_folds;
mod outputs;
mod page;
mod prune;
mod readme;
mod reload;
mod reports;
mod runbook;
mod sandbox_kill;
mod scenarios;
mod server;
mod signed;
mod specs;
mod startup;
mod store;
mod unattended;
mod waiting;
mod why;
