//! The data types of the flow, one file for each part, in its order.
//!
//! `Manifest` → `Desired` → `Plan` of `Step`s → `Effect` → `Intent` → `Outcome` → `Observation` →
//! `Observed`. Every type is plain data; no code here reads a file, a clock or a socket.

pub mod alerts;
pub mod change;
pub mod effect;
pub mod error_class;
pub mod events;
pub mod holds;
pub mod intent;
pub mod issue;
pub mod manifest;
pub mod operator;
pub mod outcome;
pub mod plan;
pub mod record;
pub mod remote_object;
pub mod retry;
pub mod state;
#[cfg(test)]
mod testing;
