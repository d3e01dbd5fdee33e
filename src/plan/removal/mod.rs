//! Removal of resources whose document is missing, and moves to another name.

pub mod bookkeeping;
pub mod fingerprint;
pub mod moves;
pub mod prune_state;
pub mod steps;
