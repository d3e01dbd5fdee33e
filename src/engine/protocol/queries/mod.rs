//! Queries and their answers as plain data.

pub mod against;
pub mod disown;
pub mod due;
pub mod effect_log;
pub mod events;
pub mod hooks;
pub mod intents;
pub mod journal_refs;
pub mod local_reply;
pub mod metrics;
pub mod payments;
pub mod quotas;
pub mod scoped;
pub mod scripts;
pub mod traffic;
pub mod trial_run;
pub mod unknown_objects;
pub mod views;
