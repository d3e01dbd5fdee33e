//! The state in memory: documents, observations, open intents, suspensions.

pub mod files;
pub mod holds;
pub mod known_state;
pub mod money_book;
pub mod timed_holds;
