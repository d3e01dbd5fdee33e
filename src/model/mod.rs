//! The data types of the flow, one file each, in its order.
//!
//! `Manifest` → `Desired` → `Plan` of `Step`s → `Effect` → `Intent` → `Outcome` → `Observation` →
//! `Observed`. Every type is plain data; no code here reads a file, a clock or a socket.

pub mod action;
pub mod events;
pub mod intents;
pub mod issue;
pub mod manifest;
pub mod operator;
pub mod plans;
pub mod record;
pub mod service;
pub mod state;
