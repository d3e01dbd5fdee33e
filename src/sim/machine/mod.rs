//! The simulated machine: disks, power, clock, process, and an independent decoder of its journal.

pub mod backup;
pub mod disk;
pub mod journal;
pub mod power;
pub mod process;
pub mod specs;
