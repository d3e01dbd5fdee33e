//! Known state: observations, drift, conditions, payments.

pub mod adoption;
pub mod credentials;
pub mod drift;
pub mod health;
pub mod lifecycle;
pub mod observed;
pub mod orphan;
pub mod payment;
