//! Merchant: an account of the service, its mode and the credentials that open it.

mod authorization;
pub mod shape;
pub(crate) mod step;
#[cfg(test)]
mod tests;
pub mod zone;
