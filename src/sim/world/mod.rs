//! Simulated worlds, generated from a seed.

pub mod attachments;
pub mod dice;
pub mod documents;
pub mod limits;
pub mod removal;
pub mod scenario_gen;
pub mod script;
pub mod specs;
pub mod unmarked_charges;
