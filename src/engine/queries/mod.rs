//! Answers queries from the present state.

pub mod answer;
pub mod effect_log;
pub mod events;
pub mod intents;
pub mod journal_refs;
pub mod metrics;
pub mod overview;
pub mod plans;
pub mod resources;
pub mod scripts;
pub mod traffic;
