//! The fold: records of the journal to entries of the index.

pub mod adoption;
pub mod carried;
pub mod counted;
pub mod doubt;
pub mod epoch;
pub mod events;
pub mod failed_actions;
pub mod fold;
pub mod hooks;
pub mod journal_refs;
pub mod key_ownership;
pub mod ledger;
pub mod observed;
pub mod operator;
pub mod requests;
pub mod retention;
pub mod roster;
