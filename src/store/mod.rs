//! Durable state on disk: the journal, its fold, and the vault.
//!
//! Why it exists: no effect leaves the process before the entry that explains the effect is on
//! disk, and no written entry may be lost. All code here is synchronous except the writer's append,
//! so that the simulator can drive the store on one thread over a failing disk.
//!
//! Guarantees: an acknowledged append survives power loss; a damaged journal never opens as an
//! undamaged one; a secret is on disk only in sealed form.
//! Assumptions: one process owns the directory ([`lock`]), and a sync that succeeds is durable.
//!
//! Reading order: [`disk`] (the seam that can fail), [`journal`] (the source of truth), [`vault`]
//! (sealed values), [`index`] (rebuilt from the journal), [`writer`] (appends).

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
