//! Simulator: the production engine on a machine that dies, against the sandbox, in virtual time,
//! with a seed that decides everything.
//!
//! Purpose: the simulator decides if this product can be trusted. One seed makes a world of
//! documents, and people who change and break them. It also makes a service with lost, late or
//! wrong answers, and a machine whose power fails in the middle of a write. At the end [`check`]
//! compares the service's own books, the journal and the documents.
//!
//! Guarantees: the same seed gives the same journal, to the last byte. A failure is reported with
//! its seed and the shortest script that still fails.
//!
//! Reading order: [`plan`] (everything decided before a run), [`machine`] and [`service`] (the
//! places of the faults), [`run`], [`check`], [`chaos`] (many runs).

pub mod chaos;
/// Checkers of a run that has ended.
pub mod check {
    pub mod attention;
    pub mod commands;
    pub mod events;
    pub mod evidence;
    pub mod hook_books;
    pub mod hooks;
    pub mod laws;
    pub mod limits;
    pub mod money;
    pub mod settlement;
    pub mod state;
    pub mod uniqueness;
}
/// The simulated machine: disks, power, clock, process, and an independent decoder of its journal.
pub mod machine {
    pub mod backup;
    pub mod disk;
    pub mod journal;
    pub mod process;
    pub mod specs;
}
/// Script of a run, drawn from its seed before the run begins: documents, people, faults, network
/// and hooks.
pub mod plan {
    pub mod chance;
    pub mod dice;
    pub mod document_gen;
    pub mod documents;
    pub mod hook_scripts;
    pub mod network;
    pub mod parts;
    pub mod people;
    pub mod requests;
    pub mod scenario;
    pub mod script;
    pub mod trouble;
    pub mod world_parts;
}
/// One run of a world: its people, the lives of its machine, and its verdict.
pub mod run {
    pub mod life;
    pub mod memory;
    pub mod people;
    pub mod recovery;
    pub mod requests;
    pub mod settler;
    pub mod state;
}
/// The emulated service, and everything between it and the engine.
pub mod service {
    pub mod control;
    pub mod frontend;
    pub mod notifier;
    pub mod paging;
    pub mod post_office;
    pub mod sandbox;
    pub mod weather;
}
#[cfg(test)]
mod tests;
#[cfg(test)]
mod worlds_tests;
