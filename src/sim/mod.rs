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
//! Reading order: [`world`] and [`plot`] (documents and people), [`script`], [`faults`], [`disk`]
//! and [`power`] (the faults), [`front`] and [`machine`] (their places), [`run`], [`check`].

mod applicant;
mod approver;
pub mod bounds;
pub mod chaos;
pub mod check;
mod clones;
pub mod command;
pub mod coverage;
pub mod deed;
pub mod desk;
mod dice;
pub mod disk;
pub mod durable;
pub mod faults;
pub mod front;
pub mod hooks;
mod letters;
mod machine;
pub mod mishap;
pub mod net;
mod orders;
pub mod payer;
pub mod people;
mod person;
mod plot;
pub mod power;
mod removal;
pub mod room;
pub mod run;
pub mod script;
pub mod share;
mod specs;
mod till;
mod wall;
pub mod world;

pub use chaos::{ChaosReport, chaos};

#[cfg(test)]
mod tests;
#[cfg(test)]
mod worlds_tests;
