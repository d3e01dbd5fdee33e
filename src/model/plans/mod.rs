//! Plans: steps, reasons, limits, removals.

pub mod change;
pub mod plan;
pub mod reason;
pub mod removal;
