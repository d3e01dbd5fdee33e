//! Typed reads of the projection.

pub mod adoption;
pub mod epoch;
pub mod events;
pub mod failed;
pub mod hooks;
pub mod journal_refs;
pub mod model;
pub mod old_actions;
pub mod retention;
pub mod retried;
pub mod rotation;
