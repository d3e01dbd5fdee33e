//! The fold: records of the journal to entries of the index.

pub mod absences;
pub mod adoption;
pub mod attached;
pub mod carried;
pub mod counted;
pub mod epoch;
pub mod events;
pub mod failed_actions;
pub mod fold;
pub mod hooks;
pub mod journal_refs;
pub mod moves;
pub mod old_actions;
pub mod payments;
pub mod plans;
pub mod refused_credentials;
pub mod retention;
pub mod rotation;
pub mod suspend;
pub mod waiting;
