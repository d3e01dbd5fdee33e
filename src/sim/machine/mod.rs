//! The simulated machine: disks, power, clock, process, and an independent decoder of its journal.

pub mod backup;
pub mod disk;
pub mod journal_decoder;
pub mod power;
pub mod process;
pub mod specs;
pub mod wall_clock;
