//! Faults: lost answers, refusals, power cuts, full disks.

pub mod call_fault;
pub mod capacity;
pub mod frontend;
pub mod incident;
pub mod power;
