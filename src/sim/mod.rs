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
pub mod check;
pub mod machine;
pub mod plan;
pub mod run;
pub mod service;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod worlds_tests;
