//! The simulator: the production engine on a machine that dies, against the sandbox, in virtual
//! time, with a seed that decides everything.
//!
//! Why it exists: whether this product can be trusted is decided here. One seed makes a world of
//! documents, people who change and break them, a service whose answers are lost, late or wrong,
//! and a machine whose power fails in the middle of a write; at the end [`check`] lays the service's
//! own books, the journal and the documents side by side.
//!
//! Guarantees: the same seed gives the same journal, to the last byte; a failure is told with its
//! seed and the shortest script that still fails.
//!
//! Reading order: [`world`] and [`plot`] (documents and people), [`script`], [`faults`], [`disk`]
//! and [`power`] (what goes wrong), [`front`] and [`machine`] (where it does), [`run`], [`check`].

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
