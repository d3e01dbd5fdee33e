//! The product in this process: engines over a state in memory, an emulator, and virtual time. `README.md` beside this
//! file lists the helpers and their uses.
#![expect(
    clippy::arithmetic_side_effects,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::string_slice,
    clippy::unwrap_used,
    reason = "a failure here is a failed test"
)]

mod support;

mod accounts;
mod adopt_daemon;
mod alerts;
mod approval;
mod client_log;
mod crowd;
mod drift;
mod edits;
mod epoch;
mod errors;
mod events;
mod fields;
mod freeze;
mod fuzz;
mod gateway;
mod growth;
mod hooks_lanes;
mod hooks_live;
mod hooks_restore;
mod intake;
mod intake_again;
mod intake_doubt;
mod invoices;
mod lessons;
mod limits;
mod onboarding;
mod plans;
mod receiver;
mod recurring;
mod removal;
mod renewal;
mod replaced;
mod rhythm;
mod rules;
mod scale;
mod schema;
mod scope;
mod scripts_live;
mod security;
mod service;
mod spine;
mod suspend;
mod trouble;
mod windows;
mod wire;
mod witness;
mod zones;
