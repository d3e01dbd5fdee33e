//! Truth on disk: the journal, its fold, and the vault.
//!
//! Why it exists: nothing may leave the process before the entry that explains it is on disk, and
//! nothing that was written may be forgotten. Everything here is synchronous except the one door
//! for appends, so that the simulator can drive it on one thread over a failing disk.
//!
//! Guarantees: an answered append survives power loss; a damaged journal never opens as if it
//! were whole; a secret is on disk only in sealed form.
//! Assumptions: one process owns the directory ([`lock`]), and a sync that succeeds is durable.
//!
//! Reading order: [`disk`] (the seam that can fail), [`journal`] (the truth), [`vault`] (what may
//! not stand in the open), [`index`] (what can be rebuilt), [`writer`] (the door).

pub mod backup;
mod bind;
mod bytes;
pub mod disk;
pub mod error;
pub mod facts;
pub mod fold;
pub mod health;
pub mod high_water;
pub mod index;
pub mod journal;
pub mod key;
pub mod key_file;
pub mod lock;
pub mod open;
pub mod private;
pub mod real_disk;
pub mod rekey;
pub mod restore;
pub mod sled;
pub mod story;
pub mod syncs;
pub mod touched;
pub mod vault;
pub mod writer;

#[cfg(test)]
mod testing;
#[cfg(test)]
mod trouble;
