//! Known state: observations, drift, conditions, payments.

pub mod adoption;
pub mod compaction;
pub mod condition;
pub mod drift;
pub mod epoch;
pub mod health;
pub mod observed;
pub mod payment;
pub mod refused_credentials;
pub mod retention;
pub mod unknown_fields;
