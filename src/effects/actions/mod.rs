//! Actions that a person or a script requests.

pub mod changes;
pub mod merchant_data;
pub mod storage;
pub mod table;
