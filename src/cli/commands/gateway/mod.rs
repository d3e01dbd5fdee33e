//! Actions at the gateway, by a person.

pub mod actions;
pub mod get;
pub mod merchant_data;
pub mod storage;
