//! Support of the engine's unit tests: the engine's parts over a state in memory, records for that
//! state, and a service with fixed answers.

pub(crate) mod fixture;
pub(crate) mod records;
pub(crate) mod service;
