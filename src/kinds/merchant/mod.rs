//! Merchant: an account of the service, its mode and the credentials that open it.

pub mod assumed;
mod authorization;
mod binding;
pub mod removal;
pub mod shape;
pub(crate) mod step;
#[cfg(test)]
mod tests;
pub mod zone;
