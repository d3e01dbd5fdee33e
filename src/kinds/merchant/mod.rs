//! Merchant: an account of the service, its mode and the credentials that open it.

pub mod assumed;
mod authorization;
mod binding;
pub mod removal;
pub mod shape;
mod step;
#[cfg(test)]
mod tests;
pub mod zone;

pub use shape::{CredentialsSpec, GatewayKeys, MerchantKind, MerchantSpec};
pub use step::noon;
