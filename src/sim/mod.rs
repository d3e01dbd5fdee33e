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

pub use report::chaos::{ChaosReport, chaos};

pub mod actors;
pub mod check;
pub mod faults;
pub mod hooks;
pub mod machine;
pub mod net;
pub mod report;
pub mod run;
#[cfg(test)]
mod tests;
pub mod world;
#[cfg(test)]
mod worlds_tests;
