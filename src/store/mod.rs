//! Durable state on disk: the journal, its fold, and the vault.
//!
//! Why it exists: no effect leaves the process before the entry that explains the effect is on
//! disk, and no written entry may be lost. All code here is synchronous except the writer's append,
//! so that the simulator can drive the store on one thread over a failing disk.
//!
//! Guarantees: an acknowledged append survives power loss; a damaged journal never opens as an
//! undamaged one; a secret is on disk only in sealed form.
//! Assumptions: one process owns the directory ([`disk::directory`]), and a sync that succeeds is durable.
//!
//! Reading order: [`disk`] (the seam that can fail), [`journal`] (the source of truth), [`vault`]
//! (sealed values), [`index`] (rebuilt from the journal), [`writer`] (appends).

pub mod audit;
pub mod backup;
pub mod disk;
pub mod error;
pub mod history;
pub mod index;
pub mod journal;
pub mod projection;
pub mod read_model;
pub mod state;
#[cfg(test)]
pub(crate) mod tests;
pub mod vault;
pub mod writer;
