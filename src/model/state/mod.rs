//! Known state: observations, drift, conditions, payments.

pub mod credentials;
pub mod drift;
pub mod health;
pub mod lifecycle;
pub mod observed;
pub mod orphan;
pub mod token_attachment;
