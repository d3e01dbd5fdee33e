//! The state in memory: documents, observations, open intents, suspensions.

pub mod epoch;
pub mod files;
pub mod known_state;
pub mod snapshot;
