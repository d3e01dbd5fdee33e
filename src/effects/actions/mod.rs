//! Actions that a person or a script requests.

pub mod changes;
pub mod fields;
pub mod merchant_data;
pub mod payments;
