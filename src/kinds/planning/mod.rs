//! Create, change and remove, for every kind.

pub mod diff;
pub mod object_step;
pub mod step;
