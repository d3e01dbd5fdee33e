//! Create, change and remove, for every kind.

pub mod assumed;
pub mod diff;
pub mod health;
pub mod moved_refs;
pub mod object_step;
pub mod overdue;
pub mod removal;
pub mod step;
