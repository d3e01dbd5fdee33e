//! Plans: steps, reasons, limits, removals.

pub mod exposure;
pub mod limit;
pub mod missing_document;
pub mod monthly_due;
pub mod plan;
pub mod reason;
pub mod removal;
