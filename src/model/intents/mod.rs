//! Effects, intents, outcomes, retries and the errors of the service.

pub mod effect;
pub mod error_class;
pub mod intent;
pub mod outcome;
pub mod provenance;
pub mod retry;
pub mod service_problem;
