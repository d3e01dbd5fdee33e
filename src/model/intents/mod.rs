//! Effects, intents, outcomes, retries and the errors of the service.

pub mod effect;
pub mod exposure;
pub mod intent;
