//! Arguments of the actions at the gateway.

pub mod changes;
pub mod merchant_data;
pub mod options;
pub mod storage;
