//! The simulated machine: disks, clock, process.

pub mod backup;
pub mod compaction;
pub mod disk;
pub mod journal_decoder;
pub mod process;
pub mod wall_clock;
