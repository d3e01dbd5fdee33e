//! The fold: records of the journal to entries of the index.

pub mod alerts;
pub mod events;
pub mod exposure;
pub mod fold;
pub mod hooks;
pub mod ledger;
pub mod migration;
pub mod observed;
pub mod operator;
pub mod replays;
pub mod requests;
pub mod retention;
