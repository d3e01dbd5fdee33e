//! The shell around the pure core: one loop that plans, starts effects, settles them and answers.
//!
//! Floors, lowest first: `protocol` (requests and answers as values), `limits`, `handles` (what
//! every task shares), `known` (the state in memory), `scheduler`, `readers`, `executor`, `events`,
//! `hooks`, `alerts`, `view`, `queries`, `commands`, and `core`, which owns the loop. A part is changed by
//! `core` alone, and returns what is to be done.

pub mod alerts;
pub mod commands;
pub mod core;
pub mod events;
pub mod executor;
pub mod handles;
pub mod hooks;
pub mod known;
pub mod limits;
pub mod protocol;
pub mod queries;
pub mod readers;
pub mod scheduler;
pub mod view;

#[cfg(test)]
pub(crate) mod tests;
